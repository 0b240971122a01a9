"""The report: what stands on the page, what it says where something is missing, and that it is safe to open."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from evaluation.helpers import made, seeds, sweep
from typer.testing import CliRunner

from anysize._html import Section, page, text
from anysize.counting.api import count
from anysize.evaluation.records import encode
from anysize.evaluation.store import RecordStore
from anysize.graphs.graphset import GraphSet
from anysize.metrics import mcc
from anysize.paper.cli.app import main_app as app
from anysize.paper.report.build import make_report
from anysize.paper.report.scores import row_label, scores_by_size, size_bins, tasks_of
from anysize.paper.report.task_graphs import TaskGraphs, drift_section, drifts
from anysize.paper.selection import Group
from anysize.paper.tasks import TASKS

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
METHODS = ("gin-sum", "wl-kernel-padded", "gamma-gin", "topology-only")
VOID = {"meta", "br", "img", "link", "hr", "input"}


def with_predictions(records, wrong=0.25):
    """Records whose labels and predictions are those of the test graphs of their task."""
    rng = np.random.default_rng(1)
    found = []
    for record in records:
        data = "published" if record.data == "published" else int(record.data.removeprefix("seed:"))
        y = np.asarray(TASKS[record.task].splits(data).test.y)
        predictions = encode(np.where(rng.random(len(y)) < wrong, 1 - y, y))
        chosen = replace(record.chosen, predictions=predictions)
        found.append(replace(record, labels=encode(y), chosen=chosen, alternatives={}))
    return found


@pytest.fixture(scope="module")
def records():
    usual = with_predictions(sweep(("sbm-20",), METHODS, data=("published", "seed:3")))
    names = {"method": EVIL, "recipe": EVIL, "configuration": {EVIL: EVIL}, "versions": {EVIL: EVIL}}
    hostile = [
        replace(run, **names, device=EVIL, labels="", alternatives={},
                chosen=replace(run.chosen, predictions=""))
        for run in sweep((EVIL, "PROTEINS"), ("gin-sum",), configurations=1)
    ]  # fmt: skip
    return [*usual, *hostile]


@pytest.fixture(scope="module")
def store(records, tmp_path_factory):
    found = RecordStore(tmp_path_factory.mktemp("records"))
    found.write(records)
    return found


@pytest.fixture(scope="module")
def html(store):
    """The whole page, with models fitted for it; the data of PROTEINS are nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ANYSIZE_DATA", raising=False)
        patch.setattr("anysize.io.download.fetch_tu", no_download)
        return make_report(store, data_dir=store.folder)


def no_download(*arguments):
    raise ValueError("nothing is downloaded in tests")


class Reader(HTMLParser):
    """Collects tags, identifiers, links, headings and text, and notices tags that are not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.open, self.ids, self.links, self.attributes = [], [], [], [], []
        self.text, self.headings = "", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            self.ids += [value] if name == "id" else []
            self.links += [value] if name == "href" else []
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            return
        self.text += data
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data


@pytest.fixture(scope="module")
def reader(html):
    return Reader(html)


# ---- the whole page --------------------------------------------------------------------------------


def test_the_page_is_well_formed_with_links_that_lead_somewhere(reader):
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    inner = [link.removeprefix("#") for link in reader.links if link.startswith("#")]
    assert len(inner) > 15
    assert set(inner) <= set(reader.ids)
    assert reader.headings[0] == "Train on small graphs, predict on large ones"
    assert {"SBM, 20 → 40", "PROTEINS", EVIL, "Runs", "Drift of densities", "Representations"} <= set(reader.headings)


def test_names_from_records_are_text_and_nothing_else(html, reader):
    assert not {"script", "img", "iframe", "object", "embed", "link", "base", "form"} & set(reader.tags)
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert "<script" not in html
    assert EVIL in reader.text


def test_the_page_asks_nobody_for_anything(html, reader):
    assert not [tag for tag, name, _ in reader.attributes if name in ("src", "srcset", "data", "action")]
    assert all(link.startswith("#") for link in reader.links)
    outside = re.findall(r'[^\s"]*//[^\s"]*', html.replace(EVIL, ""))
    assert set(outside) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert 'name="viewport" content="width=device-width' in html
    assert "prefers-color-scheme: dark" in html


def test_tables_stand_beside_the_published_numbers(reader):
    assert "Table 2. Accuracy, attributed block models" in reader.text
    assert "0.98 (0.02)" in reader.text  # published, gamma-gin
    assert "of 3 test means are within 0.05 of the published ones" in reader.text
    assert "SBM, 20 → 40, fresh data" in reader.text
    assert "Tasks of this table without records: sbm-14-20, sbm-20-30." in reader.text
    assert re.search(r"Rows without records .*: PNA, .*RPGIN", reader.text)
    assert "There are no records for table 1" in reader.text


def test_every_figure_of_a_task_is_there(html):
    for name in ("sizes", "colors", "drift", "curves", "by-size", "gamma-gin", "gin-sum", "ladder"):
        assert f'id="task-1-{name}-figure_1"' in html, name
    assert html.count('class="pattern"') == 12  # six with colors, six without
    assert "color shares by 0.80" in html


def test_what_cannot_be_shown_is_said(reader):
    assert f"{EVIL} is not a task of this package" in reader.text
    assert "The graphs of PROTEINS are not available: " in reader.text
    assert "Scores are not shown against sizes. The graphs of PROTEINS" in reader.text
    assert "Representations are not shown. The graphs of PROTEINS" in reader.text


def test_runs_are_told_by_task_with_device_and_versions(reader):
    assert "102runs" in reader.text.replace(" ", "")
    assert "2026-01-02 03:04" in reader.text
    assert "anysize 0.1.0, torch 2.2 (96 runs)" in reader.text
    assert f"{EVIL} {EVIL} (6 runs)" in reader.text


def test_long_notes_are_folded(store, reader, monkeypatch):
    from anysize.paper.report import scores

    assert ("details", "open", "") in reader.attributes
    monkeypatch.setattr(scores, "MAX_UNFOLDED_NOTES", 500)
    long = Reader(make_report(store, ["sbm-20"], fits=False))
    assert long.tags.count("details") == long.tags.count("summary") == 1
    assert ("details", "open", "") not in long.attributes
    assert "Mean (standard deviation) of the accuracy over seeds" in long.text


def test_tasks_of_two_metrics_are_in_two_tables_and_named_by_their_metric(tmp_path):
    own = [replace(made(task="mine", seed=seed), metric="mcc") for seed in range(2)]
    fresh = [made(task="theirs", data="seed:5", test=0.25, train=0.35)]
    RecordStore(tmp_path).write([*own, *fresh])
    text = Reader(make_report(RecordStore(tmp_path), fits=False)).text
    assert "MCC, other tasks" in text
    assert "Accuracy, other tasks" in text
    start = text.index("Accuracy, other tasks", text.index("Other tasks") + 200)
    part = text[start : text.index("MCC, other tasks", start)]
    assert "theirs" in part
    assert "mine" not in part
    assert "0.25" in part
    assert "(0.00)" not in part  # one data set has no deviation


def test_curves_of_own_tasks_are_named_by_their_metric(monkeypatch):
    from anysize.paper.report import scores

    drawn = []
    monkeypatch.setattr("anysize.plots.training_curves", lambda runs, metric: drawn.append(metric) or _figure())
    (run,) = sweep(("mine",), ("gin-sum",), configurations=1, runs=1)
    scores.training_curves(tasks_of([replace(run, metric="mcc")])[0], "t")
    balanced = replace(run, method="gamma-gin", curves=replace(run.curves, metric="balanced_accuracy"))
    assert scores.training_curves(tasks_of([run, balanced])[0], "t")
    assert drawn == ["MCC", "balanced accuracy"]


def test_validation_curves_of_two_metrics_are_not_in_one_figure(monkeypatch):
    from anysize.paper.report import scores

    drawn = {}
    monkeypatch.setattr("anysize.plots.training_curves", lambda runs, metric: drawn.update(runs) or _figure())
    (run,) = sweep(("mine",), ("gin-sum",), configurations=1, runs=1)
    balanced = replace(run, method="gamma-gin", curves=replace(run.curves, metric="balanced_accuracy"))
    scores.training_curves(tasks_of([run, balanced])[0], "t")
    assert drawn["Γ GIN"][0].validation_score == run.curves.validation_score  # drawn first
    assert drawn["GIN"][0].validation_score == ()
    assert drawn["GIN"][0].train_loss == run.curves.train_loss


def test_other_tasks_have_a_table_of_their_own(reader):
    start = reader.text.index("Other tasks", reader.text.index("Beside the published numbers", 200))
    assert EVIL in reader.text[start : start + 400]


# ---- less than the whole ---------------------------------------------------------------------------


def test_an_empty_folder_makes_a_page_that_says_so(tmp_path):
    reader = Reader(make_report(RecordStore(tmp_path)))
    assert "There are no records in" in reader.text
    assert reader.headings == ["Train on small graphs, predict on large ones"]


def test_some_tasks_only(store):
    reader = Reader(make_report(store, ["PROTEINS"], fits=False))
    assert "PROTEINS" in reader.headings
    assert "SBM, 20 → 40" not in reader.headings
    assert "Representations" not in reader.headings


def test_runs_without_curves_predictions_or_dates(tmp_path):
    RecordStore(tmp_path).write([*seeds([1.0, 1.0], [0.5, 0.7], task="er-single"), made(method="random")])
    reader = Reader(make_report(RecordStore(tmp_path), fits=False))
    assert "No run of this task kept its training curves." in reader.text
    assert "no run kept predictions for these test graphs" in reader.text
    assert "Versions: unknown (3 runs)." in reader.text


def test_predictions_of_other_graphs_are_not_shown_against_sizes(tmp_path):
    run = made(predictions="01", labels="01")
    own = tasks_of([run])[0]
    graphs = TaskGraphs(TASKS["sbm-20"], TASKS["sbm-20"].splits())
    assert "no run kept predictions for these test graphs" in scores_by_size(own, graphs, "t")


def test_without_torch_there_are_no_fits_but_a_sentence(tmp_path, monkeypatch):
    from anysize.paper.report.fits import representations

    monkeypatch.setitem(sys.modules, "torch", None)
    graphs = TaskGraphs(TASKS["sbm-20"], TASKS["sbm-20"].splits())
    assert "pip install &#x27;anysize[learn]&#x27;" in representations(graphs, "t")


# ---- the parts -------------------------------------------------------------------------------------


def test_drift_is_the_difference_of_means_over_classes():
    task = TASKS["sbm-20"]
    splits = task.splits()
    train, test = splits.train, splits.test
    found = drifts(count(train, 3), train.y, count(test, 3), test.y)
    moved = [abs(one.difference) for one in found]
    assert moved == sorted(moved, reverse=True)
    for drift in (found[0], found[-1], found[10]):
        means, variance = [], 0.0
        for graphs in (train, test):
            column = count(graphs, 3).align([drift.pattern]).matrix.toarray()[:, 0]
            size = graphs.sizes.astype(float)
            shares = column / (size * (size - 1) * (size - 2) / 6)
            classes = [shares[np.asarray(graphs.y) == code] for code in (0, 1)]
            means.append(np.mean([own.mean() for own in classes]))
            variance += sum(own.var() / len(own) for own in classes) / 4
        assert (drift.train, drift.test) == pytest.approx(means)
        assert drift.error == pytest.approx(np.sqrt(variance))


def test_classes_in_other_shares_are_no_drift():
    path, cycle = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)]
    few = GraphSet.from_edges([cycle, path, path, path])
    many = GraphSet.from_edges([cycle, cycle, cycle, path])
    found = drifts(count(few, 2), [1, 0, 0, 0], count(many, 2), [1, 1, 1, 0])
    assert [(one.difference, one.error) for one in found] == [(0.0, 0.0)]
    with pytest.raises(ValueError, match="no class occurs in both"):
        drifts(count(few, 2), [0] * 4, count(many, 2), [1] * 4)


def test_plain_graphs_have_one_kind_of_drift():
    part = drift_section(TaskGraphs(TASKS["er-single"], TASKS["er-single"].splits()), "t")
    assert part.count('class="pattern"') == 6
    assert "colors" not in part
    assert "4-clique" in part


def test_the_figure_of_the_drift_shows_the_most_common_patterns(monkeypatch):

    whole = TaskGraphs(TASKS["sbm-20"], TASKS["sbm-20"].splits())
    drawn = {}
    monkeypatch.setattr(
        "anysize.paper.report.task_graphs.density_drift", lambda values: drawn.update(values) or _figure()
    )
    monkeypatch.setattr("anysize.paper.report.task_graphs.MAX_PATTERNS_DRAWN", 5)
    assert "the 5 most common patterns are shown" in drift_section(whole, "t")
    train, test = drawn["with colors"]
    assert len(train) == len(test) == 5
    everything = drifts(*(part for s in (whole.splits.train, whole.splits.test) for part in (count(s, 4), s.y)))
    common = sorted((max(one.train, one.test) for one in everything), reverse=True)[:5]
    assert [max(pair) for pair in zip(train, test, strict=True)] == common


def test_sizes_are_gathered_into_bins_of_about_equally_many_graphs():
    sizes = np.random.default_rng(0).integers(10, 500, 200)
    bins = size_bins(sizes)
    assert sorted(np.concatenate(bins).tolist()) == list(range(200))
    assert [30 <= len(rows) <= 50 for rows in bins] == [True] * 5
    ends = [(sizes[rows].min(), sizes[rows].max()) for rows in bins]
    assert all(before[1] < after[0] for before, after in pairwise(ends))
    skewed = np.array([1] * 97 + [2, 3, 4, 5, 6, 7])
    assert sum(len(rows) for rows in size_bins(skewed)) == len(skewed)


def test_scores_by_size_are_those_of_the_graphs_of_that_size(monkeypatch):
    from anysize.paper.report import scores

    drawn = {}
    monkeypatch.setattr("anysize.plots.score_by_size", lambda lines, metric: drawn.update(lines) or _figure())
    task = TASKS["sbm-20"]
    splits = task.splits()
    mixed = GraphSet.concatenate([splits.train, splits.test])  # two sizes in the test set
    graphs = TaskGraphs(task, replace(splits, test=mixed))
    y = np.asarray(mixed.y)
    predictions = np.where(np.arange(len(y)) < 100, y, 1 - y)
    run = replace(made(train=0.75, predictions=encode(predictions), labels=encode(y)), task="PROTEINS", metric="mcc")
    scores.scores_by_size(tasks_of([run])[0], graphs, "t")
    ((label, points),) = drawn.items()
    assert label == "Γ GIN"
    assert (points[0].size, points[0].score, points[0].train) == (20.0, 0.75, True)
    confusion = np.zeros((2, 2))
    np.add.at(confusion, (y[80:], predictions[80:]), 1)
    assert [(point.size, round(point.score, 6)) for point in points[1:]] == [
        (20.0, 1.0),
        (40.0, round(float(mcc(confusion)), 6)),
    ]
    assert points[2].low <= points[2].score <= points[2].high


def _figure():
    from anysize.plots.graph_sets import size_distribution

    return size_distribution({"train": [1]})


def test_rows_are_named_as_in_the_tables_and_gamma_models_come_first():
    runs = [made(method=method, recipe=recipe) for method in ("gin-sum", "gamma-gin", "mine", "random")
            for recipe in ("paper", "robust")]  # fmt: skip
    own = tasks_of([*runs, made(data="seed:12"), made(data="seed:7", task="mine"), made(data="seed:12", task="mine")])
    assert [(one.task, one.data) for one in own] == [("sbm-20", "published"), ("mine", "seed:7")]
    assert [row_label(one.group) for one in own[0].drawn_rows()] == [
        "Γ GIN", "Γ GIN, robust", "GIN", "GIN, robust", "mine", "mine, robust",
    ]  # fmt: skip
    assert row_label(Group("sbm-20", "published", "random", "robust")) == "random"


def test_sections_and_text_of_a_page():
    made_ = page("a & b", "", [Section("x", "<x>", "<p>1</p>", (Section("y", "Y"),))], "")
    reader = Reader(made_)
    assert reader.headings == ["a & b", "<x>", "Y"]
    assert text("\x00<") == "\ufffd&lt;"


# ---- the command -----------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["paper", "report", *map(str, arguments)])


def test_the_command_writes_the_page(store, tmp_path):
    out = tmp_path / "page.html"
    result = run("--records", store.folder, "--out", out, "--tasks", "sbm-20,er-multi", "--no-fits")
    assert result.exit_code == 0, result.output
    assert "Table 2." in Reader(out.read_text()).text
    assert "reduced grid: " in out.read_text()
    assert "there are no records of er-multi" in " ".join(result.stderr.split())
    assert f"Wrote {out}" in result.stdout.replace("\n", "")
    assert list(tmp_path.iterdir()) == [out]


def test_one_line_of_json(store, tmp_path):
    result = run("--records", store.folder, "--out", tmp_path / "r.html", "--tasks", "PROTEINS", "--no-fits", "--json")
    told = json.loads(result.stdout)
    assert told["tasks"] == ["PROTEINS"]
    assert told["bytes"] == (tmp_path / "r.html").stat().st_size


def test_without_records_there_is_a_note_and_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run()
    assert result.exit_code == 0
    assert "there are no records in results" in " ".join(result.stderr.split())
    assert "There are no records in results" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--records", "nowhere"], "there is no folder nowhere"),
        (["--out", "no/such/report.html"], "which does not exist"),
        (["--tasks", ","], "at least one task"),
        (["--tasks", "sbm-20,nope"], "There is no task 'nope': the tasks are"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_error_names_the_extra(store, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("anysize.paper.report", "anysize.plots"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("--records", store.folder, "--out", tmp_path / "r.html")
    assert result.exit_code == 1
    assert "pip install 'anysize[plot]'" in result.stderr


def test_help_has_an_example():
    assert "Example:  anysize paper report" in run("--help").stdout
