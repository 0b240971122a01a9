"""Vertex features on the scale of the training graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._schema import fields, list_of, real, text
from anysize._typing import FloatArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners

ROUNDING = 1e-9  # of sums of weights


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """Mean and standard deviation of every vertex feature, over a random vertex of a random training graph.

    Every graph has the same weight, its vertices 1 / n each: large graphs do not decide what is typical, which would
    shift with the sizes of the training graphs.

    Attributes:
        names: of the features; empty if they have none.
        mean, deviation: (features,); the deviation is 0 where all training vertices are alike.
    """

    names: tuple[str, ...]
    mean: FloatArray
    deviation: FloatArray

    @staticmethod
    def of(graphs: GraphSet) -> FeatureScale | None:
        """That of graphs; None if they have no features.

        >>> graphs = GraphSet.from_edges([[(0, 1)], []], n_vertices=[2, 1], features=[[0, 0], [2]])
        >>> scale = FeatureScale.of(graphs)
        >>> scale.mean.tolist(), scale.deviation.tolist(), scale.apply(graphs).ravel().tolist()
        ([1.0], [1.0], [-1.0, -1.0, 1.0])
        """
        values = graphs.features
        if values is None:
            return None
        if not len(values):
            return FeatureScale(graphs.feature_names, np.zeros(values.shape[1]), np.zeros(values.shape[1]))
        weights = vertex_weights(graphs)
        mean = weights @ values
        deviation = np.sqrt(weights @ (values - mean) ** 2)
        varies = values.min(axis=0) < values.max(axis=0)
        return FeatureScale(graphs.feature_names, np.asarray(mean), np.where(varies, deviation, 0.0))

    def apply(self, graphs: GraphSet) -> NDArray[np.float32]:
        """(vertices, features): distances from the mean in standard deviations; 0 for features without deviation.

        Features with names are matched by them. An error if the graphs do not have the features of training.
        """
        values = self._columns(graphs)
        inverse = np.divide(1, self.deviation, out=np.zeros_like(self.deviation), where=self.deviation > 0)
        with np.errstate(over="ignore"):  # a model refuses what is infinite
            return ((values - self.mean) * inverse).astype(np.float32)

    def _columns(self, graphs: GraphSet) -> NDArray[np.float32]:
        """The features in the order of training."""
        width = len(self.mean)
        if graphs.features is None:
            if graphs.first[-1]:
                raise GraphError(
                    f"this model was trained on graphs with vertex features and these have none; give them the same "
                    f"{width}, or train on graphs without (without_features())"
                )
            return np.zeros((0, width), np.float32)
        if self.names and graphs.feature_names:
            missing = [name for name in self.names if name not in graphs.feature_names]
            if missing:
                raise GraphError(
                    f"these graphs lack the vertex feature {missing[0]!r}, which this model was trained on"
                )
            return graphs.features[:, [graphs.feature_names.index(name) for name in self.names]]
        if graphs.features.shape[1] != width:
            raise GraphError(
                f"this model was trained on {width} vertex features and these graphs have {graphs.features.shape[1]}"
            )
        return graphs.features

    def state(self) -> dict[str, Any]:
        """A JSON-compatible dictionary."""
        return {"names": list(self.names), "mean": self.mean.tolist(), "deviation": self.deviation.tolist()}

    @staticmethod
    def from_state(about: Any) -> FeatureScale:
        """What `state` returned; a ValueError for anything else."""
        state = _STATE(about, "features")
        width = len(state["mean"])
        if len(state["deviation"]) != width or len(state["names"]) not in (0, width):
            raise ValueError("features: expected a mean, a deviation and a name, or no names, for every feature")
        return FeatureScale(tuple(state["names"]), np.array(state["mean"]), np.array(state["deviation"]))


_STATE = fields({"names": list_of(text()), "mean": list_of(real()), "deviation": list_of(real(0))})


def vertex_weights(graphs: GraphSet) -> FloatArray:
    """(vertices,): 1 / n for the vertices of a graph with n, divided by the number of graphs that have vertices."""
    shares = (1 / np.maximum(graphs.sizes, 1))[owners(graphs.first)]
    return np.asarray(shares / max(int((graphs.sizes > 0).sum()), 1))


def weighted_quantiles(values: NDArray[Any], weights: FloatArray, shares: FloatArray) -> FloatArray:
    """(columns, shares): the smallest value of each column that at least such a share of the weight does not exceed.

    >>> weighted_quantiles(np.array([[1], [2], [9]]), np.array([0.5, 0.25, 0.25]), np.array([0.5, 0.6])).tolist()
    [[1.0, 2.0]]
    """
    rows = []
    for column in values.T:
        order = np.argsort(column, kind="stable")
        reached = np.searchsorted(np.cumsum(weights[order]), shares - ROUNDING)
        rows.append(column[order[np.minimum(reached, len(order) - 1)]])
    return np.array(rows, np.float64).reshape(values.shape[1], len(shares))
