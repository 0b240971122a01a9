"""The training loop: M models trained as one stack, and its Adam."""

from __future__ import annotations

import gc
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from anysize._typing import FloatArray
from anysize.nn.counter_rng import uniform
from anysize.training.device import kept_blocks
from anysize.training.epoch_selection import STACK_SCORES, EpochSelector, KeptEpochs
from anysize.training.objectives import mean_loss, mean_over_targets, outputs_by_target
from anysize.training.settings import Recipe, Settings

EAGER_CALLS = 3  # calls before a CUDA graph is recorded
VALIDATION_INTERVAL = 10  # epochs between validations that do not select an epoch, and between checks of patience
BATCH_STREAM = 4  # stream of random numbers
BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam
ALIGNMENT = 64  # every parameter starts at a multiple: matrix products of a GPU are slower on other addresses


@dataclass(frozen=True)
class Losses:
    """Losses of one step per model (models,): the total that is minimized, that of the targets, and the penalty."""

    total: Tensor
    of_targets: Tensor
    penalty: Tensor


class TrainingProblem(ABC):
    """What the loop needs: training labels, validation graphs, and the losses, all on one device.

    ``held_out``: the validation graphs, as the model takes them, and their labels; or None. ``graph_weights``,
    ``held_out_weights``: of the training and the validation graphs; None for equal ones. ``blocks``: how many outputs
    each of several targets has, of which labels and weights are tables; empty for one target. ``eager``: nothing may be
    recorded as a CUDA graph.
    """

    eager = False

    def __init__(
        self, y: Tensor, held_out: tuple[Any, Tensor] | None, graph_weights: FloatArray | None,
        held_out_weights: FloatArray | None = None, blocks: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.y, self.held_out, self.blocks = y, held_out, blocks
        to_tensor = partial(torch.as_tensor, dtype=torch.float32, device=y.device)
        self.graph_weights: Tensor | None = None if graph_weights is None else to_tensor(graph_weights)
        self.held_out_weights: Tensor | None = None if held_out_weights is None else to_tensor(held_out_weights)

    @property
    def size(self) -> int:
        """The number of training graphs."""
        return len(self.y)

    @property
    @abstractmethod
    def recordable(self) -> bool:
        """Whether all mini-batches have tensors of the same shapes, so that an epoch can be recorded."""

    @property
    def changes(self) -> bool:
        """Whether `begin_epoch` replaces tensors, so that no epoch can be recorded."""
        return False

    def begin_epoch(self, epoch: int) -> None:
        """Called before every epoch, counted from 0; nothing to do unless the problem `changes`."""
        return

    def labels_and_weights(self, graphs: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Those of the training graphs with these numbers (None: all); no weights if all are equal."""
        if graphs is None:
            return self.y, self.graph_weights
        return self.y[graphs], None if self.graph_weights is None else self.graph_weights[graphs]

    @abstractmethod
    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        """Losses of the training graphs with these numbers (None: all): (graphs,), or (models, graphs)."""

    def validation(self, model: nn.Module) -> tuple[Tensor, Tensor] | None:
        """Logits and labels of the validation graphs; None without any."""
        if self.held_out is None:
            return None
        graphs, y = self.held_out
        return model(graphs), y


@dataclass(frozen=True)
class Trained:
    """The record of a training run.

    ``curves``: name -> (epochs, models), nan where nothing was measured. ``epoch``: the selected epoch per model.
    ``ties``: how many epochs share its score. ``kept``: the states that other rules select, if validation selected;
    with patience without the last epoch, which then depends on all models of the stack.
    """

    curves: dict[str, Tensor]
    epoch: Tensor
    ties: Tensor
    seconds: float
    kept: KeptEpochs | None = None


def train(
    model: nn.Module, problem: TrainingProblem, members: Sequence[Settings], recipe: Recipe, metric: str,
    progress: Callable[[float], None] | None = None,
) -> Trained:  # fmt: skip
    """Train all members; the model ends in the states that the recipe selects.

    Validation graphs are evaluated in every epoch if the selection depends on them, otherwise in every tenth and in the
    last epoch. ``progress`` is called with the finished share after every epoch.
    """
    began = time.perf_counter()
    run = _Run(model, problem, members, recipe, metric)
    reported, end = 0.0, recipe.epochs
    on_device = kept_blocks() if run.device.type == "cpu" else torch.cuda.device(run.device)
    with _fast_products(), on_device:
        for epoch in range(recipe.epochs):
            run.epoch(epoch)
            if run.selector is not None and recipe.patience is not None and epoch % VALIDATION_INTERVAL == 0:
                end = run.selector.expected_epochs(recipe.epochs)
            if progress is not None:
                reported = max(reported, min((epoch + 1) / max(end, 1), 1.0))
                progress(reported)
            if end == 0:
                break
    selected = torch.full((len(members),), epoch, dtype=torch.int64)
    kept, ties = None, torch.zeros_like(selected)
    if run.selector is not None:
        ties = run.selector.ties.cpu()
        if recipe.epoch == "best":
            kept = run.selector.kept(model, epoch if recipe.patience is None else None)
            selected = run.selector.restore(model).cpu()
    run.optimizer.release()
    model.eval()
    curves = {name: curve[: epoch + 1].cpu() for name, curve in run.curves.items()}
    return Trained(curves, selected, ties, time.perf_counter() - began, kept)


@contextmanager
def _fast_products() -> Iterator[None]:
    """Enable TF32 matrix products on recent GPUs; the setting is restored afterwards."""
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)


class _Recorded:
    """Calls of one function as a CUDA graph: replayed, its many small kernels cost no launches.

    The first calls run eagerly on a side stream, as CUDA graphs require. The function is passed with each call: if this
    object held it, the memory of a run would stay in a reference cycle until the next garbage collection.
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
    """Collect garbage now and not again inside the block: freeing GPU memory would abort a recording."""
    gc.collect()
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class StackAdam:
    """The steps of torch.optim.Adam for a stack, with one learning rate per model.

    Parameters have the models as their first axis, any shape for one model; ``rates``: a learning rate per model.

    The parameters become views of one list of values, so that a step is a few operations, not a few per parameter. Call
    `release` after the last step.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], rates: Sequence[float]) -> None:
        self.parameters = [parameter for parameter in parameters if parameter.requires_grad]
        device = self.parameters[0].device
        rate = torch.tensor(list(rates), dtype=torch.float32, device=device)
        self.padding = [torch.zeros(-parameter.numel() % ALIGNMENT, device=device) for parameter in self.parameters]
        self.values = self._joined([parameter.detach() for parameter in self.parameters])
        start = 0
        for parameter, padding in zip(self.parameters, self.padding, strict=True):
            parameter.data = self.values[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel() + len(padding)
        self.rates = self._joined(
            [rate.repeat_interleave(parameter.numel() // len(rate)) for parameter in self.parameters]
        )
        self.mean, self.square = torch.zeros_like(self.values), torch.zeros_like(self.values)
        self.betas = torch.tensor(BETAS, device=device, dtype=torch.float64)
        self.decay = torch.ones_like(self.betas)  # the powers of the betas

    @torch.no_grad()
    def step(self, factor: Tensor | float = 1.0) -> None:
        """Update the parameters, with all learning rates times ``factor``, and clear the gradients."""
        self.decay *= self.betas
        rates = self.rates * factor
        gradients = []
        for parameter in self.parameters:
            gradients.append(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad)
            parameter.grad = None
        gradient = self._joined(gradients)
        mean_correction, square_correction = (1 - self.decay).to(torch.float32)
        self.mean.lerp_(gradient, 1 - BETAS[0])
        self.square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        divisor = (self.square.sqrt() / square_correction.sqrt()).add_(EPSILON)
        self.values.addcdiv_(self.mean * (rates / -mean_correction), divisor)

    def release(self) -> None:
        """Give every parameter its own memory again: pickling a view would write the whole list, once per parameter."""
        for parameter in self.parameters:
            parameter.data = parameter.data.clone()

    def _joined(self, tensors: Sequence[Tensor]) -> Tensor:
        """Tensors of the sizes of the parameters as one list, with padding after each."""
        pairs = zip(tensors, self.padding, strict=True)
        return torch.cat([part for tensor, padding in pairs for part in (tensor.reshape(-1), padding)])


def seeds_of(models: Sequence[int], device: torch.device | str) -> Tensor:
    """The seeds of the models as a tensor, or one if they are all the same: then models share what they draw."""
    return torch.tensor(models if len(set(models)) > 1 else models[:1], device=device)


class _Run:
    """The state of a run, on the device and changed in place, so that epochs can be recorded."""

    def __init__(
        self, model: nn.Module, problem: TrainingProblem, members: Sequence[Settings], recipe: Recipe, metric: str
    ) -> None:
        self.model, self.problem, self.recipe, self.metric = model, problem, recipe, metric
        self.device = next(model.parameters()).device
        self.seeds = seeds_of([member.seed for member in members], self.device)
        self.batch = members[0].batch_size
        if self.batch is not None and self.batch >= problem.size:
            self.batch = None
        self.optimizer = StackAdam(model.parameters(), [member.lr for member in members])
        self.selector: EpochSelector | None = None
        first = problem.validation(model.eval())
        if first is not None:
            same_steps = metric == "accuracy" and problem.held_out_weights is None
            self.selector = EpochSelector(
                model, len(members), recipe.tie_break, 1 / max(len(first[1]), 1) if same_steps else 0.0,
                recipe.patience, any(member.penalty > 0 or member.invariance > 0 for member in members),
            )  # fmt: skip
        self.step = torch.zeros((), dtype=torch.int64, device=self.device)
        self.now = torch.zeros((), dtype=torch.int64, device=self.device)
        shape = (recipe.epochs, len(members))
        names = ("loss", "penalty", "validation_loss", "validation_score")
        self.curves = {name: torch.full(shape, float("nan"), device=self.device) for name in names}
        recorded = self.device.type == "cuda" and not problem.eager and (self.batch is None or problem.recordable)
        self.training_graph = _Recorded() if recorded and not problem.changes else None
        self.validation_graph = _Recorded() if recorded else None

    def epoch(self, epoch: int) -> None:
        self.problem.begin_epoch(epoch)
        if self.training_graph is None:
            self._train()
        else:
            self.training_graph(self._train)
        every = self.recipe.epoch == "best"
        if self.selector is not None and (every or epoch % VALIDATION_INTERVAL == 0 or epoch == self.recipe.epochs - 1):
            if self.validation_graph is None:
                self._validate()
            else:
                self.validation_graph(self._validate)
        self.now += 1

    def _train(self) -> None:
        self.model.train()
        batches = self._batches()
        rate: Tensor | float = 1.0
        if self.recipe.schedule == "cosine":
            rate = (1 + torch.cos(self.now * (math.pi / self.recipe.epochs))) / 2
        total: dict[str, Tensor | float] = {"loss": 0.0, "penalty": 0.0}
        for graphs in batches:
            self.step += 1
            losses = self.problem.losses(self.model, graphs, self.step, self.now)
            losses.total.sum().backward()  # models share no parameter, so that each gets its own gradient
            self.optimizer.step(rate)
            total["loss"] = total["loss"] + losses.of_targets.detach() / len(batches)
            total["penalty"] = total["penalty"] + losses.penalty.detach() / len(batches)
        for name, value in total.items():
            self._record(name, torch.as_tensor(value))

    def _batches(self) -> list[Tensor] | list[None]:
        """Graph numbers in a random order: (graphs,), or (models, graphs) if seeds differ; [None]: all at once."""
        if self.batch is None:
            return [None]
        order = torch.argsort(uniform(self.seeds, self.now, self.problem.size, stream=BATCH_STREAM), stable=True)
        # Parts of about equal size: batch norm goes wrong on a small last batch.
        parts = order.tensor_split(-(-self.problem.size // self.batch), dim=1)
        return [part[0] if len(self.seeds) == 1 else part for part in parts]

    @torch.no_grad()
    def _validate(self) -> None:
        self.model.eval()
        validation = self.problem.validation(self.model)
        assert validation is not None
        assert self.selector is not None
        logits, y = validation
        weights, blocks = self.problem.held_out_weights, self.problem.blocks
        if y.is_floating_point():
            loss = mean_loss(outputs_by_target(logits, blocks), y, weights)
            score = -loss
        elif blocks:
            assert weights is not None
            loss, score_of = mean_loss(outputs_by_target(logits, blocks), y, weights), STACK_SCORES[self.metric]
            scores = [
                score_of(part.argmax(-1), y[:, target], part.shape[-1], weights[:, target])
                for target, part in enumerate(logits.split(list(blocks), -1))
            ]
            score = mean_over_targets(torch.stack(scores, -1).nan_to_num(), weights.sum(0))
        else:
            truth = y[:, None].expand(-1, logits.shape[0])
            losses = torch.nn.functional.cross_entropy(logits.permute(1, 2, 0), truth, reduction="none")
            loss = losses.mean(0) if weights is None else weights @ losses / weights.sum()
            score = STACK_SCORES[self.metric](logits.argmax(-1), y, logits.shape[-1], weights)
        self._record("validation_loss", loss)
        self._record("validation_score", score)
        penalty = self.curves["penalty"].index_select(0, self.now[None])[0]
        self.selector.observe(self.model, self.now.clone(), score, loss, penalty)

    def _record(self, name: str, values: Tensor) -> None:
        self.curves[name].index_copy_(0, self.now[None], values.detach()[None])
