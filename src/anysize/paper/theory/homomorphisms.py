"""Injective homomorphism densities t_inj(F, G) of graphs, in which the proof of Theorem 1 begins.

A homomorphism maps edges of F to edges of G; unlike in an induced copy, G may have other edges among the images. The
counterpart of a graphon, t(F, W), is `Graphon.homomorphism_density`; the expected t_inj is t(F, W) at any graph size.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from math import perm

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.patterns.orbits import permuted
from anysize.patterns.pattern import Pattern


def injective_density(counts: Counts, pattern: Pattern) -> FloatArray:
    """t_inj(F, G) = inj(F, G) / (N)_k of every graph: the share of injective maps of k vertices that keep all edges.

    The image of an injective homomorphism induces a connected pattern with at least the edges of F, so that inj(F, G)
    is a sum over these: their induced copies in G times the injective homomorphisms of F into them.

    Args:
        counts: a whole table with patterns of the size of F; colored if F is.
        pattern: F, plain or colored (colors must match).

    Examples:
        >>> import anysize as az
        >>> triangle = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 0)])
        >>> path = az.connected_patterns(3)[0]
        >>> injective_density(az.count(triangle, k=3), path).tolist()  # no induced path, but every map keeps two edges
        [1.0]
    """
    k = pattern.size
    table = counts.without_colors() if pattern.colors is None else counts
    if pattern.colors is not None and counts.columns.colors is None:
        raise ValueError(f"{pattern!r} is colored, but the table has plain patterns; count with colors=True")
    here = np.flatnonzero(table.columns.size == k)
    if not len(here) and table.columns.colors is None:
        raise ValueError(f"the table has no patterns of {k} vertices; count with k={k}")
    images = _images(pattern)
    maps = np.zeros(len(here))
    for position, column in enumerate(here.tolist()):
        target = table.columns.pattern(column)
        codes = images.get(target.colors)
        maps[position] = 0 if codes is None else ((codes & ~target.code) == 0).sum()
    possible = np.array([max(perm(int(n), k), 1) for n in table.sizes], np.float64)
    return np.asarray(np.asarray(table.matrix[:, here].astype(np.float64) @ maps) / possible)


def _images(pattern: Pattern) -> dict[tuple[ColorName, ...] | None, IntArray]:
    """The codes of the pattern under all k! renamings of its vertices, by the colors of the new vertices."""
    code = np.array([pattern.code])
    codes_of: dict[tuple[ColorName, ...] | None, list[int]] = defaultdict(list)
    for image in permutations(range(pattern.size)):
        colors = None
        if pattern.colors is not None:
            colors = tuple(pattern.colors[image.index(vertex)] for vertex in range(pattern.size))
        codes_of[colors].append(int(permuted(code, image)[0]))
    return {colors: np.array(codes, np.int64) for colors, codes in codes_of.items()}
