"""GraphSet itself: parts and sums, palettes, labels, errors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anysize._errors import GraphError, GraphWarning
from anysize.counting.api import count
from anysize.graphs.assembly import assemble
from anysize.graphs.colors import encode_colors
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet, empty_set


def four() -> GraphSet:
    """A path, a triangle, a single vertex and a graph without vertices, colored, labeled and named."""
    sets = [
        GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "O", "C"], y=[0]),
        GraphSet.from_edges([(0, 1), (1, 2), (0, 2)], colors=["N", "N", "N"], y=[1]),
        GraphSet.from_edges([], colors=["O"], y=[2]),
        GraphSet.from_edges([], n_vertices=0, colors=[], y=[3]),
    ]
    joined = GraphSet.concatenate(sets)
    return GraphSet(
        joined.first,
        joined.indptr,
        joined.indices,
        joined.colors,
        joined.palette,
        joined.y,
        ("path", "triangle", "dot", "nothing"),
    )


def test_sizes_degrees_edges_and_names_of_colors() -> None:
    graphs = four()
    assert len(graphs) == 4
    assert graphs.shape == (4,)
    assert graphs.sizes.tolist() == [3, 3, 1, 0]
    assert graphs.edge_counts.tolist() == [2, 3, 0, 0]
    assert graphs.degrees.tolist() == [1, 2, 1, 2, 2, 2, 0]
    assert graphs.edges(1).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graphs.edges(3).shape == (0, 2)
    assert graphs.palette == ("C", "N", "O")
    assert graphs.color_names(0) == ("C", "O", "C")
    assert graphs.without_colors().color_names(0) == ()
    assert graphs.neighbors.tolist() == [1, 0, 2, 1, 4, 5, 3, 5, 3, 4]  # of the path, then of the triangle


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        np.int64(2),
        slice(1, 3),
        slice(None, None, -1),
        slice(3, 1),
        slice(-2, None),
        slice(10, 20),
        slice(None, None, 2),
        [2, 0, 0],
        [],
        np.array([-1, 1]),
        np.array([3, 2], np.uint8),
        [True, False, True, False],
        np.zeros(4, bool),
    ],
)
def test_indexing_follows_numpy(key: object) -> None:
    graphs = four()
    chosen = graphs[key]  # type: ignore[index]
    rows = np.arange(4)[np.asarray(key, int) if isinstance(key, list) and not key else key]  # type: ignore[call-overload]
    rows = np.atleast_1d(rows)
    assert len(chosen) == len(rows)
    assert chosen.palette == graphs.palette
    assert chosen.names == tuple(graphs.names[row] for row in rows)  # type: ignore[index]
    assert chosen.y is not None
    assert chosen.y.tolist() == rows.tolist()
    for place, row in enumerate(rows):
        assert chosen.edges(place).tolist() == graphs.edges(row).tolist()
        assert chosen.color_names(place) == graphs.color_names(row)


@pytest.mark.parametrize(
    "key", [4, -5, [0, 4], [-5], [True, False], [[0, 1]], ["0"], [0.0, 1.0], None, np.ones((4, 1), bool)]
)
def test_indexing_outside_is_an_index_error(key: object) -> None:
    with pytest.raises(IndexError, match=r"there is no graph|graph numbers must lie|expected"):
        four()[key]  # type: ignore[index]


def test_iteration_gives_sets_of_one_graph_that_add_up_again() -> None:
    graphs = four()
    ones = list(graphs)
    assert [len(one) for one in ones] == [1, 1, 1, 1]
    assert ones[1].equals(graphs[1])
    assert GraphSet.concatenate(ones).equals(graphs)
    assert (graphs[:2] + graphs[2:]).equals(graphs)


def test_concatenation_unites_palettes_by_name() -> None:
    one = GraphSet.from_edges([(0, 1)], colors=["O", "C"])
    two = GraphSet.from_edges([(0, 1)], colors=[7, "N"])
    both = one + two
    assert both.palette == (7, "C", "N", "O")
    assert both.color_names(0) == ("O", "C")
    assert both.color_names(1) == (7, "N")


def test_concatenation_keeps_labels_and_names_only_where_all_have_them() -> None:
    graphs = four()
    bare = GraphSet.from_edges([(0, 1)], colors=["C", "C"])
    assert (graphs + bare).y is None
    assert (graphs + bare).names is None
    assert (graphs + graphs).names == graphs.names * 2  # type: ignore[operator]


def test_concatenation_with_nothing_changes_nothing() -> None:
    assert (empty_set() + four()).equals(four())
    assert len(GraphSet.concatenate([])) == 0
    assert len(GraphSet.concatenate([empty_set(), empty_set()])) == 0


def test_colored_and_uncolored_sets_do_not_mix() -> None:
    with pytest.raises(GraphError, match="without_colors"):
        four() + GraphSet.from_edges([(0, 1)])


def test_palette_can_grow_but_not_lose_a_color_in_use() -> None:
    graphs = four()
    wider = graphs.with_palette(["O", "N", "C", "B", 3])
    assert wider.palette == (3, "B", "C", "N", "O")
    assert [wider.color_names(g) for g in range(4)] == [graphs.color_names(g) for g in range(4)]
    assert wider[2].with_palette(["O"]).color_names() == ("O",)
    with pytest.raises(GraphError, match=re.escape("['N']")):
        graphs.with_palette(["C", "O"])
    with pytest.raises(GraphError, match="repeats"):
        graphs.with_palette(["C", "N", "O", "O"])


def test_repr_counts_with_singular_and_plural() -> None:
    assert repr(four()) == "GraphSet(4 graphs, 7 vertices, 5 edges, 3 colors, 4 classes)"
    assert repr(four()[2]) == "GraphSet(1 graph, 1 vertex, 0 edges, 3 colors, 1 class)"
    assert repr(empty_set()) == "GraphSet(0 graphs, 0 vertices, 0 edges)"


def test_equals_sees_every_difference() -> None:
    graphs = four()
    assert graphs.equals(four())
    for other in (
        graphs[:3],
        graphs.without_colors(),
        graphs.with_y(None),
        graphs.with_y([0, 1, 2, 4]),
        graphs.with_palette(["C", "N", "O", "X"]),
        graphs[[1, 0, 2, 3]],
    ):
        assert not graphs.equals(other)
    assert not graphs.equals("graphs")  # type: ignore[arg-type]


def test_arrays_that_do_not_fit_are_refused() -> None:
    graphs = four()
    with pytest.raises(GraphError, match="y has length 3, expected 4"):
        graphs.with_y([1, 2, 3])
    with pytest.raises(GraphError, match="y has length 3, expected 4"):
        graphs.with_y([[1, 2]] * 3)
    with pytest.raises(GraphError, match="a row of targets per graph"):
        replace(graphs.with_y([[1, 2]] * 4), y=np.zeros(4))
    with pytest.raises(GraphError, match="targets has length 1, expected 2"):
        replace(graphs.with_y([[1, 2]] * 4), targets=("A",))
    with pytest.raises(GraphError, match="first has dtype int32, expected int64"):
        GraphSet(graphs.first.astype(np.int32), graphs.indptr, graphs.indices)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="indices has length 3, expected 10"):
        GraphSet(graphs.first, graphs.indptr, graphs.indices[:3])
    assert graphs[0].with_y(5).y.tolist() == [5]  # type: ignore[union-attr]


def test_assemble_drops_loops_and_repetitions_with_one_warning() -> None:
    source, target = np.array([0, 0, 1, 1, 2, 3]), np.array([1, 1, 0, 1, 3, 2])
    with pytest.warns(GraphWarning) as caught:
        graphs = assemble([2, 2], source, target)
    assert len(caught) == 1
    assert str(caught[0].message) == "Dropped 1 self loop and 1 repeated edge while reading 2 graphs."
    assert caught[0].filename == __file__
    assert graphs.edge_counts.tolist() == [1, 1]


def test_assemble_survives_very_many_repetitions() -> None:
    ends = np.zeros(512, np.int64)  # 512 wraps round to 0 in eight bits
    with pytest.warns(GraphWarning, match="511 repeated"):
        assert assemble([2], ends, ends + 1).edges().tolist() == [[0, 1]]


def test_assemble_refuses_too_many_vertices() -> None:
    nothing = np.zeros(0, np.int64)
    with pytest.raises(GraphError, match="2147483648 vertices"):
        assemble([MAX_VERTICES_PER_GRAPH], nothing, nothing)


@given(st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12), max_size=4))
def test_neighbors_are_symmetric_local_and_ascending(edge_lists: list[list[tuple[int, int]]]) -> None:
    simple = [sorted({(min(e), max(e)) for e in edges if e[0] != e[1]}) for edges in edge_lists]
    graphs = GraphSet.concatenate([GraphSet.from_edges(edges, n_vertices=7) for edges in simple])
    for g, edges in enumerate(simple):
        one = graphs[g]
        assert [tuple(edge) for edge in one.edges().tolist()] == edges
        for v in range(7):
            neighbors = one.indices[one.indptr[v] : one.indptr[v + 1]].tolist()
            assert neighbors == sorted({sum(e) - v for e in edges if v in e})


@pytest.mark.parametrize(
    ("values", "palette", "codes"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        ([10, 9, "10"], (9, 10, "10"), [1, 0, 2]),
        ([2.0, -1.0], (-1, 2), [1, 0]),
        ([True, False], (0, 1), [1, 0]),
        ([2**70, 1], (1, 2**70), [1, 0]),
        (np.array([[0, 1, 0], [1, 0, 0]]), (0, 1, 2), [1, 0]),
        ([], (), []),
    ],
)
def test_colors_are_coded_by_ascending_name(values: object, palette: tuple[object, ...], codes: list[int]) -> None:
    got, names = encode_colors(values)
    assert (names, got.tolist()) == (palette, codes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan], "vertex 1 has the color nan"),
        ([0.5, 1.0], "vertex 0 has the color 0.5"),
        (["a", None], "vertex 1 has the color None"),
        ([[1, 1], [0, 1]], "row 0 is not one-hot"),
        ([[1, 0], [0, 2]], "row 1 is not one-hot"),
        ([[1, 0], [0]], "one-hot rows of one width"),
        (np.zeros((1, 1, 1)), "shape"),
        ("CCO", "shape"),
        (range(70000), "at most 65536"),
    ],
)
def test_what_is_not_a_color_is_refused(values: object, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        encode_colors(values)


@pytest.mark.parametrize(
    ("first", "indptr", "indices"),
    [
        ([0, 3], [0, 1, 2, 2], [1, 99]),  # a neighbor that does not exist
        ([0, 1, 3], [0, 1, 2, 2], [1, 0]),  # a neighbor in another graph
        ([0, 3], [0, 5, 2, 2], [1, 0]),
        ([0, 3], [0, -1, 2, 2], [1, 0]),
        ([1, 3], [0, 1, 2, 2], [1, 0]),
        ([0, 4, 3], [0, 1, 2, 2], [1, 0]),
        ([0, 3], [0, 1, 1, 1], [1]),  # one direction only
        ([0, 3], [0, 1, 2, 3], [0, 1, 2]),  # self loops
        ([0, 3], [0, 2, 3, 4], [2, 1, 0, 0]),  # not sorted
        ([0, 2], [0, 2, 4], [1, 1, 0, 0]),  # twice
    ],
)
def test_arrays_are_checked_before_kernels_see_them(first: list[int], indptr: list[int], indices: list[int]) -> None:
    graphs = GraphSet(np.array(first), np.array(indptr), np.array(indices, np.uint32))
    with pytest.raises(GraphError, match="do not make a GraphSet"):
        count(graphs, 3)


def test_colors_are_checked_before_kernels_see_them() -> None:
    path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["a", "a", "b"])
    with pytest.raises(GraphError, match="palette of 1 color"):
        count(replace(path, palette=("a",)), 3)


@pytest.mark.parametrize("first", [np.array(0), np.zeros(0, np.int64), np.zeros((1, 2), np.int64)])
def test_arrays_are_flat(first: Any) -> None:
    with pytest.raises(GraphError, match="first has shape"):
        GraphSet(first, np.zeros(1, np.int64), np.zeros(0, np.uint32))
