"""`METHODS`: every row of the tables. A family of methods is one file, which says all about its rows.

To add one, see docs/add-a-method.md. Nothing here imports torch or scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping

from anysize._registry import Registry
from anysize.methods.auto import AUTO
from anysize.methods.baselines import BASELINES
from anysize.methods.gamma import ABLATION, GAMMA_METHODS
from anysize.methods.gnns import GNN_METHODS, VREX
from anysize.methods.kernel_machines import KERNEL_METHODS
from anysize.methods.method import Method
from anysize.methods.sizemix import SIZEMIX

# the names that stand for all methods of a kind in sweeps
GROUP_KINDS: Mapping[str, str] = {"gamma": "gamma", "kernels": "kernel", "gnns": "gnn", "baselines": "baseline"}

_REGISTRY = Registry(
    Method,
    "method",
    "ANYSIZE_METHODS",
    (*GNN_METHODS, *KERNEL_METHODS, *GAMMA_METHODS, VREX, SIZEMIX, AUTO, ABLATION, *BASELINES),
    reserved="|".join(("main", *GROUP_KINDS, "all")),
)
METHODS: Mapping[str, Method] = _REGISTRY
register = _REGISTRY.register
unregister = _REGISTRY.unregister
find_method = _REGISTRY.find


def penalty_names() -> frozenset[str]:
    """The hyper-parameters that weigh a penalty, of all methods.

    >>> sorted(penalty_names())
    ['beta', 'irm', 'penalty']
    """
    return frozenset(method.penalty_name for method in METHODS.values() if method.penalty_name is not None)
