"""One record as one line of JSON.

A line names the format and the key first and ends in a check (16 hexadecimal digits of the SHA-256 of all that stands
before), so that a line that was cut off, edited or written by something else is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from hashlib import sha256
from typing import Any

from anysize.experiments.curves import Curves
from anysize.experiments.plain import compact_json
from anysize.experiments.records import FORMAT, SPLITS, Outcome, Record, Scores

NAMES = ("task", "data", "method", "recipe", "configuration", "seed")
ABOUT = ("epochs", "tied_epochs", "labels", "versions", "device", "seconds", "when")
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
    for name in NAMES:
        fields[name] = getattr(record, name)
    fields |= _known(record, ABOUT)
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
            **{name: fields[name] for name in NAMES},
            chosen=_outcome(fields["chosen"]),
            alternatives={name: _outcome(own) for name, own in fields.get("alternatives", {}).items()},
            curves=Curves.of_fields(fields["curves"]) if curves and "curves" in fields else None,
            **{name: fields[name] for name in ABOUT if name in fields},
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
