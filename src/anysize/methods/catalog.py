"""`METHODS`: every row of the tables. A family of methods is one file, which says all about its rows.

To add one, see docs/add-a-method.md. Nothing here imports torch or scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping

from anysize._registry import Registry
from anysize._typing import TargetKind
from anysize.graphs.attributes import ATTRIBUTES
from anysize.graphs.graphset import GraphSet
from anysize.methods.auto import AUTO
from anysize.methods.baselines import BASELINES
from anysize.methods.forests import FORESTS
from anysize.methods.gamma import ABLATION, GAMMA_METHODS
from anysize.methods.gnns import GNN_METHODS, VREX
from anysize.methods.kernel_machines import KERNEL_METHODS
from anysize.methods.method import Method
from anysize.methods.peers import PEERS
from anysize.methods.sizemix import SIZEMIX

# the names that stand for all methods of a kind in sweeps
GROUP_KINDS: Mapping[str, str] = {"gamma": "gamma", "kernels": "kernel", "gnns": "gnn", "baselines": "baseline"}

_REGISTRY = Registry(
    Method,
    "method",
    "ANYSIZE_METHODS",
    (*GNN_METHODS, *KERNEL_METHODS, *GAMMA_METHODS, VREX, SIZEMIX, AUTO, *PEERS, *FORESTS, ABLATION, *BASELINES),
    reserved="|".join(("main", *GROUP_KINDS, "all")),
)
METHODS: Mapping[str, Method] = _REGISTRY
register = _REGISTRY.register
unregister = _REGISTRY.unregister


def find_method(name: str, predicts: TargetKind | None = None) -> Method:
    """The method of this name; an error if there is none, or if it does not predict classes, or numbers, as asked."""
    method = _REGISTRY.find(name)
    if predicts is not None and predicts not in method.predicts:
        able = ", ".join(row.name for row in METHODS.values() if predicts in row.predicts)
        raise ValueError(f"{name} does not predict {predicts}; methods that do are {able}")
    return method


def unused_by(method: Method, graphs: GraphSet) -> str | None:
    """One sentence about the attributes of graphs that a method does not use, and the methods that do; None if none."""
    unused: dict[str, list[str]] = {}  # who uses it -> attributes
    for name, _, _, palette, title in ATTRIBUTES:
        array = getattr(graphs, name)
        if not title or title in method.uses or array is None or not array.size:
            continue
        if palette and array.ndim == 1 and len(getattr(graphs, palette)) < 2:  # one color tells nothing apart
            continue
        names = [row.name for row in METHODS.values() if not row.is_baseline and title in row.uses]
        several = f"{', '.join(names[:-1])} and {names[-1]} do" if len(names) > 1 else ""
        unused.setdefault(several or (f"{names[0]} does" if names else "no method does"), []).append(title)
    clauses = [f"{' and '.join(titles)} ({able})" for able, titles in unused.items()]
    return f"{method.name} does not use attributes of these graphs: {', '.join(clauses)}." if clauses else None
