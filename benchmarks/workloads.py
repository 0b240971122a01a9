"""What the benchmark of the baselines trains: the models, the graphs, and both sides' view of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from anysize import GraphSet
from anysize.nn.rows.graph_batch import GraphRows, fixed_identities
from anysize.tasks.catalog import TASKS
from anysize.training.fit_gnn import GNNShape
from anysize.training.settings import EncoderName, Recipe, Settings
from benchmarks.inputs import MOLECULE_COLORS, molecules
from benchmarks.plain_gnn import Graphs, PlainGNN, pyg_list

HIDDEN = 32
RECIPE = Recipe(epochs=1, epoch="best", tie_break="first", averages="torch")
MOLECULES = 420, 60  # training and validation graphs


@dataclass(frozen=True)
class Row:
    """One baseline."""

    name: str
    kind: EncoderName
    pooled: bool = False
    irm: float = 0.0


ROWS = (
    Row("gin-sum", "gin"),
    Row("gcn-sum", "gcn"),
    Row("pna-sum", "pna"),
    Row("gin-irm", "gin", irm=8.0),
    Row("rpgin", "gin", pooled=True),
)


def _published(task: str) -> tuple[GraphSet, GraphSet]:
    sets = TASKS[task].splits("published").sets
    return sets["train"], sets["validation"]


def _molecules() -> tuple[GraphSet, GraphSet]:
    """Graphs like those of NCI1 with classes at random: what is learned does not matter to the clock."""
    train, validation = MOLECULES
    graphs = molecules(train + validation).with_palette(tuple(range(MOLECULE_COLORS)))
    graphs = graphs.with_y(np.random.default_rng(5).integers(0, 2, len(graphs)))
    return graphs[:train], graphs[train:]


@dataclass(frozen=True)
class Workload:
    """Graphs, and how they are trained on."""

    name: str
    about: str
    layers: int
    batch_size: int | None
    draw: Callable[[], tuple[GraphSet, GraphSet]]


WORKLOADS = (
    Workload("sbm-20", "small colored graphs, all at once", 2, None, lambda: _published("sbm-20")),
    Workload("er-single", "larger plain graphs, all at once", 2, None, lambda: _published("er-single")),
    Workload("molecules", "in mini-batches of 64", 3, 64, _molecules),
)


@dataclass(frozen=True)
class Data:
    """Both sides' view of the training and validation graphs of a workload."""

    workload: Workload
    train: GraphSet
    validation: GraphSet
    device: str

    @property
    def environments(self) -> NDArray[np.int64]:
        """Two for IRM, graph by graph in turn: what they are does not matter to the clock."""
        return np.arange(len(self.train)) % 2

    @property
    def classes(self) -> int:
        return int(self.labels(self.train).max()) + 1

    @staticmethod
    def labels(graphs: GraphSet) -> NDArray[np.int64]:
        return np.asarray(graphs.y, np.int64)

    @property
    def palette(self) -> Any:
        return None if self.train.colors is None else self.train.palette

    @cached_property
    def plain_train(self) -> list[Any]:
        return pyg_list(self.train, torch.from_numpy(self.environments))

    @cached_property
    def plain_validation(self) -> Graphs:
        nowhere = torch.zeros(len(self.validation), dtype=torch.int64)
        return Graphs.of(pyg_list(self.validation, nowhere), self.device)

    def shape(self, row: Row) -> GNNShape:
        inputs = max(len(self.train.palette), 1)
        return GNNShape(row.kind, "sum", row.pooled, inputs, self.classes, HIDDEN, self.workload.layers, RECIPE)

    def plain(self, row: Row) -> PlainGNN:
        shape, degrees = self.shape(row), torch.bincount(torch.from_numpy(self.train.degrees))
        sizes = shape.inputs, shape.hidden, shape.layers, shape.classes
        return PlainGNN(row.kind, *sizes, degrees, row.pooled).to(self.device)

    def fixed(self, row: Row) -> torch.Tensor | None:
        """The identities of validation: (permutations, vertices)."""
        if not row.pooled:
            return None
        rows = self.shape(row).batch(self.validation, self.palette, self.device).rows()
        return of_vertices(rows, fixed_identities(rows, RECIPE.test_permutations))

    def members(self, row: Row, amount: int) -> list[Settings]:
        """Points of the paper's grids with seeds: three learning rates."""
        rates, about = (0.1, 0.01, 0.001), self.workload
        return [
            Settings(HIDDEN, about.layers, rates[m % 3], batch_size=about.batch_size, invariance=row.irm, seed=m // 3)
            for m in range(amount)
        ]


def of_vertices(rows: GraphRows, identities: torch.Tensor) -> torch.Tensor:
    """Without the rows that only fill graphs up."""
    return identities if rows.weight is None else identities[:, rows.weight > 0]
