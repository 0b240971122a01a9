"""`METHODS`: every row of the tables with its capabilities, hyper-parameters and recipes. Imports no torch.

To add one, see docs/add-a-method.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal

from anysize._registry import Registry
from anysize.methods import grids
from anysize.methods.auto import AutoMethod
from anysize.methods.classical import BaselineMethod, KernelMethod, SizeMixMethod
from anysize.methods.configuration import COUNTED, DEEP, TRAINED, positive, weight, whole_number
from anysize.methods.grids import Grid
from anysize.methods.method import Check, Method
from anysize.methods.neural import GammaMethod, GNNMethod, ModuleMethod
from anysize.methods.recipes import gamma_recipe, gnn_recipe

_TU = {"batch_size": 64, "lr": 0.005}


def gnn_method(
    *,
    name: str,
    title: str,
    learner: GNNMethod | ModuleMethod,
    grid: Mapping[str, Grid] | None = None,
    defaults: Mapping[str, Any] | None = None,
    **others: Any,
) -> Method:
    """A method that trains a GNN on whole graphs, with the recipes and hyper-parameters that all of these share.

    Args:
        name: of the method.
        title: of its row.
        learner: the encoder, the readout, the objective; or a module of your own.
        grid: hyper-parameter values to try for each family of tasks; by default the paper's, none for a module.
        defaults: added to the default configuration: the weight of the objective's penalty, what builds a module.
        others: further fields of `Method`.
    """
    penalized = {} if learner.penalty is None else {learner.penalty: weight}
    if isinstance(learner, ModuleMethod):
        own: dict[str, Any] = {
            "grid": grid or {},
            "defaults": {"lr": 0.01, **(defaults or {})},
            "family_defaults": {"tu": _TU},
            "parameters": {**{name: TRAINED[name] for name in ("epochs", "lr", "batch_size")}, **penalized},
        }
    else:
        own = {
            "grid": grids.GNN if grid is None else grid,
            "defaults": {"hidden": 32, "layers": 2, "lr": 0.01, "jumping": False, **(defaults or {})},
            "family_defaults": {"tu": {**_TU, "layers": 3}},
            "parameters": {**DEEP, **penalized},
            "shape": learner.shape,
        }
    return Method(
        name=name,
        title=title,
        learner=learner,
        kind="gnn",
        recipes=gnn_recipe,
        environments=learner.penalty is not None,
        penalty=learner.penalty,
        **own,
        **others,
    )


def _gnns() -> Iterator[Method]:
    encoders: tuple[Literal["pna", "gcn", "gin"], ...] = ("pna", "gcn", "gin")
    readouts: tuple[Literal["sum", "mean", "max"], ...] = ("sum", "mean", "max")
    for encoder in encoders:
        label = encoder.upper()
        quick = {} if encoder == "pna" else {"layers": (1, 2)}  # two layers of PNA take minutes
        for readout in readouts:
            yield gnn_method(
                name=f"{encoder}-{readout}",
                title=label if readout == "sum" else f"{label} ({readout})",
                learner=GNNMethod(encoder, readout),
                quick=quick,
                in_paper=True,
            )
        yield gnn_method(
            name=f"{encoder}-irm",
            title=f"{label} + IRM",
            learner=GNNMethod(encoder),
            grid=grids.GNN_IRM,
            defaults={"irm": 8},
            quick=quick,
            in_paper=True,
        )
    yield gnn_method(name="rpgin", title="RPGIN", learner=GNNMethod("gin", relational=True), in_paper=True)


def _gamma_gnn(*, name: str, title: str, kind: Literal["gnn", "rp"], grid: Mapping[str, Grid], **others: Any) -> Method:
    """A Gamma model with a GNN on the patterns."""
    learner = GammaMethod(kind)
    return Method(
        name=name,
        title=title,
        learner=learner,
        kind="gamma",
        grid=grid,
        defaults={"hidden": 32, "lr": 0.01, "layers": 1},
        family_defaults={"tu": {**_TU, "layers": 2}},
        parameters={**DEEP, **COUNTED, "penalty": weight},
        shape=learner.shape,
        patterns=True,
        penalty="penalty",
        recolors=True,
        **{"recipes": gamma_recipe, **others},
    )


def _gammas() -> Iterator[Method]:
    one_hot = GammaMethod("1hot")
    yield Method(
        name="gamma-1hot",
        title="Γ 1-hot",
        learner=one_hot,
        kind="gamma",
        grid=grids.GAMMA_ONE_HOT,
        defaults={"hidden": 32, "lr": 0.01},
        family_defaults={"tu": _TU},
        parameters={**TRAINED, **COUNTED},
        recipes=gnn_recipe,
        shape=one_hot.shape,
        patterns=True,
        in_paper=True,
    )
    penalties = {"robust": {"penalty": 0.1}, "paper": {"penalty": 0.15}}
    kinds: tuple[tuple[str, Literal["gnn", "rp"]], ...] = (("gin", "gnn"), ("rpgin", "rp"))
    for name, kind in kinds:
        yield _gamma_gnn(
            name=f"gamma-{name}",
            title=f"Γ {name.upper()}",
            kind=kind,
            grid=grids.GAMMA_GNN,
            colored_defaults=penalties,
            in_paper=True,
        )


def _kernels() -> Iterator[Method]:
    c: Mapping[str, Check] = {"C": positive}
    yield Method(
        name="wl-kernel",
        title="WL kernel",
        learner=KernelMethod("wl"),
        kind="kernel",
        grid=grids.WL,
        defaults={"iterations": 3, "C": 1.0},
        parameters={**c, "iterations": whole_number},
        seeded=False,
        in_paper=True,
    )
    yield Method(
        name="gc-kernel",
        title="GC kernel",
        learner=KernelMethod("graphlet"),
        kind="kernel",
        grid=grids.GRAPHLET,
        defaults={"C": 1000.0},
        parameters=c,
        seeded=False,
        patterns=True,
        in_paper=True,
    )


def _checks() -> Iterator[Method]:
    # the negative control: Gamma_GIN that may use colors freely
    yield _gamma_gnn(
        name="gamma-gin-free",
        title="Γ GIN, no penalty",
        kind="gnn",
        grid=grids.GAMMA_FREE,
        recipes=partial(gamma_recipe, roles=False),
        check=True,
    )
    names: tuple[Literal["random", "majority", "size-only", "topology-only"], ...] = (
        "random", "majority", "size-only", "topology-only",
    )  # fmt: skip
    for name in names:
        yield Method(
            name=name,
            title=name.replace("-", " "),
            learner=BaselineMethod(name),
            kind="baseline",
            grid=grids.NOTHING,
            seeded=name == "random",
            patterns=name == "topology-only",
            colors=False,
            check=True,
        )


# the names that stand for all methods of a kind in sweeps
GROUP_KINDS: Mapping[str, str] = {"gamma": "gamma", "kernels": "kernel", "gnns": "gnn", "checks": "baseline"}

_REGISTRY = Registry(
    Method,
    "method",
    "ANYSIZE_METHODS",
    (
        *_gnns(),
        *_kernels(),
        *_gammas(),
        gnn_method(
            name="gin-vrex",
            title="GIN + V-REx",
            learner=GNNMethod("gin", objective="beta"),
            grid=grids.GNN_VREX,
            defaults={"beta": 10},
            quick={"layers": (1, 2)},
        ),
        Method(name="sizemix", title="SizeMix", learner=SizeMixMethod(), grid=grids.NOTHING, seeded=False),
        Method(name="auto", title="auto", learner=AutoMethod(), grid=grids.NOTHING),
        *_checks(),
    ),
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
    return frozenset(method.penalty for method in METHODS.values() if method.penalty is not None)
