"""Standings of the league: from records alone, rows of methods with scores, ranks and paired intervals.

The league has parts (`PARTS`), which the name of a task tells: real sets from small to large graphs and from large to
small ones, drawn graphs with planted motifs, and numbers to predict. Each has families, means and ranks of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from anysize._typing import FloatArray, PathLike, TargetKind
from anysize.evaluation.intervals import LEVEL, RunPredictions
from anysize.evaluation.records import Record, decode
from anysize.evaluation.store import RecordStore
from anysize.methods import defaults
from anysize.methods.baselines import MEAN
from anysize.methods.catalog import METHODS
from anysize.metrics import ERRORS, METRIC_NAMES, METRICS_OF, check_metric

METRIC = "mcc"
REDUCTION = "rmse_reduction"  # 1 - RMSE / RMSE of predicting the training mean, of the same test graphs
SCORE_NAMES: Mapping[str, str] = {**METRIC_NAMES, REDUCTION: "RMSE reduction"}
MIN_MINORITY_GRAPHS = 8  # test graphs of the rarest class, or with numbers: with fewer, scores are chance
RESAMPLES = 1000
INNER = "-inner-"  # in the names of tasks made of training graphs, on which configurations are chosen

Truth: TypeAlias = str | tuple[float, ...]  # of test graphs, as records have it
Runs: TypeAlias = Mapping[str, Mapping[str, Sequence[Record]]]  # set -> method -> its runs


class Part(NamedTuple):
    """One part of the league.

    Attributes:
        name, title: in commands, and on the page.
        about: one sentence.
        task: a regular expression of its tasks' names: name of the set, and the split.
        metric: of its scores, if not that of the others.
        predicts: classes or numbers.
    """

    name: str
    title: str
    about: str
    task: str
    metric: str | None = None
    predicts: TargetKind = "classes"


PARTS = {
    part.name: part
    for part in (
        Part(
            "up", "From small to large",
            "Trained on graphs up to the median size, tested on graphs from the 90th percentile of the size on.",
            r"(?P<set>.+)-(?P<split>size-[0-9a-f]{8})",
        ),
        Part(
            "down", "From large to small",
            "Trained on graphs from the median size on, tested on graphs up to the 10th percentile of the size.",
            r"(?P<set>.+)-(?P<split>size-down-[0-9a-f]{8})",
        ),
        Part(
            "motifs", "Planted motifs",
            "Drawn graphs, the class is a motif of five vertices ([rules](motif-tasks.md)); scores are accuracies, as "
            "in the literature.",
            r"(?P<set>.+)-(?P<split>drawn-[0-9a-f]{8})", "accuracy",
        ),
        Part(
            "numbers", "Numbers, from small to large",
            "Trained on graphs up to the median size to predict a number, tested on graphs from the 90th percentile of "
            "the size on. Scores are RMSE reductions, 1 - RMSE / RMSE of predicting the mean of the training graphs: "
            "units cancel, 1 is no error, 0 is no better than the mean.",
            r"(?P<set>.+)-(?P<split>numbers-[0-9a-f]{8})", REDUCTION, "numbers",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class LeagueRow:
    """One method.

    Attributes:
        method, label: its name, and its title in tables.
        is_baseline: a trivial baseline, which has no rank.
        sets: score of each set, the mean over its runs.
        families: score of each family, the mean over its sets; without those of which a set is missing.
        runs: number of runs of each set.
        metrics: metric without a unit -> mean over families; None where a family is missing or the metric is not
            defined.
        rank: mean rank over families among the methods that have all of them, 1 for the best; None otherwise.
        low, high: bootstrap interval of the mean score, when families and test graphs are resampled.
        ahead_low, ahead_high: interval of its mean minus the highest mean in the same resamples; None for that one.
        behind: the share of resamples in which it has a lower mean than the highest one, baselines included; None for
            that one.
        one_class: sets on which every run gives all test graphs one class.
        tried: of how many configurations one was chosen inside the training graphs (`anysize.evaluation.tuning`).
    """

    method: str
    label: str
    is_baseline: bool
    sets: Mapping[str, float]
    families: Mapping[str, float]
    runs: Mapping[str, int]
    metrics: Mapping[str, float | None]
    rank: float | None = None
    low: float | None = None
    high: float | None = None
    ahead_low: float | None = None
    ahead_high: float | None = None
    behind: float | None = None
    one_class: tuple[str, ...] = ()
    tried: int = 1

    @property
    def told_apart(self) -> bool:
        """Whether its mean is below the highest one in nearly all resamples."""
        return self.ahead_high is not None and self.ahead_high < 0


@dataclass(frozen=True, eq=False)
class League:
    """Scores of methods on families of sets.

    Attributes:
        part: of the league.
        metric: of scores, ranks and intervals.
        rows: methods by mean score, best first, incomplete ones after them, baselines last.
        families: family -> its sets.
        splits: set -> its split and the hash of graphs, labels and split, as in the name of the task.
        test_graphs: set -> number of its test graphs.
        left_out: set -> test graphs of its rarest class, or with numbers, where these are too few.
    """

    part: Part
    metric: str
    rows: tuple[LeagueRow, ...]
    families: Mapping[str, tuple[str, ...]]
    splits: Mapping[str, str]
    test_graphs: Mapping[str, int]
    left_out: Mapping[str, int]

    def row(self, method: str) -> LeagueRow:
        """The row of a method."""
        return next(row for row in self.rows if row.method == method)

    @property
    def first(self) -> LeagueRow | None:
        """The row with the highest mean; None if no method has all families."""
        return next((row for row in self.rows if row.low is not None and row.behind is None), None)

    @property
    def ranked(self) -> tuple[LeagueRow, ...]:
        """The rows with a rank, best first."""
        return tuple(sorted((row for row in self.rows if row.rank is not None), key=lambda row: row.rank or 0.0))

    @property
    def critical_difference(self) -> float | None:
        """The mean ranks of two methods must differ by more to be told apart (`critical_difference`)."""
        many = len(self.ranked) > 1 and len(self.families) > 1
        return critical_difference(len(self.ranked), len(self.families)) if many else None

    @property
    def statement(self) -> str:
        """Which method is first, in one sentence that includes the baselines and the uncertainty."""
        first = self.first
        if first is None:
            return "No method has a score on every family."
        if first.is_baseline:
            return f"No method beats the baseline {first.label}."
        near = [row.method for row in self.rows if row.ahead_high is not None and not row.told_apart]
        if near:
            return f"{first.method} has the highest mean, but {', '.join(near)} cannot be told from it."
        return f"{first.method} is clearly above all others, baselines included."

    def fields(self) -> dict[str, Any]:
        """The league as JSON values."""
        return {
            "metric": self.metric,
            "statement": self.statement,
            "families": {family: list(sets) for family, sets in self.families.items()},
            "splits": dict(self.splits),
            "critical_difference": self.critical_difference,
            "left_out": dict(self.left_out),
            "rows": [asdict(row) for row in self.rows],
        }


def critical_difference(methods: int, families: int, level: float = LEVEL) -> float:
    """By how much mean ranks over families must differ, by the test of Nemenyi: of any two of all the methods.

    >>> round(critical_difference(5, 20), 2)
    1.36
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(level, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * families)))


def minority(y: Any) -> int:
    """The number of graphs of the rarest class; 0 if there is only one class.

    >>> minority([0, 0, 1, 0]), minority([1, 1])
    (1, 0)
    """
    amounts = np.unique(y, return_counts=True)[1]
    return int(amounts.min()) if len(amounts) > 1 else 0


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


# ---- from records ------------------------------------------------------------------------------------


def read_leagues(records: PathLike, metric: str = METRIC) -> list[League]:
    """The parts of the league that a folder of records has, in the order of `PARTS`."""
    check_metric(metric, "classes")
    by_part: dict[str, dict[str, dict[str, list[Record]]]] = {}
    splits: dict[tuple[str, str], str] = {}
    tried: Counter[tuple[str, str]] = Counter()  # configurations of a method on an inner task
    for record in RecordStore(records).read(curves=False):
        tried[record.task, record.method] += INNER in record.task
        for part in PARTS.values():
            match = re.fullmatch(part.task, record.task)
            if match is None or record.data == "published":
                continue
            name = match["set"]
            if splits.setdefault((part.name, name), match["split"]) != match["split"]:
                raise ValueError(
                    f"{records} has two versions of {name}, {splits[part.name, name]} and {match['split']}: its graphs "
                    "or how they are read have changed; keep the records of one of them."
                )
            by_part.setdefault(part.name, {}).setdefault(name, {}).setdefault(record.method, []).append(record)
    if not by_part:
        raise ValueError(f"{records} has no records of a league; name folders with sets of graphs to train on.")
    most = {method: max(tried[key] for key in tried if key[1] == method) for _, method in tried}
    leagues = [
        _league(part, {name: splits[part.name, name] for name in by_part[part.name]}, by_part[part.name], metric)
        for part in PARTS.values()
        if part.name in by_part
    ]
    return [
        replace(league, rows=tuple(replace(row, tried=max(most[row.method], 1)) for row in league.rows))
        for league in leagues
    ]


def _league(part: Part, splits: Mapping[str, str], runs: Runs, metric: str) -> League:
    metric = metric if part.metric is None else part.metric
    left_out = {}
    for name, methods in runs.items():
        run = next(iter(methods.values()))[0]
        amount = minority(decode(run.labels)) if part.predicts == "classes" else len(run.targets)
        if amount < MIN_MINORITY_GRAPHS:
            left_out[name] = amount
    kept = {name: methods for name, methods in runs.items() if name not in left_out}
    if not kept:
        sentence = left_out_sentence(left_out, part)
        raise ValueError(f"There is nothing to rank: no set has enough large graphs. {sentence}")
    by_family: dict[str, list[str]] = {}
    for name, family in family_names(sorted(kept)).items():
        by_family.setdefault(family, []).append(name)
    names = list(dict.fromkeys(chain.from_iterable(kept.values())))
    names.sort(key=lambda name: list(METHODS).index(name) if name in METHODS else -1)
    rows = {name: _row(name, kept, by_family, metric, part.predicts) for name in names}
    complete = [name for name in names if len(rows[name].families) == len(by_family)]
    if complete and by_family:
        rows |= _ranked({name: rows[name] for name in complete}, list(by_family))
        rows |= _with_intervals({name: rows[name] for name in complete}, kept, by_family, metric)

    def order(row: LeagueRow) -> tuple[bool, bool, float, bool]:
        mean = float(np.mean(list(row.families.values()) or [-1.0]))
        return row.is_baseline, row.method not in complete, -round(mean, 9), row.method != defaults.METHOD

    return League(
        part,
        metric,
        tuple(sorted(rows.values(), key=order)),
        {family: tuple(sets) for family, sets in by_family.items()},
        splits,
        {name: len(_truth(next(iter(methods.values()))[0])) for name, methods in kept.items()},
        left_out,
    )


def left_out_sentence(sets: Mapping[str, int], part: Part) -> str:
    """Which sets are left out for want of test graphs."""
    few_sets = ", ".join(f"{name} ({few})" for name, few in sorted(sets.items()))
    which = " of the rarest class" if part.predicts == "classes" else ""
    return f"Left out, with fewer than {MIN_MINORITY_GRAPHS} test graphs{which}: {few_sets}."


def _row(
    method: str, runs: Runs, families: Mapping[str, Sequence[str]], metric: str, predicts: TargetKind
) -> LeagueRow:  # fmt: skip
    for name, methods in runs.items():
        if len({str(run.configuration) for run in methods.get(method, ())}) > 1:
            raise ValueError(
                f"There are runs of {method} on {name} with several configurations; keep them in several folders."
            )

    def of_sets(name: str) -> dict[str, float]:
        """The score of each set: the mean over its runs; without those where it is undefined."""
        scores = {}
        for set_name, methods in runs.items():
            values = [_score(run, name, methods) for run in methods.get(method, ())]
            if np.isfinite(values).any():
                scores[set_name] = float(np.nanmean(values))
        return scores

    def of_families(scores: Mapping[str, float]) -> dict[str, float]:
        """The score of each family: the mean over its sets."""
        whole = {family: sets for family, sets in families.items() if all(name in scores for name in sets)}
        return {family: float(np.mean([scores[name] for name in sets])) for family, sets in whole.items()}

    known = METHODS.get(method)
    means: dict[str, float | None] = {}
    for name in dict.fromkeys((*(name for name in METRICS_OF[predicts] if name not in ERRORS), metric)):
        by_family = of_families(of_sets(name))
        means[name] = float(np.mean(list(by_family.values()))) if len(by_family) == len(families) else None
    one_class = [
        name
        for name, methods in runs.items()
        if methods.get(method) and all(len(set(run.chosen.predictions)) == 1 for run in methods[method])
    ]
    return LeagueRow(
        method,
        method if known is None else known.title,
        known is not None and known.is_baseline,
        of_sets(metric),
        of_families(of_sets(metric)),
        {name: len(methods[method]) for name, methods in runs.items() if method in methods},
        means,
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
    rows: Mapping[str, LeagueRow], runs: Runs, families: Mapping[str, Sequence[str]], metric: str
) -> dict[str, LeagueRow]:
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
            weights = _weights({_truth(run): None for method in rows for run in runs[name][method]}, rng)
            for number, method in enumerate(rows):
                scores = [
                    _resampled_scores(run, metric, weights[_truth(run)], runs[name]) for run in runs[name][method]
                ]
                means[:, number, column] += np.mean(scores, axis=0) / len(sets)
    drawn = rng.integers(0, len(families), (RESAMPLES, len(families)))
    resampled: FloatArray = np.take_along_axis(means, drawn[:, None, :], axis=2)
    resampled = np.nanmean(resampled, axis=2)
    names = list(rows)
    observed = {name: round(float(np.mean(list(row.families.values()))), 9) for name, row in rows.items()}
    first = max(names, key=lambda name: (observed[name], name == defaults.METHOD))
    ahead = resampled - resampled[:, [names.index(first)]]
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.nanquantile(resampled, ends, axis=0).tolist()
    ahead_low, ahead_high = np.nanquantile(ahead, ends, axis=0).tolist()
    return {
        name: replace(rows[name], low=low[number], high=high[number])
        if name == first
        else replace(
            rows[name], low=low[number], high=high[number], ahead_low=ahead_low[number],
            ahead_high=ahead_high[number], behind=float((ahead[:, number] < 0).mean()),
        )
        for number, name in enumerate(names)
    }  # fmt: skip


def _score(run: Record, metric: str, of_set: Mapping[str, Sequence[Record]]) -> float:
    """The score of a run, nan where it is undefined; ``of_set``: the runs of every method on its set."""
    if metric != REDUCTION:
        return run.chosen.metrics.get(metric, np.nan)
    error = _run_of_mean(run, of_set).chosen.metrics["rmse"]
    return 1 - run.chosen.metrics["rmse"] / error if error > 0 else np.nan


def _resampled_scores(
    run: Record, metric: str, weights: FloatArray, of_set: Mapping[str, Sequence[Record]]
) -> FloatArray:  # fmt: skip
    """The score of a run for each row of weights (resamples, graphs), as `_score`."""
    if metric != REDUCTION:
        return _predictions(run).scores(metric, weights)
    errors = _predictions(_run_of_mean(run, of_set)).scores("rmse", weights)
    ratios = np.divide(
        _predictions(run).scores("rmse", weights), errors, out=np.full_like(errors, np.nan), where=errors > 0
    )
    return np.asarray(1 - ratios)


def _run_of_mean(run: Record, of_set: Mapping[str, Sequence[Record]]) -> Record:
    """The run of the baseline that predicts the mean, of the same training and test graphs."""
    for mean in of_set.get(MEAN.name, ()):
        if mean.data == run.data:
            return mean
    raise ValueError(
        f"There is no record of the baseline {MEAN.name} on {run.task}, {run.data}, which scores of numbers are "
        "relative to: run the league on this set again."
    )


def _truth(run: Record) -> Truth:
    """The labels of the test graphs, or their numbers."""
    return run.labels or run.targets


def _weights(test_sets: Iterable[Truth], rng: np.random.Generator) -> dict[Truth, FloatArray]:
    """(resamples, graphs) for every test set of a task, by its labels; drawn graphs have one for each seed."""
    return {
        labels: rng.multinomial(len(labels), np.full(len(labels), 1 / len(labels)), RESAMPLES).astype(float)
        for labels in test_sets
    }


def _predictions(run: Record) -> RunPredictions:
    if run.targets:
        return RunPredictions(
            np.arange(len(run.targets)), np.array(run.targets), np.array(run.chosen.numbers), np.zeros((0, 0), np.int64)
        )
    labels = decode(run.labels)
    return RunPredictions(
        np.arange(len(labels)), labels, decode(run.chosen.predictions), np.array(run.chosen.ranks, np.int64)
    )
