"""Baselines as scikit-learn pipelines: logistic regression on sizes, or on densities of uncolored patterns.

A method that does not beat them uses no more than graph size or uncolored topology.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from anysize._typing import FloatArray
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import connected_patterns

MAX_ITERATIONS = 10_000  # far more than the solver needs on standardized features

ClassWeight = str | Mapping[Any, float] | None


def size_only(class_weight: ClassWeight = None) -> Pipeline:
    """Logistic regression on the logarithm of the number of vertices. Takes graphs, or their counts.

    Examples:
        >>> from anysize import GraphSet
        >>> small, large = [(0, 1)], [(i, i + 1) for i in range(9)]
        >>> graphs = GraphSet.from_edges([small] * 5 + [large] * 5)
        >>> size_only().fit(graphs, ["small"] * 5 + ["large"] * 5).predict(graphs[4:6]).tolist()
        ['small', 'large']
    """
    return logistic(log_sizes, class_weight)


def topology_only(k: int | Sequence[int] = 5, class_weight: ClassWeight = None) -> Pipeline:
    """Logistic regression on the densities (over all subsets) of connected k-vertex patterns, ignoring colors.

    Takes graphs, or counts of patterns of k vertices, which are summed over colors.

    Examples:
        >>> import networkx as nx
        >>> from anysize import GraphSet
        >>> graphs = [nx.gnp_random_graph(12, p, seed=seed) for p in (0.2, 0.6) for seed in range(5)]
        >>> model = topology_only(k=3).fit(GraphSet.from_networkx(graphs), ["sparse"] * 5 + ["dense"] * 5)
        >>> model.predict(GraphSet.from_networkx(nx.complete_graph(50))).tolist()
        ['dense']
    """
    return logistic(uncolored_densities, class_weight, k=k)


def logistic(features: Callable[..., Any], class_weight: ClassWeight, C: float = 1.0, **options: Any) -> Pipeline:
    """Logistic regression on standardized features, ``features(graphs, **options)``."""
    classifier = LogisticRegression(C=C, class_weight=class_weight, max_iter=MAX_ITERATIONS)
    first = FunctionTransformer(features, kw_args=options)
    steps = [("features", first), ("scale", StandardScaler()), ("classifier", classifier)]
    return Pipeline(steps).set_output(transform="default")  # arrays, whatever a user sets for all of scikit-learn


def log_sizes(graphs: Any) -> FloatArray:
    """(graphs, 1): log n of graphs or of the graphs of a table of counts; 0 for a graph without vertices."""
    sizes = (graphs if isinstance(graphs, Counts) else as_graphset(graphs)).sizes
    return np.asarray(np.log(np.maximum(sizes, 1))[:, None])


def uncolored_densities(graphs: Any, k: int | Sequence[int]) -> FloatArray:
    """(graphs, patterns): densities of all connected patterns of k vertices, summed over colors."""
    counts = graphs if isinstance(graphs, Counts) else count(graphs, k, colors=False)
    counts.columns.check_sizes(k)
    known = [pattern for size in np.unique(k).tolist() for pattern in connected_patterns(size)]
    return np.asarray(counts.without_colors().align(known).densities("subsets").toarray())


# ---- state without pickle --------------------------------------------------------------------------


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
