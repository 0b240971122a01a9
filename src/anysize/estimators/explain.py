"""Explain predictions: Gamma models with a linear head by patterns, SizeMix and the WL kernel by vertices.

The logits of Gamma models with a linear head are sums over patterns; see `anysize.kernels.explanation` for vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import FloatArray, PathLike
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.estimators.ensemble import Ensemble
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import BOTH_WAYS, IN
from anysize.graphs.labels import Labels
from anysize.kernels.explanation import VertexExplanation
from anysize.methods.auto import FittedAuto
from anysize.methods.gamma import FittedGamma
from anysize.methods.kernel_machines import FittedKernel
from anysize.methods.method import Examples, Fitted
from anysize.methods.sizemix import FittedSizeMix
from anysize.patterns.drawing import layout
from anysize.patterns.pattern import Pattern

MAX_PATTERNS_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Explanation:
    r"""The contribution of each pattern of a graph to the difference of two logits.

    .. math:: z_c(G) - z_d(G) = b + \sum_F (t_F(G) - t_F)\, (w_{F,c} - w_{F,d})

    c is the predicted class and d the second most probable one; t_F is the mean density over the reference graphs, 0
    without reference. For several models all terms are means over them.

    Attributes:
        predicted, runner_up: the two classes.
        probability, runner_up_probability: their values in `predict_proba`.
        patterns: the patterns of the graph (and of the reference), from the largest contribution for the predicted
            class to the largest against it. Colors that the model does not distinguish, because they have the same
            role, are shown as one color named "one|other".
        densities: t_F(G).
        reference: t_F; None without reference.
        contributions: the terms of the sum.
        base: b, the difference of the logits for a graph without patterns, or for the mean reference graph.
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
        """The difference of the two logits: the base plus all contributions."""
        return self.base + float(self.contributions.sum())

    @property
    def base_name(self) -> str:
        """What the base is the difference for."""
        return "no patterns" if self.reference is None else "mean reference graph"

    def strongest(self, top: int = MAX_PATTERNS_SHOWN) -> tuple[int, ...]:
        """Indices of the ``top`` largest absolute contributions, in the order of `patterns`."""
        strongest = np.argsort(-np.abs(self.contributions), kind="stable")[:top]
        return tuple(int(index) for index in np.sort(strongest))

    def __str__(self) -> str:
        return self.text()

    def text(self, top: int = MAX_PATTERNS_SHOWN) -> str:
        """One line for each of the ``top`` strongest patterns, one for all others and one for the base."""
        fields = self.to_json(top)
        lines = [
            f"{self.predicted} (probability {self.probability:.2f}) against {self.runner_up} "
            f"({self.runner_up_probability:.2f}); difference of logits {self.margin:+.2f}"
        ]
        width = max(20, *(len(shown["pattern"]) for shown in fields["patterns"]), 0)
        for shown in fields["patterns"]:
            value, reference = shown["contribution"], shown["reference"]
            density = f"density {shown['density']:.3g}" + ("" if reference is None else f", reference {reference:.3g}")
            side = self.predicted if value >= 0 else self.runner_up
            lines.append(f"  {shown['pattern']:{width}}  {value:+8.3f}  for {side}  ({density})")
        others = len(self.patterns) - len(fields["patterns"])
        if others:
            lines.append(f"  {f'{others} other patterns':{width}}  {fields['others']:+8.3f}")
        lines.append(f"  {self.base_name:{width}}  {self.base:+8.3f}")
        return "\n".join(lines)

    def to_json(self, top: int = MAX_PATTERNS_SHOWN) -> dict[str, Any]:
        """The content of `text` as a dictionary for JSON."""
        shown = self.strongest(top)
        return {
            "predicted": self.predicted,
            "runner_up": self.runner_up,
            "probability": self.probability,
            "runner_up_probability": self.runner_up_probability,
            "margin": self.margin,
            "base": self.base,
            "patterns": [
                {
                    "pattern": self.patterns[index].name,
                    "contribution": float(self.contributions[index]),
                    "density": float(self.densities[index]),
                    "reference": None if self.reference is None else float(self.reference[index]),
                }
                for index in shown
            ],
            "others": float(self.contributions.sum() - self.contributions[list(shown)].sum()),
        }

    def figure(self, top: int = MAX_PATTERNS_SHOWN) -> Any:
        """A matplotlib figure: a bar and a drawing for each of the strongest patterns."""
        return _figure(self, top)

    def save(self, path: PathLike, top: int = MAX_PATTERNS_SHOWN) -> None:
        """Write `figure` to a .png, .svg or .pdf file."""
        figure = self.figure(top)
        from anysize.plots import save_figure  # needs matplotlib

        save_figure(figure, path)


def explain(
    ensemble: Ensemble, classes: Labels, examples: Examples, reference: Examples | None = None
) -> Explanation | VertexExplanation:
    """The explanation of one graph; see `GraphClassifier.explain`."""
    whole, ensemble = ensemble, _explained(ensemble)
    part = ensemble.parts[0]
    if _by_vertices(part):
        explanation = part.explain(examples, reference)
        return replace(explanation, predicted=classes[[explanation.predicted]].tolist()[0])
    probabilities = whole.outputs(examples).mean(axis=0)[0]
    return _explain_patterns(ensemble, classes, probabilities, examples, reference)


def check_has_explanations(ensemble: Ensemble) -> None:
    """An error for methods without explanations."""
    ensemble = _explained(ensemble)
    if not _by_vertices(ensemble.parts[0]):
        _gamma_parts(ensemble)


def _by_vertices(part: Fitted) -> TypeGuard[FittedSizeMix | FittedKernel]:
    """Whether a model is explained by vertices: SizeMix, and machines on the WL kernel, which have no pattern sizes."""
    return isinstance(part, FittedSizeMix) or (isinstance(part, FittedKernel) and part.explains)


def _explained(ensemble: Ensemble) -> Ensemble:
    """The ensemble itself; for "auto", the Gamma models or SizeMix, whichever answers."""
    parts = [part for part in ensemble.parts if isinstance(part, FittedAuto)]
    if not parts:
        return ensemble
    expert = "gamma-gin" if parts[0].decision.family == "gamma" else "sizemix"
    return replace(ensemble, parts=tuple(part.experts[expert] for part in parts if expert in part.experts))


def _explain_patterns(
    ensemble: Ensemble, classes: Labels, probabilities: FloatArray, examples: Examples, reference: Examples | None
) -> Explanation:
    """What patterns add for the most probable class; ``probabilities`` are those of all models of "auto"."""
    parts = _gamma_parts(ensemble)
    first, second = (int(index) for index in np.argsort(-probabilities, kind="stable")[:2])
    tables = [ensemble.method.counts(part, ensemble.k) for part in (examples, reference) if part is not None]
    columns, densities, weights = _terms(ensemble, tables[0] if reference is None else Counts.concatenate(tables))
    density = _mean_row(densities[[0]])
    mean = np.zeros(len(columns)) if reference is None else _mean_row(densities[1:])
    present = np.flatnonzero((density != 0) | (mean != 0))
    terms = (density - mean)[present] * (weights[present, first] - weights[present, second])
    order = np.argsort(-terms, kind="stable")
    shown = present[order]
    logits = np.concatenate([part.stack.logits(tables[0]) for part in parts])
    logit = logits.astype(np.float64).mean(axis=0)[0]
    predicted, runner_up = classes[[first, second]].tolist()
    return Explanation(
        predicted, runner_up, float(probabilities[first]), float(probabilities[second]),
        _merge_roles(columns[shown], ensemble), density[shown], None if reference is None else mean[shown],
        terms[order],
        float(logit[first] - logit[second] - terms.sum()),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class ClassPattern:
    """A pattern that distinguishes a class.

    Attributes:
        pattern: the pattern.
        contribution: how much it raises the mean logit of the class.
        more: whether graphs of the class have more of it than the average graph, or less.
    """

    pattern: Pattern
    contribution: float
    more: bool


def class_patterns(
    ensemble: Ensemble, examples: Examples, y: NDArray[np.int64], top: int = 3
) -> list[list[ClassPattern]]:
    """For every class, the patterns that raise its logit most on its own graphs, relative to the average graph.

    The contribution of a pattern F is (mean t_F over the class - mean t_F over all graphs) w_{F,c}.
    """
    columns, densities, weights = _terms(ensemble, ensemble.method.counts(examples, ensemble.k))
    mean = _mean_row(densities)
    by_class = []
    for label in range(weights.shape[1]):
        difference = _mean_row(densities[np.flatnonzero(y == label)]) - mean
        terms = difference * weights[:, label]
        best = [int(index) for index in np.argsort(-terms, kind="stable")[:top] if terms[index] > 0]
        patterns = _merge_roles(columns[np.array(best, np.int64)], ensemble)
        pairs = zip(patterns, best, strict=True)
        by_class.append([ClassPattern(pattern, float(terms[i]), bool(difference[i] > 0)) for pattern, i in pairs])
    return by_class


def pattern_weights(ensemble: Ensemble) -> tuple[tuple[Pattern, ...], FloatArray]:
    """What one unit of density of each pattern adds to the logit of each class, minus the mean over the classes.

    (patterns, classes), the mean over the models. The patterns are those of the catalog, or those that the model is
    limited to. Models that accept any colored pattern have no list of patterns.
    """
    ensemble = _explained(ensemble)
    if _by_vertices(ensemble.parts[0]):
        raise ValueError(f"{ensemble.method.name} has no list of weights of patterns; pass graphs to explain")
    parts = _gamma_parts(ensemble)
    vocabulary = parts[0].stack.vocabulary
    if vocabulary.columns is not None:
        columns = vocabulary.columns
    elif vocabulary.palette is None and vocabulary.edge_palette is None:
        sizes = (ensemble.k,) if isinstance(ensemble.k, int) else ensemble.k
        columns = unite([Columns.plain(size) for size in sizes])[0]
    else:
        raise ValueError("this model accepts any colored pattern and has no list of weights; pass graphs to explain")
    weights = _mean_weights(parts, columns)
    return columns.patterns, weights - weights.mean(axis=1, keepdims=True)


def is_pattern_sum(ensemble: Ensemble) -> bool:
    """Whether the logits of all models are sums over patterns: Gamma models with a linear head."""
    return all(isinstance(part, FittedGamma) and part.stack.model.head.is_linear for part in ensemble.parts)


def _gamma_parts(ensemble: Ensemble) -> Sequence[FittedGamma]:
    """The models, if they are sums over patterns; an error otherwise."""
    parts = [part for part in ensemble.parts if isinstance(part, FittedGamma)]
    if not is_pattern_sum(ensemble):
        raise ValueError(
            "explanations need auto, sizemix, wl-kernel, or gamma-1hot, gamma-gin or gamma-rpgin with a linear head; "
            f"this is {ensemble.method.name}{' with a hidden layer in the head' if parts else ''}"
        )
    return parts


def _mean_row(rows: csr_array[np.float64]) -> FloatArray:
    sums: FloatArray = np.asarray(rows.sum(axis=0), np.float64).reshape(-1)
    return sums / max(rows.shape[0], 1)


def _mean_weights(parts: Sequence[FittedGamma], columns: Columns) -> FloatArray:
    """(patterns, classes): what one unit of density adds to the logits, the mean over the models."""
    weights = np.concatenate([part.stack.pattern_logits(columns) for part in parts])
    return np.asarray(weights.astype(np.float64).mean(axis=0))


def _terms(ensemble: Ensemble, table: Counts) -> tuple[Columns, csr_array[np.float64], FloatArray]:
    """The patterns that the models use, their densities (graphs, patterns) and weights (patterns, classes)."""
    parts = _gamma_parts(ensemble)
    # The same for all models; the weights are those of densities before whitening.
    vocabulary = replace(parts[0].stack.vocabulary, whitening=None)
    columns, densities = vocabulary.densities(table)
    return columns, csr_array(densities * (1 / vocabulary.scale)), _mean_weights(parts, columns)


def _merge_roles(columns: Columns, ensemble: Ensemble) -> tuple[Pattern, ...]:
    """The patterns with colors of one role joined to a color "one|other"; colors unknown in training become "?"."""
    palette = _gamma_parts(ensemble)[0].stack.vocabulary.palette
    if palette is None or len(set(palette.values())) == len(palette):
        return columns.patterns
    members: dict[int, list[ColorName]] = {}
    for name, role in palette.items():
        members.setdefault(role, []).append(name)
    titles = {role: names[0] if len(names) == 1 else "|".join(map(str, names)) for role, names in members.items()}
    return tuple(
        pattern.colored(tuple(titles[palette[name]] if name in palette else "?" for name in pattern.colors or ()))
        for pattern in columns.patterns
    )


# ---- figure ------------------------------------------------------------------------------------


def _figure(explanation: Explanation, top: int) -> Any:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Explanation.figure needs matplotlib: pip install 'anysize[plot]'") from error
    shown = explanation.strongest(top)
    figure = Figure(figsize=(7, 0.8 + 0.7 * max(len(shown), 1)), layout="constrained")
    rows = figure.add_gridspec(max(len(shown), 1), 2, width_ratios=(1, 7))
    bars = figure.add_subplot(rows[:, 1])
    values = [explanation.contributions[index] for index in shown]
    cmap = matplotlib.colormaps["tab10"]
    bars.barh(range(len(shown)), values, color=[cmap(0) if value >= 0 else cmap(1) for value in values])
    bars.set_yticks(range(len(shown)), [explanation.patterns[index].plain_name for index in shown])
    bars.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    bars.axvline(0, color="black", linewidth=0.8)
    left, right = "\N{LEFTWARDS ARROW}", "\N{RIGHTWARDS ARROW}"
    bars.set_xlabel(f"for {explanation.runner_up}  {left}  logits  {right}  for {explanation.predicted}")
    base = f"{explanation.base_name}: {explanation.base:+.2f}"
    bars.set_title(f"{explanation.predicted}, probability {explanation.probability:.2f} ({base})")
    names = sorted({str(color) for index in shown for color in explanation.patterns[index].colors or ()})
    palette = {name: matplotlib.colormaps["Pastel1"](number % 9) for number, name in enumerate(names)}
    if names:
        dots = [bars.scatter([], [], color=palette[name], edgecolors="0.2", label=name) for name in names]
        figure.legend(handles=dots, loc="outside lower center", ncols=min(len(names), 4))
    for row, index in enumerate(shown):
        _draw(figure.add_subplot(rows[row, 0]), explanation.patterns[index], palette)
    return figure


def _draw(axes: Any, pattern: Pattern, palette: dict[str, Any]) -> None:
    """Draw the pattern; vertices are filled with their color, and they and edges show its first letters."""
    position = layout(pattern.size, pattern.edges)
    for i, j in pattern.edges:
        axes.plot(*zip(position[i], position[j], strict=True), color="0.4", linewidth=1, zorder=1)
    for (i, j), kind in zip(pattern.edges, pattern.edge_types or (), strict=False):
        tail, head = (position[i], position[j]) if kind.direction != IN else (position[j], position[i])
        if kind.direction != BOTH_WAYS:
            middle = tuple((2 * a + b) / 3 for a, b in zip(head, tail, strict=True))
            axes.annotate("", middle, tail, arrowprops={"arrowstyle": "-|>", "color": "0.4", "linewidth": 1})
        x, y = ((a + b) / 2 for a, b in zip(tail, head, strict=True))
        if kind.color is not None:
            paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
            axes.text(x, y, str(kind.color)[:2], ha="center", va="center", fontsize=6, bbox=paper, zorder=2)
    for vertex, (x, y) in enumerate(position):
        name = "" if pattern.colors is None else str(pattern.colors[vertex])
        axes.scatter(x, y, s=80 if name else 30, color=palette.get(name, "0.2"), edgecolors="0.2", zorder=2)
        if name:
            axes.text(x, y, name[:2], ha="center", va="center", fontsize=6, zorder=3)
    axes.set(xlim=(-0.25, 1.25), ylim=(1.25, -0.25), aspect="equal")
    axes.axis("off")
