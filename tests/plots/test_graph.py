"""Drawings of a graph: where vertices lie, which are drawn, and in which colors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib
import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from anysize import GraphSet, Pattern, count
from anysize.plots.graph import (
    AGAINST,
    FOR,
    MAX_DRAWN,
    contributions_figure,
    draw_contributions,
    layout,
    pattern_contributions_figure,
)
from anysize.plots.theme import SERIES


def drawn(axes: Any) -> tuple[np.ndarray, list[str], list[Any]]:
    """Positions and colors of the vertices, and the line segments."""
    (dots,) = (one for one in axes.collections if isinstance(one, PathCollection))
    (lines,) = (one for one in axes.collections if isinstance(one, LineCollection))
    axes.figure.draw_without_rendering()
    dots.update_scalarmappable()
    return dots.get_offsets(), [to_hex(color) for color in dots.get_facecolors()], lines.get_segments()


def distances(graph: nx.Graph) -> np.ndarray:
    positions = layout(GraphSet.from_networkx([graph]))
    return np.linalg.norm(positions[:, None] - positions[None], axis=2)


def test_distances_are_lengths_of_paths_where_the_plane_allows_it() -> None:
    path = distances(nx.path_graph(7))
    np.testing.assert_allclose(path, np.abs(np.subtract.outer(np.arange(7), np.arange(7))), atol=0.05)
    ring = distances(nx.cycle_graph(8))
    sides = [ring[v, (v + 1) % 8] for v in range(8)]
    assert np.ptp(sides) < 0.01  # a regular polygon
    star = distances(nx.star_graph(9))
    assert star[~np.eye(10, dtype=bool)].min() > 0.3  # nothing on top of another
    parts = distances(nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(4)))
    assert parts[:4, 4:].min() > parts[:4, :4].max() * 0.9
    for graph in (nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(5), nx.complete_graph(12)):
        assert np.isfinite(distances(graph)).all()


def test_vertices_have_the_color_of_their_contribution() -> None:
    graph = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "N", "$O_2$"])
    axes = draw_contributions(graph, [2.0, 0.0, -2.0], "acid")
    _, colors, segments = drawn(axes)
    assert colors == [FOR, "#fffffe", AGAINST]
    assert len(segments) == 2
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["C", "0", "N", "1", "$O", "2"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["for acid", "against acid"]


def test_it_draws_on_the_axes_that_it_is_given() -> None:
    axes = matplotlib.figure.Figure().subplots()
    assert draw_contributions(GraphSet.from_edges([(0, 1)]), [0.0, 0.0], "a", axes) is axes
    with pytest.raises(ValueError, match="a value for each"):
        draw_contributions(GraphSet.from_edges([(0, 1)]), [0.0], "a")


def test_of_a_large_graph_the_strongest_vertices_are_drawn_with_their_neighbors() -> None:
    graph = GraphSet.from_networkx([nx.path_graph(1000)])
    values = np.zeros(1000)
    values[500] = 1.0
    axes = draw_contributions(graph, values, "a")
    positions, colors, segments = drawn(axes)
    assert len(positions) == MAX_DRAWN
    assert colors.count(FOR) == 1
    assert f"{MAX_DRAWN} of 1,000" in axes.get_title(loc="left")
    place = colors.index(FOR)
    near = [line for line in segments if np.isclose(line, positions[place]).all(axis=1).any()]
    assert len(near) == 2


ACID = [(0, 1), (1, 2), (1, 3)], ["C", "C", "O", "O"]


def test_molecules_are_drawn_as_such() -> None:
    pytest.importorskip("rdkit")
    edges, colors = ACID
    values = [0.0, 1.0, 1.0, 1.0]
    plain = GraphSet.from_edges([edges], colors=[colors])
    named = replace(plain, names=("CC(=O)O",))
    positions, _, segments = drawn(draw_contributions(named, values, "acid"))
    assert np.linalg.norm(positions[0] - positions[1]) == pytest.approx(1.5, abs=0.01)  # as RDKit has it
    assert len(segments) == 3  # types of bonds are not part of this graph
    for other in ("CCCC", "C", "no SMILES"):  # names of other molecules, and other names
        strange = drawn(draw_contributions(replace(plain, names=(other,)), values, "acid"))[0]
        np.testing.assert_allclose(strange, drawn(draw_contributions(plain, values, "acid"))[0])


def test_bonds_are_drawn_as_the_graph_has_them() -> None:
    graph = GraphSet.from_edges([ACID[0]], colors=[ACID[1]], edge_colors=[["single", "double in ring", "aromatic"]])
    axes = draw_contributions(graph, np.zeros(4), "acid")
    assert len(drawn(axes)[2]) == 1 + 2 + 2
    (lines,) = (each for each in axes.collections if isinstance(each, LineCollection))
    dashed = [style[1] is not None for style in lines.get_linestyle()]
    assert dashed == [False, False, False, False, True]


@pytest.mark.parametrize("graph", [nx.path_graph(2), nx.path_graph(60), nx.star_graph(30), nx.grid_2d_graph(3, 30)])
def test_every_vertex_is_inside_the_frame(graph: nx.Graph) -> None:
    graphs = GraphSet.from_networkx([nx.convert_node_labels_to_integers(graph)])
    figure = contributions_figure(graphs, np.linspace(-1, 1, len(graph)), "a", [("type", 0.5), ("x" * 50, -1.0)])
    figure.draw_without_rendering()
    left, right = figure.axes
    (dots,) = (each for each in left.collections if isinstance(each, PathCollection))
    radius = np.sqrt(dots.get_sizes().max()) / 2 * figure.dpi / 72
    centers, frame = left.transData.transform(dots.get_offsets()), left.get_window_extent()
    assert (centers - radius >= frame.min).all()
    assert (centers + radius <= frame.max).all()
    assert frame.x1 <= right.get_window_extent().x0


def test_types_of_edges_of_patterns_are_lines_if_they_are_bonds_and_letters_otherwise() -> None:
    graphs = GraphSet.from_edges([[(0, 1), (1, 2)]], edge_colors=[["double", "friend"]])
    (path,) = count(graphs, 3, edges=True).patterns
    figure = pattern_contributions_figure([(path, 1.0)], "a", "b")
    figure.draw_without_rendering()
    (lines,) = (each for each in figure.axes[1].collections if isinstance(each, LineCollection))
    assert len(lines.get_segments()) == 3
    assert [text.get_text() for text in figure.axes[1].texts] == ["fr"]


def test_patterns_and_vertices_share_a_style() -> None:
    claw = Pattern.of([(0, 1), (0, 2), (0, 3)], ["blue", "red", "C", "C"])
    figure = pattern_contributions_figure([(claw, 2.0), (Pattern.of([(0, 1)]), -1.0)], "acid", "base", "title")
    figure.draw_without_rendering()
    bars, *drawings = figure.axes
    assert [to_hex(bar.get_facecolor()) for bar in bars.patches] == [FOR, AGAINST]
    assert [label.get_text() for label in bars.get_yticklabels()] == ["claw", "edge"]
    (dots,) = (each for each in drawings[0].collections if isinstance(each, PathCollection))
    letters = [text.get_text() for text in drawings[0].texts]
    colors = dict(zip(letters, map(to_hex, dots.get_facecolors()), strict=True))
    assert sorted(letters) == ["C", "C", "bl", "re"]
    assert (colors["bl"], colors["re"]) == (SERIES[0], SERIES[3])


def test_a_figure_without_anything_to_show() -> None:
    figure = contributions_figure(GraphSet.from_edges([], n_vertices=0), np.zeros(0), "a", [])
    figure.draw_without_rendering()
