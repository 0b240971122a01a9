"""The significance profile of a graph, with its patterns drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anysize.networks.significance import LEVEL
from anysize.patterns.drawing import layout
from anysize.patterns.pattern import Pattern
from anysize.plots.theme import INK, MUTED, SERIES, caption, drawing, new_figure, quiet_grid

if TYPE_CHECKING:
    from anysize.networks.significance import Motifs

MOST_ROWS = 40
SIDE = 0.66  # of a drawn pattern, in rows
ARROW = {"arrowstyle": "-|>", "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0.6, "color": INK, "linewidth": 0.8}


def motif_profile(motifs: Motifs, top: int = MOST_ROWS) -> Figure:
    """One row per pattern: its drawing, and a bar for its part of the significance profile, pale where q > .05."""
    shown = motifs.order(top)
    with drawing():
        figure = new_figure(0.9 + 0.36 * len(shown), width=5.0)
        drawings, axes = figure.subplots(1, 2, sharey=True, width_ratios=[1, 8])
        for row, number in enumerate(shown):
            _draw(drawings, motifs.patterns[number], row)
            value = float(np.nan_to_num(motifs.profile[number]))
            alpha = 1.0 if motifs.q[number] <= LEVEL else 0.3
            axes.barh(row, value, height=0.6, color=SERIES[0] if value > 0 else SERIES[1], alpha=alpha)
        drawings.set_yticks(range(len(shown)), [caption(motifs.patterns[n].name, 22) for n in shown], color=INK)
        drawings.set_ylim(len(shown) - 0.5, -0.5)
        drawings.set_xlim(-0.5, 0.5)
        drawings.set_xticks([])
        drawings.tick_params(length=0)
        drawings.spines[:].set_visible(False)
        axes.axvline(0, color=MUTED, linewidth=0.8)
        axes.set_xlim(-1.04, 1.04)
        axes.set_xlabel(f"significance profile (null={motifs.null!r})")
        axes.spines["left"].set_visible(False)
        axes.tick_params(labelleft=False)
        quiet_grid(axes, "x")
        return figure


def _draw(axes: Axes, pattern: Pattern, row: int) -> None:
    points = np.array(layout(pattern.size, pattern.edges)) * SIDE - SIDE / 2 + (0, row)
    for edge in pattern.edges:
        axes.plot(*points[list(edge)].T, color=INK, linewidth=0.8)
    for tail, head in pattern.arcs:
        axes.annotate("", points[head], points[tail], arrowprops=ARROW)
    axes.plot(*points.T, "o", color=INK, markersize=2.4)
