"""Draw the figure of README.md from records: validation scores beside test scores.

Run:  python examples/draw_results.py results/records docs/figures/results.svg
"""

import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from anysize.evaluation.store import RecordStore
from anysize.paper.selection import select_all

TASKS = ("sbm-20", "sbm-14-20", "sbm-20-30")
ROWS = {
    "gin-sum": "GIN",
    "gin-mean": "GIN (mean)",
    "gcn-mean": "GCN (mean)",
    "pna-sum": "PNA",
    "rpgin": "RPGIN",
    "wl-kernel": "WL kernel",
    "gc-kernel": "GC kernel",
    "gamma-1hot": "Γ 1-hot",
    "gamma-gin": "Γ GIN",
    "gamma-rpgin": "Γ RPGIN",
    "topology-only": "topology only",
}


def mean_scores(records):
    """label -> (validation, test): means over the tasks of the mean scores of the selected configurations."""
    found = {}
    for group, selected in select_all(records).items():
        if group.method in ROWS and selected and selected.summary("validation") and selected.summary("test"):
            label = ROWS[group.method] + ("" if group.recipe == "paper" else f", {group.recipe} recipe")
            scores = selected.summary("validation").mean, selected.summary("test").mean
            found.setdefault(label, []).append((group.task, *scores))
    complete = {label: means for label, means in found.items() if {task for task, *_ in means} == set(TASKS)}
    order = list(ROWS.values())
    rows = sorted(complete, key=lambda label: (order.index(label.split(",")[0]), label))
    return {
        label: tuple(sum(one[place] for one in complete[label]) / len(complete[label]) for place in (1, 2))
        for label in rows
    }


def draw(scores):
    """One line per row, from its validation score (ring) to its test score (dot)."""
    figure = Figure(figsize=(7, 0.9 + 0.32 * len(scores)), layout="constrained", facecolor="white")
    axes = figure.subplots()
    for place, (label, (validation, test)) in enumerate(scores.items()):
        color = "#2c6bd6" if label.startswith("Γ") else "#7a8496"
        axes.plot([test, validation], [place, place], color=color, linewidth=2, zorder=1)
        axes.plot(validation, place, "o", color=color, markerfacecolor="white", markersize=7)
        axes.plot(test, place, "o", color=color, markersize=7)
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set_ylim(len(scores) - 0.5, -0.5)
    axes.set_xlim(0.35, 1.02)
    axes.set_xlabel("accuracy, mean over three block-model tasks")
    axes.plot([], [], "o", color="#1c2430", markerfacecolor="white", markersize=7, label="small graphs, as in training")
    axes.plot([], [], "o", color="#1c2430", markersize=7, label="larger graphs with other colors")
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    axes.grid(True, axis="x", color="#dfe3ea")
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return figure


if len(sys.argv) != 3:
    sys.exit(__doc__)
folder, out = Path(sys.argv[1]), Path(sys.argv[2])
scores = mean_scores(RecordStore(folder).read(task=TASKS, data="published", curves=False))
if not scores:
    sys.exit(f"There are no records of {', '.join(TASKS)} in {folder}. Make some with anysize paper sweep.")
out.parent.mkdir(parents=True, exist_ok=True)
with rc_context({"svg.fonttype": "none", "svg.hashsalt": "anysize", "font.family": "DejaVu Sans"}):
    draw(scores).savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None)
print(f"Wrote {out}: {', '.join(f'{label!r} {v:.2f} to {t:.2f}' for label, (v, t) in scores.items())}")
