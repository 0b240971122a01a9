"""The report as text, JSON and a page."""

from __future__ import annotations

import json
import re
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest
from diagnosis.helpers import blocks, erdos_renyi

import anysize as az
from anysize.diagnosis.figures import NEW, TRAIN
from anysize.methods.catalog import METHODS

EVIL = '<script>alert("x")</script>'
VOID = {"meta", "rect", "line"}


@pytest.fixture(scope="module")
def found() -> az.Diagnosis:
    colors = ({EVIL: 0.9, "blue & co": 0.1}, {"green": 0.9, "yellow": 0.1})
    other = ({EVIL: 0.1, "blue & co": 0.9}, {"green": 0.1, "yellow": 0.9})
    train, new = blocks((14, 20), 80, 1, colors), blocks((40,), 40, 2, other)
    return az.diagnose(train.with_y([f"<b>{label}" for label in train.y]), new)  # type: ignore[union-attr]


class Tags(HTMLParser):
    """Checks that tags are closed in order, and keeps names, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_report_has_its_sections_in_order(found: az.Diagnosis) -> None:
    titles = [section.title for section in found.sections]
    assert titles == ["Sizes", "Colors", "Densities", "Theorem 1", "Label", "What to do"]
    text = str(found)
    assert text.startswith("80 training graphs and 40 new ones, patterns of up to 4 vertices\n")
    for section in found.sections:
        assert f"\n{section.title}: {section.answer}\n" in text
        assert all(sentence.endswith(".") for sentence in section.sentences)
    assert max(map(len, text.splitlines())) <= 120


def test_without_colors_and_labels_there_are_fewer_sections() -> None:
    plain = az.diagnose(erdos_renyi(0.3, (10, 14), 30, 1), erdos_renyi(0.3, (10, 14), 30, 2), k=3)
    assert [section.title for section in plain.sections] == ["Sizes", "Densities", "Theorem 1", "What to do"]
    with_labels = az.diagnose(blocks((14, 20), 40, 1), blocks((14, 20), 40, 2), colors=False)
    assert with_labels.findings.colors is None
    assert with_labels.findings.label is not None


def test_json_holds_every_number(found: az.Diagnosis) -> None:
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["sizes"]["verdict"] == "disjoint"
    assert told["colors"]["distance"] == found.findings.colors.distance  # type: ignore[union-attr]
    assert [one["name"] for one in told["families"]] == [one.name for one in found.findings.families]
    assert told["families"][0]["patterns"][0]["q"] == found.findings.families[0].patterns[0].q
    assert told["gap"]["promises"][0]["vacuous"] is True
    assert told["label"]["classes"] == ["<b>0", "<b>1"]
    assert told["advice"]["method"] == found.advice.method
    assert [one["title"] for one in told["report"]] == [section.title for section in found.sections]


def test_the_page_is_whole_escaped_and_needs_nothing_else(found: az.Diagnosis) -> None:
    page = found.to_html()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    names = [name for name, _ in tags.seen]
    assert "script" not in names
    assert "b" in names  # our own answers, not the class <b>0
    assert EVIL in tags.text
    assert "blue & co" in tags.text
    assert not re.search(r"(src|href|url\(|@import|https?:)", page)
    assert ("viewport", "width=device-width, initial-scale=1") in {
        (str(a.get("name")), str(a.get("content"))) for name, a in tags.seen if name == "meta"
    }
    for section in found.sections[:-1]:
        assert f"{section.title}: {section.answer}" in tags.text
    told = " ".join(tags.text.split())
    assert f"Use {found.advice.method}. " in told
    for sentence in (*found.advice.reasons, *found.advice.cautions, *(why for _, why in found.advice.others)):
        assert sentence in told


def test_the_page_begins_with_verdict_and_advice(found: az.Diagnosis) -> None:
    page = found.to_html()
    order = ["<h1>", "Use gamma-gin.", escape(found.advice.call), escape(found.advice.reasons[0]), "<dl>", "<section>"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert '<div class="advice">' in page  # with care: neither fine nor stop
    assert "<h1>The new graphs differ in size and in the mix of colors, among exchangeable ones.</h1>" in page


def test_the_page_says_what_its_columns_and_axes_are(found: az.Diagnosis) -> None:
    page = found.to_html()
    assert "<th>new / trend</th>" in page
    assert "<b>new / trend</b>: how many times as dense the pattern is as the training graphs&#x27; own trend" in page
    assert "vertices per graph, on a logarithmic scale" in page
    for item in found.findings.families[0].patterns:
        if item.over_predicted is not None and item.trend_error is not None and np.exp(2 * item.trend_error) <= 1000:
            low, high = re.search(  # type: ignore[union-attr]
                rf"<td>{item.pattern}</td>.*?<td>{item.over_predicted:.2g} \(([\d.e+-]+) to ([\d.e+-]+)\)</td>", page
            ).groups()
            assert float(low) <= item.over_predicted * 1.01
            assert float(high) >= item.over_predicted * 0.99
            if item.p_trend is not None and item.p_trend > 0.1:  # the trend explains it: so the range says
                assert float(low) <= 1 <= float(high)


def test_words_and_numbers_of_the_probes_agree(found: az.Diagnosis) -> None:
    label = found.findings.label
    assert label is not None
    text = str(found)
    for probe in label.probes:
        row = rf"^  {probe.name} +.* {probe.log_loss:.3f} +{100 * probe.accuracy:.0f} %$"
        assert re.search(row, text, re.M)
    add = label.comparison("shape", "shares", "right")
    shape, both = (100 * label.probe(name).accuracy for name in ("shape", "shares"))
    told = " ".join(text.split())
    assert f"Shape alone has {shape:.0f} % of the held-out graphs right, shape and colors {both:.0f} %" in told
    assert f"{100 * abs(add.gain):.0f} ± {100 * add.standard_error:.0f} points" in told
    assert ("Shape alone nearly suffices." in told) == label.shape_suffices


@pytest.mark.parametrize(
    ("train", "new", "told"),
    [
        (
            (0.3, (10, 14)),
            (0.3, (10, 14)),
            "No shift found: as far as can be seen, the graphs are like those of training.",
        ),
        ((0.3, (10, 14)), (0.3, (30,)), "The new graphs differ in size."),
        ((0.3, (20,)), (0.6, (20,)), "The new graphs differ in densities."),
        ((0.3, (20,)), (0.6, (30,)), "The new graphs differ in size and in densities beyond what sizes explain."),
    ],
)
def test_the_headline(train: tuple[float, tuple[int, ...]], new: tuple[float, tuple[int, ...]], told: str) -> None:
    found = az.diagnose(erdos_renyi(*train, 40, 1), erdos_renyi(*new, 40, 2), k=3)
    assert str(found).splitlines()[1] == told


def test_the_page_draws_sizes_colors_and_rates(found: az.Diagnosis) -> None:
    page = found.to_html()
    drawings = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(drawings) == 3
    sizes = found.findings.sizes
    heights = [float(h) for h in re.findall(rf'height="([\d.]+)" fill="{TRAIN}"', drawings[0])]
    largest = max(*sizes.train_bins, *sizes.new_bins)
    assert heights == pytest.approx([60 * share / largest for share in sizes.train_bins], abs=0.06)
    assert drawings[1].count("<rect") == 2 * len(found.findings.colors.shares)  # type: ignore[union-attr]
    assert f'fill="{NEW}"' in drawings[1]
    assert page.count("<table>") == 1 + len([family for family in found.findings.families if family.patterns])


def test_the_same_seed_gives_the_same_report() -> None:
    train, new = blocks((14, 20), 40, 1), blocks((20,), 40, 2)
    one, two, other = (az.diagnose(train, new, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one.findings.colors.expected != other.findings.colors.expected  # type: ignore[union-attr]


def test_progress_runs_from_start_to_end() -> None:
    seen: list[float] = []
    az.diagnose(blocks((14,), 20, 1), blocks((14,), 20, 2), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_every_method_that_is_advised_exists(found: az.Diagnosis) -> None:
    assert found.advice.method in METHODS
    assert all(name in METHODS for name, _ in found.advice.others)
    model = eval(found.advice.call, {"az": az})
    assert model.set_params(epochs=2).fit(blocks((14,), 12, 1)).predict(blocks((20,), 3, 2)).shape == (3,)


def test_classes_may_be_given_beside_the_graphs() -> None:
    train, new = blocks((14, 20), 40, 1), blocks((40,), 20, 2)
    assert az.diagnose(train.with_y(None), new, y=train.y) == az.diagnose(train, new)
    with pytest.raises(ValueError, match="one class for each of the 40 graphs"):
        az.diagnose(train, new, y=[1, 2])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"train": []}, "the training set has none"),
        ({"new": []}, "the new set has none"),
        ({"k": 1}, "patterns of 2 to 7 vertices; got k = 1"),
        ({"k": 8}, "k must be a whole number from 1 to 7; got 8"),
        ({"level": 1.5}, "level is a probability between 0 and 1; got 1.5"),
        ({"new": az.GraphSet.from_edges([(0, 1)])}, "The training graphs have colors and the new graphs have none"),
        ({"train": blocks((3,), 5, 1)}, "0 of 5 training graphs are large enough and 2 are needed; take a smaller k"),
        ({"new": blocks((3,), 1, 1)}, "0 of 1 new graph are large enough and 1 is needed"),
        ({"train": blocks((20,), 1, 1)}, "1 of 1 training graph is large enough and 2 are needed"),
        ({"train": "nowhere.zip"}, "There is no file or folder nowhere.zip."),
    ],
)
def test_bad_input_is_answered_in_one_sentence(change: dict[str, object], sentence: str) -> None:
    arguments: dict[str, object] = {"train": blocks((14,), 10, 1), "new": blocks((14,), 10, 2)}
    with pytest.raises(ValueError, match=re.escape(sentence)):
        az.diagnose(**(arguments | change))  # type: ignore[arg-type]


def test_the_word_diagnose_is_a_function_whatever_was_imported_before() -> None:
    import anysize.diagnosis.whole

    assert az.diagnose is anysize.diagnosis.whole.diagnose
