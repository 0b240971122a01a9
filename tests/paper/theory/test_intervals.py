"""Jackknife intervals: standard errors, coverage, predicted gaps."""

from __future__ import annotations

import numpy as np
import pytest
from paper.theory.helpers import COLORS, ER, LOPSIDED, draw

import anysize as az
from anysize.graphs.assembly import induced_subgraphs
from anysize.paper.theory.bounds import epsilon_reached
from anysize.paper.theory.gaps import density_gap
from anysize.paper.theory.intervals import density_intervals


def test_the_jackknife_leaves_vertices_out():
    graph = draw(LOPSIDED, 12, 1, 0, COLORS)
    found = density_intervals(graph, (2, 3), groups=99)
    assert found.groups == 12  # one vertex each
    names = [pattern.name for pattern in found.patterns]
    rows = []
    for vertex in range(12):
        rest = az.count(induced_subgraphs(graph, np.arange(12) != vertex), (2, 3))
        row = dict(zip((p.name for p in rest.patterns), rest.densities().toarray()[0], strict=True))
        rows.append([row.get(name, 0.0) for name in names])
    table = np.array(rows)
    expected = np.sqrt(11 / 12 * ((table - table.mean(axis=0)) ** 2).sum(axis=0))
    assert found.standard_errors[0] == pytest.approx(expected)
    assert found.densities[0] == pytest.approx(az.count(graph, (2, 3)).densities().toarray()[0])


def test_induced_graphs_keep_edges_colors_and_order():
    graphs = draw([LOPSIDED, LOPSIDED], 8, 5, 0, COLORS)
    keep = np.random.default_rng(0).random(40) < 0.6
    rest = induced_subgraphs(graphs, keep)
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


FEW = draw(ER, 8, 4, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: density_intervals(FEW, 2, groups=1), "at least 2 groups; got 1"),
        (lambda: density_intervals(draw(ER, 3, 2, 0), 3), "more than 3 vertices"),
        (lambda: density_intervals(FEW, 2).interval(1.5), "between 0 and 1; got 1.5"),
        (lambda: density_intervals(FEW, 2).predicted_gap(0), "at least 1; got 0"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
