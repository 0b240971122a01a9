"""Speed of a stack of GNN baselines against plain PyG models, one at a time: ``python -m benchmarks.baselines``.

GNNs on whole graphs with the sum readout (mean and max cost the same), one of them with IRM, and RPGIN: on small
colored graphs (sbm-20), on larger graphs without colors (er-single), and on molecule-like graphs in mini-batches. Every
epoch evaluates the validation graphs. Before anything is timed, losses and validation logits of both are compared on
equal parameters and equal draws. Needs PyG and networkx, but neither numba nor data files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anysize import GraphSet
from anysize._typing import IntArray
from anysize.nn.gamma import GraphModel
from anysize.nn.layers import initialize
from anysize.nn.rows.graph_batch import GraphRows, draw_identities, fixed_identities
from anysize.nn.rows.inputs import GraphInputs
from anysize.nn.rows.structure import Structure
from anysize.paper.tasks import TASKS
from anysize.training.device import device_kind, kept_blocks
from anysize.training.fit_gnn import GNNArchitecture, GNNProblem, fit_gnn
from anysize.training.objectives import WARM_UP_EPOCHS
from anysize.training.settings import EncoderName, Recipe, Settings
from benchmarks.inputs import MOLECULE_COLORS, molecules
from benchmarks.plain_gamma import HAS_PYG
from benchmarks.plain_gnn import Graphs, PlainGNN, batches, loss_of, pyg_list, train_plain, with_parameters_of
from benchmarks.stacks import (
    Clock,
    Progress,
    best_rates,
    check_equal,
    doubled,
    format_table,
    machine,
    stack_rate,
)

MODELS = {"cpu": 8, "cuda": 40}
SECONDS = {"cpu": 0.5, "cuda": 0.35}  # per contestant and turn
QUICK_SECONDS = 0.1
AVERAGING_STEPS = 10  # steps after which running averages depend more on the graphs than on their initial values


# ---- workloads -----------------------------------------------------------------------------------------

HIDDEN = 32
RECIPE = Recipe(epochs=1, epoch="best", tie_break="first", averages="torch")
MOLECULE_GRAPHS = 420, 60  # for training and validation


@dataclass(frozen=True)
class Row:
    """One row of the table: a kind of model. ``pooled``: relational pooling."""

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
    """Graphs like those of NCI1 with random classes: speed does not depend on what is learned."""
    train, validation = MOLECULE_GRAPHS
    graphs = molecules(train + validation).with_palette(tuple(range(MOLECULE_COLORS)))
    graphs = graphs.with_y(np.random.default_rng(5).integers(0, 2, len(graphs)))
    return graphs[:train], graphs[train:]


@dataclass(frozen=True)
class Workload:
    """Graphs and how they are trained on; ``draw`` returns the training and validation graphs."""

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
    """The training and validation graphs of a workload, for stacks and for plain models."""

    workload: Workload
    train: GraphSet
    validation: GraphSet
    device: str

    @property
    def environments(self) -> IntArray:
        """Two alternating environments for IRM: speed does not depend on them."""
        return np.arange(len(self.train)) % 2

    @property
    def classes(self) -> int:
        return int(self.labels(self.train).max()) + 1

    @staticmethod
    def labels(graphs: GraphSet) -> IntArray:
        return np.asarray(graphs.y, np.int64)

    @property
    def seeds(self) -> torch.Tensor:
        """Of the models that are compared with plain ones."""
        return torch.zeros(1, dtype=torch.int64, device=self.device)

    @property
    def known(self) -> GraphInputs:
        return GraphInputs.of(self.train)

    @cached_property
    def plain_train(self) -> list[Any]:
        return pyg_list(self.train, torch.from_numpy(self.environments))

    @cached_property
    def plain_validation(self) -> Graphs:
        no_environments = torch.zeros(len(self.validation), dtype=torch.int64)
        return Graphs.of(pyg_list(self.validation, no_environments), self.device)

    def architecture(self, row: Row) -> GNNArchitecture:
        inputs = self.known.width
        return GNNArchitecture(row.kind, "sum", row.pooled, inputs, self.classes, HIDDEN, self.workload.layers, RECIPE)

    def plain(self, row: Row) -> PlainGNN:
        architecture, degrees = self.architecture(row), torch.bincount(torch.from_numpy(self.train.degrees))
        sizes = architecture.inputs, architecture.hidden, architecture.layers, architecture.classes
        return PlainGNN(row.kind, *sizes, degrees, row.pooled).to(self.device)

    def fixed(self, row: Row) -> torch.Tensor | None:
        """The identities of validation: (permutations, vertices)."""
        if not row.pooled:
            return None
        rows = self.architecture(row).batch(self.validation, self.known, self.device).rows()
        return without_padding(rows, fixed_identities(rows, RECIPE.test_permutations, self.seeds))

    def members(self, row: Row, amount: int) -> list[Settings]:
        """Points of the paper's grid: three learning rates, several seeds."""
        rates, workload = (0.1, 0.01, 0.001), self.workload
        return [
            Settings(
                HIDDEN,
                workload.layers,
                rates[m % 3],
                batch_size=workload.batch_size,
                invariance=row.irm,
                seed=m // 3,
            )
            for m in range(amount)
        ]


def without_padding(rows: GraphRows, identities: torch.Tensor) -> torch.Tensor:
    """The identities of the first seed, without those of padding."""
    return identities[0] if rows.weight is None else identities[0][:, rows.weight > 0]


# ---- correctness ----------------------------------------------------------------------------------------


def check(row: Row, data: Data) -> None:
    """Compare the loss of one training step and validation logits on equal parameters and draws; or `WrongAnswer`.

    In double precision, because batch norm amplifies rounding if vertices are nearly equal.
    """
    model, problem, size = _perturbed(row, data), _problem(row, data, data.members(row, 2)), data.workload.batch_size
    batch = None if size is None else torch.arange(len(data.train), device=data.device)[-size:]
    step, late = (torch.tensor(number, device=data.device) for number in (1, WARM_UP_EPOCHS))

    def in_double(structure: Structure) -> torch.Tensor:
        found: torch.Tensor = model(doubled(structure))
        return found

    with torch.no_grad():
        for _ in range(AVERAGING_STEPS):
            problem.losses(in_double, batch, step, late)
        plains = [with_parameters_of(data.plain(row).double(), model, place, row.kind) for place in range(2)]
        found = problem.losses(in_double, batch, step, late).total
        model.eval()
        logits = problem.validation(in_double)
    assert logits is not None
    identities = None
    if row.pooled:
        assert problem.batch is not None
        rows = problem.batch.rows(batch)
        identities = without_padding(rows, draw_identities(rows, int(RECIPE.permutations), step, data.seeds))
    plain_train = data.plain_train if size is None else data.plain_train[-size:]
    graphs, validation = Graphs.of(plain_train, data.device).doubled(), data.plain_validation.doubled()
    what = f"{data.workload.name}, {row.name}"
    for place, plain in enumerate(plains):
        loss = loss_of(plain.train()(graphs, identities), graphs.batch, row.irm)
        check_equal(f"{what}: loss", loss, found[place])
        with torch.no_grad():
            check_equal(f"{what}: logits", plain.eval()(validation, data.fixed(row)), logits[0][place])


def _perturbed(row: Row, data: Data) -> GraphModel:
    """A stack of two models with noise on all parameters, also those that start at 0 or 1."""
    model = data.architecture(row).build([False, False])
    initialize(model, [3, 4])
    noise = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * (torch.rand(parameter.shape, generator=noise) - 0.5)
    representation: Any = model.representation
    representation.encoder.set_mean_log_degree(float(np.log(data.train.degrees + 1).mean()))
    return model.double().to(data.device).train()


def _problem(row: Row, data: Data, members: list[Settings]) -> GNNProblem:
    """The training and validation graphs as `fit_gnn` has them."""
    architecture, whole = data.architecture(row), data.workload.batch_size is None and not row.pooled
    y, checked_y, environments = (
        torch.from_numpy(numbers).to(data.device)
        for numbers in (data.labels(data.train), data.labels(data.validation), data.environments)
    )
    given = data.train, data.known, data.device
    checked = architecture.structure(data.validation, data.known, data.device)
    structure, batch = (architecture.structure(*given), None) if whole else (None, architecture.batch(*given))
    return GNNProblem(architecture, structure, batch, y, (checked, checked_y), members, environments, None)


# ---- speed -----------------------------------------------------------------------------------------


def fitted_rate(row: Row, data: Data, models: int, epochs: int) -> float:
    """Model-epochs per second of a stack."""

    def fit(amount: int, progress: Progress) -> None:
        fit_gnn(
            row.kind, "sum", data.train, data.labels(data.train), data.members(row, models),
            replace(RECIPE, epochs=amount), classes=data.classes, relational=row.pooled,
            validation=(data.validation, data.labels(data.validation)), environments=data.environments,
            device=data.device, progress=progress,
        )  # fmt: skip

    return stack_rate(fit, models, epochs, Clock(data.device))


def plain_rate(row: Row, data: Data, epochs: int) -> float:
    """Epochs per second of one plain model, with TF32 products on a GPU as for stacks."""
    model, fixed, clock = data.plain(row), data.fixed(row), Clock(data.device)
    epoch_of, validation = batches(data.plain_train, data.workload.batch_size, data.device), data.plain_validation
    lr, permutations = data.members(row, 1)[0].lr, int(RECIPE.permutations)
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    started = clock()
    train_plain(model, epoch_of, validation, epochs, lr, row.irm, permutations, fixed)
    seconds = clock() - started
    torch.set_float32_matmul_precision(precision)
    return epochs / seconds


def loader_seconds(data: Data) -> float | None:
    """Seconds that PyG's loader alone takes for an epoch; None if all graphs are one batch."""
    if data.workload.batch_size is None:
        return None
    epoch_of, clock, spent = batches(data.plain_train, data.workload.batch_size, data.device), Clock(data.device), []
    for _ in range(5):
        started = clock()
        for _batch in epoch_of():
            pass
        spent.append(clock() - started)
    return min(spent)


def measure(row: Row, data: Data, models: int, seconds: float) -> dict[str, Any]:
    """One row of the table: the best rate of each contestant."""
    check(row, data)
    calls: dict[str, Callable[[int], float]] = {
        "plain": lambda epochs: plain_rate(row, data, epochs),
        "alone": lambda epochs: fitted_rate(row, data, 1, epochs),
        "stack": lambda epochs: fitted_rate(row, data, models, epochs),
    }
    rates = best_rates(calls, models, seconds, data.device)
    return {"workload": data.workload.name, "row": row.name} | rates


def run_workload(workload: Workload, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure and print the rows of one workload."""
    data = Data(workload, *workload.draw(), options.device)
    vertices = int(data.train.sizes.sum())
    print(f"{workload.name}: {workload.about}; {len(data.train)} training graphs, {vertices} vertices, "
          f"{len(data.validation)} validation graphs, {workload.layers} layers, {options.models} models in a stack",
          flush=True)  # fmt: skip
    seconds = QUICK_SECONDS if options.quick else SECONDS[device_kind(options.device)]
    records = [measure(row, data, options.models, seconds) for row in ROWS]
    print(format_table(records))
    loader = loader_seconds(data)
    if loader is not None:
        print(f"PyG's loader alone: {loader * 1e3:.1f} ms of an epoch of the plain models")
        records = [record | {"loader_seconds": loader} for record in records]
    print(flush=True)
    return records


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    names = ", ".join(workload.name for workload in WORKLOADS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baselines", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu (the default, one thread) or cuda")
    parser.add_argument("--models", type=int, help="models in the stack (8 on a CPU, 40 on a GPU)")
    parser.add_argument("--workload", nargs="+", choices=[workload.name for workload in WORKLOADS], metavar="NAME",
                        help=f"only these of {names}")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a tenth of a second for each turn of a contestant")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every number there as well")
    options = parser.parse_args(given)
    if not HAS_PYG:
        parser.error("the plain models are made with PyG: pip install torch_geometric")
    if device_kind(options.device) not in MODELS:
        parser.error(f"--device is cpu or cuda; got {options.device}")
    if device_kind(options.device) == "cuda" and not torch.cuda.is_available():
        parser.error("torch finds no CUDA device here: leave --device out to measure on the CPU")
    if options.models is None:
        options.models = MODELS[device_kind(options.device)]
    if options.models < 1:
        parser.error(f"--models must be at least 1; got {options.models}")
    return options


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = _options(given)
    torch.set_num_threads(1)
    facts = machine(options.device, 1, "PyG")
    print(", ".join(f"{name} {fact}" for name, fact in facts.items()), "\n", flush=True)
    selected = [workload for workload in WORKLOADS if not options.workload or workload.name in options.workload]
    with kept_blocks():  # for stacks and plain models
        records = [record for workload in selected for record in run_workload(workload, options)]
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
