"""Drawings of a graph: where vertices lie, which are drawn, and in which colors."""

from __future__ import annotations

from typing import Any

import matplotlib
import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from anysize import GraphSet
from anysize.plots.graph import AGAINST, FOR, MAX_DRAWN, contributions_figure, draw_contributions, layout


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


def test_molecules_are_drawn_as_such() -> None:
    pytest.importorskip("rdkit")
    edges, colors = [(0, 1), (1, 2), (1, 3)], ["C", "C", "O", "O"]
    values = [0.0, 1.0, 1.0, 1.0]
    plain = GraphSet.from_edges([edges], colors=[colors])
    named = GraphSet(plain.first, plain.indptr, plain.indices, plain.colors, plain.palette, names=("CC(=O)O",))
    assert len(drawn(draw_contributions(plain, values, "acid"))[2]) == 3
    positions, _, segments = drawn(draw_contributions(named, values, "acid"))
    assert len(segments) == 4  # a double bond
    assert np.linalg.norm(positions[0] - positions[1]) == pytest.approx(1.5, abs=0.01)  # as RDKit has it
    for other in ("CCCC", "C", "no SMILES"):  # names of other molecules, and other names
        strange = GraphSet(plain.first, plain.indptr, plain.indices, plain.colors, plain.palette, names=(other,))
        assert len(drawn(draw_contributions(strange, values, "acid"))[2]) == 3


def test_a_figure_without_anything_to_show() -> None:
    figure = contributions_figure(GraphSet.from_edges([], n_vertices=0), np.zeros(0), "a", [])
    figure.draw_without_rendering()
