"""Sampled tables: how many samples, one estimate per graph, and the table they make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._errors import CountWarning, warn_user
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.threads import Tick
from anysize.counting.sampling.intervals import Sampling
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

SAMPLED_SIZES = (3, 4, 5, 6, 7)
PILOT_SAMPLES = 2_000_000
# Samples per second and core that a time budget reckons with: fixed, so that a budget means the same everywhere.
NOMINAL_RATE = {3: 8e6, 4: 6e6, 5: 4e6, 6: 3e6, 7: 2e6}


@dataclass(frozen=True)
class SampleSize:
    """How much to sample: a number of samples per graph, or a relative standard error to reach.

    With ``rel_error`` a pilot fixes the number, so that every pattern with at least the share ``above`` among all
    connected k-sets is estimated that well, up to ``most`` samples; the estimate uses fresh samples.
    """

    samples: int | None = None
    rel_error: float | None = None
    above: float = 1e-3
    most: int = 200_000_000

    def __post_init__(self) -> None:
        if (self.samples is None) == (self.rel_error is None):
            raise ValueError("say how much to sample: either samples=NUMBER or rel_error=SHARE, such as 0.01")
        if self.samples is not None and (isinstance(self.samples, bool) or self.samples < 1):
            raise ValueError(f"samples must be a whole number of at least 1; got {self.samples!r}")
        if self.rel_error is not None and not 0 < self.rel_error < 1:
            raise ValueError(f"rel_error must lie between 0 and 1, such as 0.01; got {self.rel_error!r}")


def within_budget(k: int, seconds: float, threads: int, n_graphs: int) -> SampleSize:
    """About as many samples as fit into a time, shared by all graphs."""
    return SampleSize(samples=max(10_000, int(NOMINAL_RATE[k] * seconds * threads / max(n_graphs, 1))))


def count_sampled(
    graphs: GraphSet,
    k: int,
    size: SampleSize,
    seed: int,
    threads: int,
    tick: Tick,
    why: str,
    numbers: NDArray[np.int64],
) -> Counts:
    """A table of estimates for all graphs; numbers tell apart their random streams."""
    from anysize.counting.sampling.estimator import estimate

    if k not in SAMPLED_SIZES:
        raise ValueError(f"sampling is for k = 3 to 7; got k = {k}, which is counted exactly with method='auto'")
    found = []
    for number, graph in zip(numbers.tolist(), graphs, strict=True):
        samples = size.samples or _from_pilot(graph, number, k, size, seed, threads)
        found.append(estimate(graph, k, samples, seed, 2 * number, threads, tick))
    parts = [one.columns for one in found]
    if graphs.colors is None:
        parts.insert(0, Columns.plain(k))
    columns, places = unite(parts or [Columns.plain(k)])
    places = places[-len(found) :] if found else []
    row = np.repeat(np.arange(len(found)), [len(place) for place in places]).astype(np.int64)
    column = np.concatenate([*places, np.zeros(0, np.int64)]).astype(np.int64)
    shape = (len(graphs), len(columns))

    def table(values: list[np.ndarray], kind: type) -> csr_array:
        data: np.ndarray = np.concatenate([*values, np.zeros(0)]).astype(kind)
        matrix = csr_array((data, (row, column)), shape=shape)
        matrix.sort_indices()
        return matrix

    sampling = Sampling(
        k,
        table([one.hits for one in found], np.int64),
        table([one.errors for one in found], np.float64),
        np.array([one.rates for one in found]).reshape(len(found), len(connected_patterns(k))),
        np.array([one.samples for one in found], np.int64),
        np.array([one.exact_cliques for one in found], bool),
    )
    log = (sampling_line(k, sampling.samples, seed, why),)
    copies = table([one.copies for one in found], np.float64)
    return Counts(copies, columns, graphs.sizes, graphs.y, graphs.names, log, sampling)


def sampling_line(k: int, samples: NDArray[np.int64], seed: int, why: str) -> str:
    """How the graphs of a table were sampled, for people."""
    amounts = sorted(set(samples.tolist()))
    drawn = f"{amounts[0]:,}" if len(amounts) == 1 else f"{amounts[0]:,} to {amounts[-1]:,}" if amounts else "no"
    return f"k = {k}: sampled, {drawn} maps of trees per graph, seed {seed} ({why})"


def _from_pilot(graph: GraphSet, number: int, k: int, size: SampleSize, seed: int, threads: int) -> int:
    """The number of samples that a look at the graph asks for."""
    from anysize.counting.sampling.estimator import estimate

    pilot = estimate(graph, k, PILOT_SAMPLES, seed, 2 * number + 1, threads, lambda share: None)
    target = size.rel_error or 1.0
    share = pilot.copies / max(float(pilot.copies.sum()), 1e-300)
    common = (share >= size.above) & (pilot.errors > 0)
    worst = float((pilot.errors[common] / pilot.copies[common]).max(initial=0.0))
    wanted = int(1.1 * PILOT_SAMPLES * (worst / target) ** 2) + 1
    if wanted > size.most:
        reached = target * (wanted / size.most) ** 0.5
        warn_user(
            f"Graph {number} would need {wanted:,} samples for a relative error of {target:g}; it gets {size.most:,}, "
            f"which gives about {reached:.2g}.",
            CountWarning,
        )
    return max(10_000, min(wanted, size.most))
