"""Which patterns spoke for a class: a Gamma model with a linear head is a sum over patterns, and can be read as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import FloatArray
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.estimators.ensemble import Ensemble
from anysize.graphs.colors import ColorName
from anysize.graphs.labels import Labels
from anysize.methods.method import Examples
from anysize.methods.neural import FittedGamma
from anysize.patterns.drawing import layout
from anysize.patterns.pattern import Pattern

SHOWN = 8  # patterns in a text or a figure, unless told


@dataclass(frozen=True, eq=False)
class Explanation:
    r"""What each pattern of a graph added to the difference of two logits.

    .. math:: z_c(G) - z_d(G) = b + \sum_F (t_F(G) - t_F)\, (w_{F,c} - w_{F,d})

    c is the class that was predicted and d the runner-up; t_F is the mean density over reference graphs, 0 without
    any. For several models all terms are means over them.

    Attributes:
        predicted, runner_up: the two classes.
        probability, runner_up_probability: what `predict_proba` says of them.
        patterns: those of the graph (and of the reference), the strongest voice for the predicted class first, the
            strongest against it last. Colors that the model does not tell apart, because they play the same role,
            are one color of the name "one|other".
        densities: t_F(G), how common each of them is. reference: t_F. contributions: the terms of the sum.
        base: b, the difference for a graph without patterns, or for the mean reference graph.
    """

    predicted: Any
    runner_up: Any
    probability: float
    runner_up_probability: float
    patterns: tuple[Pattern, ...]
    densities: FloatArray
    reference: FloatArray | None
    contributions: FloatArray
    base: float

    @property
    def margin(self) -> float:
        """The difference of the two logits: the base and all contributions."""
        return self.base + float(self.contributions.sum())

    def strongest(self, top: int = SHOWN) -> tuple[int, ...]:
        """The places of the ``top`` largest contributions of either sign, in the order of `patterns`."""
        chosen = np.argsort(-np.abs(self.contributions), kind="stable")[:top]
        return tuple(int(place) for place in np.sort(chosen))

    def __str__(self) -> str:
        return self.text()

    def text(self, top: int = SHOWN) -> str:
        """The ``top`` strongest patterns, a line for each, and what the others and the base add."""
        lines = [
            f"{self.predicted} (probability {self.probability:.2f}) against {self.runner_up} "
            f"({self.runner_up_probability:.2f}); difference of logits {self.margin:+.2f}"
        ]
        shown = self.strongest(top)
        wide = max(20, *(len(self.patterns[place].name) for place in shown), 0)
        for place in shown:
            value = self.contributions[place]
            side = f"for {self.predicted if value >= 0 else self.runner_up}"
            share = f"density {self.densities[place]:.3g}"
            if self.reference is not None:
                share += f", reference {self.reference[place]:.3g}"
            lines.append(f"  {self.patterns[place].name:{wide}}  {value:+8.3f}  {side}  ({share})")
        rest = float(self.contributions.sum() - self.contributions[list(shown)].sum())
        others = len(self.patterns) - len(shown)
        if others:
            lines.append(f"  {f'{others} other patterns':{wide}}  {rest:+8.3f}")
        lines.append(f"  {self.start:{wide}}  {self.base:+8.3f}")
        return "\n".join(lines)

    def to_json(self, top: int = SHOWN) -> dict[str, Any]:
        """The same as a dictionary that JSON holds."""
        shown = self.strongest(top)
        patterns = [
            {
                "pattern": self.patterns[place].name,
                "contribution": float(self.contributions[place]),
                "density": float(self.densities[place]),
                "reference": None if self.reference is None else float(self.reference[place]),
            }
            for place in shown
        ]
        return {
            "predicted": self.predicted,
            "runner_up": self.runner_up,
            "probability": self.probability,
            "runner_up_probability": self.runner_up_probability,
            "margin": self.margin,
            "base": self.base,
            "patterns": patterns,
            "others": float(self.contributions.sum() - self.contributions[list(shown)].sum()),
        }

    @property
    def start(self) -> str:
        """Whose difference the base is, in words."""
        return "no pattern at all" if self.reference is None else "mean reference graph"

    def figure(self, top: int = SHOWN) -> Any:
        """A matplotlib figure: one bar for each of the strongest patterns, which is drawn beside it."""
        return _figure(self, top)


def explain(ensemble: Ensemble, classes: Labels, examples: Examples, reference: Examples | None = None) -> Explanation:
    """The explanation of one graph; see `GraphClassifier.explain`."""
    _parts(ensemble)  # complains about other methods before anything else does
    chances = ensemble.probabilities(examples)[0]
    first, second = (int(place) for place in np.argsort(-chances, kind="stable")[:2])
    tables = [part.counts(ensemble.k) for part in (examples, reference) if part is not None]
    columns, densities, weights = _terms(ensemble, tables[0] if reference is None else Counts.concatenate(tables))
    own = _mean(densities[[0]])
    usual = np.zeros(len(columns)) if reference is None else _mean(densities[1:])
    here = np.flatnonzero((own != 0) | (usual != 0))
    terms = (own - usual)[here] * (weights[here, first] - weights[here, second])
    order = np.argsort(-terms, kind="stable")
    logits = _logits(ensemble, tables[0])[0]
    chosen = here[order]
    return Explanation(
        _plain(classes[first]), _plain(classes[second]), float(chances[first]), float(chances[second]),
        _by_role(columns[chosen], ensemble), own[chosen], None if reference is None else usual[chosen],
        terms[order], float(logits[first] - logits[second] - terms.sum()),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Voice:
    """A pattern that tells a class apart, and by how much it moves the mean logit of that class.

    ``more``: whether graphs of the class have more of it than others, or less.
    """

    pattern: Pattern
    contribution: float
    more: bool


def voices(ensemble: Ensemble, examples: Examples, y: NDArray[np.int64], top: int = 3) -> list[list[Voice]]:
    """For every class the patterns by which its graphs are known: what they add to its logit, above the mean graph.

    Over all patterns F the sum of (mean t_F over the class - mean t_F over all graphs) w_{F,c} is how much higher
    the logit of c is for graphs of c than for the average graph.
    """
    columns, densities, weights = _terms(ensemble, examples.counts(ensemble.k))
    usual = _mean(densities)
    found = []
    for label in range(weights.shape[1]):
        gap = _mean(densities[np.flatnonzero(y == label)]) - usual
        terms = gap * weights[:, label]
        best = [int(place) for place in np.argsort(-terms, kind="stable")[:top] if terms[place] > 0]
        patterns = _by_role(columns[np.array(best, np.int64)], ensemble)
        pairs = zip(patterns, best, strict=True)
        found.append([Voice(pattern, float(terms[place]), bool(gap[place] > 0)) for pattern, place in pairs])
    return found


def pattern_weights(ensemble: Ensemble) -> tuple[tuple[Pattern, ...], FloatArray]:
    """What one unit of density of each pattern adds to the logit of each class, above the mean over the classes.

    (patterns, classes), the mean over the models. The patterns are those of the catalog, or those that the model is
    limited to; a model that takes whatever colored pattern comes has no list of its own.
    """
    parts = _parts(ensemble)
    vocabulary = parts[0].stack.vocabulary
    if vocabulary.columns is not None:
        columns = vocabulary.columns
    elif vocabulary.palette is None:
        sizes = (ensemble.k,) if isinstance(ensemble.k, int) else ensemble.k
        columns = unite([Columns.plain(size) for size in sizes])[0]
    else:
        raise ValueError(
            "this model weighs whatever colored pattern a graph has, and without graphs there are none; "
            "give it graphs to explain"
        )
    weights = np.concatenate([part.stack.pattern_logits(columns) for part in parts]).astype(np.float64).mean(axis=0)
    return columns.patterns, weights - weights.mean(axis=1, keepdims=True)


def _parts(ensemble: Ensemble) -> Sequence[FittedGamma]:
    """The models, if they can be read as sums over patterns."""
    parts = [part for part in ensemble.parts if isinstance(part, FittedGamma)]
    if len(parts) < len(ensemble.parts) or not all(part.stack.model.head.linear for part in parts):
        raise ValueError(
            f"a prediction can be split into patterns for gamma-1hot, gamma-gin and gamma-rpgin with a linear head; "
            f"this is {ensemble.method.name}{' with a hidden layer in the head' if parts else ''}"
        )
    return parts


def _mean(rows: csr_array[np.float64]) -> FloatArray:
    """The mean row; tables of real data are too wide to be written out."""
    sums: FloatArray = np.asarray(rows.sum(axis=0), np.float64).reshape(-1)
    return sums / max(rows.shape[0], 1)


def _terms(ensemble: Ensemble, table: Counts) -> tuple[Columns, csr_array[np.float64], FloatArray]:
    """The patterns that the models see, their densities (graphs, patterns), and the mean over the models of what one
    unit of density adds to the logits (patterns, classes)."""
    parts = _parts(ensemble)
    stack = parts[0].stack  # the vocabulary comes from the training graphs: all models have the same
    columns, densities = stack.vocabulary.densities(table)
    weights = np.concatenate([part.stack.pattern_logits(columns) for part in parts]).astype(np.float64).mean(axis=0)
    return columns, csr_array(densities * (1 / stack.vocabulary.scale)), weights


def _by_role(columns: Columns, ensemble: Ensemble) -> tuple[Pattern, ...]:
    """The patterns as the models see them: colors that share an input are one color, named "one|other".

    Colors that training never saw are then "?".
    """
    palette = _parts(ensemble)[0].stack.vocabulary.palette
    if palette is None or len(set(palette.values())) == len(palette):
        return columns.patterns
    members: dict[int, list[ColorName]] = {}
    for name, role in palette.items():
        members.setdefault(role, []).append(name)
    titles = {role: own[0] if len(own) == 1 else "|".join(map(str, own)) for role, own in members.items()}

    def title(name: ColorName) -> ColorName:
        return titles[palette[name]] if name in palette else "?"

    return tuple(pattern.colored(tuple(title(name) for name in pattern.colors or ())) for pattern in columns.patterns)


def _logits(ensemble: Ensemble, table: Counts) -> FloatArray:
    found = np.concatenate([part.stack.logits(table) for part in _parts(ensemble)])
    return np.asarray(found.astype(np.float64).mean(axis=0))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


# ---- the figure ------------------------------------------------------------------------------------


def _figure(told: Explanation, top: int) -> Any:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Explanation.figure needs matplotlib: pip install 'anysize[plot]'") from error
    shown = told.strongest(top)
    figure = Figure(figsize=(7, 0.8 + 0.7 * max(len(shown), 1)), layout="constrained")
    rows = figure.add_gridspec(max(len(shown), 1), 2, width_ratios=(1, 7))
    bars = figure.add_subplot(rows[:, 1])
    values = [told.contributions[place] for place in shown]
    hues = matplotlib.colormaps["tab10"]
    bars.barh(range(len(shown)), values, color=[hues(0) if value >= 0 else hues(1) for value in values])
    bars.set_yticks(range(len(shown)), [told.patterns[place].plain_name for place in shown])
    bars.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    bars.axvline(0, color="black", linewidth=0.8)
    bars.set_xlabel(f"for {told.runner_up}  \N{LEFTWARDS ARROW}  logits  \N{RIGHTWARDS ARROW}  for {told.predicted}")
    bars.set_title(f"{told.predicted}, probability {told.probability:.2f} ({told.start}: {told.base:+.2f})")
    names = sorted({str(color) for place in shown for color in told.patterns[place].colors or ()})
    paint = {name: matplotlib.colormaps["Pastel1"](number % 9) for number, name in enumerate(names)}
    if names:
        dots = [bars.scatter([], [], color=paint[name], edgecolors="0.2", label=name) for name in names]
        figure.legend(handles=dots, loc="outside lower center", ncols=min(len(names), 4))
    for row, place in enumerate(shown):
        _draw(figure.add_subplot(rows[row, 0]), told.patterns[place], paint)
    return figure


def _draw(axes: Any, pattern: Pattern, paint: dict[str, Any]) -> None:
    """The pattern as dots and lines, colors as fillings with their names inside."""
    place = layout(pattern.size, pattern.edges)
    for i, j in pattern.edges:
        axes.plot(*zip(place[i], place[j], strict=True), color="0.4", linewidth=1, zorder=1)
    for vertex, (x, y) in enumerate(place):
        name = "" if pattern.colors is None else str(pattern.colors[vertex])
        axes.scatter(x, y, s=80 if name else 30, color=paint.get(name, "0.2"), edgecolors="0.2", zorder=2)
        if name:
            axes.text(x, y, name[:2], ha="center", va="center", fontsize=6, zorder=3)
    axes.set(xlim=(-0.25, 1.25), ylim=(1.25, -0.25), aspect="equal")
    axes.axis("off")
