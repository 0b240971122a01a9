"""The loop: M models trained as one stack."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from anysize.learning.optimiser import StackAdam
from anysize.learning.scores import SCORES
from anysize.learning.selection import EpochChoice
from anysize.learning.settings import Recipe, Settings
from anysize.representations.randomness import uniform

EAGER_EPOCHS = 3  # before a CUDA graph is recorded
LOOK_EVERY = 10  # epochs between looks at models that have run out of patience


@dataclass(frozen=True)
class Losses:
    """Of one step, per model (models,): what is minimised, its cross entropy, and the penalty that is watched."""

    total: Tensor
    cross_entropy: Tensor
    penalty: Tensor


class Problem(Protocol):
    """What the loop needs to know of the data and the objective."""

    @property
    def size(self) -> int: ...

    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        """Of the training graphs with these numbers (None: all)."""
        ...

    def validation(self, model: nn.Module) -> tuple[Tensor, Tensor] | None:
        """Logits and labels of the validation graphs; None without any."""
        ...


@dataclass(frozen=True)
class Trained:
    """``curves``: name -> (epochs, models), nan where nothing was looked at; ``epoch``: the one kept, per model."""

    curves: dict[str, Tensor]
    epoch: Tensor
    ties: Tensor
    seconds: float


def train(
    model: nn.Module, problem: Problem, members: Sequence[Settings], recipe: Recipe, metric: str,
    progress: Callable[[float], None] | None = None,
) -> Trained:  # fmt: skip
    """Train all members; the model ends in the states that the recipe chooses.

    Validation is looked at in every epoch where the choice depends on it, otherwise in every tenth and the last.
    """
    began = time.perf_counter()
    run = _Run(model, problem, members, recipe, metric)
    with _quick_products():
        for epoch in range(recipe.epochs):
            run.epoch(epoch)
            if progress is not None:
                progress((epoch + 1) / recipe.epochs)
            if recipe.patience is not None and epoch % LOOK_EVERY == 0 and not bool(run.choice.alive.any()):
                break
    chosen = torch.full((len(members),), epoch, dtype=torch.int64)
    if recipe.epoch == "best" and run.validates:
        chosen = run.choice.restore(model).cpu()
    model.eval()
    curves = {name: curve[: epoch + 1].cpu() for name, curve in run.curves.items()}
    return Trained(curves, chosen, run.choice.ties.cpu(), time.perf_counter() - began)


@contextmanager
def _quick_products() -> Iterator[None]:
    """On GPUs of late, products with inputs rounded to ten bits (TF32), as is common in training; undone after."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


class _Run:
    """The state of a run, all of it on the device, so that an epoch can be recorded as a CUDA graph."""

    def __init__(
        self, model: nn.Module, problem: Problem, members: Sequence[Settings], recipe: Recipe, metric: str
    ) -> None:
        self.model, self.problem, self.recipe, self.score = model, problem, recipe, SCORES[metric]
        self.device = next(model.parameters()).device
        self.batch = members[0].batch_size
        if self.batch is not None and self.batch >= problem.size:
            self.batch = None
        self.optimiser = StackAdam(model.parameters(), [member.lr for member in members])
        first = problem.validation(model.eval())
        self.validates = first is not None
        grain = 1 / max(len(first[1]), 1) if first is not None and metric == "accuracy" else 0.0
        self.choice = EpochChoice(model, len(members), recipe.tie_break, grain, recipe.patience)
        self.step = torch.zeros((), dtype=torch.int64, device=self.device)
        self.now = torch.zeros((), dtype=torch.int64, device=self.device)
        shape = (recipe.epochs, len(members))
        names = ("loss", "penalty", "validation_loss", "validation_score")
        self.curves = {name: torch.full(shape, float("nan"), device=self.device) for name in names}
        self.graph: torch.cuda.CUDAGraph | None = None

    def epoch(self, epoch: int) -> None:
        every = self.recipe.epoch == "best"
        look = self.validates and (every or epoch % LOOK_EVERY == 0 or epoch == self.recipe.epochs - 1)
        if self.device.type != "cuda" or self.batch is not None or not (every or not self.validates):
            self._train()
            self._look(look)
        elif self.graph is not None:
            self.graph.replay()
        else:
            self._record(epoch, look)

    def _record(self, epoch: int, look: bool) -> None:
        """The first epochs run on a stream of their own, as recording asks; then one epoch is recorded."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._train()
            self._look(look)
        torch.cuda.current_stream().wait_stream(side)
        if epoch + 1 == EAGER_EPOCHS:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self._train()
                self._look(look)

    def _train(self) -> None:
        self.model.train()
        for graphs in self._batches():
            self.step += 1
            losses = self.problem.losses(self.model, graphs, self.step, self.now)
            losses.total.sum().backward()  # models share no parameter: each gets its own gradient
            self.optimiser.step()
            self._note("loss", losses.cross_entropy)
            self._note("penalty", losses.penalty)

    def _batches(self) -> list[Tensor] | list[None]:
        """Graph numbers in a random order, the same for all models of the stack; [None]: all at once."""
        if self.batch is None:
            return [None]
        seed = torch.tensor([0], device=self.device)
        order = torch.argsort(uniform(seed, self.now, self.problem.size, stream=4)[0], stable=True)
        parts = list(order.split(self.batch))
        if len(parts) > 1 and len(parts[-1]) == 1:  # batch norm cannot judge a single graph
            parts[-2:] = [torch.cat(parts[-2:])]
        return parts

    @torch.no_grad()
    def _look(self, look: bool) -> None:
        if look:
            self.model.eval()
            found = self.problem.validation(self.model)
            assert found is not None
            logits, y = found
            loss = torch.nn.functional.cross_entropy(
                logits.permute(1, 2, 0), y[:, None].expand(-1, logits.shape[0]), reduction="none"
            ).mean(0)
            score = self.score(logits.argmax(-1), y)
            self._note("validation_loss", loss)
            self._note("validation_score", score)
            penalty = self.curves["penalty"].index_select(0, self.now[None])[0]
            self.choice.look(self.model, self.now.clone(), score, loss, penalty)
        self.now += 1

    def _note(self, name: str, values: Tensor) -> None:
        self.curves[name].index_copy_(0, self.now[None], values.detach()[None])
