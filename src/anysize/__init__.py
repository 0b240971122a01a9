"""anysize: train on small graphs, predict on graphs of any size.

The public names, by hand. Nothing is imported before it is used: `import anysize` costs nothing, counting
imports numba on its first call, and torch is only imported by what learns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anysize.causal import Environment, sample_graphs, sample_twins
    from anysize.classifier import GraphClassifier
    from anysize.counting import count
    from anysize.counting.counts import Counts
    from anysize.counting.stream import count_stream
    from anysize.counting.stream_reading import open_stream
    from anysize.densities import AttachDensities, SubgraphDensities
    from anysize.diagnosis import Diagnosis, diagnose
    from anysize.errors import CountWarning, GraphError, GraphWarning, TaskError
    from anysize.executors import cluster
    from anysize.graphons import BlockModel, ErdosRenyi, SmoothGraphon
    from anysize.graphs import GraphSet
    from anysize.methods import METHODS
    from anysize.model_file import load
    from anysize.patterns import Pattern, catalogue
    from anysize.readers import read
    from anysize.tasks import TASKS, Splits, Task, size_split

__version__ = "0.1.0"

_HOME = {
    "AttachDensities": "anysize.densities",
    "BlockModel": "anysize.graphons",
    "CountWarning": "anysize.errors",
    "Counts": "anysize.counting.counts",
    "Diagnosis": "anysize.diagnosis",
    "Environment": "anysize.causal",
    "ErdosRenyi": "anysize.graphons",
    "GraphClassifier": "anysize.classifier",
    "GraphError": "anysize.errors",
    "GraphSet": "anysize.graphs",
    "GraphWarning": "anysize.errors",
    "METHODS": "anysize.methods",
    "Pattern": "anysize.patterns",
    "SmoothGraphon": "anysize.graphons",
    "Splits": "anysize.tasks",
    "SubgraphDensities": "anysize.densities",
    "TASKS": "anysize.tasks",
    "Task": "anysize.tasks",
    "TaskError": "anysize.errors",
    "catalogue": "anysize.patterns",
    "cluster": "anysize.executors",
    "count": "anysize.counting",
    "count_stream": "anysize.counting.stream",
    "diagnose": "anysize.diagnosis",
    "load": "anysize.model_file",
    "open_stream": "anysize.counting.stream_reading",
    "read": "anysize.readers",
    "sample_graphs": "anysize.causal",
    "sample_twins": "anysize.causal",
    "size_split": "anysize.tasks",
}

__all__ = [
    "METHODS",
    "TASKS",
    "AttachDensities",
    "BlockModel",
    "CountWarning",
    "Counts",
    "Diagnosis",
    "Environment",
    "ErdosRenyi",
    "GraphClassifier",
    "GraphError",
    "GraphSet",
    "GraphWarning",
    "Pattern",
    "SmoothGraphon",
    "Splits",
    "SubgraphDensities",
    "Task",
    "TaskError",
    "__version__",
    "catalogue",
    "cluster",
    "count",
    "count_stream",
    "diagnose",
    "load",
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
