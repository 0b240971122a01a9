"""Ridge regression in closed form, on tables and on kernels: leave-one-out errors choose the penalty of each target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._schema import arrays_of, check_array, fields, prefixed, real, text
from anysize._typing import FloatArray
from anysize.graphs.labels import State
from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.wl import WLKernel

KERNELS: dict[str, type[WLKernel] | type[GraphletKernel]] = {"wl": WLKernel, "graphlet": GraphletKernel}
PENALTIES = np.logspace(-8, 2, 21)  # relative to the number of rows, for rows of mean length 1


def eigenvectors(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(rows, rank) and (rank,): eigenvectors and positive eigenvalues of a matrix of inner products of rows."""
    squares, vectors = np.linalg.eigh(gram)
    kept = squares > 1e-10 * max(float(squares.max(initial=0.0)), 1e-300)
    return vectors[:, kept], squares[kept]


def left_vectors(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors of a table and squares of its singular values, from the smaller matrix of products."""
    rows, columns = table.shape
    if rows <= columns:
        return eigenvectors(table @ table.T)
    right, squares = eigenvectors(table.T @ table)
    return table @ right / np.sqrt(squares), squares


def dual_ridge(vectors: FloatArray, squares: FloatArray, targets: FloatArray, repeats: FloatArray) -> FloatArray:
    """(rows, targets) coefficients: the weights of features are table.T @ coefficients, for a centered table.

    With the hat matrix H of a penalty and the residuals r, the residual of a row that is left out is r_i / (1 - H_ii).
    Every target gets the penalty with the least sum of their squares. A row that counts w times stands for w equal
    rows, of which one is left out: it and its target are multiplied by sqrt(w), and H_ii is that of one of them.

    Args:
        vectors, squares: those of the centered table, see `left_vectors`.
        targets: (rows, targets), centered.
        repeats: (rows,) how often each row counts; the roots of these are factors of the rows and their targets.
    """
    rows = repeats.sum()
    shares = squares / (squares + rows * PENALTIES[:, None])  # (penalties, rank)
    projected = vectors.T @ targets
    leverage = 1 / rows + shares @ (vectors**2).T / repeats
    errors = np.stack([
        (((targets - vectors @ (share[:, None] * projected)) / np.maximum(1 - hat, 1e-9)[:, None]) ** 2).sum(axis=0)
        for share, hat in zip(shares, leverage, strict=True)
    ])  # fmt: skip
    best = len(PENALTIES) - 1 - errors[::-1].argmin(axis=0)  # of equal ones the largest penalty
    return np.asarray(vectors @ (shares[best].T / squares[:, None] * projected))


def fit_ridge(table: FloatArray, targets: FloatArray, repeats: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights (features, targets) and intercepts (targets,); features are centered and rows have mean length 1.

    ``repeats``: (rows,) how often each row counts.
    """
    center, means = (np.average(values, axis=0, weights=repeats) for values in (table, targets))
    table = table - center
    scale = float(np.average(np.sqrt((table**2).sum(axis=1)), weights=repeats)) if table.size else 0.0
    if scale <= 1e-9 * float(np.linalg.norm(center)):  # all rows are alike, up to rounding
        return np.zeros((table.shape[1], targets.shape[1])), means
    root = np.sqrt(repeats)[:, None]
    table = root * table / scale
    weights = table.T @ dual_ridge(*left_vectors(table), root * (targets - means), repeats) / scale
    return weights, means - center @ weights


@dataclass(frozen=True, eq=False)
class KernelRidge:
    """Kernel ridge regression on a `WLKernel` or a `GraphletKernel`, the penalty chosen by leave-one-out errors.

    Features are explicit: predictions are features @ weights + intercept.

    Examples:
        >>> import networkx as nx
        >>> paths = [nx.path_graph(n) for n in range(2, 12)]
        >>> model = KernelRidge.fit(WLKernel(iterations=1), paths, np.arange(2.0, 12.0))
        >>> model.predict([nx.path_graph(30)]).round(1).tolist()
        [30.0]
    """

    kernel: WLKernel | GraphletKernel
    weights: FloatArray
    intercept: float

    @staticmethod
    def fit(
        kernel: WLKernel | GraphletKernel, graphs: Any, y: FloatArray, weights: FloatArray | None = None
    ) -> KernelRidge:
        """Solve for the coefficients of the training graphs; weights of features are their sums.

        ``graphs``: what the kernel takes. ``weights``: how often each graph counts; once if None.
        """
        features = kernel.fit_transform(graphs)
        repeats = np.ones(len(y)) if weights is None else weights
        mean = np.average(y, weights=repeats)
        products = gram(features)
        means = np.average(products, axis=0, weights=repeats)
        products += repeats @ products @ repeats / repeats.sum() ** 2 - means - means[:, None]
        scale = float(np.average(np.diag(products), weights=repeats))
        center = np.asarray(features.T @ repeats) / repeats.sum()
        coefficients = np.zeros(features.shape[1])
        if scale > 1e-9 * float(center @ center):
            root = np.sqrt(repeats)
            vectors, squares = eigenvectors(products * np.outer(root, root) / scale)
            alpha = root * dual_ridge(vectors, squares, (root * (y - mean))[:, None], repeats)[:, 0] / scale
            coefficients = features.T @ alpha - alpha.sum() * center
        return KernelRidge(kernel, coefficients, float(mean - center @ coefficients))

    def predict(self, graphs: Any) -> FloatArray:
        """(graphs,)."""
        return np.asarray(self.kernel.transform(graphs) @ self.weights) + self.intercept

    def state(self) -> State:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        about, arrays = self.kernel.state()
        return {"kernel": about, "intercept": self.intercept}, prefixed("kernel.", arrays) | {"weights": self.weights}

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> KernelRidge:
        """Restore a model from what `state` returned; it predicts the same."""
        about = fields({"kernel": fields({"kernel": text()}, others=True), "intercept": real()}, others=True)(about, "")
        kernel = KERNELS[about["kernel"]["kernel"]].from_state(about["kernel"], arrays_of("kernel.", arrays))
        weights = check_array(arrays["weights"], "weights", "f", (None,))
        return KernelRidge(kernel, weights, float(about["intercept"]))
