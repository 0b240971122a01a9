"""Kernel machines on the Weisfeiler-Lehman and the graphlet kernel, one model per run.

Support vector machines predict classes, kernel ridge regression numbers.

scikit-learn is imported by what trains or restores a model: the catalog of methods does without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anysize._memory import dense
from anysize._progress import Progress
from anysize._schema import is_integer
from anysize._typing import FloatArray, PathLike
from anysize.graphs.colors import ColorName
from anysize.methods.configuration import positive, whole_number
from anysize.methods.method import EDGE_TYPES, FAMILIES, Arrays, Examples, Grid, Method, Run, Sizes, TrainingData
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.kernels.explanation import VertexExplanation
    from anysize.kernels.ridge import KernelRidge
    from anysize.kernels.svm import KernelClassifier
    from anysize.kernels.wl import WLKernel

WL = "the WL kernel"  # in messages


@dataclass(frozen=True)
class KernelLearner:
    """Trains a machine on the WL or the graphlet kernel; C (for classes) and the iterations come with the run.

    ``padded``: the WL kernel has the effect of zero padding (`WLKernel`), for the ``padding_color`` of the run or else
    the first color of the training graphs.
    """

    kernel: Literal["wl", "graphlet"]
    padded: bool = False

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedKernel | FittedRidge]:  # fmt: skip
        """Train one machine per run; graphs are refined once for the WL kernels of all runs with one padding color."""
        from anysize.kernels.graphlet import GraphletKernel
        from anysize.kernels.ridge import KernelRidge
        from anysize.kernels.svm import KernelClassifier
        from anysize.kernels.wl import WLKernel

        weights = None if data.class_weights is None else dict(enumerate(data.class_weights))
        deepest: dict[ColorName | None, WLKernel] = {}
        for number, run in enumerate(runs, 1):
            vocabulary = None
            if self.kernel == "wl":
                color = self._padding_color(run, data.train)
                if color not in deepest:
                    most = max(map(_iterations, runs))
                    deepest[color] = data.train.wl_kernel(most, color)
                kernel: Any = WLKernel(_iterations(run), padding_color=color)
                source: Sizes | WLKernel = deepest[color]
            else:
                k: Any = run.configuration.get("k", data.k)
                kernel, source = GraphletKernel(k=k, top=data.top), k
                if data.validation is not None and data.top is not None:
                    vocabulary = _kernel_input(data.validation, source, data.cache)
            features = _kernel_input(data.train, source, data.cache)
            if data.classes:
                machine = KernelClassifier(kernel, C=run.configuration.get("C", 1.0), class_weight=weights)
                machine.fit(features, data.train.labels(), vocabulary, data.train.weights)
                yield FittedKernel(machine, (run,), source, data.classes)
            else:
                ridge = KernelRidge.fit(kernel, features, data.train.numbers(), data.train.weights)
                yield FittedRidge(ridge, (run,), source)
            if progress is not None:
                progress(number / len(runs))

    def _padding_color(self, run: Run, train: Examples) -> ColorName | None:
        if not self.padded:
            return None
        palette = train.whole(WL).palette
        return run.configuration.get("padding_color", palette[0] if palette else None)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedKernel | FittedRidge:
        """A trained machine from what `FittedKernel.state` or `FittedRidge.state` returned."""
        from anysize.kernels.ridge import KernelRidge
        from anysize.kernels.svm import KernelClassifier

        runs = tuple(Run(**run) for run in about["runs"])
        if "classes" not in about:
            ridge = KernelRidge.from_state(about, arrays)
            return FittedRidge(ridge, runs, self._source(ridge.kernel))
        machine = KernelClassifier.from_state(about, arrays)
        return FittedKernel(machine, runs, self._source(machine.kernel_), len(machine.classes_))

    def _source(self, kernel: Any) -> Sizes | WLKernel:
        return kernel if self.kernel == "wl" else kernel.k  # type: ignore[no-any-return]


def _iterations(run: Run) -> int:
    return int(run.configuration.get("iterations", 3))


def _kernel_input(examples: Examples, source: Sizes | WLKernel, cache: PathLike | None = None) -> Any:
    """Counts of patterns of these sizes, or graphs refined by this WL kernel."""
    from anysize.kernels.wl import WLKernel

    return examples.refined(source) if isinstance(source, WLKernel) else examples.counts(source, cache, edges=True)


@dataclass(frozen=True, eq=False)
class FittedMachine(ABC):
    """One trained machine.

    ``source``: the sizes of patterns to count, or the WL kernel that refines graphs: that of the machine, or a deeper
    one that it shares with the machines of other runs.
    """

    machine: Any
    runs: tuple[Run, ...]
    source: Sizes | WLKernel

    trained = None

    @property
    @abstractmethod
    def kernel(self) -> Any:
        """The fitted kernel."""

    def represent(self, examples: Examples) -> FloatArray:
        features = self.kernel.transform(_kernel_input(examples, self.source))
        return dense(features, "the table of features", "pass fewer graphs at a time")[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.machine.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


@dataclass(frozen=True, eq=False)
class FittedRidge(FittedMachine):
    """One kernel ridge regression, which predicts numbers."""

    machine: KernelRidge

    @property
    def kernel(self) -> Any:
        return self.machine.kernel

    def outputs(self, examples: Examples) -> FloatArray:
        return self.machine.predict(_kernel_input(examples, self.source))[None, :, None]


@dataclass(frozen=True, eq=False)
class FittedKernel(FittedMachine):
    """One support vector machine; ``classes``: all of the task."""

    machine: KernelClassifier
    classes: int

    @property
    def kernel(self) -> Any:
        return self.machine.kernel_

    def outputs(self, examples: Examples) -> FloatArray:
        """Calibrated margins, see `KernelClassifier.predict_proba`."""
        chances = self.machine.predict_proba(_kernel_input(examples, self.source))
        full = np.zeros((1, len(chances), self.classes))
        full[0][:, self.machine.classes_] = chances
        return full

    def margins(self, examples: Examples) -> FloatArray:
        """(1, graphs, classes): the mean margin of each class over its pairs, by which graphs are ranked.

        Classes without training graphs come last.
        """
        by_pair = self.machine.decision_function(_kernel_input(examples, self.source))
        known = self.machine.classes_
        margins = np.full((1, len(by_pair), self.classes), -np.inf)
        margins[0][:, known] = 0.0
        for pair, (first, second) in enumerate(combinations(known, 2)):
            margins[0, :, first] += by_pair[:, pair] / (len(known) - 1)
            margins[0, :, second] -= by_pair[:, pair] / (len(known) - 1)
        return margins

    @property
    def explains(self) -> bool:
        """Whether the kernel has vertex types to explain a prediction by: the WL kernel has."""
        from anysize.kernels.wl import WLKernel

        return isinstance(self.source, WLKernel)

    def explain(self, examples: Examples, reference: Examples | None = None) -> VertexExplanation:
        """What vertex types and vertices add to the margin of the predicted class of one graph, a class number."""
        return self.machine.explain(examples.whole(WL), None if reference is None else reference.whole(WL))


def color(name: str, value: Any) -> ColorName:
    """The value as the name of a color."""
    if not isinstance(value, str) and not is_integer(value):
        raise ValueError(f"{name} must be the name of a color, a string or a whole number; got {value!r}")
    return value if isinstance(value, str) else int(value)


C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # the paper's, for every task
WL_GRID: Mapping[str, Grid] = {f: {"iterations": (3,) if f == "tu" else (1, 2, 3, 4), "C": C_GRID} for f in FAMILIES}
# With zero padding, iterations from 2 on give the published rows. Label 0 of the published block models is red, that of
# real graphs their smallest label.
PADDED_GRID: Mapping[str, Grid] = {
    family: {**grid, "iterations": (3,) if family == "tu" else (2, 3, 4)} for family, grid in WL_GRID.items()
} | {"sbm": {"padding_color": ("red",), "iterations": (2, 3, 4), "C": C_GRID}}
GRAPHLET_GRID: Mapping[str, Grid] = {
    family: {"k": (4, 5), "C": C_GRID} if family == "brain" else {"C": C_GRID} for family in FAMILIES
}


def _kernel_method(**fields: Any) -> Method:
    """A kernel machine; in the paper it minimizes its own loss, without class weights, and C is selected by
    accuracy.
    """
    return Method(
        kind="kernel", predicts=frozenset({"classes", "numbers"}), seeded=False, weighted_in_paper=False,
        selection_metric="accuracy", edges=EDGE_TYPES, features="bins", **fields,
    )  # fmt: skip


KERNEL_METHODS = (
    _kernel_method(
        name="wl-kernel-padded",
        title="WL, padded",
        learner=KernelLearner("wl", padded=True),
        grid=PADDED_GRID,
        defaults={"iterations": 3, "C": 1.0},
        parameters={"C": positive, "iterations": whole_number, "padding_color": color},
        in_paper=True,
    ),
    _kernel_method(
        name="wl-kernel",
        title="WL kernel",
        learner=KernelLearner("wl"),
        grid=WL_GRID,
        defaults={"iterations": 3, "C": 1.0},
        parameters={"C": positive, "iterations": whole_number},
    ),
    _kernel_method(
        name="gc-kernel",
        title="GC kernel",
        learner=KernelLearner("graphlet"),
        grid=GRAPHLET_GRID,
        defaults={"C": 1000.0},
        parameters={"C": positive},
        patterns=True,
        in_paper=True,
    ),
)
