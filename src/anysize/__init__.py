"""anysize: train on small graphs, predict on graphs of any size.

Public names are imported when they are first used: `import anysize` loads nothing else, numba is imported by the first
count, torch by what trains models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anysize._errors import CountWarning, GraphError, GraphWarning, ModelWarning, PartialResultError
    from anysize.causal.environments import Environment, sample_graphs, sample_twins
    from anysize.causal.graphons import BlockModel, ErdosRenyi, GraphonDistribution, SmoothGraphon
    from anysize.counting.api import count
    from anysize.counting.counts import Counts
    from anysize.counting.orbits.api import orbits
    from anysize.counting.orbits.numbering import edge_orbit_positions, orbit_positions
    from anysize.counting.orbits.table import OrbitCounts
    from anysize.counting.stream import count_stream, open_stream
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.model_file import load_model
    from anysize.estimators.regressor import GraphRegressor
    from anysize.estimators.transformers import AttachDensities, SubgraphDensities
    from anysize.evaluation.compare import Comparison, compare
    from anysize.evaluation.evaluate import evaluate
    from anysize.evaluation.tasks import Splits, Task, size_split
    from anysize.executors import cluster
    from anysize.graphs.graphset import GraphSet
    from anysize.io.read import read_graphs
    from anysize.kernels.vertex_bins import VertexBins
    from anysize.methods.catalog import METHODS
    from anysize.networks.distances import distances
    from anysize.networks.significance import Motifs, motifs
    from anysize.patterns.pattern import Pattern, connected_patterns
    from anysize.shift import Diagnosis, diagnose

__version__ = "0.1.0"

_MODULES = {  # module -> public names
    "anysize._errors": ("CountWarning", "GraphError", "GraphWarning", "ModelWarning", "PartialResultError"),
    "anysize.causal.environments": ("Environment", "sample_graphs", "sample_twins"),
    "anysize.causal.graphons": ("BlockModel", "ErdosRenyi", "GraphonDistribution", "SmoothGraphon"),
    "anysize.counting.api": ("count",),
    "anysize.counting.counts": ("Counts",),
    "anysize.counting.orbits.api": ("orbits",),
    "anysize.counting.orbits.numbering": ("edge_orbit_positions", "orbit_positions"),
    "anysize.counting.orbits.table": ("OrbitCounts",),
    "anysize.counting.stream": ("count_stream", "open_stream"),
    "anysize.estimators.classifier": ("GraphClassifier",),
    "anysize.estimators.model_file": ("load_model",),
    "anysize.estimators.regressor": ("GraphRegressor",),
    "anysize.estimators.transformers": ("AttachDensities", "SubgraphDensities"),
    "anysize.executors": ("cluster",),
    "anysize.evaluation.compare": ("Comparison", "compare"),
    "anysize.evaluation.evaluate": ("evaluate",),
    "anysize.graphs.graphset": ("GraphSet",),
    "anysize.io.read": ("read_graphs",),
    "anysize.kernels.vertex_bins": ("VertexBins",),
    "anysize.methods.catalog": ("METHODS",),
    "anysize.networks.distances": ("distances",),
    "anysize.networks.significance": ("Motifs", "motifs"),
    "anysize.patterns.pattern": ("Pattern", "connected_patterns"),
    "anysize.shift": ("Diagnosis", "diagnose"),
    "anysize.evaluation.tasks": ("Splits", "Task", "size_split"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "METHODS",
    "AttachDensities",
    "BlockModel",
    "Comparison",
    "CountWarning",
    "Counts",
    "Diagnosis",
    "Environment",
    "ErdosRenyi",
    "GraphClassifier",
    "GraphError",
    "GraphRegressor",
    "GraphSet",
    "GraphWarning",
    "GraphonDistribution",
    "ModelWarning",
    "Motifs",
    "OrbitCounts",
    "PartialResultError",
    "Pattern",
    "SmoothGraphon",
    "Splits",
    "SubgraphDensities",
    "Task",
    "VertexBins",
    "__version__",
    "cluster",
    "compare",
    "connected_patterns",
    "count",
    "count_stream",
    "diagnose",
    "distances",
    "edge_orbit_positions",
    "evaluate",
    "load_model",
    "motifs",
    "open_stream",
    "orbit_positions",
    "orbits",
    "read_graphs",
    "sample_graphs",
    "sample_twins",
    "size_split",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from anysize._errors import naming_extra

        with naming_extra(f"anysize.{name}"):
            value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'anysize' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
