"""Gamma models do not depend on vertex order, size or color names, and handle unseen patterns and colors."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from counting.helpers import renamed
from nn.helpers import batch_of
from training.helpers import fitted, tables

from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import ErdosRenyi
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName, encode_colors
from anysize.graphs.graphset import GraphSet
from anysize.nn.layers import initialize
from anysize.nn.rows.recoloring import RecoloredPatterns
from anysize.paper.tasks import TASKS
from anysize.patterns.pattern import Pattern
from anysize.training.fit_gamma import GammaArchitecture, GammaProblem, GammaStack, fit_gamma
from anysize.training.settings import Recipe, Settings
from anysize.training.vocabulary import Vocabulary

KINDS: tuple[Any, ...] = ("1hot", "gnn", "rp")
K = 4


@cache
def trained(kind: Any, over: Any = "subsets", penalty: float = 0.0) -> GammaStack:
    settings = [Settings(hidden=8, seed=seed, penalty=penalty, jumping=bool(seed)) for seed in range(2)]
    return fitted(kind, settings, Recipe(epochs=8, over=over), tables("sbm-20", K))


@cache
def held_out() -> GraphSet:
    return TASKS["sbm-20"].splits("published").test[:20]


def test_gamma_gin_is_the_mean_of_a_plain_gin_over_connected_subsets() -> None:
    """Equation (6) from the graphs themselves: no counts, no patterns, one subset after the other."""
    graphs = held_out()[:4]
    recipe = Recipe(epochs=8, over="connected", averages="torch")
    stack = fitted("gnn", [Settings(hidden=4, layers=2)], recipe, tables("sbm-20", 3))
    state = {name: array[0] for name, array in stack.model.arrays().items()}
    palette = sorted(graphs.palette)

    def normalized(h: np.ndarray, name: str) -> np.ndarray:
        mean, variance, scale, shift = (
            state[f"model.representation.encoder.{name}.{part}"]
            for part in ("running_mean", "running_var", "scale", "shift")
        )
        return np.maximum((h - mean) / np.sqrt(variance + 1e-5) * scale + shift, 0)

    def gin(adjacency: np.ndarray, h: np.ndarray) -> np.ndarray:
        for layer in range(2):
            eps, first, bias, second, last = (
                state[f"model.representation.encoder.layers.{layer}.{part}"]
                for part in ("eps", "first.weight", "first.bias", "second.weight", "second.bias")
            )
            h = normalized(((1 + eps) * h + adjacency @ h) @ first + bias, f"layers.{layer}.between")
            h = normalized(h @ second + last, f"norms.{layer}")
        return np.asarray(h.sum(axis=0))

    found = stack.represent(count(graphs, 3))[0]
    assert np.ptp(found, axis=0).max() > 0.01
    for place, graph in enumerate(graphs.to_networkx()):
        subsets = [part for part in map(graph.subgraph, combinations(graph, 3)) if nx.is_connected(part)]
        colors = [[palette.index(color) for _, color in part.nodes(data="color")] for part in subsets]
        embedded = [gin(nx.to_numpy_array(p), np.eye(len(palette))[c]) for p, c in zip(subsets, colors, strict=True)]
        np.testing.assert_allclose(found[place], np.mean(embedded, axis=0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_vertex_order_does_not_matter(kind: Any) -> None:
    graphs = held_out()
    for seed in range(3):
        moved = renamed(graphs, seed)
        assert not np.array_equal(moved.colors, graphs.colors)
        first, second = (trained(kind).logits(count(g, K)) for g in (graphs, moved))
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_logits_do_not_depend_on_the_other_graphs(kind: Any) -> None:
    graphs = held_out()
    together = trained(kind).logits(count(graphs, K))
    for place in range(5):
        np.testing.assert_allclose(trained(kind).logits(count(graphs[[place]], K))[:, 0], together[:, place], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
def test_representations_of_one_graphon_do_not_depend_on_size(kind: Any, over: Any) -> None:
    """Between sizes the mean representation moves by a small part of what it moves between graphons."""
    graphons = (ErdosRenyi(0.3), ErdosRenyi(0.5))
    means = {}
    sizes = (25, 50, 100)
    small = sample_graphs(graphons, Environment(sizes=(25,)), 60, 7)
    assert small.y is not None
    counts = count(small, 3)
    members = [Settings(hidden=8, seed=0)]
    stack = fit_gamma(kind, counts, small.y, members, Recipe(epochs=3, over=over), classes=2)
    for size in sizes:
        graphs = sample_graphs(graphons, Environment(sizes=(size,)), 60, size)
        shown = stack.represent(count(graphs, 3))[0]
        for label in range(2):
            means[size, label] = shown[graphs.y == label].mean(axis=0)
    between = np.linalg.norm(means[100, 0] - means[100, 1])
    for size in (25, 50):
        for label in range(2):
            assert np.linalg.norm(means[size, label] - means[100, label]) < 0.15 * between


def test_renaming_colors_only_permutes_one_hot_columns() -> None:
    graphs = TASKS["sbm-20"].splits("published").train
    names = dict(zip(graphs.palette, ("zebra", "ant", "mouse", "bee"), strict=True))
    codes, palette = encode_colors([names[graphs.palette[code]] for code in graphs.colors])
    other = replace(graphs, colors=codes, palette=palette)
    ours, theirs = count(graphs, 3), count(other, 3)
    stack = fit_gamma("1hot", ours, graphs.y, [Settings(hidden=8)], Recipe(epochs=3), classes=2)
    twin = fit_gamma("1hot", theirs, graphs.y, [Settings(hidden=8)], Recipe(epochs=3), classes=2)
    place = {_key(pattern, names): column for column, pattern in enumerate(ours.patterns)}
    order = np.array([place[_key(pattern, None)] for pattern in theirs.patterns])
    assert sorted(order.tolist()) == list(range(len(ours.columns)))
    assert not np.array_equal(order, np.arange(len(order)))
    left, right = stack.vocabulary.densities(ours)[1].toarray(), twin.vocabulary.densities(theirs)[1].toarray()
    np.testing.assert_allclose(left[:, order], right, rtol=1e-12)
    with torch.no_grad():  # the same rows in the other order: the same representation
        twin.model.representation.rows.copy_(stack.model.representation.rows[:, order])
    np.testing.assert_allclose(twin.represent(theirs), stack.represent(ours), rtol=1e-5, atol=1e-6)


def _key(pattern: Pattern, names: dict[ColorName, str] | None) -> Any:
    """A canonical key of a pattern: the smallest of all its numberings."""
    assert pattern.colors is not None
    colors = [str(names[color] if names else color) for color in pattern.colors]
    found = []
    for order in permutations(range(pattern.size)):
        edges = sorted(tuple(sorted((order[i], order[j]))) for i, j in pattern.edges)
        found.append((edges, [colors[order.index(vertex)] for vertex in range(pattern.size)]))
    return str(min(found))


@pytest.mark.parametrize("kind", ["gnn", "rp"])
def test_names_of_colors_do_not_matter_to_gnns(kind: Any) -> None:
    """Models see color codes only: renamed colors give the same logits."""
    splits = TASKS["sbm-20"].splits("published")
    results = []
    for change in (str, "x{}".format):
        tables_of = {}
        for name in ("train", "test"):
            graphs = splits.sets[name]
            tables_of[name] = count(replace(graphs, palette=tuple(change(c) for c in graphs.palette)), 3)
        recipe, members = Recipe(epochs=3), [Settings(hidden=8, penalty=0.1)]
        stack = fit_gamma(kind, tables_of["train"], splits.train.y, members, recipe, classes=2)
        results.append(stack.logits(tables_of["test"]))
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-4)


# ---- gradients ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [None, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_every_parameter(kind: Any, hidden: int | None) -> None:
    counts, y = tables("sbm-20", 3)["train"]
    recipe = Recipe(head_hidden=hidden, penalty_on="representation")
    inputs = len(counts.columns) if kind == "1hot" else len(counts.palette)
    architecture = GammaArchitecture(kind, inputs, 2, 6, 2, recipe, 3)
    model = architecture.build([True, True])
    initialize(model, [0, 1])
    pairs = None
    densities = counts.densities() * 20
    if kind != "1hot":
        permutations = 2 if kind == "rp" else None
        pairs = RecoloredPatterns.of(batch_of(counts.columns), densities, 2, permutations)
    palette = {name: code for code, name in enumerate(counts.palette)}
    members = [Settings(penalty=0.1), Settings(penalty=0.1)]
    stack = GammaStack(architecture, Vocabulary(palette, None, "subsets", 1.0), model, tuple(members))
    structure = stack.structure(counts.columns, densities)
    problem = GammaProblem(pairs or structure, torch.from_numpy(y), None, members, recipe, None)
    step = torch.tensor(1)
    problem.losses(model.train(), None, step, step).total.sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
            assert (parameter.grad.flatten(1).abs().amax(1) > 1e-7).all(), name
    still = [name for name, parameter in model.named_parameters() if not parameter.requires_grad]
    assert all(name.endswith("bias") and "encoder" in name for name in still)


# ---- unseen patterns and colors ---------------------------------------------------------------------------


def only(counts: Counts, columns: np.ndarray) -> Counts:
    """The same table with only these patterns."""
    kept = counts.matrix.toarray()
    kept[:, ~columns] = 0
    return replace(counts, matrix=type(counts.matrix)(kept))


@pytest.mark.parametrize("over", ["subsets", "connected"])
def test_unseen_patterns(over: Any) -> None:
    counts = tables("sbm-20", K)["test"][0]
    known = {p.name for p in tables("sbm-20", K)["train"][0].patterns}
    new = np.array([p.name not in known for p in counts.patterns])
    assert 0 < new.sum() < len(new)
    unseen = only(counts, new)
    one_hot, gnn = trained("1hot", over), trained("gnn", over)
    assert np.array_equal(one_hot.represent(unseen), np.zeros_like(one_hot.represent(unseen)))
    assert np.abs(gnn.represent(unseen)).max() > 0.01
    # densities of known patterns do not depend on unseen ones over subsets
    whole, rest = one_hot.vocabulary.densities(counts)[1], one_hot.vocabulary.densities(only(counts, ~new))[1]
    if over == "subsets":
        np.testing.assert_allclose(whole.toarray(), rest.toarray())
    else:
        share = counts.densities("connected").toarray()[:, ~new].sum(axis=1)
        np.testing.assert_allclose(whole.toarray().sum(axis=1), share)  # unseen patterns count in the denominator
        np.testing.assert_allclose(rest.toarray().sum(axis=1), (share > 0).astype(float))


def test_the_most_common_patterns_are_shares_of_one_another() -> None:
    data = tables("sbm-20", K)
    for kind in KINDS:
        stack = fitted(kind, [Settings(hidden=4)], Recipe(epochs=1, over="connected"), data, top=30)
        columns, densities = stack.vocabulary.densities(data["test"][0])
        pool = Counts.concatenate([data["train"][0], data["validation"][0]])
        assert {p.name for p in columns.patterns} == {p.name for p in pool.top(30).patterns}
        sums = densities.toarray().sum(axis=1)
        np.testing.assert_allclose(sums[sums > 0], 1.0)
        subsets = fitted(kind, [Settings(hidden=4)], Recipe(epochs=1), data, top=30)
        _, plain = subsets.vocabulary.densities(data["test"][0])
        expected = data["test"][0].align(columns.patterns).densities().toarray() * subsets.vocabulary.scale
        np.testing.assert_allclose(plain.toarray(), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("penalty", [0.0, 0.2])
def test_unseen_colors_give_finite_logits(kind: Any, penalty: float) -> None:
    graphs = held_out()
    strange = replace(graphs, palette=("red", "black", "green", "white"))
    logits = trained(kind, penalty=penalty).logits(count(strange, K))
    assert np.isfinite(logits).all()
    if kind != "1hot":
        assert not np.allclose(logits, trained(kind, penalty=penalty).logits(count(graphs, K)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
def test_graphs_smaller_than_the_patterns_are_represented_by_zero(kind: Any, over: Any) -> None:
    sizes, edges = [2, 3, 9], [[(0, 1)], [(0, 1), (1, 2)], [(v, v + 1) for v in range(8)]]
    small = GraphSet.from_edges(edges, n_vertices=sizes, colors=[["red"] * n for n in sizes])
    stack = trained(kind, over)
    shown = stack.represent(count(small, K))
    assert np.array_equal(shown[:, :2], np.zeros_like(shown[:, :2]))
    assert np.isfinite(stack.logits(count(small, K))).all()
    assert np.isfinite(stack.logits(count(small[:2], K))).all()  # a table without any pattern
    labeled = GraphSet.concatenate([small, held_out()])
    y = np.arange(len(labeled)) % 2
    counts = count(labeled, K)
    for penalty in (0.0, 0.2):
        members = [Settings(hidden=4, penalty=penalty)]
        among = fit_gamma(kind, counts, y, members, Recipe(epochs=3, over=over), classes=2)
        assert among.trained is not None
        assert among.trained.curves["loss"].isfinite().all()
        assert np.isfinite(among.logits(counts)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_several_pattern_sizes_at_once(kind: Any) -> None:
    data = tables("sbm-20", (1, 2, 3))
    stack = fitted(kind, [Settings(hidden=8, penalty=0.1, seed=s) for s in range(2)], Recipe(epochs=5), data)
    logits = stack.logits(data["test"][0])
    assert logits.shape == (2, 100, 2)
    assert np.isfinite(logits).all()
    sums = stack.vocabulary.densities(data["train"][0])[1].sum(axis=1)
    assert sums.mean() == pytest.approx(1.0)


def test_what_a_pattern_adds_to_the_logits() -> None:
    """With a linear head, logits are a constant plus densities times the logits of patterns."""
    data = tables("sbm-20", K)
    for kind in KINDS:
        stack = trained(kind)
        counts = data["validation"][0]
        columns = counts.columns if stack.vocabulary.columns is None else stack.vocabulary.columns
        added = stack.pattern_logits(columns)
        densities = stack.vocabulary.densities(counts)[1].toarray() / stack.vocabulary.scale
        rest = stack.logits(counts) - np.einsum("gp,mpc->mgc", densities, added)
        np.testing.assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), rtol=1e-3, atol=1e-3)


def test_scales_make_densities_of_any_size_learnable() -> None:
    """The mean sum of densities over the training graphs is scaled to 1, also in sparse graphs."""
    for over in ("subsets", "maps", "connected"):
        stack = trained("gnn", over)
        sums = np.asarray(stack.vocabulary.densities(tables("sbm-20", K)["train"][0])[1].sum(axis=1))
        assert sums.mean() == pytest.approx(1.0)
    assert trained("gnn", "connected").vocabulary.scale == 1.0
