"""Ridge regression in closed form: many targets at once, each with the penalty that leave-one-out prefers."""

from __future__ import annotations

import numpy as np

from anysize._typing import FloatArray

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
