"""Figures of sets of graphs: sizes, colors, densities of patterns, representations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from anysize._typing import FloatArray
from anysize.plots.theme import MUTED, SERIES, caption, decimal_ticks, drawing, new_figure, quiet_grid

MAX_SIZES_AS_BARS = 12  # more distinct sizes are drawn as a histogram
SIZE_BINS = 24
MAX_COLORS = 12
DENSITY_DECADES = 4  # smaller densities are drawn at the edge of the figure
MAX_CLASSES = 8


def size_distribution(sizes: Mapping[str, ArrayLike]) -> Figure:
    """The distribution of graph sizes in each set: shares per size, or a histogram where there are many sizes."""
    known = {name: np.asarray(values) for name, values in sizes.items() if np.size(values)}
    if not known:
        raise ValueError("size_distribution needs at least one graph; got none")
    everything = np.concatenate(list(known.values()))
    distinct = np.unique(everything)
    with drawing():
        figure = new_figure(2.3)
        axes = figure.subplots()
        if len(distinct) <= MAX_SIZES_AS_BARS:
            shares = {name: [float(np.mean(values == size)) for size in distinct] for name, values in known.items()}
            _grouped_bars(axes, shares, [f"{size:g}" for size in distinct])
        else:
            edges = np.linspace(distinct[0] - 0.5, distinct[-1] + 0.5, min(SIZE_BINS, len(distinct)) + 1).tolist()
            for series, (name, values) in enumerate(known.items()):
                weights = np.full(len(values), 1 / len(values))
                color = SERIES[series % len(SERIES)]
                axes.hist(values, edges, weights=weights, histtype="stepfilled", color=color, alpha=0.25)
                axes.hist(values, edges, weights=weights, histtype="step", color=color, linewidth=1.4)
                axes.fill_between([], [], color=color, linewidth=0, label=caption(name))
        axes.set_xlabel("vertices of a graph")
        axes.set_ylabel("share of graphs")
        quiet_grid(axes)
        figure.legend(loc="outside upper left", ncols=len(known))
        return figure


def color_distribution(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    """The share of each vertex color in each set; where there are many colors, the rarest are added up."""
    names = list(dict.fromkeys(name for amounts in shares.values() for name in amounts))
    if not names:
        raise ValueError("color_distribution needs at least one vertex; got none")
    total = {name: sum(amounts.get(name, 0.0) for amounts in shares.values()) for name in names}
    shown = names if len(names) <= MAX_COLORS else sorted(names, key=lambda name: -total[name])[: MAX_COLORS - 1]
    values = {label: [amounts.get(name, 0.0) for name in shown] for label, amounts in shares.items()}
    ticks = [caption(name, 8) for name in shown]
    if len(shown) < len(names):
        ticks.append("others")
        for label, amounts in shares.items():
            values[label].append(sum(amounts.get(name, 0.0) for name in names if name not in shown))
    with drawing():
        figure = new_figure(2.3)
        axes = figure.subplots()
        _grouped_bars(axes, values, ticks)
        axes.set_xlabel("vertex color")
        axes.set_ylabel("share of vertices")
        quiet_grid(axes)
        figure.legend(loc="outside upper left", ncols=len(shares))
        return figure


def _grouped_bars(axes: Axes, values: Mapping[str, Sequence[float]], ticks: Sequence[str]) -> None:
    """Draw bars side by side, one for each set."""
    width = 0.8 / len(values)
    for series, (label, heights) in enumerate(values.items()):
        at = np.arange(len(ticks)) + (series - (len(values) - 1) / 2) * width
        axes.bar(at, heights, width * 0.9, color=SERIES[series % len(SERIES)], label=caption(label))
    axes.set_xticks(np.arange(len(ticks)), ticks)


def density_drift(densities: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Mean density in training graphs against mean density in test graphs, one dot per pattern.

    Patterns on the diagonal keep their density. Both axes are logarithmic; densities below their range are drawn at
    the lower end.

    Args:
        densities: for each kind of pattern the means over training graphs and over test graphs, (patterns,) each.
    """
    known = {name: (np.asarray(a, np.float64), np.asarray(b, np.float64)) for name, (a, b) in densities.items()}
    largest = max((max(a.max(initial=0), b.max(initial=0)) for a, b in known.values()), default=0.0)
    if not largest:
        raise ValueError("density_drift needs at least one pattern with a density above 0; got none")
    top = 10 ** np.ceil(np.log10(largest))
    bottom = top * 10.0**-DENSITY_DECADES
    with drawing():
        figure = new_figure(3.7)
        axes = figure.subplots()
        axes.plot([bottom, top], [bottom, top], color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
        for series, (name, (train, test)) in enumerate(known.items()):
            axes.scatter(
                np.maximum(train, bottom), np.maximum(test, bottom), 26, color=SERIES[series % len(SERIES)], alpha=0.7,
                linewidths=0, label=caption(name), clip_on=False, zorder=3,
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlim=(bottom, top), ylim=(bottom, top), aspect="equal")
        axes.set_xlabel("mean density, training")
        axes.set_ylabel("mean density, test")
        for axis in ("x", "y"):
            decimal_ticks(axes, axis)
        quiet_grid(axes, "both")
        if len(known) > 1:
            figure.legend(loc="outside upper left", ncols=2)
        return figure


def principal_plane(rows: ArrayLike) -> tuple[FloatArray, float]:
    """Project rows onto their first two principal axes; returns the projection and the share of variance it keeps.

    Rows are centered. The sign of each axis is chosen such that its largest entry is positive.
    Shapes: (rows, features); returns (rows, 2).

    >>> plane, share = principal_plane([[0.0, 0, 1], [2.0, 0, 1], [4.0, 0, 1]])
    >>> plane[:, 0].tolist(), round(share, 6)
    ([-2.0, 0.0, 2.0], 1.0)
    """
    values = np.asarray(rows, np.float64)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"principal_plane takes a non-empty matrix of finite numbers; got shape {values.shape}")
    centered = values - values.mean(axis=0)
    _, deviations, axes = np.linalg.svd(centered, full_matrices=False)
    axes = axes[:2] * np.sign(axes[:2][np.arange(len(axes[:2])), np.abs(axes[:2]).argmax(axis=1)])[:, None]
    plane = np.zeros((len(values), 2))
    plane[:, : len(axes)] = centered @ axes.T
    total = float((deviations**2).sum())
    return plane, float((deviations[:2] ** 2).sum()) / total if total else 1.0


def embedding(
    train: ArrayLike, test: ArrayLike, y_train: ArrayLike, y_test: ArrayLike, classes: Sequence[str]
) -> Figure:
    """Training graphs (rings) and test graphs (dots), colored by class, on their common principal axes.

    Shapes: representations (graphs, width), class numbers (graphs,).
    """
    first, second = np.asarray(train, np.float64), np.asarray(test, np.float64)
    plane, share = principal_plane(np.concatenate([first, second]))
    sets = (plane[: len(first)], np.asarray(y_train)), (plane[len(first) :], np.asarray(y_test))
    with drawing():
        figure = new_figure(3.4)
        axes = figure.subplots()
        for code in range(min(len(classes), MAX_CLASSES)):
            color = SERIES[code % len(SERIES)]
            for filled, (points, y) in enumerate(sets):
                of_class = points[y == code]
                axes.scatter(
                    of_class[:, 0], of_class[:, 1], 22 if filled else 30, alpha=0.75 if filled else 0.9,
                    facecolors=color if filled else "none", edgecolors=color, linewidths=0 if filled else 1.1,
                )  # fmt: skip
        handles = [_dot(SERIES[code % len(SERIES)], name) for code, name in enumerate(classes[:MAX_CLASSES])]
        handles += [_dot(MUTED, "training", hollow=True), _dot(MUTED, "test")]
        axes.set_xlabel(f"first principal axis (both axes: {share:.0%} of the variance)")
        axes.set_ylabel("second")
        axes.set_xticks([])
        axes.set_yticks([])
        figure.legend(handles=handles, loc="outside upper left", ncols=3)
        return figure


def _dot(color: str, label: str, hollow: bool = False) -> Line2D:
    """A legend entry."""
    face = "none" if hollow else color
    return Line2D(
        [], [], marker="o", linestyle="", markersize=6, color=color, markerfacecolor=face, label=caption(label)
    )
