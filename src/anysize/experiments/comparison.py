"""Compare methods on one's own graphs: several splits and seeds, one table with intervals, and checks below.

    import anysize as az
    found = az.compare("graphs.zip", methods=("auto", "wl-kernel"), seeds=5, records="graphs-records")
    print(found)
    found.save("comparison.html")

Run i of every method has the split seed i and the model seed i. Runs are records, as those of a sweep, so that a
comparison that was stopped goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._files import PAGE_ENDINGS, atomic_write, check_ending
from anysize._text import capitalized, plural
from anysize._typing import PathLike
from anysize.experiments.configurations import changed, check_settings, own_settings, task_configuration
from anysize.experiments.plan import RunBatch, SweepPlan, not_applicable
from anysize.experiments.record_store import RecordStore
from anysize.experiments.records import Record, decode
from anysize.experiments.selection import ScoreSummary
from anysize.experiments.sweep import SweepProgress, SweepResult, sweep
from anysize.experiments.tables import bootstrap
from anysize.experiments.tables.cells import Cell, Column, Row, Table
from anysize.experiments.tables.render import render_text
from anysize.methods import defaults
from anysize.methods.catalog import find_method
from anysize.methods.configuration import whole_number
from anysize.methods.method import Method, Run
from anysize.tasks.metrics import METRIC_NAMES, check_metric
from anysize.tasks.own_graphs import Lists, OwnGraphs, own_task
from anysize.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

CHECKS = ("majority", "size-only", "topology-only")
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class ComparisonRow:
    """One method.

    Attributes:
        method: its name. label: its title in tables.
        check: a trivial baseline or ablation to compare the others with; never the best.
        scores: on the test graphs, one for each seed.
        mean, deviation: over seeds; the deviation divides by their number and is None for one seed.
        low, high: bootstrap interval of the mean, when test graphs and seeds are resampled.
        best: the highest mean, of several with exactly this mean all. tied: not distinguishable from it; of the best
            one, too, if others are.
        metrics: means over seeds of every metric that is known for all of them.
        seconds: mean training time of a run.
        problem: why there are no scores, or fewer than asked for; empty if all is well.
    """

    method: str
    label: str
    check: bool
    scores: tuple[float, ...] = ()
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    best: bool = False
    tied: bool = False
    metrics: Mapping[str, float] | None = None
    seconds: float | None = None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several methods on one set of graphs; print it for a table.

    Attributes:
        task: the graphs and their splits; its name ends with a hash of them.
        metric: of all scores, a name of `anysize.tasks.metrics.METRIC_NAMES`.
        seeds: how many splits and models each method had.
        rows: the methods in the order in which they were named, then the trivial baselines.
        records: the runs behind the rows.
        folder: where their records are; None if they were not kept.
        sweep: how many runs were found, trained, or failed.
    """

    task: Task
    metric: str
    seeds: int
    rows: tuple[ComparisonRow, ...]
    records: tuple[Record, ...]
    folder: Path | None
    sweep: SweepResult

    @property
    def best(self) -> ComparisonRow | None:
        """The method with the highest mean, the first of several; None if all failed."""
        return next((row for row in self.rows if row.best), None)

    def row(self, method: str) -> ComparisonRow:
        """The row of a method."""
        for row in self.rows:
            if row.method == method:
                return row
        raise ValueError(f"This comparison has {', '.join(row.method for row in self.rows)}; got {method!r}.")

    @cached_property
    def table(self) -> Table:
        """The rows as a table of `anysize.experiments.tables`, which can be rendered in several formats."""
        column = Column(self.task.name, self.task.label, "published", "test")
        rows = tuple(Row(row.method, defaults.RECIPE, row.label, row.check, (_cell(row),)) for row in self.rows)
        title = f"{capitalized(METRIC_NAMES[self.metric])} on {self.task.title}"
        notes = self._notes()
        return Table(title, self.metric, "paper", (column,), rows, notes, notes)

    def _notes(self) -> tuple[str, ...]:
        deviation = " (standard deviation)" if self.seeds > 1 else ""
        notes = [
            f"Mean{deviation} over {plural(self.seeds, 'seed')}, each with a split and a model of its own; [95 % "
            "bootstrap interval when seeds, and test graphs of each class, are resampled].",
        ]
        if best := ", ".join(row.label for row in self.rows if row.best):
            notes.append(f"Bold: the best mean, {best}. ≈: the 95 % interval of the difference to it contains 0.")
        notes.append(self.task.note)
        notes += [f"{row.method}: {row.problem}" for row in self.rows if row.problem]
        if self.folder is not None:
            notes.append(f"The records are in {self.folder}.")
        return tuple(notes)

    def summary(self) -> str:
        """The table as text, the best method marked."""
        return render_text(self.table)

    def __str__(self) -> str:
        return self.summary()

    def fields(self) -> dict[str, Any]:
        """The comparison as JSON values, with unrounded numbers."""
        return {
            "task": self.task.name,
            "title": self.task.title,
            "shift": self.task.note,
            "metric": self.metric,
            "seeds": self.seeds,
            "records": None if self.folder is None else str(self.folder),
            "runs": {"found": self.sweep.found, "trained": self.sweep.made, "left": self.sweep.left},
            "rows": [asdict(row) for row in self.rows],
        }

    def to_pandas(self) -> DataFrame:
        """One line per method, with its mean in every metric."""
        import pandas as pd

        lines = []
        for row in self.rows:
            line = {name: value for name, value in asdict(row).items() if name not in ("scores", "metrics")}
            lines.append(line | {name: (row.metrics or {}).get(name) for name in METRIC_NAMES})
        return pd.DataFrame(lines).set_index("method")

    def plot(self) -> Figure:
        """A chart of all methods with a score: mean, interval, and a tick for every seed."""
        from anysize.plots import MethodScores, method_scores

        rows = [
            MethodScores(row.label, row.mean, row.low, row.high, row.scores, row.best, row.check)
            for row in self.rows
            if row.mean is not None
        ]
        if not rows:
            raise ValueError("There is nothing to draw: no method of this comparison has a score.")
        return method_scores(rows, METRIC_NAMES[self.metric])

    def to_html(self) -> str:
        """A self-contained page: the table, the chart, all metrics, and the split."""
        from anysize.experiments.comparison_page import comparison_page

        return comparison_page(self)

    def _repr_html_(self) -> str:
        from anysize.experiments.tables.render import html_figure

        return html_figure(self.table)

    def save(self, path: PathLike) -> None:
        """Write the page of `to_html` to an .html file."""
        check_ending(path, PAGE_ENDINGS)
        with atomic_write(Path(path)) as part:
            part.write_text(self.to_html(), encoding="utf-8")


def compare(
    graphs: Any,
    y: ArrayLike | None = None,
    *,
    methods: str | Sequence[str] = defaults.COMPARED_METHODS,
    seeds: int = defaults.COMPARED_SEEDS,
    split: str | PathLike | Lists = "size",
    color: str | None = None,
    k: int | Sequence[int] = defaults.K,
    metric: str = defaults.COMPARED_BY,
    settings: Mapping[str, Any] | None = None,
    name: str | None = None,
    records: PathLike | None = None,
    workers: int = 1,
    cluster: str | None = None,
    device: str = defaults.DEVICE,
    cache: PathLike | None = None,
    show: Callable[[SweepProgress], None] | None = None,
) -> Comparison:
    """Compare methods on labeled graphs: train each with several seeds, and score it on test graphs.

    Methods are trained with the defaults of `GraphClassifier`. Run i of each has the split seed i and the model seed
    i. The trivial baselines `majority`, `size-only` and `topology-only` are always added. A method that fails does not
    stop the others: its row says why.

    Args:
        graphs: a `GraphSet`, a list of graphs, a path: whatever `anysize.count` takes.
        y: one label per graph; None for the labels stored with the graphs.
        methods: names of `anysize.METHODS`.
        seeds: the number of splits and models per method.
        split: ``"size"``, ``"random"``, or lists of graphs, see `anysize.tasks.own_graphs.own_task`.
        color: for networkx, PyG and igraph graphs, the vertex attribute that holds the color.
        k: pattern size, or several.
        metric: `accuracy`, `balanced_accuracy`, `mcc`, `roc_auc` or `macro_f1`. Records have all of them, so that
            another metric needs no training.
        settings: hyper-parameters of all methods that have them, such as ``{"epochs": 50}``.
        name: of the graphs; by default that of the file.
        records: a folder for records; runs found there are not trained again. Task names contain a hash of the graphs,
            so that changed graphs are trained anew. None keeps nothing.
        workers: number of processes to train in. A script with several needs ``if __name__ == "__main__":``.
        cluster: the address of a Ray cluster, in place of processes.
        device: `cpu`, `cuda` or `auto`.
        cache: cache folder of counts; a temporary one if None.
        show: called with the progress.

    Examples:
        >>> from anysize import GraphSet
        >>> edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 63)]
        >>> rings_and_paths = GraphSet.from_edges(edges, y=["ring", "path"] * 30)
        >>> found = compare(rings_and_paths, methods="wl-kernel", seeds=2)
        >>> [(row.method, row.mean) for row in found.rows[:2]]
        [('wl-kernel', 1.0), ('majority', 0.5)]
    """
    check_metric(metric)
    if name is None:
        name = Path(graphs).stem if isinstance(graphs, str | os.PathLike) else "graphs"
    lists: Any = Path(split) if isinstance(split, os.PathLike) else split
    task = own_task(graphs, lists, y=y, color=color, name=name, k=k)
    named = _methods([methods] if isinstance(methods, str) else methods)
    plan, problems = plan_runs(task, named, range(whole_number("seeds", seeds)), settings or {})
    with TemporaryDirectory() as temporary:
        folder = Path(temporary if records is None else records)
        swept = sweep(
            plan, folder, workers=workers, cluster=cluster, device=device, cache=cache, ranks=True, show=show
        )  # fmt: skip
        found = {record.key: record for record in RecordStore(folder).read(task=task.name)}
    runs = {
        method.name: [
            record
            for batch in plan.batches
            if batch.method == method.name
            for name_ in batch.keys
            if (record := found.get(name_)) is not None
        ]
        for method in named
    }
    problems |= {
        method: f"{seeds - len(runs[method])} of {seeds} runs failed: {error}" for method, error in swept.errors.items()
    }
    rows = _rows(task, named, runs, problems, metric, seeds)
    kept = tuple(record for own in runs.values() for record in own)
    return Comparison(task, metric, seeds, rows, kept, None if records is None else Path(records), swept)


# ---- runs ------------------------------------------------------------------------------------------


def _methods(names: Iterable[str]) -> list[Method]:
    """The named methods, then the checks."""
    found = {name: find_method(name) for name in (*names, *CHECKS)}
    own = [method for method in found.values() if not method.check]
    if not own and not [name for name in names if name not in CHECKS]:
        raise ValueError(f"A comparison needs at least one method besides the checks {', '.join(CHECKS)}.")
    return own + [method for method in found.values() if method.check]


def plan_runs(
    task: Task, methods: Sequence[Method], seeds: range, settings: Mapping[str, Any]
) -> tuple[SweepPlan, dict[str, str]]:
    """One batch per method and seed, all methods with the first seed first; and why some methods cannot be run."""
    check_settings(settings, methods)
    configurations, problems = {}, {}
    for method in methods:
        if reason := not_applicable(task, method):
            problems[method.name] = reason
            continue
        own = own_settings(method, settings)
        (configurations[method.name],) = changed([task_configuration(method, task, defaults.RECIPE)], method, own)
    batches = tuple(
        RunBatch(task.name, f"split:{seed}", name, defaults.RECIPE, (Run(configuration, seed),))
        for seed in seeds
        for name, configuration in configurations.items()
    )
    return SweepPlan(batches, own_tasks=(task,)), problems


# ---- rows ------------------------------------------------------------------------------------------


def _rows(
    task: Task, methods: Sequence[Method], runs: Mapping[str, Sequence[Record]], problems: Mapping[str, str],
    metric: str, seeds: int,
) -> tuple[ComparisonRow, ...]:  # fmt: skip
    rows = {method.name: _row(method, runs[method.name], metric, problems) for method in methods}
    complete = [name for name, row in rows.items() if len(row.scores) == seeds]
    if complete:
        tested = [[_tested(task, record) for record in runs[name]] for name in complete]
        means = bootstrap.resampled_means(tested, metric, RESAMPLES)
        if not len(means):
            return tuple(rows.values())
        ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        lows, highs = np.quantile(means, ends, axis=0)
        for place, name in enumerate(complete):
            rows[name] = replace(rows[name], low=float(lows[place]), high=float(highs[place]))
        rows |= _best_and_tied({name: rows[name] for name in complete}, means, ends)
    return tuple(rows.values())


def _row(method: Method, runs: Sequence[Record], metric: str, problems: Mapping[str, str]) -> ComparisonRow:
    scores = [run.chosen.metrics.get(metric) for run in runs]
    known = tuple(score for score in scores if score is not None)
    row = ComparisonRow(method.name, method.title, method.check, problem=problems.get(method.name, ""))
    if not runs or len(known) < len(runs):
        missing = row.problem or (f"its {METRIC_NAMES[metric]} is not defined" if runs else "it was not run")
        return replace(row, problem=missing)
    shared = [name for name in METRIC_NAMES if all(name in run.chosen.metrics for run in runs)]
    summary = ScoreSummary.of(known)
    return replace(
        row,
        scores=known,
        mean=summary.mean,
        deviation=summary.std if len(known) > 1 else None,
        metrics={name: float(np.mean([run.chosen.metrics[name] for run in runs])) for name in shared},
        seconds=float(np.mean([run.seconds or 0.0 for run in runs])),
    )


def _tested(task: Task, record: Record) -> bootstrap.RunPredictions:
    source = task.source
    assert isinstance(source, OwnGraphs)
    ranks = np.array(record.chosen.ranks, np.int64)
    return bootstrap.RunPredictions(
        source.positions(record.seed).test, decode(record.labels), decode(record.chosen.predictions), ranks
    )


def _best_and_tied(rows: Mapping[str, ComparisonRow], means: Any, ends: Sequence[float]) -> dict[str, ComparisonRow]:
    """Mark the method with the highest mean, and those whose difference to it may be 0; checks do not compete."""
    names = list(rows)
    competing = [name for name in names if not rows[name].check]
    if not competing:
        return dict(rows)
    top = max(mean for name in competing if (mean := rows[name].mean) is not None)
    best = next(name for name in competing if rows[name].mean == top)
    differences = means[:, [names.index(best)]] - means
    low = np.quantile(differences, ends[0], axis=0)
    near = {name for name in competing if low[names.index(name)] <= 0}
    tied = near if len(near) > 1 else set()
    return {
        name: replace(row, best=name in competing and row.mean == top, tied=name in tied) for name, row in rows.items()
    }


def _cell(row: ComparisonRow) -> Cell:
    if row.mean is None:
        return Cell("failed")
    interval = None if row.low is None or row.high is None else bootstrap.Interval(row.low, row.high, LEVEL, RESAMPLES)
    return Cell("run", ScoreSummary.of(row.scores), interval=interval, best=row.best, tied=row.tied)
