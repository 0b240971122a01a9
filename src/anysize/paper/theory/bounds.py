"""Theorem 1: bounds on the probability that two graphs of one graphon differ in some density by more than epsilon.

`single_graph_bound` is the step of its proof for one graph and one pattern (Azuma's inequality).

Both bounds hold for densities over subsets and over maps (not over connected subsets), for independent hidden
variables, and for colors that do not depend on the environment. They hold for twins and for independent graphs: each
graph is close to the expected density, and a union bound covers both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cache
from math import exp, inf
from typing import Literal, TypeAlias, get_args

from anysize._schema import check_integer
from anysize.patterns.orbits import automorphisms
from anysize.patterns.pattern import check_size, connected_patterns

BoundKind: TypeAlias = Literal["paper", "hoeffding"]
BOUND_KINDS: tuple[BoundKind, ...] = get_args(BoundKind)


def number_of_patterns(k: int, colors: int = 1, up_to: bool = False) -> int:
    """The number of connected patterns on k vertices (or on at most k) with this many vertex colors.

    The colorings of a plain pattern up to symmetry are the mean of colors^cycles over its automorphisms (Burnside's
    lemma).

    Examples:
        >>> number_of_patterns(4), number_of_patterns(4, up_to=True)
        (6, 10)
        >>> number_of_patterns(2, colors=4)  # ten colored edges
        10
    """
    check_size(k)
    check_integer("colors", colors, 1)
    sizes = range(1, k + 1) if up_to else (k,)
    return sum(
        sum(number * colors**cycles for cycles, number in symmetries) // group
        for size in sizes
        for group, symmetries in _cycle_counts(size)
    )


def theorem_bound(
    k: int,
    n_train: int,
    n_test: int,
    epsilon: float,
    colors: int = 1,
    *,
    up_to: bool = True,
    kind: BoundKind = "paper",
) -> float:
    r"""Bound the probability that the largest density gap between two graphs exceeds epsilon.

    .. math:: P(\|\Gamma(G^{tr}) - \Gamma(G^{te})\|_\infty > \epsilon)
              \le 2 |F| (e^{-\epsilon^2 N^{tr} / 8 k^2} + e^{-\epsilon^2 N^{te} / 8 k^2})

    is Theorem 1 ("paper"). Hoeffding's inequality for the mean over k-subsets ("hoeffding") bounds the same event
    by :math:`2 |F| (e^{-\epsilon^2 \lfloor N^{tr} / k \rfloor / 2} + e^{-\epsilon^2 \lfloor N^{te} / k \rfloor /
    2})`, which is smaller: a graph has N / k disjoint, hence independent, k-subsets. A bound of 1 or more is vacuous.

    Args:
        k: pattern size 1..7.
        n_train: vertices of one graph, at least k.
        n_test: vertices of the other.
        epsilon: the gap, between 0 and 1.
        colors: number of vertex colors.
        up_to: patterns of all sizes up to k, as in the theorem (the default); otherwise of size k only.
        kind: "paper" or "hoeffding".

    Examples:
        >>> round(theorem_bound(2, 400, 800, 0.5), 4), round(theorem_bound(2, 400, 800, 0.5, up_to=False), 4)
        (0.1835, 0.0917)
        >>> theorem_bound(4, 80, 140, 0.99) > 1  # vacuous at the sizes of the Erdős–Rényi task
        True
    """
    _check_sizes(k, n_train, n_test, kind)
    _check_epsilon(epsilon)
    return _bound(k, n_train, n_test, epsilon, colors, up_to, kind)


def single_graph_bound(k: int, n: int, epsilon: float, kind: BoundKind = "paper") -> float:
    r"""Bound the probability that one density of one graph is further than epsilon from its expectation t(F, W).

    .. math:: P(|t(F, G) - t(F, W)| > \epsilon) \le 2 e^{-\epsilon^2 N / 2 k^2}

    is the step of the proof of Theorem 1 for a single graph ("paper"): the expected density given the first m vertices
    is a martingale, a vertex is in a share k / N of all k-subsets and changes it by at most that, and Azuma's
    inequality applies. The proof states it for t_inj (Lovasz and Szegedy, Theorem 2.5) and t_ind; it holds for
    densities over subsets and over maps. Hoeffding's inequality for the mean over k-subsets ("hoeffding") gives
    :math:`2 e^{-2 \epsilon^2 \lfloor N / k \rfloor}`. Theorem 1 follows with epsilon / 2 for each of two graphs and a
    union bound over patterns.

    Examples:
        >>> round(single_graph_bound(2, 400, 0.25), 4), round(single_graph_bound(2, 400, 0.25, "hoeffding"), 12)
        (0.0879, 2.8e-11)
    """
    check_size(k)
    _check_kind(kind)
    check_integer("graph size", n, k)
    _check_epsilon(epsilon)
    return _tail(k, n, epsilon, kind)


def epsilon_reached(
    k: int,
    n_train: int,
    n_test: int,
    delta: float = 0.05,
    colors: int = 1,
    *,
    up_to: bool = True,
    kind: BoundKind = "paper",
) -> float:
    """The smallest epsilon at which the bound is at most delta; 1 or more is vacuous, since no gap is larger than 1.

    Examples:
        >>> round(epsilon_reached(2, 400, 800), 3), round(epsilon_reached(2, 400, 800, kind="hoeffding"), 3)
        (0.593, 0.193)
    """
    _check_sizes(k, n_train, n_test, kind)
    _check_delta(delta)
    low, high = 0.0, 1.0
    while _bound(k, n_train, n_test, high, colors, up_to, kind) > delta:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if _bound(k, n_train, n_test, middle, colors, up_to, kind) > delta:
            low = middle
        else:
            high = middle
    return high


def size_needed(
    k: int,
    epsilon: float,
    delta: float = 0.05,
    colors: int = 1,
    *,
    up_to: bool = True,
    kind: BoundKind = "paper",
) -> int:
    """The smallest number of vertices of both graphs at which the bound is at most delta.

    Examples:
        >>> size_needed(4, 0.1), size_needed(4, 0.1, kind="hoeffding")
        (85564, 4976)
    """
    check_size(k)
    _check_kind(kind)
    _check_epsilon(epsilon)
    _check_delta(delta)
    sizes = range(k, 1 << 62)
    return sizes[bisect_left(sizes, True, key=lambda n: _bound(k, n, n, epsilon, colors, up_to, kind) <= delta)]


def _tail(k: int, n: int, epsilon: float, kind: BoundKind) -> float:
    """The bound for one pattern of k vertices and one graph of n."""
    return 2 * exp(-(epsilon**2) * n / (2 * k**2) if kind == "paper" else -2 * epsilon**2 * (n // k))


def _bound(k: int, n_train: int, n_test: int, epsilon: float, colors: int, up_to: bool, kind: BoundKind) -> float:
    """The union bound over patterns and both graphs; the paper has k in the place of every smaller pattern's size."""
    sizes = range(1, k + 1) if up_to else (k,)
    return sum(
        number_of_patterns(size, colors) * _tail(k if kind == "paper" else size, n, epsilon / 2, kind)
        for size in sizes
        for n in (n_train, n_test)
    )


@cache
def _cycle_counts(k: int) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
    """For each plain pattern on k vertices: the number of automorphisms, in all and by number of cycles."""
    result = []
    for pattern in connected_patterns(k):
        group = automorphisms(pattern.code, k).tolist()
        cycles = Counter(_cycles(image) for image in group)
        result.append((len(group), tuple(sorted(cycles.items()))))
    return tuple(result)


def _cycles(image: list[int]) -> int:
    seen: set[int] = set()
    number = 0
    for start in range(len(image)):
        number += start not in seen
        while start not in seen:
            seen.add(start)
            start = image[start]
    return number


def _check_sizes(k: int, n_train: int, n_test: int, kind: str) -> None:
    check_size(k)
    _check_kind(kind)
    for n in (n_train, n_test):
        check_integer("graph size", n, k)


def _check_kind(kind: str) -> None:
    if kind not in BOUND_KINDS:
        raise ValueError(f"kind must be one of {', '.join(BOUND_KINDS)}; got {kind!r}")


def _check_epsilon(epsilon: float) -> None:
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must lie between 0 and 1; got {epsilon!r}")


def _check_delta(delta: float) -> None:
    if not 0 < delta < inf:
        raise ValueError(f"delta must be a probability above 0; got {delta!r}")
