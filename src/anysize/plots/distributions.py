"""What the sets of a task look like: sizes and colors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from anysize.plots.theme import SERIES, caption, drawing, new_figure, quiet_grid

BARS = 12  # sizes shown one by one; more are gathered into bins
BINS = 24
COLORS = 12


def size_distribution(sizes: Mapping[str, ArrayLike]) -> Figure:
    """How many vertices the graphs of each set have: the share of graphs per size, or per bin of sizes."""
    known = {name: np.asarray(values) for name, values in sizes.items() if np.size(values)}
    if not known:
        raise ValueError("sizes are of at least one graph; got none")
    everything = np.concatenate(list(known.values()))
    distinct = np.unique(everything)
    with drawing():
        figure = new_figure(2.3)
        axes = figure.subplots()
        if len(distinct) <= BARS:
            shares = {name: [float(np.mean(values == size)) for size in distinct] for name, values in known.items()}
            _grouped(axes, shares, [f"{size:g}" for size in distinct])
        else:
            edges = np.linspace(distinct[0] - 0.5, distinct[-1] + 0.5, min(BINS, len(distinct)) + 1).tolist()
            for place, (name, values) in enumerate(known.items()):
                weights = np.full(len(values), 1 / len(values))
                color = SERIES[place % len(SERIES)]
                axes.hist(values, edges, weights=weights, histtype="stepfilled", color=color, alpha=0.25)
                axes.hist(values, edges, weights=weights, histtype="step", color=color, linewidth=1.4)
                axes.fill_between([], [], color=color, linewidth=0, label=caption(name))
        axes.set_xlabel("vertices of a graph")
        axes.set_ylabel("share of graphs")
        quiet_grid(axes)
        figure.legend(loc="outside upper left", ncols=len(known))
        return figure


def color_distribution(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    """The share of each vertex color in each set; the rarest of many colors are added up."""
    names = list(dict.fromkeys(name for own in shares.values() for name in own))
    if not names:
        raise ValueError("colors are of at least one vertex; got none")
    total = {name: sum(own.get(name, 0.0) for own in shares.values()) for name in names}
    shown = names if len(names) <= COLORS else sorted(names, key=lambda name: -total[name])[: COLORS - 1]
    values = {label: [own.get(name, 0.0) for name in shown] for label, own in shares.items()}
    ticks = [caption(name, 8) for name in shown]
    if len(shown) < len(names):
        ticks.append("others")
        for label, own in shares.items():
            values[label].append(sum(own.get(name, 0.0) for name in names if name not in shown))
    with drawing():
        figure = new_figure(2.3)
        axes = figure.subplots()
        _grouped(axes, values, ticks)
        axes.set_xlabel("vertex color")
        axes.set_ylabel("share of vertices")
        quiet_grid(axes)
        figure.legend(loc="outside upper left", ncols=len(shares))
        return figure


def _grouped(axes: Axes, values: Mapping[str, Sequence[float]], ticks: Sequence[str]) -> None:
    """Bars side by side, one for each set."""
    width = 0.8 / len(values)
    for place, (label, own) in enumerate(values.items()):
        at = np.arange(len(ticks)) + (place - (len(values) - 1) / 2) * width
        axes.bar(at, own, width * 0.9, color=SERIES[place % len(SERIES)], label=caption(label))
    axes.set_xticks(np.arange(len(ticks)), ticks)
