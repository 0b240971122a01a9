"""How far a sweep is and how long it will take, from the times of the pieces so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anysize.experiments.plan import Piece

SOON = 0.05  # share of a piece from which on its own time says how long it will take


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        what: `counting` or `training`.
        done, total: data sets or runs; those at work count in part.
        left: seconds, if anything is known about them.
        now: what is at work.
    """

    what: str
    done: float
    total: int
    left: float | None = None
    now: tuple[str, ...] = ()


class Clock:
    """The time left: for every task and method the seconds per run so far, and for others the mean of their like."""

    def __init__(self, pieces: Sequence[Piece], workers: int, now: Callable[[], float] = time.monotonic) -> None:
        self._waiting = {piece.keys: piece for piece in pieces}
        self._workers, self._now = workers, now
        self._running: dict[int, tuple[Piece, float]] = {}
        self._shares: Mapping[int, float] = {}
        self._spent: dict[tuple[str, str], tuple[float, float]] = {}  # seconds and runs
        self.total, self.done = sum(len(piece.runs) for piece in pieces), 0

    def begin(self, number: int, piece: Piece) -> None:
        """A piece is at work."""
        self._waiting.pop(piece.keys, None)
        self._running[number] = piece, self._now()

    def skip(self, piece: Piece, found: int) -> None:
        """Some runs of a piece, or all of them, were finished by somebody else."""
        self._waiting.pop(piece.keys, None)
        self.done += found

    def look(self, shares: Mapping[int, float]) -> None:
        """The shares done of the pieces at work."""
        self._shares = shares

    def end(self, number: int) -> None:
        """A piece is finished."""
        piece, began = self._running.pop(number)
        seconds, runs = self._spent.get((piece.task, piece.method), (0.0, 0.0))
        self._spent[piece.task, piece.method] = seconds + self._now() - began, runs + len(piece.runs)
        self.done += len(piece.runs)

    def progress(self) -> Progress:
        """How far everything is."""
        share = {number: min(self._shares.get(number, 0.0), 1.0) for number in self._running}
        part = sum(share[number] * len(piece.runs) for number, (piece, _) in self._running.items())
        names = tuple(dict.fromkeys(str(piece) for piece, _ in self._running.values()))
        return Progress("training", self.done + part, self.total, self._left(share), names)

    def _left(self, share: Mapping[int, float]) -> float | None:
        rates = {own: seconds / runs for own, (seconds, runs) in self._spent.items()}
        for number, (piece, began) in self._running.items():
            if share[number] >= SOON:
                rates.setdefault((piece.task, piece.method), (self._now() - began) / share[number] / len(piece.runs))
        if not rates:
            return None
        parts = [(piece, 1.0) for piece in self._waiting.values()]
        parts += [(piece, 1.0 - share[number]) for number, (piece, _) in self._running.items()]
        return sum(_rate(piece, rates) * len(piece.runs) * rest for piece, rest in parts) / self._workers


def _rate(piece: Piece, rates: Mapping[tuple[str, str], float]) -> float:
    """Seconds per run: of the same task and method, else the mean over tasks, else over everything."""
    if (piece.task, piece.method) in rates:
        return rates[piece.task, piece.method]
    alike = [rate for (_, method), rate in rates.items() if method == piece.method] or list(rates.values())
    return sum(alike) / len(alike)
