"""METHODS: every row of the tables, with its grid, its recipes and its default configuration. One entry each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal, Protocol

from anysize.learning.settings import Recipe
from anysize.methods import grids
from anysize.methods.classical import FittedKernel, FittedSanity, KernelMethod, SanityMethod
from anysize.methods.fitted import Arrays, Fitted, Run
from anysize.methods.grids import Configuration, Grid, points
from anysize.methods.neural import FittedGamma, FittedGNN, GammaMethod, GNNMethod
from anysize.methods.problem import Examples, Problem, balancing_weights
from anysize.methods.recipes import NO_TRAINING, paper_recipe, robust_recipe

RecipeName = Literal["robust", "paper"]
RECIPES: tuple[RecipeName, ...] = ("robust", "paper")


class Learner(Protocol):
    """What a row of the tables does: train many runs, stack by stack."""

    def fit(
        self, problem: Problem, runs: Sequence[Run], recipe: Recipe,
        progress: Callable[[float], None] | None = None, most: int | None = None,
    ) -> Iterator[Fitted]:  # fmt: skip
        """``most``: the largest number of models in one stack."""
        ...


@dataclass(frozen=True)
class Method:
    """One row of the tables.

    Attributes:
        name: as on the command line. title: as in the tables.
        learner: what trains it.
        grid: the paper's grid for each family of tasks; no entry where the paper does not run it.
        robust, paper: one good configuration for each recipe, where no grid is searched.
        coloured: what is added to these where graphs have colours (the attribute penalty).
        restore: makes fitted models from their state.
        seeded: whether the seed matters at all.
        environments: whether training needs several environments.
    """

    name: str
    title: str
    learner: Learner
    grid: Mapping[str, Grid]
    restore: Callable[[dict[str, Any], Arrays], Fitted]
    robust: Configuration = field(default_factory=dict)
    paper: Configuration = field(default_factory=dict)
    coloured: Mapping[str, Configuration] = field(default_factory=dict)
    seeded: bool = True
    environments: bool = False

    def recipe(self, name: RecipeName, family: str | None = None) -> Recipe:
        """How it is trained by this recipe, on tasks of this family."""
        if name not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(RECIPES)}; got {name!r}")
        if not isinstance(self.learner, (GammaMethod, GNNMethod)):
            return NO_TRAINING
        gamma = isinstance(self.learner, GammaMethod)
        return robust_recipe(self.name, gamma, family) if name == "robust" else paper_recipe(family)

    def default(self, name: RecipeName, family: str | None = None, coloured: bool = True) -> Configuration:
        """The one configuration to take where nothing is searched."""
        chosen = dict(self.robust if name == "robust" else self.paper)
        if coloured and family != "tu":
            chosen |= self.coloured.get(name, {})
        if family == "tu" and isinstance(self.learner, (GammaMethod, GNNMethod)):
            layers = {} if self.name == "gamma-1hot" else {"layers": 2 if isinstance(self.learner, GammaMethod) else 3}
            chosen |= {"batch_size": 64, "lr": 0.005} | layers
        return chosen

    def points(self, family: str, task: str | None = None) -> tuple[Configuration, ...]:
        """The paper's grid for a family of tasks, as configurations; Gamma models have larger batches on DD."""
        if family not in self.grid:
            return ()
        grid = self.grid[family]
        if task == "DD" and isinstance(self.learner, GammaMethod):
            grid = {**grid, "batch_size": (grids.DD_BATCH,)}
        return points(grid)


def _gamma(name: str, title: str, kind: Any, grid: Mapping[str, Grid], layers: bool = True) -> Method:
    one = {"hidden": 32, "lr": 0.01} | ({"layers": 1} if layers else {})
    penalty = {"robust": {"penalty": 0.1}, "paper": {"penalty": 0.15}} if layers else {}
    return Method(name, title, GammaMethod(kind), grid, FittedGamma.from_state, one, one, penalty)


def _unpenalised() -> Method:
    """The negative control: Gamma_GIN that may look at colours as it likes."""
    one = {"hidden": 32, "lr": 0.01, "layers": 1}
    grid = {family: {name: (value,) for name, value in one.items()} for family in grids.FAMILIES}
    learner = GammaMethod("gnn")
    return Method("gamma-gin-free", "Gamma_GIN, no penalty", learner, grid, FittedGamma.from_state, one, one)


def _gnns() -> Iterator[Method]:
    one = {"hidden": 32, "layers": 2, "lr": 0.01, "jumping": False}
    for encoder in ("pna", "gcn", "gin"):
        label = encoder.upper()
        for readout in ("sum", "mean", "max"):
            title = label if readout == "sum" else f"{label} ({readout})"
            learner = GNNMethod(encoder, readout)
            yield Method(f"{encoder}-{readout}", title, learner, grids.GNN, FittedGNN.from_state, one, one)
        learner = GNNMethod(encoder)
        irm = one | {"irm": 8}
        yield Method(
            f"{encoder}-irm", f"{label} + IRM", learner, grids.GNN_IRM, FittedGNN.from_state, irm, irm,
            environments=True,
        )  # fmt: skip
    yield Method("rpgin", "RPGIN", GNNMethod("gin", relational=True), grids.GNN, FittedGNN.from_state, one, one)


def _kernel(name: str, title: str, grid: Mapping[str, Grid], **one: Any) -> Method:
    return Method(name, title, KernelMethod(name), grid, FittedKernel.from_state, one, one, seeded=False)


def _sanity(name: str, title: str) -> Method:
    learner = SanityMethod(name)
    return Method(name, title, learner, grids.NOTHING, FittedSanity.from_state, seeded=name == "random")


_ALL = (
    *_gnns(),
    _kernel("wl-kernel", "WL kernel", grids.WL, iterations=3, C=1.0),
    _kernel("gc-kernel", "GC kernel", grids.GRAPHLET, C=1000.0),
    _gamma("gamma-1hot", "Gamma_1-hot", "1hot", grids.GAMMA_ONE_HOT, layers=False),
    _gamma("gamma-gin", "Gamma_GIN", "gnn", grids.GAMMA_GNN),
    _gamma("gamma-rpgin", "Gamma_RPGIN", "rp", grids.GAMMA_GNN),
    _unpenalised(),
    _sanity("random", "Random"),
    _sanity("majority", "Majority"),
    _sanity("size-only", "Size only"),
    _sanity("topology-only", "Topology only"),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method:
    """The method of that name; an error that names the nearest one, or all, if there is none.

    >>> find_method("gamma-gin").title
    'Gamma_GIN'
    """
    if name in METHODS:
        return METHODS[name]
    near = get_close_matches(str(name).lower(), list(METHODS), n=1, cutoff=0.7)
    hint = f"did you mean {near[0]}?" if near else f"the methods are {', '.join(METHODS)}."
    raise ValueError(f"There is no method {name!r}: {hint}")


__all__ = [
    "METHODS", "RECIPES", "Configuration", "Examples", "Fitted", "Learner", "Method", "Problem", "RecipeName", "Run",
    "balancing_weights", "find_method",
]  # fmt: skip
