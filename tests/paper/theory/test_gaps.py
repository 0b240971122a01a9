"""Measured density gaps."""

from __future__ import annotations

import numpy as np
import pytest
from paper.theory.helpers import COLORS, ER, LOPSIDED, draw

import anysize as az
from anysize.paper.theory import gaps
from anysize.paper.theory.gaps import density_gap


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
    monkeypatch.setattr(gaps, "MAX_COLUMNS_IN_MEMORY", 3)
    crossed = density_gap(train, test, (1, 2, 3), over=over)
    same = train.y[:, None] == test.y
    assert crossed.values == pytest.approx(slow[same])
    assert density_gap(train.with_y(None), test, (1, 2, 3), over=over).values == pytest.approx(slow.ravel())
    assert crossed.largest == pytest.approx(slow[same].max())
    assert crossed.mean == pytest.approx(slow[same].mean())
    assert (crossed.values > crossed.quantile(0.5)).mean() <= 0.5


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


FEW = draw(ER, 8, 4, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: density_gap(FEW, FEW[:0], 2), "expected graphs in both sets; got 4 and 0"),
        (lambda: density_gap(FEW, FEW[:3], 2, paired=True), "as many training as test graphs; got 4 and 3"),
        (lambda: density_gap(FEW, FEW.with_y([9] * 4), 2), "no class occurs in both sets"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
