"""Held-out scores of predicted numbers, with the protocols of `anysize.estimators.held_out`, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.estimators.held_out import MODEL, STANDARD_ERRORS, Protocol, deadline_of, divisions, is_late, log_ratio
from anysize.graphs.graphset import GraphSet
from anysize.methods.evidence import effective_number
from anysize.methods.regression import TRIVIAL, FittedRegression
from anysize.metrics import regression_metrics, rmse


@dataclass(frozen=True)
class RegressionScores:
    """Scores on held-out training graphs under one protocol.

    Attributes:
        protocol: "same sizes" or "larger graphs". graphs: how many were predicted.
        scores: "model" and baselines -> RMSE. errors: their standard errors.
        ahead: baseline -> the mean squared error of the baseline minus that of the model, and the standard error of
            this difference, paired by graphs.
        metrics: all metrics of the model that are defined, see `anysize.metrics.regression_metrics`.
        size_ratio: geometric mean size of the predicted graphs by that of the graphs that were fitted to.
    """

    protocol: Protocol
    graphs: int
    scores: Mapping[str, float]
    errors: Mapping[str, float]
    ahead: Mapping[str, tuple[float, float]]
    metrics: Mapping[str, float]
    size_ratio: float

    @property
    def doubt(self) -> str | None:
        """A sentence unless the model is two standard errors ahead of every baseline."""
        where = (
            "training graphs that the model was not fitted to"
            if self.protocol == "same sizes"
            else "the larger training graphs, after fitting to the smaller ones"
        )
        for name, (difference, error) in self.ahead.items():
            if difference <= STANDARD_ERRORS * error:
                return (
                    f"on {where}, the RMSE is {self.scores[MODEL]:.3g} (standard error {self.errors[MODEL]:.2g}, "
                    f"{self.graphs} graphs), which is not clearly below that of {name} ({self.scores[name]:.3g})"
                )
        return None


@dataclass(frozen=True)
class RegressionVerdict:
    """RMSE of a model and of the baselines "mean" and "size-only" (linear in log n), fitted to the same graphs.

    Attributes:
        train: on the training graphs, by name: "model" and the baselines.
        held_out: scores on training graphs that the method was not fitted to, by protocol; empty if not measured.
        doubt: why the model should not be trusted, in one sentence; None if nothing shows a reason.
    """

    train: Mapping[str, float]
    held_out: tuple[RegressionScores, ...] = ()
    doubt: str | None = None


def judge(
    model: FittedRegression, graphs: GraphSet, y: FloatArray, weights: FloatArray | None,
    held_out: tuple[RegressionScores, ...],
) -> RegressionVerdict:  # fmt: skip
    """The verdict on a model; baselines themselves are never doubted."""
    models = {MODEL: model} | {name: method.fit(graphs, y, weights) for name, method in TRIVIAL.items()}
    train = {name: rmse(y, each.predict(graphs), weights) for name, each in models.items()}
    doubt = next((scores.doubt for scores in held_out if scores.doubt is not None), None)
    if (y == y[0]).all():
        doubt = f"all {len(y)} training graphs have the target {y[0]:g}: there is nothing to learn from them"
    return RegressionVerdict(train, held_out, None if isinstance(model, tuple(TRIVIAL.values())) else doubt)


def held_out_regression(
    method: type[FittedRegression], graphs: GraphSet, y: FloatArray, weights: FloatArray | None, fit_seconds: float,
    max_seconds: float | None,
) -> tuple[RegressionScores, ...]:  # fmt: skip
    """The scores of a method under each protocol that the training graphs and the time allow.

    ``weights``: how often each graph counts, in fitting and in scores; a graph of weight 2 is no two graphs in standard
    errors. ``fit_seconds``: that fitting to all graphs took. ``max_seconds``: to spend; by default 1.25 times as long
    as the fit, and 3 seconds if that is less.
    """
    deadline, sizes = deadline_of(fit_seconds, max_seconds), graphs.sizes
    scores = []
    for protocol, parts in divisions(sizes, np.zeros(len(y), np.int64), weights, 0, fit_seconds, deadline):
        judged: list[IntArray] = []
        predicted: dict[str, list[FloatArray]] = {name: [] for name in (MODEL, *TRIVIAL)}
        ratios = []
        for fitted, rows in parts:
            if len(fitted) < 2 or not len(rows) or is_late(fit_seconds * len(fitted) / len(y), deadline):
                continue
            for name, each in {MODEL: method, **TRIVIAL}.items():
                fitted_weights = None if weights is None else weights[fitted]
                predicted[name].append(each.fit(graphs[fitted], y[fitted], fitted_weights).predict(graphs[rows]))
            judged.append(rows)
            ratios.append(log_ratio(sizes[rows], sizes[fitted]))
        if sum(map(len, judged)) > 1:
            by_name = {name: np.concatenate(values) for name, values in predicted.items()}
            ratio = float(np.exp(np.average(ratios, weights=list(map(len, judged)))))
            order = np.concatenate(judged)
            of_judged = np.ones(len(order)) if weights is None else weights[order]
            scores.append(_scores(protocol, y[order], of_judged, by_name, ratio))
    return tuple(scores)


def _scores(
    protocol: Protocol, y: FloatArray, weights: FloatArray, by_name: Mapping[str, FloatArray], ratio: float
) -> RegressionScores:
    squares = {name: (predicted - y) ** 2 for name, predicted in by_name.items()}
    rmses = {name: rmse(y, predicted, weights) for name, predicted in by_name.items()}
    errors = {name: _standard_error(square, weights) / max(2 * rmses[name], 1e-300) for name, square in squares.items()}
    ahead = {}
    for name, square in squares.items():
        if name != MODEL:
            difference = square - squares[MODEL]
            ahead[name] = float(np.average(difference, weights=weights)), _standard_error(difference, weights)
    return RegressionScores(
        protocol, len(y), rmses, errors, ahead, regression_metrics(y, by_name[MODEL], weights), ratio
    )  # fmt: skip


def _standard_error(values: FloatArray, weights: FloatArray) -> float:
    squares = (values - np.average(values, weights=weights)) ** 2
    return float(np.sqrt(np.average(squares, weights=weights) / max(effective_number(weights) - 1, 1e-9)))
