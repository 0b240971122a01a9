"""Compare methods on your own graphs: several splits and seeds, one table with intervals, and trivial baselines below.

    import anysize as az
    comparison = az.compare("graphs.zip", methods=("auto", "wl-kernel"), seeds=5, records="graphs-records")
    print(comparison)
    comparison.save("comparison.html")

Run i of every method has the split seed i and the model seed i. With a folder of records, a comparison that was stopped
goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import naming_extra, require
from anysize._files import PAGE_ENDINGS, atomic_write, check_ending
from anysize._progress import ProgressFunction, ignore_progress
from anysize._text import capitalized, plural
from anysize._typing import FloatArray, PathLike, TargetKind
from anysize.evaluation.describe import shift
from anysize.evaluation.evaluate import EvaluationOptions, evaluate_runs, task_configuration
from anysize.evaluation.intervals import LEVEL, RESAMPLES, Interval, RunPredictions, resampled_means
from anysize.evaluation.records import Record, decode
from anysize.evaluation.render import render_text
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import RunBatch, SweepPlan, SweepResult, sweep
from anysize.evaluation.tables import (
    Cell,
    Column,
    Row,
    ScoreSummary,
    Table,
    format_score,
)
from anysize.evaluation.tasks import Data, OwnGraphs, SharedExamples, Splits, Task, own_task
from anysize.evaluation.workers import error_sentence
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import known_targets, target_kind
from anysize.io.convert import as_graphset, warn_of_complete_graphs
from anysize.methods import defaults
from anysize.methods.baselines import TRIVIAL
from anysize.methods.catalog import find_method
from anysize.methods.configuration import check_settings, settings_for, whole_number
from anysize.methods.method import Method, Run
from anysize.metrics import ERRORS, METRIC_NAMES, METRICS_OF, SCORE_DIGITS, check_metric, decimals_of, goodness
from anysize.splits import Lists, OfPart, split_rule
from anysize.training.device import resolve_device

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class ComparisonRow:
    """One method.

    Attributes:
        method: its name. label: its title in tables.
        is_baseline: a trivial baseline or ablation to compare the others with; never the best.
        scores: on the test graphs, one for each seed.
        mean, deviation: over seeds; the deviation divides by their number and is None for one seed.
        decimals: of printed scores.
        low, high: bootstrap interval of the mean, when test graphs and seeds are resampled.
        not_above: of a method, the best baseline among those that the method is not clearly better than, because the
            interval of the difference contains 0 or lies on the wrong side; empty if it is better than all of them.
        best: the best mean of all methods, clearly better than every baseline; of several with exactly this mean all.
        tied: not distinguishable from the best mean; of that one, too, if others are.
        goodness: the mean, of errors with the other sign; -inf without a mean.
        metrics: means over seeds of every metric that is known for all of them.
        seconds: mean training time of a run.
        problem: why there are no scores, or fewer than asked for; empty if all is well.
    """

    method: str
    label: str
    is_baseline: bool
    scores: tuple[float, ...] = ()
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    not_above: str = ""
    best: bool = False
    tied: bool = False
    metrics: Mapping[str, float] | None = None
    seconds: float | None = None
    problem: str = ""
    goodness: float = -np.inf
    decimals: int = SCORE_DIGITS

    def __str__(self) -> str:
        return f"{self.label} ({'no score' if self.mean is None else format_score(self.mean, self.decimals)})"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several methods on one set of graphs; print it for a table.

    Attributes:
        task: the graphs and their splits; its name ends with a hash of them.
        metric: of all scores, a name of `anysize.metrics.METRIC_NAMES`.
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
        """The method with the best mean, the first of several, if it is clearly above every baseline; else None."""
        return next((row for row in self.rows if row.best), None)

    @property
    def statement(self) -> str:
        """Which method is best, in one sentence that includes the baselines and the uncertainty."""
        methods = [row for row in self.rows if row.mean is not None and not row.is_baseline]
        if not methods:
            return "No method has a score."
        first = max(methods, key=lambda row: row.goodness)
        low, above = ("lower", "above") if self.metric not in ERRORS else ("worse", "better than")
        if first.not_above:
            baseline = self.row(first.not_above)
            if baseline.goodness >= first.goodness:
                return f"No method beats the baseline {baseline}; the best mean of a method is that of {first}."
            return f"{first} and the baseline {baseline} cannot be told apart: no method is shown to be of use."
        tied = [row for row in methods if row.tied]
        if len(tied) > 1:
            *others, last = map(str, tied)
            return f"{', '.join(others)} and {last} cannot be told apart; all baselines are {low}."
        if len(methods) == 1:
            return f"{first} is clearly {above} all baselines."
        return f"{first} is best, clearly {above} the other methods and all baselines."

    def row(self, method: str) -> ComparisonRow:
        """The row of a method."""
        for row in self.rows:
            if row.method == method:
                return row
        raise ValueError(f"This comparison has {', '.join(row.method for row in self.rows)}; got {method!r}.")

    @cached_property
    def table(self) -> Table:
        """The rows as a table, which `anysize.evaluation.render` renders in several formats."""
        column = Column(self.task.name, self.task.label, "published", "test")
        rows = tuple(Row(row.method, defaults.RECIPE, row.label, row.is_baseline, (_cell(row),)) for row in self.rows)
        title = f"{capitalized(METRIC_NAMES[self.metric])} on {self.task.title}"
        notes = self._notes()
        return Table(title, self.metric, "paper", (column,), rows, notes, notes)

    @cached_property
    def shift(self) -> str:
        """One sentence on how test graphs differ from training graphs, with split seed 0."""
        return shift(self.task.splits(seed=0))

    def _notes(self) -> tuple[str, ...]:
        deviation = " (standard deviation)" if self.seeds > 1 else ""
        within = " of each class" if self.task.predicts == "classes" else ""
        notes = [
            f"Mean{deviation} over {plural(self.seeds, 'seed')}, each with a split and a model of its own; [95 % "
            f"bootstrap interval when seeds, and test graphs{within}, are resampled].",
        ]
        notes.append(self.statement)
        if any(row.tied for row in self.rows):
            notes.append("≈: the 95 % interval of the difference to the best mean of a method contains 0.")
        notes.append(self.shift)
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
            "shift": self.shift,
            "metric": self.metric,
            "statement": self.statement,
            "seeds": self.seeds,
            "records": None if self.folder is None else str(self.folder),
            "runs": {"found": self.sweep.found, "trained": self.sweep.made, "left": self.sweep.left},
            "rows": [asdict(row) for row in self.rows],
        }

    @naming_extra("Comparison.to_pandas")
    def to_pandas(self) -> DataFrame:
        """One line per method, with its mean in every metric."""
        import pandas as pd

        lines = []
        for row in self.rows:
            line = {name: value for name, value in asdict(row).items() if name not in ("scores", "metrics")}
            lines.append(line | {name: (row.metrics or {}).get(name) for name in METRICS_OF[self.task.predicts]})
        return pd.DataFrame(lines).set_index("method")

    @naming_extra("Comparison.plot")
    def plot(self) -> Figure:
        """A chart of all methods with a score: mean, interval, and a tick for every seed."""
        from anysize.plots import MethodScores, method_scores

        rows = [
            MethodScores(row.label, row.mean, row.low, row.high, row.scores, row.best, row.is_baseline)
            for row in self.rows
            if row.mean is not None
        ]
        if not rows:
            raise ValueError("There is nothing to draw: no method of this comparison has a score.")
        return method_scores(rows, METRIC_NAMES[self.metric])

    @naming_extra("Comparison.to_html")
    def to_html(self) -> str:
        """A self-contained page: the table, the chart, all metrics, and the split."""
        from anysize.evaluation.comparison_page import comparison_page

        return comparison_page(self)

    def _repr_html_(self) -> str:
        from anysize.evaluation.render import html_figure

        return html_figure(self.table)

    def save(self, path: PathLike) -> None:
        """Write the page of `to_html` to an .html file."""
        check_ending(path, PAGE_ENDINGS)
        with atomic_write(Path(path)) as part:
            part.write_text(self.to_html(), encoding="utf-8")


@dataclass(frozen=True, eq=False)
class TargetComparison:
    """Scores of several methods on several targets of one set of graphs, all with one split; print it for a table.

    Attributes:
        name: of the graphs.
        comparisons: target -> the comparison on the graphs that have it.
        left_out: target -> why it has none.
    """

    name: str
    comparisons: Mapping[str, Comparison]
    left_out: Mapping[str, str]

    @property
    def metric(self) -> str:
        """Of all scores, a name of `anysize.metrics.METRIC_NAMES`."""
        return next(iter(self.comparisons.values())).metric

    @property
    def scored(self) -> list[Comparison]:
        """Those of the targets on which some method has a score."""
        return [each for each in self.comparisons.values() if any(row.mean is not None for row in each.rows)]

    @cached_property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """The methods with their means over the targets; without one where only other methods have a score."""
        means = []
        for row in next(iter(self.comparisons.values())).rows:
            scores = [comparison.row(row.method).mean for comparison in self.scored]
            known = [score for score in scores if score is not None]
            mean = float(np.mean(known)) if known and len(known) == len(scores) else None
            best = -np.inf if mean is None else float(goodness(self.metric, mean))
            means.append(ComparisonRow(row.method, row.label, row.is_baseline, tuple(known), mean, goodness=best))
        decimals = decimals_of(self.metric, [row.mean for row in means])
        highest = max((row.goodness for row in means), default=-np.inf)
        best_rows = [row for row in means if -np.inf < row.goodness == highest]
        beaten = not any(row.is_baseline for row in best_rows)
        return tuple(replace(row, decimals=decimals, best=beaten and row in best_rows) for row in means)

    @property
    def statement(self) -> str:
        """The method with the best mean, and on how many targets it is clearly better than all baselines."""
        scored = [row for row in self.rows if row.mean is not None]
        methods = [row for row in scored if not row.is_baseline]
        if not methods:
            return "No method has a score on every target."
        first = max(methods, key=lambda row: row.goodness)
        above = sum(not comparison.row(first.method).not_above for comparison in self.scored)
        mean = f"mean over {plural(len(self.scored), 'target')}"
        begin = f"{first} has the best {mean}; it"
        if not first.best:
            baseline = max((row for row in scored if row.is_baseline), key=lambda row: row.goodness)
            begin = f"No method beats the baseline {baseline} in the {mean}; the best of them, {first},"
        return f"{begin} is clearly better than all baselines on {above} of them."

    @cached_property
    def table(self) -> Table:
        """A column for every target, and their mean."""
        columns = [Column(each.task.name, target, "published", "test") for target, each in self.comparisons.items()]
        rows = []
        for row in self.rows:
            cells = [_cell(each.row(row.method)) for each in self.comparisons.values()]
            mean = Cell("failed") if row.mean is None else Cell(
                "run", ScoreSummary(row.mean, 0.0, 1), best=row.best, decimals=row.decimals
            )  # fmt: skip
            rows.append(Row(row.method, defaults.RECIPE, row.label, row.is_baseline, (*cells, mean)))
        first = next(iter(self.comparisons.values()))
        notes = (
            *first._notes()[:1], self.statement, "The split is the same for all targets.",
            *(f"{target} is left out: {reason}" for target, reason in self.left_out.items()),
            *(
                f"{target} is not in the means: {each.rows[0].problem}."
                for target, each in self.comparisons.items()
                if each not in self.scored
            ),
        )  # fmt: skip
        title = f"{capitalized(METRIC_NAMES[self.metric])} on {plural(len(self.comparisons), 'target')} of {self.name}"
        columns.append(Column("mean", "mean", "published", "test"))
        return Table(title, self.metric, "paper", tuple(columns), tuple(rows), notes, notes)

    def __str__(self) -> str:
        return render_text(self.table)

    def _repr_html_(self) -> str:
        from anysize.evaluation.render import html_figure

        return html_figure(self.table)

    def fields(self) -> dict[str, Any]:
        """The comparison as JSON values, with unrounded numbers."""
        return {
            "name": self.name,
            "metric": self.metric,
            "statement": self.statement,
            "targets": {target: comparison.fields() for target, comparison in self.comparisons.items()},
            "mean": {row.method: row.mean for row in self.rows},
            "left_out": dict(self.left_out),
        }

    def save(self, path: PathLike) -> None:
        """Write an .html page with the table, and the table of every target."""
        from anysize.evaluation.comparison_page import targets_page

        check_ending(path, PAGE_ENDINGS)
        with atomic_write(Path(path)) as part:
            part.write_text(targets_page(self), encoding="utf-8")


def compare(
    graphs: Any,
    y: ArrayLike | None = None,
    *,
    methods: str | Sequence[str] | None = None,
    seeds: int = defaults.COMPARED_SEEDS,
    split: str | PathLike | Lists = "size",
    color: str | None = None,
    k: int | Sequence[int] = defaults.K,
    metric: str | None = None,
    predict: TargetKind | None = None,
    settings: Mapping[str, Any] | None = None,
    name: str | None = None,
    records: PathLike | None = None,
    workers: int = 1,
    cluster: str | None = None,
    device: str = defaults.DEVICE,
    cache: PathLike | None = None,
    progress: ProgressFunction = ignore_progress,
) -> Any:
    """Compare methods on labeled graphs: train each with several seeds, and score it on test graphs.

    Methods are trained with the defaults of `GraphClassifier` and `GraphRegressor`. Run i of each has the split seed i
    and the model seed i. The trivial baselines `majority` (of numbers `mean`), `size-only` and `topology-only` are
    always added. A method that fails does not stop the others: its row says why.

    Args:
        graphs: a `GraphSet`, a list of graphs, a path: whatever `anysize.count` takes.
        y: one label per graph; None for the labels stored with the graphs. With several targets a row per graph, as for
            `GraphClassifier.fit`: methods are compared on each, with the same split, in a `TargetComparison`.
        methods: names of `anysize.METHODS`; None for some of each kind.
        seeds: the number of splits and models per method.
        split: ``"size"``, ``"size-down"``, ``"random"``, or lists of graphs, see `anysize.evaluation.tasks.own_task`.
        color: for networkx, PyG and igraph graphs, the vertex attribute that holds the color.
        k: pattern size, or several.
        metric: `accuracy`, `balanced_accuracy`, `mcc`, `roc_auc` or `macro_f1` of classes; `rmse`, `mae`, `r2` or
            `rank_correlation` of numbers. Records have all of them, so that another metric needs no training. None for
            the balanced accuracy or the RMSE.
        predict: whether labels are "classes" or "numbers"; None: numbers if some are fractions.
        settings: hyper-parameters of all methods that have them, such as ``{"epochs": 50}``.
        name: of the graphs; by default that of the file.
        records: a folder for records; runs found there are not trained again. Task names contain a hash of the graphs,
            so that changed graphs are trained anew. None keeps nothing.
        workers: number of processes to train in. A script with several needs ``if __name__ == "__main__":``.
        cluster: the address of a Ray cluster, in place of processes.
        device: `cpu`, `cuda` or `auto`.
        cache: cache folder of counts.
        progress: called with the step, the share of it that is done, and details.

    Examples:
        >>> from anysize import GraphSet
        >>> edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 63)]
        >>> rings_and_paths = GraphSet.from_edges(edges, y=["ring", "path"] * 30)
        >>> comparison = compare(rings_and_paths, methods="wl-kernel", seeds=2)
        >>> [(row.method, row.mean) for row in comparison.rows[:2]]
        [('wl-kernel', 1.0), ('majority', 0.5)]
    """
    require("sklearn", "compare")
    if name is None:
        name = Path(graphs).stem if isinstance(graphs, str | os.PathLike) else "graphs"
    lists: Any = Path(split) if isinstance(split, os.PathLike) else split
    labeled = as_graphset(graphs, color=color)
    labeled = labeled if y is None else labeled.with_y(y)
    warn_of_complete_graphs(labeled)
    run = partial(
        _compare, methods=methods, seeds=whole_number("seeds", seeds), k=k, metric=metric, settings=settings or {},
        records=records, workers=workers, cluster=cluster, device=device,
    )  # fmt: skip
    if not labeled.targets:
        return run(labeled, lists, name=name, predict=predict, cache=cache, progress=progress)
    predict = _common_kind(labeled) if predict is None else predict
    whole = labeled.with_y(None)
    rule = split_rule(lists, whole)
    shared = SharedExamples(whole, rule)
    comparisons, left_out = {}, {}
    with TemporaryDirectory(prefix="anysize-", ignore_cleanup_errors=True) as folder:
        counts = folder if cache is None and cluster is None else cache  # the machines of a cluster may not see it
        for number, target in enumerate(labeled.targets):
            assert labeled.y is not None
            part = OfPart(rule, whole, known_targets(labeled.y, number)[0])
            share = _part_of(progress, number, len(labeled.targets))
            try:
                comparisons[target] = run(
                    labeled.target(target), part, name=f"{name}.{target}", predict=predict, cache=counts,
                    progress=share, shared=shared,
                )  # fmt: skip
            except ValueError as error:
                left_out[target] = str(error)
    if not comparisons:
        target, reason = next(iter(left_out.items()))
        raise ValueError(f"No target can be compared; {target!r}: {reason}")
    return TargetComparison(name, comparisons, left_out)


def _part_of(progress: ProgressFunction, part: int, parts: int) -> ProgressFunction:
    """The progress of one of several targets as a share of all."""

    def share(step: str, done: float, detail: str = "") -> None:
        progress(step, (part + done) / parts, detail)

    return share


def _common_kind(labeled: GraphSet) -> TargetKind:
    """What all targets are, classes or numbers; an error if there are both."""
    assert labeled.y is not None
    kinds = {
        name: target_kind(labels)
        for number, name in enumerate(labeled.targets)
        if len(labels := known_targets(labeled.y, number)[1])
    }
    if len(set(kinds.values())) > 1:
        first = {kind: name for name, kind in kinds.items()}
        raise ValueError(
            f"Target {first['classes']!r} has classes and {first['numbers']!r} numbers: compare them separately, or "
            "pass predict='numbers' (--target)."
        )
    return next(iter(kinds.values()), "classes")


def _compare(
    graphs: GraphSet, split: Any, *, methods: str | Sequence[str] | None, seeds: int, k: int | Sequence[int],
    metric: str | None, settings: Mapping[str, Any], records: PathLike | None, workers: int, cluster: str | None,
    device: str, cache: PathLike | None, name: str, predict: TargetKind | None, progress: ProgressFunction,
    shared: SharedExamples | None = None,
) -> Comparison:  # fmt: skip
    """The comparison on graphs with one label each; ``shared``: with those of other targets."""
    task = own_task(graphs, split, name=name, k=k, predict=predict)
    assert isinstance(task.source, OwnGraphs)
    task = replace(task, source=replace(task.source, shared=shared))
    metric = defaults.COMPARED_BY[task.predicts] if metric is None else metric
    check_metric(metric, task.predicts)
    methods = defaults.COMPARED_METHODS[task.predicts] if methods is None else methods
    compared = compared_methods([methods] if isinstance(methods, str) else methods, task.predicts)
    plan, problems = plan_runs(task, compared, range(seeds), settings)
    options = EvaluationOptions(device if cluster else resolve_device(device), cache, ranks=True)
    if records is None and workers == 1 and cluster is None:
        result = _evaluate_here(plan, options, progress)
    else:
        result = sweep(plan, records, workers=workers, cluster=cluster, options=options, progress=progress)
    kept: Iterable[Record] = result.records
    if records is not None:  # the folder may have records of other settings
        planned = {key for batch in plan.batches for key in batch.keys}
        kept = [record for record in RecordStore(records).read(task=task.name) if record.key in planned]
    runs: dict[str, list[Record]] = {method.name: [] for method in compared}
    for record in sorted(kept, key=attrgetter("seed")):
        runs[record.method].append(record)
    for method_name, error in result.errors.items():
        problems[method_name] = f"{seeds - len(runs[method_name])} of {seeds} runs failed: {error}"
    task = plan.batches[0].task if plan.batches else task
    rows = _rows(task, compared, runs, problems, metric, seeds)
    in_order = tuple(chain.from_iterable(runs.values()))
    return Comparison(task, metric, seeds, rows, in_order, None if records is None else Path(records), result)


# ---- runs ------------------------------------------------------------------------------------------


def compared_methods(names: Iterable[str], predicts: TargetKind = "classes") -> list[Method]:
    """The named methods, then the trivial baselines and ablations."""
    trivial = [method.name for method in TRIVIAL[predicts]]
    methods = [find_method(name, predicts) for name in dict.fromkeys((*names, *trivial))]
    if len(methods) == len(trivial):
        raise ValueError(f"A comparison needs at least one method besides the baselines {', '.join(trivial)}.")
    return sorted(methods, key=attrgetter("is_baseline"))


def plan_runs(
    task: Task, methods: Sequence[Method], seeds: range, settings: Mapping[str, Any]
) -> tuple[SweepPlan, dict[str, str]]:
    """One batch per method and seed, all methods with the first seed first; and why some methods cannot be run.

    A seed is that of the model and of the split, or of the graphs of a task that draws them. What the task leaves open
    is decided by its split with seed 0, for all of them.
    """
    check_settings(settings, methods)
    first = task.splits(*data_and_split(task, 0))
    task = replace(task, vanishing=first.vanishing, color_penalty=first.color_penalty)
    configurations, problems = {}, {}
    for method in methods:
        if reason := not_applicable(task, method):
            problems[method.name] = reason
        else:
            changes = settings_for(method, settings)
            configurations[method.name] = task_configuration(method, task, defaults.RECIPE) | changes
    batches = [
        RunBatch(task, *data_and_split(task, seed), name, defaults.RECIPE, (Run(configuration, seed),))
        for seed in seeds
        for name, configuration in configurations.items()
    ]
    return SweepPlan(tuple(batches)), problems


def data_and_split(task: Task, seed: int) -> tuple[Data, int | None]:
    """What a seed decides: the split of a fixed set, or the graphs."""
    return ("published", seed) if task.source.has_published else (seed, None)


def not_applicable(task: Task, method: Method) -> str:
    """The reason why a method cannot be run on a task; empty if it can."""
    if task.predicts not in method.predicts:
        return f"{method.name} does not predict {task.predicts}."
    if method.compares_environments(method.default("paper", task.family)) and task.single_environment:
        return (
            f"{method.name} on {task.name}: NA. It compares training environments, and all training graphs of "
            f"{task.name} come from one."
        )
    return ""


def _evaluate_here(plan: SweepPlan, options: EvaluationOptions, progress: ProgressFunction) -> SweepResult:
    """Evaluate a plan in this process, and keep the records in memory; a batch that fails does not stop the others."""
    records: list[Record] = []
    failures: list[str] = []
    errors: dict[str, str] = {}
    splits: Splits | None = None
    for number, batch in enumerate(plan.batches):
        progress("training", number / len(plan.batches), f"{number} of {len(plan.batches)} runs; now {batch.method}")
        if splits is None or splits.seed != batch.split:
            splits = batch.task.splits(batch.data, batch.split)
        try:
            records += evaluate_runs(find_method(batch.method), splits, batch.runs, batch.recipe, options)
        except Exception as error:
            failures.append(f"{batch}: {error_sentence(error)}")
            errors.setdefault(batch.method, error_sentence(error))
    progress("training", 1.0)
    return SweepResult(len(plan.batches), 0, len(records), tuple(failures), (), 0.0, errors, tuple(records))


# ---- rows ------------------------------------------------------------------------------------------


def _rows(
    task: Task, methods: Sequence[Method], runs: Mapping[str, Sequence[Record]], problems: Mapping[str, str],
    metric: str, seeds: int,
) -> tuple[ComparisonRow, ...]:  # fmt: skip
    rows = {method.name: _row(method, runs[method.name], metric, problems) for method in methods}
    complete = [name for name, row in rows.items() if len(row.scores) == seeds]
    if complete:
        means = resampled_means([_predictions(task, runs[name]) for name in complete], metric)
        if len(means):
            rows |= _with_intervals({name: rows[name] for name in complete}, means, metric)
    decimals = decimals_of(metric, [row.mean for row in rows.values()])
    return tuple(replace(row, decimals=decimals) for row in rows.values())


def _row(method: Method, runs: Sequence[Record], metric: str, problems: Mapping[str, str]) -> ComparisonRow:
    row = ComparisonRow(method.name, method.title, method.is_baseline, problem=problems.get(method.name, ""))
    metrics: dict[str, float] = {}
    for name in METRIC_NAMES:
        values = [run.chosen.metrics.get(name, np.nan) for run in runs]
        if values and np.isfinite(values).all():
            metrics[name] = float(np.mean(values))
    if metric not in metrics:
        missing = row.problem or (f"its {METRIC_NAMES[metric]} is not defined" if runs else "it was not run")
        return replace(row, problem=missing)
    scores = tuple([run.chosen.metrics[metric] for run in runs])
    mean = float(np.mean(scores))
    return replace(
        row,
        scores=scores,
        mean=mean,
        deviation=float(np.std(scores)) if len(scores) > 1 else None,
        goodness=goodness(metric, mean),
        metrics=metrics,
        seconds=float(np.mean([run.seconds or 0.0 for run in runs])),
    )


def _predictions(task: Task, runs: Sequence[Record]) -> list[RunPredictions]:
    """What the runs of a method predicted, with the positions of the graphs in the set."""
    source = task.source
    assert isinstance(source, OwnGraphs)
    predictions = []
    for run in runs:
        test, ranks = source.positions(run.seed).test, np.array(run.chosen.ranks, np.int64)
        if task.predicts == "numbers":
            predictions.append(RunPredictions(test, np.array(run.targets), np.array(run.chosen.numbers), ranks))
        else:
            predictions.append(RunPredictions(test, decode(run.labels), decode(run.chosen.predictions), ranks))
    return predictions


def _with_intervals(rows: Mapping[str, ComparisonRow], means: FloatArray, metric: str) -> dict[str, ComparisonRow]:
    """Intervals of the rows, and what they show of methods: which baselines one is above, and which are the best."""
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    lows, highs = np.quantile(means, ends, axis=0)
    means = goodness(metric, means)
    scores = np.array([row.goodness for row in rows.values()])
    is_baseline = np.array([row.is_baseline for row in rows.values()])
    of_methods = np.where(is_baseline, -np.inf, scores)
    first = int(of_methods.argmax())
    # (methods, methods): the lower end of the interval of the mean of one minus that of another, paired by resamples
    lowest = np.quantile(means[:, :, None] - means[:, None, :], ends[0], axis=0)
    near = (lowest[first] <= 0) & np.isfinite(of_methods)
    tied = near & (near.sum() > 1)
    judged = {}
    for number, (name, row) in enumerate(rows.items()):
        not_above = ""
        if not is_baseline[number]:
            left = np.flatnonzero(is_baseline & ~(lowest[number] > 0))
            not_above = list(rows)[left[scores[left].argmax()]] if len(left) else ""
        best = not is_baseline[number] and scores[number] == of_methods[first] and not not_above
        judged[name] = replace(
            row, low=float(lows[number]), high=float(highs[number]), not_above=not_above, best=bool(best),
            tied=bool(tied[number]),
        )  # fmt: skip
    return judged


def _cell(row: ComparisonRow) -> Cell:
    if row.mean is None:
        return Cell("failed")
    interval = None if row.low is None or row.high is None else Interval(row.low, row.high, LEVEL, RESAMPLES)
    return Cell(
        "run", ScoreSummary.of(row.scores), interval=interval, best=row.best, tied=row.tied, decimals=row.decimals
    )  # fmt: skip
