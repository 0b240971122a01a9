"""Logistic regression on whitened densities of patterns without colors: a linear model of topology alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from anysize._progress import Progress
from anysize._typing import FloatArray
from anysize.methods.evidence import one_against_rest
from anysize.methods.method import Arrays, Examples, LearningTask, Run, Sizes, sizes_of
from anysize.training.settings import Recipe
from anysize.training.whitening import Whitening, fit_whitening


@dataclass(frozen=True)
class DensityRegressionMethod:
    """Trains one class-balanced logistic regression per run; classes against the rest where there are several."""

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedDensityRegression]:  # fmt: skip
        """Train the runs; results do not depend on the seed."""
        from anysize.methods.sizemix import fit_balanced_regression

        y = problem.train.labels()
        weights = 1 / np.bincount(y, minlength=problem.classes)[y]
        for done, run in enumerate(runs, 1):
            k = sizes_of(run.configuration, problem.k)
            table = _densities(problem.train, k, problem.cache)
            whitening = fit_whitening(table, weights)
            features = whitening.apply(table)
            targets = range(problem.classes) if problem.classes > 2 else (1,)
            rows = [fit_balanced_regression(features, (y == target).astype(np.int64)) for target in targets]
            coefficients, intercepts = np.stack([row[0] for row in rows]), np.array([row[1] for row in rows])
            yield FittedDensityRegression(whitening, coefficients, intercepts, (run,), k)
            if progress is not None:
                progress(done / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedDensityRegression:
        """A fitted regression from what `FittedDensityRegression.state` returned."""
        k = about["k"] if isinstance(about["k"], int) else tuple(about["k"])
        whitening = Whitening(arrays["mean"], arrays["matrix"])
        runs = tuple(Run(**run) for run in about["runs"])
        return FittedDensityRegression(whitening, arrays["coefficients"], arrays["intercepts"], runs, k)


def _densities(examples: Examples, k: Sizes, cache: Any = None) -> FloatArray:
    """(graphs, patterns) over subsets; zeros for graphs with fewer than k vertices."""
    return np.nan_to_num(examples.counts(k, cache, colors=False).densities("subsets").toarray())


@dataclass(frozen=True, eq=False)
class FittedDensityRegression:
    """One fitted regression: logits are whitened densities @ coefficients + intercepts."""

    whitening: Whitening
    coefficients: FloatArray
    intercepts: FloatArray
    runs: tuple[Run, ...]
    k: Sizes
    trained: None = None

    def represent(self, examples: Examples) -> FloatArray:
        return self.whitening.apply(_densities(examples, self.k))[None]

    def probabilities(self, examples: Examples) -> FloatArray:
        found = one_against_rest(self.represent(examples)[0] @ self.coefficients.T + self.intercepts)
        return np.asarray(found / found.sum(axis=1, keepdims=True))[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {
            "mean": self.whitening.mean, "matrix": self.whitening.matrix,
            "coefficients": self.coefficients, "intercepts": self.intercepts,
        }  # fmt: skip
        return {"k": self.k, "runs": [asdict(run) for run in self.runs]}, arrays
