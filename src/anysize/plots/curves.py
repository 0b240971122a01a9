"""Training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.plots.theme import SERIES, caption, drawing, new_figure, plain_numbers, quiet_grid

LOWEST_LOSS = 1e-4  # below, a curve on a logarithmic axis shows rounding


class Curve(NamedTuple):
    """One run: epochs, and at each the training loss and the validation score; None where not known, or all empty."""

    epochs: Sequence[int]
    train_loss: Sequence[float | None]
    validation_score: Sequence[float | None]


def training_curves(runs: Mapping[str, Sequence[Curve]], metric: str = "accuracy") -> Figure:
    """Training loss above, validation score below: thin lines for the runs of each row, a thick one for their mean."""
    if not any(runs.values()):
        raise ValueError("training curves are of at least one run; got none")
    with drawing():
        figure = new_figure(3.6 + 0.2 * ((len(runs) + 1) // 2))
        above, below = figure.subplots(2, 1, sharex=True)
        for place, (label, curves) in enumerate(runs.items()):
            color = SERIES[place % len(SERIES)]
            _lines(above, [(c.epochs, _numbers(c.train_loss, LOWEST_LOSS)) for c in curves if c.train_loss], color)
            _lines(below, [(c.epochs, _numbers(c.validation_score)) for c in curves if c.validation_score], color)
            above.plot([], [], color=color, label=caption(label, 24))
        above.set_yscale("log")
        plain_numbers(above, "y")
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


def mean_curve(curves: Sequence[tuple[NDArray[np.int64], FloatArray]]) -> tuple[NDArray[np.int64], FloatArray]:
    """The mean of curves at all their epochs that every run reached, with straight lines between known values.

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
    found = np.array([np.nan if value is None else value for value in values], np.float64)
    return found if lowest is None else np.maximum(found, lowest)
