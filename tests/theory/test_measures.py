"""Measured gaps, jackknife intervals and their coverage, E-invariance, errors, the exact posterior."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest

import anysize as az
from anysize.theory import gaps
from anysize.theory.bounds import epsilon_reached
from anysize.theory.gaps import density_gap
from anysize.theory.intervals import density_intervals, induced
from anysize.theory.invariance import extrapolation_errors, invariance_gap
from anysize.theory.posterior import erdos_renyi_accuracy, erdos_renyi_posterior

LOPSIDED = az.BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))
COLORS = [{"a": 0.6, "b": 0.4}, {"b": 0.3, "c": 0.7}]
ER = [az.ErdosRenyi(p) for p in (0.2, 0.5, 0.8)]


def draw(graphon, size, n, seed, colors=None):
    return az.sample_graphs(graphon, az.Environment(sizes=(size,), colors=colors), n, seed)


# ---- gaps ------------------------------------------------------------------------------------------


def slow_gap(one, two, k, over):
    """The largest difference of densities of two graphs, from their dictionaries."""
    tables = []
    for graph in (one, two):
        counts = az.count(graph, k)
        row = counts.densities(over).toarray()[0]
        tables.append({pattern.name: row[place] for place, pattern in enumerate(counts.patterns)})
    names = tables[0].keys() | tables[1].keys()
    return max(abs(tables[0].get(name, 0) - tables[1].get(name, 0)) for name in names)


@pytest.mark.parametrize("over", ["subsets", "maps"])
def test_gaps_agree_with_a_slow_comparison(over, monkeypatch):
    train, test = draw([LOPSIDED, LOPSIDED], 9, 6, 0, COLORS), draw([LOPSIDED, LOPSIDED], 14, 6, 1, COLORS)
    slow = np.array([[slow_gap(one, two, (1, 2, 3), over) for two in test] for one in train])
    paired = density_gap(train, test, (1, 2, 3), paired=True, over=over)
    assert paired.values == pytest.approx(np.diag(slow))
    monkeypatch.setattr(gaps, "COLUMNS_AT_ONCE", 3)
    crossed = density_gap(train, test, (1, 2, 3), over=over)
    same = train.y[:, None] == test.y
    assert crossed.values == pytest.approx(slow[same])
    assert density_gap(train.with_y(None), test, (1, 2, 3), over=over).values == pytest.approx(slow.ravel())
    assert crossed.largest == pytest.approx(slow[same].max())
    assert crossed.mean == pytest.approx(slow[same].mean())
    assert crossed.share_above(crossed.quantile(0.5)) <= 0.5


def test_the_worst_pattern_and_the_gap_of_means():
    red, blue = ([{name: 1.0}] for name in ("red", "blue"))
    train, test = draw(ER[1], 10, 20, 0, red), draw(ER[1], 10, 20, 1, blue)
    gap = density_gap(train, test, 1)
    assert gap.worst.name in {"vertex[red]", "vertex[blue]"}
    assert gap.largest == 1
    assert gap.of_means == pytest.approx(1)
    plain = density_gap(train, test, 2, colors=False)
    means = [az.count(g, 2, colors=False).densities().toarray().mean() for g in (train, test)]
    assert plain.of_means == pytest.approx(abs(means[0] - means[1]))
    assert plain.worst.name == "edge"
    by_class = density_gap(train.with_y([0, 1] * 10), test.with_y([0, 1] * 10), 2, colors=False)
    assert by_class.of_means >= plain.of_means


def test_graphs_without_patterns_have_no_gap():
    edgeless = az.GraphSet.from_edges(np.zeros((0, 2), int), n_vertices=5, colors=[1] * 5)
    for paired in (True, False):
        gap = density_gap(edgeless, edgeless, 3, paired=paired)
        assert gap.values.tolist() == [0]
        assert gap.worst is None
        assert gap.of_means == 0


# ---- intervals -------------------------------------------------------------------------------------


def test_the_jackknife_leaves_vertices_out():
    graph = draw(LOPSIDED, 12, 1, 0, COLORS)
    found = density_intervals(graph, (2, 3), groups=99)
    assert found.groups == 12  # one vertex each
    names = [pattern.name for pattern in found.patterns]
    rows = []
    for vertex in range(12):
        rest = az.count(induced(graph, np.arange(12) != vertex), (2, 3))
        row = dict(zip((p.name for p in rest.patterns), rest.densities().toarray()[0], strict=True))
        rows.append([row.get(name, 0.0) for name in names])
    table = np.array(rows)
    expected = np.sqrt(11 / 12 * ((table - table.mean(axis=0)) ** 2).sum(axis=0))
    assert found.standard_errors[0] == pytest.approx(expected)
    assert found.densities[0] == pytest.approx(az.count(graph, (2, 3)).densities().toarray()[0])


def test_induced_graphs_keep_edges_colors_and_order():
    graphs = draw([LOPSIDED, LOPSIDED], 8, 5, 0, COLORS)
    keep = np.random.default_rng(0).random(40) < 0.6
    rest = induced(graphs, keep)
    for g, graph in enumerate(graphs):
        own = np.flatnonzero(keep[8 * g : 8 * g + 8])
        place = {int(old): new for new, old in enumerate(own)}
        expected = [[place[u], place[v]] for u, v in graph.edges().tolist() if u in place and v in place]
        assert rest.edges(g).tolist() == expected
        assert rest.color_names(g) == tuple(graph.color_names()[v] for v in own)
    assert (rest.y == graphs.y).all()


@pytest.mark.parametrize(
    ("graphon", "width"),
    [(LOPSIDED, 1.1), (az.SmoothGraphon(lambda u, v: 0.1 + 0.7 * u * v), 1.1), (ER[0], 1.55)],
    ids=["blocks", "smooth", "erdos-renyi"],
)
def test_intervals_cover_the_expected_density(graphon, width):
    """Of 95 % intervals; for Erdos-Renyi graphs, where vertices do not differ, they are too wide, not too short."""
    found = density_intervals(draw(graphon, 60, 160, 5), (2, 3))
    expected = np.array([graphon.expected_density(pattern) for pattern in found.patterns])
    lower, upper = found.interval(0.95)
    covered = ((lower <= expected) & (expected <= upper)).mean(axis=0)
    assert covered.min() >= 0.9
    spread = np.sqrt(((found.densities - expected) ** 2).mean(axis=0))
    assert found.standard_errors.mean(axis=0) / spread == pytest.approx(width, abs=0.3)
    narrow = density_intervals(draw(graphon, 240, 8, 6), (2, 3)).standard_errors.mean(axis=0)
    shrunk = found.standard_errors.mean(axis=0) / narrow  # four times the vertices
    assert shrunk == pytest.approx(4 if graphon is ER[0] else 2, rel=0.2)


def test_the_predicted_gap_is_exceeded_as_often_as_it_says():
    train, test = draw(LOPSIDED, 60, 200, 8, COLORS), draw(LOPSIDED, 100, 200, 9, COLORS)
    found = density_intervals(train, (1, 2, 3))
    measured = density_gap(train, test, (1, 2, 3), paired=True).values
    for delta in (0.05, 0.2):
        share = (measured > found.predicted_gap(100, delta)).mean()
        assert 0.4 * delta < share < 1.8 * delta
    assert found.predicted_gap(100).max() < 0.4 * epsilon_reached(3, 60, 100, colors=3, up_to=True, kind="hoeffding")


def test_groups_do_not_follow_the_hidden_variables_of_graphs_with_the_same_seed():
    graph = draw(ER[1], 400, 1, 0, [{"a": 0.5, "b": 0.5}])
    error = density_intervals(graph, 1, seed=0).standard_errors
    assert error == pytest.approx(np.full((1, 2), np.sqrt(0.25 / 400)), rel=0.35)


def test_predictions_are_the_same_for_the_same_seed_and_never_above_one():
    found = density_intervals(draw(LOPSIDED, 6, 3, 0), (2, 3), groups=6)
    assert (found.predicted_gap(6) == found.predicted_gap(6)).all()
    assert found.predicted_gap(1, delta=1e-6).max() <= 1


# ---- invariance and errors -------------------------------------------------------------------------


def sbm_twins(n=100):
    classes = [az.BlockModel(within=(0.2, 0.2), between=p) for p in (0.1, 0.3)]
    shares = [({"red": r, "blue": 1 - r}, {"green": r, "yellow": 1 - r}) for r in (0.9, 0.1)]
    train, test = (az.Environment(sizes=(n,), colors=c) for n, c in zip((20, 40), shares, strict=True))
    return az.sample_twins(classes, train, test, n, seed=0)


def test_densities_are_nearly_invariant_counts_and_colors_are_not():
    twins = sbm_twins()
    edges = invariance_gap(lambda graphs: graphs.edge_counts, twins)
    plain = invariance_gap(lambda graphs: az.count(graphs, 3, colors=False).densities().toarray(), twins)
    colored = invariance_gap(lambda graphs: az.count(graphs, 1).densities().toarray(), twins)
    assert plain.ratio < 1 < colored.ratio < edges.ratio
    assert colored.mean > 0.4  # red is .45 of the vertices in training and .05 in test, and chance adds to it
    assert plain.gaps.shape == (100,)


def test_the_gap_is_the_norm_that_was_asked_for():
    twins = sbm_twins(5)
    pair = {20: (0.0, 0.0), 40: (3.0, 4.0)}

    def represent(graphs):
        return np.array([pair[int(size)] for size in graphs.sizes])

    assert invariance_gap(represent, twins).mean == 4
    assert invariance_gap(represent, twins, norm=2).mean == 5
    assert invariance_gap(represent, twins).ratio == inf  # all training graphs alike
    assert invariance_gap(lambda graphs: np.ones((len(graphs), 2)), twins).ratio == 0


def test_an_invariant_representation_errs_as_often_out_of_distribution():
    """Proposition 1: the first ten vertices of twins are the same, and so is all that is said from them."""
    twins = sbm_twins()

    def first_ten(graphs):
        return [[sum(max(edge) < 10 for edge in graph.edges().tolist())] for graph in graphs]

    assert invariance_gap(first_ten, twins).mean == 0
    errors = extrapolation_errors(lambda graphs: np.ravel(first_ten(graphs)) > 9, twins.train, twins.test)
    assert 0.1 < errors.validation == errors.test < 0.5
    assert errors.difference == 0
    broken = extrapolation_errors(lambda graphs: graphs.edge_counts > 38, twins.train, twins.test)
    assert broken.validation < 0.2
    assert broken.test > 0.4
    assert broken.difference > 4 * broken.standard_error
    assert "out-of-distribution error" in str(broken)


def test_errors_take_labels_or_probabilities():
    graphs = draw(ER, 20, 30, 0)
    by_label = extrapolation_errors(lambda g: erdos_renyi_posterior(g, ER).argmax(axis=1), graphs, graphs)
    by_chance = extrapolation_errors(lambda g: erdos_renyi_posterior(g, ER), graphs, graphs)
    assert by_label == by_chance
    assert extrapolation_errors(lambda g: g.y + 1, graphs, graphs).test == 1


# ---- the posterior ---------------------------------------------------------------------------------


def all_graphs(n):
    pairs = [(u, v) for v in range(n) for u in range(v)]
    ways = product([False, True], repeat=len(pairs))
    chosen = [[pair for pair, on in zip(pairs, way, strict=True) if on] for way in ways]
    return az.GraphSet.concatenate(
        [az.GraphSet.from_edges(np.array(edges, int).reshape(-1, 2), n_vertices=n) for edges in chosen]
    )


@pytest.mark.parametrize("prior", [None, (0.7, 0.2, 0.1), (0.0, 0.5, 0.5)])
def test_the_posterior_is_bayes_rule_over_all_graphs(prior):
    graphs = all_graphs(4)
    p, weight = np.array([0.2, 0.5, 0.8]), np.array(prior or [1 / 3] * 3)
    m = graphs.edge_counts[:, None]
    joint = weight * p**m * (1 - p) ** (6 - m)
    assert joint.sum() == pytest.approx(1)
    assert erdos_renyi_posterior(graphs, ER, prior) == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    assert erdos_renyi_accuracy(ER, 4, prior) == pytest.approx(joint.max(axis=1).sum())


def test_the_posterior_holds_for_any_size_and_is_calibrated():
    graphs = az.sample_graphs(ER, az.Environment(sizes=(4, 5, 6)), 6000, seed=0)
    posterior = erdos_renyi_posterior(graphs, ER)
    assert posterior.sum(axis=1) == pytest.approx(np.ones(6000))
    for label in range(3):
        told, true = posterior[:, label], graphs.y == label
        for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
            here = (told >= low) & (told < high)
            error = np.sqrt(0.25 / here.sum())
            assert abs(told[here].mean() - true[here].mean()) < 4 * error
    accuracy = np.mean([erdos_renyi_accuracy(ER, n) for n in (4, 5, 6)])
    assert np.mean(posterior.argmax(axis=1) == graphs.y) == pytest.approx(accuracy, abs=0.02)


def test_the_bayes_row_of_the_task_is_perfect():
    assert erdos_renyi_accuracy(ER, 80) > 1 - 1e-9
    graphs = draw(ER, 140, 50, 0)
    assert (erdos_renyi_posterior(graphs, ER).argmax(axis=1) == graphs.y).all()


def test_certain_graphons():
    full = az.GraphSet.from_edges([(0, 1), (0, 2), (1, 2)])
    assert erdos_renyi_posterior(full, [az.ErdosRenyi(0.0), az.ErdosRenyi(1.0)]).tolist() == [[0, 1]]
    path = az.GraphSet.from_edges([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="graph 0 has probability 0 under every one"):
        erdos_renyi_posterior(path, [az.ErdosRenyi(0.0), az.ErdosRenyi(1.0)])


# ---- nonsense --------------------------------------------------------------------------------------

FEW = draw(ER, 8, 4, 0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: density_gap(FEW, FEW[:0], 2), "expected graphs in both sets; got 4 and 0"),
        (lambda: density_gap(FEW, FEW[:3], 2, paired=True), "as many training as test graphs; got 4 and 3"),
        (lambda: density_gap(FEW, FEW.with_y([9] * 4), 2), "no class occurs in both sets"),
        (lambda: density_intervals(FEW, 2, groups=1), "at least 2 groups; got 1"),
        (lambda: density_intervals(draw(ER, 3, 2, 0), 3), "more than 3 vertices"),
        (lambda: density_intervals(FEW, 2).interval(1.5), "between 0 and 1; got 1.5"),
        (lambda: density_intervals(FEW, 2).predicted_gap(0), "at least 1; got 0"),
        (lambda: invariance_gap(lambda graphs: [1.0], sbm_twins(3)), "expected 6 rows"),
        (lambda: invariance_gap(lambda graphs: [np.nan] * 6, sbm_twins(3)), "not finite"),
        (lambda: extrapolation_errors(len, FEW, FEW), "a prediction for each of 4 graphs"),
        (lambda: extrapolation_errors(len, FEW.with_y(None), FEW), "the validation graphs need labels"),
        (lambda: erdos_renyi_posterior(FEW, [LOPSIDED]), "known for ErdosRenyi graphons"),
        (lambda: erdos_renyi_posterior(FEW, ER, prior=(0.5, 0.5)), "expected 3 prior probabilities"),
        (lambda: erdos_renyi_posterior(FEW, ER, prior=(0.5, 0.6, 0.1)), "sum to 1"),
        (lambda: erdos_renyi_accuracy(ER, 0), "at least 1; got 0"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
