"""Functions that workers of other processes import: tests of executors send them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


def slow_square(number: int) -> int:
    time.sleep(0.01)
    return number * number


def refuse_three(number: int) -> int:
    if number == 3:
        raise ValueError("three is not taken")
    return number


def die_once(item: tuple[int, str]) -> int:
    """The first to come with number 5 kills its process; the marker tells the next one not to."""
    number, marker = item
    if number == 5 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_always(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class CountAndDie:
    """`count_piece`, in a process that is killed: once, or each time it meets the graph with a number."""

    def __init__(self, marker: Path, number: int = -1) -> None:
        self.marker, self.number = str(marker), number

    def __call__(self, piece: Any) -> Any:
        from anysize.counting.cluster import count_piece

        if self.number in piece.numbers.tolist():
            os.kill(os.getpid(), signal.SIGKILL)
        if self.number < 0 and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return count_piece(piece)


class WarnAndCount:
    """`count_piece`, where the counting itself warns of the first graph of each piece."""

    def __call__(self, piece: Any) -> Any:
        from anysize._errors import CountWarning, warn_user
        from anysize.counting import cluster

        count = cluster.count_surviving

        def surviving(plan: Any, graphs: Any, threads: Any, progress: Any, numbers: Any) -> Any:
            if 0 in numbers:
                warn_user("beware of graph 0", CountWarning)
            return count(plan, graphs, threads, progress, numbers)

        cluster.count_surviving = surviving
        try:
            return cluster.count_piece(piece)
        finally:
            cluster.count_surviving = count
