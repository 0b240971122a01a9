"""WLKernel: features against a slow reference, on training graphs and on other graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.helpers import DYED, ODD, PLAIN, Graph, graphs_of, slow_colors, slow_kernel
from sklearn.exceptions import NotFittedError

from anysize import GraphSet, read_graphs
from anysize._errors import GraphError
from anysize.kernels import wl as wl_module
from anysize.kernels.gram import gram
from anysize.kernels.wl import WLKernel


@pytest.mark.parametrize("iterations", [0, 1, 2, 4])
@pytest.mark.parametrize("made", [PLAIN, DYED, PLAIN + ODD], ids=["plain", "colored", "odd"])
def test_wl_equals_the_slow_kernel(made: list[Graph], iterations: int) -> None:
    graphs = graphs_of(made)
    kernel = WLKernel(iterations).fit(graphs)
    np.testing.assert_array_equal(kernel.kernel(graphs), slow_kernel(made, made, iterations))
    assert (
        kernel.features_.shape[1] == kernel.offsets_[-1] == len({c for g in made for c in slow_colors(g, iterations)})
    )
    assert len(kernel.offsets_) == iterations + 2


@pytest.mark.parametrize("made", [PLAIN + ODD, DYED], ids=["plain", "colored"])
def test_wl_on_graphs_with_colors_that_training_lacked(made: list[Graph]) -> None:
    train, test = made[::3], made[1:]
    kernel = WLKernel(3).fit(graphs_of(train))
    np.testing.assert_array_equal(kernel.kernel(graphs_of(test)), slow_kernel(test, train, 3))
    alone = np.vstack([kernel.kernel(graphs_of(test)[g]) for g in range(len(test))])
    np.testing.assert_array_equal(alone, kernel.kernel(graphs_of(test)))  # no graph changes another's features


@pytest.mark.parametrize("iterations", [0, 1, 3])
@pytest.mark.parametrize("normalize", [False, True])
def test_graphs_refined_by_a_deeper_kernel_have_the_same_features(iterations: int, normalize: bool) -> None:
    train, test = graphs_of(DYED[::3]), graphs_of(DYED[1:])
    deep = WLKernel(3).fit(train)
    shared, alone = WLKernel(iterations, normalize), WLKernel(iterations, normalize)
    refined = deep.refine(test)
    for known, graphs in ((deep.refine(train), train), (refined, test)):
        step = "fit_transform" if graphs is train else "transform"
        found, expected = getattr(shared, step)(known), getattr(alone, step)(graphs)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_array_equal(shared.transform(test).toarray(), alone.transform(test).toarray())
    np.testing.assert_array_equal(shared.offsets_, alone.offsets_)
    np.testing.assert_array_equal(alone.transform(refined).toarray(), alone.transform(test).toarray())  # an equal one
    with pytest.raises(ValueError, match="3 iterations"):  # of a kernel of other graphs
        WLKernel(iterations + 1).fit(test).transform(refined)
    with pytest.raises(ValueError, match="3 iterations"):
        WLKernel(4).fit(refined)


@pytest.mark.parametrize("iterations", [1, 3])
def test_a_padding_color_is_not_seen_by_neighbors_in_the_first_iteration(iterations: int) -> None:
    train, test = DYED[::3], DYED[1:]
    kernel = WLKernel(iterations, padding_color="C").fit(graphs_of(train))
    np.testing.assert_array_equal(kernel.kernel(graphs_of(train)), slow_kernel(train, train, iterations, "C"))
    np.testing.assert_array_equal(kernel.kernel(graphs_of(test)), slow_kernel(test, train, iterations, "C"))
    exact = WLKernel(iterations).fit(graphs_of(train))
    assert kernel.offsets_[2] < exact.offsets_[2]  # fewer classes
    restored = WLKernel.from_state(*kernel.state())
    np.testing.assert_array_equal(
        restored.transform(graphs_of(test)).toarray(), kernel.transform(graphs_of(test)).toarray()
    )
    with pytest.raises(ValueError, match="refined by this kernel"):
        WLKernel(iterations).fit(kernel.refine(graphs_of(train)))


def test_a_padding_color_that_no_graph_has_changes_nothing() -> None:
    for made in (DYED, PLAIN):
        padded, exact = (WLKernel(3, padding_color=color).fit_transform(graphs_of(made)) for color in ("X", None))
        np.testing.assert_array_equal(padded.toarray(), exact.toarray())


@st.composite
def small_graphs(draw: st.DrawFn) -> list[Graph]:
    made = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 6))
        pairs = [(i, j) for j in range(n) for i in range(j)]
        graph = nx.empty_graph(n)
        graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
        nx.set_node_attributes(graph, {v: draw(st.sampled_from("ab")) for v in graph}, "c")
        made.append(graph)
    return made


@settings(max_examples=60)
@given(small_graphs(), small_graphs(), st.integers(0, 4))
def test_wl_equals_the_slow_kernel_on_any_graphs(train: list[Graph], test: list[Graph], iterations: int) -> None:
    kernel = WLKernel(iterations).fit(graphs_of(train))
    np.testing.assert_array_equal(kernel.kernel(graphs_of(test)), slow_kernel(test, train, iterations))


def slow_typed_colors(graphs: GraphSet, iterations: int) -> Counter[Hashable]:
    """Every (iteration, refined color) of one graph with edge colors and directions; a color is a string."""
    names = graphs.arc_color_names() or ("",) * len(graphs.arcs())
    arcs = dict(zip(map(tuple, graphs.arcs().tolist()), names, strict=True))
    near: dict[int, list[tuple[int, str]]] = {v: [] for v in range(int(graphs.sizes[0]))}
    for u, v in {(min(arc), max(arc)) for arc in arcs}:
        for here, there in ((u, v), (v, u)):
            near[here].append((there, f"<{arcs.get((here, there))}|{arcs.get((there, here))}>"))
    color = dict(enumerate(map(str, graphs.color_names()))) or dict.fromkeys(near, "dot")
    found: Counter[Hashable] = Counter((0, c) for c in color.values())
    for step in range(1, iterations + 1):
        color = {v: f"({color[v]}:{','.join(sorted(edge + color[u] for u, edge in near[v]))})" for v in near}
        found.update((step, c) for c in color.values())
    return found


def slow_typed_kernel(left: GraphSet, right: GraphSet, iterations: int) -> Any:
    a, b = ([slow_typed_colors(graph, iterations) for graph in graphs] for graphs in (left, right))
    return np.array([[sum(n * y[c] for c, n in x.items()) for y in b] for x in a], float)


@st.composite
def typed_graphs(draw: st.DrawFn, types: str, directed: bool) -> GraphSet:
    """Up to four graphs with a two-way edge of two types in the first, so that all sets have what they may have."""
    edges, kinds, sizes = [[(0, 1), (1, 0), (1, 2)]], [["a", "b", "a"]], [3]
    for _ in range(draw(st.integers(0, 3))):
        n = draw(st.integers(1, 6))
        pairs = [(i, j) for j in range(n) for i in range(n) if i != j]
        edges.append(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
        kinds.append([draw(st.sampled_from(types)) for _ in edges[-1]])
        sizes.append(n)
    return GraphSet.from_edges(
        edges, n_vertices=sizes, edge_colors=kinds, directed=directed, colors=[["C"] * n for n in sizes]
    )


@settings(max_examples=60)
@given(st.data(), st.integers(0, 3), st.booleans(), st.booleans(), st.booleans())
def test_wl_with_edge_colors_and_directions_equals_the_slow_kernel(
    data: st.DataObject, iterations: int, directed: bool, typed: bool, normalize: bool
) -> None:
    train, test = data.draw(typed_graphs("ab", directed)), data.draw(typed_graphs("abc", directed))
    if not typed:
        train, test = train.without_edge_colors(), test.without_edge_colors()
    kernel = WLKernel(iterations, normalize).fit(train)
    expected = slow_typed_kernel(test, train, iterations)
    if normalize:
        lengths = [np.sqrt(np.diag(slow_typed_kernel(part, part, iterations))) for part in (test, train)]
        expected = expected / np.outer(*lengths)
    np.testing.assert_allclose(kernel.kernel(test), expected, rtol=1e-12)
    restored = WLKernel.from_state(*kernel.state())
    np.testing.assert_array_equal(restored.transform(test).toarray(), kernel.transform(test).toarray())


def test_one_type_of_edges_is_no_type() -> None:
    plain = graphs_of(DYED)
    typed = plain.with_edge_colors(["x"] * int(plain.edge_counts.sum()))
    np.testing.assert_array_equal(WLKernel(3).fit(typed).kernel(typed), WLKernel(3).fit(plain).kernel(plain))


def test_edge_attributes_that_training_lacked_are_ignored() -> None:
    path = GraphSet.from_edges([(0, 1), (1, 2)])
    full = path.with_edge_colors(["a", "b"]).with_directions([1, 1])
    colored, directed = path.with_edge_colors(["a", "b"]), path.with_directions([1, 1])
    for train, same in ((path, path), (colored, colored), (directed, directed)):
        kernel = WLKernel(2).fit(train)
        np.testing.assert_array_equal(kernel.transform(full).toarray(), kernel.transform(same).toarray())
    with pytest.raises(GraphError, match="had edge colors and these graphs have none"):
        WLKernel(2).fit(colored).transform(path)
    assert WLKernel(1).fit(directed).transform(path).toarray()[0, 1:].tolist() == [0, 0, 0]  # all edges both ways
    assert WLKernel(1).fit(colored).transform(GraphSet.from_edges([], n_vertices=1)).toarray().tolist() == [
        [1, 0, 0, 0]
    ]


def test_names_of_types_show_edges() -> None:
    graphs = GraphSet.from_edges([(0, 1), (1, 2), (2, 1)], colors=["C", "O", "N"], edge_colors=["a", "a", "b"])
    kernel = WLKernel(1).fit(graphs)
    assert [kernel.type_name(1, number) for number in range(3)] == ["C(→a O)", "O(←a C,↔a/b N)", "N(↔b/a O)"]
    kernel = WLKernel(1).fit(graphs.without_edge_colors())
    assert [kernel.type_name(1, number) for number in range(3)] == ["C(→O)", "O(←C,↔N)", "N(↔O)"]
    kernel = WLKernel(1).fit(graphs.without_directions())
    assert [kernel.type_name(1, number) for number in range(3)] == ["C(a O)", "O(a C,a N)", "N(a O)"]


def test_benzene_and_cyclohexane_have_different_types() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    rings = GraphSet.from_rdkit([chem.MolFromSmiles(text) for text in ("c1ccccc1", "C1CCCCC1")])
    assert WLKernel(0).fit_transform(rings).toarray().tolist() == [[0, 6], [6, 0]]  # types CH2 and cH
    bonds = rings.without_colors()
    assert WLKernel(1).fit_transform(bonds).toarray()[:, 1:].tolist() == [[6, 0], [0, 6]]  # bonds alone


def test_an_unseen_color_stays_unseen_and_keeps_refining() -> None:
    path = graphs_of([nx.path_graph(3)])  # degrees 1, 2, 1
    kernel = WLKernel(2).fit(path)
    paw = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])  # a vertex of degree 3, which no path has
    features = kernel.transform(graphs_of([paw])).toarray()[0]
    by_step = np.split(features, kernel.offsets_[1:-1])
    assert by_step[0].tolist() == [4.0]
    assert sorted(by_step[1].tolist()) == [1.0, 2.0]  # the end of the paw, its two corners; not the center
    assert by_step[2].tolist() == [0.0, 0.0]  # every vertex has a neighbor of degree 3, or is it
    classes = kernel.refine(graphs_of([paw])).classes
    assert len(set(classes[2].tolist())) == 3  # the corners alike, the others apart


def test_two_graphs_refinement_cannot_tell_apart_have_the_same_features() -> None:
    hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    features = WLKernel(4).fit_transform(graphs_of([hexagon, triangles])).toarray()
    np.testing.assert_array_equal(features[0], features[1])


def test_normalized_graphs_have_length_one_over_all_their_own_colors() -> None:
    train, test = DYED[::2], DYED[1::2]
    kernel = WLKernel(2, normalize=True).fit(graphs_of(train))
    own = [np.sqrt(np.diag(slow_kernel(part, part, 2))) for part in (test, train)]
    np.testing.assert_allclose(kernel.kernel(graphs_of(test)), slow_kernel(test, train, 2) / np.outer(*own), rtol=1e-12)
    np.testing.assert_allclose(np.diag(gram(kernel.features_)), 1.0, rtol=1e-12)
    assert not WLKernel(2, normalize=True).fit_transform(graphs_of(ODD)).toarray()[2].any()  # no vertices: zeros


def test_features_follow_color_names_not_codes() -> None:
    graphs = graphs_of(DYED)
    kernel = WLKernel(3).fit(graphs)
    wide = graphs.with_palette(("A", "B", *graphs.palette, "Z"))
    assert not np.array_equal(wide.colors, graphs.colors)
    assert (kernel.transform(wide) != kernel.features_).nnz == 0
    assert (WLKernel(3).fit_transform(wide) != kernel.features_).nnz == 0  # unused names make no column


def test_the_order_of_vertices_does_not_matter() -> None:
    graphs = graphs_of(DYED)
    rng = np.random.default_rng(5)
    moved = []
    for graph in DYED:
        names = rng.permutation(len(graph)).tolist()
        other = nx.Graph()
        other.add_nodes_from(sorted((names[v], data) for v, data in graph.nodes(data=True)))
        other.add_edges_from((names[u], names[v]) for u, v in graph.edges)
        moved.append(other)
    kernel = WLKernel(3).fit(graphs)
    assert (kernel.transform(graphs_of(moved)) != kernel.features_).nnz == 0


def test_colliding_hashes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = slow_kernel(DYED, DYED, 3)
    real, salts = wl_module._hashes, []

    def weak(rows: wl_module.Signatures, salt: int) -> Any:
        salts.append(salt)
        bits = np.uint64([0, 3, 64][min(salt, 2)])  # everything equal, then eight values, then all bits
        return real(rows, salt) if salt > 1 else real(rows, salt) & np.uint64((1 << int(bits)) - 1)

    monkeypatch.setattr(wl_module, "_hashes", weak)
    graphs = graphs_of(DYED)
    np.testing.assert_array_equal(WLKernel(3).fit(graphs).kernel(graphs), expected)
    assert 2 in salts


def test_wl_refuses_what_it_cannot_compare() -> None:
    kernel = WLKernel(1).fit(graphs_of(DYED))
    with pytest.raises(GraphError, match=r"colored graphs.* plain"):
        kernel.transform(graphs_of(PLAIN))
    with pytest.raises(GraphError, match=r"plain graphs.* colored"):
        WLKernel(1).fit(graphs_of(PLAIN)).transform(graphs_of(DYED))
    for wrong in (-1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="iterations must be an integer"):
            WLKernel(wrong).fit(graphs_of(PLAIN))  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        WLKernel().transform(graphs_of(PLAIN))
    assert kernel.transform(graphs_of(DYED)[:0]).shape == (0, kernel.offsets_[-1])


def test_wl_takes_graphs_of_other_libraries() -> None:
    np.testing.assert_array_equal(WLKernel(2).fit(PLAIN).kernel(PLAIN), slow_kernel(PLAIN, PLAIN, 2))


def test_wl_on_mutag_equals_the_slow_kernel(data_dir: Any) -> None:
    typed = read_graphs(data_dir / "MUTAG.zip", warn=False)
    some = typed[::5]
    np.testing.assert_array_equal(WLKernel(3).fit(some).kernel(some), slow_typed_kernel(some, some, 3))
    graphs = typed.without_edge_colors()
    made = graphs.to_networkx(color="c")
    kernel = WLKernel(3).fit(graphs)
    np.testing.assert_array_equal(kernel.kernel(graphs), slow_kernel(made, made, 3))
    assert np.diff(kernel.offsets_).tolist() == [7, 33, 174, 572]
