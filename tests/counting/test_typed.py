"""Counts of patterns with types of edges: against brute force and networkx's triadic census."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anysize import Counts, GraphSet, count, count_stream
from anysize.counting.columns import Columns

TRIADS = ("021D", "021U", "021C", "111D", "111U", "030T", "030C", "201", "120D", "120U", "120C", "210", "300")

Plain = tuple[tuple[str, ...], frozenset[tuple[int, int, str]]]  # vertex colors; ordered pairs with their edge colors


def smallest(colors: list[str], arcs: set[tuple[int, int, str]]) -> Any:
    """The same for isomorphic patterns: the smallest renaming of one."""
    renamed = []
    for image in permutations(range(len(colors))):
        moved = [""] * len(colors)
        for v, color in enumerate(colors):
            moved[image[v]] = color
        renamed.append((moved, sorted((image[u], image[v], name) for u, v, name in arcs)))
    return repr(min(renamed))


def slow_counts(graphs: GraphSet, k: int) -> list[Counter[str]]:
    """The copies of every pattern in every graph, by its smallest renaming."""
    counted = []
    for graph in graphs:
        names = graph.arc_color_names() or ("",) * len(graph.arcs())
        arcs = {(u, v, str(name)) for (u, v), name in zip(graph.arcs().tolist(), names, strict=True)}
        colors = list(map(str, graph.color_names())) or ["."] * int(graph.sizes[0])
        found: Counter[str] = Counter()
        for chosen in combinations(range(len(colors)), k):
            inner = {(chosen.index(u), chosen.index(v), name) for u, v, name in arcs if u in chosen and v in chosen}
            skeleton = nx.Graph([(u, v) for u, v, _ in inner])
            skeleton.add_nodes_from(range(k))
            if nx.is_connected(skeleton):
                found[smallest([colors[v] for v in chosen], inner)] += 1
        counted.append(found)
    return counted


def keyed(counts: Counts) -> list[Counter[str]]:
    """The cells of a table, by the smallest renaming of the pattern."""
    keys = []
    for pattern in counts.patterns:
        graph = pattern.to_networkx()
        colors = list(map(str, pattern.colors)) if pattern.colors is not None else ["."] * pattern.size
        keys.append(smallest(colors, {(u, v, str(name or "")) for u, v, name in graph.edges(data="edge_color")}))
    assert len(set(keys)) == len(keys)
    return [Counter({key: int(c) for key, c in zip(keys, row, strict=True) if c}) for row in counts.matrix.toarray()]


@st.composite
def graph_sets(draw: st.DrawFn) -> GraphSet:
    directed, typed, colored = (draw(st.booleans()) for _ in range(3))
    edges, kinds, sizes = [[(0, 1), (1, 2)]], [["a", "b"]], [3]  # a set has what it may have
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(0, 7))
        pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]
        edges.append(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
        kinds.append([draw(st.sampled_from(["a", "b", 7])) for _ in edges[-1]])
        sizes.append(n)
    colors = [[draw(st.sampled_from("CN")) for _ in range(n)] for n in sizes]
    return GraphSet.from_edges(
        edges, n_vertices=sizes, colors=colors if colored else None,
        edge_colors=kinds if typed or not directed else None, directed=directed,
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.integers(1, 5))
def test_counts_equal_brute_force(graphs: GraphSet, k: int) -> None:
    counts = count(graphs, k, edges=True, threads=1)
    assert keyed(counts) == slow_counts(graphs, k)
    assert counts.columns.checked() is not None
    for pattern in counts.patterns:
        assert pattern.automorphisms == number_of_automorphisms(pattern)


def number_of_automorphisms(pattern: Any) -> int:
    graph = pattern.to_networkx()
    arcs = {(u, v, name) for u, v, name in graph.edges(data="edge_color")}
    colors = pattern.colors or (0,) * pattern.size
    return sum(
        {(image[u], image[v], name) for u, v, name in arcs} == arcs
        and all(colors[image[v]] == colors[v] for v in range(pattern.size))
        for image in permutations(range(pattern.size))
    )


@pytest.mark.parametrize("density", [0.05, 0.15, 0.5])
def test_triads_equal_the_census_of_networkx(density: float) -> None:
    made = [nx.gnp_random_graph(25, density, seed=seed, directed=True) for seed in range(4)]
    table = count(made, 3, edges=True).to_pandas()
    assert set(table.columns) <= set(TRIADS)
    for row, graph in enumerate(made):
        census = nx.triadic_census(graph)
        assert {name: int(table[name][row]) if name in table else 0 for name in TRIADS} == {
            name: census[name] for name in TRIADS
        }


def test_all_thirteen_connected_triads_have_their_names() -> None:
    names = set()
    pairs = [(u, v) for u in range(3) for v in range(3) if u != v]
    for number in range(1, 64):
        arcs = [pair for bit, pair in enumerate(pairs) if number >> bit & 1]
        graph = nx.DiGraph(arcs)
        graph.add_nodes_from(range(3))
        census = {name for name, amount in nx.triadic_census(graph).items() if amount}
        if nx.is_weakly_connected(graph):
            set_ = GraphSet.from_networkx([graph, nx.DiGraph([(0, 1)])])
            (name,) = [pattern.name for pattern in count(set_, 3, edges=True).patterns]
            assert {name} == census
            names.add(name)
    assert names == set(TRIADS)


def molecules() -> GraphSet:
    return GraphSet.from_edges(
        [[(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (0, 2)]],
        colors=[["C", "C", "O", "C"], ["C", "C", "C"]],
        edge_colors=[["single", "double", "single"], ["single", "single", "double"]],
        y=[0, 1],
    )


def test_names_densities_and_sums() -> None:
    counts = count(molecules(), 2, edges=True)
    assert counts.to_pandas().to_dict("list") == {
        "edge{double}[C,C]": [0, 1], "edge{single}[C,C]": [1, 2],
        "edge{double}[C,O]": [1, 0], "edge{single}[C,O]": [1, 0],
    }  # fmt: skip
    np.testing.assert_allclose(counts.densities("connected").sum(axis=1), 1)
    several = count(molecules(), (1, 2, 3), edges=True)
    assert sorted(set(several.columns.size.tolist())) == [1, 2, 3]
    assert several.align(counts).matrix.toarray().tolist() == counts.matrix.toarray().tolist()
    assert several.align(list(counts.patterns)).matrix.toarray().tolist() == counts.matrix.toarray().tolist()
    halves = Counts.concatenate([count(molecules()[g], 3, edges=True) for g in (0, 1)])
    whole = count(molecules(), 3, edges=True)
    assert halves.align(whole).matrix.toarray().tolist() == whole.matrix.toarray().tolist()


def test_sums_over_types_are_the_counts_without() -> None:
    made = [nx.gnp_random_graph(30, 0.1, seed=seed, directed=True) for seed in range(3)]
    for k in (2, 3, 4, 5):
        typed, plain = count(made, k, edges=True), count(made, k)
        summed = np.zeros(plain.shape, np.int64)
        np.add.at(summed.T, typed.columns.pattern_index, typed.matrix.toarray().T)
        np.testing.assert_array_equal(summed, plain.matrix.toarray())
        np.testing.assert_array_equal(typed.without_edge_types().matrix.toarray(), plain.matrix.toarray())
    for k in (1, 2, 3):
        colored, typed = count(molecules(), k), count(molecules(), k, edges=True).without_edge_types()
        assert typed.patterns == colored.patterns
        np.testing.assert_array_equal(typed.matrix.toarray(), colored.matrix.toarray())


def test_threads_and_caches_change_nothing(tmp_path: Path) -> None:
    made = GraphSet.from_networkx([nx.gnp_random_graph(20, 0.2, seed=seed, directed=True) for seed in range(9)])
    one = count(made, 4, edges=True, threads=1)
    for other in (
        count(made, 4, edges=True, threads=3), count(made, 4, edges=True, cache=tmp_path),
        count(made, 4, edges=True, cache=tmp_path),
    ):  # fmt: skip
        assert [p.name for p in other.patterns] == [p.name for p in one.patterns]
        np.testing.assert_array_equal(other.matrix.toarray(), one.matrix.toarray())
    assert count(made.without_directions(), 4, cache=tmp_path).columns.edge_types is None


def test_files_hold_types(tmp_path: Path) -> None:
    for counts in (count(molecules(), 3, edges=True), count([nx.DiGraph([(0, 1), (1, 0), (1, 2)])], 3, edges=True)):
        counts.save(tmp_path / "c.npz")
        back = Counts.load(tmp_path / "c.npz")
        assert back.patterns == counts.patterns
        np.testing.assert_array_equal(back.matrix.toarray(), counts.matrix.toarray())


def test_graphs_without_types_have_plain_patterns() -> None:
    path = GraphSet.from_edges([(0, 1), (1, 2)])
    assert count(path, 3, edges=True).patterns == count(path, 3).patterns
    assert count(molecules()[:0], 3, edges=True).shape[0] == 0


def test_what_cannot_be_counted_is_refused(tmp_path: Path) -> None:
    graphs = molecules()
    with pytest.raises(ValueError, match="at most 5 vertices; got k = 6"):
        count(graphs, 6, edges=True)
    with pytest.raises(ValueError, match="edges=True counts exactly, with one engine"):
        count(graphs, 3, engine="sample", samples=10, edges=True)
    with pytest.raises(ValueError, match="count_stream does not take edges=True"):
        count_stream([graphs], 3, tmp_path / "s", edges=True)
    with pytest.raises(ValueError, match="types of edges or all none"):
        Counts.concatenate([count(graphs, 3), count(graphs, 3, edges=True)])
    many = graphs.without_colors().with_edge_colors(list(range(6)))
    wide = GraphSet.concatenate([many] * 3).with_edge_colors(range(18))
    assert len(count(wide, 5, edges=True)) == 6
    columns = count(graphs, 3, edges=True).columns
    assert columns.edge_types is not None
    wrong = Columns(columns.size, columns.pattern_index, columns.colors, columns.palette,
                    columns.edge_types * 0, columns.edge_palette)  # fmt: skip
    with pytest.raises(ValueError, match="expected a type for every edge"):
        wrong.checked()
