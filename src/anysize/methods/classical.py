"""Kernel machines and baselines with the interface of all methods: one model per run, no epochs.

scikit-learn is imported by what trains or restores a model: the catalog of methods does without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anysize._typing import FloatArray
from anysize.methods.method import Arrays, Examples, LearningTask, Run, Sizes, sizes_of
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.kernels.svm import KernelClassifier
    from anysize.methods.baselines import SanityClassifier
    from anysize.methods.sizemix import SizeMixClassifier

Progress = Callable[[float], None]


def _class_weight(problem: LearningTask) -> dict[int, float] | None:
    """Class weights as scikit-learn takes them."""
    return None if problem.class_weights is None else dict(enumerate(problem.class_weights))


@dataclass(frozen=True)
class KernelMethod:
    """A support vector machine on the WL or the graphlet kernel; C and the iterations come with the run."""

    kernel: Literal["wl", "graphlet"]

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedKernel]:  # fmt: skip
        """Train one machine per run."""
        from anysize.kernels.graphlet import GraphletKernel
        from anysize.kernels.svm import KernelClassifier
        from anysize.kernels.wl import WLKernel

        for done, run in enumerate(runs, 1):
            k: Any = None
            if self.kernel == "wl":
                kernel: Any = WLKernel(iterations=run.configuration.get("iterations", 3))
            else:
                k = sizes_of(run.configuration, problem.k)
                kernel = GraphletKernel(k=k, top=problem.top)
            machine = KernelClassifier(kernel, C=run.configuration.get("C", 1.0), class_weight=_class_weight(problem))
            machine.fit(_kernel_input(problem.train, k, problem.cache), problem.train.labels())
            yield FittedKernel(machine, (run,), k)
            if progress is not None:
                progress(done / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedKernel:
        """A trained machine from what `FittedKernel.state` returned."""
        from anysize.kernels.svm import KernelClassifier

        machine = KernelClassifier.from_state(about, arrays)
        runs = tuple(Run(**run) for run in about["runs"])
        return FittedKernel(machine, runs, None if self.kernel == "wl" else machine.kernel_.k)


def _kernel_input(examples: Examples, k: Sizes | None, cache: Any = None) -> Any:
    """Counts of patterns of k vertices; the graphs themselves for the WL kernel, which has no k."""
    return examples.whole("the WL kernel") if k is None else examples.counts(k, cache)


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """One trained machine; ``k``: pattern sizes, None for the WL kernel."""

    machine: KernelClassifier
    runs: tuple[Run, ...]
    k: Sizes | None
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        """The share of pairwise votes that each class won: an SVM has no probabilities."""
        votes = self.machine.votes(_kernel_input(examples, self.k))
        return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1))[None]

    def represent(self, examples: Examples) -> FloatArray:
        return np.asarray(self.machine.kernel_.transform(_kernel_input(examples, self.k)).toarray(), np.float64)[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.machine.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


def baseline_class(name: str) -> type[SanityClassifier]:
    """The estimator of a baseline."""
    from anysize.methods import baselines

    classes: dict[str, type[SanityClassifier]] = {
        "random": baselines.RandomClassifier, "majority": baselines.MajorityClassifier, "size-only": baselines.SizeOnly,
        "topology-only": baselines.TopologyOnly,
    }  # fmt: skip
    return classes[name]


@dataclass(frozen=True)
class BaselineMethod:
    """A classifier that ignores the graphs, or uses their sizes or their densities of uncolored patterns alone."""

    name: Literal["random", "majority", "size-only", "topology-only"]

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedBaseline]:  # fmt: skip
        """Train one estimator per run."""
        weight = _class_weight(problem)
        for run in runs:
            parameters: dict[str, dict[str, Any]] = {
                "random": {"seed": run.seed},
                "majority": {},
                "size-only": {"class_weight": weight},
                "topology-only": {"class_weight": weight, "k": sizes_of(run.configuration, problem.k)},
            }
            made: Any = baseline_class(self.name)(**parameters[self.name])
            made.fit(_seen(problem.train, made, problem.cache), problem.train.labels())
            yield FittedBaseline(made, (run,), self.name, problem.classes)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedBaseline:
        """A fitted baseline from what `FittedBaseline.state` returned."""
        made = baseline_class(self.name).from_state(about, arrays)
        return FittedBaseline(made, tuple(Run(**run) for run in about["runs"]), self.name, about["class_count"])


def _seen(examples: Examples, estimator: Any, cache: Any = None) -> Any:
    """What a baseline looks at: graphs, or the table of their plain patterns."""
    graphs = examples.whole(type(estimator).__name__)
    return examples.counts(estimator.k, cache, colors=False) if hasattr(estimator, "k") else graphs


@dataclass(frozen=True, eq=False)
class FittedBaseline:
    """One fitted baseline."""

    estimator: Any
    runs: tuple[Run, ...]
    name: str
    classes: int
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        graphs = _seen(examples, self.estimator)
        full = np.zeros((1, len(graphs), self.classes))
        known = np.asarray(self.estimator.classes_, np.int64)
        if self.name == "random":
            full[0, np.arange(len(graphs)), self.estimator.predict(graphs)] = 1.0
        else:
            full[0][:, known] = self.estimator.predict_proba(graphs)
        return full

    def represent(self, examples: Examples) -> FloatArray:
        return self.probabilities(examples)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.estimator.state()
        return about | {"runs": [asdict(run) for run in self.runs], "class_count": self.classes}, arrays


@dataclass(frozen=True)
class SizeMixMethod:
    """The ensemble of `anysize.methods.sizemix`; it always weighs classes alike, and seeds do not matter."""

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedSizeMix]:  # fmt: skip
        """Train one ensemble for all runs."""
        from anysize.methods.sizemix import SizeMixClassifier

        model = SizeMixClassifier().fit(problem.train.whole("sizemix"), problem.train.labels())
        for run in runs:
            yield FittedSizeMix(model, (run,), problem.classes)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedSizeMix:
        """A fitted ensemble from what `FittedSizeMix.state` returned."""
        from anysize.methods.sizemix import SizeMixClassifier

        model = SizeMixClassifier.from_state(about, arrays)
        return FittedSizeMix(model, tuple(Run(**run) for run in about["runs"]), about["class_count"])


@dataclass(frozen=True, eq=False)
class FittedSizeMix:
    """One fitted ensemble; ``classes``: all of the task, of which training may have had fewer."""

    model: SizeMixClassifier
    runs: tuple[Run, ...]
    classes: int
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        graphs = examples.whole("sizemix")
        full = np.zeros((1, len(graphs), self.classes))
        full[0][:, np.asarray(self.model.classes_, np.int64)] = self.model.predict_proba(graphs)
        return full

    def represent(self, examples: Examples) -> FloatArray:
        """The probabilities of the heads, side by side."""
        heads = self.model.head_probabilities(examples.whole("sizemix"))
        return np.concatenate(list(heads), axis=1)[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.model.state()
        return about | {"runs": [asdict(run) for run in self.runs], "class_count": self.classes}, arrays
