"""Convert igraph graphs."""

from __future__ import annotations

import igraph
import pytest

from anysize import GraphError, GraphSet, GraphWarning


def test_igraph_edges_colors_and_labels() -> None:
    ring = igraph.Graph.Ring(4)
    ring.vs["kind"] = ["a", "b", "a", "b"]
    graphs = GraphSet.from_igraph([ring, ring], color="kind", y=[0, 1])
    assert graphs.edges(1).tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert graphs.color_names(0) == ("a", "b", "a", "b")


def test_igraph_parallel_edges_count_whichever_way_they_point() -> None:
    with pytest.warns(GraphWarning, match="1 repeated"):
        GraphSet.from_igraph(igraph.Graph(2, [(0, 1), (1, 0)]))
    both_ways = igraph.Graph(2, [(0, 1), (1, 0)], directed=True)
    assert GraphSet.from_igraph(both_ways).edge_counts.tolist() == [1]


def test_igraph_missing_colors_are_named() -> None:
    ring = igraph.Graph.Ring(3)
    with pytest.raises(GraphError, match="Graph 0: vertex 0 has no attribute 'kind'"):
        GraphSet.from_igraph(ring, color="kind")
    ring.vs[0]["kind"] = 1
    with pytest.raises(GraphError, match="Graph 0: vertex 1 has no attribute 'kind'"):
        GraphSet.from_igraph(ring, color="kind")
