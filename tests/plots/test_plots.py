"""Figures: what they show, how they become SVG, and that they leave the user's matplotlib alone."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from anysize._html import DARK, LIGHT
from anysize.patterns.pattern import Pattern
from anysize.plots.graph_sets import color_distribution, density_drift, embedding, principal_plane, size_distribution
from anysize.plots.patterns import color_places, pattern_svg
from anysize.plots.scores import (
    Curve,
    MethodScores,
    ScoreRow,
    SizePoint,
    mean_curve,
    method_scores,
    ours_and_published,
    score_by_size,
    training_curves,
)
from anysize.plots.theme import caption, to_svg

EVIL = '<script>alert(1)</script> "$x$" &amp;'
RNG = np.random.default_rng(0)


def examples(name: str = "Γ GIN"):
    """One figure of every kind, with a name of the caller's in each."""
    points = [SizePoint(20, 1.0, train=True), SizePoint(40, 0.5, 0.4, 0.6)]
    return {
        "curves": training_curves({name: [Curve((1, 2, 3), (1.0, 0.1, None), (0.5, None, 1.0))], "b": []}),
        "sizes": size_distribution({name: [20, 20, 30], "test": [40]}),
        "many sizes": size_distribution({name: np.arange(3, 60), "test": np.arange(30, 90)}),
        "colors": color_distribution({"train": {name: 0.75, "b": 0.25}, "test": {"b": 1.0}}),
        "drift": density_drift({name: ([0.1, 0.0], [0.2, 0.01]), "plain": ([0.5], [0.5])}),
        "embedding": embedding(RNG.random((5, 3)), RNG.random((4, 3)), [0, 1, 0, 1, 1], [0, 1, 1, 1], [name, "b"]),
        "methods": method_scores(
            [MethodScores(name, 0.8, 0.7, 0.9, (0.75, 0.85), best=True), MethodScores("b", 0.5, is_baseline=True)]
        ),
        "scores": ours_and_published(
            [ScoreRow(name, 0.9, 0.1, 0.8, 0.0), ScoreRow("b", None, None, 0.5, is_baseline=True)]
        ),
        "by size": score_by_size({name: points, "GIN": points[:1]}),
    }


@pytest.fixture(scope="module")
def svgs():
    return {kind: to_svg(figure, f"f{place}", EVIL) for place, (kind, figure) in enumerate(examples(EVIL).items())}


KINDS = list(examples())


def words(svg: str) -> str:
    return " ".join(ET.fromstring(svg).itertext())


# ---- every figure ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_well_formed_and_names_in_them_are_only_text(svgs, kind):
    root = ET.fromstring(svgs[kind])
    tags = {element.tag.split("}")[1] for element in root.iter()}
    assert "script" not in tags
    assert tags <= {"svg", "g", "path", "text", "tspan", "use", "defs", "clipPath", "rect", "title"}
    assert root.get("aria-label") == EVIL
    shortened = EVIL[:7] if kind == "colors" else EVIL[:20]  # long names are cut
    assert shortened in words(svgs[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_colors_are_variables_of_the_page_with_the_light_ones_to_fall_back_on(svgs, kind):
    bare = re.sub(r"var\(--([a-z0-9-]+), (#[0-9a-f]{6})\)", lambda m: "ok" if m[2] == LIGHT[m[1]] else m[0], svgs[kind])
    styles = re.findall(r'style="([^"]*)"', bare)
    assert "ok" in bare
    assert not [style for style in styles if re.search(r"#[0-9a-f]{6}", style)]


def test_many_figures_fit_one_page(svgs):
    identifiers = [name for svg in svgs.values() for name in re.findall(r'\bid="([^"]*)"', svg)]
    assert len(identifiers) == len(set(identifiers)) > 20
    for svg in svgs.values():
        used = set(re.findall(r'(?:href="|url\()#([^")]*)', svg))
        assert used <= set(re.findall(r'\bid="([^"]*)"', svg))
        assert "<style" not in svg  # it would apply to the whole page
        assert "<metadata" not in svg


def test_equal_figures_are_equal_text():
    first, second = (to_svg(size_distribution({"train": [3, 4]}), "a") for _ in range(2))
    assert first == second


def test_light_and_dark_have_the_same_names_and_no_color_twice():
    assert set(LIGHT) == set(DARK)
    assert len(set(LIGHT.values())) == len(LIGHT)


def test_figures_are_as_wide_as_a_phone_nearly_is(svgs):
    for svg in svgs.values():
        assert 300 <= float(ET.fromstring(svg).get("width")) <= 400


# ---- the user's matplotlib -------------------------------------------------------------------------


def test_settings_of_the_user_are_neither_used_nor_changed():
    ours = to_svg(size_distribution({"train": [3, 4]}))
    with matplotlib.rc_context({"text.usetex": True, "svg.fonttype": "path", "font.size": 30, "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        assert to_svg(size_distribution({"train": [3, 4]})) == ours
        assert dict(matplotlib.rcParams) == before


def test_pyplot_is_not_imported_and_the_backend_not_chosen():
    code = (
        "import sys, matplotlib\n"
        "before = dict.__getitem__(matplotlib.rcParams, 'backend')\n"
        "from anysize.plots import size_distribution, to_svg\n"
        "to_svg(size_distribution({'train': [3, 4]}))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert dict.__getitem__(matplotlib.rcParams, 'backend') is before\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_that_no_font_has_and_characters_that_svg_forbids():
    svg = to_svg(size_distribution({"\x00\ud800\u2603\u6f22": [3, 4]}))
    assert "\ufffd\ufffd\u2603\u6f22" in words(svg)


def test_a_name_with_an_underscore_first_is_in_the_legend():
    assert caption("_mine").endswith("_mine")
    svg = to_svg(score_by_size({"_mine": [SizePoint(3, 1.0)]}))
    assert "_mine" in words(svg)


# ---- one by one ------------------------------------------------------------------------------------


def test_the_mean_of_curves_ends_where_the_shortest_does_and_skips_unknown_values():
    long = np.array([1, 5, 9]), np.array([4.0, np.nan, 0.0])
    short = np.array([1, 5]), np.array([2.0, 2.0])
    epochs, values = mean_curve([long, short])
    assert epochs.tolist() == [1, 5]
    assert values.tolist() == [3.0, 2.0]  # the gap is bridged: (4 + 0) / 2 at epoch 5


def test_curves_without_validation_show_the_loss_alone():
    figure = training_curves({"a": [Curve((1, 2), (1.0, 0.5), ())]}, "MCC")
    above, below = figure.axes
    assert [len(line.get_xdata()) for line in above.lines] == [2, 2, 0]
    assert not below.lines
    assert below.get_ylabel() == "validation MCC"


def test_sizes_are_shares_of_each_set():
    (axes,) = size_distribution({"train": [3, 3, 4, 4], "test": [4]}).axes
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    assert heights == [[0.5, 0.5], [0.0, 1.0]]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["3", "4"]


def test_rare_colors_are_added_up():
    shares = {f"c{place}": 1 / 20 for place in range(20)}
    (axes,) = color_distribution({"train": shares}).axes
    assert len(axes.containers[0]) == 12
    assert axes.containers[0][-1].get_height() == pytest.approx(9 / 20)
    assert axes.get_xticklabels()[-1].get_text() == "others"


def test_drift_keeps_points_inside_a_square_and_zeros_on_its_edge():
    (axes,) = density_drift({"a": ([0.2, 0.0], [0.02, 1e-9])}).axes
    points = np.asarray(axes.collections[0].get_offsets())
    assert axes.get_xlim() == axes.get_ylim() == (1e-4, 1.0)
    assert points.tolist() == [[0.2, 0.02], [1e-4, 1e-4]]


def test_no_axis_has_minor_ticks_which_nobody_would_see():
    for figure in examples().values():
        for axes in figure.axes:
            assert not len(axes.get_xticks(minor=True))
            assert not len(axes.get_yticks(minor=True))


def test_the_plane_is_that_of_the_covariance():
    rows = RNG.normal(size=(50, 4)) @ np.diag([5.0, 2.0, 0.5, 0.1]) + 3
    plane, share = principal_plane(rows)
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    for axis in (0, 1):
        expected = (rows - rows.mean(axis=0)) @ vectors[:, -1 - axis]
        assert np.allclose(np.abs(plane[:, axis]), np.abs(expected))
    assert share == pytest.approx(values[-2:].sum() / values.sum())
    assert np.allclose(principal_plane(rows)[0], plane)


@pytest.mark.parametrize(("rows", "share"), [([[1.0], [3.0]], 1.0), ([[2.0, 2.0]] * 3, 1.0)])
def test_planes_of_less_than_two_dimensions(rows, share):
    plane, kept = principal_plane(rows)
    assert plane.shape == (len(rows), 2)
    assert kept == share
    assert not plane[:, 1].any()


def test_embeddings_put_every_graph_of_both_sets_into_the_plane():
    train, test = RNG.random((6, 3)), RNG.random((5, 3)) + 4
    (axes,) = embedding(train, test, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1], ["a", "b"]).axes
    drawn = [np.asarray(points.get_offsets()) for points in axes.collections]
    assert [len(points) for points in drawn] == [3, 2, 3, 3]
    plane, _ = principal_plane(np.concatenate([train, test]))
    assert np.allclose(drawn[0], plane[:3])
    assert np.allclose(drawn[1], plane[6:8])


def test_scores_show_both_numbers_and_negative_mcc():
    (axes,) = ours_and_published([ScoreRow("a", -0.25, 0.1, 0.4, 0.0), ScoreRow("b", 0.7, None)], "MCC").axes
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [0.4, -0.25, 0.7]
    assert axes.get_xlim()[0] < -0.3
    assert axes.get_xlabel() == "test MCC"


def test_methods_have_a_dot_an_interval_and_a_tick_for_every_seed():
    rows = [
        MethodScores("a", 0.8, 0.7, 0.9, (0.75, 0.85)),
        MethodScores("b", -0.2, -0.3, 0.1, (-0.2,), is_baseline=True),
    ]
    (axes,) = method_scores(rows, "MCC").axes
    points = [np.atleast_1d(line.get_xdata()).tolist() for line in axes.lines]
    assert points == [[0.7, 0.9], [0.75, 0.85], [0.8], [-0.3, 0.1], [-0.2], [-0.2]]
    assert axes.get_xlim()[0] < -0.3
    assert axes.get_xlabel() == "test MCC"


def test_scores_by_size_are_sorted_and_training_graphs_hollow():
    (axes,) = score_by_size({"a": [SizePoint(400, 0.5), SizePoint(20, 1.0, train=True)]}).axes
    assert axes.lines[0].get_xdata().tolist() == [20, 400]
    assert axes.get_xscale() == "log"
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert faces[0] == LIGHT["paper"] != faces[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: training_curves({"a": []}), "at least one run"),
        (lambda: size_distribution({"a": []}), "at least one graph"),
        (lambda: color_distribution({"a": {}}), "at least one vertex"),
        (lambda: density_drift({"a": ([0.0], [0.0])}), "at least one pattern"),
        (lambda: ours_and_published([]), "at least one row"),
        (lambda: method_scores([]), "at least one row"),
        (lambda: score_by_size({"a": []}), "at least one point"),
        (lambda: principal_plane([[np.nan, 1.0]]), "finite"),
    ],
)
def test_nothing_to_show_is_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# ---- patterns --------------------------------------------------------------------------------------


def test_patterns_have_a_line_for_each_edge_and_a_dot_for_each_vertex():
    paw = Pattern.of([(0, 1), (1, 2), (2, 0), (2, 3)], ["red", "blue", "C", "<b>"])
    root = ET.fromstring(pattern_svg(paw))
    tags = [element.tag.split("}")[1] for element in root.iter()]
    assert (tags.count("line"), tags.count("circle"), tags.count("text")) == (4, 4, 4)
    assert "<b" in words(pattern_svg(paw))
    assert root.get("aria-label") == paw.name
    points = {(float(e.get("cx")), float(e.get("cy"))) for e in root.iter() if e.tag.endswith("circle")}
    assert len(points) == 4
    ends = [
        (float(e.get(f"x{i}")), float(e.get(f"y{i}"))) for e in root.iter() if e.tag.endswith("line") for i in (1, 2)
    ]
    assert set(ends) == points


def test_a_color_looks_the_same_in_all_patterns():
    places = color_places(("C", "N", "O"))
    for name in ("C", "N", "O"):
        alone, beside = (Pattern.of([(0, 1)], [name, other]) for other in (name, "C"))
        fill = f"fill: var(--series-{places[name] + 1}, "
        assert fill in pattern_svg(alone, places)
        assert fill in pattern_svg(beside, places)


def test_more_colors_than_there_are_to_draw_with():
    places = color_places((*range(20), "red"))
    assert places["red"] == 3
    assert set(places.values()) == set(range(8))
    assert [name for name, place in places.items() if place == 3] == ["red"]
    crowded = color_places((*"abcdefgh", "blue", "orange", "green", "red", "purple", "teal", "yellow", "gray"))
    assert set(crowded.values()) == set(range(8))
