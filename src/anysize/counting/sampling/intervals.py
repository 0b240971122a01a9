"""What a sampled table knows beside its estimates: hits, standard errors, intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import FloatArray
from anysize.counting.columns import Columns
from anysize.patterns.pattern import connected_patterns

FEW_HITS = 30  # below it an interval is Wilson's, above it that of the normal distribution


@dataclass(frozen=True, eq=False)
class Sampling:
    """Beside a table of estimates, cell for cell: hits and standard errors; and per graph how it was sampled.

    ``rates[g, c]`` is the expected number of hits of one copy of class c of the catalog in graph g, ``samples[g]``
    the number of samples. Where ``exact_cliques[g]``, the cliques of graph g were counted, not sampled.
    """

    k: int
    hits: csr_array[np.int64]
    errors: csr_array[np.float64]
    rates: FloatArray
    samples: NDArray[np.int64]
    exact_cliques: NDArray[np.bool_]

    def rows(self, rows: NDArray[np.int64]) -> Sampling:
        """The same for some of the graphs."""
        own = self.mapped(lambda matrix: csr_array(matrix[rows]))
        return Sampling(own.k, own.hits, own.errors, self.rates[rows], self.samples[rows], self.exact_cliques[rows])

    def mapped(self, change: Callable[[csr_array], csr_array]) -> Sampling:
        """The same after a change of columns."""
        return Sampling(self.k, change(self.hits), change(self.errors), self.rates, self.samples, self.exact_cliques)

    @staticmethod
    def stacked(parts: list[Sampling | None], stack: Callable[[list[csr_array]], csr_array]) -> Sampling | None:
        """One after the other, if all tables are of estimates; None if none is."""
        some = [part for part in parts if part is not None]
        if not some:
            return None
        if len(some) < len(parts) or len({part.k for part in some}) > 1:
            raise ValueError("expected tables that are all exact, or all sampled with one k; got a mixture")
        return Sampling(
            some[0].k,
            stack([part.hits for part in some]),
            stack([part.errors for part in some]),
            np.concatenate([part.rates for part in some]),
            np.concatenate([part.samples for part in some]),
            np.concatenate([part.exact_cliques for part in some]),
        )

    def interval(self, copies: csr_array[Any], columns: Columns, level: float) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends (graphs, patterns): normal where hits are many, Wilson's where they are few."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level!r}")
        z = NormalDist().inv_cdf(0.5 + level / 2)
        estimate, error, hits = copies.toarray(), self.errors.toarray(), self.hits.toarray().astype(np.float64)
        low, high = np.maximum(estimate - z * error, 0), estimate + z * error
        wilson_low, wilson_high = wilson(hits, self.samples[:, None].astype(np.float64), z)
        rates = self.rates[:, columns.place]
        few = (hits < FEW_HITS) & ~(
            self.exact_cliques[:, None] & (columns.place == len(connected_patterns(self.k)) - 1)
        )
        some = np.where(rates > 0, rates, np.inf)  # a pattern that no sample can hit has no copies
        low = np.where(few, wilson_low * self.samples[:, None] / some, low)
        high = np.where(few, wilson_high * self.samples[:, None] / some, high)
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
