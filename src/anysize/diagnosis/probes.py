"""Logistic regressions on numbers of a graph, compared on held-out folds of the training graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anysize.counting.counts import Counts
from anysize.diagnosis.densities import Kind

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Measure = Literal["log loss", "right"]

FOLDS, STRENGTHS = 5, (0.01, 0.1, 1.0)
MOST_PATTERNS = 50  # colored ones of each size
SURE = 2.0  # standard errors


@dataclass(frozen=True)
class Probe:
    """A logistic regression on some numbers of a graph: mean log loss and accuracy on held-out folds."""

    name: str
    numbers: int
    log_loss: float
    accuracy: float


@dataclass(frozen=True)
class Comparison:
    """How much better ``better`` does than ``worse`` on the same held-out graphs, with its standard error.

    ``measure``: by how much its log loss per graph is lower, or the share of graphs it has right is higher.
    """

    worse: str
    better: str
    gain: float
    standard_error: float
    measure: Measure = "log loss"

    @property
    def sure(self) -> bool:
        """Whether the gain is more than chance would easily bring about."""
        return self.gain > SURE * self.standard_error

    @property
    def most(self) -> float:
        """The gain that is not excluded."""
        return self.gain + SURE * self.standard_error


def features(plain: Counts, colored: Counts | None, kind: Kind, rows: IntArray) -> dict[str, FloatArray]:
    """The numbers that each probe looks at.

    In sparse graphs shares are counts per vertex, which in trees, say, give away the size (1 - 1/N edges per vertex);
    "connected shares" are what the methods on densities are given there.
    """
    tables = [plain[rows]]
    if colored is not None:
        largest = int(colored.columns.size.max(initial=1))
        sizes_used = dict.fromkeys((1, largest))
        tables += [colored[rows].select(colored.columns.size == k).top(MOST_PATTERNS) for k in sizes_used]
    sizes = plain.sizes[rows].astype(np.float64)[:, None]
    counts = np.hstack([table.matrix.toarray().astype(np.float64) for table in tables])
    over = [table.matrix.toarray() / sizes if kind == "sparse" else table.densities().toarray() for table in tables]
    shares, log_size = np.hstack(over), np.log(sizes)
    made = {"chance": np.zeros((len(rows), 0)), "size": log_size, "shares": shares,
            "shares and size": np.hstack([shares, log_size]), "counts": counts}  # fmt: skip
    if kind == "sparse":
        larger = [table.select(table.columns.size >= 3) for table in tables[:1]] + tables[1:]  # a pair is an edge
        made["connected shares"] = np.hstack([table.densities(over="connected").toarray() for table in larger])
    return made if colored is None else made | {"shape": over[0]}


def probe(
    numbers: dict[str, FloatArray], codes: IntArray, seed: int
) -> tuple[dict[str, FloatArray], dict[str, BoolArray], tuple[Probe, ...]]:
    """Log loss of every graph under every probe, whether it was classified right, and summaries."""
    from sklearn.model_selection import StratifiedKFold
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(codes, codes))
    losses, right, probes = {}, {}, []
    with threadpool_limits(1, user_api="blas"):  # the products are small: threads would only wait for each other
        for name, those in numbers.items():
            losses[name], right[name] = _held_out(those, codes, folds)
            means = float(losses[name].mean()), float(right[name].mean())
            probes.append(Probe(name, those.shape[1], *means))
    return losses, right, tuple(probes)


def _held_out(
    numbers: FloatArray, codes: IntArray, folds: list[tuple[IntArray, IntArray]]
) -> tuple[FloatArray, BoolArray]:
    """Log loss of every graph when its fold is held out, and hits, for the best of a few strengths of the ridge."""
    from sklearn.linear_model import LogisticRegression

    chances = np.empty((len(STRENGTHS), len(codes), codes.max() + 1))
    for fit, held in folds:
        if not numbers.shape[1]:
            chances[:, held] = np.bincount(codes[fit]) / len(fit)
            continue
        mean, spread = numbers[fit].mean(axis=0), numbers[fit].std(axis=0)
        scaled = (numbers - mean) / np.where(spread > 1e-12 * np.abs(mean), spread, np.inf)
        for place, strength in enumerate(STRENGTHS):
            model = LogisticRegression(C=500 * strength / len(fit), max_iter=1000).fit(scaled[fit], codes[fit])
            chances[place, held] = model.predict_proba(scaled[held])
    loss = -np.log(np.maximum(chances[:, np.arange(len(codes)), codes], 1e-12))
    best = int(loss.mean(axis=1).argmin())
    return loss[best], np.asarray(chances[best].argmax(axis=1) == codes)


def compare(losses: dict[str, FloatArray], worse: str, better: str) -> Comparison:
    """Losses graph by graph; the error takes graphs for independent, which folds make nearly true."""
    return _paired(worse, better, losses[worse] - losses[better], "log loss")


def compare_hits(right: dict[str, BoolArray], worse: str, better: str) -> Comparison:
    """Hits and misses graph by graph, likewise; where both have the same right, one graph may yet fall the other way.

    >>> one, two = np.array([True, True, True, False]), np.array([True, False, True, False])
    >>> compare_hits({"one": one, "two": two}, "two", "one")
    Comparison(worse='two', better='one', gain=0.25, standard_error=0.25, measure='right')
    """
    found = _paired(worse, better, right[better].astype(np.float64) - right[worse], "right")
    return replace(found, standard_error=max(found.standard_error, 1 / len(right[worse])))


def _paired(worse: str, better: str, gain: FloatArray, measure: Measure) -> Comparison:
    return Comparison(worse, better, float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain))), measure)
