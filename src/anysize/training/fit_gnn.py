"""GNNs on whole graphs: from a set of graphs to a trained stack, and from a trained stack to logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anysize._typing import IntArray
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.nn.encoders import LAYERS
from anysize.nn.gamma import GraphModel
from anysize.nn.gnn import IDENTITIES, GraphGNN, GraphRP, drawn_identities, fixed_identities, structure_of
from anysize.nn.layers import initialize
from anysize.nn.rows.graph_batch import READOUTS, FlatGraphs, Marks, PaddedGraphs, Readout, graph_batch
from anysize.nn.rows.graph_classes import whole_structure
from anysize.nn.rows.structure import Structure
from anysize.training.invariance import IRM, EnvironmentBatch, Objective, total_of
from anysize.training.loop import LastEpoch, Losses, Trained, train
from anysize.training.objectives import cross_entropy
from anysize.training.settings import Recipe, Settings

GNN = Literal["gin", "gcn", "pna"]
Palette = tuple[ColorName, ...] | None

PREDICTION_BYTES = 1 << 29  # graphs are predicted in parts of about this size
LIVE = {"gin": 16, "gcn": 12, "pna": 50}  # values that a layer holds at once for each row and unit of width


@dataclass(frozen=True)
class GNNShape:
    """Everything that fixes the tensors of a stack but the number of models.

    ``relational``: identities under random orders (RPGIN). ``inputs``: colors that the model knows, 1 without any.
    """

    kind: GNN
    readout: Readout
    relational: bool
    inputs: int
    classes: int
    hidden: int
    layers: int
    recipe: Recipe

    def __post_init__(self) -> None:
        if self.kind not in LAYERS:
            raise ValueError(f"a GNN is one of {', '.join(LAYERS)}; got {self.kind!r}")
        if self.readout not in READOUTS:
            raise ValueError(f"a readout is one of {', '.join(READOUTS)}; got {self.readout!r}")
        if self.relational and self.recipe.permutations == "all":
            raise ValueError("a whole graph has too many orders to take all of them; give permutations a number")

    def build(self, jumping: Sequence[bool]) -> GraphModel:
        """A stack of untrained models: no batch norm on the representation, which is for Gamma models."""
        make, inputs = (GraphRP, self.inputs + IDENTITIES) if self.relational else (GraphGNN, self.inputs)
        representation = make(len(jumping), inputs, self.hidden, self.layers, self.kind, any(jumping))
        recipe = self.recipe
        return GraphModel.of(
            representation, len(jumping), self.classes, jumping, recipe.head_hidden, recipe.dropout, normalize=False,
            corrected=recipe.averages == "corrected",
        )  # fmt: skip

    def marks(self, graphs: GraphSet, palette: Palette) -> Marks:
        return Marks.read(graphs, palette, by_degree=self.kind == "gcn")

    def batch(
        self, graphs: GraphSet, palette: Palette, device: torch.device | str = "cpu"
    ) -> FlatGraphs | PaddedGraphs:
        """The graphs as rows, on the device: mini-batches and fresh identities are made from it."""
        marks = self.marks(graphs, palette)
        return graph_batch(graphs, marks, self.readout, self.kind == "pna", device).to(device)

    def structure(self, graphs: GraphSet, palette: Palette, device: torch.device | str = "cpu") -> Structure:
        """All graphs as they are predicted, on the device; identities are fixed ones."""
        if self.relational:
            rows = self.batch(graphs, palette, device).rows()
            return structure_of(rows, self.layers, fixed_identities(rows, self.recipe.test_permutations))
        marks = self.marks(graphs, palette)
        return whole_structure(graphs, marks, self.layers, self.readout, self.kind == "pna", device)


class GNNProblem:
    """Training and validation graphs of a stack, on one device: a `training.Problem`.

    ``structure``: all training graphs, where nothing is drawn anew; ``batch``: the same as rows, for mini-batches and
    for identities that differ from step to step. ``environments``: numbers from 0 on, which ``objective`` compares
    for members with a weight of invariance.
    """

    def __init__(
        self, shape: GNNShape, structure: Structure | None, batch: FlatGraphs | PaddedGraphs | None, y: Tensor,
        validation: tuple[Structure, Tensor] | None, members: Sequence[Settings], environments: Tensor | None,
        class_weights: Tensor | None, objective: Objective = IRM,
    ) -> None:  # fmt: skip
        self.shape, self.structure, self.batch, self.y, self._validation = shape, structure, batch, y, validation
        self.class_weights, self.environments, self.objective = class_weights, environments, objective
        self.whole = None if batch is None else batch.rows()
        self.weights = torch.tensor([member.invariance for member in members], device=y.device)
        self.penalized = any(member.invariance > 0 for member in members)
        self.count = 0 if environments is None else int(environments.max()) + 1

    @property
    def size(self) -> int:
        return len(self.y)

    @property
    def threads(self) -> int | None:
        """Small graphs are many small steps, which more threads only wait for."""
        return None if isinstance(self.batch, FlatGraphs) else 1

    @property
    def recordable(self) -> bool:
        """Mini-batches of filled-up graphs have one shape; those of flat ones depend on the graphs."""
        return not isinstance(self.batch, FlatGraphs)

    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        logits = model(self._structure(graphs, step))
        y = self.y if graphs is None else self.y[graphs]
        entropy = cross_entropy(logits, y, self.class_weights)
        if not self.penalized:
            return Losses(entropy, entropy, torch.zeros_like(entropy))
        assert self.environments is not None
        numbers = self.environments if graphs is None else self.environments[graphs]
        environments = EnvironmentBatch(logits, y, numbers, self.count, self.class_weights)
        risk, penalty = environments.mean(environments.risks), self.objective.penalty(environments)
        total = total_of(risk, penalty, self.weights, epoch)
        own = self.weights > 0
        return Losses(torch.where(own, total, entropy), entropy, torch.where(own, penalty, 0.0))

    def _structure(self, graphs: Tensor | None, step: Tensor) -> Structure:
        if graphs is None and self.structure is not None:
            return self.structure
        assert self.batch is not None
        rows = self.whole if graphs is None else self.batch.rows(graphs)
        assert rows is not None
        identities = None
        if self.shape.relational:
            identities = drawn_identities(rows, int(self.shape.recipe.permutations), step)
        return structure_of(rows, self.shape.layers, identities)

    def validation(self, model: nn.Module) -> tuple[Tensor, Tensor] | None:
        if self._validation is None:
            return None
        structure, y = self._validation
        return model(structure), y


@dataclass(frozen=True, eq=False)
class GNNStack:
    """M trained GNNs. ``palette``: the colors they know, None for graphs without colors."""

    shape: GNNShape
    palette: Palette
    model: GraphModel
    members: tuple[Settings, ...]
    trained: Trained | None = None

    def logits(self, graphs: GraphSet, last: LastEpoch | None = None) -> NDArray[np.float32]:
        """(models, graphs, classes); with ``last`` of the models after their last epoch too, in (2 models, ...)."""
        if last is None:
            return self._run(graphs, self.model, len(self.members), self.shape.classes)
        return self._run(graphs, last.beside(self.model), 2 * len(self.members), self.shape.classes)

    def represent(self, graphs: GraphSet) -> NDArray[np.float32]:
        """The representation of every graph, before the head: (models, graphs, width)."""
        return self._run(graphs, self.model.represent, len(self.members), self.model.columns.shape[1])

    @torch.no_grad()
    def _run(
        self, graphs: GraphSet, function: Callable[[Structure], Tensor], models: int, width: int
    ) -> NDArray[np.float32]:
        device = next(self.model.parameters()).device
        self.model.eval()
        nothing = np.zeros((models, 0, width), np.float32)
        structures = (self.shape.structure(part, self.palette, device) for part in self._parts(graphs))
        return np.concatenate([nothing, *(function(structure).cpu().numpy() for structure in structures)], axis=1)

    def _parts(self, graphs: GraphSet) -> list[GraphSet]:
        """Consecutive graphs, few enough to be held for all models at once."""
        copies = self.shape.recipe.test_permutations if self.shape.relational else 1
        bytes_per_vertex = 4 * len(self.members) * copies * self.shape.hidden * LIVE[self.shape.kind]
        load = np.cumsum(graphs.sizes) * bytes_per_vertex
        cuts = np.flatnonzero(np.diff(load // PREDICTION_BYTES)) + 1
        return [graphs[a:b] for a, b in pairwise([0, *cuts.tolist(), len(graphs)]) if a < b]

    # ---- as plain arrays -----------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that predicting needs: a dictionary that JSON holds, and plain arrays."""
        about = {
            "shape": asdict(self.shape),
            "members": [asdict(member) for member in self.members],
            "palette": None if self.palette is None else list(self.palette),
        }
        return about, self.model.arrays()

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GNNStack:
        """The stack from what `state` gave; it predicts the same."""
        shape = GNNShape(**{**about["shape"], "recipe": Recipe(**about["shape"]["recipe"])})
        members = tuple(Settings.from_state(member) for member in about["members"])
        model = shape.build([member.jumping for member in members]).take(arrays)
        palette = None if about["palette"] is None else tuple(about["palette"])
        return GNNStack(shape, palette, model, members)


def fit_gnn(
    kind: GNN, readout: Readout, train_graphs: GraphSet, y: IntArray, members: Sequence[Settings], recipe: Recipe, *,
    classes: int, validation: tuple[GraphSet, IntArray] | None = None, environments: IntArray | None = None,
    objective: Objective = IRM, relational: bool = False, class_weights: NDArray[np.float64] | None = None,
    metric: str = "accuracy", device: str = "cpu", progress: Callable[[float], None] | None = None,
) -> GNNStack:  # fmt: skip
    """Train members of one shape as one stack.

    ``environments`` (graphs,): whole numbers, which ``objective`` compares for members with ``invariance`` above 0.
    ``relational`` with ``kind`` gin is RPGIN. How many members a device holds: see `bytes_per_model`.
    """
    _check(train_graphs, y, members, environments)
    palette: Palette = None if train_graphs.colors is None else train_graphs.palette
    inputs = 1 if palette is None else max(len(palette), 1)
    shape = GNNShape(kind, readout, relational, inputs, classes, members[0].hidden, members[0].layers, recipe)
    model = shape.build([member.jumping for member in members])
    initialize(model, [member.seed for member in members])
    model.to(device)
    if isinstance(model.representation, GraphGNN | GraphRP):
        model.representation.encoder.learn_degrees(float(np.log(train_graphs.degrees + 1).mean()))
    batch_size = members[0].batch_size
    static = not relational and (batch_size is None or batch_size >= len(train_graphs))
    problem = GNNProblem(
        shape, shape.structure(train_graphs, palette, device) if static else None,
        None if static else shape.batch(train_graphs, palette, device), _on(device, y),
        None if validation is None else (shape.structure(validation[0], palette, device), _on(device, validation[1])),
        members, None if environments is None else _on(device, np.unique(environments, return_inverse=True)[1]),
        None if class_weights is None else torch.from_numpy(class_weights.astype(np.float32)).to(device), objective,
    )  # fmt: skip
    trained = train(model, problem, members, recipe, metric, progress)
    return GNNStack(shape, palette, model, tuple(members), trained)


def _on(device: str, numbers: IntArray) -> Tensor:
    return torch.from_numpy(np.asarray(numbers, np.int64)).to(device)


def _check(graphs: GraphSet, y: IntArray, members: Sequence[Settings], environments: IntArray | None) -> None:
    shapes = sorted({member.shape for member in members})
    if len(shapes) != 1:
        raise ValueError(f"the members of a stack must have one shape, Settings.shape; got {shapes}")
    if len(y) != len(graphs) or not len(y):
        raise ValueError(f"expected one class for each of the training graphs, at least one; got {len(y)} "
                         f"for {len(graphs)} graphs")  # fmt: skip
    if not graphs.sizes.any():
        raise ValueError("no training graph has a vertex: there is nothing to learn from")
    if any(member.penalty > 0 for member in members):
        raise ValueError("the attribute penalty belongs to the Gamma models: leave penalty at 0 for GNNs")
    if any(member.invariance > 0 for member in members):
        found = None if environments is None else len(np.unique(environments))
        if environments is None or len(environments) != len(y) or found == 1:
            told = "none" if environments is None else f"{len(environments)} numbers, {found} of them different"
            raise ValueError(
                f"environments are to be compared: give every training graph a number, not all equal; got {told}"
            )
