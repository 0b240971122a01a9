"""Does the label of the training graphs follow size, and what predicts it on held-out training graphs?

Methods on densities cannot learn a label that depends on amounts. Logistic regressions on log N, on densities and on
counts are compared by cross-validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kruskal

from anysize._typing import FloatArray
from anysize.counting.counts import Counts
from anysize.shift.densities import Over

FOLDS, MAX_GRAPHS, MAX_COLORED_PATTERNS = 5, 4000, 50
INVERSE_PENALTY = 50.0  # C of the logistic regressions times the number of graphs
MAX_COLOR_GAIN = 0.1  # of the accuracy: what colors may add where shape suffices


@dataclass(frozen=True)
class LabelDependence:
    """What the label of the training graphs depends on.

    ``p_size``: p-value of "sizes do not differ between classes" (Kruskal-Wallis), None for graphs of one size.
    ``log_losses``: pairs of predictor and held-out log loss; where it is empty ``not_scored`` says why.

    ``predictable``: some predictor is better than chance. ``amounts``: "size" or "counts", where the label follows size
    and that predicts it better than densities can. ``shape_suffices``: densities without colors are better than chance,
    and colors add at most `MAX_COLOR_GAIN`. None where it is not known. Margins are two standard errors over graphs.
    """

    n_classes: int
    follows_size: bool
    p_size: float | None
    log_losses: tuple[tuple[str, float], ...] = ()
    not_scored: str = ""
    predictable: bool | None = None
    amounts: Literal["size", "counts"] | None = None
    shape_suffices: bool | None = None


def analyze_label(
    y: NDArray[Any], plain: Counts, colored: Counts | None, over: Over, seed: int, level: float
) -> LabelDependence:
    """Test whether sizes differ between classes, at ``level``, and compare predictors of the classes ``y``.

    ``plain`` and ``colored`` are counts of the training graphs, ``over`` is what densities are shares of, ``seed`` that
    of the folds.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2 or np.bincount(codes).min() < FOLDS:
        reason = f"fewer than two classes, or a class with fewer than {FOLDS} training graphs"
        return LabelDependence(len(classes), False, None, not_scored=reason)
    p = None
    if plain.sizes.min() < plain.sizes.max():
        p = float(kruskal(*(plain.sizes[codes == code] for code in range(len(classes)))).pvalue)
    follows_size = p is not None and p <= level
    if find_spec("sklearn") is None:
        return LabelDependence(len(classes), follows_size, p, not_scored="pip install 'anysize[learn]'")
    rows = np.sort(np.random.default_rng(seed).permutation(len(codes))[:MAX_GRAPHS])
    features = _make_features(plain[rows], None if colored is None else colored[rows], over)
    chances = {name: _hold_out(values, codes[rows], seed) for name, values in features.items()}
    truth = np.arange(len(rows)), codes[rows]
    losses = {name: -np.log(np.maximum(chance[truth], 1e-12)) for name, chance in chances.items()}
    errors = {name: (chance.argmax(axis=1) != codes[rows]).astype(np.float64) for name, chance in chances.items()}

    def gain(name: str, over: str, losses: dict[str, FloatArray] = losses) -> tuple[float, float]:
        """Mean loss that a predictor saves, and two standard errors of it."""
        saved = losses[over] - losses[name]
        return float(saved.mean()), float(2 * saved.std(ddof=1) / np.sqrt(len(saved)))

    def better(name: str, than: str) -> bool:
        mean, margin = gain(name, than)
        return mean > margin

    shape = None if colored is None else better("shape", "chance")
    amounts: Literal["size", "counts"] | None = None
    if follows_size and not (better("densities", "chance") or shape):
        amounts = "size" if better("size", "chance") else "counts" if better("counts", "chance") else None
    elif follows_size and better("counts", "densities and size"):
        amounts = "counts"
    return LabelDependence(
        n_classes=len(classes),
        follows_size=follows_size,
        p_size=p,
        log_losses=tuple((name, float(loss.mean())) for name, loss in losses.items()),
        predictable=any(better(name, "chance") for name in losses),
        amounts=amounts,
        shape_suffices=shape and sum(gain("densities", "shape", errors)) <= MAX_COLOR_GAIN,
    )


def _make_features(plain: Counts, colored: Counts | None, over: Over) -> dict[str, FloatArray]:
    """The numbers (graphs, features) that each predictor sees."""
    tables = [plain]
    if colored is not None:
        kept = dict.fromkeys((1, int(colored.columns.size.max(initial=1))))
        tables += [colored.select(colored.columns.size == k).top(MAX_COLORED_PATTERNS) for k in kept]
    counts = np.hstack([table.matrix.toarray().astype(np.float64) for table in tables])
    sizes = np.unique(plain.columns.size)
    if over == "connected":  # every connected pair is an edge
        sizes = sizes[sizes >= 3]
    shapes = [plain.select(plain.columns.size == k).densities(over).toarray() for k in sizes]  # shares within each size
    each = [np.hstack([np.zeros((len(plain), 0)), *shapes])]
    each += [table.densities(over).toarray() for table in tables[1:]]
    size, densities = np.log(plain.sizes.astype(np.float64))[:, None], np.hstack(each)
    features = {"chance": np.zeros((len(plain), 1)), "size": size, "densities": densities, "counts": counts}
    features["densities and size"] = np.hstack([densities, size])
    return features if colored is None else features | {"shape": each[0]}


def _hold_out(features: FloatArray, codes: NDArray[Any], seed: int) -> FloatArray:
    """Probabilities (graphs, classes) from a logistic regression on the other folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    if not features.shape[1]:
        features = np.zeros((len(codes), 1))
    model = make_pipeline(StandardScaler(), LogisticRegression(C=INVERSE_PENALTY / len(codes), max_iter=1000))
    model.set_output(transform="default")  # arrays, whatever a user sets for all of scikit-learn
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with threadpool_limits(1, user_api="blas"):  # the products are too small for threads
        return np.asarray(cross_val_predict(model, features, codes, cv=folds, method="predict_proba"))
