"""One run of one model as a record.

A run is one model with one configuration and one seed on one data set. `anysize.experiments.lines` writes a record as
one line of JSON; `anysize.experiments.store` keeps folders of them.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from anysize.experiments.curves import Curves
from anysize.experiments.plain import Plain, compact_json, finite, plain

FORMAT = "anysize record 1"
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Scores:
    """One number per split; None where it is not known. What is not finite is not known: JSON has no such number.

    >>> Scores(train=1, test=float("nan"))
    Scores(train=1.0, validation=None, test=None)
    """

    train: float | None = None
    validation: float | None = None
    test: float | None = None

    def __post_init__(self) -> None:
        for split in SPLITS:
            value = getattr(self, split)
            if value is not None and not (type(value) is float and math.isfinite(value)):  # most are: do nothing
                object.__setattr__(self, split, finite(value, f"the {split} score"))

    def of(self, split: str) -> float | None:
        """The number of a split by its name."""
        if split not in SPLITS:
            raise ValueError(f"a split is one of {', '.join(SPLITS)}; got {split!r}")
        return getattr(self, split)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Outcome:
    """What a run had reached at one epoch.

    Attributes:
        scores: accuracy or MCC, as the task has it.
        losses: without penalties.
        penalty: the one the run could choose its epoch by (see the recipe), if there was one.
        epoch: counted from 1; None for methods without epochs.
        predictions: class indices of the test graphs, one character each (see `anysize.experiments.classes`).
    """

    scores: Scores
    losses: Scores = Scores()
    penalty: float | None = None
    epoch: int | None = None
    predictions: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", finite(self.penalty, "the penalty"))


@dataclass(frozen=True)
class Record:
    """One finished run.

    Attributes:
        data: `published`, or `seed:7` for the data set drawn with seed 7.
        recipe: how it was trained and chosen, `paper` or `robust`.
        configuration: names and plain values, e.g. ``{"hidden": 32, "layers": 1, "lr": 0.01}``; kept sorted by
            name, with whole floats as integers, so that 1 and 1.0 are the same configuration.
        chosen: at the epoch that the recipe reports.
        epochs: how many were trained; None for methods without epochs.
        tied_epochs: how many epochs share the validation score of the chosen one.
        alternatives: outcomes at other epochs by their name: `last`, where another one was chosen and none was cut
            off by patience.
        curves: the training curves, thinned out.
        labels: true classes of the test graphs, in the form of the predictions.
        seconds: this run's share of the time of the stack it was trained in.
        when: the end of the run, ISO 8601 in UTC.

    Examples:
        >>> reached = Outcome(Scores(1.0, 0.95, 0.9), epoch=12, predictions="0110")
        >>> run = Record("sbm-20", "published", "gamma-gin", "paper", {"lr": 0.01, "hidden": 32.0}, seed=0,
        ...              chosen=reached, epochs=500, labels="0111")
        >>> run.configuration
        {'hidden': 32, 'lr': 0.01}
        >>> run.scores.test, run.key[:8]
        (0.9, '827441b4')
    """

    task: str
    data: str
    method: str
    recipe: str
    configuration: Mapping[str, Plain]
    seed: int
    chosen: Outcome
    epochs: int | None = None
    tied_epochs: int | None = None
    alternatives: Mapping[str, Outcome] = field(default_factory=dict)
    curves: Curves | None = None
    labels: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    seconds: float | None = None
    when: str = ""

    def __post_init__(self) -> None:
        for name in ("task", "method", "recipe"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ValueError(f"the {name} of a record is a name; got {getattr(self, name)!r}")
        if not isinstance(self.data, str) or not re.fullmatch(r"published|seed:\d+", self.data):
            raise ValueError(f"the data of a record are 'published' or 'seed:7' (any number); got {self.data!r}")
        object.__setattr__(self, "configuration", plain(self.configuration))
        object.__setattr__(self, "seed", int(self.seed))
        for outcome in (self.chosen, *self.alternatives.values()):
            if outcome.predictions and self.labels and len(outcome.predictions) != len(self.labels):
                raise ValueError(
                    f"predictions and labels are of the same test graphs; got {len(outcome.predictions)} predictions "
                    f"and {len(self.labels)} labels"
                )

    @cached_property
    def key(self) -> str:
        """64 hexadecimal digits that name the run: of its task, data, method, recipe, configuration and seed."""
        return _digest(self.task, self.data, self.method, self.recipe, self.configuration, self.seed)

    @property
    def scores(self) -> Scores:
        """At the chosen epoch."""
        return self.chosen.scores

    def outcome(self, epoch: str) -> Outcome | None:
        """At the `chosen` epoch, or at another by its name; None if it was not kept.

        A method without epochs has one outcome, whatever is asked for.
        """
        if epoch == "chosen" or not self.epochs or (epoch == "last" and self.chosen.epoch == self.epochs):
            return self.chosen
        return self.alternatives.get(epoch)


def key(task: str, data: str, method: str, recipe: str, configuration: Mapping[str, Plain], seed: int) -> str:
    """The key of a run, before or after it was made: finished runs are found, and skipped, by it.

    >>> key("sbm-20", "seed:1", "rpgin", "paper", {"lr": 0.01, "layers": 2}, 0)[:16]
    '2e267ec85e4dd509'
    """
    return _digest(task, data, method, recipe, plain(configuration), int(seed))


def _digest(*named: object) -> str:
    return sha256(compact_json([FORMAT, *named]).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of what a result depends on, without importing any of it."""
    found = {"python": platform.python_version()}
    for name in ("anysize", "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """This moment, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
