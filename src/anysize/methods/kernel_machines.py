"""Kernel machines: support vector machines on the Weisfeiler-Lehman and the graphlet kernel, one model per run.

scikit-learn is imported by what trains or restores a model: the catalog of methods does without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anysize._memory import dense
from anysize._progress import Progress
from anysize._typing import FloatArray, PathLike
from anysize.graphs.attributes import DIRECTIONS, EDGE_COLORS
from anysize.methods.configuration import positive, whole_number
from anysize.methods.method import FAMILIES, Arrays, Examples, Grid, Method, Run, Sizes, TrainingData
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.kernels.explanation import VertexExplanation
    from anysize.kernels.svm import KernelClassifier
    from anysize.kernels.wl import WLKernel

WL = "the WL kernel"  # in messages


@dataclass(frozen=True)
class KernelLearner:
    """Trains a support vector machine on the WL or the graphlet kernel; C and the iterations come with the run."""

    kernel: Literal["wl", "graphlet"]

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedKernel]:  # fmt: skip
        """Train one machine per run; graphs are refined once for the WL kernels of all runs."""
        from anysize.kernels.graphlet import GraphletKernel
        from anysize.kernels.svm import KernelClassifier
        from anysize.kernels.wl import WLKernel

        weights = None if data.class_weights is None else dict(enumerate(data.class_weights))
        deepest = None
        if self.kernel == "wl":
            deepest = WLKernel(max((_iterations(run) for run in runs), default=0)).fit(data.train.whole(WL))
        for number, run in enumerate(runs, 1):
            vocabulary = None
            if deepest is not None:
                kernel: Any = WLKernel(_iterations(run))
                source: Sizes | WLKernel = deepest
            else:
                k: Any = run.configuration.get("k", data.k)
                kernel, source = GraphletKernel(k=k, top=data.top), k
                if data.validation is not None and data.top is not None:
                    vocabulary = _kernel_input(data.validation, source, data.cache)
            machine = KernelClassifier(kernel, C=run.configuration.get("C", 1.0), class_weight=weights)
            machine.fit(_kernel_input(data.train, source, data.cache), data.train.labels(), vocabulary)
            yield FittedKernel(machine, (run,), source, data.classes)
            if progress is not None:
                progress(number / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedKernel:
        """A trained machine from what `FittedKernel.state` returned."""
        from anysize.kernels.svm import KernelClassifier

        machine = KernelClassifier.from_state(about, arrays)
        runs = tuple(Run(**run) for run in about["runs"])
        source = machine.kernel_ if self.kernel == "wl" else machine.kernel_.k
        return FittedKernel(machine, runs, source, len(machine.classes_))


def _iterations(run: Run) -> int:
    return int(run.configuration.get("iterations", 3))


def _kernel_input(examples: Examples, source: Sizes | WLKernel, cache: PathLike | None = None) -> Any:
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

    def represent(self, examples: Examples) -> FloatArray:
        features = self.machine.kernel_.transform(_kernel_input(examples, self.source))
        return dense(features, "the table of features", "pass fewer graphs at a time")[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.machine.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # the paper's, for every task
WL_GRID: Mapping[str, Grid] = {f: {"iterations": (3,) if f == "tu" else (1, 2, 3, 4), "C": C_GRID} for f in FAMILIES}
GRAPHLET_GRID: Mapping[str, Grid] = {
    family: {"k": (4, 5), "C": C_GRID} if family == "brain" else {"C": C_GRID} for family in FAMILIES
}

KERNEL_METHODS = (
    Method(
        name="wl-kernel",
        title="WL kernel",
        learner=KernelLearner("wl"),
        kind="kernel",
        grid=WL_GRID,
        defaults={"iterations": 3, "C": 1.0},
        parameters={"C": positive, "iterations": whole_number},
        seeded=False,
        edges=frozenset({EDGE_COLORS, DIRECTIONS}),
        in_paper=True,
    ),
    Method(
        name="gc-kernel",
        title="GC kernel",
        learner=KernelLearner("graphlet"),
        kind="kernel",
        grid=GRAPHLET_GRID,
        defaults={"C": 1000.0},
        parameters={"C": positive},
        seeded=False,
        patterns=True,
        in_paper=True,
    ),
)
