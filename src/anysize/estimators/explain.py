"""Explain predictions: Gamma models with a linear head by patterns, SizeMix and the WL kernel by vertices.

The logits of Gamma models with a linear head are sums over patterns; see `anysize.kernels.explanation` for vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from anysize._errors import naming_extra
from anysize._typing import FloatArray, PathLike
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.estimators.ensemble import Ensemble
from anysize.graphs.colors import ColorName
from anysize.graphs.labels import Labels
from anysize.kernels.explanation import VertexExplanation
from anysize.methods.auto import FittedAuto, FittedDensityRegression
from anysize.methods.kernel_machines import FittedKernel
from anysize.methods.method import Examples, Fitted
from anysize.methods.neural import FittedStack
from anysize.methods.sizemix import FittedSizeMix
from anysize.patterns.pattern import Pattern

if TYPE_CHECKING:
    from anysize.training.vocabulary import Vocabulary

MAX_PATTERNS_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Explanation:
    r"""The contribution of each pattern of a graph to the difference of two logits.

    .. math:: z_c(G) - z_d(G) = b + \sum_F (t_F(G) - t_F)\, (w_{F,c} - w_{F,d})

    c is the predicted class and d the second most probable one; t_F is the mean density over the training graphs, or
    over reference graphs. For several models all terms are means over them; for "auto" z is the weighted mean of the
    logits of its Gamma model and of its regression on densities.

    Attributes:
        predicted, runner_up: the two classes.
        probability, runner_up_probability: their values in `predict_proba`.
        patterns: the patterns of the graph (and of the reference), from the largest contribution for the predicted
            class to the largest against it. Colors that the model does not distinguish, because they have the same
            role, are shown as one color named "one|other".
        densities: t_F(G).
        reference: t_F.
        contributions: the terms of the sum.
        base: b, the difference of the logits for the mean graph.
        base_name: "mean training graph", or "mean reference graph"; "no patterns" for models of old files.
    """

    predicted: Any
    runner_up: Any
    probability: float
    runner_up_probability: float
    patterns: tuple[Pattern, ...]
    densities: FloatArray
    reference: FloatArray
    contributions: FloatArray
    base: float
    base_name: str

    @property
    def margin(self) -> float:
        """The difference of the two logits: the base plus all contributions."""
        return self.base + float(self.contributions.sum())

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
            value, density = shown["contribution"], f"density {shown['density']:.3g}, mean {shown['reference']:.3g}"
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
                    "reference": float(self.reference[index]),
                }
                for index in shown
            ],
            "others": float(self.contributions.sum() - self.contributions[list(shown)].sum()),
        }

    @naming_extra("Explanation.figure")
    def figure(self, top: int = MAX_PATTERNS_SHOWN) -> Any:
        """A matplotlib figure: a bar and a drawing for each of the strongest patterns."""
        from anysize.plots import pattern_contributions_figure

        shown = self.strongest(top)
        title = (
            f"{self.predicted}, probability {self.probability:.2f} (difference of logits {self.margin:+.2f}, "
            f"{self.base_name} {self.base:+.2f})"
        )
        bars = [(self.patterns[index], float(self.contributions[index])) for index in shown]
        return pattern_contributions_figure(bars, str(self.predicted), str(self.runner_up), title)

    def save(self, path: PathLike, top: int = MAX_PATTERNS_SHOWN) -> None:
        """Write `figure` to a .png, .svg or .pdf file."""
        figure = self.figure(top)
        from anysize.plots import save_figure  # needs matplotlib

        save_figure(figure, path)


def explain(
    ensemble: Ensemble, classes: Labels | None, examples: Examples, reference: Examples | None = None
) -> Explanation | VertexExplanation:
    """The explanation of one graph; see `GraphClassifier.explain`. ``classes``: None for a model of numbers."""
    parts = _vertex_parts(ensemble)
    if parts or classes is None:
        explanation = parts[0].explain(examples, reference)
        several = "" if len(parts) == 1 else f" of the first of {len(parts)} models"
        predicted = explanation.predicted if classes is None else classes[[explanation.predicted]].tolist()[0]
        return replace(explanation, predicted=predicted, score=f"{explanation.score}{several}")
    return _explain_patterns(PatternSums.of(ensemble), ensemble, classes, examples, reference)


def check_has_explanations(ensemble: Ensemble, numbers: bool = False) -> None:
    """An error for methods without explanations."""
    parts = _vertex_parts(ensemble)
    if numbers and not any(isinstance(part, FittedSizeMix) for part in parts):
        raise ValueError(f"explanations of numbers need sizemix; this is {ensemble.method.name}")
    if not parts:
        PatternSums.of(ensemble)


def _vertex_parts(ensemble: Ensemble) -> list[FittedSizeMix | FittedKernel]:
    """Models that are explained by vertices: SizeMix, and machines on the WL kernel, which have no pattern sizes."""
    parts = [
        part.experts["sizemix"] if isinstance(part, FittedAuto) and part.decision.family == "sizemix" else part
        for part in ensemble.parts
    ]
    return [part for part in parts if _by_vertices(part)]


def _by_vertices(part: Fitted) -> TypeGuard[FittedSizeMix | FittedKernel]:
    return isinstance(part, FittedSizeMix) or (isinstance(part, FittedKernel) and part.explains)


# ---- sums over patterns --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Models whose logits are sums over patterns: Gamma models with a linear head, and the Gamma experts of "auto".

    Attributes:
        parts: the models, with the share that each has in the mean logit.
        vocabulary: the patterns that they read and their roles: colors that every model joins have one role.
    """

    parts: tuple[tuple[float, FittedStack | FittedDensityRegression], ...]
    vocabulary: Vocabulary

    @staticmethod
    def of(ensemble: Ensemble) -> PatternSums:
        """The sums of these models; an error if they are none."""
        shares = _shares(ensemble)
        parts = tuple((share, part) for share, part in shares if _is_sum(part))
        gammas = [part for _, part in parts if isinstance(part, FittedStack)]
        if len(parts) < len(shares) or not gammas:
            hidden = any(isinstance(part, FittedStack) and part.k is not None for _, part in shares)
            raise ValueError(
                "explanations need auto, sizemix, wl-kernel, or gamma-1hot, gamma-gin or gamma-rpgin with a linear "
                f"head; this is {ensemble.method.name}{' with a hidden layer in the head' if hidden else ''}"
            )
        palettes = [part.stack.vocabulary.palette for part in gammas]
        roles = None
        if palettes[0] is not None:
            names = dict.fromkeys(name for palette in palettes for name in palette or ())
            joined = {name: tuple((palette or {}).get(name, -1) for palette in palettes) for name in names}
            numbers = {role: number for number, role in enumerate(sorted(set(joined.values())))}
            roles = {name: numbers[role] for name, role in joined.items()}
        return PatternSums(parts, replace(gammas[0].stack.vocabulary, palette=roles))

    def logits(self, examples: Examples, table: Counts) -> FloatArray:
        """(graphs, classes): the mean over the models, for graphs with this table of counts."""
        total: Any = 0.0
        for share, part in self.parts:
            by_model = part.stack.logits(table) if isinstance(part, FittedStack) else part.logits(examples)
            total = total + share * by_model.astype(np.float64).mean(axis=0)
        return np.asarray(total)

    def weights(self, columns: Columns) -> FloatArray:
        """(patterns, classes): what one unit of density adds to `logits`."""
        total: Any = 0.0
        for share, part in self.parts:
            by_model = (part.stack if isinstance(part, FittedStack) else part).pattern_logits(columns)
            total = total + share * by_model.astype(np.float64).mean(axis=0)
        return np.asarray(total)

    def mean_training_graph(self) -> list[tuple[Columns, csr_array[np.float64]]]:
        """The mean densities of the training graphs of every Gamma model; of old files none."""
        known = [part.stack.vocabulary.mean for _, part in self.parts if isinstance(part, FittedStack)]
        return [(mean.columns, csr_array(mean.densities[None])) for mean in known if mean is not None]

    def named(self, columns: Columns) -> tuple[Pattern, ...]:
        """The patterns with colors of one role joined to a color "one|other"; unknown colors become "?"."""
        palette = self.vocabulary.palette
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


def _shares(ensemble: Ensemble) -> list[tuple[float, Fitted]]:
    """All models, those of "auto" one by one, and the share of each in the mean."""
    shares: list[tuple[float, Fitted]] = []
    for part in ensemble.parts:
        share = len(part.runs) / len(ensemble.seeds)
        experts = part.experts.values() if isinstance(part, FittedAuto) else [part]
        weights = part.weights.tolist() if isinstance(part, FittedAuto) else [1.0]
        shares += [(share * weight, expert) for weight, expert in zip(weights, experts, strict=True)]
    return shares


def _is_sum(part: Fitted) -> TypeGuard[FittedStack | FittedDensityRegression]:
    return isinstance(part, FittedDensityRegression) or (
        isinstance(part, FittedStack) and part.k is not None and part.stack.model.head.is_linear
    )


def _explain_patterns(
    sums: PatternSums, ensemble: Ensemble, classes: Labels, examples: Examples, reference: Examples | None
) -> Explanation:
    """What patterns add for the most probable class."""
    probabilities = ensemble.outputs(examples).mean(axis=0)[0]
    first, second = (int(index) for index in np.argsort(-probabilities, kind="stable")[:2])
    if isinstance(part := ensemble.parts[0], FittedAuto):
        examples, reference = examples.binned(part.bins), None if reference is None else reference.binned(part.bins)
    table = ensemble.method.counts(examples, ensemble.k)
    compared = (
        sums.mean_training_graph()
        if reference is None
        else [sums.vocabulary.unscaled(ensemble.method.counts(reference, ensemble.k))]
    )
    base_name = (
        "mean reference graph" if reference is not None else "mean training graph" if compared else "no patterns"
    )
    tables = [sums.vocabulary.unscaled(table), *compared]
    known = sums.vocabulary.columns  # those of all tables, if the models are limited to them
    columns, rows = _united(tables) if known is None else (known, csr_array(vstack([rows for _, rows in tables])))
    columns, rows = sums.vocabulary.by_role(columns, rows)
    density = rows[[0]].toarray()[0]
    mean = np.asarray(rows[1:].sum(axis=0)).reshape(-1) / max(rows.shape[0] - 1, 1)
    weights = sums.weights(columns)
    present = np.flatnonzero((density != 0) | (mean != 0))
    terms = (density - mean)[present] * (weights[present, first] - weights[present, second])
    order = np.argsort(-terms, kind="stable")
    shown = present[order]
    logit = sums.logits(examples, table)[0]
    predicted, runner_up = classes[[first, second]].tolist()
    return Explanation(
        predicted, runner_up, float(probabilities[first]), float(probabilities[second]), sums.named(columns[shown]),
        density[shown], mean[shown], terms[order], float(logit[first] - logit[second] - terms.sum()), base_name,
    )  # fmt: skip


def _united(tables: Sequence[tuple[Columns, csr_array[np.float64]]]) -> tuple[Columns, csr_array[np.float64]]:
    """Tables of densities below each other."""
    columns, positions = unite([table[0] for table in tables])
    rows = [
        csr_array((table.data, places[table.indices], table.indptr), shape=(table.shape[0], len(columns)))
        for (_, table), places in zip(tables, positions, strict=True)
    ]
    return columns, csr_array(vstack(rows))


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
    sums = PatternSums.of(ensemble)
    table = ensemble.method.counts(examples, ensemble.k)
    columns, rows = sums.vocabulary.by_role(*sums.vocabulary.unscaled(table))
    weights, mean = sums.weights(columns), _mean_row(rows)
    by_class = []
    for label in range(weights.shape[1]):
        difference = _mean_row(rows[np.flatnonzero(y == label)]) - mean
        terms = difference * weights[:, label]
        best = [int(index) for index in np.argsort(-terms, kind="stable")[:top] if terms[index] > 0]
        pairs = zip(sums.named(columns[np.array(best, np.int64)]), best, strict=True)
        by_class.append([ClassPattern(pattern, float(terms[i]), bool(difference[i] > 0)) for pattern, i in pairs])
    return by_class


def class_pattern_lines(ensemble: Ensemble, classes: Labels, examples: Examples, y: NDArray[np.int64]) -> list[str]:
    """A line for every class of these graphs with its patterns; none for models that are no sums over patterns."""
    if not all(_is_sum(part) for _, part in _shares(ensemble)):
        return []
    lines = []
    for label, patterns in enumerate(class_patterns(ensemble, examples, y)):
        if (y == label).any():
            named = [f"{'more' if p.more else 'less'} {p.pattern.name} ({p.contribution:+.2f})" for p in patterns]
            lines.append(f"class {classes.tolist()[label]} has {', '.join(named) or 'no distinctive patterns'}")
    return lines


def _mean_row(rows: csr_array[np.float64]) -> FloatArray:
    sums: FloatArray = np.asarray(rows.sum(axis=0), np.float64).reshape(-1)
    return sums / max(rows.shape[0], 1)
