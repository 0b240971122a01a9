"""The graphs of a task, where they can be made here, and how they shift from training to test."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from anysize._typing import FloatArray
from anysize.counting.counts import Counts, Over
from anysize.experiments.report.page import card, cards, grid, missing, paragraph, text
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import Pattern
from anysize.plots.distributions import color_distribution, size_distribution
from anysize.plots.drift import density_drift
from anysize.plots.patterns import color_places, pattern_svg
from anysize.tasks.catalog import TASKS, register_from_environment
from anysize.tasks.describe import shift
from anysize.tasks.task import DataDir, Splits, Task, labels

if TYPE_CHECKING:
    from anysize.experiments.report.selected_rows import TaskRecords

K = 4  # patterns of the drift: small enough to be drawn and read
MOST_GRAPHS = 300  # of a set are counted: large sets are sampled
SHOWN = 6  # patterns in the table of the drift
DOTS = 400  # patterns in its figure: proteins have hundreds of thousands


@dataclass(frozen=True, eq=False)
class TaskGraphs:
    """A task with the graphs of one data set."""

    task: Task
    splits: Splits

    @property
    def colored(self) -> bool:
        return self.splits.train.colors is not None


def graphs_of(own: TaskRecords, data_dir: DataDir = None) -> TaskGraphs | str:
    """The graphs of a task, or a sentence that says why they are not there."""
    if own.task not in TASKS:
        register_from_environment()
    if own.task not in TASKS:
        return f"{own.task} is no task of this package, so that its graphs cannot be made again here."
    task = TASKS[own.task]
    try:
        data = "published" if own.data == "published" else int(own.data.removeprefix("seed:"))
        return TaskGraphs(task, task.splits(data, data_dir=data_dir))  # type: ignore[arg-type]
    except (ValueError, OSError) as error:
        return f"The graphs of {own.task} are not at hand: {error}"


# ---- sizes and colors -----------------------------------------------------------------------------


def distributions(graphs: TaskGraphs, name: str) -> str:
    """Sizes and colors of the sets."""
    sets = graphs.splits.sets
    made = [card(size_distribution({key: one.sizes for key, one in sets.items()}), f"{name}-sizes", "Sizes of graphs")]
    if graphs.colored:
        shares = {key: color_shares(one) for key, one in sets.items()}
        made.append(card(color_distribution(shares), f"{name}-colors", "Colors of vertices"))
    return paragraph(shift(graphs.splits)) + cards(made)


def color_shares(graphs: GraphSet) -> dict[str, float]:
    """The share of each color among all vertices, by its name."""
    codes = np.asarray(graphs.colors)
    shares = np.bincount(codes, minlength=len(graphs.palette)) / max(len(codes), 1)
    return {str(color): float(share) for color, share in zip(graphs.palette, shares, strict=True)}


# ---- drift of densities ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Drift:
    """A pattern and its mean densities; ``error`` is the standard error of their difference."""

    pattern: Pattern
    train: float
    test: float
    error: float

    @property
    def difference(self) -> float:
        return self.test - self.train


def drifts(train: Counts, y_train: Any, test: Counts, y_test: Any, over: Over = "subsets") -> list[Drift]:
    """How far the mean density of every pattern moves, the largest differences first.

    Means are taken within each class that both sets have, then over classes, so that other shares of classes do not
    look like drift. The standard error takes graphs as independent.
    """
    both = Counts.concatenate([train, test])
    densities = both.densities(over)
    first, second = np.asarray(y_train), np.asarray(y_test)
    shared = sorted(set(first.tolist()) & set(second.tolist()))
    if not shared:
        raise ValueError("no class occurs in both sets")
    means, errors = [], np.zeros(len(both.columns))
    for start, y in ((0, first), (len(first), second)):
        rows = csr_array(densities[start : start + len(y)])
        own = np.stack([y == code for code in shared]) / np.array([(y == code).sum() for code in shared])[:, None]
        mean, squares = _product(own, rows), _product(own, csr_array(rows.multiply(rows)))
        graphs = np.array([max(int((y == code).sum()), 1) for code in shared])[:, None]
        errors += (np.maximum(squares - mean**2, 0) / graphs).sum(axis=0)
        means.append(mean.mean(axis=0))
    errors = np.sqrt(errors) / len(shared)
    order = np.argsort(-np.abs(means[1] - means[0]), kind="stable")
    return [Drift(both.patterns[at], float(means[0][at]), float(means[1][at]), float(errors[at])) for at in order]


def _product(weights: FloatArray, rows: csr_array[np.float64]) -> FloatArray:
    return np.asarray(rows.T @ weights.T).T


def drift_part(graphs: TaskGraphs, name: str) -> str:
    """Figure and table of the drift, with colors and without."""
    from anysize.counting.api import count  # numba is loaded here

    over: Over = "connected" if graphs.task.family == "tu" else "subsets"
    sets = [_some(graphs.splits.train), _some(graphs.splits.test)]
    found: dict[str, list[Drift]] = {}
    try:
        for kind, colored in (("colors told apart", True), ("colors ignored", False)):
            if colored <= graphs.colored:
                train, test = (count(one, K, colored) for one in sets)
                found[kind if graphs.colored else "patterns"] = drifts(
                    train, labels(sets[0]), test, labels(sets[1]), over
                )
    except (ValueError, OverflowError, MemoryError) as error:
        return missing(f"The drift of densities is not shown: {error}")
    if not any(drift.train or drift.test for own in found.values() for drift in own):
        return missing(f"No graph has a connected pattern of {K} vertices.")
    share = f"all sets of {K} vertices" if over == "subsets" else f"the connected sets of {K} vertices"
    told = (
        f"Density: the share of {share} that induce the pattern; means within classes, then over classes. On the "
        "dashed line a density stays as it was in training."
    )
    values = {kind: _dots(own) for kind, own in found.items()}
    if any(len(own) > DOTS for own in found.values()):
        told += f" Shown are the {DOTS} most common patterns."
    figure = card(density_drift(values), f"{name}-drift", f"Densities of patterns on {K} vertices", told)
    tables = "".join(
        (paragraph(f"Largest differences, {kind}:", "small") if len(found) > 1 else "") + _table(own, graphs)
        for kind, own in found.items()
    )
    return f'<div class="cards">\n{figure}<div>{tables}</div></div>\n'


def _dots(found: list[Drift]) -> tuple[list[float], list[float]]:
    """Mean densities of the most common patterns, in training and test graphs."""
    shown = sorted(found, key=lambda drift: -max(drift.train, drift.test))[:DOTS]
    return [drift.train for drift in shown], [drift.test for drift in shown]


def _table(found: list[Drift], graphs: TaskGraphs) -> str:
    places = color_places(graphs.splits.train.palette + graphs.splits.test.palette) if graphs.colored else None
    shown = [drift for drift in found if drift.train or drift.test][: SHOWN if len(found) > SHOWN else None]
    # a bar of full length is beyond doubt: differences that may be chance have short ones
    largest = max((max(abs(drift.difference), 4 * drift.error) for drift in shown), default=0.0) or 1.0
    rows = [
        (
            f"{pattern_svg(drift.pattern, places)}<small>{text(drift.pattern.plain_name)}</small>",
            _short(drift.train),
            _short(drift.test),
            _with_error(drift.difference, drift.error),
            _bar(drift.difference / largest),
        )
        for drift in shown
    ]
    return grid(("pattern", "training", "test", "difference", ""), rows)


def _short(density: float) -> str:
    return f"{density:.3g}" if density >= 1e-4 or not density else f"{density:.0e}"


def _with_error(value: float, error: float) -> str:
    """A number and its error, to two digits of the error.

    >>> _with_error(-0.00087, 0.00123), _with_error(0.5, 0.0)
    ('-0.0009 ± 0.0012', '+0.5 ± 0')
    """
    if not error:
        return f"{value:+.2g} ± 0"
    digits = min(max(1 - floor(log10(error)), 0), 8)
    return f"{value:+.{digits}f} ± {error:.{digits}f}"


def _bar(share: float) -> str:
    """From the middle to the right for more, to the left for less."""
    width = abs(share) * 50
    start = 50.0 if share >= 0 else 50 - width
    kind = "" if share >= 0 else ' class="down"'
    return f'<span class="bar"><i{kind} style="left: {start:.1f}%; width: {width:.1f}%"></i></span>'


def _some(graphs: GraphSet) -> GraphSet:
    """At most so many graphs, drawn once and for all."""
    if len(graphs) <= MOST_GRAPHS:
        return graphs
    return graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:MOST_GRAPHS])]
