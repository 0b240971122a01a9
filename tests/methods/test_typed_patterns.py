"""Methods on patterns where edges have types: against brute force, and on graphs that only types tell apart."""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from anysize import GraphClassifier, GraphRegressor, GraphSet, GraphWarning, count, load_model
from anysize.kernels.graphlet import GraphletKernel
from anysize.methods.catalog import METHODS
from anysize.methods.method import Examples, Run, TrainingData
from anysize.training.settings import Recipe

TYPED = ("gc-kernel", "gamma-1hot", "gamma-gin", "gamma-rpgin", "patterns-forest")


def rings(amount: int, parts: tuple[int, int], seed: int) -> GraphSet:
    """Chains of rings of six: their edges are of two types, in turn or three and three."""
    rng, edges, types, colors = np.random.default_rng(seed), [], [], []
    for graph in range(amount):
        pairs, kinds, rings = [], [], int(rng.integers(*parts))
        for ring in range(rings):
            first = 7 * ring
            for i in range(6):
                pairs.append((first + i, first + (i + 1) % 6))
                kinds.append("ab"[i % 2] if graph % 2 else "ab"[i // 3])
            pairs.append((first + int(rng.integers(6)), first + 6))
            if ring:
                pairs.append((first - 1, first + int(rng.integers(6))))
            kinds += ["bridge"] * (len(pairs) - len(kinds))
        edges.append(pairs)
        types.append(kinds)
        colors.append(rng.choice(["C", "N"], 7 * rings).tolist())
    y = [("in blocks", "in turn")[graph % 2] for graph in range(amount)]
    return GraphSet.from_edges(edges, colors=colors, edge_colors=types, y=y)


def triangles(amount: int, parts: tuple[int, int], seed: int) -> GraphSet:
    """Closed chains of triangles whose edges go round, or are feed-forward loops; the size changes no share."""
    rng, edges = np.random.default_rng(seed), []
    for graph in range(amount):
        pairs: list[tuple[int, int]] = []
        number = int(rng.integers(*parts))
        for part in range(number):
            a, b, c = (3 * part + rng.permutation(3)).tolist()
            pairs += [(a, b), (b, c), (c, a) if graph % 2 else (a, c)]
            link = 3 * part, (3 * part + 4) % (3 * number)
            pairs.append(link if rng.random() < 0.5 else link[::-1])
        edges.append(pairs)
    y = [("feed-forward", "round")[graph % 2] for graph in range(amount)]
    return GraphSet.from_edges(edges, directed=True, y=y)


@pytest.mark.parametrize("method", [*TYPED, "sizemix", "auto", "wl-kernel"])
@pytest.mark.parametrize(("make", "k"), [(rings, 3), (triangles, 3)])
def test_only_types_of_edges_tell_the_classes_apart(method: str, make: object, k: int) -> None:
    small, large = make(30, (3, 6), 0), make(12, (9, 13), 1)  # type: ignore[operator]
    params = {"trees": 30} if method == "patterns-forest" else None
    assert GraphClassifier(method, k=k, check=False, params=params).fit(small).score(large) == 1
    if method in TYPED:
        bare = small.without_edge_colors().without_directions()
        blind = GraphClassifier(method, k=k, check=False, params=params).fit(bare)
        assert blind.score(large.without_edge_colors().without_directions()) < 0.9


def dense(sizes: tuple[int, ...], amount: int, seed: int) -> GraphSet:
    """Samples of one graphon with random colors; in one class the colors of its ends decide the type of an edge."""
    rng, edges, colors, kinds = np.random.default_rng(seed), [], [], []
    for graph in range(amount):
        n = int(rng.choice(sizes))
        names = rng.choice(["a", "b"], n).tolist()
        edges.append([pair for pair in combinations(range(n), 2) if rng.random() < 0.3])
        kinds.append(["xz"[int(rng.integers(2) if graph % 2 else names[i] == names[j])] for i, j in edges[-1]])
        colors.append(names)
    y = [("by color", "mixed")[graph % 2] for graph in range(amount)]
    return GraphSet.from_edges(
        edges, n_vertices=[len(names) for names in colors], colors=colors, edge_colors=kinds, y=y
    )


def test_auto_takes_gamma_models_with_types() -> None:
    small, large = dense((15, 20, 25), 60, 1), dense((50,), 12, 2)
    model = GraphClassifier("auto", k=3, check=False).fit(small)
    assert model.ensemble_.parts[0].decision.family == "gamma"  # type: ignore[attr-defined]
    assert model.score(large) == 1
    assert any("{x" in pattern.name for pattern in model.explain(large[0]).patterns)  # type: ignore[union-attr]


# ---- against brute force -------------------------------------------------------------------------------


def copies(graphs: GraphSet, k: int) -> list[Counter[str]]:
    """Induced copies by the smallest renaming of colors and typed arcs."""
    counted = []
    for graph in graphs:
        names = graph.arc_color_names() or ("",) * len(graph.arcs())
        arcs = [(u, v, str(name)) for (u, v), name in zip(graph.arcs().tolist(), names, strict=True)]
        colors = list(map(str, graph.color_names())) or ["."] * int(graph.sizes[0])
        found: Counter[str] = Counter()
        for chosen in combinations(range(len(colors)), k):
            inner = [(u, v, name) for u, v, name in arcs if u in chosen and v in chosen]
            skeleton = nx.Graph([(u, v) for u, v, _ in inner])
            skeleton.add_nodes_from(chosen)
            if nx.is_connected(skeleton):
                places = [{vertex: order[i] for i, vertex in enumerate(chosen)} for order in permutations(range(k))]
                found[
                    min(
                        repr((sorted((p[v], colors[v]) for v in chosen), sorted((p[u], p[v], n) for u, v, n in inner)))
                        for p in places
                    )
                ] += 1
        counted.append(found)
    return counted


def slow_densities(train: GraphSet, test: GraphSet, k: int) -> np.ndarray:
    """Shares of the patterns of training graphs among all connected sets: (graphs, patterns)."""
    known = sorted({name for graph in copies(train, k) for name in graph})
    rows = copies(test, k)
    return np.array([[row[name] / max(sum(row.values()), 1) for name in known] for row in rows])


def test_the_graphlet_kernel_is_that_of_brute_force() -> None:
    for make in (rings, triangles):
        train, test = make(6, (3, 4), 2), make(4, (3, 5), 3)
        kernel = GraphletKernel(k=3).fit(count(train, 3, edges=True))
        expected = slow_densities(train, test, 3) @ slow_densities(train, train, 3).T
        np.testing.assert_allclose(kernel.kernel(count(test, 3, edges=True)), expected, rtol=1e-12)
        assert (kernel.kernel(count(test, 3, edges=True)) != GraphletKernel(k=3).fit(train).kernel(test)).any()
        (machine,) = METHODS["gc-kernel"].fit(
            TrainingData(Examples(train, np.arange(6) % 2), None, classes=2, k=3), [Run({}, 0)], Recipe(epochs=1)
        )
        np.testing.assert_allclose(
            machine.represent(Examples(test))[0] @ machine.represent(Examples(train))[0].T, expected, rtol=1e-12
        )


def test_one_hot_models_are_sums_of_densities_of_brute_force() -> None:
    train, test = rings(8, (1, 3), 4), rings(4, (2, 3), 5)
    data = TrainingData(Examples(train, np.arange(8) % 2), None, classes=2, k=3)
    recipe = Recipe(epochs=3, over="connected")
    (fitted,) = METHODS["gamma-1hot"].fit(data, [Run({"hidden": 4, "lr": 0.1}, 0)], recipe)
    rows, shares = fitted.stack.model.representation.rows[0].detach().numpy(), slow_densities(train, test, 3)  # type: ignore[attr-defined]
    found = fitted.represent(Examples(test))[0]
    ordered = GraphletKernel(k=3).fit(count(train, 3, edges=True)).transform(count(test, 3, edges=True)).toarray()
    assert ordered.shape == (4, len(rows)) == shares.shape
    np.testing.assert_allclose(np.sort(ordered, axis=1), np.sort(shares, axis=1), rtol=1e-12)
    np.testing.assert_allclose(found, ordered @ rows, rtol=1e-5, atol=1e-6)


def test_forests_count_colored_patterns_with_types() -> None:
    model = GraphClassifier("patterns-forest", params={"trees": 5}, check=False).fit(rings(8, (1, 3), 0))
    colored = model.ensemble_.parts[0].features.colored  # type: ignore[attr-defined]
    assert colored.columns.edge_types is not None
    named = GraphRegressor("patterns-forest", params={"trees": 5}, check=False)
    assert np.isfinite(named.fit(triangles(8, (3, 5), 0), np.arange(8.0)).predict(triangles(2, (4, 5), 1))).all()


# ---- what is said --------------------------------------------------------------------------------------


def test_models_are_saved_and_explained_with_types(tmp_path: Path) -> None:
    small, large = rings(16, (2, 4), 0), rings(4, (6, 8), 1)
    for method in TYPED:
        params = {"trees": 5} if method == "patterns-forest" else None
        model = GraphClassifier(method, k=3, params=params, check=False).fit(small)
        model.save(tmp_path / "m.anysize")
        again = load_model(tmp_path / "m.anysize")
        np.testing.assert_array_equal(again.predict_proba(large), model.predict_proba(large))  # type: ignore[union-attr]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(large)
        if method.startswith("gamma"):
            why = again.explain(large[0], reference=small)  # type: ignore[union-attr]
            names = [pattern.name for pattern in why.patterns]
            assert any(name.startswith("3-path{a,b}[") for name in names), names
            why.save(tmp_path / "why.svg")


def test_counts_must_have_the_types_that_the_model_has() -> None:
    small, large = rings(8, (2, 3), 0), rings(2, (6, 7), 1)
    typed, plain = count(small, 3, edges=True), count(small, 3)
    for method in ("gc-kernel", "gamma-gin"):
        with_types = GraphClassifier(method, k=3, check=False).fit(typed)
        if method == "gc-kernel":  # the recipe of Gamma models depends on what only graphs show
            same = GraphClassifier(method, k=3, check=False).fit(small)
            np.testing.assert_array_equal(with_types.predict_proba(large), same.predict_proba(large))
        with pytest.raises(ValueError, match=r"with edge colors and got patterns without types of edges; .*edges=True"):
            with_types.predict(count(large, 3))
        with pytest.raises(
            ValueError, match=r"without types of edges and got patterns with edge colors; .*edges=False"
        ):
            GraphClassifier(method, k=3, check=False).fit(plain).predict(count(large, 3, edges=True))
        with pytest.raises(ValueError, match="had edge colors and these graphs have none"):
            with_types.predict(large.without_edge_colors())
        blind = GraphClassifier(method, k=3, check=False).fit(small.without_edge_colors())
        np.testing.assert_array_equal(
            blind.predict_proba(large), blind.predict_proba(large.without_edge_colors())
        )  # fmt: skip


def test_unknown_types_of_edges_are_reported() -> None:
    small, large = rings(30, (2, 3), 0), rings(4, (2, 3), 1)
    renamed = large.with_edge_colors(["new" if name == "bridge" else name for name in edge_names(large)])
    for method in ("gamma-1hot", "sizemix"):
        model = GraphClassifier(method, k=3, check=False).fit(small)
        with pytest.warns(GraphWarning, match=r"4 of 4 graphs have types of edges that no training graph had \(new\)"):
            model.predict(renamed)
    tabled = GraphClassifier("gamma-1hot", k=3, check=False).fit(count(small, 3, edges=True))
    with pytest.warns(GraphWarning, match="types of edges that no training graph had.* of their edges in patterns"):
        tabled.predict(count(renamed, 3, edges=True))
    directed = GraphClassifier("sizemix", check=False).fit(triangles(8, (3, 4), 0))
    with pytest.warns(GraphWarning, match=r"1 of 1 graph has types of edges that no training graph had \(↔\), 100 %"):
        directed.predict(GraphSet.from_edges([[(0, 1), (1, 2), (2, 0)]]))


def edge_names(graphs: GraphSet) -> list[object]:
    """Of undirected graphs, one for every edge."""
    arcs = [(arc, name) for one in graphs for arc, name in zip(one.arcs().tolist(), one.arc_color_names(), strict=True)]
    return [name for (u, v), name in arcs if u < v]


def test_what_cannot_be_counted_with_types_is_refused() -> None:
    small = rings(8, (2, 3), 0)
    with pytest.raises(ValueError, match=r"at most 5 vertices; got k = 6; .*without_edge_colors\(\)"):
        GraphClassifier("gamma-1hot", k=6).fit(small)
    with pytest.raises(ValueError, match="sampled densities does not tell edges apart"):
        GraphClassifier("gamma-1hot", k=3, params={"samples": 10}).fit(small)


def test_patterns_are_counted_once() -> None:
    examples = Examples(rings(4, (1, 2), 0))
    typed = examples.counts(3, edges=True)
    assert examples.counts(3, edges=True) is typed
    for colors in (True, False):
        table, expected = examples.counts(3, colors=colors), count(examples.graphs, 3, colors=colors)
        assert table.patterns == expected.patterns
        np.testing.assert_array_equal(table.matrix.toarray(), expected.matrix.toarray())


def test_the_methods_say_that_they_use_types() -> None:
    users = {name for name, method in METHODS.items() if method.edges and not method.is_baseline}
    assert {*TYPED, "sizemix", "auto"} <= users
