"""GNNs on whole graphs: from graphs to a trained stack, and from a trained stack to logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.nn.gamma import GammaGNN, GammaRP, GraphModel
from anysize.nn.gnn import LAYERS
from anysize.nn.layers import initialize
from anysize.nn.rows.graph_batch import (
    IDENTITIES,
    READOUTS,
    FlatGraphs,
    PaddedGraphs,
    Readout,
    draw_identities,
    fixed_identities,
    graph_batch,
    graph_structure,
    prefers_padding,
    rows_structure,
)
from anysize.nn.rows.inputs import GraphInputs, InputClasses
from anysize.nn.rows.structure import Structure
from anysize.training.device import torch_defaults
from anysize.training.epoch_selection import KeptEpochs
from anysize.training.loop import Trained, seeds_of, train
from anysize.training.objectives import IRM, Objective, target_tensor
from anysize.training.settings import EncoderName, Recipe, Settings
from anysize.training.whole_graphs import WholeGraphProblem, check_training_graphs, environment_tensor, parts_by_load

PREDICTION_BYTES = 1 << 29  # graphs are predicted in parts of about this size
VALUES_PER_TYPE = 4  # of edges, for each row and feature: messages, the same taken by vertices, and gradients
PARAMETER_COPIES = 12  # value, two gradients, three lists of Adam, states under four epoch rules, and temporaries


@dataclass(frozen=True)
class GNNArchitecture:
    """Everything that determines the tensors of a stack except the number of models.

    ``relational``: relational pooling, with identities under random orders (RPGIN). ``inputs``: of a vertex, see
    `GraphInputs`. ``types``: of edges; 0: they are all alike.
    """

    kind: EncoderName
    readout: Readout
    relational: bool
    inputs: int
    classes: int
    hidden: int
    layers: int
    recipe: Recipe
    types: int = 0

    def __post_init__(self) -> None:
        if self.kind not in LAYERS:
            raise ValueError(f"a GNN is one of {', '.join(LAYERS)}; got {self.kind!r}")
        if self.readout not in READOUTS:
            raise ValueError(f"a readout is one of {', '.join(READOUTS)}; got {self.readout!r}")
        if self.relational and self.recipe.permutations == "all":
            raise ValueError("a whole graph has too many orders for permutations='all'; give a number")

    def build(self, jumping: Sequence[bool]) -> GraphModel:
        """A stack of untrained models, without batch norm on the representation."""
        make, inputs = (GammaRP, self.inputs + IDENTITIES) if self.relational else (GammaGNN, self.inputs)
        representation = make(len(jumping), inputs, self.hidden, self.layers, self.kind, any(jumping), self.types)
        recipe = self.recipe
        return GraphModel(
            representation, len(jumping), self.classes, jumping, recipe.head_hidden, recipe.dropout, normalize=False,
            corrected=recipe.averages == "corrected",
        )  # fmt: skip

    def input_classes(self, graphs: GraphSet, inputs: GraphInputs) -> InputClasses:
        return InputClasses.of(graphs, inputs, by_degree=LAYERS[self.kind].by_degree)

    def batch(
        self, graphs: GraphSet, inputs: GraphInputs, device: torch.device | str = "cpu"
    ) -> FlatGraphs | PaddedGraphs:
        """The graphs as rows, on the device, for mini-batches and for identities that are drawn in every step."""
        classes = self.input_classes(graphs, inputs)
        return graph_batch(graphs, classes, self.readout, LAYERS[self.kind].neighbors, device).to(device)

    def structure(
        self, graphs: GraphSet, inputs: GraphInputs, device: torch.device | str = "cpu", seeds: Sequence[int] = (0,)
    ) -> Structure:
        """All graphs as in prediction, on the device, with fixed identities, which depend on the models' seeds."""
        if self.relational:
            rows = self.batch(graphs, inputs, device).rows()
            identities = fixed_identities(rows, self.recipe.test_permutations, seeds_of(seeds, device))
            return rows_structure(rows, self.layers, identities)
        classes = self.input_classes(graphs, inputs)
        return graph_structure(graphs, classes, self.layers, self.readout, LAYERS[self.kind].neighbors, device)


class GNNProblem(WholeGraphProblem):
    """Training and validation graphs of a stack of GNNs, on one device.

    ``structure``: all training graphs, if nothing is drawn. ``batch``: the same as rows, for mini-batches and for
    identities that are drawn in every step.
    """

    def __init__(
        self, architecture: GNNArchitecture, structure: Structure | None, batch: FlatGraphs | PaddedGraphs | None,
        y: Tensor, held_out: tuple[Structure, Tensor] | None, members: Sequence[Settings],
        environments: Tensor | None, graph_weights: FloatArray | None, objective: Objective = IRM,
        held_out_weights: FloatArray | None = None, blocks: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(y, held_out, members, environments, graph_weights, objective, held_out_weights, blocks)
        self.architecture, self.structure, self.batch = architecture, structure, batch
        self.seeds = seeds_of([member.seed for member in members], y.device)
        self.all_rows = None if batch is None else batch.rows()

    @property
    def recordable(self) -> bool:
        """Mini-batches of padded graphs have tensors of the same sizes; those of flat ones depend on the graphs."""
        return not isinstance(self.batch, FlatGraphs)

    def inputs(self, graphs: Tensor | None, step: Tensor) -> Structure:
        if graphs is None and self.structure is not None:
            return self.structure
        assert self.batch is not None
        rows = self.all_rows if graphs is None else self.batch.rows(graphs)
        assert rows is not None
        identities = None
        if self.architecture.relational:
            identities = draw_identities(rows, int(self.architecture.recipe.permutations), step, self.seeds)
        return rows_structure(rows, self.architecture.layers, identities)


@dataclass(frozen=True, eq=False)
class GNNStack:
    """M trained GNNs, and what they know of graphs."""

    architecture: GNNArchitecture
    inputs: GraphInputs
    model: GraphModel
    members: tuple[Settings, ...]
    trained: Trained | None = None

    def logits(self, graphs: GraphSet, kept: KeptEpochs | None = None) -> NDArray[np.float32]:
        """(models, graphs, classes); with ``kept``, followed by those of the states it holds."""
        states = 1 if kept is None else 1 + len(kept)
        function = self.model if kept is None else kept.append_to(self.model)
        return self._evaluate(graphs, function, states * len(self.members), self.architecture.classes)

    def represent(self, graphs: GraphSet) -> NDArray[np.float32]:
        """The representation of every graph, the input of the head: (models, graphs, width)."""
        return self._evaluate(graphs, self.model.represent, len(self.members), self.model.columns.shape[1])

    @torch.no_grad()
    def _evaluate(
        self, graphs: GraphSet, function: Callable[[Structure], Tensor], models: int, width: int
    ) -> NDArray[np.float32]:
        device = next(self.model.eval().parameters()).device
        empty = np.zeros((models, 0, width), np.float32)
        seeds = [member.seed for member in self.members]
        structures = (self.architecture.structure(part, self.inputs, device, seeds) for part in self._parts(graphs))
        return np.concatenate([empty, *(function(structure).cpu().numpy() for structure in structures)], axis=1)

    def _parts(self, graphs: GraphSet) -> list[GraphSet]:
        """Consecutive graphs, few enough to fit into memory for all models at once."""
        copies = self.architecture.recipe.test_permutations if self.architecture.relational else 1
        per_unit = LAYERS[self.architecture.kind].values_per_unit + VALUES_PER_TYPE * self.architecture.types
        bytes_per_vertex = 4 * len(self.members) * copies * self.architecture.hidden * per_unit
        return parts_by_load(graphs, graphs.sizes * bytes_per_vertex, PREDICTION_BYTES)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        about = {
            "shape": asdict(self.architecture),
            "members": [asdict(member) for member in self.members],
        }
        return about | self.inputs.state(), self.model.arrays()

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GNNStack:
        """Restore a stack from what `state` returned; it predicts the same."""
        architecture = GNNArchitecture(**{**about["shape"], "recipe": Recipe.from_file(about["shape"]["recipe"])})
        members = tuple(Settings(**member) for member in about["members"])
        model = architecture.build([member.jumping for member in members]).load(arrays)
        return GNNStack(architecture, GraphInputs.from_state(about), model, members)


@torch_defaults()
def fit_gnn(
    kind: EncoderName, readout: Readout, train_graphs: GraphSet, y: IntArray, members: Sequence[Settings],
    recipe: Recipe, *, classes: int, validation: tuple[GraphSet, IntArray] | None = None,
    environments: IntArray | None = None, objective: Objective = IRM, relational: bool = False,
    weights: FloatArray | None = None, validation_weights: FloatArray | None = None, metric: str = "accuracy",
    device: str = "cpu", progress: Callable[[float], None] | None = None, blocks: Sequence[int] = (),
) -> GNNStack:  # fmt: skip
    """Train members of one stack key as one stack.

    ``y``: class numbers, or numbers to predict, with ``classes`` 1.
    ``environments`` (graphs,): integers, which ``objective`` compares for members with ``invariance`` above 0.
    ``weights``, ``validation_weights``: of the graphs, in the loss and in validation; batch norm takes graphs as they
    are. ``blocks``: how many of the ``classes`` outputs each of several targets has; ``y`` and weights are then tables
    (graphs, targets), weights 0 in gaps. ``relational`` with ``kind`` gin is RPGIN. `bytes_per_model` estimates how
    many members fit on a device.
    """
    check_training_graphs(train_graphs, y, members, environments)
    inputs = GraphInputs.of(train_graphs)
    sizes = inputs.width, classes, members[0].hidden, members[0].layers
    architecture = GNNArchitecture(kind, readout, relational, *sizes, recipe, inputs.types)
    model = architecture.build([member.jumping for member in members])
    seeds = [member.seed for member in members]
    initialize(model, seeds)
    model.to(device)
    assert isinstance(model.representation, GammaGNN)
    model.representation.encoder.set_mean_log_degree(float(np.log(train_graphs.degrees + 1).mean()))
    batch_size = members[0].batch_size
    static = not relational and (batch_size is None or batch_size >= len(train_graphs))
    held_out = None
    if validation is not None:
        structure = architecture.structure(validation[0], inputs, device, seeds)
        held_out = structure, target_tensor(validation[1], device)
    problem = GNNProblem(
        architecture,
        architecture.structure(train_graphs, inputs, device) if static else None,
        None if static else architecture.batch(train_graphs, inputs, device),
        target_tensor(y, device),
        held_out,
        members,
        environment_tensor(environments, device),
        weights,
        objective,
        validation_weights,
        blocks,
    )
    trained = train(model, problem, members, recipe, metric, progress)
    return GNNStack(architecture, inputs, model, tuple(members), trained)


def bytes_per_model(
    kind: EncoderName, graphs: GraphSet, settings: Settings, recipe: Recipe, *, validation: GraphSet | None = None,
    relational: bool = False, device: str = "cpu",
) -> int:  # fmt: skip
    """Estimate the memory of one model while it is trained on these graphs; a stack of M members takes M times as much.

    The graphs, which all members share, are not included. Vertices that share a row count once. ``validation``: graphs
    that are evaluated all at once in every epoch.

    Examples:
        >>> ring = GraphSet.from_edges([(i, (i + 1) % 500) for i in range(500)])
        >>> tree = GraphSet.from_edges([((i - 1) // 2, i) for i in range(1, 500)])
        >>> small, large = (bytes_per_model("gin", g, Settings(hidden=64, layers=3), Recipe()) for g in (ring, tree))
        >>> small < large
        True
    """
    inputs = GraphInputs.of(graphs)
    sizes = inputs.width, 2, settings.hidden, settings.layers
    architecture = GNNArchitecture(kind, "sum", relational, *sizes, recipe, inputs.types)
    widths = [settings.hidden if relational else inputs.width, *[settings.hidden] * settings.layers]
    layer_widths = [(below + above) / 2 for below, above in pairwise(widths)]
    rows = _training_rows(architecture, graphs, settings, device)
    values = sum(amount * width for amount, width in zip(rows, layer_widths, strict=True))
    if validation is not None:  # without gradients, layers are held one at a time
        copies = recipe.test_permutations if relational else 1
        values = max(values, _vertex_rows(validation, device) * copies * max(widths))
    parameters = sum(parameter.numel() for parameter in architecture.build([settings.jumping]).parameters())
    per_unit = LAYERS[kind].values_per_unit + VALUES_PER_TYPE * inputs.types
    return int(4 * (per_unit * values + PARAMETER_COPIES * parameters))


def _training_rows(architecture: GNNArchitecture, graphs: GraphSet, settings: Settings, device: str) -> list[float]:
    """Rows of every layer in a training step: of all graphs, or of a mini-batch on average."""
    batch_size = settings.batch_size or len(graphs)
    if architecture.relational or batch_size < len(graphs):
        copies = int(architecture.recipe.permutations) if architecture.relational else 1
        share = min(1.0, batch_size / max(len(graphs), 1))
        return [share * _vertex_rows(graphs, device) * copies] * architecture.layers
    levels = architecture.structure(graphs, GraphInputs.of(graphs)).levels
    return [float(len(level.degree)) for level in levels]


def _vertex_rows(graphs: GraphSet, device: str) -> int:
    """One row per vertex, padding included."""
    if prefers_padding(graphs, device):
        return len(graphs) * int(graphs.sizes.max(initial=1))
    return int(graphs.sizes.sum())
