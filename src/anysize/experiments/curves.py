"""Training curves, thinned out so that tens of thousands of them fit a folder of records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
        for name in NAMES:
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
        return {name: list(values) for name in ("epochs", *NAMES) if (values := getattr(self, name))}

    @classmethod
    def of_fields(cls, fields: dict[str, Any]) -> Curves:
        """From JSON."""
        return cls(tuple(fields.get("epochs", ())), **{name: tuple(fields.get(name, ())) for name in NAMES})


NAMES = ("train_loss", "validation_score", "penalty")


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
