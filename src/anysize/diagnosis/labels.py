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
from anysize.diagnosis.probes import FOLDS, Comparison, Measure, Probe, compare, compare_hits, features, probe

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Nature = Literal["intensive", "extensive", "cannot tell"]

MOST_GRAPHS, MOST_CLASSES = 4000, 20
NARROW = 1.25  # the ninth decile of the sizes over the first, below which counts and shares say the same
MOSTLY = 0.5  # of all that can be predicted: from here on, size itself is the main thing
LITTLE = 0.1  # of all that can be predicted: what size could add to shares, or densities predict, and be called little
COSTS = 0.1  # share of graphs: shape alone suffices if colors would set right no more than so many
BINS = 5
AMOUNTS = (("chance", "size"), ("chance", "counts"), ("size", "counts"))


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

    ``moves_p``: p-value of "the class does not depend on log N". ``size_part`` and ``density_part``: how much of all
    that the probes can predict is predicted by size alone, and by what methods on densities see. ``reason`` says in
    words why the verdict is what it is.

    ``densities_learn``: whether methods on densities can learn this label. Not so if the densities predict held-out
    graphs no better than chance, or a tenth or less of what can be predicted, or less than half of it where size alone,
    which predicts more, leaves less than half of the log loss of chance. None where nothing was tried.
    ``shape_suffices``: whether shares of plain patterns have more held-out graphs right than chance, and colors, all
    errors allowed for, would set right at most a tenth of the graphs beside them; None without colors.
    """

    verdict: Nature
    reason: str
    classes: tuple[str, ...]
    rates: tuple[RateBin, ...]
    moves_p: float | None = None
    probes: tuple[Probe, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    size_part: float | None = None
    density_part: float | None = None
    densities_learn: bool | None = None
    shape_suffices: bool | None = None

    def probe(self, name: str) -> Probe:
        """The probe of this name."""
        return next(one for one in self.probes if one.name == name)

    def comparison(self, worse: str, better: str, measure: Measure = "log loss") -> Comparison:
        """The comparison of these two probes."""
        wanted = worse, better, measure
        return next(one for one in self.comparisons if (one.worse, one.better, one.measure) == wanted)

    @property
    def density_probe(self) -> str:
        """The probe that looks at what methods on densities are given."""
        return _density_probe({one.name: one.log_loss for one in self.probes})

    @property
    def amounts(self) -> Literal["size", "counts"] | None:
        """What predicts held-out graphs better than chance: size unless counts add to it; None if neither does."""
        if not self.probes:
            return None
        size, counts, more = (self.comparison(*pair) for pair in AMOUNTS)
        if size.sure and not (more.sure and more.gain > LITTLE * counts.gain):
            return "size"
        return "counts" if counts.sure else None


def label_nature(
    y: NDArray[Any], plain: Counts, colored: Counts | None, kind: Kind, seed: int, level: float
) -> LabelNature:
    """Compare what sizes, shares and counts of the training graphs predict.

    Args:
        y: classes.
        plain: counts of plain patterns of the training graphs.
        colored: counts of colored ones, where there are colors.
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
    losses, right, probes = probe(features(plain, colored, kind, rows), codes[rows], seed)
    compared = _compared(losses)
    seen = _density_probe(_means(losses))
    size, density = _part(losses, "size"), _part(losses, seen)
    learn = _densities_learn(compared, losses, seen, density)
    moves = _moves(codes[rows], sizes[rows])
    verdict, reason = _verdict(compared, losses, size, seen, learn, moves, _alike(sizes), level)
    listed, shape = list(compared.values()), None
    if "shape" in losses:
        found, colors = compare_hits(right, "chance", "shape"), compare_hits(right, "shape", "shares")
        listed += [found, colors]
        shape = found.sure and colors.most <= COSTS
    rates = _rates(codes, sizes)
    return LabelNature(verdict, reason, names, rates, moves, probes, tuple(listed), size, density, learn, shape)


def _means(losses: dict[str, FloatArray]) -> dict[str, float]:
    return {name: float(loss.mean()) for name, loss in losses.items()}


def _density_probe(losses: dict[str, float]) -> str:
    """Which probe looks at what methods on densities are given; where colors only get in its way, shape alone."""
    if "connected shares" in losses:
        return "connected shares"
    return "shape" if losses.get("shape", np.inf) < losses["shares"] else "shares"


def _compared(losses: dict[str, FloatArray]) -> dict[tuple[str, str], Comparison]:
    """The comparisons that something is made of."""
    density = _density_probe(_means(losses))
    pairs = [("chance", "shares"), ("shares", "counts"), ("shares", "shares and size"), *AMOUNTS,
             ("chance", density), (density, "size")]  # fmt: skip
    return {pair: compare(losses, *pair) for pair in dict.fromkeys(pairs)}


def _densities_learn(
    compared: dict[tuple[str, str], Comparison], losses: dict[str, FloatArray], density: str, part: float | None
) -> bool:
    """Whether methods on densities can learn the label, see `LabelNature`."""
    if part is None or part <= LITTLE or not compared["chance", density].sure:
        return False
    settled = losses["size"].mean() < MOSTLY * losses["chance"].mean()
    return not (part < MOSTLY and settled and compared[density, "size"].sure)


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


def _part(losses: dict[str, FloatArray], name: str) -> float | None:
    """What a probe predicts, as a share of the most that any probe predicts; None where nothing can be."""
    chance = losses["chance"].mean()
    whole = max(chance - loss.mean() for loss in losses.values())
    return float(np.clip((chance - losses[name].mean()) / whole, 0, 1)) if whole > 0 else None


def _verdict(
    compared: dict[tuple[str, str], Comparison],
    losses: dict[str, FloatArray],
    part: float | None,
    density: str,
    learn: bool,
    moves: float | None,
    alike: str,
    level: float,
) -> tuple[Nature, str]:
    amount, size = compared["shares", "counts"], compared["shares", "shares and size"]
    moved = moves is not None and moves <= level
    if moved and not learn and (compared["chance", "size"].sure or compared["chance", "counts"].sure):
        return "extensive", _beyond_densities(compared["chance", density], losses)
    if alike:
        return "cannot tell", alike
    if part is None or not any(compared["chance", name].sure for name in (density, "shares", "counts", "size")):
        return "cannot tell", "neither size nor shares nor counts of patterns predict the class better than chance"
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
    if amount.gain < 0 and size.most < LITTLE * whole:
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


def _beyond_densities(density: Comparison, losses: dict[str, FloatArray]) -> str:
    best = min(("size", "counts"), key=lambda name: float(losses[name].mean()))
    gain = losses["chance"].mean() - losses[best].mean()
    seen = "little better" if density.sure else "no better"
    how = f"lower by {_gain(density)}" if density.gain > 0 else f"higher by {_gain(density, -1)}"
    return (
        f"densities predict the class {seen} than chance does (log loss {how} on held-out graphs), and "
        f"{'size alone does' if best == 'size' else 'counts do'} (lower by {gain:.3f}); unless sizes and classes "
        "merely go together here, the label is about size or amounts"
    )


def _gain(one: Comparison, sign: int = 1) -> str:
    return f"{sign * one.gain:.3f} ± {one.standard_error:.3f}"


def _moves(codes: IntArray, sizes: IntArray) -> float | None:
    """P-value of the likelihood ratio test of log N in a logistic regression of the class; None for one size."""
    from scipy.stats import chi2
    from sklearn.linear_model import LogisticRegression

    if sizes.min() == sizes.max():
        return None
    x = np.log(sizes)[:, None]
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
