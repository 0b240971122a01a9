"""The loop: M models trained as one stack."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from anysize.nn.counter_rng import uniform
from anysize.nn.rows.structure import Structure
from anysize.training.epoch_selection import EpochChoice, stacked_state
from anysize.training.metrics import SCORES
from anysize.training.optimizer import StackAdam
from anysize.training.settings import Recipe, Settings

EAGER_CALLS = 3  # before a CUDA graph is recorded
LOOK_EVERY = 10  # epochs between looks at models that have run out of patience

_Player = Callable[[Callable[[], None]], None]


@dataclass(frozen=True)
class Losses:
    """Of one step, per model (models,): what is minimized, its cross entropy, and the penalty that is watched."""

    total: Tensor
    cross_entropy: Tensor
    penalty: Tensor


class TrainingProblem(Protocol):
    """What the loop needs to know of the data and the objective."""

    @property
    def size(self) -> int: ...

    @property
    def recordable(self) -> bool:
        """Whether all mini-batches have tensors of the same shapes, so that an epoch of them can be recorded."""
        ...

    @property
    def threads(self) -> int | None:
        """How many threads of a CPU are worth waking for its many small steps; None: all."""
        ...

    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        """Of the training graphs with these numbers (None: all)."""
        ...

    def validation(self, model: nn.Module) -> tuple[Tensor, Tensor] | None:
        """Logits and labels of the validation graphs; None without any."""
        ...


class LastEpoch:
    """A stack as it was after its last epoch, beside the states that were kept: for study."""

    def __init__(self, model: nn.Module, models: int) -> None:
        self.model, self.models = model, models
        self.tensors = {name: tensor.detach().clone() for name, tensor in stacked_state(model, models).items()}

    def beside(self, function: Callable[[Structure], Tensor]) -> Callable[[Structure], Tensor]:
        """A function of the kept models and then of those after the last epoch, along the first axis."""

        def both(structure: Structure) -> Tensor:
            kept = function(structure)
            self._swap()
            try:
                return torch.cat([kept, function(structure)])
            finally:
                self._swap()

        return both

    def _swap(self) -> None:
        with torch.no_grad():
            for name, tensor in stacked_state(self.model, self.models).items():
                kept = tensor.clone()
                tensor.copy_(self.tensors[name])
                self.tensors[name] = kept


@dataclass(frozen=True)
class Trained:
    """``curves``: name -> (epochs, models), nan where nothing was looked at; ``epoch``: the one kept, per model.

    ``last``: where an earlier epoch may have been kept, and no patience ran out: when a stack ends depends on all its
    models then.
    """

    curves: dict[str, Tensor]
    epoch: Tensor
    ties: Tensor
    seconds: float
    last: LastEpoch | None = None


def train(
    model: nn.Module, problem: TrainingProblem, members: Sequence[Settings], recipe: Recipe, metric: str,
    progress: Callable[[float], None] | None = None,
) -> Trained:  # fmt: skip
    """Train all members; the model ends in the states that the recipe chooses.

    Validation is looked at in every epoch where the choice depends on it, otherwise in every tenth and the last.
    """
    began = time.perf_counter()
    run = _Run(model, problem, members, recipe, metric)
    told, end = 0.0, recipe.epochs
    with _tuned(problem.threads):
        for epoch in range(recipe.epochs):
            run.epoch(epoch)
            if recipe.patience is not None and epoch % LOOK_EVERY == 0:
                end = run.choice.end(recipe.epochs)
            if progress is not None:
                told = max(told, min((epoch + 1) / max(end, 1), 1.0))
                progress(told)
            if end == 0:
                break
    chosen = torch.full((len(members),), epoch, dtype=torch.int64)
    last = None
    if recipe.epoch == "best" and run.validates:
        last = LastEpoch(model, len(members)) if recipe.patience is None else None
        chosen = run.choice.restore(model).cpu()
    model.eval()
    curves = {name: curve[: epoch + 1].cpu() for name, curve in run.curves.items()}
    return Trained(curves, chosen, run.choice.ties.cpu(), time.perf_counter() - began, last)


@contextmanager
def _tuned(threads: int | None) -> Iterator[None]:
    """On GPUs of late, products with inputs rounded to ten bits (TF32), as is common in training; on CPUs as many
    threads as the problem feeds. Both are undone after."""
    precision, before = torch.get_float32_matmul_precision(), torch.get_num_threads()
    keep_large_blocks()
    torch.set_float32_matmul_precision("high")
    if threads is not None and threads < before:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


def keep_large_blocks() -> None:
    """Have memory on a CPU reused: up to half as fast again for stacks of small models.

    glibc hands large blocks back to the system at once and fetches fresh pages for the next ones, until it has freed
    a block as large; from then on it keeps them. The largest size that it learns so is 32 MB.
    """
    torch.empty(31 << 20, dtype=torch.uint8)


class _Recorded:
    """Calls of one function as a CUDA graph: played back, its many small kernels cost no launches.

    The first calls run as they are, on a stream of their own, as recording asks. The function comes with each call: a
    graph that held it would hold all memory of a run in a circle, until the next collection of garbage.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, function: Callable[[], None]) -> None:
        self.calls += 1
        if self.calls <= EAGER_CALLS:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                function()
            torch.cuda.current_stream().wait_stream(side)
            return
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            with without_collection(), torch.cuda.graph(self.graph):
                function()
        self.graph.replay()


@contextmanager
def without_collection() -> Iterator[None]:
    """Garbage is collected now, and not again until the end: to free what is on a GPU ends a recording."""
    gc.collect()
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _at_once(function: Callable[[], None]) -> None:
    function()


class _Run:
    """The state of a run, all of it on the device and changed in place, so that epochs can be recorded."""

    def __init__(
        self, model: nn.Module, problem: TrainingProblem, members: Sequence[Settings], recipe: Recipe, metric: str
    ) -> None:
        self.model, self.problem, self.recipe, self.score = model, problem, recipe, SCORES[metric]
        self.device = next(model.parameters()).device
        self.batch = members[0].batch_size
        if self.batch is not None and self.batch >= problem.size:
            self.batch = None
        self.optimizer = StackAdam(model.parameters(), [member.lr for member in members])
        first = problem.validation(model.eval())
        self.validates = first is not None
        grain = 1 / max(len(first[1]), 1) if first is not None and metric == "accuracy" else 0.0
        self.choice = EpochChoice(model, len(members), recipe.tie_break, grain, recipe.patience)
        self.step = torch.zeros((), dtype=torch.int64, device=self.device)
        self.now = torch.zeros((), dtype=torch.int64, device=self.device)
        shape = (recipe.epochs, len(members))
        names = ("loss", "penalty", "validation_loss", "validation_score")
        self.curves = {name: torch.full(shape, float("nan"), device=self.device) for name in names}
        recorded = self.device.type == "cuda" and (self.batch is None or problem.recordable)
        self.training: _Player = _Recorded() if recorded else _at_once
        self.looking: _Player = _Recorded() if recorded else _at_once

    def epoch(self, epoch: int) -> None:
        self.training(self._train)
        every = self.recipe.epoch == "best"
        if self.validates and (every or epoch % LOOK_EVERY == 0 or epoch == self.recipe.epochs - 1):
            self.looking(self._look)
        self.now += 1

    def _train(self) -> None:
        self.model.train()
        batches = self._batches()
        total: dict[str, Tensor | float] = {"loss": 0.0, "penalty": 0.0}
        for graphs in batches:
            self.step += 1
            losses = self.problem.losses(self.model, graphs, self.step, self.now)
            losses.total.sum().backward()  # models share no parameter: each gets its own gradient
            self.optimizer.step()
            total["loss"] = total["loss"] + losses.cross_entropy.detach() / len(batches)
            total["penalty"] = total["penalty"] + losses.penalty.detach() / len(batches)
        for name, value in total.items():
            self._note(name, torch.as_tensor(value))

    def _batches(self) -> list[Tensor] | list[None]:
        """Graph numbers in a random order, the same for all models of the stack; [None]: all at once."""
        if self.batch is None:
            return [None]
        seed = torch.zeros(1, dtype=torch.int64, device=self.device)  # recording allows no copies
        order = torch.argsort(uniform(seed, self.now, self.problem.size, stream=4)[0], stable=True)
        parts = list(order.split(self.batch))
        if len(parts) > 1 and len(parts[-1]) == 1:  # batch norm cannot judge a single graph
            parts[-2:] = [torch.cat(parts[-2:])]
        return parts

    @torch.no_grad()
    def _look(self) -> None:
        self.model.eval()
        found = self.problem.validation(self.model)
        assert found is not None
        logits, y = found
        truth = y[:, None].expand(-1, logits.shape[0])
        loss = torch.nn.functional.cross_entropy(logits.permute(1, 2, 0), truth, reduction="none").mean(0)
        score = self.score(logits.argmax(-1), y, logits.shape[-1])
        self._note("validation_loss", loss)
        self._note("validation_score", score)
        penalty = self.curves["penalty"].index_select(0, self.now[None])[0]
        self.choice.look(self.model, self.now.clone(), score, loss, penalty)

    def _note(self, name: str, values: Tensor) -> None:
        self.curves[name].index_copy_(0, self.now[None], values.detach()[None])
