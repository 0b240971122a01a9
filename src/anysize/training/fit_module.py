"""Any torch module on whole graphs: from graphs to a trained module, and from a trained module to logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.nn.rows.graph_batch import InputClasses, input_count
from anysize.nn.rows.maps import index_tensor
from anysize.training.device import torch_defaults
from anysize.training.epoch_selection import KeptEpochs
from anysize.training.fit_gnn import Palette
from anysize.training.loop import Trained, train
from anysize.training.objectives import IRM, Objective, class_weight_tensor
from anysize.training.settings import Recipe, Settings
from anysize.training.whole_graphs import WholeGraphProblem, check_training_graphs, environment_tensor, parts_by_load

PREDICTED_TOGETHER = 1 << 18  # vertices and edges; larger sets are predicted in parts

Build = Callable[..., nn.Module]  # (inputs, classes, **hyper-parameters)


@dataclass(frozen=True)
class GraphTensors:
    """Graphs as tensors, with the names of a PyG batch.

    ``x`` (vertices, inputs): one-hot colors, zero for a color that no training graph has; 1 in graphs without colors.
    ``edge_index`` (2, edges): every edge in both directions. ``batch`` (vertices,): the graph of each vertex.
    """

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    num_graphs: int

    @staticmethod
    def of(graphs: GraphSet, palette: Palette, device: torch.device | str = "cpu") -> GraphTensors:
        """``palette``: the colors that the module knows; None for a module of graphs without colors.

        >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "X"])
        >>> tensors = GraphTensors.of(path, ("C", "O"))
        >>> tensors.x.tolist(), tensors.edge_index.tolist()
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [[0, 1, 1, 2], [1, 0, 2, 1]])
        """
        classes = InputClasses.of(graphs, palette)
        x = torch.from_numpy(classes.features[classes.index])
        edges = index_tensor(np.stack([owners(graphs.indptr), graphs.neighbors]))
        owner = index_tensor(owners(graphs.first))
        return GraphTensors(x.to(device), edges.to(device), owner.to(device), len(graphs))


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

    recordable, eager, threads = False, True, None  # a module may do anything

    def __init__(self, graphs: GraphSet, palette: Palette, *others: Any) -> None:
        super().__init__(*others)
        self.graphs, self.palette = graphs, palette
        self.everything: GraphTensors | None = None

    def inputs(self, graphs: Tensor | None, step: Tensor) -> GraphTensors:
        if graphs is not None:
            return GraphTensors.of(self.graphs[graphs.cpu().numpy()], self.palette, self.y.device)
        if self.everything is None:
            self.everything = GraphTensors.of(self.graphs, self.palette, self.y.device)
        return self.everything


@dataclass(frozen=True, eq=False)
class ModuleStack:
    """One trained module. ``palette``: the known colors, None for graphs without colors."""

    model: OneModel
    classes: int
    palette: Palette
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
        logits = [function(GraphTensors.of(part, self.palette, device)).cpu().numpy() for part in parts]
        return np.concatenate(logits, axis=1)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        arrays = {name: tensor.cpu().numpy() for name, tensor in self.model.module.state_dict().items()}
        return {"classes": self.classes, "palette": None if self.palette is None else list(self.palette)}, arrays

    @staticmethod
    def from_state(
        about: dict[str, Any], arrays: Mapping[str, NDArray[Any]], build: Build, parameters: Mapping[str, Any]
    ) -> ModuleStack:
        """Restore what `state` returned, with the function and the hyper-parameters that built the module."""
        palette: Palette = None if about["palette"] is None else tuple(about["palette"])
        with torch.random.fork_rng(devices=[]):
            module = _built(build, palette, about["classes"], parameters, 0)
        module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
        return ModuleStack(OneModel(module).eval(), about["classes"], palette)


@torch_defaults()
def fit_module(
    build: Build, parameters: Mapping[str, Any], train_graphs: GraphSet, y: IntArray, settings: Settings,
    recipe: Recipe, *, classes: int, validation: tuple[GraphSet, IntArray] | None = None,
    environments: IntArray | None = None, objective: Objective = IRM, class_weights: FloatArray | None = None,
    metric: str = "accuracy", device: str = "cpu", progress: Callable[[float], None] | None = None,
) -> ModuleStack:  # fmt: skip
    """Train one module by the loop of the GNNs: Adam, mini-batches, the epoch that the recipe selects.

    ``build(inputs, classes, **parameters)`` makes it; it maps `GraphTensors` to logits (graphs, classes). Of the
    settings, ``lr``, ``batch_size``, ``invariance`` and ``seed`` count. The seed decides whatever the module draws; the
    global random state is left as it was.
    """
    check_training_graphs(train_graphs, y, [settings], environments)
    palette: Palette = None if train_graphs.colors is None else train_graphs.palette
    held_out = None
    if validation is not None:
        held_out = GraphTensors.of(validation[0], palette, device), index_tensor(validation[1]).to(device)
    with torch.random.fork_rng(devices=[device] if device.startswith("cuda") else []):
        model = OneModel(_built(build, palette, classes, parameters, settings.seed)).to(device)
        problem = ModuleProblem(
            train_graphs,
            palette,
            index_tensor(y).to(device),
            held_out,
            [settings],
            environment_tensor(environments, device),
            class_weight_tensor(class_weights, device),
            objective,
        )
        trained = train(model, problem, [settings], recipe, metric, progress)
    return ModuleStack(model, classes, palette, trained)


def _built(build: Build, palette: Palette, classes: int, parameters: Mapping[str, Any], seed: int) -> nn.Module:
    """An untrained module, with weights by the seed."""
    torch.manual_seed(seed)
    module = build(input_count(palette), classes, **parameters)
    if not isinstance(module, nn.Module) or not any(tensor.requires_grad for tensor in module.parameters()):
        raise ValueError(f"build must return a torch module with parameters; got a {type(module).__name__}")
    return module
