r"""How far densities may move with size alone: groups of vertices in exact shares instead of random ones.

Where the hidden types of vertices are independent, expected densities do not depend on N. Where every graph has exactly
its share of each type (balanced blocks, a fixed recipe), a set of k vertices draws its types without replacement, and

.. math:: E[d_N] = t + \frac{1}{N} \sum_{i < j} (t - t_{ij}) + O(N^{-2}),

with t_ij the density where vertices i and j have the same type. 0 <= t_ij <= t / p for a type that has the share p, so
that a pattern may be off by C(k, 2) / N of its density, and by more where two of its vertices have one rare color.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from anysize.graphs.colors import ColorName
from anysize.patterns.pattern import Pattern

FloatArray = NDArray[np.float64]

MOST = 0.5  # of a density that finite sizes may hide in the larger graphs: beyond that, first order says nothing


def finite_size(
    patterns: Sequence[Pattern], shares: Mapping[ColorName, float], train_sizes: FloatArray, new_sizes: FloatArray
) -> FloatArray:
    r"""Per pattern, the share of its larger density by which sets of one model may differ, graphs being finite.

    .. math:: h \frac{|x - x'|}{1 - h \min(x, x')}, \quad x = mean (N - k + 1)^{-1}, \quad h = \sum_{i < j} h_{ij}

    with h_ij = 1, or max(1, 1/p - 1) for two vertices of one color of the share p. That is exact for pairs of one
    color; N - k + 1 instead of N covers higher orders. Sets of the same sizes have no such excuse, and single vertices
    have none at any size. Plain patterns know no types: h_ij = 1 is what two balanced halves can do at most; more
    groups in sharp contrast can do more.

    Args:
        patterns: plain or colored.
        shares: mean share of every color; empty for plain patterns.
        train_sizes: vertices (graphs,), at least k. new_sizes: likewise.

    >>> from anysize.patterns.pattern import catalog
    >>> finite_size(catalog(2), {}, np.array([21.0]), np.array([41.0])).round(4).tolist()
    [0.0256]
    """
    largest = max((pattern.size for pattern in patterns), default=0)
    near = {
        k: [float((1 / (sizes - k + 1)).mean()) for sizes in (train_sizes, new_sizes)] for k in range(1, largest + 1)
    }
    found = []
    for pattern in patterns:
        x, y = near[pattern.size]
        weight = _pairs(pattern, shares)
        found.append(weight * abs(x - y) / (1 - min(weight * min(x, y), MOST)))
    return np.array(found, np.float64)


def _pairs(pattern: Pattern, shares: Mapping[ColorName, float]) -> float:
    """The sum of h over pairs of vertices."""
    if pattern.colors is None:
        return pattern.size * (pattern.size - 1) / 2
    rare = {color: max(1.0, 1 / max(shares.get(color, 0.0), 1e-9) - 1) for color in set(pattern.colors)}
    return sum(rare[one] if one == other else 1.0 for one, other in combinations(pattern.colors, 2))
