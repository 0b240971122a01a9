"""GNNs on whole graphs: PNA, GCN and GIN with sum, mean or max readout, with IRM or V-REx, and RPGIN.

`anysize.nn.gnn` has the modules, `anysize.training.fit_gnn` trains them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from anysize._progress import Progress, part_of
from anysize.methods.configuration import weight
from anysize.methods.method import EDGE_TYPES, Arrays, Configuration, Grid, Method, Run, TrainingData
from anysize.methods.neural import (
    DEEP,
    GNN_TRAINING,
    RECIPE_FIELDS,
    STACK_MEMBERS,
    TU_DEFAULTS,
    TU_GRID,
    WIDTHS,
    FittedStack,
    TargetScale,
    fitting_recipe,
    gnn_recipe,
    make_stacks,
    settings_of,
    targets_of,
)
from anysize.training.device import device_kind, torch_defaults
from anysize.training.settings import Recipe, Settings

if TYPE_CHECKING:
    from anysize.training.objectives import Objective

# Share of the total memory, used or not, so that stacks do not depend on other processes. CPUs are shared by workers.
STACK_MEMORY_SHARE = {"cuda": 0.7, "cpu": 0.25}
CPU_SINGLE_MODEL_BYTES = 40e6  # larger models are faster one at a time than as a stack on a CPU

# ---- the learner ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GNNLearner:
    """Trains a GNN on whole graphs: sum, mean or max readout, with relational pooling or an objective for environments.

    ``objective``: an `Objective`, or a built-in one by the name of its weight: "irm" (IRM) or "beta" (V-REx). Where
    this weight is 0 or not set, environments are not compared.
    """

    encoder: Literal["gin", "gcn", "pna"]
    readout: Literal["sum", "mean", "max"] = "sum"
    relational: bool = False
    objective: str | Objective = "irm"

    @property
    def penalty_name(self) -> str:
        """The hyper-parameter that weighs the penalty of the objective."""
        return self.objective if isinstance(self.objective, str) else self.objective.weight

    def settings(self, run: Run) -> Settings:
        """One model of a stack."""
        return settings_of(run, self.penalty_name)

    def stack_key(self, configuration: Configuration) -> tuple[Any, ...]:
        """What models of one stack have in common."""
        return self.settings(Run(configuration, 0)).stack_key

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedStack]:  # fmt: skip
        """Train the runs; each stack is yielded as soon as it is trained."""
        from anysize.training.fit_gnn import fit_gnn
        from anysize.training.objectives import OBJECTIVES

        objective = OBJECTIVES[self.objective] if isinstance(self.objective, str) else self.objective
        stacks = make_stacks(
            data, runs, self.settings, lambda settings: self._max_members(data, settings, recipe, max_stack)
        )
        scales = TargetScale.of_each(data)
        train, validation = (
            None if examples is None else (examples.whole(self.encoder), targets_of(examples, scales))
            for examples in (data.train, data.validation)
        )
        assert train is not None
        for number, stack in enumerate(stacks):
            fitted = fit_gnn(
                self.encoder, self.readout, *train, stack.members, fitting_recipe(recipe, data),
                classes=data.outputs, blocks=data.blocks, relational=self.relational,
                environments=data.train.environments, objective=objective, validation=validation,
                weights=data.loss_weights(), validation_weights=data.validation_weights, metric=data.epoch_metric,
                device=data.device,
                progress=part_of(progress, number, len(stacks)),
            )  # fmt: skip
            yield from FittedStack(fitted, stack.runs).by_target(data, scales)

    def _max_members(self, data: TrainingData, settings: Settings, recipe: Recipe, max_stack: int | None) -> int:
        """How many models of one stack fit into memory, at most ``max_stack``."""
        from anysize.training.fit_gnn import bytes_per_model

        validation, device = data.validation, device_kind(data.device)
        model_bytes = bytes_per_model(
            self.encoder, data.train.whole(self.encoder), settings, recipe, relational=self.relational,
            device=data.device, validation=None if validation is None else validation.whole(self.encoder),
        )  # fmt: skip
        if device == "cpu" and model_bytes > CPU_SINGLE_MODEL_BYTES:
            return 1
        return int(max(min(_stack_memory(data.device) // model_bytes, max_stack or STACK_MEMBERS[device]), 1))

    @torch_defaults()
    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedStack:
        """Trained models from what `FittedStack.state` returned."""
        from anysize.training.fit_gnn import GNNStack

        return FittedStack.restored(GNNStack.from_state(about, arrays), about)


def _stack_memory(device: str) -> float:
    """Bytes that a stack may take."""
    if device_kind(device) == "cuda":
        import torch

        return STACK_MEMORY_SHARE["cuda"] * float(torch.cuda.get_device_properties(device).total_memory)
    if not hasattr(os, "sysconf"):  # Windows: no limit
        return float("inf")
    return STACK_MEMORY_SHARE["cpu"] * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# ---- grids, rows ---------------------------------------------------------------------------------------

# The paper's grids, by the sections of its appendix and in the order of its runs (see `anysize.methods.gamma`).
GNN_GRID: Mapping[str, Grid] = {
    "brain": {"layers": (1, 2, 3), "hidden": (32, 64, 128), "lr": (0.01, 0.001), "batch_size": (32,)},
    "erdos-renyi": {"layers": (1, 2, 3), "hidden": WIDTHS, "lr": (0.1, 0.01, 0.001), "jumping": (False, True)},
    "sbm": {"layers": (1, 2, 3), "hidden": WIDTHS, "lr": (0.1, 0.01, 0.001), "jumping": (False, True)},
    "tu": {"layers": (3,), **TU_GRID},
}
IRM_WEIGHTS = {"erdos-renyi": (4, 8, 16, 32), "sbm": (4, 8, 16, 32), "tu": (8, 32, 128, 512)}
IRM_GRID: Mapping[str, Grid] = {family: {"irm": weights, **GNN_GRID[family]} for family, weights in IRM_WEIGHTS.items()}
# not in the paper: one architecture, and weights over two orders of magnitude
_VREX = {"hidden": (32,), "layers": (1, 2), "lr": (0.01,), "jumping": (False,), "beta": (1, 10, 100)}
VREX_GRID: Mapping[str, Grid] = {
    "erdos-renyi": _VREX,
    "sbm": _VREX,
    "tu": {"batch_size": (64,), "lr": (0.01,), "hidden": (32,), "layers": (3,), "beta": (1, 10, 100)},
}
PATTERN_FIELDS = frozenset({"over", "roles", "whiten", "id_width", "samples", "penalty_on"})


def gnn_method(
    *,
    name: str,
    title: str,
    learner: GNNLearner,
    grid: Mapping[str, Grid] = GNN_GRID,
    defaults: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Method:
    """A method that trains a GNN on whole graphs, with the recipes and hyper-parameters that all of these share.

    Args:
        name: of the method.
        title: of its row.
        learner: the encoder, the readout, the objective.
        grid: hyper-parameter values to try for each family of tasks; by default the paper's.
        defaults: added to the default configuration, such as the weight of the objective's penalty.
        fields: further fields of `Method`.
    """
    return Method(
        name=name,
        title=title,
        learner=learner,
        kind="gnn",
        predicts=frozenset({"classes", "numbers"}),
        grid=grid,
        defaults={"hidden": 32, "layers": 2, "lr": 0.01, "jumping": False, **(defaults or {})},
        family_defaults={"tu": {**TU_DEFAULTS, "layers": 3}},
        recipe_defaults={"robust": {**GNN_TRAINING, "layers": 3}},
        parameters={**DEEP, learner.penalty_name: weight},
        recipes=gnn_recipe,
        recipe_fields=RECIPE_FIELDS - PATTERN_FIELDS,
        stack_key=learner.stack_key,
        edges=EDGE_TYPES,
        features="numbers",
        shares_targets=True,
        environments=True,
        penalty_name=learner.penalty_name,
        **fields,
    )


def _rows() -> Iterator[Method]:
    encoders: tuple[Literal["pna", "gcn", "gin"], ...] = ("pna", "gcn", "gin")
    readouts: tuple[Literal["sum", "mean", "max"], ...] = ("sum", "mean", "max")
    for encoder in encoders:
        label = encoder.upper()
        quick = {} if encoder == "pna" else {"layers": (1, 2)}  # two layers of PNA take minutes
        for readout in readouts:
            yield gnn_method(
                name=f"{encoder}-{readout}",
                title=label if readout == "sum" else f"{label} ({readout})",
                learner=GNNLearner(encoder, readout),
                quick=quick,
                in_paper=True,
            )
        yield gnn_method(
            name=f"{encoder}-irm",
            title=f"{label} + IRM",
            learner=GNNLearner(encoder),
            grid=IRM_GRID,
            defaults={"irm": 8},
            quick=quick,
            in_paper=True,
        )
    yield gnn_method(name="rpgin", title="RPGIN", learner=GNNLearner("gin", relational=True), in_paper=True)


GNN_METHODS = tuple(_rows())
VREX = gnn_method(
    name="gin-vrex",
    title="GIN + V-REx",
    learner=GNNLearner("gin", objective="beta"),
    grid=VREX_GRID,
    defaults={"beta": 10},
    quick={"layers": (1, 2)},
)
