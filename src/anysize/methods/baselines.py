"""Trivial baselines: random, majority, mean, regression on sizes, or on densities of uncolored patterns.

A method that does not beat them uses no more than class shares, graph size or uncolored topology. The last two are
scikit-learn pipelines, with logistic regression for classes and linear regression for numbers; scikit-learn is imported
by what makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anysize._progress import Progress
from anysize._typing import FloatArray, PathLike, TargetKind
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.io.convert import as_graphset
from anysize.methods.method import NO_GRID, Arrays, Examples, Method, Run, Sizes, TrainingData
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MAX_ITERATIONS = 10_000  # far more than the solver needs on standardized features
RIDGE_PENALTIES = np.logspace(-4, 4, 17)  # of standardized densities; leave-one-out errors choose

ClassWeight = str | Mapping[Any, float] | None
BaselineName = Literal["random", "majority", "mean", "size-only", "topology-only"]

# ---- pipelines -----------------------------------------------------------------------------------------


def regression(
    k: Sizes | None = None, predicts: TargetKind = "classes", class_weight: ClassWeight = None
) -> Pipeline:  # fmt: skip
    """Regression on log n or, given k, on the densities (over all subsets) of connected k-vertex patterns, uncolored.

    Classes have logistic regression. Takes graphs or their counts; counts of patterns are summed over colors.

    Examples:
        >>> import networkx as nx
        >>> from anysize import GraphSet
        >>> graphs = GraphSet.from_networkx([nx.gnp_random_graph(12, p, seed=s) for p in (0.2, 0.6) for s in range(5)])
        >>> model = regression(k=3).fit(graphs, ["sparse"] * 5 + ["dense"] * 5)
        >>> model.predict(GraphSet.from_networkx(nx.complete_graph(50))).tolist()
        ['dense']
    """
    features, options = (log_sizes, {}) if k is None else (uncolored_densities, {"k": k})
    return linear_pipeline(features, options, predicts, class_weight, shrunk=k is not None)


def linear_pipeline(
    features: Callable[..., Any], options: Mapping[str, Any], predicts: TargetKind, class_weight: ClassWeight = None,
    C: float = 1.0, shrunk: bool = True,
) -> Pipeline:  # fmt: skip
    """A linear model on standardized features, ``features(graphs, **options)``: of classes logistic regression.

    Of numbers ridge regression, the penalty chosen by leave-one-out errors, or least squares if not ``shrunk``.
    """
    from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    if predicts == "classes":
        model = LogisticRegression(C=C, class_weight=class_weight, max_iter=MAX_ITERATIONS)
    else:
        model = RidgeCV(RIDGE_PENALTIES) if shrunk else LinearRegression()
    first = FunctionTransformer(features, kw_args=dict(options))
    steps = [("features", first), ("scale", StandardScaler()), ("model", model)]
    return Pipeline(steps).set_output(transform="default")  # arrays, whatever a user sets for all of scikit-learn


def fit_pipeline(pipeline: Pipeline, graphs: Any, y: Any, weights: FloatArray | None) -> Pipeline:
    """Fit a `linear_pipeline`; ``weights``: how often each graph counts, once if None."""
    if weights is None:
        return pipeline.fit(graphs, y)
    features, scale, model = (step for _, step in pipeline.steps)  # parameters of a pipeline depend on its routing
    table = features.fit_transform(graphs)
    model.fit(scale.fit(table, sample_weight=weights).transform(table), y, sample_weight=weights)
    return pipeline


def log_sizes(graphs: Any) -> FloatArray:
    """(graphs, 1): log n of graphs or of the graphs of a table of counts; 0 for a graph without vertices."""
    sizes = (graphs if isinstance(graphs, Counts) else as_graphset(graphs)).sizes
    return np.asarray(np.log(np.maximum(sizes, 1))[:, None])


def uncolored_densities(graphs: Any, k: int | Sequence[int]) -> FloatArray:
    """(graphs, patterns): densities of all connected patterns of k vertices, summed over colors."""
    from anysize.counting.api import count

    counts = graphs if isinstance(graphs, Counts) else count(graphs, k, colors=False)
    counts.columns.check_sizes(k)
    catalog = Columns.plain(*np.unique(k).tolist())
    return np.asarray(counts.without_colors().align(catalog).densities("subsets").toarray())


def fitted_arrays(pipeline: Pipeline) -> dict[str, Any]:
    """What the steps of a pipeline learned, as arrays: "step.attribute" -> value."""
    return {
        f"{name}.{attribute}": np.asarray(value)
        for name, step in pipeline.steps
        for attribute, value in vars(step).items()
        if attribute.endswith("_") and value is not None
    }


def restore_arrays(pipeline: Pipeline, arrays: Mapping[str, Any]) -> Pipeline:
    """Give a new pipeline what `fitted_arrays` returned; it then predicts the same."""
    for key, array in arrays.items():
        name, _, attribute = key.partition(".")
        if name not in pipeline.named_steps or not attribute.isidentifier() or not attribute.endswith("_"):
            raise ValueError(f"{key!r:.60} is not something that a step of the pipeline learned")
        setattr(pipeline.named_steps[name], attribute, array if array.ndim else array.item())
    return pipeline


# ---- the learner ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BaselineLearner:
    """Trains a model that ignores the graphs, or uses their sizes or densities of uncolored patterns alone."""

    name: BaselineName

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedPipeline | FittedConstant]:  # fmt: skip
        """Train one model per run."""
        train = data.train
        for run in runs:
            if self.name in ("random", "majority", "mean"):
                yield FittedConstant(data.classes, (run,), self._constant(data))
                continue
            k = run.configuration.get("k", data.k) if self.name == "topology-only" else None
            y: Any = train.labels() if data.classes else train.numbers()
            weights = None if data.class_weights is None else dict(enumerate(data.class_weights))
            pipeline = regression(k, data.predicts, weights)
            fit_pipeline(pipeline, pipeline_input(train, k, data.cache), y, train.weights)
            yield FittedPipeline(pipeline, (run,), data.classes, k)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedPipeline | FittedConstant:
        """A fitted baseline from its state."""
        runs = tuple(Run(**run) for run in about["runs"])
        if self.name in ("random", "majority", "mean"):
            return FittedConstant(about["classes"], runs, arrays.get("shares"))
        k = tuple(about["k"]) if isinstance(about["k"], list) else about["k"]
        pipeline = regression(k, "classes" if about["classes"] else "numbers")
        return FittedPipeline(restore_arrays(pipeline, arrays), runs, about["classes"], k)

    def _constant(self, data: TrainingData) -> FloatArray | None:
        """What every graph gets: class shares, or the mean; None for a random class."""
        if self.name == "mean":
            return np.array([np.average(data.train.numbers(), weights=data.train.weights)])
        amounts = np.bincount(data.train.labels(), data.train.weights, minlength=data.classes)
        return None if self.name == "random" else amounts / amounts.sum()


def pipeline_input(examples: Examples, k: Sizes | None, cache: PathLike | None = None) -> Any:
    """Graphs, or counts of their patterns of k vertices without colors; the table of examples that have no graphs."""
    return examples.graphs if examples.graphs is not None and k is None else examples.counts(k or 0, cache, False)


@dataclass(frozen=True, eq=False)
class FittedPipeline:
    """One fitted pipeline; ``classes``: 0 for numbers; ``k``: the sizes of the patterns that it uses, None for none."""

    pipeline: Pipeline
    runs: tuple[Run, ...]
    classes: int
    k: Sizes | None
    trained: None = None

    def outputs(self, examples: Examples) -> FloatArray:
        full = np.zeros((1, len(examples), self.classes or 1))
        if not len(examples):  # scikit-learn takes no empty input
            return full
        source = pipeline_input(examples, self.k)
        if self.classes:
            full[0][:, self.pipeline.classes_] = self.pipeline.predict_proba(source)
        else:
            full[0][:, 0] = self.pipeline.predict(source)
        return full

    def represent(self, examples: Examples) -> FloatArray:
        return self.outputs(examples)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about = {"runs": [asdict(run) for run in self.runs], "classes": self.classes, "k": self.k}
        return about, fitted_arrays(self.pipeline)


@dataclass(frozen=True, eq=False)
class FittedConstant:
    """A model that ignores the graphs: class shares or the mean of the training graphs, or a random class of each.

    The draw is the same for the same seed and the same number of graphs.
    """

    classes: int
    runs: tuple[Run, ...]
    shares: FloatArray | None
    trained: None = None

    def outputs(self, examples: Examples) -> FloatArray:
        if self.shares is not None:
            return np.tile(self.shares, (1, len(examples), 1))
        draws = np.random.default_rng(self.runs[0].seed).integers(self.classes, size=len(examples))
        return np.eye(self.classes)[draws][None]

    def represent(self, examples: Examples) -> FloatArray:
        return self.outputs(examples)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about = {"runs": [asdict(run) for run in self.runs], "classes": self.classes}
        return about, {} if self.shares is None else {"shares": self.shares}


def _baseline(name: BaselineName, *predicts: TargetKind) -> Method:
    return Method(
        name=name,
        title=name.replace("-", " "),
        learner=BaselineLearner(name),
        kind="baseline",
        predicts=frozenset(predicts),
        grid=NO_GRID,
        seeded=name == "random",
        patterns=name == "topology-only",
        colors=False,
        is_baseline=True,
    )


RANDOM = _baseline("random", "classes")
MAJORITY, MEAN = _baseline("majority", "classes"), _baseline("mean", "numbers")
SIZE_ONLY, TOPOLOGY_ONLY = (_baseline(name, "classes", "numbers") for name in ("size-only", "topology-only"))
BASELINES = (RANDOM, MAJORITY, MEAN, SIZE_ONLY, TOPOLOGY_ONLY)
TRIVIAL: Mapping[TargetKind, tuple[Method, ...]] = {  # what other methods are always compared with
    "classes": (MAJORITY, SIZE_ONLY, TOPOLOGY_ONLY), "numbers": (MEAN, SIZE_ONLY, TOPOLOGY_ONLY),
}  # fmt: skip
