"""Records: one run of one model, and how it is written as a line of JSON.

A run is one model with one configuration and one seed on one data set. `anysize.evaluation.store` keeps folders
of records.
"""

from __future__ import annotations

import math
import platform
import re
import string
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from anysize import __version__
from anysize._schema import (
    JsonScalar,
    canonical_configuration,
    compact_json,
    fields,
    integer,
    list_of,
    mapping_of,
    numbers,
    one_of,
    optional,
    parse_json,
    real,
    scalar,
    text,
)
from anysize._typing import IntArray
from anysize.metrics import METRIC_NAMES
from anysize.splits import SPLITS
from anysize.training.settings import BEST_LOWEST_PENALTY, EPOCH_RULES, FIRST_BEST, LAST

FORMAT = "anysize record 1"

# ---- outcomes --------------------------------------------------------------------------------------


def _finite(value: Any, what: str) -> float | None:
    """A float; None for None and for values that are not finite."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or None; got {value!r}") from None
    return number if math.isfinite(number) else None


@dataclass(frozen=True)
class Scores:
    """One number per split; None where it is unknown or not finite (JSON has no such number).

    >>> Scores(train=1, test=float("nan"))
    Scores(train=1.0, validation=None, test=None)
    """

    train: float | None = None
    validation: float | None = None
    test: float | None = None

    def __post_init__(self) -> None:
        for split in SPLITS:
            value = getattr(self, split)
            valid = value is None or (type(value) is float and math.isfinite(value))  # almost all: no conversion
            if not valid:
                object.__setattr__(self, split, _finite(value, f"the {split} score"))

    def of(self, split: str) -> float | None:
        """The number of a split."""
        if split not in SPLITS:
            raise ValueError(f"a split must be one of {', '.join(SPLITS)}; got {split!r}")
        return getattr(self, split)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Outcome:
    """The scores of a run at one epoch.

    Attributes:
        scores: in the metric of the record.
        losses: without penalties.
        penalty: the one that the recipe may select epochs by, if there was one.
        epoch: counted from 1; None for methods without epochs.
        predictions: class indices of the test graphs, one character each (see `encode`).
        metrics: scores on the test graphs by the name of the metric (`anysize.metrics.METRIC_NAMES`), without
            those that are undefined or were not kept.
        ranks: for each class (of two, for the second) the ranks of the test graphs by its probability, from 0, equal
            for ties: what ROC-AUC depends on. Empty unless they were asked for.
        selected_by: the validation score that configurations are selected by, where it is in another metric than the
            other scores (`anysize.methods.method.Method.selection_metric`).
        numbers: predicted numbers of the test graphs, where these are no classes.
    """

    scores: Scores
    losses: Scores = Scores()
    penalty: float | None = None
    epoch: int | None = None
    predictions: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    ranks: tuple[tuple[int, ...], ...] = ()
    selected_by: float | None = None
    numbers: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", _finite(self.penalty, "the penalty"))
        if unknown := self.metrics.keys() - METRIC_NAMES.keys():
            raise ValueError(f"a metric must be one of {', '.join(METRIC_NAMES)}; got {min(unknown)!r:.60}")


# ---- classes as text: one character per graph ------------------------------------------------------

ALPHABET = string.digits + string.ascii_lowercase + string.ascii_uppercase
_CHARACTERS = np.frombuffer(ALPHABET.encode(), np.uint8)
_INDEX = np.full(256, -1, np.int64)
_INDEX[_CHARACTERS] = np.arange(len(ALPHABET))


def encode(classes: Sequence[int] | IntArray) -> str:
    """Encode class indices 0 .. 61 as one character each: digits, then lower-case, then upper-case letters.

    >>> encode([0, 1, 1, 10])
    '011a'
    """
    indices = np.asarray(classes, np.int64)
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(ALPHABET):
        raise ValueError(f"class indices must be from 0 to {len(ALPHABET) - 1}; got {indices.min()} to {indices.max()}")
    return _CHARACTERS[indices].tobytes().decode()


def decode(text: str) -> IntArray:
    """The class indices that `encode` wrote.

    >>> decode("011a").tolist()
    [0, 1, 1, 10]
    """
    indices = _INDEX[np.frombuffer(text.encode("utf-8"), np.uint8)]
    if (indices < 0).any():
        raise ValueError(f"encoded classes must be digits and letters; got {text[:20]!r}")
    return indices


# ---- training curves -------------------------------------------------------------------------------

CURVE_DIGITS = 4  # significant digits, more than a figure shows
CURVE_NAMES = ("train_loss", "validation_score", "penalty")

CurveValues = tuple[float | None, ...]


@dataclass(frozen=True)
class Curves:
    """Training loss, validation score and penalty at some epochs of a run.

    Attributes:
        epochs: counted from 1, ascending.
        train_loss, validation_score, penalty: one value per epoch, None where it was not finite; empty if unknown.
        metric: of the validation score, where it is not that of the record (with class weights epochs are compared by
            balanced accuracy).
    """

    epochs: tuple[int, ...]
    train_loss: CurveValues = ()
    validation_score: CurveValues = ()
    penalty: CurveValues = ()
    metric: str = ""

    def __post_init__(self) -> None:
        if self.metric and self.metric not in METRIC_NAMES:
            raise ValueError(f"the metric of a curve must be one of {', '.join(METRIC_NAMES)}; got {self.metric!r}")
        for name in CURVE_NAMES:
            values = getattr(self, name)
            if len(values) not in (0, len(self.epochs)):
                raise ValueError(
                    f"a curve needs one value for each of {len(self.epochs)} epochs; {name} has {len(values)}"
                )

    def fields(self) -> dict[str, Any]:
        """The curves as JSON values."""
        held: dict[str, Any] = {
            name: list(curve) for name in ("epochs", *CURVE_NAMES) if (curve := getattr(self, name))
        }
        return held | ({"metric": self.metric} if self.metric else {})

    @classmethod
    def of_fields(cls, fields: dict[str, Any]) -> Curves:
        """The curves from JSON values."""
        curves = {name: tuple(fields.get(name, ())) for name in CURVE_NAMES}
        return cls(tuple(fields.get("epochs", ())), **curves, metric=fields.get("metric", ""))


def evenly_spread(length: int, points: int) -> list[int]:
    """At most ``points`` of 0 .. length - 1, evenly spread, with both ends.

    >>> evenly_spread(5, 3), evenly_spread(2, 50), evenly_spread(0, 50)
    ([0, 2, 4], [0, 1], [])
    """
    if points < 2:
        raise ValueError(f"points must be at least 2, for both ends of a curve; got {points}")
    if length <= points:
        return list(range(length))
    return [round(step * (length - 1) / (points - 1)) for step in range(points)]


def round_significant(value: float, digits: int = CURVE_DIGITS) -> float | None:
    """A number rounded to so many significant digits; None if it is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


# ---- records ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """One finished run.

    Attributes:
        data: `published`, `seed:7` for the data set drawn with seed 7, or `split:3` for a fixed data set, split with
            seed 3 (`published`: with seed 0).
        recipe: `paper` or `robust`: how it was trained, and how its epoch was chosen.
        configuration: names and plain values, e.g. ``{"hidden": 32, "layers": 1, "lr": 0.01}``; kept sorted by
            name, with whole floats as integers, so that 1 and 1.0 are the same configuration.
        chosen: the outcome at the epoch that the recipe chose.
        epochs: the number of trained epochs; None for methods without epochs.
        tied_epochs: how many epochs share the validation score of the chosen one.
        alternatives: outcomes at the epochs of other rules (`anysize.training.settings.EPOCH_RULES`); see `outcome`.
        curves: the thinned training curves.
        folds: the validation scores of the folds, whose mean is the validation score, if the task has folds.
        labels: true classes of the test graphs, encoded like the predictions.
        targets: true numbers of the test graphs, where these are no classes.
        metric: of all scores.
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
    configuration: Mapping[str, JsonScalar]
    seed: int
    chosen: Outcome
    epochs: int | None = None
    tied_epochs: int | None = None
    alternatives: Mapping[str, Outcome] = field(default_factory=dict)
    curves: Curves | None = None
    folds: tuple[float, ...] = ()
    labels: str = ""
    targets: tuple[float, ...] = ()
    metric: str = "accuracy"
    versions: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    seconds: float | None = None
    when: str = ""

    def __post_init__(self) -> None:
        for name in ("task", "method", "recipe"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ValueError(f"the {name} of a record must be a non-empty string; got {getattr(self, name)!r}")
        if not isinstance(self.data, str) or not re.fullmatch(r"published|(seed|split):\d+", self.data):
            raise ValueError(
                f"the data of a record must be 'published', 'seed:7' or 'split:3' (any number); got {self.data!r}"
            )
        if self.metric not in METRIC_NAMES:
            raise ValueError(f"the metric of a record must be one of {', '.join(METRIC_NAMES)}; got {self.metric!r}")
        object.__setattr__(self, "configuration", canonical_configuration(self.configuration))
        object.__setattr__(self, "seed", int(self.seed))
        for outcome in (self.chosen, *self.alternatives.values()):
            for predicted, known in ((outcome.predictions, self.labels), (outcome.numbers, self.targets)):
                if predicted and known and len(predicted) != len(known):
                    raise ValueError(
                        f"predictions and labels must have the same length; got {len(predicted)} predictions and "
                        f"{len(known)} labels"
                    )

    @cached_property
    def key(self) -> str:
        """A hash of task, data, method, recipe, configuration and seed, which identifies the run."""
        return _digest(self.task, self.data, self.method, self.recipe, self.configuration, self.seed)

    @property
    def scores(self) -> Scores:
        """The scores at the chosen epoch."""
        return self.chosen.scores

    def outcome(self, epoch: str) -> Outcome | None:
        """The outcome at the `chosen` epoch or under a rule of `EPOCH_RULES`; None if it was not kept.

        A method without epochs, or a run without validation graphs to choose an epoch by, has one outcome. Without a
        penalty all epochs have the smallest one, and the first best epoch is taken.
        """
        if epoch == "chosen" or not self.epochs or (epoch == LAST and self.chosen.epoch == self.epochs):
            return self.chosen
        if epoch in self.alternatives:
            return self.alternatives[epoch]
        if epoch == BEST_LOWEST_PENALTY and self.chosen.penalty is None:
            return self.outcome(FIRST_BEST)
        if epoch not in EPOCH_RULES:
            return None
        unselected = self.tied_epochs is None and self.chosen.epoch == self.epochs
        chose_first = self.recipe == "paper" and not {"epoch", "tie_break"} & set(self.configuration)
        return self.chosen if unselected or (chose_first and epoch == FIRST_BEST) else None


def key(task: str, data: str, method: str, recipe: str, configuration: Mapping[str, JsonScalar], seed: int) -> str:
    """The key of a run, known before it is trained: finished runs are found and skipped by it.

    >>> key("sbm-20", "seed:1", "rpgin", "paper", {"lr": 0.01, "layers": 2}, 0)[:16]
    '2e267ec85e4dd509'
    """
    return _digest(task, data, method, recipe, canonical_configuration(configuration), int(seed))


def _digest(*identity: object) -> str:
    return sha256(compact_json([FORMAT, *identity]).encode()).hexdigest()


@cache
def versions() -> Mapping[str, str]:
    """Versions of Python and of the packages that results depend on, without importing them."""
    by_package = {"python": platform.python_version(), "anysize": __version__}
    for name in ("torch", "numpy"):
        try:
            by_package[name] = version(name)
        except PackageNotFoundError:
            continue
    return by_package


def now() -> str:
    """The current time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# ---- lines of JSON ---------------------------------------------------------------------------------

RUN_FIELDS = ("task", "data", "method", "recipe", "configuration", "seed")
DETAIL_FIELDS = (
    "metric", "epochs", "tied_epochs", "folds", "labels", "targets", "versions", "device", "seconds", "when",
)  # fmt: skip
LINE_START = f'{{"format":"{FORMAT}","key":"'.encode()
KEY_END = len(LINE_START) + 64
CURVES_START = b',"curves":{'
CHECK_START = b',"check":"'


def to_line(record: Record) -> bytes:
    """A record as one line of ASCII, newline included.

    >>> run = Record("sbm-20", "published", "rpgin", "paper", {"lr": 0.01}, seed=0, chosen=Outcome(Scores(test=0.5)))
    >>> from_line(to_line(run)) == run
    True
    """
    held: dict[str, Any] = {"format": FORMAT, "key": record.key}
    for name in RUN_FIELDS:
        held[name] = getattr(record, name)
    held |= _known(record, DETAIL_FIELDS)
    held["chosen"] = _outcome_fields(record.chosen)
    if record.alternatives:
        held["alternatives"] = _alternative_fields(record)
    if record.curves is not None:
        held["curves"] = record.curves.fields()
    body = compact_json(held).encode()
    return body[:-1] + CHECK_START + _check(body).encode() + b'"}\n'


def key_of_line(line: bytes) -> str:
    """The key of a line; raises ValueError if the line is damaged."""
    body, mark, check = line.rstrip(b"\r\n").rpartition(CHECK_START)
    if not line.startswith(LINE_START):
        raise ValueError(f"it does not begin with the format {FORMAT!r}")
    if not mark or check != _check(body + b"}").encode() + b'"}':
        raise ValueError("its checksum is wrong: it was cut off or changed after it was written")
    return line[len(LINE_START) : KEY_END].decode()


def may_be_of(line: bytes, tasks: Collection[str] | None) -> bool:
    """Whether a line may belong to one of the tasks; a cheap test that saves parsing most lines of other tasks."""
    if tasks is None or not line.startswith(LINE_START):
        return True
    start = line[KEY_END : KEY_END + 1000]
    return any(start.startswith(f'","task":{compact_json(task)},'.encode()) for task in tasks)


_CLASSES = text("[0-9a-zA-Z]*", "digits and letters")
_SCORES = fields({}, dict.fromkeys(SPLITS, optional(real())))
_OUTCOME = fields(
    {"scores": _SCORES},
    {
        "losses": _SCORES,
        "penalty": optional(real()),
        "epoch": optional(integer(0)),
        "predictions": _CLASSES,
        "numbers": numbers(),
        "metrics": mapping_of(real()),
        "ranks": list_of(numbers(whole=True)),
        "selected_by": optional(real()),
    },
    others=True,
)
_LINE = fields(  # fields that are not listed here are ignored: another version may write more
    {
        "task": text(),
        "data": text("published|(seed|split):[0-9]+", "'published', 'seed:7' or 'split:3'"),
        "method": text(),
        "recipe": text(),
        "configuration": mapping_of(scalar),
        "seed": integer(),
        "chosen": _OUTCOME,
    },
    {
        "metric": one_of(*METRIC_NAMES),
        "epochs": optional(integer(0)),
        "tied_epochs": optional(integer(0)),
        "folds": numbers(),
        "labels": _CLASSES,
        "targets": numbers(),
        "versions": mapping_of(text()),
        "device": text(),
        "seconds": optional(real(0)),
        "when": text(r"[0-9TZ:+. -]*", "a date in ISO 8601"),
        "alternatives": mapping_of(lambda value, path: value if isinstance(value, str) else _OUTCOME(value, path)),
        "curves": fields(
            {"epochs": numbers(whole=True)},
            {**dict.fromkeys(CURVE_NAMES, numbers(missing=True)), "metric": text()},
            others=True,
        ),
    },
    others=True,
)


def from_line(line: bytes, curves: bool = True) -> Record:
    """Parse a line, with or without its curves; raises ValueError if the line is damaged."""
    stored_key = key_of_line(line)
    parsed = _LINE(parse_json(line) if curves else _fields_without_curves(line), "")
    record = Record(
        **{name: parsed[name] for name in RUN_FIELDS},
        chosen=_outcome(parsed["chosen"]),
        alternatives=_alternatives(parsed),
        curves=Curves.of_fields(parsed["curves"]) if curves and "curves" in parsed else None,
        **{name: parsed[name] for name in DETAIL_FIELDS if name in parsed},
    )
    if record.key != stored_key:
        raise ValueError("its key does not match its fields")
    return record


def _fields_without_curves(line: bytes) -> dict[str, Any]:
    """Parse a line without its curves, which are at its end and take more than half of it."""
    start = line.rfind(CURVES_START)
    if start >= 0:
        with suppress(ValueError):  # the text occurred elsewhere
            return parse_json(line[:start] + b"}")  # type: ignore[no-any-return]
    return parse_json(line)  # type: ignore[no-any-return]


def _check(body: bytes) -> str:
    return sha256(body).hexdigest()[:16]


def _known(source: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields with a value; empty ones are left out to keep lines short."""
    return {name: value for name in names if (value := getattr(source, name)) not in (None, "", {}, ())}


def _outcome_fields(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"scores": _known(outcome.scores, SPLITS), "losses": _known(outcome.losses, SPLITS)}
    fields |= _known(outcome, ("penalty", "epoch", "predictions", "numbers", "metrics", "ranks", "selected_by"))
    return {name: value for name, value in fields.items() if value != {} or name == "scores"}


def _alternative_fields(record: Record) -> dict[str, Any]:
    """Outcomes by name; one that equals the chosen outcome or an earlier one is replaced by the name of that."""
    fields: dict[str, Any] = {}
    seen = {"chosen": record.chosen}
    for name, outcome in sorted(record.alternatives.items()):
        same = next((other for other, known in seen.items() if known == outcome), None)
        fields[name] = _outcome_fields(outcome) if same is None else same
        seen[name] = outcome
    return fields


def _alternatives(fields: dict[str, Any]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for name, stored in fields.get("alternatives", {}).items():
        if isinstance(stored, str):
            outcomes[name] = outcomes[stored] if stored in outcomes else _outcome(fields["chosen"])
        else:
            outcomes[name] = _outcome(stored)
    return outcomes


def _outcome(fields: dict[str, Any]) -> Outcome:
    scores, losses = Scores(**fields["scores"]), Scores(**fields.get("losses", {}))
    return Outcome(
        scores, losses, fields.get("penalty"), fields.get("epoch"), fields.get("predictions", ""),
        fields.get("metrics", {}), tuple(map(tuple, fields.get("ranks", ()))), fields.get("selected_by"),
        tuple(fields.get("numbers", ())),
    )  # fmt: skip
