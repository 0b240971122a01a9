"""Sample sizes, and the errors and confidence intervals of sampled tables (without numba)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.counting.columns import Columns
from anysize.counting.engines.engine import CELL_BYTES, MemoryNeed
from anysize.counting.features import Features
from anysize.patterns.pattern import connected_patterns

SAMPLED_SIZES = (3, 4, 5, 6, 7)
NORMAL_FROM_HITS = 30  # fewer hits: Wilson's interval, otherwise the normal one


@dataclass(frozen=True)
class SampleSize:
    """A number of samples per graph, the seconds for a graph on average, or a relative standard error to reach.

    With ``rel_error`` a pilot run determines the number of samples, at most ``max_samples``, such that every pattern
    with at least the share ``min_share`` of all connected k-sets is estimated that well.
    """

    samples: int | None = None
    rel_error: float | None = None
    seconds: float | None = None
    min_share: float = 1e-3
    max_samples: int = 200_000_000

    def __post_init__(self) -> None:
        if [self.samples, self.rel_error, self.seconds].count(None) != 2:
            raise ValueError("engine='sample' needs either samples=NUMBER or rel_error=SHARE, such as 0.01")
        if self.samples is not None and (isinstance(self.samples, bool) or self.samples < 1):
            raise ValueError(f"samples must be an integer of at least 1; got {self.samples!r}")
        if self.rel_error is not None and not 0 < self.rel_error < 1:
            raise ValueError(f"rel_error must lie between 0 and 1, such as 0.01; got {self.rel_error!r}")


def memory(f: Features, k: int) -> MemoryNeed:
    """Running sums and alias tables of about 2^(k - 3) trees and their subtrees."""
    trees, patterns = 2.0 ** (k - 3), f.max_patterns(k)
    return MemoryNeed(trees * (30 * f.n + 16 * f.edges) + 20 * f.edges, 1e6 + 100 * patterns, CELL_BYTES * patterns)


def describe_sampling(k: int, samples: IntArray, seed: int, reason: str) -> str:
    """One line for `Counts.explain`."""
    amounts = sorted(set(samples.tolist()))
    drawn = f"{amounts[0]:,}" if len(amounts) == 1 else f"{amounts[0]:,} to {amounts[-1]:,}" if amounts else "no"
    return f"k = {k}: sampled, {drawn} maps of trees per graph, seed {seed} ({reason})"


@dataclass(frozen=True, eq=False)
class Sampling:
    """Hits and standard errors of a table of estimates, cell by cell, and how each graph was sampled.

    ``rates[g, c]`` is the expected number of hits of one copy of pattern c of the catalog in graph g, ``samples[g]``
    the number of samples. Where ``exact_cliques[g]`` is set, the cliques of graph g were counted, not sampled.
    """

    k: int
    hits: csr_array[np.int64]
    errors: csr_array[np.float64]
    rates: FloatArray
    samples: IntArray
    exact_cliques: BoolArray

    def select_rows(self, rows: IntArray) -> Sampling:
        """The same for some of the graphs."""
        hits, errors = csr_array(self.hits[rows]), csr_array(self.errors[rows])
        return Sampling(self.k, hits, errors, self.rates[rows], self.samples[rows], self.exact_cliques[rows])

    def mapped(self, change: Callable[[csr_array], csr_array]) -> Sampling:
        """The same after a change of columns."""
        return Sampling(self.k, change(self.hits), change(self.errors), self.rates, self.samples, self.exact_cliques)

    @staticmethod
    def stacked(parts: list[Sampling | None], stack: Callable[[list[csr_array]], csr_array]) -> Sampling | None:
        """Concatenate the graphs of sampled tables; None if all tables are exact."""
        sampled = [part for part in parts if part is not None]
        if not sampled:
            return None
        if len(sampled) < len(parts) or len({part.k for part in sampled}) > 1:
            raise ValueError("expected tables that are all exact, or all sampled with one k; got a mixture")
        return Sampling(
            sampled[0].k,
            stack([part.hits for part in sampled]),
            stack([part.errors for part in sampled]),
            np.concatenate([part.rates for part in sampled]),
            np.concatenate([part.samples for part in sampled]),
            np.concatenate([part.exact_cliques for part in sampled]),
        )

    def interval(self, copies: csr_array[Any], columns: Columns, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends (graphs, patterns): normal where hits are many, Wilson's where they are few."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level!r}")
        z = NormalDist().inv_cdf(0.5 + level / 2)
        estimate, error, hits = copies.toarray(), self.errors.toarray(), self.hits.toarray().astype(np.float64)
        low, high = np.maximum(estimate - z * error, 0), estimate + z * error
        wilson_low, wilson_high = wilson(hits, self.samples[:, None].astype(np.float64), z)
        rates = self.rates[:, columns.pattern_index]
        few = (hits < NORMAL_FROM_HITS) & ~(
            self.exact_cliques[:, None] & (columns.pattern_index == len(connected_patterns(self.k)) - 1)
        )
        rates = np.where(rates > 0, rates, np.inf)  # a pattern that no sample can hit has no copies
        low = np.where(few, wilson_low * self.samples[:, None] / rates, low)
        high = np.where(few, wilson_high * self.samples[:, None] / rates, high)
        return low, high


def wilson(hits: FloatArray, samples: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval for the probability of a hit.

    Examples:
        >>> low, high = wilson(np.array([0.0]), np.array([100.0]), 1.96)
        >>> float(low[0]), round(float(high[0]), 4)
        (0.0, 0.037)
    """
    n = np.maximum(samples, 1)
    share = hits / n
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.where(hits > 0, np.maximum(center - half, 0), 0.0), center + half
