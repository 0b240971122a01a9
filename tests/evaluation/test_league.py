"""The league: sets found in folders, families that count once, sets left out, and a table from records alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from anysize import GraphError, GraphSet
from anysize.cli.app import app
from anysize.evaluation.league import (
    MIN_MINORITY_GRAPHS,
    family_names,
    find_sets,
    minority,
    read_league,
    run_league,
    to_markdown,
)
from anysize.evaluation.records import decode
from anysize.evaluation.store import RecordStore
from anysize.metrics import score


def trees_and_rings(amount: int, seed: int, rare: int = 2) -> GraphSet:
    """Graphs of 8 to 60 vertices, one in ``rare`` of them a ring."""
    sizes = np.random.default_rng(seed).integers(8, 60, amount).tolist()
    is_ring = [number % rare == 0 for number in range(amount)]
    made = [
        nx.cycle_graph(n) if ring else nx.random_labeled_tree(n, seed=number)
        for number, (n, ring) in enumerate(zip(sizes, is_ring, strict=True))
    ]
    return GraphSet.from_networkx(made, y=["ring" if ring else "tree" for ring in is_ring])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("league")
    for seed, name in enumerate(("AB_one", "AB_two", "OTHER")):
        trees_and_rings(240, seed).to_tu(found, name)
    trees_and_rings(100, 3, rare=10).to_tu(found, "RARE")
    (found / "README.md").write_text("not a set")
    (found / "notes.txt").write_text("no graphs here at all\n")
    return found


@pytest.fixture(scope="module")
def records(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("records")
    tasks, _ = find_sets([folder])
    run_league(tasks, made, methods=("sizemix", "wl-kernel"), seeds=2)
    return made


def test_sets_are_found_and_what_cannot_be_read_is_named(folder: Path) -> None:
    tasks, left_out = find_sets([folder])
    assert [task.name.partition("-size-")[0] for task in tasks] == ["AB_one", "AB_two", "OTHER", "RARE"]
    assert list(left_out) == ["notes"]
    assert all(task.splits().vanishing for task in tasks)  # of rings and trees
    with pytest.raises(GraphError, match="no folder"):
        find_sets([folder / "missing"])


def test_a_set_may_be_named_itself_and_only_once(folder: Path) -> None:
    tasks, left_out = find_sets([folder / "AB_two", folder / "OTHER", folder])
    assert [task.name.partition("-size-")[0] for task in tasks] == ["AB_two", "OTHER", "AB_one", "RARE"]
    assert {str(folder / "AB_two"), str(folder / "OTHER")} < set(left_out)


def test_a_folder_without_sets_is_named_with_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=f"no set of labeled graphs in {re.escape(str(tmp_path))}"):
        find_sets([tmp_path])
    (tmp_path / "broken.zip").write_bytes(b"")
    with pytest.raises(GraphError, match=r"broken.*not a readable zip file"):
        find_sets([tmp_path])


def test_sets_that_are_all_too_small_are_an_error(records: Path, tmp_path: Path) -> None:
    RecordStore(tmp_path).write([one for one in RecordStore(records).read() if one.task.startswith("RARE")])
    with pytest.raises(ValueError, match=r"nothing to rank.*RARE \("):
        read_league(tmp_path)


def test_only_sets_that_the_default_was_designed_with_are_said_to_be_no_test_of_it(records: Path) -> None:
    league = read_league(records)
    assert "looked at" not in to_markdown(league)
    assert "2 families" in to_markdown(league)
    known = replace(league, families={"PTC_MR": ("PTC_MR",)})
    assert "Test labels of PTC_MR were looked at" in to_markdown(known)
    assert "1 set of real graphs in 1 family;" in to_markdown(known)


def test_every_column_of_a_table_of_molecules_is_a_set(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rng = np.random.default_rng(0)
    lines = ["smiles,toxic,active"]
    for n in rng.integers(3, 40, 120).tolist():
        ring = f"C1{'C' * n}1" if n % 2 else "C" * n
        lines.append(f"{ring},{n % 2},{'' if n % 5 == 0 else int(n % 3 == 0)}")
    (tmp_path / "mol.csv").write_text("\n".join(lines) + "\n")
    tasks, left_out = find_sets([tmp_path])
    assert not left_out
    assert [task.name.partition("-size-")[0] for task in tasks] == ["mol.toxic", "mol.active"]
    assert len(tasks[1].source.graphs) < len(tasks[0].source.graphs) == 120  # type: ignore[attr-defined]


def test_families_and_minorities() -> None:
    assert set(family_names(["PTC_A", "PTC_B", "x.1", "x.2", "NCI1", "MY_SET"]).values()) == {
        "PTC", "x", "NCI1", "MY_SET",
    }  # fmt: skip
    assert (minority([0, 1, 1]), minority([2, 2]), minority([])) == (1, 0, 0)


def test_the_league_is_made_from_records_alone(records: Path) -> None:
    league = read_league(records)
    assert league.families == {"AB": ("AB_one", "AB_two"), "OTHER": ("OTHER",)}
    assert list(league.left_out) == ["RARE"]
    assert league.left_out["RARE"] < MIN_MINORITY_GRAPHS
    row = league.row("sizemix")
    assert row.seeds == 2
    runs = [record for record in RecordStore(records).read() if record.method == "sizemix"]
    by_hand: dict[str, list[float]] = {}
    for run in runs:
        by_hand.setdefault(run.task[:2], []).append(score("mcc", decode(run.labels), decode(run.chosen.predictions)))
    assert row.families == pytest.approx({"AB": np.mean(by_hand["AB"]), "OTHER": np.mean(by_hand["OT"])})
    assert row.metrics["mcc"] == pytest.approx(np.mean([np.mean(by_hand["AB"]), np.mean(by_hand["OT"])]))
    assert row.low is not None
    assert row.high is not None
    assert row.low <= row.metrics["mcc"] <= row.high  # type: ignore[operator]


def test_ranks_are_those_of_methods_and_checks_have_none(records: Path) -> None:
    league = read_league(records)
    ranks = [row.rank for row in league.rows if not row.is_baseline]
    assert sum(rank or 0 for rank in ranks) == pytest.approx(1 + 2)
    majority = league.row("majority")
    assert (majority.rank, majority.is_baseline, len(majority.one_class)) == (None, True, 3)
    assert league.rows[-1].is_baseline
    assert not league.rows[0].is_baseline


def test_nothing_is_trained_twice(folder: Path, records: Path) -> None:
    tasks, _ = find_sets([folder])
    again = run_league(tasks, records, methods=("sizemix", "wl-kernel"), seeds=2)
    assert (again.made, again.left) == (0, 0)


def test_a_method_without_all_sets_has_no_mean(records: Path, tmp_path: Path) -> None:
    kept = [one for one in RecordStore(records).read() if (one.method, one.task[:2]) != ("wl-kernel", "OT")]
    RecordStore(tmp_path).write(kept)
    row = read_league(tmp_path).row("wl-kernel")
    assert (list(row.families), row.metrics["mcc"], row.rank, row.low) == (["AB"], None, None, None)


def test_the_page_and_the_command(records: Path, tmp_path: Path) -> None:
    page = to_markdown(read_league(records), "league.svg")
    assert "![Mean MCC of every method](league.svg)" in page
    assert "AB (2 sets)" in page
    assert "RARE" in page.splitlines()[-1]
    out, figure = tmp_path / "league.md", tmp_path / "figures" / "league.svg"
    figure.parent.mkdir()
    done = CliRunner().invoke(
        app, ["league", "--records", str(records), "--out", str(out), "--figure", str(figure), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert "figures/league.svg" in out.read_text(encoding="utf-8")
    assert figure.read_text().startswith("<?xml")
    shown = json.loads(done.stdout.splitlines()[-1])
    assert {row["method"] for row in shown["rows"]} >= {"sizemix", "wl-kernel", "majority"}
    empty = CliRunner().invoke(app, ["league", "--records", str(tmp_path)])
    assert empty.exit_code == 1
    assert "no records of a league" in empty.stderr.replace("\n", " ")
