"""Select the configuration to report, as a pure function of records.

Runs of one task, data set, method and recipe form a group; within it, runs of one configuration differ by seed. A rule
says at which epoch a run is scored, by which split a configuration is selected, and how ties are broken.

- **The rule of the paper.** The text keeps the epoch with the best validation score, the code the first of several. Of
  configurations that tie, the first of the authors' enumeration is taken, which is the order of `Method.grid`.

- **Incomplete configurations.** Only configurations with as many seeds as the most complete one of their group are
  candidates: a mean over three lucky seeds must not win against means over ten. The others are counted, and the notes
  of a table say how many there were.
- **Missing epochs.** Runs that did not keep their outcome at the rule's epoch are left out. If no run of a group kept
  it, the group is shown at the epochs that its recipe chose.
- **Missing scores.** A configuration without the score to select by is a candidate only if all configurations lack it
  (a task without validation data); then all tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anysize._schema import JsonScalar, compact_json
from anysize.evaluation.records import Outcome, Record
from anysize.evaluation.tables import ScoreSummary, Ties
from anysize.methods.catalog import METHODS
from anysize.methods.method import Grid
from anysize.paper.tasks import TASKS
from anysize.training.settings import BEST_LOWEST_LOSS, BEST_LOWEST_PENALTY, FIRST_BEST, LAST, LOWEST_LOSS

SCORE_TOLERANCE = 1e-6  # smaller differences are rounding: scores may come from single precision


@dataclass(frozen=True)
class Rule:
    """How a configuration is selected.

    Attributes:
        epoch: one of `anysize.training.settings.EPOCH_RULES`, or `chosen` (by the recipe, inside the run).
        split: the split whose mean score over seeds must be highest.
        tie: among equals the `first` in the order of the grid, the one with the lowest validation `loss`, or with the
            lowest `penalty`.
        summary: one line on it, for a terminal.
        description: the same in full, for the notes of a table.
    """

    name: str
    epoch: str
    split: str
    tie: str
    summary: str
    description: str

    @property
    def uses_test_scores(self) -> bool:
        """Whether test scores decide; such numbers are for study only."""
        return self.split == "test"


def _validation_rule(name: str, epoch: str, at: str, tie: str) -> Rule:
    """A rule that selects by validation scores; ``at`` describes the epoch."""
    ties = {
        "first": "the first of the grid",
        "loss": "the one with the lowest validation loss",
        "penalty": "the one with the lowest penalty",
    }
    return Rule(
        name, epoch, "validation", tie,
        f"every run at {at}; highest mean validation score, of several {ties[tie]}.",
        f"every run at {at}; of each row the configuration with the highest mean validation score over seeds; of "
        f"several {ties[tie]}",
    )  # fmt: skip


_BEST = "of the epochs with its best validation score"
RULES = {
    rule.name: rule
    for rule in (
        _validation_rule("paper", "chosen", "the epoch of its recipe, the paper's the first best", "first"),
        _validation_rule(FIRST_BEST, FIRST_BEST, f"the first {_BEST}", "first"),
        _validation_rule(BEST_LOWEST_LOSS, BEST_LOWEST_LOSS, f"the lowest validation loss {_BEST}", "loss"),
        _validation_rule(LOWEST_LOSS, LOWEST_LOSS, "the epoch with its lowest validation loss", "loss"),
        _validation_rule(BEST_LOWEST_PENALTY, BEST_LOWEST_PENALTY, f"the smallest penalty {_BEST}", "penalty"),
        _validation_rule(LAST, LAST, "its last epoch", "first"),
        Rule(
            "oracle", "chosen", "test", "first",
            "ORACLE, for study only: highest mean TEST score. These numbers are not results.",
            "ORACLE, for study only: configurations were selected by their mean TEST scores, so these numbers are not "
            "results but an upper bound on what selection among them could reach",
        ),
    )
}  # fmt: skip


def rule_named(name: str) -> Rule:
    """Look up a rule."""
    if name not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {name!r}")
    return RULES[name]


@dataclass(frozen=True, order=True)
class Group:
    """What runs must have in common to be compared."""

    task: str
    data: str
    method: str
    recipe: str


@dataclass(frozen=True)
class Selection:
    """The configuration that a rule selected.

    Attributes:
        records, outcomes: its runs by ascending seed, and their outcomes at the rule's epoch.
        configurations: how many candidates there were.
        tied: those of them that share the best score, the selected one included.
        incomplete: how many configurations had too few seeds or no score.
        fallback: whether no run kept the rule's epoch, and the one that the recipe chose is shown in its place.
    """

    group: Group
    rule: Rule
    configuration: Mapping[str, JsonScalar]
    records: tuple[Record, ...]
    outcomes: tuple[Outcome, ...]
    configurations: int
    tied: tuple[Trial, ...]
    incomplete: int
    fallback: bool = False

    def tied_means(self, split: str) -> list[float]:
        """The mean scores of the tied configurations on a split, as far as known."""
        return [score for trial in self.tied if (score := trial.score(split)) is not None]

    def ties(self, split: str = "test") -> Ties:
        """How many configurations tie, and the range of their mean scores on a split."""
        means = self.tied_means(split)
        return Ties(len(self.tied), min(means, default=None), max(means, default=None))

    def summary(self, split: str) -> ScoreSummary | None:
        """Mean and deviation over the seeds; None if a run has no score on this split.

        The validation score of a single run on a task with folds, such as that of a kernel, has the deviation over its
        folds, as in the paper.
        """
        if split == "validation" and len(self.records) == 1 and self.records[0].folds:
            return ScoreSummary.of(self.records[0].folds)
        scores = [outcome.scores.of(split) for outcome in self.outcomes]
        known = [score for score in scores if score is not None]
        return ScoreSummary.of(known) if known and len(known) == len(scores) else None


@dataclass(frozen=True)
class Trial:
    """All runs of one configuration, and their outcomes at the rule's epoch."""

    configuration: Mapping[str, JsonScalar]
    records: tuple[Record, ...]
    outcomes: tuple[Outcome, ...]

    def mean(self, value: Callable[[Outcome], float | None]) -> float | None:
        """The mean over seeds; None if a run has no such value."""
        values = [value(outcome) for outcome in self.outcomes]
        known = [number for number in values if number is not None]
        return sum(known) / len(known) if known and len(known) == len(values) else None

    def score(self, split: str) -> float | None:
        """The mean score on a split."""
        return self.mean(lambda outcome: outcome.scores.of(split))

    def selection_score(self, split: str) -> float | None:
        """The mean score by which the configuration is selected."""
        if split == "validation" and any(outcome.selected_by is not None for outcome in self.outcomes):
            return self.mean(lambda outcome: outcome.selected_by)
        return self.score(split)


def grouped(records: Iterable[Record]) -> dict[Group, list[Record]]:
    """Records by their group, groups in ascending order."""
    groups: dict[Group, list[Record]] = {}
    for record in records:
        groups.setdefault(Group(record.task, record.data, record.method, record.recipe), []).append(record)
    return dict(sorted(groups.items()))


def select(records: Iterable[Record], rule: Rule = RULES["paper"]) -> Selection:
    """Select a configuration among the records of ONE group; ties are broken in the order of its grid."""
    groups = grouped(records)
    if len(groups) != 1:
        raise ValueError(f"select takes the records of one task, data set, method and recipe; got {len(groups)} groups")
    ((group, runs),) = groups.items()
    scored = candidates(runs, rule)
    best, *others = tied(scored, rule)
    return Selection(
        group,
        rule,
        best.configuration,
        best.records,
        best.outcomes,
        configurations=len(scored),
        tied=(best, *others),
        incomplete=len({compact_json(run.configuration) for run in runs}) - len(scored),
        fallback=all(run.outcome(rule.epoch) is None for run in runs),
    )


def select_all(records: Iterable[Record], rule: Rule = RULES["paper"]) -> dict[Group, Selection]:
    """Select a configuration in every group."""
    return {group: select(runs, rule) for group, runs in grouped(records).items()}


def candidates(runs: Sequence[Record], rule: Rule) -> list[Trial]:
    """The configurations of one group with as many seeds as the most complete one, in the order of the grid."""
    fallback = all(run.outcome(rule.epoch) is None for run in runs)
    trials = _trials(runs, "chosen" if fallback else rule.epoch)
    seeds = max(len(trial.records) for trial in trials)
    complete = [trial for trial in trials if len(trial.records) == seeds]
    scored = [trial for trial in complete if trial.selection_score(rule.split) is not None] or complete
    grid = _grid(runs[0])
    return sorted(scored, key=lambda trial: grid_position(trial.configuration, grid))


def tied(trials: Sequence[Trial], rule: Rule = RULES["paper"]) -> list[Trial]:
    """Those of the candidates that share the best mean score, the one to select first."""
    scores = [-math.inf if (score := trial.selection_score(rule.split)) is None else score for trial in trials]
    best = [trial for trial, score in zip(trials, scores, strict=True) if score >= max(scores) - SCORE_TOLERANCE]
    return sorted(best, key=lambda trial: _tie_value(trial, rule.tie))


def _grid(run: Record) -> Grid:
    """The grid of a method for a task; empty if one of them is not registered, or if there is none."""
    method, task = METHODS.get(run.method), TASKS.get(run.task)
    return {} if method is None or task is None else method.grid_for(task.family, task.name) or {}


def _trials(runs: Iterable[Record], epoch: str) -> list[Trial]:
    """Runs by configuration and ascending seed; those without an outcome at this epoch are missing."""
    by_configuration: dict[str, dict[int, tuple[Record, Outcome]]] = {}
    for run in runs:
        outcome = run.outcome(epoch)
        if outcome is not None:
            by_configuration.setdefault(compact_json(run.configuration), {})[run.seed] = run, outcome
    trials = []
    for by_seed in by_configuration.values():
        pairs = [by_seed[seed] for seed in sorted(by_seed)]
        trials.append(Trial(pairs[0][0].configuration, *map(tuple, zip(*pairs, strict=True))))
    return trials


def _tie_value(trial: Trial, tie: str) -> float:
    """The value that must be smallest among tied configurations; unknown values come last."""
    if tie == "first":
        return 0.0
    value = trial.mean(lambda outcome: outcome.losses.validation if tie == "loss" else outcome.penalty)
    return math.inf if value is None else value


def grid_position(configuration: Mapping[str, JsonScalar], grid: Grid) -> tuple[Any, ...]:
    """Sort key of configurations: their position in a grid, of which the last name varies fastest.

    Values that the grid does not have follow those that it has, in ascending order; names that it does not have vary
    fastest, by the alphabet.

    >>> grid = {"layers": (1, 2), "lr": (0.1, 0.01)}
    >>> points = [{"layers": layers, "lr": lr} for layers in (2, 1) for lr in (0.5, 0.01, 0.1)]
    >>> [(point["layers"], point["lr"]) for point in sorted(points, key=lambda point: grid_position(point, grid))]
    [(1, 0.1), (1, 0.01), (1, 0.5), (2, 0.1), (2, 0.01), (2, 0.5)]
    """
    names = [*grid, *sorted(set(configuration) - set(grid))]
    return tuple(_value_position(configuration.get(name), tuple(grid.get(name, ()))) for name in names)


def _value_position(value: JsonScalar, values: tuple[Any, ...]) -> tuple[int, int, Any]:
    """Position among the values of a grid; other values by type: None, false, true, numbers, strings."""
    if value in values:
        return values.index(value), 0, 0
    kind = 0 if value is None else 1 if isinstance(value, bool) else 3 if isinstance(value, str) else 2
    return len(values), kind, 0 if value is None else value
