"""How fast is a stack of baselines, beside plain PyG models one at a time? ``python -m benchmarks.baselines``.

GNNs on whole graphs with the sum readout (mean and max cost the same), one of them with IRM, and RPGIN, on small
colored graphs (sbm-20), on larger plain ones (er-single), and on graphs like molecules in mini-batches. Every epoch
looks at the validation graphs. Before anything is timed, losses and validation logits of both are compared on equal
parameters and equal draws. Needs PyG and networkx, neither numba nor data files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anysize.nn.gamma import GraphModel
from anysize.nn.layers import initialize
from anysize.nn.rows.graph_batch import draw_identities
from anysize.nn.rows.structure import Structure
from anysize.training.fit_gnn import GNNProblem, fit_gnn
from anysize.training.loop import keep_large_blocks
from anysize.training.objectives import WARM_UP_EPOCHS
from anysize.training.settings import Settings
from benchmarks.plain_gamma import HAS_PYG
from benchmarks.plain_gnn import Graphs, batches, loss_of, train_plain, with_parameters_of
from benchmarks.stacks import Clock, Progress, best_rates, doubled, machine, same, stack_rate, written
from benchmarks.workloads import RECIPE, ROWS, WORKLOADS, Data, Row, Workload, of_vertices

MODELS = {"cpu": 8, "cuda": 40}
SECONDS = {"cpu": 0.5, "cuda": 0.35}  # of each contestant in each turn
QUICK_SECONDS = 0.1
LEAST = {"cpu": 2, "cuda": 16}  # epochs of a turn: half of them, up to eight, are not on the clock of a stack
AVERAGED = 10  # steps after which running averages are more of the graphs than of the start


# ---- the answer ----------------------------------------------------------------------------------------


def check(row: Row, data: Data) -> None:
    """Loss of one training step and validation logits afterwards, on equal parameters and draws; or `WrongAnswer`.

    In double precision: where vertices are nearly alike, batch norm enlarges the rounding of single precision.
    """
    model, problem, some = _lively(row, data), _problem(row, data, data.members(row, 2)), data.workload.batch_size
    chosen = None if some is None else torch.arange(len(data.train), device=data.device)[-some:]
    step, late = (torch.tensor(number, device=data.device) for number in (1, WARM_UP_EPOCHS))

    def exactly(structure: Structure) -> torch.Tensor:
        found: torch.Tensor = model(doubled(structure))
        return found

    with torch.no_grad():
        for _ in range(AVERAGED):
            problem.losses(exactly, chosen, step, late)
        plains = [with_parameters_of(data.plain(row).double(), model, place, row.kind) for place in range(2)]
        found = problem.losses(exactly, chosen, step, late).total
        model.eval()
        logits = problem.validation(exactly)
    assert logits is not None
    identities = None
    if row.pooled:
        assert problem.batch is not None
        rows = problem.batch.rows(chosen)
        identities = of_vertices(rows, draw_identities(rows, int(RECIPE.permutations), step))
    own = data.plain_train if some is None else data.plain_train[-some:]
    graphs, validation = Graphs.of(own, data.device).doubled(), data.plain_validation.doubled()
    what = f"{data.workload.name}, {row.name}"
    for place, plain in enumerate(plains):
        loss = loss_of(plain.train()(graphs, identities), graphs.batch, row.irm)
        same(f"{what}: loss", loss, found[place])
        with torch.no_grad():
            same(f"{what}: logits", plain.eval()(validation, data.fixed(row)), logits[0][place])


def _lively(row: Row, data: Data) -> GraphModel:
    """A stack of two with noise on all parameters, so that none hides behind a starting value of 0 or 1."""
    model = data.shape(row).build([False, False])
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
    shape, whole = data.shape(row), data.workload.batch_size is None and not row.pooled
    y, checked_y, environments = (
        torch.from_numpy(numbers).to(data.device)
        for numbers in (data.labels(data.train), data.labels(data.validation), data.environments)
    )
    given = data.train, data.palette, data.device
    checked = shape.structure(data.validation, data.palette, data.device)
    structure, batch = (shape.structure(*given), None) if whole else (None, shape.batch(*given))
    return GNNProblem(shape, structure, batch, y, (checked, checked_y), members, environments, None)


# ---- the clock -----------------------------------------------------------------------------------------


def fitted_rate(row: Row, data: Data, models: int, epochs: int) -> float:
    """Model-epochs per second of a stack of ours."""

    def fit(amount: int, progress: Progress) -> None:
        fit_gnn(
            row.kind, "sum", data.train, data.labels(data.train), data.members(row, models),
            replace(RECIPE, epochs=amount), classes=data.classes, relational=row.pooled,
            validation=(data.validation, data.labels(data.validation)), environments=data.environments,
            device=data.device, progress=progress,
        )  # fmt: skip

    return stack_rate(fit, models, epochs, Clock(data.device))


def plain_rate(row: Row, data: Data, epochs: int) -> float:
    """Epochs per second of one plain model, with the products that ours are trained with (TF32 on a GPU)."""
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


def loading(data: Data) -> float | None:
    """Seconds in which PyG's loader alone goes through an epoch; None where all graphs are one batch."""
    if data.workload.batch_size is None:
        return None
    epoch_of, clock, spent = batches(data.plain_train, data.workload.batch_size, data.device), Clock(data.device), []
    for _ in range(5):
        started = clock()
        for _batch in epoch_of():
            pass
        spent.append(clock() - started)
    return min(spent)


def measured(row: Row, data: Data, models: int, seconds: float) -> dict[str, Any]:
    """One row of the table: the best rate of each contestant in some turns."""
    check(row, data)
    calls: dict[str, Callable[[int], float]] = {
        "plain": lambda epochs: plain_rate(row, data, epochs),
        "alone": lambda epochs: fitted_rate(row, data, 1, epochs),
        "stack": lambda epochs: fitted_rate(row, data, models, epochs),
    }
    rates = best_rates(calls, models, seconds, LEAST[_kind(data.device)])
    return {"workload": data.workload.name, "row": row.name} | rates


def contest(workload: Workload, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of one workload, printed as well."""
    data = Data(workload, *workload.draw(), options.device)
    vertices = int(data.train.sizes.sum())
    print(f"{workload.name}: {workload.about}; {len(data.train)} training graphs, {vertices} vertices, "
          f"{len(data.validation)} validation graphs, {workload.layers} layers, {options.models} models in a stack",
          flush=True)  # fmt: skip
    seconds = QUICK_SECONDS if options.quick else SECONDS[_kind(options.device)]
    records = [measured(row, data, options.models, seconds) for row in ROWS]
    print(written(records))
    alone = loading(data)
    if alone is not None:
        print(f"PyG's loader alone: {alone * 1e3:.1f} ms of an epoch of the plain models")
        records = [record | {"loader_seconds": alone} for record in records]
    print(flush=True)
    return records


def _kind(device: str) -> str:
    return device.partition(":")[0]


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
    if _kind(options.device) not in MODELS:
        parser.error(f"--device is cpu or cuda; got {options.device}")
    if _kind(options.device) == "cuda" and not torch.cuda.is_available():
        parser.error("torch finds no CUDA device here: leave --device out to measure on the CPU")
    if options.models is None:
        options.models = MODELS[_kind(options.device)]
    if options.models < 1:
        parser.error(f"--models must be at least 1; got {options.models}")
    return options


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = _options(given)
    torch.set_num_threads(1)
    keep_large_blocks()  # of both sides
    facts = machine(options.device, 1, "PyG")
    print(", ".join(f"{name} {fact}" for name, fact in facts.items()), "\n", flush=True)
    chosen = [workload for workload in WORKLOADS if not options.workload or workload.name in options.workload]
    records = [record for workload in chosen for record in contest(workload, options)]
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
