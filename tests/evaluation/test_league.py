"""The league: sets found in folders, families that count once, sets left out, and a table from records alone."""

from __future__ import annotations

import csv
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
from anysize.evaluation.league import find_sets, motif_tasks, run_league
from anysize.evaluation.league_check import check_records
from anysize.evaluation.league_page import to_csv, to_latex, to_markdown
from anysize.evaluation.records import decode, to_line
from anysize.evaluation.standings import (
    MIN_MINORITY_GRAPHS,
    critical_difference,
    family_names,
    minority,
    read_leagues,
)
from anysize.evaluation.store import RecordStore
from anysize.evaluation.tuning import inner_task
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
        read_leagues(tmp_path)


def test_only_sets_that_the_default_was_designed_with_are_said_to_be_no_test_of_it(records: Path) -> None:
    league = read_leagues(records)[0]
    assert "looked at" not in to_markdown([league])
    assert "2 families" in to_markdown([league])
    known = replace(league, families={"PTC_MR": ("PTC_MR",)}, splits={"PTC_MR": "size-0"})
    assert "Test labels of PTC_MR were looked at" in to_markdown([known])
    assert "1 set in 1 family" in to_markdown([known])


def test_every_column_of_a_table_of_molecules_is_a_set(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rng = np.random.default_rng(0)
    lines = ["smiles,toxic,active,solubility"]
    for n in rng.integers(3, 40, 120).tolist():
        ring = f"C1{'C' * n}1" if n % 2 else "C" * n
        lines.append(f"{ring},{n % 2},{'' if n % 5 == 0 else int(n % 3 == 0)},{n / 7:.3f}")
    (tmp_path / "mol.csv").write_text("\n".join(lines) + "\n")
    tasks, left_out = find_sets([tmp_path])
    assert list(left_out) == ["mol.solubility"]  # numbers
    assert [task.name.partition("-size-")[0] for task in tasks] == ["mol.toxic", "mol.active"]
    assert len(tasks[1].source.graphs) < len(tasks[0].source.graphs) == 120  # type: ignore[attr-defined]
    numbers, left_out = find_sets([tmp_path], ["numbers", "up"])
    assert not left_out
    assert numbers[0].name.startswith("mol.solubility-numbers-")
    assert [task.name for task in numbers[1:]] == [task.name for task in tasks]
    (fullest,), _ = find_sets([tmp_path], max_targets=1)
    assert fullest.name == max(tasks, key=lambda task: minority(task.splits().test.y)).name


def test_families_and_minorities() -> None:
    assert set(family_names(["PTC_A", "PTC_B", "x.1", "x.2", "NCI1", "MY_SET"]).values()) == {
        "PTC", "x", "NCI1", "MY_SET",
    }  # fmt: skip
    assert (minority([0, 1, 1]), minority([2, 2]), minority([])) == (1, 0, 0)


def test_the_league_is_made_from_records_alone(records: Path) -> None:
    league = read_leagues(records)[0]
    assert league.families == {"AB": ("AB_one", "AB_two"), "OTHER": ("OTHER",)}
    assert list(league.left_out) == ["RARE"]
    assert league.left_out["RARE"] < MIN_MINORITY_GRAPHS
    row = league.row("sizemix")
    assert row.runs == {"AB_one": 2, "AB_two": 2, "OTHER": 2}
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
    league = read_leagues(records)[0]
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
    row = read_leagues(tmp_path)[0].row("wl-kernel")
    assert (list(row.families), row.metrics["mcc"], row.rank, row.low) == (["AB"], None, None, None)
    without = "1 method without records on all families"
    assert without in to_markdown(read_leagues(tmp_path))
    assert without not in to_markdown(read_leagues(records))


def test_the_page_and_the_command(records: Path, tmp_path: Path) -> None:
    page = to_markdown(read_leagues(records), "league.svg")
    assert page.index("has the highest mean MCC") < page.index("| method |")
    assert "![Mean MCC of every method](league.svg)" in page
    assert "AB (2 sets)" in page
    assert "RARE" in page.splitlines()[-1]
    out, figure = tmp_path / "league.md", tmp_path / "figures" / "league.svg"
    figure.parent.mkdir()
    done = CliRunner().invoke(
        app, ["league", "--records", str(records), "--out", str(out), "--figure", str(figure)]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "figures/league.svg" in out.read_text(encoding="utf-8")
    assert "figures/league-ranks.svg" in out.read_text(encoding="utf-8")
    assert figure.read_text().startswith("<?xml")
    shown = json.loads(CliRunner().invoke(app, ["league", "--records", str(records), "--json"]).stdout)["up"]
    assert {row["method"] for row in shown["rows"]} >= {"sizemix", "wl-kernel", "majority"}
    unread = CliRunner().invoke(app, ["league", "--records", str(records), "--parts", "up,motifs"])
    assert unread.exit_code == 1
    assert "--parts up needs folders of sets" in unread.stderr
    empty = CliRunner().invoke(app, ["league", "--records", str(tmp_path)])
    assert empty.exit_code == 1
    assert "no records of a league" in empty.stderr.replace("\n", " ")


def test_another_metric_is_in_every_format(records: Path) -> None:
    (league,) = read_leagues(records, "balanced_accuracy")
    row = league.row("wl-kernel")
    mean = np.mean(list(row.families.values()))
    latex = to_latex([league])
    assert rf"wl-kernel & {mean:.2f}" in latex.replace(r"\textbf{", "").replace("}", "").replace(r" $\approx$", "")
    assert "balanced accuracy" in latex
    lines = list(csv.DictReader(to_csv([league]).splitlines()))
    (line,) = [line for line in lines if (line["method"], line["set"]) == ("wl-kernel", "AB_one")]
    assert (line["metric"], line["runs"], line["split"]) == ("balanced_accuracy", "2", league.splits["AB_one"])
    assert float(line["score"]) == pytest.approx(row.sets["AB_one"], abs=1e-6)


def test_a_part_from_large_to_small_graphs_and_one_of_motifs(folder: Path, tmp_path: Path) -> None:
    tasks, _ = find_sets([folder / "OTHER"], ["up", "down"])
    up, down = (task.splits(seed=0) for task in tasks)
    whole = np.concatenate([down.train.sizes, down.validation.sizes])  # type: ignore[union-attr]
    assert whole.min() >= up.train.sizes.max() - 1
    assert down.test.sizes.max() < whole.min() < up.test.sizes.min()
    motifs, _ = find_sets([], ["motifs"])
    assert motifs == motif_tasks()
    source = replace(motifs[0].source, graphs=(60, 10, 60))  # type: ignore[type-var]
    run_league([*tasks, replace(motifs[0], source=source)], tmp_path, methods=("wl-kernel",), seeds=2)
    parts = {league.part.name: league for league in read_leagues(tmp_path)}
    assert {name: league.metric for name, league in parts.items()} == {"up": "mcc", "down": "mcc", "motifs": "accuracy"}
    assert parts["down"].splits["OTHER"].startswith("size-down-")
    drawn = [record for record in RecordStore(tmp_path).read(method="wl-kernel") if record.data.startswith("seed:")]
    assert len({record.labels for record in drawn}) == 2
    assert parts["motifs"].row("wl-kernel").runs == {"motif-size": 2}
    with pytest.raises(ValueError, match=r"up, down, motifs, numbers; got 'sideways'"):
        find_sets([folder], ["sideways"])


def test_records_of_two_versions_of_a_set_are_not_mixed(records: Path, tmp_path: Path) -> None:
    whole = RecordStore(records).read()
    other = [replace(record, task="OTHER-size-01234567") for record in whole if record.task.startswith("OTHER")]
    RecordStore(tmp_path).write([*whole, *other[:1]])
    with pytest.raises(ValueError, match="two versions of OTHER"):
        read_leagues(tmp_path)
    changed = next(record for record in whole if record.method == "wl-kernel")
    twice = replace(changed, configuration={**changed.configuration, "C": 7})
    several = RecordStore(tmp_path / "several")
    several.write([*whole, twice])
    with pytest.raises(ValueError, match=r"wl-kernel on .* several configurations"):
        read_leagues(several.folder)


def test_an_empty_file_of_records_is_no_good_file(tmp_path: Path) -> None:
    sent = tmp_path / "sent.jsonl"
    sent.write_text("")
    done = CliRunner().invoke(app, ["league", "--check", str(sent)])
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "is empty" in done.stderr


def test_sent_records_are_checked_by_their_predictions_and_labels(folder: Path, records: Path, tmp_path: Path) -> None:
    tasks, _ = find_sets([folder])
    whole = check_records(records, tasks)
    assert (whole.records, whole.compared, whole.problems) == (len(RecordStore(records).read()),) * 2 + ((),)
    run = RecordStore(records).read(method="wl-kernel")[0]
    better = replace(run.chosen, metrics={**run.chosen.metrics, "mcc": 0.987})
    relabeled = replace(run, labels=run.labels[::-1])
    sent = tmp_path / "sent.jsonl"
    sent.write_bytes(to_line(replace(run, chosen=better)) + to_line(relabeled) + b"no record\n")
    problems = check_records(sent, tasks).problems
    assert any("mcc is 0.987" in problem for problem in problems)
    assert any("labels are not those" in problem for problem in problems)
    assert any("line 3 is not a record" in problem for problem in problems)
    done = CliRunner().invoke(app, ["league", "--check", str(sent)])
    assert (done.exit_code, "mcc is 0.987" in done.stdout) == (1, True)


def test_the_critical_difference_is_that_of_the_literature() -> None:
    # q of Nemenyi's test at .05 is 2.343 for 3 and 3.164 for 10 methods (Demsar, 2006, Table 5)
    assert critical_difference(3, 10) == pytest.approx(2.343 * np.sqrt(3 * 4 / 60), abs=1e-3)
    assert critical_difference(10, 14) == pytest.approx(3.164 * np.sqrt(10 * 11 / 84), abs=1e-3)


def test_a_tuned_league_chooses_inside_the_training_graphs(folder: Path, tmp_path: Path) -> None:
    tasks, _ = find_sets([folder / "OTHER"], ["up", "down"])
    run_league(tasks, tmp_path, methods=("wl-kernel", "sizemix"), seeds=2, tune=3)
    store = RecordStore(tmp_path)
    for task in tasks:
        inner = inner_task(task)
        outside = task.splits().test.sizes
        pool = inner.source.graphs  # type: ignore[attr-defined]
        assert not set(pool.sizes) & set(outside)
        up = bool(pool.sizes.max() < outside.min())
        assert (inner.splits().train.sizes.max() < inner.splits().test.sizes.min()) == up
        tried = store.read(task=inner.name, method="wl-kernel")
        default = {"C": 1, "iterations": 3}
        assert len({record.configuration["C"] for record in tried}) == len(tried) == 3
        assert default in [record.configuration for record in tried]
        highest = max(record.chosen.metrics["balanced_accuracy"] for record in tried)
        used = store.read(task=task.name, method="wl-kernel")
        assert len({record.configuration["C"] for record in used}) == 1
        (score,) = {r.chosen.metrics["balanced_accuracy"] for r in tried if r.configuration == used[0].configuration}
        assert score == highest
        assert not store.read(task=inner.name, method="sizemix")  # nothing to choose
    leagues = read_leagues(tmp_path)
    assert [(row.method, row.tried) for row in leagues[0].rows[:2]].count(("wl-kernel", 3)) == 1
    assert "wl-kernel 3" in to_markdown(leagues)
    assert run_league(tasks, tmp_path, methods=("wl-kernel", "sizemix"), seeds=2, tune=3).made == 0


# ---- numbers ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def number_records(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two sets of numbers: edges with noise in units of a thousand, and shares of leaves; and their records."""
    sets, made = tmp_path_factory.mktemp("numbers"), tmp_path_factory.mktemp("number-records")
    rng = np.random.default_rng(0)
    for name, unit in (("edges", 1000.0), ("leaves", 1.0)):
        graphs = trees_and_rings(120, len(name))
        leaves = [float(np.mean([len(near) == 1 for near in graph.adj.values()])) for graph in graphs.to_networkx()]
        y = unit * (graphs.edge_counts if name == "edges" else np.array(leaves)) + unit * rng.normal(0, 0.1, 120)
        lines = [
            json.dumps({"n": int(graphs.sizes[g]), "edges": graphs[g].edges().tolist(), "y": float(y[g])})
            for g in range(120)
        ]
        (sets / f"{name}.jsonl").write_text("\n".join(lines))
    tasks, _ = find_sets([sets], ["numbers"])
    run_league(tasks, made, methods=("auto", "wl-kernel", "gin-ciga"), seeds=2)
    return sets, made


def test_numbers_are_a_part_of_their_own(number_records: tuple[Path, Path], records: Path, tmp_path: Path) -> None:
    (league,) = read_leagues(number_records[1])
    assert (league.part.name, league.metric) == ("numbers", "rmse_reduction")
    assert league.families == {"edges": ("edges",), "leaves": ("leaves",)}
    assert {row.method for row in league.rows} == {"sizemix", "wl-kernel", "mean", "size-only", "topology-only"}
    store = RecordStore(number_records[1])
    for method in ("sizemix", "size-only"):
        by_set: dict[str, list[float]] = {}
        for run in store.read(method=method):
            (mean,) = (one for one in store.read(method="mean", task=run.task) if one.data == run.data)
            error, of_mean = (
                float(np.mean((np.array(one.targets) - np.array(one.chosen.numbers)) ** 2)) for one in (run, mean)
            )
            by_set.setdefault(run.task.partition("-")[0], []).append(1 - (error / of_mean) ** 0.5)
        row = league.row(method)
        assert row.families == pytest.approx({name: np.mean(values) for name, values in by_set.items()})
        assert row.low is not None
        assert row.high is not None
        assert row.low <= np.mean(list(row.families.values())) <= row.high
    assert set(league.row("mean").families.values()) == {0.0}
    assert league.row("sizemix").rank == 1.0
    assert league.row("sizemix").families["edges"] > 0.9
    together = tmp_path / "records"
    RecordStore(together).write([*store.read(), *RecordStore(records).read()])
    classes, numbers = read_leagues(together)
    assert classes.fields() == read_leagues(records)[0].fields()
    assert numbers.fields() == league.fields()
    page = to_markdown([classes, numbers])
    assert "## Numbers, from small to large\n" in page
    assert "highest mean RMSE reduction" in page
    assert "| method | R2 | rank correlation |" in page
    assert "defaults of `GraphRegressor`" in page
    assert "GraphRegressor" not in to_markdown([classes])
    assert "RMSE reduction" in to_latex([numbers])
    assert {line["metric"] for line in csv.DictReader(to_csv([numbers]).splitlines())} == {"rmse_reduction"}


def test_numbers_are_relative_to_the_mean_of_the_same_split(number_records: tuple[Path, Path], tmp_path: Path) -> None:
    kept = [one for one in RecordStore(number_records[1]).read() if (one.method, one.seed) != ("mean", 1)]
    RecordStore(tmp_path).write(kept)
    with pytest.raises(ValueError, match=r"no record of the baseline mean on .*, split:1"):
        read_leagues(tmp_path)


def test_records_of_numbers_are_checked(number_records: tuple[Path, Path], tmp_path: Path) -> None:
    sets, made = number_records
    tasks, _ = find_sets([sets], ["numbers"])
    whole = check_records(made, tasks)
    assert (whole.records, whole.compared, whole.problems) == (2 * 2 * 5, 2 * 2 * 5, ())
    run = RecordStore(made).read(method="wl-kernel")[0]
    better = replace(run.chosen, metrics={**run.chosen.metrics, "rmse": 0.987})
    moved = replace(run, targets=run.targets[::-1])
    sent = tmp_path / "sent.jsonl"
    sent.write_bytes(to_line(replace(run, chosen=better)) + to_line(moved))
    problems = check_records(sent, tasks).problems
    assert any("rmse is 0.987" in problem for problem in problems)
    assert any("labels are not those" in problem for problem in problems)


def test_numbers_are_tuned_by_their_errors_inside_the_training_graphs(
    number_records: tuple[Path, Path], tmp_path: Path
) -> None:
    tasks, _ = find_sets([number_records[0] / "leaves.jsonl"], ["numbers"])
    run_league(tasks, tmp_path, methods=("wl-kernel",), seeds=1, tune=3)
    store = RecordStore(tmp_path)
    tried = store.read(task=inner_task(tasks[0]).name, method="wl-kernel")
    assert len(tried) > 1
    best = min(tried, key=lambda record: record.chosen.metrics["rmse"])
    (used,) = store.read(task=tasks[0].name, method="wl-kernel")
    assert best.chosen.metrics["rmse"] == min(
        one.chosen.metrics["rmse"] for one in tried if one.configuration == used.configuration
    )
