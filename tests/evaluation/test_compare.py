"""Comparisons of methods on one's own graphs: splits, rows, checks, records, and what happens when something fails."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import anysize as az
from anysize import metrics
from anysize.evaluation.compare import compare
from anysize.evaluation.records import decode
from anysize.evaluation.store import RecordStore
from anysize.methods import defaults
from anysize.methods.baselines import TRIVIAL
from anysize.methods.catalog import METHODS
from anysize.paper.report.build import make_report
from anysize.paper.tables import build_table
from anysize.paper.tasks import TASKS

VOID = {"meta", "br"}
TRIVIAL_NAMES = tuple(method.name for method in TRIVIAL["classes"])
FAST = ("wl-kernel", "gc-kernel")


def made(count: int = 80, seed: int = 0) -> az.GraphSet:
    """Rings (class ring) and trees (class tree) of 5 to 60 vertices, one in six with the wrong label."""
    rng = np.random.default_rng(seed)
    edges, y = [], []
    for place in range(count):
        n = int(rng.integers(5, 60))
        tree = [(i, int(rng.integers(i))) for i in range(1, n)]
        ring = [(i, (i + 1) % n) for i in range(n)]
        edges.append(ring if place % 2 else tree)
        y.append("ring" if (place % 2) != (rng.random() < 1 / 6) else "tree")
    return replace(az.GraphSet.from_edges(edges, y=y), names=tuple(f"g{place}" for place in range(count)))


class Page(HTMLParser):
    """The tags and the text of a page; notices tags that are not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def graphs() -> az.GraphSet:
    return made()


@pytest.fixture(scope="module")
def comparison(graphs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    return compare(graphs, methods=(*FAST, "gin-sum"), seeds=3, settings={"epochs": 2}, records=folder, name="mine")


def test_rows_are_the_methods_in_order_and_then_the_baselines(comparison):
    assert [row.method for row in comparison.rows] == [*FAST, "gin-sum", *TRIVIAL_NAMES]
    assert [row.is_baseline for row in comparison.rows] == [False] * 3 + [True] * 3
    assert all(len(row.scores) == 3 and not row.problem for row in comparison.rows)
    assert comparison.metric == "balanced_accuracy"
    assert comparison.row("majority").mean == 0.5
    with pytest.raises(ValueError, match="got 'pna'"):
        comparison.row("pna")


def test_a_row_is_mean_deviation_and_interval_of_the_scores_of_its_records(comparison):
    row = comparison.row("wl-kernel")
    records = RecordStore(comparison.folder).read(task=comparison.task.name, method="wl-kernel")
    assert [record.data for record in records] == ["split:0", "split:1", "split:2"]
    assert [record.seed for record in records] == [0, 1, 2]
    scores = [metrics.score("balanced_accuracy", decode(r.labels), decode(r.chosen.predictions)) for r in records]
    assert row.scores == pytest.approx(scores)
    assert (row.mean, row.deviation) == pytest.approx((np.mean(scores), np.std(scores)))
    assert row.low <= row.mean <= row.high
    assert row.metrics["accuracy"] == pytest.approx(np.mean([record.scores.test for record in records]))
    assert list(row.metrics) == list(metrics.METRICS_OF["classes"])
    assert all(record.metric == "accuracy" for record in records)


def test_every_run_has_its_own_split_and_the_test_set_of_a_size_split_is_one(comparison, graphs):
    splits = [comparison.task.splits(seed=seed) for seed in range(3)]
    assert len({tuple(split.validation.names) for split in splits}) == 3
    assert len({tuple(split.test.names) for split in splits}) == 1
    assert splits[0].test.sizes.min() >= np.percentile(graphs.sizes, 90)
    assert splits[0].train.sizes.max() <= np.percentile(graphs.sizes, 50)


def test_a_method_that_is_not_above_every_baseline_is_not_the_best(comparison):
    """Eight test graphs, some of them with the wrong label, are too few to say."""
    assert comparison.row("wl-kernel").mean > max(row.mean for row in comparison.rows if row.is_baseline)
    assert comparison.best is None
    assert comparison.row("wl-kernel").scores == comparison.row("gc-kernel").scores  # both tell rings from trees
    assert all(comparison.row(name).tied for name in FAST)
    assert not any(row.best for row in comparison.rows)
    assert all(comparison.row(name).not_above in TRIVIAL_NAMES for name in FAST)
    assert comparison.statement.endswith("cannot be told apart: no method is shown to be of use.")
    assert comparison.statement in str(comparison)


def test_the_best_is_marked_and_so_are_those_that_cannot_be_told_from_it():
    sizes = [3 + number // 2 for number in range(120)]
    colors = [["C", "N"][number % 2 :][:1] * n for number, n in enumerate(sizes)]  # which no baseline sees
    paths = [[(i, i + 1) for i in range(n - 1)] for n in sizes]
    graphs = az.GraphSet.from_edges(paths, colors=colors, y=["carbon", "nitrogen"] * 60)
    result = compare(graphs, methods=(*FAST, "random"), seeds=2)
    assert [row.method for row in result.rows if row.best] == list(FAST)
    assert [row.method for row in result.rows if row.tied] == list(FAST)
    assert result.best is result.row(FAST[0])
    assert (result.best.mean, result.best.not_above) == (1.0, "")
    assert not any(row.not_above for row in result.rows if row.is_baseline)
    assert result.statement.endswith("cannot be told apart; all baselines are lower.")
    assert result.statement in Page(result.to_html()).text
    alone = compare(graphs, methods="wl-kernel", seeds=2)
    assert alone.statement.endswith("is clearly above all baselines.")
    assert not any(row.tied for row in alone.rows)


def test_another_metric_needs_no_training_and_no_metric_is_mixed(comparison, graphs):
    arguments = {"methods": (*FAST, "gin-sum"), "seeds": 3, "settings": {"epochs": 2}, "name": "mine"}
    other = compare(graphs, metric="roc_auc", records=comparison.folder, **arguments)
    assert (other.sweep.made, other.sweep.found) == (0, 18)
    for row in other.rows:
        assert row.mean == pytest.approx(comparison.row(row.method).metrics["roc_auc"])
        assert row.low <= row.mean + 1e-9
    with pytest.raises(ValueError, match="metric must be one of"):
        compare(graphs, metric="auc")


def test_a_stopped_comparison_goes_on_where_it_was(graphs, tmp_path):
    arguments = {"methods": "wl-kernel", "seeds": 2, "records": tmp_path}
    first = compare(graphs, **arguments)
    files = sorted(tmp_path.glob("*.jsonl"))
    for path in files[::2]:
        path.unlink()  # as if it had been killed before these were written
    again = compare(graphs, **arguments)
    assert (again.sweep.found, again.sweep.made) == (len(files) - len(files[::2]), len(files[::2]))
    assert [row.scores for row in again.rows] == [row.scores for row in first.rows]
    more = compare(graphs, methods="wl-kernel", seeds=3, records=tmp_path)
    assert (more.sweep.found, more.sweep.made) == (8, 4)


def test_changed_graphs_classes_splits_or_pattern_sizes_are_another_task(graphs, tmp_path):
    names = {compare(graphs, methods="wl-kernel", seeds=1, records=tmp_path).task.name}
    flipped = graphs.with_y(["tree" if label == "ring" else "ring" for label in graphs.y])
    changes = [
        {"graphs": made(seed=1)}, {"graphs": flipped}, {"split": "random"}, {"k": 3},
        {"split": {"train": range(60), "test": range(60, 80)}},
    ]  # fmt: skip
    for change in changes:
        other = compare(**{"graphs": graphs, **change}, methods="wl-kernel", seeds=1, records=tmp_path)
        assert other.sweep.found == 0, change
        names.add(other.task.name)
    assert len(names) == 6
    assert compare(made(), methods="wl-kernel", seeds=1, records=tmp_path).sweep.made == 0  # equal graphs are found


def test_one_method_that_fails_does_not_take_the_others_with_it(graphs, monkeypatch):
    def fails(self, data, runs, *rest):
        raise ValueError("needs colors")

    monkeypatch.setattr(type(METHODS["sizemix"].learner), "fit", fails)
    result = compare(graphs, methods=("sizemix", "wl-kernel"), seeds=2)
    row = result.row("sizemix")
    assert (row.mean, row.scores) == (None, ())
    assert "2 of 2 runs failed" in row.problem
    assert "needs colors" in row.problem
    assert len(result.row("wl-kernel").scores) == 2
    assert "needs colors" in str(result)


def test_methods_that_compare_environments_say_that_there_is_one(tmp_path):
    edges = [[(i, (i + 1) % 12) for i in range(12)] + [(0, 5)] * (place % 2) for place in range(40)]
    same_size = az.GraphSet.from_edges(edges, y=[place % 2 for place in range(40)])
    result = compare(same_size, methods=("gin-irm", "wl-kernel"), split="random", seeds=1)
    assert "come from one" in result.row("gin-irm").problem
    assert result.sweep.failures == ()  # it is not even tried
    assert result.row("wl-kernel").mean == 1.0


def test_a_cache_that_is_a_file_is_refused(graphs, tmp_path):
    (tmp_path / "notes").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        compare(graphs, methods="wl-kernel", seeds=1, cache=tmp_path / "notes")


def test_one_seed_has_no_deviation(graphs):
    row = compare(graphs, methods="wl-kernel", seeds=1).row("wl-kernel")
    assert row.deviation is None
    assert row.low < row.high


@pytest.mark.parametrize("where", ["memory", "workers", "cluster"])
def test_records_in_memory_of_workers_and_of_a_cluster_are_those_of_the_folder(where, comparison, graphs, request):
    if where == "cluster":
        request.getfixturevalue("two_workers")
    arguments = {"memory": {}, "workers": {"workers": 2}, "cluster": {"cluster": "auto"}}[where]
    result = compare(graphs, methods="wl-kernel", seeds=1, name="mine", **arguments)
    assert (result.folder, result.sweep.made, len(result.records)) == (None, 4, 4)
    assert result.task == comparison.task
    of_seed_0 = {record.method: record for record in comparison.records if record.seed == 0}
    for record in result.records:
        assert replace(record, seconds=None, when="") == replace(of_seed_0[record.method], seconds=None, when="")
    assert result.row("wl-kernel").scores == comparison.row("wl-kernel").scores[:1]


def test_own_tasks_are_registered_nowhere(comparison):
    assert comparison.task.name not in TASKS
    assert comparison.task.name.startswith("mine-size-")


def test_progress_counts_the_runs(graphs):
    reports = []

    def progress(step, done, detail=""):
        reports.append((step, done, detail))

    compare(graphs, methods="wl-kernel", seeds=1, progress=progress)
    assert [(step, done) for step, done, _ in reports] == [("training", number / 4) for number in range(5)]
    assert reports[0][2].startswith("0 of 4 runs; now wl-kernel")


def test_settings_and_names_that_make_no_sense_are_refused(graphs):
    with pytest.raises(ValueError, match="did you mean"):
        compare(graphs, methods="gamma-gni")
    with pytest.raises(ValueError, match="cannot be set"):
        compare(graphs, methods="wl-kernel", settings={"epochs": 3})
    with pytest.raises(ValueError, match="at least one method"):
        compare(graphs, methods=("majority",))
    with pytest.raises(ValueError, match="seeds"):
        compare(graphs, methods="wl-kernel", seeds=0)
    with pytest.raises(ValueError, match="A task needs classes"):
        compare(graphs.with_y(None))


# ---- what it shows ---------------------------------------------------------------------------------

EVIL = '"><script>alert(1)</script>'


def test_the_text_has_every_row_with_its_interval_and_names_the_metric(comparison):
    text = str(comparison)
    assert text.startswith("Balanced accuracy on mine, split by size")
    for row in comparison.rows:
        (line,) = [line for line in text.splitlines() if line.startswith(f" {row.label} ")]
        assert f"{row.mean:.2f} ({row.deviation:.2f})" in line
        assert f"[{row.low:.2f}, {row.high:.2f}]" in line
        assert ("≈" in line) == row.tied
    assert text.index("wl-kernel" if "wl-kernel" in text else "WL kernel") < text.index("majority")


def test_a_data_frame_has_all_metrics(comparison):
    frame = comparison.to_pandas()
    assert list(frame.index) == [row.method for row in comparison.rows]
    assert frame.loc["majority", "mcc"] == 0.0
    assert frame.loc["wl-kernel", "mean"] == frame.loc["wl-kernel", "balanced_accuracy"]


def test_labels_may_follow_the_graphs_as_in_fit(graphs, tmp_path):
    kinds = ["round" if label == "ring" else "tree" for label in graphs.y]
    first, second = (
        compare(*given, methods="wl-kernel", seeds=1, records=tmp_path)
        for given in ((graphs, kinds), (graphs.with_y(kinds),))
    )
    assert first.task.name == second.task.name
    assert second.sweep.made == 0


def test_fields_are_valid_json_with_unrounded_numbers(comparison):
    fields = json.loads(json.dumps(comparison.fields(), allow_nan=False))
    assert fields["runs"] == {"found": 0, "trained": 18, "left": 0}
    assert fields["rows"][0]["mean"] == comparison.rows[0].mean
    assert fields["rows"][0]["scores"] == list(comparison.rows[0].scores)


def test_the_page_is_well_formed_complete_and_asks_nobody_for_anything(comparison, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.html"):
        comparison.save(tmp_path / "page.pdf")
    comparison.save(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(html)
    assert page.open == []
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert page.tags.count("svg") == 1
    for row in comparison.rows:
        assert row.label in page.text
    for name in metrics.METRICS_OF["classes"].values():
        assert name in page.text
    assert comparison.shift in page.text
    assert "epochs=2" in page.text
    assert comparison._repr_html_() in html


def test_names_of_files_and_classes_and_reasons_are_text_on_the_page(graphs, monkeypatch, tmp_path):
    def fails(self, data, runs, *rest):
        raise ValueError(EVIL)

    monkeypatch.setattr(type(METHODS["sizemix"].learner), "fit", fails)
    named = graphs.with_y([EVIL if label == "ring" else "tree" for label in graphs.y])
    result = compare(named, methods=("sizemix", "wl-kernel"), seeds=1, name=EVIL)
    page = Page(result.to_html())
    assert "script" not in page.tags
    assert page.text.count(EVIL) > 3


def test_if_everything_fails_there_is_a_page_all_the_same(comparison):
    nothing = tuple(replace(row, scores=(), mean=None, best=False, tied=False, problem="no") for row in comparison.rows)
    empty = replace(comparison, rows=nothing)
    assert "No method has a score" in Page(empty.to_html()).text
    assert "failed" in str(empty)
    with pytest.raises(ValueError, match="nothing to draw"):
        empty.plot()


def test_tables_and_the_report_show_the_folder(comparison):
    store = RecordStore(comparison.folder)
    table = build_table(None, store.read(task=comparison.task.name))
    test = {row.method: row.cells[2].summary for row in table.rows if row.ran}
    assert test["wl-kernel"].mean == pytest.approx(comparison.row("wl-kernel").metrics["accuracy"])
    assert test["wl-kernel"].count == 3
    assert comparison.task.name in make_report(store, [comparison.task.name], fits=False)


def test_a_metric_that_is_not_defined_is_said():
    edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 63)]
    y = ["a", "b"] * 25 + ["a"] * 10  # the largest graphs have one class
    result = compare(az.GraphSet.from_edges(edges, y=y), methods="wl-kernel", seeds=1, metric="roc_auc")
    assert "not defined" in result.row("wl-kernel").problem
    assert "no test graph has the class b" in str(result)
    assert "tested on 6 of 58 to 63" in result.task.title


def test_rows_without_competition(comparison):
    assert replace(comparison, rows=()).best is None
    assert defaults.COMPARED_BY["classes"] in metrics.METRICS_OF["classes"]
    assert {name for names in defaults.COMPARED_METHODS.values() for name in names} <= set(METHODS)
