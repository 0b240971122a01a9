"""The parts of the report that show the graphs of a task: sizes, colors, drift of densities."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from anysize._html import bar, card, cards, html_table, missing, paragraph, text
from anysize._typing import FloatArray, PathLike
from anysize.counting.counts import Counts, Over
from anysize.evaluation.describe import shift
from anysize.evaluation.tasks import Splits, Task
from anysize.graphs.graphset import GraphSet
from anysize.paper.tasks import TASKS
from anysize.patterns.pattern import Pattern
from anysize.plots.graph_sets import color_distribution, density_drift, size_distribution
from anysize.plots.patterns import color_places, pattern_svg
from anysize.plots.theme import to_svg

PATTERN_SIZE = 4  # small enough to be drawn and read
MAX_GRAPHS_COUNTED = 300  # larger sets are sampled
MAX_PATTERNS_LISTED = 6
MAX_PATTERNS_DRAWN = 400  # protein data sets have hundreds of thousands


@dataclass(frozen=True, eq=False)
class TaskGraphs:
    """A task with the graphs of one data set."""

    task: Task
    splits: Splits

    @property
    def colored(self) -> bool:
        """Whether vertices have colors."""
        return self.splits.train.colors is not None


def load_graphs(name: str, data: str, data_dir: PathLike | None = None) -> TaskGraphs | str:
    """The graphs of a task on one data set (`published` or `seed:7`), or the reason why they are not available."""
    if name not in TASKS:
        return f"{name} is not a task of this package, so its graphs cannot be loaded."
    task = TASKS[name]
    try:
        return TaskGraphs(task, task.splits("published" if data == "published" else int(data[5:]), None, data_dir))
    except (ValueError, OSError) as error:
        return f"The graphs of {name} are not available: {error}"


# ---- sizes and colors ------------------------------------------------------------------------------


def distributions(graphs: TaskGraphs, name: str) -> str:
    """Sizes and colors of the training, validation and test graphs."""
    sets = graphs.splits.sets
    sizes = size_distribution({split: split_graphs.sizes for split, split_graphs in sets.items()})
    figures = [card(to_svg(sizes, f"{name}-sizes", "Graph sizes"), "Graph sizes")]
    if graphs.colored:
        colors = color_distribution({split: color_shares(split_graphs) for split, split_graphs in sets.items()})
        figures.append(card(to_svg(colors, f"{name}-colors", "Vertex colors"), "Vertex colors"))
    return paragraph(shift(graphs.splits)) + cards(figures)


def color_shares(graphs: GraphSet) -> dict[str, float]:
    """The share of each color among all vertices, by its name."""
    codes = np.asarray(graphs.colors)
    shares = np.bincount(codes, minlength=len(graphs.palette)) / max(len(codes), 1)
    return {str(color): float(share) for color, share in zip(graphs.palette, shares, strict=True)}


# ---- drift of densities ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Drift:
    """The mean densities of a pattern; ``error`` is the standard error of their difference."""

    pattern: Pattern
    train: float
    test: float
    error: float

    @property
    def difference(self) -> float:
        """Test minus training."""
        return self.test - self.train


def drifts(train: Counts, y_train: Any, test: Counts, y_test: Any, over: Over = "subsets") -> list[Drift]:
    """How far the mean density of every pattern moves, the largest differences first.

    Means are taken within each class that both sets have, then over classes, so that a change of the class shares is
    not mistaken for drift. The standard error assumes independent graphs.
    """
    both = Counts.concatenate([train, test])
    densities = both.densities(over)
    first, second = np.asarray(y_train), np.asarray(y_test)
    shared = sorted(set(first.tolist()) & set(second.tolist()))
    if not shared:
        raise ValueError("no class occurs in both sets")
    means, variance = [], np.zeros(len(both.columns))
    for start, y in ((0, first), (len(first), second)):
        rows = csr_array(densities[start : start + len(y)])
        graphs = np.array([(y == code).sum() for code in shared])[:, None]
        weights = np.stack([y == code for code in shared]) / graphs
        mean, squares = _weighted(weights, rows), _weighted(weights, csr_array(rows.multiply(rows)))
        variance += (np.maximum(squares - mean**2, 0) / graphs).sum(axis=0)
        means.append(mean.mean(axis=0))
    errors = np.sqrt(variance) / len(shared)
    order = np.argsort(-np.abs(means[1] - means[0]), kind="stable")
    return [Drift(both.patterns[at], float(means[0][at]), float(means[1][at]), float(errors[at])) for at in order]


def _weighted(weights: FloatArray, rows: csr_array[np.float64]) -> FloatArray:
    return np.asarray(rows.T @ weights.T).T


def drift_section(graphs: TaskGraphs, name: str) -> str:
    """Figure and table of the drift, with colors and without."""
    from anysize.counting.api import count  # loads numba

    over: Over = "connected" if graphs.task.vanishing else "subsets"
    sets = [_sampled(graphs.splits.train), _sampled(graphs.splits.test)]
    kinds = {"with colors": True, "without colors": False} if graphs.colored else {"patterns": False}
    by_kind: dict[str, list[Drift]] = {}
    try:
        for kind, colored in kinds.items():
            train, test = (count(graph_set, PATTERN_SIZE, colored) for graph_set in sets)
            by_kind[kind] = drifts(train, sets[0].y, test, sets[1].y, over)
    except (ValueError, OverflowError, MemoryError) as error:
        return missing(f"The drift of densities is not shown: {error}")
    if not any(drift.train or drift.test for patterns in by_kind.values() for drift in patterns):
        return missing(f"No graph has a connected pattern of {PATTERN_SIZE} vertices.")
    sets_counted = "all" if over == "subsets" else "the connected"
    caption = (
        f"Density: the share of {sets_counted} sets of {PATTERN_SIZE} vertices that induce the pattern; means within "
        "classes, then over classes. Patterns on the dashed line keep their density."
    )
    if any(len(patterns) > MAX_PATTERNS_DRAWN for patterns in by_kind.values()):
        caption += f" Only the {MAX_PATTERNS_DRAWN} most common patterns are shown."
    title = f"Densities of patterns on {PATTERN_SIZE} vertices"
    figure = density_drift({kind: _most_common(patterns) for kind, patterns in by_kind.items()})
    tables = "".join(
        (paragraph(f"Largest differences, {kind}:", "small") if len(by_kind) > 1 else "")
        + _drift_table(patterns, graphs)
        for kind, patterns in by_kind.items()
    )
    shown = card(to_svg(figure, f"{name}-drift", title), title, caption)
    return f'<div class="cards">\n{shown}<div>{tables}</div></div>\n'


def _most_common(patterns: list[Drift]) -> tuple[list[float], list[float]]:
    """Mean densities of the most common patterns, in training and test graphs."""
    common = sorted(patterns, key=lambda drift: -max(drift.train, drift.test))[:MAX_PATTERNS_DRAWN]
    return [drift.train for drift in common], [drift.test for drift in common]


def _drift_table(patterns: list[Drift], graphs: TaskGraphs) -> str:
    places = color_places(graphs.splits.train.palette + graphs.splits.test.palette) if graphs.colored else None
    occurring = [drift for drift in patterns if drift.train or drift.test][:MAX_PATTERNS_LISTED]
    # a full bar is significant: differences below four standard errors get shorter ones
    largest = max((max(abs(drift.difference), 4 * drift.error) for drift in occurring), default=0.0) or 1.0
    rows = [
        (
            f"{pattern_svg(drift.pattern, places)}<small>{text(drift.pattern.plain_name)}</small>",
            _density(drift.train),
            _density(drift.test),
            _with_error(drift.difference, drift.error),
            bar(drift.difference / largest),
        )
        for drift in occurring
    ]
    return html_table(("pattern", "training", "test", "difference", ""), rows)


def _density(density: float) -> str:
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


def _sampled(graphs: GraphSet) -> GraphSet:
    """At most `MAX_GRAPHS_COUNTED` graphs, drawn with a fixed seed."""
    if len(graphs) <= MAX_GRAPHS_COUNTED:
        return graphs
    return graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:MAX_GRAPHS_COUNTED])]
