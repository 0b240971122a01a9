"""`Engine`: a way to count exactly, with its limits and its estimates of time and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.counting.engines.table import CountTable
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.counting.memory import MemoryNeed
from anysize.graphs.graphset import GraphSet


def every_graph(f: Features, k: int) -> BoolArray:
    """The limits of an engine that can count every graph."""
    return np.ones(len(f.n), bool)


@dataclass(frozen=True)
class Engine:
    """A way to count exactly. Each engine is the object of one file, which also holds its kernels.

    Attributes:
        name: selects the engine in ``count(graphs, k, engine=name)``.
        idea: describes it in one line of `Counts.explain`.
        count: counts all graphs of a set for one pattern size.
        sizes: the pattern sizes that it counts.
        colored: whether it distinguishes vertices by color.
        seconds: the expected time of each graph on one core; constants are those of an x86 server, and
            ``make bench`` compares them with measurements.
        memory: the expected memory of each graph.
        fits: the graphs that it can count.
        start: the expected seconds of a call, whatever the graphs.
        splits_graphs: whether several threads can share one graph.
    """

    name: str
    idea: str
    count: Callable[[GraphSet, int, Threads, Tick], CountTable]
    sizes: tuple[int, ...]
    colored: bool
    seconds: Callable[[Features, int], FloatArray]
    memory: Callable[[Features, int], MemoryNeed]
    fits: Callable[[Features, int], BoolArray] = every_graph
    start: float = 0.0
    splits_graphs: bool = True

    def cost(self, f: Features, k: int) -> FloatArray:
        """The expected seconds of each graph in a call for all of them; infinite if it cannot be counted."""
        return np.where(self.fits(f, k), self.seconds(f, k) + self.start / max(len(f.n), 1), np.inf)


@dataclass(frozen=True)
class EngineChoice:
    """The graphs of a set that an engine counts."""

    engine: Engine
    rows: IntArray  # ascending
    costs: FloatArray  # expected seconds per graph on one core
    reason: str

    @property
    def seconds(self) -> float:
        """Expected time for all of them on one core."""
        return float(self.costs.sum())
