"""METHODS: every row of the tables, with its grid, its recipes and its default configuration. One entry each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from anysize._registry import Registry
from anysize.methods import grids
from anysize.methods.classical import FittedKernel, FittedSanity, KernelMethod, SanityMethod
from anysize.methods.grids import Configuration, Grid
from anysize.methods.learner import Examples, Fitted, LearningTask, Run, balancing_weights
from anysize.methods.method import RECIPES, Learner, Method, RecipeName
from anysize.methods.neural import FittedGamma, FittedGNN, GammaMethod, GNNMethod
from anysize.methods.parameters import COUNTED, DEEP, TRAINED, positive, weight, whole_number
from anysize.methods.recipes import gamma_recipe, gnn_recipe
from anysize.training.invariance import VREX

_TU = {"batch_size": 64, "lr": 0.005}


def _gamma(
    name: str, title: str, kind: Any, grid: Mapping[str, Grid], penalties: tuple[float, float] | None = (0.1, 0.15),
    roles: bool = True,
) -> Method:  # fmt: skip
    """A Gamma model on patterns; ``penalties``: by the robust recipe and the paper's, None for none to begin with."""
    learner, one = GammaMethod(kind), {"hidden": 32, "lr": 0.01, "layers": 1}
    added = {} if penalties is None else {"robust": {"penalty": penalties[0]}, "paper": {"penalty": penalties[1]}}
    return Method(
        name, title, learner, grid, FittedGamma.from_state, one, one, added, {"tu": {**_TU, "layers": 2}},
        {**DEEP, **COUNTED, "penalty": weight}, partial(gamma_recipe, roles=roles), weight="penalty", patterns=True,
        shape=learner.shape,
    )  # fmt: skip


def _one_hot() -> Method:
    learner, one = GammaMethod("1hot"), {"hidden": 32, "lr": 0.01}
    return Method(
        "gamma-1hot", "Gamma_1-hot", learner, grids.GAMMA_ONE_HOT, FittedGamma.from_state, one, one,
        families={"tu": _TU}, parameters={**TRAINED, **COUNTED}, recipes=gnn_recipe, patterns=True, shape=learner.shape,
    )  # fmt: skip


def _unpenalized() -> Method:
    """The negative control: Gamma_GIN that may look at colors as it likes."""
    one = {"hidden": (32,), "lr": (0.01,), "layers": (1,)}
    grid = {**dict.fromkeys(grids.FAMILIES, one), "DD": {**one, "batch_size": (grids.DD_BATCH,)}}
    return _gamma("gamma-gin-free", "Gamma_GIN, no penalty", "gnn", grid, penalties=None, roles=False)


def gnn_method(
    name: str, title: str, learner: GNNMethod, grid: Mapping[str, Grid] = grids.GNN, **weight_: float
) -> Method:
    """A row that trains a GNN on whole graphs, by the recipes and with the hyper-parameters of all of them.

    ``weight_``: of the penalty of its objective, under the name that this has for it; none where it is off.
    """
    one = {"hidden": 32, "layers": 2, "lr": 0.01, "jumping": False, **weight_}
    return Method(
        name, title, learner, grid, FittedGNN.from_state, one, one, families={"tu": {**_TU, "layers": 3}},
        parameters={**DEEP, learner.objective.weight: weight}, recipes=gnn_recipe, environments=True,
        weight=learner.objective.weight, shape=learner.shape,
    )  # fmt: skip


def _gnns() -> Iterator[Method]:
    for encoder in ("pna", "gcn", "gin"):
        label = encoder.upper()
        for readout in ("sum", "mean", "max"):
            title = label if readout == "sum" else f"{label} ({readout})"
            yield gnn_method(f"{encoder}-{readout}", title, GNNMethod(encoder, readout))
        yield gnn_method(f"{encoder}-irm", f"{label} + IRM", GNNMethod(encoder), grids.GNN_IRM, irm=8)
    yield gnn_method("rpgin", "RPGIN", GNNMethod("gin", relational=True))


def _kernel(name: str, title: str, grid: Mapping[str, Grid], patterns: bool, **one: Any) -> Method:
    parameters = {"C": positive} if patterns else {"C": positive, "iterations": whole_number}
    return Method(
        name, title, KernelMethod(name), grid, FittedKernel.from_state, one, one, parameters=parameters, seeded=False,
        patterns=patterns,
    )  # fmt: skip


def _sanity(name: str, title: str, seeded: bool = False, patterns: bool = False) -> Method:
    """A row that does not look at colors."""
    return Method(
        name, title, SanityMethod(name), grids.NOTHING, FittedSanity.from_state, seeded=seeded, patterns=patterns,
        colors=False,
    )  # fmt: skip


_ALL = (
    *_gnns(),
    _kernel("wl-kernel", "WL kernel", grids.WL, False, iterations=3, C=1.0),
    _kernel("gc-kernel", "GC kernel", grids.GRAPHLET, True, C=1000.0),
    _one_hot(),
    _gamma("gamma-gin", "Gamma_GIN", "gnn", grids.GAMMA_GNN),
    _gamma("gamma-rpgin", "Gamma_RPGIN", "rp", grids.GAMMA_GNN),
    gnn_method("gin-vrex", "GIN + V-REx", GNNMethod("gin", objective=VREX), grids.GNN_VREX, beta=10),
    _unpenalized(),
    _sanity("random", "Random", seeded=True),
    _sanity("majority", "Majority"),
    _sanity("size-only", "Size only"),
    _sanity("topology-only", "Topology only", patterns=True),
)

_REGISTRY = Registry(Method, "method", "ANYSIZE_METHODS", _ALL)
METHODS: Mapping[str, Method] = _REGISTRY.known


def register(method: Method) -> None:
    """Give a method of your own a name: `GraphClassifier`, sweeps and tables of this process know it from then on.

    Other processes (the command line, the workers of a sweep) read ``ANYSIZE_METHODS=module:NAME``. Registering the
    same method again changes nothing; another one under a name that is taken is an error.
    """
    _REGISTRY.add(method)


def unregister(name: str) -> None:
    """Forget a method that `register` added."""
    _REGISTRY.remove(name)


def register_elsewhere() -> None:
    """Register what the environment variable ANYSIZE_METHODS names, as ``module:NAME`` between commas."""
    _REGISTRY.add_elsewhere()


def find_method(name: str) -> Method:
    """The method of that name; an error that names those that begin so, the nearest one, or all, if there is none.

    >>> find_method("gamma-gin").title
    'Gamma_GIN'
    """
    if name not in METHODS:
        register_elsewhere()
    if name in METHODS:
        return METHODS[name]
    own = str(name).lower()
    near = [other for other in METHODS if own and other.startswith(own)]
    near = near or get_close_matches(own, list(METHODS), n=1, cutoff=0.7)
    told = ", ".join(near[:-1]) + " or " * (len(near) > 1) + near[-1] if near else ""
    hint = f"did you mean {told}?" if near else f"the methods are {', '.join(METHODS)}."
    raise ValueError(f"There is no method {name!r}: {hint}")


__all__ = [
    "METHODS",
    "RECIPES",
    "Configuration",
    "Examples",
    "Fitted",
    "GNNMethod",
    "Learner",
    "LearningTask",
    "Method",
    "RecipeName",
    "Run",
    "balancing_weights",
    "find_method",
    "gnn_method",
    "register",
    "register_elsewhere",
    "unregister",
]  # fmt: skip
