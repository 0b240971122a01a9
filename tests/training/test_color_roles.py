"""Color roles: planted roles are found, other colors stay separate, and a role is one input of the model."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations
from time import process_time

import numpy as np
import pytest
from scipy.stats import chi2

import anysize as az
from anysize.counting.columns import Columns
from anysize.graphs.graphset import GraphSet
from anysize.paper.tasks import TASKS
from anysize.patterns.pattern import Pattern
from anysize.training.color_roles import _p_values, _PairCounts, _pattern_pairs, color_roles, merge_roles
from anysize.training.fit_gamma import fit_gamma
from anysize.training.settings import Recipe, Settings
from anysize.training.vocabulary import GammaKind


def planted(task: str, seed: int, k: int = 4) -> tuple[az.Counts, np.ndarray]:
    train = TASKS[task].splits(seed).train
    assert train.y is not None
    return az.count(train, k), train.y


@pytest.mark.parametrize("task", ["sbm-20", "sbm-20-30", "sbm-color", "sbm-color-400"])
def test_colors_of_one_block_have_one_role(task: str) -> None:
    found = []
    for seed in range(6):
        counts, y = planted(task, seed)
        role = dict(zip(counts.palette, color_roles(counts, y).tolist(), strict=True))
        assert role["red"] != role["green"], "blocks differ in every class, and both colors are common"
        found.append(role["red"] == role["blue"] and role["green"] == role["yellow"])
    assert sum(found) >= 5


def test_colors_with_different_connections_stay_separate() -> None:
    """Colors that depend on the degree are not interchangeable."""
    rng = np.random.default_rng(0)
    edges, colors = [], []
    for _ in range(60):
        n = 12
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < (0.7 if j < 4 else 0.15)]
        edges.append(pairs or [(0, 1)])
        used = max(max(pair) for pair in edges[-1]) + 1
        colors.append(["hub" if v < 4 else "leaf" for v in range(used)])
    graphs = GraphSet.from_edges(edges, colors=colors)
    assert color_roles(az.count(graphs, 3), np.zeros(60, np.int64)).tolist() == [0, 1]


def test_colors_that_only_types_of_edges_tell_apart_stay_separate() -> None:
    """Both colors are adjacent to everything equally often, but edges within a color are of one type."""
    rng, edges, kinds, colors = np.random.default_rng(0), [], [], []
    for _ in range(60):
        names = rng.choice(["a", "b"], 12).tolist()
        pairs = [(i, j) for i, j in combinations(range(12), 2) if rng.random() < 0.3 or j == i + 1]
        edges.append(pairs)
        kinds.append(["same" if names[i] == names[j] else "other" for i, j in pairs])
        colors.append(names)
    graphs, y = GraphSet.from_edges(edges, colors=colors, edge_colors=kinds), np.zeros(60, np.int64)
    assert color_roles(az.count(graphs, 3), y).tolist() == [0, 0]
    assert color_roles(az.count(graphs, 3, edges=True), y).tolist() == [0, 1]


def test_merged_patterns_keep_their_types_of_edges() -> None:
    """Merging colors gives the patterns of graphs that have one color from the start."""
    rng = np.random.default_rng(1)
    pairs = [
        [(i, j) for i in range(9) for j in range(9) if (i != j and rng.random() < 0.25) or j == i + 1] for _ in "abc"
    ]
    kinds = [rng.choice(["x", "y"], len(each)).tolist() for each in pairs]
    colors = rng.choice(["a", "b", "c"], (3, 9))
    graphs = GraphSet.from_edges(pairs, colors=colors.tolist(), edge_colors=kinds, directed=True)
    renamed = GraphSet.from_edges(
        pairs, colors=np.where(colors == "c", "a", colors).tolist(), edge_colors=kinds, directed=True
    )
    for k in (3, 4):
        counts, expected = az.count(graphs, k, edges=True), az.count(renamed, k, edges=True)
        merged, index = merge_roles(counts.columns, {"a": 0, "b": 1, "c": 0})
        summed = np.zeros((3, len(merged)), np.int64)
        np.add.at(summed.T, index, counts.matrix.toarray().T)
        named = [pattern.colored(pattern.colors or ()).name for pattern in merged.patterns]
        wanted = dict(zip([p.name for p in expected.patterns], expected.matrix.toarray().T.tolist(), strict=True))
        assert dict(zip(named, summed.T.tolist(), strict=True)) == wanted


def test_colors_stay_separate_without_evidence() -> None:
    graphs = GraphSet.from_edges([[(0, 1), (1, 2)]] * 2, colors=[["a", "b", "c"]] * 2)
    assert color_roles(az.count(graphs, 3), np.array([0, 1])).tolist() == [0, 1, 2]
    plain = az.count(graphs, 3, colors=False)
    assert color_roles(plain, np.array([0, 1])).tolist() == []


def test_pairs_are_counted_as_by_hand() -> None:
    path = Pattern.of([(0, 1), (1, 2)], colors=["a", "b", "a"])
    edges, whole = (part.toarray().reshape(2, 2) for part in _pattern_pairs(Columns.of([path])))
    assert edges.tolist() == [[0, 2], [2, 0]]
    assert whole.tolist() == [[2, 2], [2, 0]]


def drawn_pairs(seed: int, colors: int, graphs: int) -> _PairCounts:
    """Random symmetric counts, in which some pairs of colors are rare, always adjacent, or never."""
    rng = np.random.default_rng(seed)
    common = rng.choice([0.1, 2.0, 20.0], (colors, colors))
    total = np.triu(rng.poisson(common, (graphs, colors, colors)))
    adjacent = rng.binomial(total, rng.choice([0.0, 0.3, 0.5, 1.0], (colors, colors)))
    adjacent, total = (part + part.transpose(0, 2, 1) for part in (adjacent, total))
    return _PairCounts(adjacent.astype(np.float64)[None], total.astype(np.float64), rng.integers(0, 2, graphs))


def p_value(pairs: _PairCounts, one: int, other: int) -> float:
    """The same test, term by term."""
    rate, variance = pairs.rates()
    statistic, terms = 0.0, 0
    for label in range(len(rate)):
        compared = [((one, role), (other, role)) for role in range(rate.shape[1]) if role not in (one, other)]
        compared += [((one, one), (one, other)), ((other, other), (one, other))]
        for first, second in compared:
            spread = variance[label][first] + variance[label][second]
            if spread > 0:
                statistic += (rate[label][first] - rate[label][second]) ** 2 / spread
                terms += 1
    return float(chi2.sf(statistic, terms)) if terms else -1.0


@pytest.mark.parametrize("seed", range(12))
def test_p_values_are_those_of_every_two_roles(seed: int) -> None:
    pairs = drawn_pairs(seed, colors=3 + seed % 6, graphs=6 + 4 * seed)
    found = _p_values(pairs)
    assert (found[np.tril_indices(len(found))] == -1).all()
    for one, other in combinations(range(len(found)), 2):
        assert found[one, other] == pytest.approx(p_value(pairs, one, other), rel=1e-9, abs=1e-300)


def test_merged_counts_are_those_of_renamed_colors() -> None:
    pairs, target = drawn_pairs(0, 5, 8), [0, 1, 2, 1, 3]
    merged = pairs.merged(1, 3)
    for part, joined in ((pairs.adjacent[0], merged.adjacent[0]), (pairs.total, merged.total)):
        expected = np.zeros((8, 4, 4))
        for a in range(5):
            for b in range(5):
                expected[:, target[a], target[b]] += part[:, a, b]
        assert np.array_equal(joined, expected)


def test_roles_of_many_colors_are_found_in_seconds() -> None:
    """190 colors on 44 graphs of 10 vertices: term by term this takes 14 s, together 0.1 s."""
    rng = np.random.default_rng(0)
    pairs = [[(i, j) for i, j in combinations(range(10), 2) if rng.random() < 0.3 or j == i + 1] for _ in range(44)]
    colors = np.hstack([rng.integers(0, 2, (44, 4)), 2 + np.arange(44 * 6).reshape(44, 6) % 188])
    graphs = GraphSet.from_edges(pairs, colors=[[f"c{color}" for color in row] for row in colors])
    counts = az.count(graphs, 4)
    assert len(counts.palette) == 190
    started = process_time()
    roles = color_roles(counts, np.arange(44) % 2)
    assert process_time() - started < 5
    assert roles.max() < 189, "the two common colors have one role"


def test_patterns_are_merged_by_canonical_form() -> None:
    counts, _ = planted("sbm-20", 3, k=5)
    columns = counts.columns
    role = {"red": 0, "blue": 0, "green": 1, "yellow": 1}
    merged, kind = merge_roles(columns, role)
    dressed = [
        Pattern.of(list(p.edges), colors=[f"r{role[str(c)]}" for c in p.colors or ()]).name for p in columns.patterns
    ]
    assert len(merged) == len(set(dressed))
    for name in set(dressed):
        kinds = {int(kind[place]) for place, other in enumerate(dressed) if other == name}
        assert len(kinds) == 1
    for place, p in enumerate(merged.patterns):
        own = Pattern.of(list(p.edges), colors=[f"r{role[str(c)]}" for c in p.colors or ()]).name
        assert own == dressed[int(np.flatnonzero(kind == place)[0])]


def test_the_numbering_of_a_merged_pattern_does_not_depend_on_the_table() -> None:
    """Relational pooling with few permutations depends on the numbering of vertices."""
    counts, _ = planted("sbm-20", 3, k=4)
    role = {"red": 0, "blue": 0, "green": 1, "yellow": 1}

    def arranged(part: az.Counts) -> set[tuple[int, ...]]:
        merged, _ = merge_roles(part.columns, role)
        return {
            (p.size, q, *[role[str(c)] for c in p.colors or ()])
            for p, q in zip(merged.patterns, merged.pattern_index, strict=True)
        }

    whole = arranged(counts)
    for graph in range(10):
        own = counts[[graph]]
        assert arranged(own.select(np.unique(own.matrix.indices)[::-1])) <= whole


@pytest.mark.parametrize("kind", ["gnn", "rp"])
def test_exchanging_colors_of_one_role_changes_nothing(kind: GammaKind) -> None:
    splits = TASKS["sbm-20"].splits(1)
    counts, y = az.count(splits.train, 4), splits.train.y
    assert y is not None
    roles = color_roles(counts, y)
    role = dict(zip(counts.palette, roles.tolist(), strict=True))
    assert role["red"] == role["blue"]
    recipe = Recipe(roles=True, epochs=5)
    stack = fit_gamma(kind, counts, y, [Settings(penalty=0.1)], recipe, classes=2)
    swap = {"red": "blue", "blue": "red"}
    order = [list(splits.train.palette).index(swap.get(str(name), name)) for name in splits.train.palette]
    assert splits.train.colors is not None
    renamed = replace(splits.train, colors=np.array(order, np.uint16)[splits.train.colors])
    np.testing.assert_allclose(stack.logits(az.count(renamed, 4)), stack.logits(counts), atol=1e-5)
    other = next(p for p in permutations(range(4)) if p[0] == 1 and p[1] == 0)
    mixed = replace(splits.train, colors=np.array(other, np.uint16)[splits.train.colors])
    assert not np.allclose(stack.logits(az.count(mixed, 4)), stack.logits(counts), atol=1e-3)
