"""Methods that predict a number per graph: SizeMix, ridge regression on the WL kernel, and two trivial baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from anysize._schema import check_array, fields, real, text
from anysize._typing import FloatArray
from anysize.graphs.attributes import DIRECTIONS, EDGE_COLORS, VERTEX_COLORS
from anysize.graphs.graphset import GraphSet
from anysize.methods.method import Arrays
from anysize.methods.ridge import dual_ridge, eigenvectors
from anysize.methods.sizemix_regression import SizeMixRegression, arrays_of, log_numbers

if TYPE_CHECKING:
    from anysize.kernels.wl import WLKernel

MEAN, SIZE_ONLY = "mean", "size-only"
WL_ITERATIONS = 3


class FittedRegression(Protocol):
    """What a regression method learned; ``state`` is for model files."""

    @staticmethod
    def fit(graphs: GraphSet, y: FloatArray, weights: FloatArray | None = None) -> FittedRegression:
        """Learn from training graphs with finite targets; ``weights``: how often each graph counts, once if None."""

    def predict(self, graphs: GraphSet) -> FloatArray:
        """(graphs,)."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """A dictionary for JSON, and arrays."""

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> FittedRegression:
        """The model from what `state` gave."""


@dataclass(frozen=True, eq=False)
class WLRidge:
    """Kernel ridge regression on the Weisfeiler-Lehman kernel with 3 iterations.

    The kernel counts vertices of every type, so that predictions are sums over vertices. The penalty is chosen by
    leave-one-out errors. ``weights``: (types,).
    """

    kernel: WLKernel
    weights: FloatArray
    intercept: float

    @staticmethod
    def fit(graphs: GraphSet, y: FloatArray, weights: FloatArray | None = None) -> WLRidge:
        """Solve for the coefficients of the training graphs; weights of types are their sums."""
        from anysize.kernels.gram import gram
        from anysize.kernels.wl import WLKernel

        kernel = WLKernel(iterations=WL_ITERATIONS)
        counts = kernel.fit_transform(graphs)
        repeats = np.ones(len(y)) if weights is None else weights
        mean = np.average(y, weights=repeats)
        products = gram(counts)
        means = np.average(products, axis=0, weights=repeats)
        products += repeats @ products @ repeats / repeats.sum() ** 2 - means - means[:, None]
        scale = float(np.average(np.diag(products), weights=repeats))
        center = np.asarray(counts.T @ repeats) / repeats.sum()
        coefficients = np.zeros(counts.shape[1])
        if scale > 1e-9 * float(center @ center):
            root = np.sqrt(repeats)
            vectors, squares = eigenvectors(products * np.outer(root, root) / scale)
            alpha = root * dual_ridge(vectors, squares, (root * (y - mean))[:, None], repeats)[:, 0] / scale
            coefficients = counts.T @ alpha - alpha.sum() * center
        return WLRidge(kernel, coefficients, float(mean - center @ coefficients))

    def predict(self, graphs: GraphSet) -> FloatArray:
        return np.asarray(self.kernel.transform(graphs) @ self.weights) + self.intercept

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.kernel.state()
        held: Arrays = {f"kernel.{name}": array for name, array in arrays.items()}
        return {"kernel": about, "intercept": self.intercept}, held | {"weights": self.weights}

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> WLRidge:
        from anysize.kernels.wl import WLKernel

        about = fields({"kernel": fields({"kernel": text()}, others=True), "intercept": real()})(about, "model")
        kernel = WLKernel.from_state(about["kernel"], arrays_of("kernel.", arrays))
        weights = check_array(arrays["weights"], "weights", "f", (int(kernel.offsets_[-1]),))
        return WLRidge(kernel, weights, float(about["intercept"]))


@dataclass(frozen=True)
class SizeLine:
    """Least squares on log n: y = intercept + slope log n; the mean of the targets if all sizes are the same."""

    slope: float
    intercept: float

    @staticmethod
    def fit(graphs: GraphSet, y: FloatArray, weights: FloatArray | None = None) -> SizeLine:
        x, mean = log_numbers(graphs), np.average(y, weights=weights)
        center = np.average(x, weights=weights)
        relative = x - center if weights is None else weights * (x - center)
        spread = float((relative * (x - center)).sum())
        slope = float(relative @ y) / spread if spread > 1e-9 else 0.0
        return SizeLine(slope, float(mean - slope * center))

    def predict(self, graphs: GraphSet) -> FloatArray:
        return self.intercept + self.slope * log_numbers(graphs)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        return {"slope": self.slope, "intercept": self.intercept}, {}

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> SizeLine:
        about = fields({"slope": real(), "intercept": real()})(about, "model")
        return SizeLine(float(about["slope"]), float(about["intercept"]))


@dataclass(frozen=True)
class Mean:
    """The mean target of the training graphs."""

    mean: float

    @staticmethod
    def fit(graphs: GraphSet, y: FloatArray, weights: FloatArray | None = None) -> Mean:
        return Mean(float(np.average(y, weights=weights)))

    def predict(self, graphs: GraphSet) -> FloatArray:
        return np.full(len(graphs), self.mean)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        return {"mean": self.mean}, {}

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> Mean:
        return Mean(float(fields({"mean": real()})(about, "model")["mean"]))


TRIVIAL: Mapping[str, type[FittedRegression]] = {MEAN: Mean, SIZE_ONLY: SizeLine}
REGRESSION_METHODS: Mapping[str, type[FittedRegression]] = {
    "sizemix": SizeMixRegression, "wl-kernel": WLRidge, **TRIVIAL
}  # fmt: skip
USES = frozenset({VERTEX_COLORS, EDGE_COLORS, DIRECTIONS})  # attributes of graphs, all but by the baselines


def find_regression_method(name: str) -> type[FittedRegression]:
    """The method of this name; an error that lists them for any other."""
    if name not in REGRESSION_METHODS:
        raise ValueError(
            f"method must be one of {', '.join(REGRESSION_METHODS)}; got {name!r} (GNNs and Gamma models predict "
            "classes only, with GraphClassifier)"
        )
    return REGRESSION_METHODS[name]
