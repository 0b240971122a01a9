"""Neural methods: runs are sorted into stacks of one shape, each of which is trained as one.

torch is imported by what trains or restores models: the catalog of methods does without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from anysize._progress import Progress, part_of
from anysize._typing import FloatArray
from anysize.methods.grids import Configuration
from anysize.methods.method import Arrays, Examples, LearningTask, Run, Sizes, sizes_of
from anysize.training.device import device_kind, torch_defaults
from anysize.training.settings import Recipe, Settings

if TYPE_CHECKING:
    from anysize.counting.counts import Counts
    from anysize.graphs.graphset import GraphSet
    from anysize.training.epoch_selection import KeptEpochs
    from anysize.training.fit_gamma import GammaStack
    from anysize.training.fit_gnn import GNNStack
    from anysize.training.fit_module import ModuleStack
    from anysize.training.loop import Trained
    from anysize.training.objectives import Objective
    from anysize.training.vocabulary import GammaKind

STACK_MEMBERS = {"cpu": 16, "cuda": 160}  # larger stacks are not faster
TABLE_NAMES = frozenset({"k", "top"})  # hyper-parameters of the input, not of the model
_NAMES = {field.name: field.name for field in fields(Settings) if field.name not in ("seed", "invariance")}


def settings_of(run: Run, penalty: str | None = None) -> Settings:
    """The run as the settings of one model; ``penalty``: the name of the weight of an objective for environments.

    >>> settings_of(Run({"hidden": 64, "irm": 8}, seed=3), "irm").invariance
    8
    """
    names = _NAMES if penalty is None else {**_NAMES, penalty: "invariance"}
    own = {name: value for name, value in run.configuration.items() if name not in TABLE_NAMES}
    unknown = sorted(set(own) - set(names))
    if unknown:
        raise ValueError(f"a neural method is configured by {', '.join(sorted(names))}; got {', '.join(unknown)}")
    return Settings(**{names[name]: value for name, value in own.items()}, seed=run.seed)


def stacks(
    learner: GammaMethod | GNNMethod, runs: Sequence[Run], problem: LearningTask, most: Callable[[Settings], int]
) -> list[tuple[Sizes, int | None, list[Run]]]:
    """Pattern sizes, number of patterns and runs of each stack: runs of one shape, at most ``most`` of them.

    Runs that would have to share what they draw have one seed.
    """
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        table = sizes_of(run.configuration, problem.k), run.configuration.get("top", problem.top)
        seed = run.seed if isinstance(learner, GammaMethod) and learner.one_seed else None
        groups.setdefault((*table, learner.settings(run).shape, seed), []).append(run)
    found = []
    for (size, top, *_), members in groups.items():
        parts = -(-len(members) // most(learner.settings(members[0])))
        found += [(size, top, members[part::parts]) for part in range(parts)]
    return found


@dataclass(frozen=True)
class GammaMethod:
    """Gamma_1-hot, Gamma_GNN or Gamma_GNN+."""

    kind: GammaKind

    def settings(self, run: Run) -> Settings:
        """One model of a stack."""
        return settings_of(run)

    def shape(self, configuration: Configuration) -> tuple[Any, ...]:
        """What models of one stack have in common."""
        return self.settings(Run(configuration, 0)).shape

    @property
    def one_seed(self) -> bool:
        """Whether the models of a stack must have one seed: they share permutations."""
        return self.kind == "rp"

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedGamma]:  # fmt: skip
        """Train the runs; each stack is yielded as soon as it is trained."""
        from anysize.training.fit_gamma import fit_gamma

        groups = stacks(self, runs, problem, lambda settings: most or self._most(settings, problem.device))
        for place, (k, top, members) in enumerate(groups):
            train = problem.train.counts(k, problem.cache)
            held_out = problem.validation
            stack = fit_gamma(
                self.kind, train, problem.train.labels(), [self.settings(run) for run in members],
                _fitting(recipe, held_out is not None, plain=train.columns.colors is None),
                classes=problem.classes, top=top, class_weights=problem.class_weights,
                validation=None if held_out is None else (held_out.counts(k, problem.cache), held_out.labels()),
                metric=problem.epoch_metric, device=problem.device, sample=_sampler(problem, k, recipe),
                progress=part_of(progress, place, len(groups)),
            )  # fmt: skip
            yield FittedGamma(stack, tuple(members), k)

    @torch_defaults()
    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedGamma:
        """Trained models from what `FittedGamma.state` returned."""
        from anysize.training.fit_gamma import GammaStack

        k = about["k"] if isinstance(about["k"], int) else tuple(about["k"])
        return FittedGamma(GammaStack.from_state(about, arrays), tuple(Run(**run) for run in about["runs"]), k)

    def _most(self, settings: Settings, device: str) -> int:
        """The number of models in a stack; with recolored copies and two layers, a CPU gains little beyond four."""
        crowded = settings.layers > 1 and (self.kind == "rp" or settings.penalty > 0)
        return 4 if crowded and device_kind(device) == "cpu" else STACK_MEMBERS[device_kind(device)]


@dataclass(frozen=True, eq=False)
class FittedStack(ABC):
    """M trained models of one stack."""

    stack: Any
    runs: tuple[Run, ...]

    @abstractmethod
    def _input(self, examples: Examples) -> Any:
        """What the stack takes."""

    @property
    def trained(self) -> Trained | None:
        trained: Trained | None = self.stack.trained
        return trained

    @torch_defaults()
    def probabilities(self, examples: Examples, kept: KeptEpochs | None = None) -> FloatArray:
        """(models, graphs, classes); with ``kept``, followed by those of the states it holds."""
        return softmax(self.stack.logits(self._input(examples), kept))

    @torch_defaults()
    def represent(self, examples: Examples) -> FloatArray:
        return np.asarray(self.stack.represent(self._input(examples)), np.float64)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.stack.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


@dataclass(frozen=True, eq=False)
class FittedGamma(FittedStack):
    """M trained Gamma models."""

    stack: GammaStack
    k: Sizes

    def _input(self, examples: Examples) -> Counts:
        return examples.counts(self.k)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = super().state()
        return about | {"k": self.k}, arrays


@dataclass(frozen=True)
class GNNMethod:
    """A GNN on whole graphs: sum, mean or max readout, with relational pooling or an objective for environments.

    ``objective``: an `Objective`, or a built-in one by the name of its weight: "irm" (IRM) or "beta" (V-REx). Where
    this weight is 0 or not set, environments are not compared.
    """

    encoder: Literal["gin", "gcn", "pna"]
    readout: Literal["sum", "mean", "max"] = "sum"
    relational: bool = False
    objective: str | Objective = "irm"

    @property
    def penalty(self) -> str:
        """The hyper-parameter that weighs the penalty of the objective."""
        return self.objective if isinstance(self.objective, str) else self.objective.weight

    def settings(self, run: Run) -> Settings:
        """One model of a stack."""
        return settings_of(run, self.penalty)

    def shape(self, configuration: Configuration) -> tuple[Any, ...]:
        """What models of one stack have in common."""
        return self.settings(Run(configuration, 0)).shape

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedGNN]:  # fmt: skip
        """Train the runs; each stack is yielded as soon as it is trained."""
        from anysize.training.fit_gnn import fit_gnn
        from anysize.training.objectives import OBJECTIVES

        objective = OBJECTIVES[self.objective] if isinstance(self.objective, str) else self.objective
        limit = most or STACK_MEMBERS[device_kind(problem.device)]
        groups = stacks(self, runs, problem, lambda settings: limit)
        held_out = problem.validation
        for place, (_, _, members) in enumerate(groups):
            stack = fit_gnn(
                self.encoder, self.readout, problem.train.whole(self.encoder), problem.train.labels(),
                [self.settings(run) for run in members], _fitting(recipe, held_out is not None),
                classes=problem.classes, relational=self.relational, environments=problem.train.environments,
                objective=objective,
                validation=None if held_out is None else (held_out.whole(self.encoder), held_out.labels()),
                class_weights=problem.class_weights, metric=problem.epoch_metric, device=problem.device,
                progress=part_of(progress, place, len(groups)),
            )  # fmt: skip
            yield FittedGNN(stack, tuple(members))

    @torch_defaults()
    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedGNN:
        """Trained models from what `FittedGNN.state` returned."""
        from anysize.training.fit_gnn import GNNStack

        return FittedGNN(GNNStack.from_state(about, arrays), tuple(Run(**run) for run in about["runs"]))


@dataclass(frozen=True, eq=False)
class FittedGNN(FittedStack):
    """M trained whole-graph GNNs."""

    stack: GNNStack

    def _input(self, examples: Examples) -> GraphSet:
        return examples.whole("a GNN")


@dataclass(frozen=True)
class ModuleMethod:
    """A torch module of your own on whole graphs, trained by the loop and the recipes of the GNNs.

    ``build(inputs, classes, **hyper_parameters)`` returns an untrained module that maps
    `anysize.training.fit_module.GraphTensors` (``x``, ``edge_index``, ``batch``, ``num_graphs``) to logits (graphs,
    classes). The hyper-parameters ``lr`` and ``batch_size``, and the weight of the ``objective``, are for training; all
    others are passed to ``build``.
    """

    build: Callable[..., Any]
    objective: Objective | None = None

    @property
    def penalty(self) -> str | None:
        """The hyper-parameter that weighs the penalty of the objective."""
        return None if self.objective is None else self.objective.weight

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedModule]:  # fmt: skip
        """Train the runs one by one."""
        from anysize.training.fit_module import fit_module
        from anysize.training.objectives import IRM

        held_out = problem.validation
        for place, run in enumerate(runs):
            stack = fit_module(
                self.build, self._passed_on(run), problem.train.whole("a GNN"), problem.train.labels(),
                self._settings(run), _fitting(recipe, held_out is not None),
                classes=problem.classes, environments=problem.train.environments, objective=self.objective or IRM,
                validation=None if held_out is None else (held_out.whole("a GNN"), held_out.labels()),
                class_weights=problem.class_weights, metric=problem.epoch_metric, device=problem.device,
                progress=part_of(progress, place, len(runs)),
            )  # fmt: skip
            yield FittedModule(stack, (run,))

    @torch_defaults()
    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedModule:
        """The trained module from what `FittedModule.state` returned."""
        from anysize.training.fit_module import ModuleStack

        run = Run(**about["runs"][0])
        return FittedModule(ModuleStack.from_state(about, arrays, self.build, self._passed_on(run)), (run,))

    def _settings(self, run: Run) -> Settings:
        used = {name: run.configuration[name] for name in ("lr", "batch_size") if name in run.configuration}
        return Settings(**used, invariance=run.configuration.get(self.penalty or "", 0.0), seed=run.seed)

    def _passed_on(self, run: Run) -> Configuration:
        used = ("lr", "batch_size", self.penalty)
        return {name: value for name, value in run.configuration.items() if name not in used}


@dataclass(frozen=True, eq=False)
class FittedModule(FittedStack):
    """One trained module."""

    stack: ModuleStack

    def _input(self, examples: Examples) -> GraphSet:
        return examples.whole("a GNN")


def softmax(logits: NDArray[np.float32]) -> FloatArray:
    """Over the last axis, in double precision."""
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _fitting(recipe: Recipe, validated: bool, plain: bool = False) -> Recipe:
    """The recipe for the graphs at hand.

    Without validation graphs the last epoch is kept. The robust recipe keeps the last epoch because of its penalty:
    Gamma models of ``plain`` graphs, which have none, keep the best epoch instead, ties broken by validation loss.
    """
    if not validated:
        return replace(recipe, epoch="last", patience=None)
    if plain and recipe.epoch == "last":
        return replace(recipe, epoch="best", tie_break="loss")
    return recipe


def _sampler(problem: LearningTask, k: Sizes, recipe: Recipe) -> Callable[[int], Counts] | None:
    """Estimated counts of the training graphs, drawn again in every epoch, if the recipe says so.

    They depend on the epoch and not on the seed of a model, like the sets of estimates that the authors read.
    """
    if recipe.samples is None:
        return None
    from anysize.counting.api import count

    graphs = problem.train_graphs
    if graphs is None:
        graphs = problem.train.whole("training on sampled densities")
    return lambda epoch: count(graphs, k, method="sample", samples=recipe.samples, seed=epoch)
