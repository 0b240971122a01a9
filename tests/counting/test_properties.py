"""Properties that hold for every small graph with any colors."""

from __future__ import annotations

from itertools import combinations

from counting.helpers import identical, renamed, same
from hypothesis import given, settings
from hypothesis import strategies as st

from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs.graphset import GraphSet


@st.composite
def graph_sets(draw: st.DrawFn, colored: bool) -> GraphSet:
    """One to four graphs on up to seven vertices."""
    edges, sizes, colors = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(0, 7))
        pairs = list(combinations(range(n), 2))
        edges.append(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
        sizes.append(n)
        names = st.sampled_from(["C", "N", "a b", 7, -1])
        colors.append(draw(st.lists(names, min_size=n, max_size=n)))
    if not colored:
        return GraphSet.from_edges(edges, sizes)
    parts = zip(edges, sizes, colors, strict=True)
    return GraphSet.concatenate([GraphSet.from_edges(e, n, c) for e, n, c in parts])


any_sets = st.booleans().flatmap(graph_sets)
sizes = st.integers(1, 5)


@settings(max_examples=60)
@given(any_sets, sizes)
def test_auto_equals_the_oracle(graphs: GraphSet, k: int) -> None:
    same(count(graphs, k, threads=1), count(graphs, k, engine="brute"))


@settings(max_examples=40)
@given(any_sets, st.integers(1, 7), st.integers(0, 1000))
def test_renaming_vertices_changes_nothing(graphs: GraphSet, k: int, seed: int) -> None:
    identical(count(renamed(graphs, seed), k, threads=1), count(graphs, k, threads=1))


@settings(max_examples=40)
@given(st.booleans().flatmap(lambda kind: st.tuples(graph_sets(kind), graph_sets(kind))), sizes)
def test_concatenation_commutes_with_counting(pair: tuple[GraphSet, GraphSet], k: int) -> None:
    together = count(GraphSet.concatenate(pair), k, threads=1)
    same(Counts.concatenate([count(graphs, k, threads=1) for graphs in pair]), together)


@settings(max_examples=30)
@given(graph_sets(True), st.sampled_from(["subsets", "maps", "connected"]))
def test_densities_are_shares(graphs: GraphSet, over: str) -> None:
    counts = count(graphs, 3, threads=1)
    shares = counts.densities(over).toarray()  # type: ignore[arg-type]
    assert ((shares >= 0) & (shares <= 1)).all()
    assert ((shares > 0) == (counts.matrix.toarray() > 0)).all()
