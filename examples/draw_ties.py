"""Draw the figure of docs/why-published-numbers-differ.md: published cells beside the configurations that tie.

Run:  python examples/draw_ties.py results/records docs/figures/ties.svg
"""

import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from anysize.evaluation.store import RecordStore
from anysize.paper.tasks import TABLE_TASKS
from anysize.paper.ties import TABLES_WITH_TIES, tied_cells

COLORS = {"gnn": ("GNNs", "#7a8496"), "gamma": ("Γ models", "#2c6bd6")}
PANELS = {"minus the mean of the ties": "above_mean", "minus the best of the ties": "above_best"}


def draw(cells):
    """One dot per published cell in either panel."""
    figure = Figure(figsize=(7.5, 3.4), layout="constrained", facecolor="white")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (title, distance) in zip(panels, PANELS.items(), strict=True):
        axes.axhline(0, color="#1c2430", linewidth=0.8)
        for kind, (label, color) in COLORS.items():
            of_kind = [cell for cell in cells if cell.kind == kind]
            ties = [len(cell.tests) for cell in of_kind]
            distances = [getattr(cell, distance) for cell in of_kind]
            axes.plot(ties, distances, "o", color=color, markersize=5, alpha=0.7, label=label, clip_on=False)
        axes.set_xscale("log")
        axes.set_xlabel("configurations that tie in validation")
        axes.set_title(f"published accuracy {title}", fontsize=10)
        axes.grid(True, axis="y", color="#dfe3ea")
        axes.tick_params(length=0, which="both")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    panels[0].legend(frameon=False)
    return figure


if len(sys.argv) != 3:
    sys.exit(__doc__)
folder, out = Path(sys.argv[1]), Path(sys.argv[2])
tasks = [task.name for number in TABLES_WITH_TIES for task in TABLE_TASKS[number]]
cells = tied_cells(RecordStore(folder).read(task=tasks, data="published", curves=False))
if not cells:
    sys.exit(f"There are no records of tables 1 and 2 in {folder}. Make some with anysize paper sweep.")
out.parent.mkdir(parents=True, exist_ok=True)
with rc_context({"svg.fonttype": "none", "svg.hashsalt": "anysize", "font.family": "DejaVu Sans"}):
    draw(cells).savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None)
print(f"Wrote {out}: {len(cells)} cells, up to {max(len(cell.tests) for cell in cells)} ties.")
