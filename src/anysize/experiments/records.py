"""One run of one model as a record.

A run is one model with one configuration and one seed on one data set. `anysize.experiments.records` writes a record as
one line of JSON; `anysize.experiments.record_store` keeps folders of them.
"""

from __future__ import annotations

import json
import math
import platform
import re
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._json import Plain, compact_json, finite, plain

# ---- Class indices as text: one character per graph.


ALPHABET = string.digits + string.ascii_lowercase + string.ascii_uppercase
_PLACE = np.full(256, -1, np.int64)
_PLACE[np.frombuffer(ALPHABET.encode(), np.uint8)] = np.arange(len(ALPHABET))


def encode(classes: Iterable[int]) -> str:
    """Class indices 0 .. 61 as one character each: digits, then small, then capital letters.

    >>> encode([0, 1, 1, 10])
    '011a'
    """
    indices = [int(index) for index in classes]
    if any(not 0 <= index < len(ALPHABET) for index in indices):
        raise ValueError(f"class indices run from 0 to {len(ALPHABET) - 1}; got {min(indices)} to {max(indices)}")
    return "".join(ALPHABET[index] for index in indices)


def decode(text: str) -> NDArray[np.int64]:
    """The class indices of a text.

    >>> decode("011a").tolist()
    [0, 1, 1, 10]
    """
    indices = _PLACE[np.frombuffer(text.encode("utf-8"), np.uint8)]
    if (indices < 0).any():
        raise ValueError(f"classes are written as digits and letters; got {text[:20]!r}")
    return indices


# ---- Training curves, thinned out so that tens of thousands of them fit a folder of records.


POINTS = 50
DIGITS = 4  # significant: more than a figure shows

Values = tuple[float | None, ...]


@dataclass(frozen=True)
class Curves:
    """Some epochs of a run, and at each the training loss, the validation score and the penalty.

    Attributes:
        epochs: counted from 1, ascending.
        train_loss, validation_score, penalty: one value per epoch, None where it was not finite; empty if not known.
    """

    epochs: tuple[int, ...]
    train_loss: Values = ()
    validation_score: Values = ()
    penalty: Values = ()

    def __post_init__(self) -> None:
        for name in CURVE_NAMES:
            values = getattr(self, name)
            if len(values) not in (0, len(self.epochs)):
                raise ValueError(f"a curve has one value per epoch, here {len(self.epochs)}; {name} has {len(values)}")

    @classmethod
    def thinned(
        cls,
        train_loss: Sequence[float] = (),
        validation_score: Sequence[float] = (),
        penalty: Sequence[float] = (),
        points: int = POINTS,
    ) -> Curves:
        """At most so many evenly spread epochs of curves that have a value for every epoch; first and last are kept.

        >>> Curves.thinned(train_loss=[4.0, 3.0, 2.0, 1.0, 0.123456], points=3)
        Curves(epochs=(1, 3, 5), train_loss=(4.0, 2.0, 0.1235), validation_score=(), penalty=())
        """
        own = {"train_loss": train_loss, "validation_score": validation_score, "penalty": penalty}
        lengths = {len(values) for values in own.values()} - {0}
        if len(lengths) > 1:
            raise ValueError(f"the curves of a run have a value for every epoch; got lengths {sorted(lengths)}")
        kept = places(max(lengths, default=0), points)
        thin = {name: tuple(rounded(values[at]) for at in kept) for name, values in own.items() if len(values)}
        return cls(tuple(at + 1 for at in kept), **thin)

    def fields(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: list(values) for name in ("epochs", *CURVE_NAMES) if (values := getattr(self, name))}

    @classmethod
    def of_fields(cls, fields: dict[str, Any]) -> Curves:
        """From JSON."""
        return cls(tuple(fields.get("epochs", ())), **{name: tuple(fields.get(name, ())) for name in CURVE_NAMES})


CURVE_NAMES = ("train_loss", "validation_score", "penalty")


def places(length: int, points: int) -> list[int]:
    """At most ``points`` of 0 .. length - 1, evenly spread, with both ends.

    >>> places(5, 3), places(2, 50), places(0, 50)
    ([0, 2, 4], [0, 1], [])
    """
    if points < 2:
        raise ValueError(f"a thinned curve keeps at least its two ends; got points = {points}")
    if length <= points:
        return list(range(length))
    return [round(step * (length - 1) / (points - 1)) for step in range(points)]


def rounded(value: float) -> float | None:
    """To four significant digits; None if it is not finite."""
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


# ----


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
        predictions: class indices of the test graphs, one character each (see `anysize.experiments.records`).
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


# ---- One record as one line of JSON.


RUN_FIELDS = ("task", "data", "method", "recipe", "configuration", "seed")
ABOUT_FIELDS = ("epochs", "tied_epochs", "labels", "versions", "device", "seconds", "when")
HEAD = f'{{"format":"{FORMAT}","key":"'.encode()
KEY_END = len(HEAD) + 64
CURVES = b',"curves":{'
CHECK = b',"check":"'


def to_line(record: Record) -> bytes:
    """A record as one line of ASCII, with its end.

    >>> run = Record("sbm-20", "published", "rpgin", "paper", {"lr": 0.01}, seed=0, chosen=Outcome(Scores(test=0.5)))
    >>> from_line(to_line(run)) == run
    True
    """
    fields: dict[str, Any] = {"format": FORMAT, "key": record.key}
    for name in RUN_FIELDS:
        fields[name] = getattr(record, name)
    fields |= _known(record, ABOUT_FIELDS)
    fields["chosen"] = _outcome_fields(record.chosen)
    if record.alternatives:
        fields["alternatives"] = {name: _outcome_fields(own) for name, own in sorted(record.alternatives.items())}
    if record.curves is not None:
        fields["curves"] = record.curves.fields()
    body = compact_json(fields).encode()
    return body[:-1] + CHECK + _check(body).encode() + b'"}\n'


def key_of_line(line: bytes) -> str:
    """The key of a line whose check holds; a ValueError says what is wrong with another."""
    body, mark, check = line.rstrip(b"\r\n").rpartition(CHECK)
    if not line.startswith(HEAD):
        raise ValueError(f"it does not begin as an {FORMAT!r} does")
    if not mark or check != _check(body + b"}").encode() + b'"}':
        raise ValueError("its check does not hold: it was cut off or changed after it was written")
    return line[len(HEAD) : KEY_END].decode()


def may_be_of(line: bytes, tasks: Collection[str] | None) -> bool:
    """Whether a line may belong to one of these tasks, at a glance: most lines of other tasks need not be parsed."""
    if tasks is None or not line.startswith(HEAD):
        return True
    start = line[KEY_END : KEY_END + 1000]
    return any(start.startswith(f'","task":{compact_json(task)},'.encode()) for task in tasks)


def from_line(line: bytes, curves: bool = True) -> Record:
    """The record of a line, without its curves if they are not wanted; a ValueError says what is wrong with it."""
    named = key_of_line(line)
    fields = json.loads(line) if curves else _fields_without_curves(line)
    try:
        record = Record(
            **{name: fields[name] for name in RUN_FIELDS},
            chosen=_outcome(fields["chosen"]),
            alternatives={name: _outcome(own) for name, own in fields.get("alternatives", {}).items()},
            curves=Curves.of_fields(fields["curves"]) if curves and "curves" in fields else None,
            **{name: fields[name] for name in ABOUT_FIELDS if name in fields},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a field is missing or of the wrong kind: {error}") from None
    if record.key != named:
        raise ValueError("its key is not that of its fields")
    return record


def _fields_without_curves(line: bytes) -> dict[str, Any]:
    """The curves are more than half of a line, and its end: what is cut off is not parsed."""
    place = line.rfind(CURVES)
    if place >= 0:
        with suppress(ValueError):  # something else has the name of the curves
            return json.loads(line[:place] + b"}")  # type: ignore[no-any-return]
    return json.loads(line)  # type: ignore[no-any-return]


def _check(body: bytes) -> str:
    return sha256(body).hexdigest()[:16]


def _known(thing: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields that say something: a full sweep has tens of thousands of lines."""
    return {name: value for name in names if (value := getattr(thing, name)) not in (None, "", {})}


def _outcome_fields(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"scores": _known(outcome.scores, SPLITS), "losses": _known(outcome.losses, SPLITS)}
    fields |= _known(outcome, ("penalty", "epoch", "predictions"))
    return {name: value for name, value in fields.items() if value != {} or name == "scores"}


def _outcome(fields: dict[str, Any]) -> Outcome:
    scores, losses = Scores(**fields["scores"]), Scores(**fields.get("losses", {}))
    return Outcome(scores, losses, fields.get("penalty"), fields.get("epoch"), fields.get("predictions", ""))
