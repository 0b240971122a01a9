"""Proposition 1 as a measurement: how invariant a representation is to the environment, and what that does to errors.

If a representation gives twins the same value, whatever is predicted from it errs out of distribution exactly as
often as in distribution. Both sides of this sentence can be measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._typing import FloatArray
from anysize.causal.environments import CausalTwins
from anysize.graphs.graphset import GraphSet


@dataclass(frozen=True, eq=False)
class Invariance:
    """Distances between the representations of twins, beside those between different training graphs.

    ``gaps[g]`` = ||Gamma(train g) - Gamma(test g)||; ``spread`` is the mean distance between two training graphs of
    different pairs, the scale on which a gap is large or small.
    """

    gaps: FloatArray
    spread: float

    @property
    def mean(self) -> float:
        """The mean distance of twins: 0 for an E-invariant representation."""
        return float(self.gaps.mean())

    @property
    def ratio(self) -> float:
        """The mean gap on the scale of the spread: 0 is E-invariant, 1 no nearer than unrelated training graphs."""
        if self.spread > 0:
            return self.mean / self.spread
        return 0.0 if self.mean == 0 else inf


def invariance_gap(
    representation: Callable[[GraphSet], ArrayLike], twins: CausalTwins, norm: float = inf
) -> Invariance:
    """Measure the E-invariance gap of any representation on twins.

    Args:
        representation: takes a `GraphSet`, gives an array (graphs, dimensions). It is called once, on training
            and test graphs together, so that the columns of tables agree.
        twins: from `sample_twins`.
        norm: infinity for the norm of Theorem 1, 2 for the Euclidean one, or any other order.

    Examples:
        >>> from anysize.causal.environments import Environment, sample_twins
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> twins = sample_twins(ErdosRenyi(0.5), Environment(sizes=(20,)), Environment(sizes=(40,)), 5, seed=0)
        >>> invariance_gap(lambda graphs: graphs.sizes, twins).mean
        20.0
    """
    both = GraphSet.concatenate([twins.train, twins.test])
    values = np.asarray(representation(both), np.float64)
    if values.shape[:1] != (len(both),):
        raise ValueError(
            f"a representation gives one row per graph: expected {len(both)} rows, got an array of shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("this representation has values that are not finite numbers")
    values = values.reshape(len(both), -1)
    train, test = values[: len(twins)], values[len(twins) :]
    shifted = [np.linalg.norm(train - np.roll(train, by, axis=0), norm, axis=1) for by in range(1, len(train))]
    spread = float(np.mean(shifted)) if shifted else 0.0
    return Invariance(np.linalg.norm(train - test, norm, axis=1), spread)


@dataclass(frozen=True)
class Errors:
    """Shares of wrong predictions in distribution (``validation``) and out of it (``test``), with standard errors."""

    validation: float
    test: float
    validation_error: float
    test_error: float

    @property
    def difference(self) -> float:
        """How much worse it is out of distribution."""
        return self.test - self.validation

    @property
    def standard_error(self) -> float:
        """Of the difference, for sets drawn independently."""
        return sqrt(self.validation_error**2 + self.test_error**2)

    def __str__(self) -> str:
        return (
            f"validation error {self.validation:.3f} ± {self.validation_error:.3f}, "
            f"out-of-distribution error {self.test:.3f} ± {self.test_error:.3f}"
        )


def extrapolation_errors(predict: Callable[[GraphSet], ArrayLike], validation: GraphSet, test: GraphSet) -> Errors:
    """The validation error of a classifier beside its out-of-distribution error.

    Args:
        predict: takes a `GraphSet`, gives one label per graph, or probabilities or scores (graphs, classes) of
            the labels 0, 1, ... .
        validation: graphs with labels, from the environment of training.
        test: graphs with labels, from another environment.

    Examples:
        >>> from anysize.causal.environments import Environment, sample_twins
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> twins = sample_twins(
        ...     [ErdosRenyi(0.2), ErdosRenyi(0.8)], Environment(sizes=(20,)), Environment(sizes=(40,)), 50, seed=0
        ... )
        >>> many = extrapolation_errors(lambda graphs: graphs.edge_counts > 95, twins.train, twins.test)
        >>> many.validation, many.test > 0.4  # counts of edges do not carry over to larger graphs
        (0.0, True)
    """
    rates = []
    for name, graphs in (("validation", validation), ("test", test)):
        if graphs.y is None or not len(graphs):
            raise ValueError(f"the {name} graphs need labels y, and there must be some")
        wrong = float(np.mean(_labels(predict, graphs) != graphs.y))
        rates.append((wrong, sqrt(wrong * (1 - wrong) / len(graphs))))
    return Errors(rates[0][0], rates[1][0], rates[0][1], rates[1][1])


def _labels(predict: Callable[[GraphSet], ArrayLike], graphs: GraphSet) -> NDArray[np.generic]:
    told = np.asarray(predict(graphs))
    if told.shape[:1] != (len(graphs),) or told.ndim > 2:
        raise ValueError(f"expected a prediction for each of {len(graphs)} graphs; got an array of shape {told.shape}")
    return told if told.ndim == 1 else np.asarray(told.argmax(axis=1))
