"""Proposition 1, measured: environment invariance of a representation, and errors in and out of distribution.

If a representation has the same value for both graphs of every pair of twins, a classifier that uses it has the same
error out of distribution as in distribution. `invariance_gap` measures the premise, `extrapolation_errors` the
conclusion for predicted classes, `probability_statement` the conclusion as stated, for predicted probabilities.
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
    """Distances between the representations of twins, and between those of different training graphs.

    ``gaps[g]`` = ||Gamma(train g) - Gamma(test g)||; ``spread`` is the mean distance between training graphs of
    different pairs, for comparison.
    """

    gaps: FloatArray
    spread: float

    @property
    def mean(self) -> float:
        """The mean distance of twins; 0 for an E-invariant representation."""
        return float(self.gaps.mean())

    @property
    def ratio(self) -> float:
        """Mean gap / spread: 0 for an E-invariant representation, 1 if twins are as far apart as unrelated graphs."""
        if self.spread > 0:
            return self.mean / self.spread
        return 0.0 if self.mean == 0 else inf


def invariance_gap(
    representation: Callable[[GraphSet], ArrayLike], twins: CausalTwins, norm: float = inf
) -> Invariance:
    """Measure the E-invariance gap of a representation on twins.

    Args:
        representation: a function of a `GraphSet` that returns an array (graphs, dimensions). It is called once, for
            training and test graphs together, so that columns are the same.
        twins: from `sample_twins`.
        norm: order of the norm: infinity as in Theorem 1, 2 for the Euclidean norm, ...

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
            f"representation must return one row per graph: expected {len(both)} rows, got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("the representation has values that are not finite")
    values = values.reshape(len(both), -1)
    train, test = values[: len(twins)], values[len(twins) :]
    shifted = [np.linalg.norm(train - np.roll(train, by, axis=0), norm, axis=1) for by in range(1, len(train))]
    spread = float(np.mean(shifted)) if shifted else 0.0
    return Invariance(np.linalg.norm(train - test, norm, axis=1), spread)


@dataclass(frozen=True)
class ExtrapolationErrors:
    """Error rates in distribution (``validation``) and out of distribution (``test``), with standard errors."""

    validation: float
    test: float
    validation_error: float
    test_error: float

    @property
    def difference(self) -> float:
        """Test error minus validation error."""
        return self.test - self.validation

    def __str__(self) -> str:
        return (
            f"validation error {self.validation:.3f} ± {self.validation_error:.3f}, "
            f"out-of-distribution error {self.test:.3f} ± {self.test_error:.3f}"
        )


def extrapolation_errors(
    predict: Callable[[GraphSet], ArrayLike], validation: GraphSet, test: GraphSet
) -> ExtrapolationErrors:
    """Compare the validation error of a classifier with its out-of-distribution error.

    Args:
        predict: a function of a `GraphSet` that returns one label per graph, or probabilities or scores
            (graphs, classes) of the labels 0, 1, ... .
        validation: labeled graphs from the training environment.
        test: labeled graphs from another environment.

    Examples:
        >>> from anysize.causal.environments import Environment, sample_twins
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> twins = sample_twins(
        ...     [ErdosRenyi(0.2), ErdosRenyi(0.8)], Environment(sizes=(20,)), Environment(sizes=(40,)), 50, seed=0
        ... )
        >>> errors = extrapolation_errors(lambda graphs: graphs.edge_counts > 95, twins.train, twins.test)
        >>> errors.validation, errors.test > 0.4  # edge counts do not extrapolate to larger graphs
        (0.0, True)
    """
    rates = []
    for name, graphs in (("validation", validation), ("test", test)):
        if graphs.y is None or not len(graphs):
            raise ValueError(f"{name} must hold at least one graph, and labels y")
        wrong = float(np.mean(_labels(predict, graphs) != graphs.y))
        rates.append((wrong, sqrt(wrong * (1 - wrong) / len(graphs))))
    return ExtrapolationErrors(rates[0][0], rates[1][0], rates[0][1], rates[1][1])


@dataclass(frozen=True, eq=False)
class ProbabilityStatement:
    """For every class y the share of graphs with |P(Y = y | G) - rho(y, Gamma(G))| <= epsilon, in both environments.

    ``validation`` and ``test`` have one share per class; the statement of Proposition 1 is that both are at least
    1 - delta.
    """

    epsilon: float
    validation: FloatArray
    test: FloatArray

    @property
    def validation_delta(self) -> float:
        """The smallest delta for which the statement holds in distribution."""
        return float(1 - self.validation.min())

    @property
    def test_delta(self) -> float:
        """The smallest delta for which the statement holds out of distribution."""
        return float(1 - self.test.min())


def probability_statement(
    predict_proba: Callable[[GraphSet], ArrayLike],
    posterior: Callable[[GraphSet], ArrayLike],
    validation: GraphSet,
    test: GraphSet,
    epsilon: float = 0.1,
) -> ProbabilityStatement:
    """Measure the statement of Proposition 1 where the posterior is known.

    The proof needs P(Y | training graph) = P(Y | test graph). Twins share W, and the equality holds where either graph
    determines Y; a larger graph determines it better, so that the posterior of small graphs is less certain.

    Args:
        predict_proba: rho(y, Gamma(G)): a function of a `GraphSet` that returns (graphs, classes).
        posterior: P(Y = y | G) in the same form, such as `erdos_renyi_posterior` with its graphons.
        validation: graphs from the training environment; labels are not used.
        test: graphs from another environment.
        epsilon: the distance of probabilities that is allowed.
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0; got {epsilon!r}")
    shares = []
    for graphs in (validation, test):
        if not len(graphs):
            raise ValueError("expected graphs in both sets; one is empty")
        predicted, exact = (np.asarray(f(graphs), np.float64) for f in (predict_proba, posterior))
        if predicted.shape != exact.shape or exact.ndim != 2 or len(exact) != len(graphs):
            raise ValueError(
                f"expected probabilities (graphs, classes) for {len(graphs)} graphs from both functions; "
                f"got the shapes {predicted.shape} and {exact.shape}"
            )
        shares.append(np.asarray((np.abs(predicted - exact) <= epsilon).mean(axis=0)))
    return ProbabilityStatement(epsilon, *shares)


def _labels(predict: Callable[[GraphSet], ArrayLike], graphs: GraphSet) -> NDArray[np.generic]:
    predicted = np.asarray(predict(graphs))
    if predicted.shape[:1] != (len(graphs),) or predicted.ndim > 2:
        raise ValueError(f"expected a prediction for each of {len(graphs)} graphs; got shape {predicted.shape}")
    return predicted if predicted.ndim == 1 else np.asarray(predicted.argmax(axis=1))
