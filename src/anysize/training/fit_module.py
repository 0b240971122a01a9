"""Any torch module on whole graphs: from graphs to a trained module, and from a trained module to logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.nn.rows.inputs import GraphInputs, InputClasses
from anysize.nn.rows.maps import index_tensor
from anysize.training.device import torch_defaults
from anysize.training.epoch_selection import KeptEpochs
from anysize.training.loop import Trained, train
from anysize.training.objectives import IRM, Objective, target_tensor
from anysize.training.settings import Recipe, Settings
from anysize.training.whole_graphs import WholeGraphProblem, check_training_graphs, environment_tensor, parts_by_load

PREDICTED_TOGETHER = 1 << 18  # vertices and edges; larger sets are predicted in parts

Build = Callable[..., nn.Module]  # (inputs, classes, **hyper-parameters), and edge_types for modules that ask for it


@dataclass(frozen=True)
class GraphTensors:
    """Graphs as tensors, with the names of a PyG batch.

    ``x`` (vertices, inputs): features, standardized, and after them one-hot colors, zero for a color that no training
    graph has; 1 in graphs without colors.
    ``edge_index`` (2, edges): every edge in both directions. ``batch`` (vertices,): the graph of each vertex.
    ``edge_attr`` (edges, types): one-hot, the color and direction of the edge as its target sees it, zero for a type
    that no training graph has; None where edges are all alike, and for modules that do not ask for it.
    """

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    num_graphs: int
    edge_attr: Tensor | None = None

    @staticmethod
    def of(graphs: GraphSet, inputs: GraphInputs, device: torch.device | str = "cpu") -> GraphTensors:
        """``inputs``: what the module knows of graphs.

        >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "X"])
        >>> tensors = GraphTensors.of(path, GraphInputs(("C", "O")))
        >>> tensors.x.tolist(), tensors.edge_index.tolist()
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [[0, 1, 1, 2], [1, 0, 2, 1]])
        """
        classes = InputClasses.of(graphs, inputs)
        x = torch.from_numpy(classes.features[classes.index])
        ends, edge_attr = [owners(graphs.indptr), graphs.neighbors], None
        if classes.types is not None:
            one_hot = torch.eye(inputs.types + 1, inputs.types)  # the last type is unknown
            edge_attr = one_hot[index_tensor(np.minimum(classes.types[0], inputs.types))].to(device)
            ends.reverse()  # types are those that the owners of entries see
        edges, owner = index_tensor(np.stack(ends)), index_tensor(owners(graphs.first))
        return GraphTensors(x.to(device), edges.to(device), owner.to(device), len(graphs), edge_attr)

    @cached_property
    def sizes(self) -> Tensor:
        """(graphs,): numbers of vertices."""
        return torch.bincount(self.batch, minlength=self.num_graphs)

    @cached_property
    def edge_amounts(self) -> Tensor:
        """(graphs,): numbers of edges, each counted in both directions."""
        return torch.bincount(self.batch[self.edge_index[0]], minlength=self.num_graphs)

    @cached_property
    def starts(self) -> tuple[Tensor, Tensor]:
        """The first vertex and the first edge of every graph; edges are in the order of their graphs."""
        return self.sizes.cumsum(0) - self.sizes, self.edge_amounts.cumsum(0) - self.edge_amounts

    def select(self, numbers: Tensor) -> GraphTensors:
        """The graphs with these numbers, in this order.

        >>> graphs = GraphTensors.of(GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]]), GraphInputs(None))
        >>> graphs.select(torch.tensor([1, 0])).edge_index.tolist()
        [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]
        """
        first_vertex, first_edge = self.starts
        sizes, amounts = self.sizes[numbers], self.edge_amounts[numbers]
        vertices, owner = _ranges(first_vertex[numbers], sizes)
        edges, edge_owner = _ranges(first_edge[numbers], amounts)
        shift = (sizes.cumsum(0) - sizes) - first_vertex[numbers]
        part = self.with_edges(edges)
        edge_index = part.edge_index + shift[edge_owner]
        return replace(part, x=self.x[vertices], edge_index=edge_index, batch=owner, num_graphs=len(numbers))

    def with_edges(self, edges: Tensor) -> GraphTensors:
        """The graphs with these edges alone: their numbers, or (edges,) which ones."""
        edge_attr = None if self.edge_attr is None else self.edge_attr[edges]
        return replace(self, edge_index=self.edge_index[:, edges], edge_attr=edge_attr)

    def induced(self, kept: Tensor) -> GraphTensors:
        """The subgraphs that vertices induce; ``kept`` (vertices,): which ones.

        >>> path = GraphTensors.of(GraphSet.from_edges([(0, 1), (1, 2)]), GraphInputs(None))
        >>> path.induced(torch.tensor([False, True, True])).edge_index.tolist()
        [[0, 1], [1, 0]]
        """
        number = kept.cumsum(0) - 1
        source, target = self.edge_index
        part = self.with_edges(kept[source] & kept[target])
        return replace(part, x=self.x[kept], edge_index=number[part.edge_index], batch=self.batch[kept])


def _ranges(starts: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The concatenation of start .. start + length - 1, and the number of the range of every entry."""
    owner = torch.repeat_interleave(lengths)
    within = torch.arange(len(owner), device=owner.device) - (lengths.cumsum(0) - lengths)[owner]
    return starts[owner] + within, owner


@dataclass(frozen=True, eq=False)
class TrainingStep:
    """What an objective of a module sees in one step.

    ``graphs``, ``y``: of the mini-batch; y is (graphs, targets) for several targets. ``numbers``: the places of these
    graphs among the training graphs. ``epoch``: counted from 0, of ``epochs``. ``prepared``: what the module's
    ``prepare`` returned, None without it.
    """

    graphs: GraphTensors
    y: Tensor
    numbers: Tensor
    epoch: int
    epochs: int
    prepared: Any


@runtime_checkable
class HasObjective(Protocol):
    """A module with an objective of its own: training minimizes the loss of its outputs, and a penalty.

    The loss is the cross entropy of logits, or the squared error of numbers (graphs, 1).

    If it has a method ``prepare(graphs)``, that is called once before training, with all training graphs; what it
    returns is part of every step.
    """

    def training_step(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """The logits (graphs, classes) of a mini-batch, and a penalty () with its weight."""
        ...


class OneModel(nn.Module):
    """A module as a stack of one model: logits (1, graphs, classes)."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, graphs: GraphTensors) -> Tensor:
        logits: Tensor = self.module(graphs)
        return logits[None]


class ModuleProblem(WholeGraphProblem):
    """Training and validation graphs of a module, on one device."""

    recordable, eager = False, True  # a module may do anything

    def __init__(self, graphs: GraphTensors, epochs: int, prepared: Any, *others: Any) -> None:
        super().__init__(*others)
        self.graphs, self.epochs, self.prepared = graphs, epochs, prepared

    def inputs(self, graphs: Tensor | None, step: Tensor) -> GraphTensors:
        return self.graphs if graphs is None else self.graphs.select(graphs)

    def outputs(self, model: OneModel, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> tuple[Tensor, Tensor]:
        module = model.module
        if not isinstance(module, HasObjective):
            return super().outputs(model, graphs, step, epoch)
        numbers = torch.arange(self.size, device=self.y.device) if graphs is None else graphs
        inputs = self.inputs(graphs, step)
        now = TrainingStep(inputs, self.y[numbers], numbers, int(epoch), self.epochs, self.prepared)
        logits, penalty = module.training_step(now)
        return logits[None], penalty[None]


@dataclass(frozen=True, eq=False)
class ModuleStack:
    """One trained module, and what it knows of graphs."""

    model: OneModel
    classes: int
    inputs: GraphInputs
    trained: Trained | None = None

    def logits(self, graphs: GraphSet, kept: KeptEpochs | None = None) -> NDArray[np.float32]:
        """(1, graphs, classes); with ``kept``, followed by those of the states it holds."""
        return self._evaluate(graphs, self.model if kept is None else kept.append_to(self.model))

    def represent(self, graphs: GraphSet) -> NDArray[np.float32]:
        """(1, graphs, width): what the module's method ``represent`` returns; the logits if it has none."""
        represent: Callable[[GraphTensors], Tensor] = getattr(self.model.module, "represent", self.model.module)
        return self._evaluate(graphs, lambda tensors: represent(tensors)[None])

    @torch.no_grad()
    def _evaluate(self, graphs: GraphSet, function: Callable[[Any], Tensor]) -> NDArray[np.float32]:
        device = next(self.model.eval().parameters()).device
        parts = parts_by_load(graphs, graphs.sizes + 2 * graphs.edge_counts, PREDICTED_TOGETHER) or [graphs]
        logits = [function(GraphTensors.of(part, self.inputs, device)).cpu().numpy() for part in parts]
        return np.concatenate(logits, axis=1)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        arrays = {name: tensor.cpu().numpy() for name, tensor in self.model.module.state_dict().items()}
        return {"classes": self.classes} | self.inputs.state(), arrays

    @staticmethod
    def from_state(
        about: dict[str, Any], arrays: Mapping[str, NDArray[Any]], build: Build, parameters: Mapping[str, Any],
        edge_types: bool = False,
    ) -> ModuleStack:  # fmt: skip
        """Restore what `state` returned, with the function and the hyper-parameters that built the module."""
        inputs = GraphInputs.from_state(about)
        with torch.random.fork_rng(devices=[]):
            module = _built(build, inputs, about["classes"], parameters, 0, edge_types)
        module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
        return ModuleStack(OneModel(module).eval(), about["classes"], inputs)


@torch_defaults()
def fit_module(
    build: Build, parameters: Mapping[str, Any], train_graphs: GraphSet, y: IntArray, settings: Settings,
    recipe: Recipe, *, classes: int, validation: tuple[GraphSet, IntArray] | None = None,
    environments: IntArray | None = None, objective: Objective = IRM, weights: FloatArray | None = None,
    validation_weights: FloatArray | None = None, metric: str = "accuracy", device: str = "cpu",
    progress: Callable[[float], None] | None = None, edge_types: bool = False, blocks: Sequence[int] = (),
) -> ModuleStack:  # fmt: skip
    """Train one module by the loop of the GNNs: Adam, mini-batches, the epoch that the recipe selects.

    ``build(inputs, classes, **parameters)`` makes it; it maps `GraphTensors` to logits (graphs, classes). Of the
    settings, ``lr``, ``batch_size``, ``invariance`` and ``seed`` count. ``weights``, ``validation_weights``: of the
    graphs, in the cross entropy and in validation. The seed decides whatever the module draws; the global random state
    is left as it was. A module may have an objective of its own, see `HasObjective`. ``edge_types``: whether it gets
    those, as ``edge_attr``, and their number. ``y`` may hold numbers, and ``blocks`` is as in
    `anysize.training.fit_gnn.fit_gnn`.
    """
    check_training_graphs(train_graphs, y, [settings], environments)
    inputs = GraphInputs.of(train_graphs if edge_types else train_graphs.without_edge_colors().without_directions())
    held_out = None
    if validation is not None:
        held_out = GraphTensors.of(validation[0], inputs, device), target_tensor(validation[1], device)
    with torch.random.fork_rng(devices=[device] if device.startswith("cuda") else []):
        model = OneModel(_built(build, inputs, classes, parameters, settings.seed, edge_types)).to(device)
        tensors = GraphTensors.of(train_graphs, inputs, device)
        problem = ModuleProblem(
            tensors,
            recipe.epochs,
            prepare(tensors) if callable(prepare := getattr(model.module, "prepare", None)) else None,
            target_tensor(y, device),
            held_out,
            [settings],
            environment_tensor(environments, device),
            weights,
            objective,
            validation_weights,
            blocks,
        )
        trained = train(model, problem, [settings], recipe, metric, progress)
    return ModuleStack(model, classes, inputs, trained)


def _built(
    build: Build, inputs: GraphInputs, classes: int, parameters: Mapping[str, Any], seed: int, edge_types: bool
) -> nn.Module:
    """An untrained module, with weights by the seed."""
    torch.manual_seed(seed)
    module = build(inputs.width, classes, **({"edge_types": inputs.types} if edge_types else {}), **parameters)
    if not isinstance(module, nn.Module) or not any(tensor.requires_grad for tensor in module.parameters()):
        raise ValueError(f"build must return a torch module with parameters; got a {type(module).__name__}")
    return module
