"""Codes of small graphs, and their orbits under vertex permutations.

A graph on the vertices 0 .. k - 1 is encoded as an integer with one bit per vertex pair: the pair i < j has the bit
j (j - 1) / 2 + i, so that adding a vertex j appends j bits and leaves the others in place. Isomorphic graphs form an
orbit under permutations, represented by its smallest code. The group is that of all permutations (patterns) or of those
that keep a marked pair of vertices (the flip engines).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from anysize._typing import IntArray

MAX_SIZE = 7


def pair_bit(i: int, j: int) -> int:
    """Position of the bit of the pair {i, j}.

    >>> [pair_bit(i, j) for j in range(4) for i in range(j)]
    [0, 1, 2, 3, 4, 5]
    """
    low, high = (i, j) if i < j else (j, i)
    return high * (high - 1) // 2 + low


def code_of(edges: tuple[tuple[int, int], ...] | list[tuple[int, int]]) -> int:
    """Encode a graph given by its edges."""
    code = 0
    for i, j in edges:
        code |= 1 << pair_bit(i, j)
    return code


def edges_of(code: int, k: int) -> tuple[tuple[int, int], ...]:
    """Decode a code to its edges, in the order of their bits.

    >>> edges_of(0b111, 3)
    ((0, 1), (0, 2), (1, 2))
    """
    return tuple((i, j) for j in range(k) for i in range(j) if code >> pair_bit(i, j) & 1)


def is_connected(code: int, k: int) -> bool:
    """Whether the graph of this code is connected."""
    reached, fresh = 1, 1
    while fresh:
        grown = reached
        for i, j in edges_of(code, k):
            if reached >> i & 1 or reached >> j & 1:
                grown |= 1 << i | 1 << j
        fresh, reached = grown & ~reached, grown
    return reached == (1 << k) - 1


def permuted(codes: IntArray, image: tuple[int, ...]) -> IntArray:
    """The codes after vertex i has been renamed image[i]."""
    result = np.zeros_like(codes)
    for j in range(len(image)):
        for i in range(j):
            result |= ((codes >> pair_bit(i, j)) & 1) << pair_bit(image[i], image[j])
    return result


@dataclass(frozen=True)
class Orbits:
    """The orbits of all codes on k vertices under a group of vertex permutations.

    ``smallest[code]`` is the representative of the orbit, ``renaming[code]`` a permutation of the group that maps the
    code to it (vertex i becomes renaming[code, i]), ``size[code]`` the size of the orbit.
    """

    k: int
    smallest: NDArray[np.int32]
    renaming: NDArray[np.int8]
    size: IntArray


@cache
def orbits(k: int, marked: bool = False) -> Orbits:
    """Orbits of all codes on k vertices under every permutation, or (marked) those that keep {k-2, k-1}."""
    keep_apart = k - 2 if marked else k
    generators = [i for i in range(k - 1) if i + 1 != keep_apart]  # swap i and i + 1
    codes = np.arange(1 << (k * (k - 1) // 2), dtype=np.int64)
    swapped = {i: permuted(codes, _adjacent_swap(k, i)).astype(np.int32) for i in generators}
    smallest = codes.astype(np.int32)
    while True:
        before = smallest.copy()
        for i in generators:
            np.minimum(smallest, smallest[swapped[i]], out=smallest)
        smallest = smallest[smallest]
        if np.array_equal(before, smallest):
            break
    size = np.bincount(smallest, minlength=len(codes))[smallest].astype(np.int64)
    return Orbits(k, smallest, _renamings(k, smallest, swapped), size)


def _adjacent_swap(k: int, i: int) -> tuple[int, ...]:
    image = list(range(k))
    image[i], image[i + 1] = i + 1, i
    return tuple(image)


def _renamings(k: int, smallest: NDArray[np.int32], swapped: dict[int, NDArray[np.int32]]) -> NDArray[np.int8]:
    """For every code a permutation to its representative, by breadth-first search from the representatives."""
    renaming = np.zeros((len(smallest), k), np.int8)
    seen = smallest == np.arange(len(smallest))
    frontier = np.flatnonzero(seen)
    renaming[frontier] = np.arange(k)
    while frontier.size:
        targets = []
        for i, swap in swapped.items():
            target = swap[frontier]
            new = ~seen[target]
            target, source = target[new], frontier[new]
            seen[target] = True  # adjacent swaps are injective: no target occurs twice here
            renaming[target] = renaming[source]
            renaming[target, i], renaming[target, i + 1] = renaming[source, i + 1], renaming[source, i]
            targets.append(target)
        frontier = np.concatenate(targets) if targets else frontier[:0]
    return renaming


def automorphisms(code: int, k: int, marked: bool = False) -> NDArray[np.int8]:
    """The permutations that map a code to itself, identity first; shape (number, k)."""
    group = _group(k, marked)
    pairs = [(i, j) for j in range(k) for i in range(j)]
    same = np.ones(len(group), bool)
    adjacency = np.zeros((k, k), bool)
    for i, j in edges_of(code, k):
        adjacency[i, j] = adjacency[j, i] = True
    for i, j in pairs:
        same &= adjacency[group[:, i], group[:, j]] == adjacency[i, j]
    return group[same]


@cache
def _group(k: int, marked: bool) -> NDArray[np.int8]:
    if marked:
        members = [p + s for p in permutations(range(k - 2)) for s in ((k - 2, k - 1), (k - 1, k - 2))]
    else:
        members = list(permutations(range(k)))
    return np.array(members, np.int8).reshape(len(members), k)
