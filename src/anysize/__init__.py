"""anysize: train on small graphs, predict on graphs of any size.

The public names, by hand. Nothing is imported before it is used: `import anysize` costs nothing, counting
imports numba on its first call, and torch is only imported by what learns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anysize.counting import count
    from anysize.counting.counts import Counts
    from anysize.counting.stream import count_stream
    from anysize.counting.stream_reading import open_stream
    from anysize.errors import CountWarning, GraphError, GraphWarning, TaskError
    from anysize.executors import cluster
    from anysize.graphs import GraphSet
    from anysize.patterns import Pattern, catalogue
    from anysize.readers import read

__version__ = "0.1.0"

_HOME = {
    "CountWarning": "anysize.errors",
    "Counts": "anysize.counting.counts",
    "GraphError": "anysize.errors",
    "GraphSet": "anysize.graphs",
    "GraphWarning": "anysize.errors",
    "Pattern": "anysize.patterns",
    "TaskError": "anysize.errors",
    "catalogue": "anysize.patterns",
    "cluster": "anysize.executors",
    "count": "anysize.counting",
    "count_stream": "anysize.counting.stream",
    "open_stream": "anysize.counting.stream_reading",
    "read": "anysize.readers",
}

__all__ = [
    "CountWarning",
    "Counts",
    "GraphError",
    "GraphSet",
    "GraphWarning",
    "Pattern",
    "TaskError",
    "__version__",
    "catalogue",
    "cluster",
    "count",
    "count_stream",
    "open_stream",
    "read",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'anysize' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
