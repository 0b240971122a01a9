"""anysize: train on small graphs, predict on graphs of any size.

The public names, by hand. Nothing is imported before it is used: `import anysize` costs nothing, counting
imports numba on its first call, and torch is only imported by what learns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anysize.causal import Environment, sample_graphs, sample_twins
    from anysize.counting import count
    from anysize.counting.counts import Counts
    from anysize.counting.stream import count_stream, open_stream
    from anysize.errors import CountWarning, GraphError, GraphWarning
    from anysize.graphons import BlockModel, ErdosRenyi, SmoothGraphon
    from anysize.graphs import GraphSet
    from anysize.patterns import Pattern, catalogue
    from anysize.readers import read
    from anysize.tasks import TASKS, Splits, Task, size_split

__version__ = "0.1.0"

_HOME = {
    "BlockModel": "anysize.graphons",
    "CountWarning": "anysize.errors",
    "Counts": "anysize.counting.counts",
    "Environment": "anysize.causal",
    "ErdosRenyi": "anysize.graphons",
    "GraphError": "anysize.errors",
    "GraphSet": "anysize.graphs",
    "GraphWarning": "anysize.errors",
    "Pattern": "anysize.patterns",
    "SmoothGraphon": "anysize.graphons",
    "Splits": "anysize.tasks",
    "TASKS": "anysize.tasks",
    "Task": "anysize.tasks",
    "catalogue": "anysize.patterns",
    "count": "anysize.counting",
    "count_stream": "anysize.counting.stream",
    "open_stream": "anysize.counting.stream",
    "read": "anysize.readers",
    "sample_graphs": "anysize.causal",
    "sample_twins": "anysize.causal",
    "size_split": "anysize.tasks",
}

__all__ = [
    "TASKS",
    "BlockModel",
    "CountWarning",
    "Counts",
    "Environment",
    "ErdosRenyi",
    "GraphError",
    "GraphSet",
    "GraphWarning",
    "Pattern",
    "SmoothGraphon",
    "Splits",
    "Task",
    "__version__",
    "catalogue",
    "count",
    "count_stream",
    "open_stream",
    "read",
    "sample_graphs",
    "sample_twins",
    "size_split",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'anysize' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
