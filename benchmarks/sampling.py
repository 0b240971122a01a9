"""Samples per second, and error against time compared with exact engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize import Counts, GraphSet, count
from anysize.counting.features import Features
from anysize.counting.planner import ENGINES
from benchmarks import prototypes
from benchmarks.checks import WrongAnswer, ours
from benchmarks.growth import Record
from benchmarks.inputs import MissingData, barabasi_albert, erdos_renyi, real
from benchmarks.timing import BUDGET, QUICK_BUDGET, race

SAMPLES, QUICK_SAMPLES = 2_000_000, 200_000
STEPS = (10_000, 100_000, 1_000_000, 10_000_000)
MIN_SHARE = 1e-3  # of the connected sets, for patterns that count for the error
TARGET_RATE = {5: 8e6, 7: 3e6}  # samples per second and core
MAX_EXACT_S, QUICK_MAX_EXACT_S = 20.0, 0.5  # exact engines with a higher estimate are not timed


@dataclass(frozen=True)
class Job:
    """One graph and pattern size."""

    name: str
    graph: Callable[[], GraphSet]
    k: int
    quick: bool = False


def _plain(file: str) -> GraphSet:
    return real(file).without_colors()


ASTRO, FACEBOOK = partial(_plain, "ca-AstroPh-lcc.txt.gz"), partial(_plain, "facebook_combined.txt.gz")
PREFERENTIAL = partial(barabasi_albert, 10_000, 5)

RATES = (
    Job("sample k=5 BA 10k m=5", PREFERENTIAL, 5, quick=True),
    Job("sample k=7 BA 10k m=5", PREFERENTIAL, 7, quick=True),
    Job("sample k=5 ca-AstroPh", ASTRO, 5),
    Job("sample k=7 ca-AstroPh", ASTRO, 7),
)
BREAK_EVEN = (
    Job("break-even k=5 BA 10k m=5", PREFERENTIAL, 5, quick=True),
    Job("break-even k=4 ca-AstroPh", ASTRO, 4),
    Job("break-even k=5 ca-AstroPh", ASTRO, 5),
    Job("break-even k=5 facebook_combined", FACEBOOK, 5),
    Job("break-even k=6 ER 100 p=.2", partial(erdos_renyi, 100, 0.2), 6),
    Job("break-even k=6 BA 1000 m=4", partial(barabasi_albert, 1000, 4), 6),
)


def sampled(graph: GraphSet, k: int, samples: int, threads: int, seed: int = 1) -> Counts:
    """`anysize.count` by samples."""
    return count(graph, k, engine="sample", samples=samples, seed=seed, threads=threads)


def rates(jobs: list[Job], threads: int, quick: bool) -> Iterator[Record]:
    """Samples per second of whole calls, and of the prototype with its preparations made beforehand."""
    samples = QUICK_SAMPLES if quick else SAMPLES
    for job in jobs:
        try:
            graph = job.graph()
        except MissingData:
            continue
        table = sampled(graph, job.k, samples, threads)
        calls: dict[str, Callable[[], Any]] = {"seconds": lambda g=graph, k=job.k: sampled(g, k, samples, threads)}
        calls["all"] = lambda g=graph, k=job.k: count(g, k, engine="sample", samples=samples, seed=1)
        if prototypes.available():
            call, answer = prototypes.sampler(graph, job.k, samples)
            _agree(table, *answer(call()))
            calls["prototype"] = call
        best = race(calls, QUICK_BUDGET if quick else BUDGET)
        yield {
            "row": job.name,
            "samples": samples,
            "aim": TARGET_RATE.get(job.k),
            **{n: samples / s for n, s in best.items()},
        }


def _agree(table: Counts, copies: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """Stop unless two independent estimates lie within six of their standard errors."""
    own, error = table.matrix.toarray()[0], table.standard_errors.toarray()[0]
    sure = (table.hits.toarray()[0] >= 50) & (error > 0)
    apart = np.abs(own - copies)[sure] / np.hypot(error, errors)[sure]
    if apart.max(initial=0) > 6:
        raise WrongAnswer(f"the prototype's sampler is {apart.max():.1f} standard errors away")


def break_even(jobs: list[Job], threads: int, quick: bool) -> Iterator[Record]:
    """For each graph: error and time of more and more samples; time of the exact engines; where they meet."""
    for job in jobs:
        try:
            graph = job.graph()
        except MissingData:
            continue
        sampled(graph, job.k, 1000, threads)
        steps = []
        for samples in STEPS[:3] if quick else STEPS:
            began = perf_counter()
            table = sampled(graph, job.k, samples, threads)
            steps.append({"samples": samples, "seconds": perf_counter() - began, "error": worst_error(table)})
        exact = dict(_exact(graph, job.k, threads, QUICK_MAX_EXACT_S if quick else MAX_EXACT_S))
        fastest = min(exact, key=lambda name: exact[name]["seconds"])
        yield {"row": job.name, "steps": steps, "exact": exact, "fastest": fastest,
               "meet": meeting(steps, exact[fastest]["seconds"])}  # fmt: skip


def _exact(graph: GraphSet, k: int, threads: int, max_seconds: float) -> Iterator[tuple[str, Record]]:
    """Times of the exact engines: measured, or estimated where that would take too long."""
    features = Features(graph)
    features.estimate_sets(k)
    for engine in ENGINES.values():
        can = k in engine.sizes and engine.fits(features, k).all() and not engine.typed
        expected = float(engine.seconds(features, k).sum()) if can else np.inf
        if not np.isfinite(expected) or engine.name == "brute":
            continue
        if expected > max_seconds:
            yield engine.name, {"seconds": expected, "measured": False}
            continue
        ours(graph, k, engine.name, threads)
        began = perf_counter()
        ours(graph, k, engine.name, threads)
        yield engine.name, {"seconds": perf_counter() - began, "measured": True}


def worst_error(table: Counts) -> float:
    """The largest relative standard error of the patterns that are not rare."""
    copies, error = table.matrix.toarray()[0], table.standard_errors.toarray()[0]
    common = copies >= MIN_SHARE * copies.sum()
    return float((error[common] / copies[common]).max())


def meeting(steps: list[Record], seconds: float) -> float:
    """The error that samples reach in these seconds: time = fixed cost + rate * samples, error = c / sqrt(samples).

    >>> steps = [{"samples": 10**4, "seconds": 0.11, "error": 0.1}, {"samples": 10**6, "seconds": 1.1, "error": 0.01}]
    >>> round(meeting(steps, 0.5), 4), meeting(steps, 0.05)
    (0.0158, inf)
    """
    low, high = steps[0], steps[-1]
    each = (high["seconds"] - low["seconds"]) / (high["samples"] - low["samples"])
    fixed = high["seconds"] - each * high["samples"]
    if seconds <= fixed:
        return float("inf")
    return float(high["error"] * np.sqrt(high["samples"] / ((seconds - fixed) / each)))
