"""Representations of graphs in the plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from anysize._typing import FloatArray
from anysize.plots.theme import MUTED, SERIES, caption, drawing, new_figure

CLASSES = 8


def principal_plane(rows: ArrayLike) -> tuple[FloatArray, float]:
    """Rows on their first two principal axes, and the share of the variance that this keeps.

    Rows are centered; the axes are the first right singular vectors, each turned so that its largest entry is positive.
    Shapes: (rows, features); returns (rows, 2).

    >>> plane, share = principal_plane([[0.0, 0, 1], [2.0, 0, 1], [4.0, 0, 1]])
    >>> plane[:, 0].tolist(), round(share, 6)
    ([-2.0, 0.0, 2.0], 1.0)
    """
    values = np.asarray(rows, np.float64)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"representations are rows of finite numbers; got an array of shape {values.shape}")
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
    """Training graphs as rings, test graphs as dots, colored by class, on the principal axes of all of them.

    Shapes: representations (graphs, width), class numbers (graphs,).
    """
    first, second = np.asarray(train, np.float64), np.asarray(test, np.float64)
    plane, share = principal_plane(np.concatenate([first, second]))
    sets = (plane[: len(first)], np.asarray(y_train)), (plane[len(first) :], np.asarray(y_test))
    with drawing():
        figure = new_figure(3.4)
        axes = figure.subplots()
        for code in range(min(len(classes), CLASSES)):
            color = SERIES[code % len(SERIES)]
            for filled, (points, y) in enumerate(sets):
                own = points[y == code]
                axes.scatter(
                    own[:, 0], own[:, 1], 22 if filled else 30, alpha=0.75 if filled else 0.9,
                    facecolors=color if filled else "none", edgecolors=color, linewidths=0 if filled else 1.1,
                )  # fmt: skip
        handles = [_dot(SERIES[code % len(SERIES)], name) for code, name in enumerate(classes[:CLASSES])]
        handles += [_dot(MUTED, "training", hollow=True), _dot(MUTED, "test")]
        axes.set_xlabel(f"first principal axis (both axes: {share:.0%} of the variance)")
        axes.set_ylabel("second")
        axes.set_xticks([])
        axes.set_yticks([])
        figure.legend(handles=handles, loc="outside upper left", ncols=3)
        return figure


def _dot(color: str, label: str, hollow: bool = False) -> Line2D:
    """A line of the legend."""
    face = "none" if hollow else color
    return Line2D(
        [], [], marker="o", linestyle="", markersize=6, color=color, markerfacecolor=face, label=caption(label)
    )
