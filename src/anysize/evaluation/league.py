"""The league: methods on many sets of real graphs, trained on the small graphs of a set and tested on its large ones.

Sets are found in folders: TU collections and other files of labeled graphs, and tables of SMILES, of which every column
with two classes is a set. Each set is split by size (`anysize.splits.BySize`): graphs up to the median size for
training, graphs from the 90th percentile on for test, and five split seeds draw five random 90 % subsets of the
training graphs. Tables are made from records alone. Sets of one family (targets of one table of molecules, names that
begin alike) count once: their scores are averaged.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anysize._errors import GraphError, GraphWarning, require
from anysize._progress import ProgressFunction, ignore_progress
from anysize._text import capitalized, plural
from anysize._typing import FloatArray, PathLike
from anysize.evaluation.compare import plan_runs
from anysize.evaluation.evaluate import EvaluationOptions
from anysize.evaluation.intervals import LEVEL, RunPredictions
from anysize.evaluation.records import Record, decode
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import RunBatch, SweepPlan, SweepResult, sweep
from anysize.evaluation.tasks import Task, own_task
from anysize.graphs.graphset import GraphSet
from anysize.io.read import read_graphs
from anysize.methods import defaults
from anysize.methods.baselines import TRIVIAL_BASELINES
from anysize.methods.catalog import METHODS, find_method
from anysize.metrics import METRIC_NAMES, check_metric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAGUE_METHODS = (
    "auto", "sizemix", "gamma-1hot", "gamma-gin", "gamma-rpgin", "gin-sum", "gin-mean", "gcn-sum", "gcn-mean",
    "pna-sum", "pna-mean", "wl-kernel", "gc-kernel",
)  # fmt: skip
METRIC = "mcc"
PAGE_METRICS = ("mcc", "balanced_accuracy", "roc_auc")
MIN_MINORITY_GRAPHS = 8  # test graphs of the rarest class: with fewer, scores are chance
RESAMPLES = 1000
# sets whose test labels were looked at while `auto` and SizeMix were designed
DESIGN_FAMILIES = frozenset(
    {"NCI1", "NCI109", "PROTEINS", "DD", "IMDB-BINARY", "COLLAB", "DHFR", "PTC", "bbbp", "tox21", "sider"}
    | {"BZR", "MSRC", "Mutagenicity"}
)
_TASK_NAME = re.compile(r"(?P<name>.+)-size-[0-9a-f]{8}")


# ---- sets --------------------------------------------------------------------------------------------


def find_sets(folders: Iterable[PathLike]) -> tuple[list[Task], dict[str, str]]:
    """The sets in folders as tasks, and what was left out: name -> why.

    Every file and folder inside is read as labeled graphs; a file or the folder of one TU set is a set by itself. A CSV
    file with a column ``smiles`` gives one set for every other column, ``file.column``; rows without a value are not
    part of it.
    """
    tasks: dict[str, Task] = {}
    left_out: dict[str, str] = {}
    roots = [Path(folder) for folder in folders]
    for root in roots:
        if not root.exists():
            raise GraphError(f"A league needs folders with sets of graphs; there is no folder {root}.")
        is_set = root.is_file() or any(root.glob("*_graph_indicator.txt"))
        for path in [root] if is_set else sorted(root.iterdir()):
            if path.name.startswith(".") or path.suffix in (".md", ".json"):
                continue
            for name, read in _sets_of(path):
                if name in tasks:
                    left_out[str(path)] = f"Another set is called {name}, too."
                    continue
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", GraphWarning)
                        tasks[name] = own_task(read(), "size", name=name)
                except (GraphError, ValueError, OSError) as error:
                    left_out[name] = str(error)
    if not tasks:
        reasons = "".join(f" {name}: {why}" for name, why in left_out.items())
        raise GraphError(f"There is no set of labeled graphs in {', '.join(map(str, roots))}.{reasons}")
    return list(tasks.values()), left_out


def _sets_of(path: Path) -> list[tuple[str, Callable[[], GraphSet]]]:
    name = path.name.removesuffix("".join(path.suffixes)) or path.name
    columns: list[str] = []
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            columns = next(csv.reader(file), [])
    if "smiles" not in columns:
        return [(name, partial(read_graphs, path))]
    targets = [column for column in columns if column != "smiles"]
    return [
        (name if len(targets) == 1 else f"{name}.{target}", partial(read_graphs, path, smiles="smiles", y=target))
        for target in targets
    ]


def run_league(
    tasks: Sequence[Task],
    records: PathLike,
    *,
    methods: Sequence[str] = LEAGUE_METHODS,
    seeds: int = defaults.COMPARED_SEEDS,
    workers: int = 1,
    device: str = defaults.DEVICE,
    cache: PathLike | None = None,
    time_limit: float | None = None,
    progress: ProgressFunction = ignore_progress,
) -> SweepResult:
    """Train what has no record yet: all sets and methods with the first seed, then with the second, and so on.

    Of sets with too few test graphs of a class only the majority is recorded, so that tables can name them.
    """
    require("sklearn", "A league")
    named = [find_method(name) for name in dict.fromkeys((*methods, *TRIVIAL_BASELINES))]
    by_seed: dict[int | None, list[RunBatch]] = {}
    for task in tasks:
        enough = minority(np.asarray(task.splits().test.y)) >= MIN_MINORITY_GRAPHS
        run_here = named if enough else [method for method in named if method.name == "majority"]
        plan, _ = plan_runs(task, run_here, range(seeds), {})
        for batch in plan.batches:
            by_seed.setdefault(batch.split, []).append(batch)
    whole = SweepPlan(tuple(chain.from_iterable(by_seed.values())))
    options = EvaluationOptions(device, cache, ranks=True)
    return sweep(whole, records, workers=workers, options=options, time_limit=time_limit, progress=progress)


def minority(y: Any) -> int:
    """The number of graphs of the rarest class; 0 if there is only one class.

    >>> minority([0, 0, 1, 0]), minority([1, 1])
    (1, 0)
    """
    amounts = np.unique(y, return_counts=True)[1]
    return int(amounts.min()) if len(amounts) > 1 else 0


# ---- the table ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeagueRow:
    """One method.

    Attributes:
        method, label: its name, and its title in tables.
        is_baseline: a trivial baseline, which has no rank.
        families: score of each family, the mean over its sets and seeds; without those of which a set is missing.
        seeds: the smallest number of runs on a set.
        metrics: metric -> mean over families; None where a family is missing or the metric is not defined.
        rank: mean rank over families among the methods that have all of them, 1 for the best; None otherwise.
        low, high: bootstrap interval of the mean score, when families and test graphs are resampled.
        behind: the share of resamples in which it has a lower mean than the highest one, baselines included; None for
            that one.
        one_class: sets on which every run gives all test graphs one class.
    """

    method: str
    label: str
    is_baseline: bool
    families: Mapping[str, float]
    metrics: Mapping[str, float | None]
    seeds: int
    rank: float | None = None
    low: float | None = None
    high: float | None = None
    behind: float | None = None
    one_class: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class League:
    """Scores of methods on families of sets.

    Attributes:
        metric: of scores, ranks and intervals.
        rows: methods by mean score, best first, incomplete ones after them, baselines last.
        families: family -> its sets.
        left_out: set -> test graphs of its rarest class, where these are too few.
    """

    metric: str
    rows: tuple[LeagueRow, ...]
    families: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, int]

    def row(self, method: str) -> LeagueRow:
        """The row of a method."""
        return next(row for row in self.rows if row.method == method)

    @property
    def statement(self) -> str:
        """Which method is first, in one sentence that includes the baselines and the uncertainty."""
        first = next((row for row in self.rows if row.low is not None and row.behind is None), None)
        if first is None:
            return "No method has a score on every family."
        if first.is_baseline:
            return f"No method beats the baseline {first.label}."
        level = (1 + LEVEL) / 2
        near = [row.method for row in self.rows if row.behind is not None and row.behind < level]
        if near:
            return f"{first.method} has the highest mean, but {', '.join(near)} cannot be told from it."
        return f"{first.method} is clearly above all others, baselines included."

    def fields(self) -> dict[str, Any]:
        """The league as JSON values."""
        return {
            "metric": self.metric,
            "families": {family: list(sets) for family, sets in self.families.items()},
            "left_out": dict(self.left_out),
            "rows": [asdict(row) for row in self.rows],
        }


def family_names(sets: Iterable[str]) -> dict[str, str]:
    """Set -> family: what stands before a dot, or before an underscore if several sets begin so.

    >>> family_names(["tox21.NR-AR", "PTC_FM", "PTC_MR", "NCI1", "AIDS_B"])
    {'tox21.NR-AR': 'tox21', 'PTC_FM': 'PTC', 'PTC_MR': 'PTC', 'NCI1': 'NCI1', 'AIDS_B': 'AIDS_B'}
    """
    names = list(sets)
    prefixes = [name.partition("_")[0] for name in names if "_" in name and "." not in name]
    families = {}
    for name in names:
        before_dot, dot, _ = name.partition(".")
        prefix = name.partition("_")[0]
        families[name] = before_dot if dot else prefix if prefixes.count(prefix) > 1 else name
    return families


def read_league(records: PathLike, metric: str = METRIC) -> League:
    """The league of a folder of records."""
    check_metric(metric)
    runs: dict[str, dict[str, list[Record]]] = {}
    for record in RecordStore(records).read():
        match = _TASK_NAME.fullmatch(record.task)
        if match and record.data.startswith("split:"):
            runs.setdefault(match["name"], {}).setdefault(record.method, []).append(record)
    if not runs:
        raise ValueError(f"{records} has no records of a league; name folders with sets of graphs to train on.")
    return _league(runs, metric)


def _league(runs: Mapping[str, Mapping[str, Sequence[Record]]], metric: str) -> League:
    left_out = {
        name: few
        for name, methods in runs.items()
        if (few := minority(decode(next(iter(methods.values()))[0].labels))) < MIN_MINORITY_GRAPHS
    }
    kept = {name: methods for name, methods in runs.items() if name not in left_out}
    if not kept:
        raise ValueError(f"There is nothing to rank: no set has enough large graphs. {_left_out(left_out)}")
    by_family: dict[str, list[str]] = {}
    for name, family in family_names(sorted(kept)).items():
        by_family.setdefault(family, []).append(name)
    methods = list(dict.fromkeys(chain.from_iterable(kept.values())))
    methods.sort(key=lambda name: list(METHODS).index(name) if name in METHODS else -1)
    rows = {name: _row(name, kept, by_family, metric) for name in methods}
    complete = [name for name in methods if len(rows[name].families) == len(by_family)]
    if complete and by_family:
        rows |= _ranked({name: rows[name] for name in complete}, list(by_family))
        rows |= _with_intervals({name: rows[name] for name in complete}, kept, by_family, metric)

    def order(row: LeagueRow) -> tuple[bool, bool, float, bool]:
        mean = float(np.mean(list(row.families.values()) or [-1.0]))
        return row.is_baseline, row.method not in complete, -round(mean, 9), row.method != defaults.METHOD

    return League(
        metric,
        tuple(sorted(rows.values(), key=order)),
        {family: tuple(sets) for family, sets in by_family.items()},
        left_out,
    )


def _row(
    method: str, runs: Mapping[str, Mapping[str, Sequence[Record]]], families: Mapping[str, Sequence[str]],
    metric: str,
) -> LeagueRow:  # fmt: skip
    def scores(name: str) -> dict[str, float]:
        """The score of each family: the mean over its sets of the mean over their runs."""
        by_family = {}
        for family, sets in families.items():
            means: list[float] = []
            for set_name in sets:
                values = [run.chosen.metrics.get(name, np.nan) for run in runs[set_name].get(method, ())]
                means.append(float(np.nanmean(values)) if np.isfinite(values).any() else np.nan)
            if np.isfinite(means).all():
                by_family[family] = float(np.mean(means))
        return by_family

    known = METHODS.get(method)
    means: dict[str, float | None] = {}
    for name in METRIC_NAMES:
        by_family = scores(name)
        complete = by_family and len(by_family) == len(families)
        means[name] = float(np.mean(list(by_family.values()))) if complete else None
    one_class = [
        name
        for name, methods in runs.items()
        if methods.get(method) and all(len(set(run.chosen.predictions)) == 1 for run in methods[method])
    ]
    return LeagueRow(
        method,
        method if known is None else known.title,
        known is not None and known.is_baseline,
        scores(metric),
        means,
        min((len(methods.get(method, ())) for methods in runs.values()), default=0),
        one_class=tuple(sorted(one_class)),
    )


def _ranked(rows: Mapping[str, LeagueRow], families: Sequence[str]) -> dict[str, LeagueRow]:
    from scipy.stats import rankdata

    competing = [name for name, row in rows.items() if not row.is_baseline]
    if not competing:
        return dict(rows)
    table = np.array([[rows[name].families[family] for family in families] for name in competing])
    ranks = rankdata(-table.round(12), axis=0).mean(axis=1)
    return dict(rows) | {
        name: replace(rows[name], rank=float(rank)) for name, rank in zip(competing, ranks, strict=True)
    }


def _with_intervals(
    rows: Mapping[str, LeagueRow], runs: Mapping[str, Mapping[str, Sequence[Record]]],
    families: Mapping[str, Sequence[str]], metric: str,
) -> dict[str, LeagueRow]:  # fmt: skip
    """Resample families, and within every set its test graphs, the same for all methods.

    Without intervals for ROC-AUC if records do not have the ranks of the test graphs.
    """
    if metric == "roc_auc" and not all(
        run.chosen.ranks for sets in families.values() for name in sets for method in rows for run in runs[name][method]
    ):
        return dict(rows)
    rng = np.random.default_rng(0)
    means = np.zeros((RESAMPLES, len(rows), len(families)))
    for column, sets in enumerate(families.values()):
        for name in sets:
            labels = decode(next(iter(runs[name].values()))[0].labels)
            weights = rng.multinomial(len(labels), np.full(len(labels), 1 / len(labels)), RESAMPLES).astype(float)
            for number, method in enumerate(rows):
                scores = [_predictions(run).scores(metric, weights) for run in runs[name][method]]
                means[:, number, column] += np.mean(scores, axis=0) / len(sets)
    drawn = rng.integers(0, len(families), (RESAMPLES, len(families)))
    resampled: FloatArray = np.take_along_axis(means, drawn[:, None, :], axis=2)
    resampled = np.nanmean(resampled, axis=2)
    low, high = np.nanquantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    names = list(rows)
    first = max(names, key=lambda name: (round(rows[name].metrics[metric] or -1, 9), name == defaults.METHOD))
    behind = (resampled < resampled[:, [names.index(first)]]).mean(axis=0)
    return {
        name: replace(
            rows[name],
            low=float(low[number]),
            high=float(high[number]),
            behind=None if name == first else float(behind[number]),
        )
        for number, name in enumerate(names)
    }


def _predictions(run: Record) -> RunPredictions:
    labels = decode(run.labels)
    return RunPredictions(
        np.arange(len(labels)), labels, decode(run.chosen.predictions), np.array(run.chosen.ranks, np.int64)
    )


# ---- the page ----------------------------------------------------------------------------------------


def to_markdown(league: League, figure: str | None = None) -> str:
    """The league as a page: one table of means, one of families, and what was left out."""
    sets = sum(map(len, league.families.values()))
    metric = METRIC_NAMES[league.metric]
    lines = [
        "# League: real graphs, from small to large",
        "",
        "<!-- made by `anysize league`; do not edit -->",
        "",
        f"{plural(sets, 'set')} of real graphs in {plural(len(league.families), 'family', 'families')}; a family "
        "counts once, its sets are averaged. "
        "Trained on graphs up to the median size, tested on graphs from the 90th percentile of the size on; mean over "
        "random 90 % subsets of the training graphs, *subsets* is their number. All methods have the defaults of "
        "`GraphClassifier` (robust recipe, classes balanced, k = 4). No label of a test graph is used in training. "
        f"Interval: {LEVEL:.0%} bootstrap over families and test graphs. *Behind*: the share of resamples in which the "
        "method has a lower mean than the highest one; below .975 the difference may be chance. *One class*: sets of "
        "which all test graphs get one class in every run.",
        "",
        league.statement,
        "",
    ]
    lines += [f"![Mean {metric} of every method]({figure})", ""] if figure else []
    heads = [METRIC_NAMES[name] for name in dict.fromkeys((league.metric, *PAGE_METRICS))]
    lines += [
        f"| method | {heads[0]} | interval | behind | rank | {' | '.join(heads[1:])} | one class | subsets |",
        "|---|" + "---|" * (5 + len(heads)),
    ]
    for row in league.rows:
        others = [row.metrics[name] for name in dict.fromkeys((league.metric, *PAGE_METRICS))]
        interval = "" if row.low is None or row.high is None else f"{_number(row.low)} to {_number(row.high)}"
        cells = [_number(others[0]), interval, _number(row.behind), "" if row.rank is None else f"{row.rank:.1f}"]
        cells += [*map(_number, others[1:]), f"{len(row.one_class)} of {sets}", str(row.seeds)]
        lines.append(f"| {row.method} | {' | '.join(cells)} |")
    lines += ["", f"## {capitalized(metric)} by family", ""]
    names = list(league.families)
    lines += [f"| method | {' | '.join(_family(name, league) for name in names)} |", "|---|" + "---|" * len(names)]
    for row in league.rows:
        lines.append(f"| {row.method} | {' | '.join(_number(row.families.get(name)) for name in names)} |")
    marked = [name for name in names if name in DESIGN_FAMILIES or name.partition("_")[0] in DESIGN_FAMILIES]
    if marked:
        lines += [
            "",
            f"Test labels of {', '.join(marked)} were looked at while `auto` and SizeMix were designed ([how it "
            "decides](auto.md)): their scores there are no test on unseen sets.",
        ]
    if league.left_out:
        lines += ["", _left_out(league.left_out)]
    return "\n".join(lines) + "\n"


def _left_out(sets: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name} ({few})" for name, few in sorted(sets.items()))
    return f"Left out, with fewer than {MIN_MINORITY_GRAPHS} test graphs of the rarest class: {listed}."


def plot(league: League) -> Figure:
    """Every method: its mean, the interval, and a tick for each family."""
    from anysize.plots import MethodScores, method_scores

    first = league.rows[0].method
    rows = [
        MethodScores(
            row.method, float(np.mean(list(row.families.values()))), row.low, row.high, tuple(row.families.values()),
            row.method == first, row.is_baseline,
        )
        for row in league.rows
        if row.families
    ]  # fmt: skip
    return method_scores(rows, METRIC_NAMES[league.metric])


def _family(name: str, league: League) -> str:
    return name if len(league.families[name]) == 1 else f"{name} ({len(league.families[name])} sets)"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("0.", ".", 1)
