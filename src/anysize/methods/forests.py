"""Random forests on counts: of induced patterns, and of circular neighborhoods (as extended-connectivity fingerprints).

scikit-learn grows the trees and is imported there; arrays of nodes are what is kept, and what predicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, hstack

from anysize._memory import dense
from anysize._progress import Progress
from anysize._schema import arrays_of, check_array, prefixed
from anysize._typing import FloatArray, IntArray, PathLike, TargetKind
from anysize.counting.columns import Columns
from anysize.methods.configuration import whole_number
from anysize.methods.method import (
    EDGE_TYPES,
    Arrays,
    Configuration,
    Examples,
    Method,
    Run,
    TrainingData,
    Validator,
)
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.counting.counts import Counts
    from anysize.kernels.wl import WLKernel

PLAIN_SIZES, COLORED_SIZES = (3, 4, 5), (1, 2, 3)  # vertices of patterns
MIN_GRAPHS = 2  # training graphs that have a feature
PREDICTED_TOGETHER = 512  # graphs
PREFIX = "features."  # of arrays


# ---- trees ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes of all trees, one tree after the other.

    ``feature`` (nodes,): what a node asks for, -1 for a leaf. A graph goes to ``left`` where the feature is at most
    ``threshold``, else to ``right``; both come after the node. ``values`` (nodes, classes or 1): shares of the classes
    of training graphs, or the mean of their numbers. ``roots`` (trees,): the first node of every tree.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    values: FloatArray
    roots: IntArray

    @staticmethod
    def of(forest: Any) -> Trees:
        """The trees of a fitted random forest of scikit-learn, with shares of classes that sum to 1."""
        trees = [estimator.tree_ for estimator in forest.estimators_]
        roots = np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])]).astype(np.int64)
        shift = np.repeat(roots[:-1], np.diff(roots))
        left, right, feature, threshold = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("children_left", "children_right", "feature", "threshold")
        )
        values = np.concatenate([tree.value[:, 0] for tree in trees])
        is_leaf = left < 0
        return Trees(
            np.where(is_leaf, -1, feature),
            threshold,
            np.where(is_leaf, 0, left + shift),
            np.where(is_leaf, 0, right + shift),
            values / values.sum(1, keepdims=True) if hasattr(forest, "classes_") else values,
            roots[:-1],
        )

    def outputs(self, features: FloatArray) -> FloatArray:
        """(graphs, classes or 1): the mean over trees of the values of the leaf that a graph falls into."""
        values = features.astype(np.float32)  # as scikit-learn compares
        node = np.tile(self.roots, (len(values), 1))
        rows, trees = np.nonzero(self.feature[node] >= 0)
        while len(rows):
            now = node[rows, trees]
            goes_left = values[rows, self.feature[now]] <= self.threshold[now]
            node[rows, trees] = np.where(goes_left, self.left[now], self.right[now])
            inner = self.feature[node[rows, trees]] >= 0
            rows, trees = rows[inner], trees[inner]
        return np.asarray(self.values[node].mean(1))

    def state(self) -> Arrays:
        """Arrays by name."""
        return {name: getattr(self, name) for name in ("feature", "threshold", "left", "right", "values", "roots")}

    @staticmethod
    def from_state(arrays: Arrays, width: int, outputs: int) -> Trees:
        """Trees on ``width`` features from what `state` returned."""
        nodes = len(arrays["feature"])
        feature = check_array(arrays["feature"], "feature", "i", (nodes,), -1, width - 1)
        left, right = (check_array(arrays[name], name, "i", (nodes,), 0, nodes - 1) for name in ("left", "right"))
        inner = feature >= 0
        if (np.minimum(left, right)[inner] <= np.flatnonzero(inner)).any():
            raise ValueError("left, right: expected nodes that come after the node above them")
        roots = check_array(arrays["roots"], "roots", "i", (len(arrays["roots"]),), 0, nodes - 1)
        values = check_array(arrays["values"], "values", "f", (nodes, outputs))
        threshold = check_array(arrays["threshold"], "threshold", "f", (nodes,))
        return Trees(feature, threshold, left, right, values, roots)


# ---- features ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """Induced copies of plain patterns of 3 to 5 vertices, and of the patterns of 1 to 3 of training graphs whose
    vertices have colors and edges have types.

    ``colored``: counts of no graphs, with these patterns; None for graphs without colors and types of edges.
    """

    colored: Counts | None

    @staticmethod
    def learn(train: Examples, configuration: Configuration, cache: PathLike | None) -> PatternCounts:
        """What training graphs have."""
        graphs = train.whole("a forest")
        if graphs.colors is None and not graphs.has_edge_types:
            return PatternCounts(None)
        return PatternCounts(replace(train.counts(COLORED_SIZES, cache, edges=True)[:0], y=None, names=None, log=()))

    def of(self, examples: Examples, cache: PathLike | None = None) -> csr_array[np.float64]:
        """(graphs, width)."""
        plain = examples.counts(PLAIN_SIZES, cache, colors=False)
        tables = [plain.align(Columns.plain(*PLAIN_SIZES))]
        if self.colored is not None:
            tables.append(examples.counts(COLORED_SIZES, cache, edges=True).align(self.colored))
        return csr_array(hstack([table.matrix for table in tables], format="csr", dtype=np.float64))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """A JSON-compatible dictionary, and arrays."""
        from anysize.counting.counts_file import to_arrays

        if self.colored is None:
            return {}, {}
        arrays = to_arrays(self.colored)
        return {"columns": json.loads(arrays.pop("about").tobytes())}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> PatternCounts:
        """From what `state` returned."""
        from anysize.counting.counts_file import from_arrays

        return PatternCounts(from_arrays(about["columns"], arrays) if arrays else None)


@dataclass(frozen=True, eq=False)
class CircularCounts:
    """How many vertices have each circular neighborhood: WL types of up to ``radius`` refinements.

    These are the substructures of extended-connectivity fingerprints (ECFP; the radius is half the number in their
    name) for vertex colors as atoms and edge colors as bonds, counted and not hashed.
    """

    kernel: WLKernel

    @staticmethod
    def learn(train: Examples, configuration: Configuration, cache: PathLike | None) -> CircularCounts:
        """What training graphs have."""
        return CircularCounts(train.wl_kernel(configuration["radius"]))

    def of(self, examples: Examples, cache: PathLike | None = None) -> csr_array[np.float64]:
        """(graphs, width)."""
        return self.kernel.transform(examples.refined(self.kernel))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """A JSON-compatible dictionary, and arrays."""
        return self.kernel.state()

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> CircularCounts:
        """From what `state` returned."""
        from anysize.kernels.wl import WLKernel

        return CircularCounts(WLKernel.from_state(about, arrays))


# ---- the learner ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForestLearner:
    """A random forest on counts of what at least two training graphs have."""

    features: type[PatternCounts | CircularCounts]

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedForest]:  # fmt: skip
        """Grow one forest per run."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        weights = None if data.class_weights is None else dict(enumerate(data.class_weights))
        for number, run in enumerate(runs, 1):
            features = self.features.learn(data.train, run.configuration, data.cache)
            table = features.of(data.train, data.cache)
            columns = np.flatnonzero(np.bincount(table.indices, minlength=table.shape[1]) >= MIN_GRAPHS)
            if data.classes:
                forest = RandomForestClassifier(run.configuration["trees"], class_weight=weights, random_state=run.seed)
            else:
                forest = RandomForestRegressor(run.configuration["trees"], random_state=run.seed)
            y = data.train.labels() if data.classes else data.train.numbers()
            forest.fit(_dense(table, columns), y, sample_weight=data.train.weights)
            known = forest.classes_ if data.classes else np.zeros(1, np.int64)
            yield FittedForest(features, columns, Trees.of(forest), known, data.classes, (run,))
            if progress is not None:
                progress(number / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedForest:
        """A fitted forest from what `FittedForest.state` returned."""
        features = self.features.from_state(about["features"], arrays_of(PREFIX, arrays))
        columns = check_array(arrays["columns"], "columns", "i", (None,), 0)
        known = check_array(arrays["known"], "known", "i", (None,), 0, max(about["classes"] - 1, 0))
        trees = Trees.from_state(arrays, len(columns), len(known))
        runs = tuple(Run(**run) for run in about["runs"])
        return FittedForest(features, columns, trees, known, about["classes"], runs)


@dataclass(frozen=True, eq=False)
class FittedForest:
    """One forest. ``columns``: of the features that it uses; ``known``: the classes that have training graphs.

    Of numbers, ``classes`` is 0 and ``known`` is [0].
    """

    features: PatternCounts | CircularCounts
    columns: IntArray
    trees: Trees
    known: IntArray
    classes: int
    runs: tuple[Run, ...]
    trained: None = None

    def outputs(self, examples: Examples) -> FloatArray:
        full = np.zeros((1, len(examples), self.classes or 1))
        table = self.features.of(examples)
        for start in range(0, len(examples), PREDICTED_TOGETHER):
            rows = slice(start, start + PREDICTED_TOGETHER)
            full[0, rows, self.known] = self.trees.outputs(_dense(table[rows], self.columns)).T
        return full

    def represent(self, examples: Examples) -> FloatArray:
        return _dense(self.features.of(examples), self.columns)[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.features.state()
        described = {"features": about, "classes": self.classes, "runs": [asdict(run) for run in self.runs]}
        learned = {"columns": self.columns, "known": self.known}
        return described, prefixed(PREFIX, arrays) | self.trees.state() | learned


def _dense(table: csr_array[np.float64], columns: IntArray) -> FloatArray:
    instead = "pass fewer graphs, or merge vertex colors"
    return dense(csr_array(table[:, columns]), "the table of counts", instead)


def _forest(name: str, title: str, features: type[PatternCounts | CircularCounts], defaults: Configuration) -> Method:
    checks: dict[str, Validator] = {"trees": whole_number}
    both: frozenset[TargetKind] = frozenset({"classes", "numbers"})
    learner = ForestLearner(features)
    return Method(
        name=name, title=title, learner=learner, predicts=both, parameters=checks, defaults=defaults, edges=EDGE_TYPES,
        features="bins",
    )  # fmt: skip


FORESTS = (
    _forest("patterns-forest", "Forest on patterns", PatternCounts, {"trees": 300}),
    _forest("ecfp-forest", "Forest on circular neighborhoods", CircularCounts, {"trees": 300, "radius": 2}),
)
