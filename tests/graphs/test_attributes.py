"""Edge colors, directions and features of a GraphSet: parts, sums, conversions and checks, against dictionaries."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anysize import GraphError, GraphSet, read_graphs
from anysize.graphs.assembly import induced_subgraphs
from anysize.graphs.attributes import BOTH_WAYS, IN, OUT
from anysize.graphs.graphset import content_digest
from anysize.graphs.ragged import owners


@st.composite
def directed_graphs(draw: st.DrawFn) -> dict[str, Any]:
    """One graph as plain Python: a size, the color of every ordered pair, and a row of features per vertex."""
    size = draw(st.integers(0, 5))
    pairs = [(u, v) for u in range(size) for v in range(size) if u != v]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    types = draw(st.lists(st.sampled_from(["a", "b", 3]), min_size=len(chosen), max_size=len(chosen)))
    rows = draw(st.lists(st.tuples(*[st.floats(-9, 9, width=32)] * 2), min_size=size, max_size=size))
    return {"size": size, "arcs": dict(zip(chosen, types, strict=True)), "rows": [list(row) for row in rows]}


def assemble(graphs: list[dict[str, Any]]) -> GraphSet:
    return GraphSet.from_edges(
        [list(graph["arcs"]) for graph in graphs],
        n_vertices=[graph["size"] for graph in graphs],
        colors=[["C"] * graph["size"] for graph in graphs],
        edge_colors=[list(graph["arcs"].values()) for graph in graphs],
        features=[np.reshape(graph["rows"], (-1, 2)) for graph in graphs],
        y=list(range(len(graphs))),
        directed=True,
    )


def check_same(graphs: GraphSet, expected: list[dict[str, Any]]) -> None:
    """The set has the arcs, their colors and the features of the dictionaries."""
    graphs.check()
    assert len(graphs) == len(expected)
    for number, graph in enumerate(expected):
        arcs = [tuple(arc) for arc in graphs.arcs(number).tolist()]
        assert arcs == sorted(graph["arcs"])
        assert graphs.arc_color_names(number) == tuple(graph["arcs"][arc] for arc in arcs)
        features = graphs[number].features
        assert features is not None
        assert features.tolist() == graph["rows"]


@given(st.lists(directed_graphs(), min_size=1, max_size=4), st.randoms())
def test_parts_and_sums(expected: list[dict[str, Any]], chance: Any) -> None:
    graphs = assemble(expected)
    check_same(graphs, expected)
    rows = [chance.randrange(len(expected)) for _ in range(3)]
    check_same(graphs[rows], [expected[row] for row in rows])
    check_same(graphs[1:], expected[1:])
    check_same(graphs[rows] + graphs, [*(expected[row] for row in rows), *expected])
    assert GraphSet.concatenate(list(graphs)).equals(graphs)
    assert graphs.equals(graphs[list(range(len(graphs)))])


@given(st.lists(directed_graphs(), min_size=1, max_size=4))
def test_both_ends_of_an_edge_agree(expected: list[dict[str, Any]]) -> None:
    graphs = assemble(expected)
    if graphs.directions is None:
        return
    source, reverse = owners(graphs.indptr), graphs.reverse_entries
    assert (source[reverse] == graphs.neighbors).all()
    assert (graphs.neighbors[reverse] == source).all()
    there = {BOTH_WAYS: BOTH_WAYS, IN: OUT, OUT: IN}
    assert graphs.directions[reverse].tolist() == [there[code] for code in graphs.directions.tolist()]


@given(st.lists(directed_graphs(), min_size=1, max_size=4))
def test_what_is_written_is_read_back(expected: list[dict[str, Any]]) -> None:
    graphs = assemble([*expected, {"size": 1, "arcs": {}, "rows": [[1, 2]]}])
    with tempfile.TemporaryDirectory() as folder:
        graphs.to_tu(folder, "SET")
        back = read_graphs(folder)
    check_same(back[:-1], expected)
    assert back.equals(graphs)
    written = graphs.to_networkx()
    again = GraphSet.from_networkx(written, "color", y=graphs.y, edge_color="edge_color", features="features")
    assert replace(again, feature_names=()).equals(graphs)


def test_names_of_features_are_written_to_tu_and_networkx(tmp_path: Any) -> None:
    graphs = GraphSet.from_edges([(0, 1)], y=[0]).with_features([[1, 0.1], [2, 0.2]], ["é", "b"])
    graphs.to_tu(tmp_path, "SET")
    assert read_graphs(tmp_path).equals(graphs)
    assert GraphSet.from_networkx(graphs.to_networkx(), y=[0], features=["é", "b"]).equals(graphs)
    with pytest.raises(GraphError, match="vertex 0 has no attribute 'c'"):
        GraphSet.from_networkx(graphs.to_networkx(), features=["b", "c"])


@given(st.lists(directed_graphs(), min_size=1, max_size=4), st.randoms())
def test_induced_subgraphs(expected: list[dict[str, Any]], chance: Any) -> None:
    graphs = assemble(expected)
    keep = np.array([chance.random() < 0.6 for _ in range(int(graphs.first[-1]))], np.bool_)
    parts = []
    for graph, first in zip(expected, graphs.first.tolist(), strict=False):
        kept = [v for v in range(graph["size"]) if keep[first + v]]
        arcs = {(u, v): name for (u, v), name in graph["arcs"].items() if u in kept and v in kept}
        numbered = {(kept.index(u), kept.index(v)): name for (u, v), name in arcs.items()}
        parts.append({"size": len(kept), "arcs": numbered, "rows": [graph["rows"][v] for v in kept]})
    check_same(induced_subgraphs(graphs, keep), parts)


def test_to_pyg_has_features_colors_and_edge_colors() -> None:
    torch = pytest.importorskip("torch")
    graphs = GraphSet.from_edges(
        [(0, 1), (1, 0), (1, 2)], colors=["C", "N", "C"], edge_colors=["b", "a", "b"], features=[[0.5], [1], [2]]
    )
    (data,) = graphs.to_pyg()
    assert data.edge_index.tolist() == [[0, 1, 1], [1, 0, 2]]
    assert data.edge_attr.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert data.x.tolist() == [[0.5, 1, 0], [1, 0, 1], [2, 1, 0]]
    back = GraphSet.from_pyg(data)
    assert back.arcs().tolist() == graphs.arcs().tolist()
    assert back.arc_color_names() == (1, 0, 1)  # one-hot rows have no names
    assert torch.equal(torch.from_numpy(back.features), data.x)


def test_attributes_are_set_and_removed() -> None:
    plain = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    full = plain.with_edge_colors(["b", "a", "b"]).with_directions([0, 2, 1]).with_features([[1]] * 5, ["one"])
    assert repr(full) == "GraphSet(2 graphs, 5 vertices, 3 edges, 2 edge colors, directed, 1 feature)"
    assert [full.arcs(g).tolist() for g in (0, 1)] == [[[0, 1], [1, 0], [2, 1]], [[0, 1]]]
    assert full.arc_color_names(0) == ("b", "b", "a")
    assert full.without_features().without_directions().without_edge_colors().equals(plain)
    assert full.without_directions().equals(plain.with_edge_colors(["b", "a", "b"]).with_features([[1]] * 5, ["one"]))
    assert full.with_edge_palette(["z", "b", "a"]).arc_color_names(0) == ("b", "b", "a")
    assert plain.with_directions([0, 0, 0]).equals(plain)
    assert not full.equals(plain)
    two = GraphSet.from_edges([(0, 1), (1, 0), (1, 2)], edge_colors=["b", "a", "b"], directed=True)
    two.without_directions().check()
    assert two.without_directions().arc_color_names() == ("a", "a", "b", "b")


def test_counts_do_not_depend_on_what_they_do_not_use() -> None:
    plain = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    full = plain.with_edge_colors(["b", "a", "b"]).with_directions([0, 2, 1]).with_features([[1]] * 5)
    assert content_digest(full) == content_digest(plain)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_colors": np.array([0, 0, 0, 0], np.int64)}, "edge_colors has dtype int64, expected uint16"),
        ({"edge_colors": np.zeros(3, np.uint16)}, "edge_colors has length 3, expected 4"),
        ({"edge_colors": np.full(4, 7, np.uint16)}, "edge_colors: expected positions in the palette of 1 edge colors"),
        ({"directions": np.array([1, 1, 0, 0], np.uint8)}, "directions: expected 0 .both ways. at both ends"),
        ({"directions": np.full(4, 3, np.uint8)}, "directions: expected 0"),
        ({"features": np.zeros(3, np.float32)}, r"features has shape \(3,\); expected a row for every vertex"),
        ({"features": np.zeros((2, 1), np.float32)}, "features has length 2, expected 3"),
        ({"features": np.full((3, 1), np.nan, np.float32)}, "features: expected finite numbers"),
        ({"feature_names": ("a",)}, "feature_names has length 1, expected 0"),
        ({"feature_names": ("a", "b", "a")}, "feature_names has 'a' more than once"),
    ],
)
def test_wrong_arrays_are_refused(change: dict[str, Any], message: str) -> None:
    path = GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["a", "a"])
    with pytest.raises(GraphError, match=message):
        replace(path, **change).check()


def test_colors_of_a_one_way_edge_agree() -> None:
    path = GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["a", "b"], directed=True)
    with pytest.raises(GraphError, match="the same color at both ends"):
        replace(path, edge_colors=np.array([0, 1, 1, 1], np.uint16)).check()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge_colors": ["a"]}, "Graph 0 has 2 edges but 1 edge colors"),
        ({"edge_colors": [0.5, 1]}, "edge colors: edge 0 has the color 0.5, which is not an integer"),
        ({"features": [[1], [2]]}, "Graph 0, features: expected a row of numbers for each of 3 vertices"),
        ({"features": [1, 2, float("nan")]}, "Graph 0, features: vertex 2, column 0 has nan"),
        ({"features": [1, 2, 1e99]}, "Graph 0, features: vertex 2, column 0 has inf"),
        ({"features": ["a", "b", "c"]}, "Graph 0, features: expected a row of numbers"),
        ({"features": [[1], [2], [3, 4]]}, "Graph 0, features: expected a row of numbers per vertex; got rows of diff"),
    ],
)
def test_wrong_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        GraphSet.from_edges([(0, 1), (1, 2)], **arguments)


def test_sets_with_other_attributes_do_not_join() -> None:
    plain = GraphSet.from_edges([(0, 1)])
    with pytest.raises(GraphError, match=r"edge colors and some have none; .* call without_edge_colors\(\)"):
        plain + plain.with_edge_colors(["a"])
    with pytest.raises(GraphError, match=r"features and some have none; .* call without_features\(\)"):
        plain + plain.with_features([1, 2])
    with pytest.raises(GraphError, match="different vertex features"):
        plain.with_features([1, 2]) + plain.with_features([[1, 2], [2, 3]])
    joined = plain.with_edge_colors(["b"]) + plain.with_edge_colors(["a"])
    assert joined.edge_palette == ("a", "b")
    assert [one.arc_color_names() for one in joined] == [("b", "b"), ("a", "a")]
    mixed = plain + plain.with_directions([2])
    assert [one.arcs().tolist() for one in mixed] == [[[0, 1], [1, 0]], [[1, 0]]]
