"""Speed of a stack of Gamma models against plain PyG models, one at a time: ``python -m benchmarks.learning``.

Graphs: the published data of the task sbm-20, k = 5, training and validation in every epoch, the paper's penalty.
Before anything is timed, losses and validation logits of both are compared on equal parameters and equal draws.

For a machine without numba, count elsewhere: ``--prepare FOLDER`` writes the counts, ``--counts FOLDER`` reads them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.nn.layers import initialize
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.recoloring import RecoloredPatterns
from anysize.training.device import kept_blocks
from anysize.training.fit_gamma import GammaArchitecture, GammaProblem, GammaStack, fit_gamma
from anysize.training.settings import Recipe, Settings
from anysize.training.vocabulary import GammaKind, Vocabulary
from benchmarks.plain_gamma import HAS_PYG, PlainGamma, Vertices, train_plain, with_parameters_of
from benchmarks.stacks import Clock, Progress, best_rates, check_equal, format_table, machine, stack_rate

TASK, K = "sbm-20", 5
PARTS = ("train", "validation", "test")
Labeled = tuple[Counts, NDArray[np.int64]]


@dataclass(frozen=True)
class Row:
    """One kind of model."""

    name: str
    kind: GammaKind
    layers: int

    @property
    def pooled(self) -> bool:
        return self.kind == "rp"


ROWS = (
    Row("Gamma_GIN, 1 layer", "gnn", 1),
    Row("Gamma_GIN, 2 layers", "gnn", 2),
    Row("Gamma_RPGIN, 1 layer", "rp", 1),
    Row("Gamma_RPGIN, 2 layers", "rp", 2),
)
RECIPE = Recipe(
    over="connected", penalty_on="representation", epochs=1, epoch="best", tie_break="first", averages="torch",
    max_permutations=1,
)  # fmt: skip


def members(amount: int, hidden: int, layers: int, jumping: bool = False, one_seed: bool = False) -> list[Settings]:
    """Points of the paper's grid: two learning rates, two penalties, several seeds.

    ``one_seed``: as models with permutations need it, with as many learning rates.
    """
    rates = [(0.01, 0.001)[m % 2] * (0.99 ** (m // 4) if one_seed else 1) for m in range(amount)]
    return [
        Settings(hidden, layers, rates[m], (0.1, 0.15)[m // 2 % 2], jumping, seed=0 if one_seed else m // 4)
        for m in range(amount)
    ]


# ---- data ----------------------------------------------------------------------------------------------


def count_graphs() -> dict[str, Labeled]:
    """Count the published graphs of the task: the only part that needs numba."""
    from anysize.counting.api import count
    from anysize.paper.tasks import TASKS

    sets = TASKS[TASK].splits("published").sets
    return {name: (count(sets[name], K), np.asarray(sets[name].y, np.int64)) for name in PARTS}


def prepare(folder: Path) -> None:
    """Write the counts with their classes, one archive per part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (counts, _) in count_graphs().items():
        counts.save(folder / f"{name}.npz")


def load(folder: Path) -> dict[str, Labeled]:
    """What `prepare` wrote."""
    found = {}
    for name in PARTS:
        path = folder / f"{name}.npz"
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} does not exist; make it with python -m benchmarks.learning --prepare {folder}"
            )
        counts = Counts.load(path)
        found[name] = counts, np.asarray(counts.y, np.int64)
    return found


@dataclass(frozen=True)
class Data:
    """The training and validation graphs, for stacks and for plain models."""

    tables: dict[str, Labeled]
    vocabulary: Vocabulary
    columns: Columns
    densities: csr_array[Any]
    train: Vertices
    validation: Vertices

    @staticmethod
    def of(tables: dict[str, Labeled], device: str) -> Data:
        vocabulary = Vocabulary.of("gnn", tables["train"][0], RECIPE.over, None)
        columns, densities = vocabulary.densities(tables["train"][0])
        checked_columns, checked = vocabulary.densities(tables["validation"][0])
        train = Vertices.of(PatternBatch.of(columns, vocabulary.palette, K), densities, tables["train"][1], device)
        batch = PatternBatch.of(checked_columns, vocabulary.palette, K)
        validation = Vertices.of(batch, checked, tables["validation"][1], device)
        return Data(tables, vocabulary, columns, densities, train, validation)

    @property
    def inputs(self) -> int:
        return self.train.inputs

    def architecture(self, row: Row, hidden: int) -> GammaArchitecture:
        return GammaArchitecture(row.kind, self.inputs, 2, hidden, row.layers, RECIPE, K)

    def plain(self, row: Row, hidden: int, jumping: bool) -> PlainGamma:
        return PlainGamma(self.inputs, K, hidden, row.layers, 2, jumping, row.pooled).to(self.train.item.device)

    def fixed(self, row: Row, seed: int) -> torch.Tensor | None:
        """The identities of validation, the same for all patterns: (permutations, vertices)."""
        if not row.pooled:
            return None
        identities = self.architecture(row, 1).identities(len(self.columns), seed)
        return torch.from_numpy(identities).to(self.validation.item.device)[:, self.validation.position]


# ---- correctness ----------------------------------------------------------------------------------------


def check(row: Row, data: Data, hidden: int, device: str) -> None:
    """Compare the loss of one training step and validation logits on equal parameters and draws; or `WrongAnswer`."""
    settings = [members(3, hidden, row.layers, jumping)[-1] for jumping in (False, True)]
    architecture, permutations = data.architecture(row, hidden), int(RECIPE.permutations) if row.pooled else None
    model = architecture.build([setting.jumping for setting in settings])
    initialize(model, [3, 4])
    model.to(device)
    plains = [
        with_parameters_of(data.plain(row, hidden, setting.jumping), model, place)
        for place, setting in enumerate(settings)
    ]
    batch = PatternBatch.of(data.columns, data.vocabulary.palette, K)
    y = torch.from_numpy(data.tables["train"][1]).to(device)
    patterns = RecoloredPatterns.of(batch, data.densities, row.layers, permutations, device=device)
    problem = GammaProblem(patterns, y, None, settings, RECIPE, None)
    step = torch.tensor(1, device=device)
    with torch.no_grad():
        losses = problem.losses(model.train(), None, step, step).total
    colors = patterns.inputs(step).view(2, patterns.inputs.copies, -1)
    identities = None
    if row.pooled:
        colors, identities = colors // K, (colors % K)[0]
    stack = GammaStack(architecture, data.vocabulary, model, tuple(settings))
    checked = stack.structure(*data.vocabulary.densities(data.tables["validation"][0]))
    for place, (plain, setting) in enumerate(zip(plains, settings, strict=True)):
        with torch.no_grad():
            loss = plain.train().loss(data.train, colors[1, 0], identities, setting.penalty)
            check_equal(f"{row.name}: loss", loss, losses[place])
            read = plain.eval().patterns(
                data.validation, data.validation.colors[None], data.fixed(row, settings[0].seed)
            )
            check_equal(f"{row.name}: logits", plain.logits(data.validation, read[0]), model.eval()(checked)[place])


# ---- speed -----------------------------------------------------------------------------------------


def fitted_rate(row: Row, data: Data, models: int, epochs: int, options: argparse.Namespace) -> float:
    """Model-epochs per second of a stack."""

    def fit(amount: int, progress: Progress) -> None:
        fit_gamma(
            row.kind, *data.tables["train"], members(models, options.hidden, row.layers, options.jumping, row.pooled),
            replace(RECIPE, epochs=amount), classes=2, validation=data.tables["validation"], device=options.device,
            progress=progress,
        )  # fmt: skip

    return stack_rate(fit, models, epochs, Clock(options.device, options.threads))


def plain_rate(row: Row, data: Data, epochs: int, options: argparse.Namespace) -> float:
    """Epochs per second of one plain model."""
    setting = members(1, options.hidden, row.layers, options.jumping)[0]
    model, fixed = data.plain(row, options.hidden, setting.jumping), data.fixed(row, 0)
    permutations, clock = int(RECIPE.permutations), Clock(options.device, options.threads)
    started = clock()
    train_plain(model, data.train, data.validation, epochs, setting.lr, setting.penalty, permutations, fixed)
    return epochs / (clock() - started)


def measure(row: Row, data: Data, options: argparse.Namespace) -> dict[str, Any]:
    """One row of the table: the best rate of each contestant."""
    check(row, data, options.hidden, options.device)
    calls: dict[str, Callable[[int], float]] = {
        "plain": lambda epochs: plain_rate(row, data, epochs, options),
        "alone": lambda epochs: fitted_rate(row, data, 1, epochs, options),
        "stack": lambda epochs: fitted_rate(row, data, options.models, epochs, options),
    }
    about = {"row": row.name, "hidden": options.hidden, "jumping": options.jumping}
    return about | best_rates(calls, options.models, 0.5 if options.quick else 3.0, options.device)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda")
    parser.add_argument("--models", type=int, default=8, help="models in the stack (8)")
    parser.add_argument("--hidden", type=int, default=32, help="units of a layer (32)")
    parser.add_argument("--jumping", action="store_true", help="with jumping knowledge")
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU (1)")
    parser.add_argument("--rows", help="only rows with this in their name, such as '1 layer'")
    parser.add_argument("--quick", action="store_true", help="about a second for each contestant")
    parser.add_argument("--counts", metavar="FOLDER", type=Path, help="read counts that --prepare wrote")
    parser.add_argument("--prepare", metavar="FOLDER", type=Path, help="count, write the counts there, and end")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every number there as well")
    options = parser.parse_args()
    if options.prepare:
        prepare(options.prepare)
        return
    torch.set_num_threads(options.threads)
    peer = "PyG" if HAS_PYG else "gather and scatter (PyG is not installed)"
    facts = machine(options.device, options.threads, peer)
    print(", ".join(f"{name} {fact}" for name, fact in facts.items()), "\n", flush=True)
    data = Data.of(load(options.counts) if options.counts else count_graphs(), options.device)
    print(
        f"{TASK}: {len(data.columns)} patterns, {len(data.train.item)} vertices; {options.models} models in a stack\n"
    )
    rows = [row for row in ROWS if not options.rows or options.rows in row.name]
    with kept_blocks():  # for stacks and plain models
        records = [measure(row, data, options) for row in rows]
    print(format_table(records))
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
