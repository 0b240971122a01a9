"""Kernel machines and baselines with the interface of all methods: one model per run, no epochs.

scikit-learn is imported by what trains or restores a model: the catalog of methods does without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anysize._memory import dense
from anysize._progress import Progress
from anysize._typing import FloatArray
from anysize.methods.method import Arrays, Examples, LearningTask, Run, Sizes, sizes_of
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from anysize.graphs.graphset import GraphSet
    from anysize.kernels.explanation import VertexExplanation
    from anysize.kernels.svm import KernelClassifier
    from anysize.kernels.wl import WLKernel
    from anysize.methods.sizemix import SizeMixClassifier


WL = "the WL kernel"  # in messages


def _class_weight(problem: LearningTask) -> dict[int, float] | None:
    """Class weights as scikit-learn takes them."""
    return None if problem.class_weights is None else dict(enumerate(problem.class_weights))


def _graphs_and_reference(
    examples: Examples, reference: Examples | None, method: str
) -> tuple[GraphSet, GraphSet | None]:
    return examples.whole(method), None if reference is None else reference.whole(method)


@dataclass(frozen=True)
class KernelMethod:
    """A support vector machine on the WL or the graphlet kernel; C and the iterations come with the run."""

    kernel: Literal["wl", "graphlet"]

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedKernel]:  # fmt: skip
        """Train one machine per run; graphs are refined once for the WL kernels of all runs."""
        from anysize.kernels.graphlet import GraphletKernel
        from anysize.kernels.svm import KernelClassifier
        from anysize.kernels.wl import WLKernel

        deepest = None
        if self.kernel == "wl":
            deepest = WLKernel(max((_iterations(run) for run in runs), default=0)).fit(problem.train.whole(WL))
        for done, run in enumerate(runs, 1):
            held_out = None
            if deepest is not None:
                kernel: Any = WLKernel(_iterations(run))
                source: Sizes | WLKernel = deepest
            else:
                k: Any = sizes_of(run.configuration, problem.k)
                kernel, source = GraphletKernel(k=k, top=problem.top), k
                if problem.validation is not None and problem.top is not None:  # for the vocabulary
                    held_out = _kernel_input(problem.validation, source, problem.cache), problem.validation.labels()
            machine = KernelClassifier(kernel, C=run.configuration.get("C", 1.0), class_weight=_class_weight(problem))
            machine.fit(_kernel_input(problem.train, source, problem.cache), problem.train.labels(), held_out)
            yield FittedKernel(machine, (run,), source, problem.classes)
            if progress is not None:
                progress(done / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedKernel:
        """A trained machine from what `FittedKernel.state` returned."""
        from anysize.kernels.svm import KernelClassifier

        machine = KernelClassifier.from_state(about, arrays)
        runs = tuple(Run(**run) for run in about["runs"])
        source = machine.kernel_ if self.kernel == "wl" else machine.kernel_.k
        return FittedKernel(machine, runs, source, len(machine.classes_))


def _iterations(run: Run) -> int:
    return int(run.configuration.get("iterations", 3))


def _kernel_input(examples: Examples, source: Sizes | WLKernel, cache: Any = None) -> Any:
    """Counts of patterns of these sizes, or graphs refined by this WL kernel."""
    from anysize.kernels.wl import WLKernel

    return examples.refined(source) if isinstance(source, WLKernel) else examples.counts(source, cache)


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """One trained machine; ``classes``: all of the task.

    ``source``: the sizes of patterns to count, or the WL kernel that refines graphs: that of the machine, or a deeper
    one that it shares with the machines of other runs.
    """

    machine: KernelClassifier
    runs: tuple[Run, ...]
    source: Sizes | WLKernel
    classes: int
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        """The share of pairwise votes that each class won: an SVM has no probabilities."""
        votes = self.machine.votes(_kernel_input(examples, self.source))
        full = np.zeros((1, len(votes), self.classes))
        full[0][:, self.machine.classes_] = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
        return full

    def margins(self, examples: Examples) -> FloatArray:
        """(1, graphs, classes): the mean margin of each class over its pairs, which ranks graphs finer than votes.

        Classes without training graphs come last.
        """
        found = self.machine.decision_function(_kernel_input(examples, self.source))
        known = self.machine.classes_
        margins = np.full((1, len(found), self.classes), -np.inf)
        margins[0][:, known] = 0.0
        for pair, (first, second) in enumerate(combinations(known, 2)):
            margins[0, :, first] += found[:, pair] / (len(known) - 1)
            margins[0, :, second] -= found[:, pair] / (len(known) - 1)
        return margins

    @property
    def explains(self) -> bool:
        """Whether the kernel has vertex types to explain a prediction by: the WL kernel has."""
        from anysize.kernels.wl import WLKernel

        return isinstance(self.source, WLKernel)

    def explain(self, examples: Examples, reference: Examples | None = None) -> VertexExplanation:
        """What vertex types and vertices add to the margin of the predicted class of one graph, a class number."""
        return self.machine.explain(*_graphs_and_reference(examples, reference, WL))

    def represent(self, examples: Examples) -> FloatArray:
        features = self.machine.kernel_.transform(_kernel_input(examples, self.source))
        return dense(features, "the table of features", "pass fewer graphs at a time")[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.machine.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


@dataclass(frozen=True)
class BaselineMethod:
    """A classifier that ignores the graphs, or uses their sizes or their densities of uncolored patterns alone."""

    name: Literal["random", "majority", "size-only", "topology-only"]

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedBaseline | FittedConstant]:  # fmt: skip
        """Train one classifier per run."""
        for run in runs:
            if self.name in ("random", "majority"):
                y = problem.train.labels()
                shares = None if self.name == "random" else np.bincount(y, minlength=problem.classes) / len(y)
                yield FittedConstant(problem.classes, (run,), shares)
                continue
            k = sizes_of(run.configuration, problem.k) if self.name == "topology-only" else None
            pipeline = self._pipeline(k, _class_weight(problem))
            pipeline.fit(_baseline_input(problem.train, k, problem.cache), problem.train.labels())
            yield FittedBaseline(pipeline, (run,), problem.classes, k)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedBaseline | FittedConstant:
        """A fitted baseline from its state."""
        runs = tuple(Run(**run) for run in about["runs"])
        if self.name in ("random", "majority"):
            return FittedConstant(about["classes"], runs, arrays.get("shares"))
        from anysize.methods.baselines import restore_arrays

        k = tuple(about["k"]) if isinstance(about["k"], list) else about["k"]
        return FittedBaseline(restore_arrays(self._pipeline(k), arrays), runs, about["classes"], k)

    def _pipeline(self, k: Sizes | None, class_weight: dict[int, float] | None = None) -> Pipeline:
        from anysize.methods import baselines

        return baselines.size_only(class_weight) if k is None else baselines.topology_only(k, class_weight)


@dataclass(frozen=True)
class FeatureMethod:
    """Logistic regression on features of your own: ``features(graphs, **hyper_parameters)`` -> (graphs, width).

    Features are standardized. The hyper-parameter ``C`` is that of scikit-learn's `LogisticRegression`, 1 by default;
    all others are passed to ``features``.
    """

    features: Callable[..., Any]

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedBaseline]:  # fmt: skip
        """Train one classifier per run."""
        for run in runs:
            pipeline = self._pipeline(run, _class_weight(problem))
            pipeline.fit(problem.train.whole("a method on features"), problem.train.labels())
            yield FittedBaseline(pipeline, (run,), problem.classes, None)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedBaseline:
        """A fitted classifier from its state."""
        from anysize.methods.baselines import restore_arrays

        run = Run(**about["runs"][0])
        return FittedBaseline(restore_arrays(self._pipeline(run), arrays), (run,), about["classes"], None)

    def _pipeline(self, run: Run, class_weight: dict[int, float] | None = None) -> Pipeline:
        from anysize.methods.baselines import logistic

        passed_on = {name: value for name, value in run.configuration.items() if name != "C"}
        return logistic(self.features, class_weight, run.configuration.get("C", 1.0), **passed_on)


def _baseline_input(examples: Examples, k: Sizes | None, cache: Any = None) -> Any:
    """Graphs, or counts of their patterns of k vertices without colors."""
    graphs = examples.whole("a baseline")
    return graphs if k is None else examples.counts(k, cache, colors=False)


@dataclass(frozen=True, eq=False)
class FittedBaseline:
    """One fitted pipeline; ``k``: the sizes of the patterns that it uses, None for none."""

    pipeline: Pipeline
    runs: tuple[Run, ...]
    classes: int
    k: Sizes | None
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        found = np.zeros((1, len(examples), self.classes))
        if len(examples):  # scikit-learn takes no empty input
            found[0][:, self.pipeline.classes_] = self.pipeline.predict_proba(_baseline_input(examples, self.k))
        return found

    def represent(self, examples: Examples) -> FloatArray:
        return self.probabilities(examples)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        from anysize.methods.baselines import fitted_arrays

        about = {"runs": [asdict(run) for run in self.runs], "classes": self.classes, "k": self.k}
        return about, fitted_arrays(self.pipeline)


@dataclass(frozen=True, eq=False)
class FittedConstant:
    """A classifier that ignores the graphs: the class shares of the training graphs, or a uniform draw for each graph.

    The draw is the same for the same seed and the same number of graphs.
    """

    classes: int
    runs: tuple[Run, ...]
    shares: FloatArray | None
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        if self.shares is not None:
            return np.tile(self.shares, (1, len(examples), 1))
        draws = np.random.default_rng(self.runs[0].seed).integers(self.classes, size=len(examples))
        return np.eye(self.classes)[draws][None]

    def represent(self, examples: Examples) -> FloatArray:
        return self.probabilities(examples)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about = {"runs": [asdict(run) for run in self.runs], "classes": self.classes}
        return about, {} if self.shares is None else {"shares": self.shares}


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

    def explain(self, examples: Examples, reference: Examples | None = None) -> VertexExplanation:
        """What vertex types and vertices add to the logit of the predicted class of one graph, a class number."""
        return self.model.explain(*_graphs_and_reference(examples, reference, "sizemix"))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.model.state()
        return about | {"runs": [asdict(run) for run in self.runs], "class_count": self.classes}, arrays
