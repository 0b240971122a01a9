"""Is the label intensive or extensive in size, as far as the training graphs can tell?

Intensive: it depends on composition, that is on shares and densities. Extensive: it depends on amounts, that is on
counts, so that its rate moves with size. Logistic regressions on either kind of numbers are compared on held-out folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anysize.counting.counts import Counts
from anysize.diagnosis.densities import Kind
from anysize.diagnosis.probes import FOLDS, SURE, Comparison, Probe, compare, features, probe

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Nature = Literal["intensive", "extensive", "cannot tell"]

MOST_GRAPHS, MOST_CLASSES = 4000, 20
NARROW = 1.25  # the ninth decile of the sizes over the first, below which counts and shares say the same
MOSTLY = 0.5  # of all that can be predicted: from here on, size itself is the main thing
LITTLE = 0.1  # what size could add to shares and still be called little
BINS = 5


@dataclass(frozen=True)
class RateBin:
    """Training graphs of a range of sizes, and the share of every class among them."""

    smallest: int
    largest: int
    graphs: int
    shares: tuple[float, ...]


@dataclass(frozen=True)
class LabelNature:
    """What the training graphs say about the label.

    ``moves_p``: p-value of "the class does not depend on log N". ``size_part``: how much of all that the probes can
    predict size alone predicts. ``reason`` says in words why the verdict is what it is. ``shape_suffices``: whether
    shares of plain patterns classify as many held-out graphs right as those with colours do; None without colours.
    """

    verdict: Nature
    reason: str
    classes: tuple[str, ...]
    rates: tuple[RateBin, ...]
    moves_p: float | None = None
    probes: tuple[Probe, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    size_part: float | None = None
    shape_suffices: bool | None = None

    def comparison(self, worse: str, better: str) -> Comparison:
        """The comparison of these two probes."""
        return next(one for one in self.comparisons if (one.worse, one.better) == (worse, better))


def label_nature(
    y: NDArray[Any], plain: Counts, coloured: Counts | None, kind: Kind, seed: int, level: float
) -> LabelNature:
    """Compare what sizes, shares and counts of the training graphs predict.

    Args:
        y: classes.
        plain: counts of plain patterns of the training graphs.
        coloured: counts of coloured ones, where there are colours.
        kind: shares are counts per vertex in sparse graphs, densities over subsets otherwise.
        seed: of the folds.
        level: for the test of whether the class moves with size.
    """
    classes, codes = np.unique(y, return_inverse=True)
    names = tuple(str(name) for name in classes.tolist())
    sizes = plain.sizes
    unfit = _why_not(y, codes)
    if unfit:
        few = len(classes) <= MOST_CLASSES
        return LabelNature("cannot tell", unfit, names if few else (), _rates(codes, sizes) if few else ())
    rows = np.sort(np.random.default_rng(seed).permutation(len(codes))[:MOST_GRAPHS])
    losses, right, probes = probe(features(plain, coloured, kind, rows), codes[rows], seed)
    pairs = [("chance", "shares"), ("chance", "counts"), ("chance", "size"), ("shares", "counts"),
             ("shares", "shares and size")]  # fmt: skip
    pairs += [("chance", "shape")] if "shape" in losses else []
    compared = {pair: compare(losses, *pair) for pair in pairs}
    part = _size_part(losses)
    moves = _moves(codes[rows], sizes[rows])
    verdict, reason = _verdict(compared, losses, part, moves, _alike(sizes), level)
    shape = None
    if "shape" in losses:
        lost = compare({name: 1.0 - hits.astype(np.float64) for name, hits in right.items()}, "shape", "shares")
        shape = compared["chance", "shape"].sure and not lost.sure
    rates = _rates(codes, sizes)
    return LabelNature(verdict, reason, names, rates, moves, probes, tuple(compared.values()), part, shape)


def _why_not(y: NDArray[Any], codes: IntArray) -> str:
    """Why nothing can be learned about the label; empty where something can."""
    amounts = np.bincount(codes)
    if y.dtype.kind == "f" and (y != np.rint(y)).any():
        return "the labels are numbers with fractions, not classes"
    if len(amounts) > MOST_CLASSES:
        return f"there are {len(amounts)} classes; this looks at no more than {MOST_CLASSES}"
    if len(amounts) < 2:
        return "all training graphs have one class"
    if amounts.min() < FOLDS:
        return f"the smallest class has only {amounts.min()} training graph{'' if amounts.min() == 1 else 's'}"
    return "" if find_spec("sklearn") else "scikit-learn is not installed (pip install 'anysize[learn]')"


def _alike(sizes: IntArray) -> str:
    """Why counts and shares cannot be told apart; empty where sizes differ enough."""
    low, high = np.quantile(sizes, [0.1, 0.9])
    if high >= NARROW * max(low, 1):
        return ""
    same = "all of one size" if sizes.min() == sizes.max() else f"too alike in size (most have {low:g} to {high:g})"
    return f"the training graphs are {same}, so that counts and shares say the same"


def _size_part(losses: dict[str, FloatArray]) -> float | None:
    """What size alone predicts, as a share of the most that any probe predicts; None where nothing can be."""
    chance = losses["chance"].mean()
    whole = max(chance - losses[name].mean() for name in ("counts", "shares", "shares and size"))
    return float(np.clip((chance - losses["size"].mean()) / whole, 0, 1)) if whole > 0 else None


def _verdict(
    compared: dict[tuple[str, str], Comparison],
    losses: dict[str, FloatArray],
    part: float | None,
    moves: float | None,
    alike: str,
    level: float,
) -> tuple[Nature, str]:
    amount, size = compared["shares", "counts"], compared["shares", "shares and size"]
    if alike:
        return "cannot tell", alike
    if part is None or not (compared["chance", "shares"].sure or compared["chance", "counts"].sure):
        return "cannot tell", "neither shares nor counts of patterns predict the class better than chance"
    moved = moves is not None and moves <= level
    if amount.sure and moved:
        if part > MOSTLY:
            return "cannot tell", (
                f"the class moves with size, and size alone gives {100 * part:.0f} % of all that can be predicted: a "
                "label that depends on amounts cannot be told from sizes and classes that merely go together here"
            )
        return "extensive", (
            f"counts predict the class better than shares do (log loss lower by {_gain(amount)} on held-out graphs), "
            f"and size alone gives only {100 * part:.0f} % of all that can be predicted"
        )
    whole = losses["chance"].mean() - losses["shares"].mean()
    most = size.gain + SURE * size.standard_error  # what size could add at most
    if amount.gain < 0 and most < LITTLE * whole:
        alone = (
            f"shares predict the class no worse than counts do (log loss of counts higher by {_gain(amount, -1)} on "
            "held-out graphs), and size adds nothing to them"
        )
        if moved:  # as where any one part of a kind decides: larger graphs have more
            return "cannot tell", f"{alone}; but the rate of the classes moves with size, as if amounts mattered"
        return "intensive", alone
    return "cannot tell", (
        f"shares and counts predict about equally well, as far as can be seen (log loss of counts lower by "
        f"{_gain(amount)}; size lowers that of shares by {_gain(size)})"
    )


def _gain(one: Comparison, sign: int = 1) -> str:
    return f"{sign * one.gain:.3f} ± {one.standard_error:.3f}"


def _moves(codes: IntArray, sizes: IntArray) -> float | None:
    """P-value of the likelihood ratio test of log N in a logistic regression of the class; None for one size."""
    from scipy.stats import chi2
    from sklearn.linear_model import LogisticRegression

    x = np.log(sizes)[:, None]
    if x.std() == 0:
        return None
    x = (x - x.mean()) / x.std()
    model = LogisticRegression(C=1e6, max_iter=1000).fit(x, codes)
    fitted = np.log(np.maximum(model.predict_proba(x)[np.arange(len(codes)), codes], 1e-12)).sum()
    shares = np.bincount(codes) / len(codes)
    return float(chi2.sf(max(2 * (fitted - np.log(shares[codes]).sum()), 0.0), len(shares) - 1))


def _rates(codes: IntArray, sizes: IntArray) -> tuple[RateBin, ...]:
    """Shares of the classes in about equal groups of graphs by size; equal sizes stay together."""
    edges = np.unique(np.quantile(sizes, np.linspace(0, 1, BINS + 1)[1:-1], method="higher"))
    group = np.searchsorted(edges, sizes, side="left")
    bins = []
    for number in np.unique(group):
        here = group == number
        shares = np.bincount(codes[here], minlength=codes.max() + 1) / here.sum()
        bins.append(RateBin(int(sizes[here].min()), int(sizes[here].max()), int(here.sum()), tuple(shares.tolist())))
    return tuple(bins)
