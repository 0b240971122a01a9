"""SizeMix against a slow version written out from its formulas, its state, and what it says about itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from anysize import GraphSet
from anysize.methods.sizemix import DEPTHS, MAPS, PATTERN_MAPS, SizeMix, fit_balanced_regression, fit_exponents

Type = tuple[Any, ...]


def molecules(seed: int, sizes: range, count: int, classes: int = 2) -> tuple[list[nx.Graph], np.ndarray]:
    """Random trees with a few extra edges; the share of N atoms depends on the class."""
    rng = np.random.default_rng(seed)
    graphs, y = [], rng.integers(0, classes, count)
    for label in y:
        graph = nx.random_labeled_tree(int(rng.choice(sizes)), seed=int(rng.integers(1 << 30)))
        for _ in range(2):
            graph.add_edge(*rng.choice(len(graph), 2, replace=False).tolist())
        for vertex in graph:
            graph.nodes[vertex]["atom"] = "N" if rng.random() < 0.1 + 0.15 * label else "CO"[int(rng.random() < 0.2)]
        graphs.append(graph)
    return graphs, y


def slow_types(graph: nx.Graph, depth: int) -> list[Counter[Type]]:
    """How many vertices have each Weisfeiler-Lehman type, depth by depth; types are nested tuples."""
    types: dict[Any, Type] = {vertex: (graph.nodes[vertex]["atom"],) for vertex in graph}
    found = [Counter(types.values())]
    for _ in range(depth):
        types = {v: (types[v], tuple(sorted((types[u] for u in graph[v]), key=repr))) for v in graph}
        found.append(Counter(types.values()))
    return found


def slow_exponent(counts: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """The maximum of the penalized Poisson likelihood over alpha, class intercepts at their own maximum."""

    def loss(alpha: float) -> float:
        total = (alpha - 1) ** 2 / (2 * 0.5**2)
        for label in np.unique(y):
            rows = y == label
            growth = np.exp(alpha * x[rows])
            if counts[rows].sum() == 0:
                continue
            rate = growth * counts[rows].sum() / growth.sum()
            total -= len(y) / (2 * rows.sum()) * (counts[rows] * np.log(rate) - rate).sum()
        return float(total)

    return float(np.clip(minimize_scalar(loss, bounds=(-1, 3), method="bounded", options={"xatol": 1e-8}).x, 0, 2))


def slow_head(table: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    balance = np.array([1 / (2 * (y == label).sum()) for label in y])
    center = balance @ table
    scale = np.linalg.norm(table - center, axis=1).mean()
    model = LogisticRegression(C=10, max_iter=300, tol=1e-4)
    model.fit((table - center) / scale, y, sample_weight=balance * len(y))
    return expit(model.decision_function((new - center) / scale))


def slow_heads(train: list[nx.Graph], y: np.ndarray, new: list[nx.Graph], known: list[nx.Graph]) -> np.ndarray:
    """P(class 1) of the sixteen heads; types are those of ``known``, in at least 1 % of ``train`` and in two graphs."""
    tables = {}
    for name, graphs in (("train", train), ("new", new), ("known", known)):
        tables[name] = [slow_types(graph, max(DEPTHS)) for graph in graphs]
    n, n_new = (np.array([len(graph) for graph in graphs], float) for graphs in (train, new))
    x, x_new = np.log(n) - np.log(n).mean(), np.log(n_new) - np.log(n).mean()
    found = []
    for depth in DEPTHS:
        vocabulary = sorted(
            {(d, kind) for own in tables["known"] for d in range(depth + 1) for kind in own[d]}, key=repr
        )
        graphs_with = {(d, kind): sum(kind in own[d] for own in tables["train"]) for d, kind in vocabulary}
        vocabulary = [key for key in vocabulary if graphs_with[key] >= max(2, np.ceil(0.01 * len(train)))]
        a, b = (
            np.array([[own[d][kind] for d, kind in vocabulary] for own in tables[name]], float)
            for name in ("train", "new")
        )
        alpha = np.array([slow_exponent(column, x, y) for column in a.T])
        for scaling in MAPS:
            if scaling == "presence":
                maps = np.log1p(a), np.log1p(b)
            elif scaling == "direction":
                maps = tuple(m / np.linalg.norm(m, axis=1, keepdims=True) for m in (a, b))
            else:
                power = alpha if scaling == "fitted" else np.ones(len(vocabulary))
                maps = tuple(np.sqrt(m * np.exp(-np.outer(own, power))) for m, own in ((a, x), (b, x_new)))
            found.append(slow_head(maps[0], y, maps[1]))
    a, b = (np.array([slow_patterns(graph) for graph in graphs], float) for graphs in (train, new))
    common = (a > 0).sum(axis=0) >= max(2, np.ceil(0.01 * len(train)))
    size = np.array([len(pattern) for pattern in PATTERNS])[common]
    a, b = a[:, common], b[:, common]
    alpha = np.array([slow_exponent(column, x, y) for column in a.T])
    for scaling in PATTERN_MAPS:
        if scaling == "occurrence":
            maps = (a > 0).astype(float), (b > 0).astype(float)
        elif scaling == "presence":
            maps = np.log1p(a), np.log1p(b)
        elif scaling == "fitted":
            maps = tuple(np.sqrt(m * np.exp(-np.outer(own, alpha))) for m, own in ((a, x), (b, x_new)))
        else:
            totals = [np.stack([m[:, size == k].sum(axis=1) for k in size], axis=1) for m in (a, b)]
            maps = tuple(np.sqrt(m / np.maximum(total, 1)) for m, total in zip((a, b), totals, strict=True))
        found.append(slow_head(maps[0], y, maps[1]))
    return np.array(found)


PATTERNS = [
    graph for graph in nx.graph_atlas_g() if 3 <= len(graph) <= 5 and nx.is_connected(graph)
]  # in another order than ours, which logistic regression does not see


def slow_patterns(graph: nx.Graph) -> list[int]:
    """Induced copies of every pattern: connected sets of vertices are grown by one neighbor at a time."""
    found = [0] * len(PATTERNS)
    sets = {frozenset((vertex,)) for vertex in graph}
    for size in range(2, 6):
        sets = {one | {near} for one in sets for vertex in one for near in graph[vertex] if near not in one}
        for vertices in sets if size > 2 else ():
            part = graph.subgraph(vertices)
            alike = (i for i, p in enumerate(PATTERNS) if nx.faster_could_be_isomorphic(p, part))
            found[next(i for i in alike if nx.is_isomorphic(PATTERNS[i], part))] += 1
    return found


def slow_weights(chances: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The maximum of the balanced log-likelihood of the mixture, plus ten graphs for even weights, by gradients."""
    heads = len(chances)
    balance = len(y) / (len(np.unique(y)) * np.array([(y == label).sum() for label in y]))

    def loss(free: np.ndarray) -> float:
        weights = softmax(free)
        return float(-(balance * np.log(weights @ chances)).sum() - 10 * np.log(weights).mean())

    return softmax(minimize(loss, np.zeros(heads), method="BFGS", options={"gtol": 1e-8}).x)


def test_equals_the_slow_version() -> None:
    (train, y), (new, _) = molecules(1, range(8, 20), 60), molecules(2, range(30, 50), 15)
    model = SizeMix.fit(GraphSet.from_networkx(train, color="atom"), y)
    large = GraphSet.from_networkx(new, color="atom")
    heads = slow_heads(train, y, new, train)
    np.testing.assert_allclose(model.head_probabilities(large)[:, :, 1], heads, atol=2e-4)
    sizes = np.array([len(graph) for graph in train])
    cut = min(sorted(set(sizes))[:-1], key=lambda size: abs((sizes <= size).mean() - 0.6))
    small_rows, large_rows = np.flatnonzero(sizes <= cut), np.flatnonzero(sizes > cut)
    inner = slow_heads([train[i] for i in small_rows], y[small_rows], [train[i] for i in large_rows], train)
    chances = np.clip(np.stack([1 - inner, inner], axis=2), 1e-3, 1 - 1e-3)
    likelihood = np.log(chances[:, np.arange(len(large_rows)), y[large_rows]])
    evidence = np.mean([likelihood[:, y[large_rows] == label].mean(axis=1) for label in (0, 1)], axis=0)
    np.testing.assert_allclose(model.evidence, evidence, atol=2e-4)
    weights = slow_weights(np.exp(likelihood), y[large_rows])
    np.testing.assert_allclose(model.head_weights, weights, atol=2e-3)
    np.testing.assert_allclose(model.predict_proba(large)[:, 1], weights @ heads, atol=2e-3)


def test_the_order_of_the_graphs_does_not_matter() -> None:
    """Also where many graphs have the same size, as those at the cut between the smaller and the larger ones."""
    (train, y), (new, _) = molecules(5, range(8, 12), 60), molecules(6, range(30, 50), 15)
    found = []
    for order in (np.arange(60), np.argsort(y), np.argsort(-y)):
        model = SizeMix.fit(GraphSet.from_networkx([train[i] for i in order], color="atom"), y[order])
        found.append(model.predict_proba(GraphSet.from_networkx(new, color="atom")))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=2e-4)


def test_evidence_of_graphs_of_one_size_is_judged_on_all_classes() -> None:
    """Sorted by class, the last 40 % of the graphs would be of one class."""
    train, y = molecules(7, range(12, 13), 60)
    found = []
    for order in (np.argsort(y, kind="stable"), np.argsort(-y, kind="stable")):
        graphs = GraphSet.from_networkx([train[i] for i in order], color="atom")
        found.append(SizeMix.fit(graphs, y[order]).evidence)
    np.testing.assert_allclose(found[0], found[1], atol=2e-4)


@pytest.mark.parametrize(("alpha", "nearest"), [(0.0, 0.2), (1.0, 0.2), (1.6, 0.3)])
def test_exponents_are_found(alpha: float, nearest: float) -> None:
    rng = np.random.default_rng(0)
    x = np.log(rng.uniform(10, 60, 400) / 25)
    counts = rng.poisson(6 * np.exp(alpha * x)[:, None], (400, 5)).astype(float)
    exponents = fit_exponents(csr_array(counts), x, rng.integers(0, 2, 400), np.ones(400))
    assert exponents == pytest.approx(alpha, abs=nearest)


def test_logistic_regression_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    table = rng.poisson(0.3, (80, 12)) * rng.uniform(0, 3, 12)
    y = (table[:, 0] + rng.normal(size=80) > 1).astype(np.int64)
    balance = 1 / np.bincount(y)[y] / 2
    centered = table - balance @ table
    unit = np.linalg.norm(centered, axis=1).mean()
    other = LogisticRegression(C=10, tol=1e-4, max_iter=300).fit(centered / unit, y, sample_weight=80 * balance)
    for given in (table, csr_array(table)):
        weights, intercept, center = fit_balanced_regression(given, y, np.ones(80))
        np.testing.assert_allclose(weights * unit, other.coef_[0], atol=1e-5)
        assert intercept + weights @ center == pytest.approx(other.intercept_[0], abs=1e-5)
        np.testing.assert_allclose(center, balance @ table)
    for alike in (np.full((80, 3), 0.1), csr_array(np.full((80, 3), 0.1))):
        assert not fit_balanced_regression(alike, y, np.ones(80))[0].any()


def test_distinct_classes_and_graphs_without_colors() -> None:
    train, y = molecules(3, range(8, 24), 90, classes=3)
    colored = GraphSet.from_networkx(train, color="atom")
    large = GraphSet.from_networkx(molecules(4, range(30, 50), 20, 3)[0], color="atom")
    for graphs, new in ((colored, large), (colored.without_colors(), large.without_colors())):
        model = SizeMix.fit(graphs, np.array(["a", "b", "c"])[y])
        chances = model.predict_proba(new)
        assert chances.shape == (20, 3)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert model.classes.tolist() == ["a", "b", "c"]


def test_state_predicts_the_same() -> None:
    train, y = molecules(5, range(8, 24), 60)
    graphs = GraphSet.from_networkx(train, color="atom")
    model = SizeMix.fit(graphs, y)
    again = SizeMix.from_state(*model.state())
    np.testing.assert_array_equal(again.predict_proba(graphs), model.predict_proba(graphs))
    assert again.summary() == model.summary()


def test_a_size_shift_is_survived_where_the_share_decides() -> None:
    (train, y), (new, truth) = molecules(6, range(10, 20), 200), molecules(7, range(60, 100), 60)
    model = SizeMix.fit(GraphSet.from_networkx(train, color="atom"), y)
    assert (model.predict(GraphSet.from_networkx(new, color="atom")) == truth).mean() > 0.8


def test_votes_point_at_the_vertices_of_their_type() -> None:
    train, y = molecules(8, range(10, 20), 100)
    graphs = GraphSet.from_networkx(train, color="atom")
    model = SizeMix.fit(graphs, y)
    row = int(np.flatnonzero(model.predict(graphs) == 1)[0])
    found = model.explain(graphs[row])
    assert found.predicted == 1
    nitrogen = next(one for one in found.types if one.name == "N")
    assert set(nitrogen.vertices) == {v for v in train[row] if train[row].nodes[v]["atom"] == "N"}
    assert nitrogen.contribution > 0
    placed = sum(one.contribution for one in found.types if one.vertices)
    assert found.vertices.sum() == pytest.approx(placed)
    with pytest.raises(ValueError, match="one graph"):
        model.explain(graphs[:2])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("compared", [False, True])
def test_contributions_and_base_are_the_logits_of_every_head(classes: int, compared: bool) -> None:
    train, y = molecules(11, range(8, 20), 80, classes)
    graphs = GraphSet.from_networkx(train, color="atom")
    fitted = SizeMix.fit(graphs, y)
    reference = graphs[10:30] if compared else None
    weights = fitted.head_weights
    for row in (0, 1):
        predicted = int(fitted.predict_proba(graphs[row])[0].argmax())
        for head_weights in (weights, *np.eye(len(weights))):  # all heads, and each by itself
            model = replace(fitted, head_weights=head_weights)
            if int(model.predict_proba(graphs[row])[0].argmax()) != predicted:
                continue
            chances = model.head_probabilities(graphs)[..., predicted]  # of two classes, or of one against the rest
            logits = head_weights @ np.log(chances / (1 - chances))
            found = model.explain(graphs[row], reference)
            assert found.predicted == predicted
            assert found.margin == pytest.approx(logits[row], abs=1e-9)
            absent = sum(one.contribution for one in found.types if not one.vertices)
            assert found.base + found.vertices.sum() + absent == pytest.approx(logits[row], abs=1e-9)
            if compared:
                assert found.base == pytest.approx(logits[10:30].mean(), abs=1e-9)


def test_a_graph_without_vertices_is_no_reason_for_certainty() -> None:
    """Graphs of one color all have the share 1 of it: rounding errors must not be learned from."""
    sizes = np.random.default_rng(0).integers(200, 600, 24).tolist()
    graphs = [nx.star_graph(size - 1) if place % 2 else nx.path_graph(size) for place, size in enumerate(sizes)]
    model = SizeMix.fit(GraphSet.from_networkx(graphs), np.arange(24) % 2)
    found = model.explain(GraphSet.from_edges([], n_vertices=0))
    assert max(abs(one.contribution) for one in found.types) < 10


def test_one_class_among_the_small_or_large_graphs_leaves_the_heads_alike() -> None:
    """Then nothing inside training says which scaling holds."""
    small, large = molecules(9, range(6, 9), 30)[0], molecules(10, range(20, 30), 20)[0]
    graphs = GraphSet.from_networkx(small + large, color="atom")
    model = SizeMix.fit(graphs, np.repeat([0, 1], [30, 20]))
    assert np.isfinite(model.predict_proba(graphs)).all()
    np.testing.assert_allclose(model.head_weights, 1 / 16)


def test_files_from_before_patterns_predict_as_they_did() -> None:
    """Their heads are the twelve of types."""
    train, y = molecules(12, range(8, 20), 60)
    graphs = GraphSet.from_networkx(train, color="atom")
    fitted = SizeMix.fit(graphs, y)
    old = replace(fitted, heads=fitted.heads[:12], head_weights=np.full(12, 1 / 12), evidence=fitted.evidence[:12])
    about, arrays = old.state()
    assert {head["depth"] for head in about["heads"]} == {0, 1, 3}
    chances = SizeMix.from_state(about, arrays).predict_proba(graphs)
    np.testing.assert_allclose(chances, fitted.head_probabilities(graphs)[:12].mean(axis=0), atol=1e-12)


def test_a_planted_pattern_is_seen_in_larger_graphs_and_explained() -> None:
    def draw(amount: int, sizes: range, seed: int) -> tuple[GraphSet, np.ndarray]:
        """A tree with a cycle of four or five vertices on a random vertex."""
        rng = np.random.default_rng(seed)
        graphs, y = [], np.arange(amount) % 2
        for label in y:
            tree = nx.random_labeled_tree(int(rng.choice(sizes)), seed=int(rng.integers(1 << 30)))
            graph = nx.disjoint_union(tree, nx.cycle_graph(4 + int(label)))
            graph.add_edge(int(rng.integers(len(tree))), len(tree))
            graphs.append(graph)
        return GraphSet.from_networkx(graphs), y

    (train, y), (large, truth) = draw(200, range(6, 20), 0), draw(40, range(60, 100), 1)
    model = SizeMix.fit(train, y)
    assert (model.predict(large) == truth).all()
    assert model.head_weights[12:].sum() > 0.5
    why = model.explain(large[1])
    cycles = {one.name: one for one in why.types if one.name in ("4-cycle", "5-cycle")}
    assert [one.copies for _, one in sorted(cycles.items())] == [0, 1]
    assert all(one.contribution > 0 and one.depth is None and not one.vertices for one in cycles.values())
    assert {one.name for one in why.strongest(3)} & set(cycles)
    assert "; 1 copy" in why.text(20)
    assert "other types and patterns" in why.text(1)
    assert {"5-cycle", "4-cycle"} <= {shown["name"] for shown in why.to_json(99)["types"]}
    why.figure().draw_without_rendering()
