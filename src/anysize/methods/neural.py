"""Neural methods: runs are sorted into stacks of one shape, trained together, and handed back stack by stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Protocol

import numpy as np

from anysize._typing import FloatArray
from anysize.methods.grids import Configuration
from anysize.methods.learner import Arrays, Examples, LearningTask, Run, Sizes, sizes_of, softmax
from anysize.training.fit_gamma import GammaStack, fit_gamma
from anysize.training.fit_gnn import GNNStack, fit_gnn
from anysize.training.invariance import IRM, Objective
from anysize.training.loop import LastEpoch, Trained
from anysize.training.settings import Recipe, Settings
from anysize.training.vocabulary import Kind

Progress = Callable[[float], None]
STACK_MEMBERS = {"cpu": 16, "cuda": 160}  # more bring no speed
_NAMES = {field.name: field.name for field in fields(Settings) if field.name not in ("seed", "invariance")}


def settings_of(run: Run, objective: Objective | None = None) -> Settings:
    """The run as the settings of one model; a name that no model has is refused.

    >>> settings_of(Run({"hidden": 64, "irm": 8}, seed=3), IRM).invariance
    8
    """
    names = _NAMES if objective is None else {**_NAMES, objective.weight: "invariance"}
    own = {name: value for name, value in run.configuration.items() if name != "k"}
    unknown = sorted(set(own) - set(names))
    if unknown:
        raise ValueError(f"a neural method is configured by {', '.join(sorted(names))}; got {', '.join(unknown)}")
    return Settings(**{names[name]: value for name, value in own.items()}, seed=run.seed)


class _Configured(Protocol):
    def settings(self, run: Run) -> Settings: ...


def stacks(
    learner: _Configured, runs: Sequence[Run], k: Sizes, most: Callable[[Settings], int]
) -> Iterator[tuple[Sizes, list[Run]]]:
    """The runs in groups that can be trained as one: equal shape and pattern size, at most so many."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        groups.setdefault((sizes_of(run.configuration, k), learner.settings(run).shape), []).append(run)
    for (size, _), members in groups.items():
        parts = -(-len(members) // most(learner.settings(members[0])))
        for part in range(parts):
            yield size, members[part::parts]


@dataclass(frozen=True)
class GammaMethod:
    """Gamma_1-hot, Gamma_GNN or Gamma_GNN+."""

    kind: Kind

    def settings(self, run: Run) -> Settings:
        """One model of a stack."""
        return settings_of(run)

    def shape(self, configuration: Configuration) -> tuple[Any, ...]:
        """What models trained as one have in common."""
        return self.settings(Run(configuration, 0)).shape

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedGamma]:  # fmt: skip
        """Train the runs; each stack is handed back as soon as it is done."""
        groups = list(stacks(self, runs, problem.k, lambda settings: most or self._most(settings, problem.device)))
        for place, (k, members) in enumerate(groups):
            train = problem.train.counts(k, problem.store)
            held_out = problem.validation
            stack = fit_gamma(
                self.kind, train, problem.train.labels(), [self.settings(run) for run in members],
                _fitting(recipe, held_out is not None, plain=train.columns.colors is None),
                classes=problem.classes, top=problem.top, class_weights=problem.class_weights,
                validation=None if held_out is None else (held_out.counts(k, problem.store), held_out.labels()),
                metric=problem.metric, device=problem.device, progress=_part(progress, place, len(groups)),
            )  # fmt: skip
            yield FittedGamma(stack, tuple(members), k)

    def _most(self, settings: Settings, device: str) -> int:
        """Recolored vertices of two layers fill the caches of a CPU with one model already."""
        crowded = settings.layers > 1 and (self.kind == "rp" or settings.penalty > 0)
        return 1 if crowded and _kind_of(device) == "cpu" else STACK_MEMBERS[_kind_of(device)]


@dataclass(frozen=True, eq=False)
class FittedGamma:
    """M trained Gamma models."""

    stack: GammaStack
    runs: tuple[Run, ...]
    k: Sizes

    @property
    def trained(self) -> Trained | None:
        return self.stack.trained

    def probabilities(self, examples: Examples, last: LastEpoch | None = None) -> FloatArray:
        return softmax(self.stack.logits(examples.counts(self.k), last))

    def represent(self, examples: Examples) -> FloatArray:
        return self.stack.represent(examples.counts(self.k)).astype(np.float64)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.stack.state()
        return about | {"k": self.k, "runs": [asdict(run) for run in self.runs]}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> FittedGamma:
        k = about["k"] if isinstance(about["k"], int) else tuple(about["k"])
        return FittedGamma(GammaStack.from_state(about, arrays), tuple(Run(**run) for run in about["runs"]), k)


@dataclass(frozen=True)
class GNNMethod:
    """A GNN on whole graphs: sum, mean or max readout, with relational pooling or an objective for environments.

    The hyper-parameter that ``objective`` names weighs its penalty; without it, or at 0, environments do not matter.
    """

    encoder: Literal["gin", "gcn", "pna"]
    readout: Literal["sum", "mean", "max"] = "sum"
    relational: bool = False
    objective: Objective = IRM

    def settings(self, run: Run) -> Settings:
        """One model of a stack."""
        return settings_of(run, self.objective)

    def shape(self, configuration: Configuration) -> tuple[Any, ...]:
        """What models trained as one have in common."""
        return self.settings(Run(configuration, 0)).shape

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedGNN]:  # fmt: skip
        """Train the runs; each stack is handed back as soon as it is done."""
        limit = most or STACK_MEMBERS[_kind_of(problem.device)]
        groups = list(stacks(self, runs, problem.k, lambda settings: limit))
        held_out = problem.validation
        for place, (_, members) in enumerate(groups):
            stack = fit_gnn(
                self.encoder, self.readout, problem.train.whole(self.encoder), problem.train.labels(),
                [self.settings(run) for run in members], _fitting(recipe, held_out is not None),
                classes=problem.classes, relational=self.relational, environments=problem.train.environments,
                objective=self.objective,
                validation=None if held_out is None else (held_out.whole(self.encoder), held_out.labels()),
                class_weights=problem.class_weights, metric=problem.metric, device=problem.device,
                progress=_part(progress, place, len(groups)),
            )  # fmt: skip
            yield FittedGNN(stack, tuple(members))


@dataclass(frozen=True, eq=False)
class FittedGNN:
    """M trained whole-graph GNNs."""

    stack: GNNStack
    runs: tuple[Run, ...]

    @property
    def trained(self) -> Trained | None:
        return self.stack.trained

    def probabilities(self, examples: Examples, last: LastEpoch | None = None) -> FloatArray:
        return softmax(self.stack.logits(examples.whole("a GNN"), last))

    def represent(self, examples: Examples) -> FloatArray:
        return self.stack.represent(examples.whole("a GNN")).astype(np.float64)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.stack.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> FittedGNN:
        return FittedGNN(GNNStack.from_state(about, arrays), tuple(Run(**run) for run in about["runs"]))


def _fitting(recipe: Recipe, validated: bool, plain: bool = False) -> Recipe:
    """The recipe as it applies: without validation graphs the last epoch is kept; the last epoch of the robust
    recipe belongs to its penalty, so that Gamma models of ``plain`` graphs keep the best, ties by validation loss."""
    if not validated:
        return replace(recipe, epoch="last", patience=None)
    if plain and recipe.epoch == "last":
        return replace(recipe, epoch="best", tie_break="loss")
    return recipe


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    return None if progress is None else lambda done: progress((place + done) / parts)


def _kind_of(device: str) -> str:
    return "cuda" if device.startswith("cuda") else "cpu"
