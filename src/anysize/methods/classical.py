"""Kernels and sanity rows behind the interface of all methods: one model per run, no epochs.

scikit-learn is imported by what trains or restores one of them, so that the other methods do without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.methods.learner import Arrays, Examples, LearningTask, Run, sizes_of
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.kernels.svm import KernelClassifier
    from anysize.methods.baselines import SanityClassifier

Progress = Callable[[float], None]


@dataclass(frozen=True)
class KernelMethod:
    """A support vector machine on the WL or the graphlet kernel; C and the iterations come with the run."""

    name: str

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedKernel]:  # fmt: skip
        """One machine per run."""
        from anysize.kernels.graphlet import GraphletKernel
        from anysize.kernels.svm import KernelClassifier
        from anysize.kernels.wl import WLKernel

        labels = problem.train.labels()
        weight = None if problem.class_weights is None else dict(enumerate(problem.class_weights))
        for place, run in enumerate(runs):
            if self.name == "wl-kernel":
                kernel: Any = WLKernel(iterations=run.configuration.get("iterations", 3))
            else:
                size: Any = sizes_of(run.configuration, problem.k)
                kernel = GraphletKernel(k=size, top=problem.top)
            C = run.configuration.get("C", 1.0)
            machine = KernelClassifier(kernel, C=C, class_weight=weight)
            yield FittedKernel(machine.fit(self._input(problem.train, run, problem), labels), (run,), self.name)
            if progress is not None:
                progress((place + 1) / len(runs))

    def _input(self, examples: Examples, run: Run, problem: LearningTask) -> Any:
        if self.name == "wl-kernel":
            return examples.whole(self.name)
        return examples.counts(sizes_of(run.configuration, problem.k), problem.store)


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """One trained machine."""

    machine: KernelClassifier
    runs: tuple[Run, ...]
    name: str
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        """The share of pairwise votes that each class won: an SVM has no probabilities."""
        votes = self.machine.votes(self._input(examples))
        return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1))[None]

    def represent(self, examples: Examples) -> FloatArray:
        return np.asarray(self.machine.kernel_.transform(self._input(examples)).toarray(), np.float64)[None]

    def _input(self, examples: Examples) -> Any:
        if self.name == "wl-kernel":
            return examples.whole(self.name)
        return examples.counts(self.machine.kernel_.k)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.machine.state()
        return about | {"runs": [asdict(run) for run in self.runs], "name": self.name}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> FittedKernel:
        from anysize.kernels.svm import KernelClassifier

        runs = tuple(Run(**run) for run in about["runs"])
        return FittedKernel(KernelClassifier.from_state(about, arrays), runs, about["name"])


def sanity_class(name: str) -> type[SanityClassifier]:
    """The estimator of a sanity row."""
    from anysize.methods import baselines

    classes: dict[str, type[SanityClassifier]] = {
        "random": baselines.RandomClassifier, "majority": baselines.MajorityClassifier, "size-only": baselines.SizeOnly,
        "topology-only": baselines.TopologyOnly,
    }  # fmt: skip
    return classes[name]


@dataclass(frozen=True)
class SanityMethod:
    """What chance, class shares, sizes or plain densities give."""

    name: str

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedSanity]:  # fmt: skip
        """One estimator per run."""
        weight = None if problem.class_weights is None else dict(enumerate(problem.class_weights))
        for run in runs:
            parameters: dict[str, dict[str, Any]] = {
                "random": {"seed": run.seed},
                "majority": {},
                "size-only": {"class_weight": weight},
                "topology-only": {"class_weight": weight, "k": sizes_of(run.configuration, problem.k)},
            }
            made: Any = sanity_class(self.name)(**parameters[self.name])
            made.fit(_seen(problem.train, made, problem.store), problem.train.labels())
            yield FittedSanity(made, (run,), self.name, problem.classes)


def _seen(examples: Examples, estimator: Any, store: Any = None) -> Any:
    """What a sanity row looks at: graphs, or the table of their plain patterns."""
    graphs = examples.whole(type(estimator).__name__)
    return examples.counts(estimator.k, store, colors=False) if hasattr(estimator, "k") else graphs


@dataclass(frozen=True, eq=False)
class FittedSanity:
    """One fitted sanity row."""

    estimator: Any
    runs: tuple[Run, ...]
    name: str
    classes: int
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        graphs = _seen(examples, self.estimator)
        full = np.zeros((1, len(graphs), self.classes))
        known: NDArray[np.int64] = np.asarray(self.estimator.classes_, np.int64)
        if self.name == "random":
            full[0, np.arange(len(graphs)), self.estimator.predict(graphs)] = 1.0
        else:
            full[0][:, known] = self.estimator.predict_proba(graphs)
        return full

    def represent(self, examples: Examples) -> FloatArray:
        return self.probabilities(examples)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.estimator.state()
        own = {"runs": [asdict(run) for run in self.runs], "name": self.name, "class_count": self.classes}
        return about | own, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> FittedSanity:
        made = sanity_class(about["name"]).from_state(about, arrays)
        return FittedSanity(made, tuple(Run(**run) for run in about["runs"]), about["name"], about["class_count"])
