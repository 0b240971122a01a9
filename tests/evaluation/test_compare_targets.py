"""Comparisons on several targets with gaps: one split, a column for each target, their mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from anysize import METHODS, GraphClassifier, GraphSet, compare, evaluate, size_split
from anysize.cli.app import app
from anysize.counting import api
from anysize.evaluation.describe import describe, shift
from anysize.evaluation.tasks import own_task
from anysize.graphs.labels import known_targets
from anysize.kernels import wl
from anysize.splits import AtRandom, BySize, OfPart

GAP = float("nan")


def rings_and_paths(amount: int = 60) -> GraphSet:
    edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 3 + amount)]
    y = [[number % 2, number % 4 // 2] for number in range(amount)]  # rings; something that nothing shows
    for number in range(0, amount, 5):
        y[number][0] = GAP  # type: ignore[call-overload]
    return GraphSet.from_edges(edges).with_y(y)


def test_parts_of_one_split() -> None:
    graphs = rings_and_paths()
    whole, rows = graphs.with_y(None), np.flatnonzero(~np.isnan(np.asarray(graphs.y)[:, 0]))
    for rule in (BySize(), AtRandom()):
        part = OfPart(rule, whole, rows).positions(graphs.target("0"), 3)
        for positions, of_whole in zip(part, rule.positions(whole, 3), strict=True):
            assert sorted(rows[positions]) == sorted(set(of_whole) & set(rows))
    tasks = {own_task(graphs.target("0"), OfPart(rule, whole, rows)).name for rule in (BySize(), BySize(40, 80))}
    assert len(tasks) == 2


def test_each_target_has_a_column_and_methods_have_means(tmp_path: Path) -> None:
    comparison = compare(rings_and_paths(), methods="wl-kernel", seeds=2, records=tmp_path / "records")
    first, second = comparison.comparisons["0"], comparison.comparisons["1"]
    assert first.row("wl-kernel").mean == 1.0
    means = {row.method: row.mean for row in comparison.rows}
    for method, mean in means.items():
        assert mean == pytest.approx((first.row(method).mean + second.row(method).mean) / 2)
    assert [column.title for column in comparison.table.columns] == ["0", "1", "mean"]
    assert "best mean over 2 targets; it is clearly better than all baselines on 1 of them" in comparison.statement
    test = [set(each.task.splits(seed=0).test_index) for each in (first, second)]
    assert len(test[0]) == 5  # of the six largest graphs one has a gap
    assert len(test[1]) == 6
    text = str(comparison)
    assert "WL kernel" in text
    assert "on 2 targets of graphs" in text
    assert "<figure" in comparison._repr_html_()
    comparison.save(tmp_path / "page.html")
    assert "Methods compared on graphs" in (tmp_path / "page.html").read_text()
    again = compare(rings_and_paths(), methods="wl-kernel", seeds=2, records=tmp_path / "records")
    assert all(each.sweep.made == 0 for each in again.comparisons.values())
    assert again.fields()["mean"] == means


def test_targets_that_cannot_be_compared_are_left_out() -> None:
    graphs = rings_and_paths(40)
    y = np.column_stack([np.asarray(graphs.y), np.ones(40)])
    comparison = compare(graphs, y, methods="wl-kernel", seeds=1)
    assert list(comparison.comparisons) == ["0", "1"]
    assert "at least two classes" in comparison.left_out["2"]
    assert "2 is left out" in str(comparison)
    for table, told in (
        (np.ones((40, 2)), "No target can be compared; '0'"),
        (np.column_stack([y[:, 1], np.linspace(0, 1, 40)]), "'0' has classes and '1' numbers"),
    ):
        with pytest.raises(ValueError, match=told):
            compare(graphs, table, methods="wl-kernel", seeds=1)


def test_a_split_by_size_keeps_all_targets_with_their_gaps() -> None:
    graphs = rings_and_paths()
    task = size_split(graphs.with_y(None), y=np.asarray(graphs.y))
    splits, alone = task.splits(seed=3), size_split(graphs.target("1")).splits(seed=3)
    assert (splits.classes, splits.train.targets, task.predicts) == ((), ("0", "1"), "classes")
    for name, rows in splits.masks.items():
        np.testing.assert_array_equal(rows, alone.masks[name])
        np.testing.assert_array_equal(splits.sets[name].y, np.asarray(graphs.y)[rows])
    assert np.isnan(np.asarray(splits.test.y)[:, 0]).any()
    model = GraphClassifier("wl-kernel", check=False).fit(splits.train)
    assert model.score(splits.test) > 0.6
    with pytest.raises(ValueError, match=r"evaluated on one: split graphs.target\('0'\)"):
        list(evaluate(METHODS["wl-kernel"], [splits], [0]))
    numbers = size_split(graphs.with_y(None), y=np.column_stack([graphs.sizes, graphs.edge_counts]) / 4)
    assert numbers.predicts == "numbers"
    words = size_split(graphs.with_y(None), y=[[str(a), b] for a, b in np.asarray(graphs.y).tolist()]).splits()
    assert [(part.classes, part.numbers) for part in describe(words)] == [({}, "")] * 3
    assert "none of them lies within the sizes seen in training." in shift(words)


def test_graphs_are_counted_and_refined_once_for_all_targets_and_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: dict[str, list[Any]] = {"counted": [], "refined": []}
    refine, count = wl.signatures, api.count
    monkeypatch.setattr(api, "count", lambda *args, **given: calls["counted"].append(args) or count(*args, **given))
    monkeypatch.setattr(wl, "signatures", lambda *args: calls["refined"].append(args) or refine(*args))
    graphs, amounts = rings_and_paths(), []
    for given in (graphs.target("1"), graphs):
        for of_kind in calls.values():
            of_kind.clear()
        compared = compare(given, methods=("sizemix", "wl-kernel"), seeds=2, settings={"iterations": 2})
        amounts.append({kind: len(of_kind) for kind, of_kind in calls.items()})
    assert amounts[1]["counted"] < amounts[0]["counted"]
    assert amounts[1]["refined"] <= amounts[0]["refined"]
    for target in graphs.targets:
        part = OfPart(BySize(), graphs.with_y(None), known_targets(np.asarray(graphs.y), int(target))[0])
        task = own_task(graphs.target(target), part)
        splits = [task.splits(seed=seed) for seed in range(2)]
        for name in ("sizemix", "wl-kernel"):
            settings = {"iterations": 2}
            alone = [next(evaluate(METHODS[name], [each], [seed], settings)) for seed, each in enumerate(splits)]
            scores = [record.chosen.metrics["roc_auc"] for record in alone]
            assert compared.comparisons[target].row(name).metrics["roc_auc"] == pytest.approx(np.mean(scores))


def test_numbers() -> None:
    graphs = rings_and_paths(40)
    y: Any = np.column_stack([graphs.sizes, graphs.edge_counts]) + 0.5
    comparison = compare(graphs, y, methods="sizemix", seeds=1)
    assert comparison.metric == "rmse"
    rows = {row.method: row.mean for row in comparison.rows}
    assert rows["sizemix"] < rows["size-only"] < rows["mean"]
    assert next(row for row in comparison.rows if row.best).method == "sizemix"


def test_the_command(tmp_path: Path) -> None:
    lines = []
    for number, n in enumerate(range(3, 43)):
        edges = [[i, i + 1] for i in range(n)] + [[0, n]] * (n % 2)
        lines.append(
            json.dumps({"edges": edges, "y": {"ring": n % 2, "other": None if number % 7 == 0 else n % 3 // 2}})
        )
    (tmp_path / "g.jsonl").write_text("\n".join(lines))
    arguments = ["compare", "g.jsonl", "--methods", "wl-kernel", "--seeds", "1", "--records"]
    arguments = [arguments[0], str(tmp_path / "g.jsonl"), *arguments[2:], str(tmp_path / "records")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "on 2 targets of g" in done.output
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert told["targets"]["ring"]["rows"][0]["mean"] == 1.0
    assert list(told["mean"]) == ["wl-kernel", "majority", "size-only", "topology-only"]


def test_a_baseline_with_the_best_mean_is_named() -> None:
    rng = np.random.default_rng(0)
    edges = [[(i, i + 1) for i in range(n)] for n in range(3, 63)]
    chance = rng.integers(2, size=(60, 2)).astype(float)
    comparison = compare(GraphSet.from_edges(edges).with_y(chance), methods="wl-kernel", seeds=1)
    means = {row.method: row.goodness for row in comparison.rows}
    assert max(means, key=lambda name: means[name]) != "wl-kernel"
    assert comparison.statement.startswith("No method beats the baseline ")
    assert not any(row.best for row in comparison.rows)
