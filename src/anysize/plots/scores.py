"""Figures of scores: methods beside the published numbers, scores against graph size, training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from anysize._typing import FloatArray, IntArray
from anysize.plots.theme import (
    INK,
    LINE,
    MUTED,
    PAPER,
    SERIES,
    caption,
    decimal_ticks,
    drawing,
    new_figure,
    quiet_grid,
)

MARKERS = "osD^vP*X"
MIN_LOSS_SHOWN = 1e-4  # below, a logarithmic axis would show rounding errors


class ScoreRow(NamedTuple):
    """The scores of one method: our mean and standard deviation, and the published ones where they exist."""

    label: str
    mean: float | None
    std: float | None = None
    published: float | None = None
    published_std: float | None = None
    is_baseline: bool = False


def ours_and_published(rows: Sequence[ScoreRow], metric: str = "accuracy") -> Figure:
    """One row per method: a dot for our mean, a ring for the published one, bars of one standard deviation."""
    if not rows:
        raise ValueError("ours_and_published needs at least one row; got none")
    with drawing():
        figure = new_figure(0.9 + 0.25 * len(rows))
        axes = figure.subplots()
        ring: dict[str, Any] = {"markersize": 5.5, "markerfacecolor": PAPER, "markeredgecolor": INK, "mew": 1.1}
        for height, row in enumerate(rows):
            if row.published is not None:
                below, deviation = height + 0.16, row.published_std or 0.0
                axes.plot([row.published - deviation, row.published + deviation], [below] * 2, color=MUTED, lw=1)
                axes.plot(row.published, below, "o", **ring)
            if row.mean is not None:
                deviation = row.std or 0.0
                axes.plot([row.mean - deviation, row.mean + deviation], [height - 0.16] * 2, color=SERIES[0], lw=1.6)
                axes.plot(row.mean, height - 0.16, "o", markersize=6, color=SERIES[0])
        _frame_rows(axes, rows, [value for row in rows for value in (row.mean, row.published)], metric)
        handles = [
            Line2D([], [], marker="o", color=SERIES[0], markersize=6, label="ours"),
            Line2D([], [], marker="o", color=MUTED, markerfacecolor=PAPER, markeredgecolor=INK, label="published"),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
        return figure


def _frame_rows(
    axes: Axes, rows: Sequence[ScoreRow | MethodScores], values: Sequence[float | None], metric: str
) -> None:
    """Label rows of scores; the axis goes from 0, or lower for a negative MCC, to a little over 1."""
    for height, row in enumerate(rows):
        if row.is_baseline:
            axes.axhspan(height - 0.5, height + 0.5, color=LINE, alpha=0.35, linewidth=0)
    axes.set_yticks(range(len(rows)), [caption(row.label, 22) for row in rows], color=INK)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    lowest = min((value for value in values if value is not None), default=0.0)
    axes.set_xlim(min(-0.03, np.floor(lowest * 10) / 10 - 0.05) if metric != "accuracy" else -0.03, 1.04)
    axes.set_xlabel(f"test {metric}")
    axes.spines["left"].set_visible(False)
    quiet_grid(axes, "x")


class MethodScores(NamedTuple):
    """The scores of one method: mean, interval where known, and one score for each seed."""

    label: str
    mean: float
    low: float | None = None
    high: float | None = None
    scores: Sequence[float] = ()
    best: bool = False
    is_baseline: bool = False


def method_scores(rows: Sequence[MethodScores], metric: str = "accuracy") -> Figure:
    """One row per method: a dot for its mean, a bar for the interval, a tick for every seed; checks are shaded."""
    if not rows:
        raise ValueError("method_scores needs at least one row; got none")
    with drawing():
        figure = new_figure(0.8 + 0.25 * len(rows))
        axes = figure.subplots()
        for height, row in enumerate(rows):
            color = SERIES[1] if row.best else SERIES[0]
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [height] * 2, color=color, lw=1.6)
            axes.plot(row.scores, [height + 0.28] * len(row.scores), "|", color=MUTED, markersize=5, mew=1)
            axes.plot(row.mean, height, "o", markersize=6, color=color)
        _frame_rows(axes, rows, [value for row in rows for value in (row.mean, row.low, *row.scores)], metric)
        return figure


def critical_differences(ranks: Mapping[str, float], critical: float) -> Figure:
    """Methods by mean rank, best first; bars on the right join those whose ranks differ by less than ``critical``."""
    if len(ranks) < 2:
        raise ValueError(f"critical_differences needs at least two methods; got {len(ranks)}")
    names = sorted(ranks, key=lambda name: ranks[name])
    values = np.array([ranks[name] for name in names])
    with drawing():
        figure = new_figure(0.9 + 0.22 * len(names))
        groups = joined(values, critical)
        axes, bars = figure.subplots(1, 2, sharey=True, width_ratios=[1, 0.04 + 0.03 * len(groups)])
        axes.plot(values, range(len(names)), "o", markersize=6, color=SERIES[0])
        axes.plot([values[0], values[0] + critical], [-1] * 2, "|-", color=MUTED, lw=1.2, markersize=7)
        axes.annotate(
            f"critical difference {critical:.1f}", (values[0] + critical / 2, -1.25), ha="center", color=MUTED, size=8
        )
        axes.set_yticks(range(len(names)), [caption(name, 22) for name in names], color=INK)
        axes.set_ylim(len(names) - 0.5, -2)
        axes.set_xlabel("mean rank over families, 1 is best")
        axes.spines["left"].set_visible(False)
        quiet_grid(axes, "x")
        for column, (first, last) in enumerate(groups):
            bars.plot([column] * 2, [first - 0.2, last + 0.2], color=INK, lw=3, solid_capstyle="butt")
        bars.set_xlim(-0.7, max(len(groups), 1) - 0.3)
        bars.set_axis_off()
        return figure


def joined(values: FloatArray, critical: float) -> list[tuple[int, int]]:
    """The first and last position of the longest stretches of ascending values that span less than ``critical``.

    >>> joined(np.array([1.0, 1.5, 2.5, 4.0]), 1.6)
    [(0, 2), (2, 3)]
    """
    groups: list[tuple[int, int]] = []
    for first, value in enumerate(values):
        last = int(np.searchsorted(values, value + critical) - 1)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


class SizePoint(NamedTuple):
    """The score on graphs of about this size, with an interval where known; ``train`` marks training graphs."""

    size: float
    score: float
    low: float | None = None
    high: float | None = None
    train: bool = False


def score_by_size(lines: Mapping[str, Sequence[SizePoint]], metric: str = "accuracy") -> Figure:
    """Scores of methods against graph size; hollow markers are training graphs."""
    sizes = [point.size for points in lines.values() for point in points]
    if not sizes:
        raise ValueError("score_by_size needs at least one point; got none")
    with drawing():
        figure = new_figure(2.6 + 0.2 * ((len(lines) + 1) // 2))
        axes = figure.subplots()
        for series, (label, points) in enumerate(lines.items()):
            color, marker = SERIES[series % len(SERIES)], MARKERS[series % len(MARKERS)]
            in_order = sorted(points)
            over = len(lines) - 1 - series  # lines drawn over this one later: draw it wider, so that it stays visible
            axes.plot([p.size for p in in_order], [p.score for p in in_order], color=color, linewidth=1.3 + 0.5 * over)
            for point in in_order:
                if point.low is not None and point.high is not None:
                    axes.plot([point.size] * 2, [point.low, point.high], color=color, linewidth=1, alpha=0.6)
                face = PAPER if point.train else color
                axes.plot(point.size, point.score, marker, color=color, markerfacecolor=face, markersize=5 + 0.6 * over)
            axes.plot([], [], marker=marker, color=color, markersize=5.5, label=caption(label, 24))
        if max(sizes) > 4 * min(sizes) > 0:
            axes.set_xscale("log")
            decimal_ticks(axes, "x")
        ticks = sorted({round(size) for size in sizes})
        if len(ticks) <= 7:
            axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
            axes.set_xticks([], minor=True)
        axes.set_xlabel("vertices of a graph")
        axes.set_ylabel(metric)
        if metric == "accuracy":
            axes.set_ylim(-0.03, 1.05)
        quiet_grid(axes)
        figure.legend(loc="outside lower center", ncols=2)
        return figure


class Curve(NamedTuple):
    """The training curve of one run: loss and score at each epoch, None where unknown; an unknown curve is empty."""

    epochs: Sequence[int]
    train_loss: Sequence[float | None]
    validation_score: Sequence[float | None]


def training_curves(runs: Mapping[str, Sequence[Curve]], metric: str = "accuracy") -> Figure:
    """Training loss above, validation score below: a thin line per run, a thick one for the mean of each row."""
    if not any(runs.values()):
        raise ValueError("training_curves needs at least one run; got none")
    with drawing():
        figure = new_figure(3.6 + 0.2 * ((len(runs) + 1) // 2))
        above, below = figure.subplots(2, 1, sharex=True)
        for series, (label, curves) in enumerate(runs.items()):
            color = SERIES[series % len(SERIES)]
            _lines(above, [(c.epochs, _numbers(c.train_loss, MIN_LOSS_SHOWN)) for c in curves if c.train_loss], color)
            _lines(below, [(c.epochs, _numbers(c.validation_score)) for c in curves if c.validation_score], color)
            above.plot([], [], color=color, label=caption(label, 24))
        above.set_yscale("log")
        decimal_ticks(above, "y")
        above.set_ylabel("training loss")
        below.set_ylabel(f"validation {metric}")
        below.set_xlabel("epoch")
        for axes in (above, below):
            quiet_grid(axes)
        figure.legend(loc="outside lower center", ncols=2)
        return figure


def _lines(axes: Axes, curves: Sequence[tuple[Sequence[int], FloatArray]], color: str) -> None:
    known = [(np.asarray(epochs), values) for epochs, values in curves if np.isfinite(values).any()]
    for epochs, values in known:
        axes.plot(epochs, values, color=color, alpha=0.25, linewidth=0.7)
    if known:
        axes.plot(*mean_curve(known), color=color)


def mean_curve(curves: Sequence[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    """The mean of curves over the epochs that all of them cover, with linear interpolation.

    >>> first, second = (np.array([1, 3]), np.array([0.0, 2.0])), (np.array([1, 2]), np.array([1.0, 2.0]))
    >>> epochs, values = mean_curve([first, second])
    >>> epochs.tolist(), values.tolist()
    ([1, 2], [0.5, 1.5])
    """
    known = [(epochs[np.isfinite(values)], values[np.isfinite(values)]) for epochs, values in curves]
    first, last = max(int(epochs[0]) for epochs, _ in known), min(int(epochs[-1]) for epochs, _ in known)
    shared = np.unique(np.concatenate([epochs for epochs, _ in known]))
    shared = shared[(shared >= first) & (shared <= last)]
    means = [np.interp(shared, epochs, values) for epochs, values in known]
    return shared, np.asarray(np.mean(means, axis=0))


def _numbers(values: Sequence[float | None], lowest: float | None = None) -> FloatArray:
    array = np.array([np.nan if value is None else value for value in values], np.float64)
    return array if lowest is None else np.maximum(array, lowest)
