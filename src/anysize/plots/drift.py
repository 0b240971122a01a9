"""How far densities move between two sets of graphs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from anysize.plots.theme import MUTED, SERIES, caption, drawing, new_figure, plain_numbers, quiet_grid

DECADES = 4  # below this many powers of ten under the largest density, points lie on the edge


def density_drift(densities: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Mean density in training graphs against mean density in test graphs, a dot for each pattern.

    Patterns that keep their density lie on the line. Both axes are logarithmic; what is zero or tiny lies at their
    lower ends.

    Args:
        densities: by kind of pattern, means over training and over test graphs, (patterns,) each.
    """
    known = {name: (np.asarray(a, np.float64), np.asarray(b, np.float64)) for name, (a, b) in densities.items()}
    largest = max((max(a.max(initial=0), b.max(initial=0)) for a, b in known.values()), default=0.0)
    if not largest:
        raise ValueError("densities of at least one pattern that occurs are needed; got none")
    top = 10 ** np.ceil(np.log10(largest))
    bottom = top * 10.0**-DECADES
    with drawing():
        figure = new_figure(3.7)
        axes = figure.subplots()
        axes.plot([bottom, top], [bottom, top], color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
        for place, (name, (train, test)) in enumerate(known.items()):
            axes.scatter(
                np.maximum(train, bottom), np.maximum(test, bottom), 26, color=SERIES[place % len(SERIES)], alpha=0.7,
                linewidths=0, label=caption(name), clip_on=False, zorder=3,
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlim=(bottom, top), ylim=(bottom, top), aspect="equal")
        axes.set_xlabel("mean density, training")
        axes.set_ylabel("mean density, test")
        for axis in ("x", "y"):
            plain_numbers(axes, axis)
        quiet_grid(axes, "both")
        if len(known) > 1:
            figure.legend(loc="outside upper left", ncols=2)
        return figure
