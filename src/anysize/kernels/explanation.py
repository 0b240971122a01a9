"""Explain a score that is a sum over Weisfeiler-Lehman vertex types: what each type and each vertex adds to it.

SizeMix also adds patterns, which no vertices share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from anysize._errors import naming_extra
from anysize._text import plural
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.graphs.graphset import GraphSet
from anysize.kernels.wl import WLKernel
from anysize.patterns.pattern import format_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_TYPES_SHOWN = 8
MAX_VERTICES_LISTED = 6


class Named(Protocol):
    """A pattern, or something else that is counted."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class TypeContribution:
    """What one vertex type, or for SizeMix one pattern, adds to the score of the predicted class.

    Attributes:
        name: the color of the vertex and, in brackets, the types of its neighbors, refined ``depth`` times; the name of
            a pattern.
        depth: how often colors were refined; None for a pattern.
        vertices: the vertices of the graph that have the type; none where its absence counts, and for a pattern.
        contribution: the sum over these vertices.
        scaling, exponent: for SizeMix, of the head in which the type weighs most; None for kernels.
        copies: of a pattern in the graph, as an induced subgraph; None for a type.
    """

    name: str
    depth: int | None
    vertices: tuple[int, ...]
    contribution: float
    scaling: str | None = None
    exponent: float | None = None
    copies: int | None = None

    @property
    def where(self) -> str:
        """Where the graph has it."""
        if self.copies:
            return plural(self.copies, "copy", "copies")
        if not self.vertices:
            return "absent"
        return f"{'vertex' if len(self.vertices) == 1 else 'vertices'} {_listed(self.vertices)}"

    def __repr__(self) -> str:
        where = f"at vertices ({_listed(self.vertices)})" if self.vertices else self.where
        return f"TypeContribution({self.name!r}, {self.contribution:+.4g} {where})"


@dataclass(frozen=True, eq=False)
class VertexExplanation:
    """What each vertex type, and each vertex, adds to the score of the predicted class of one graph.

    The contribution of a type is shared equally by the vertices that have it, and a vertex has one type per depth. The
    score, `margin`, is exactly ``base`` plus all ``contributions``: ``base``, ``vertices``, the types that no vertex
    has, and patterns.

    Attributes:
        predicted: the class, or the number.
        probability: its value in `predict_proba`; None for a number.
        score: what contributions add up to: the number, the margin of the SVM (for more than two classes the mean
            margin against the other classes), or the weighted mean of the logits of the heads of SizeMix.
        base: the score without contributions.
        base_name: which graph has this score.
        graph: the graph.
        vertices: (vertices,) what each vertex adds.
        contributions: (types,) what each type or pattern adds, the strongest first.
        columns: (types,) of the Weisfeiler-Lehman features; patterns come after them.
        kernel: the features.
        scalings: for SizeMix, scaling and exponent of each type and pattern.
        patterns: for SizeMix, the patterns, and what it counts by vertex features. copies: (patterns,) of each in the
            graph.
    """

    predicted: Any
    probability: float | None
    score: str
    base: float
    base_name: str
    graph: GraphSet
    vertices: FloatArray
    contributions: FloatArray
    columns: IntArray
    kernel: WLKernel
    scalings: Sequence[tuple[str, float]] = ()
    patterns: Sequence[Named] = ()
    copies: Sequence[float] | FloatArray = ()

    @property
    def margin(self) -> float:
        """The score of the predicted class: the base plus all contributions."""
        return self.base + float(self.contributions.sum())

    @cached_property
    def types(self) -> tuple[TypeContribution, ...]:
        """All types with a contribution, the strongest first."""
        return self.strongest(len(self.columns))

    def strongest(self, top: int = MAX_TYPES_SHOWN) -> tuple[TypeContribution, ...]:
        """The ``top`` types with the largest absolute contributions."""
        return tuple(self._describe(position) for position in range(min(top, len(self.columns))))

    def _describe(self, position: int) -> TypeContribution:
        column, types = int(self.columns[position]), int(self.kernel.offsets_[-1])
        contribution = float(self.contributions[position])
        scaling, exponent = self.scalings[position] if self.scalings else (None, None)
        if column >= types:
            name, copies = self.patterns[column - types].name, int(self.copies[column - types])
            return TypeContribution(name, None, (), contribution, scaling, exponent, copies)
        depth = int(np.searchsorted(self.kernel.offsets_, column, side="right")) - 1
        members = np.flatnonzero(self._vertex_columns[depth] == column)
        name = self.kernel.type_name(depth, column - int(self.kernel.offsets_[depth]))
        return TypeContribution(name, depth, tuple(members.tolist()), contribution, scaling, exponent)

    @cached_property
    def _vertex_columns(self) -> list[IntArray]:
        return vertex_columns(self.kernel, self.graph)

    @property
    def _heading(self) -> str:
        if self.probability is None:
            return f"{self._title} ({self.score})"
        return f"{self._title} (probability {self.probability:.2f}); {self.score} {self.margin:+.2f}"

    @property
    def _title(self) -> str:
        """The class, or the number."""
        return str(self.predicted) if self.probability is not None else f"{self.predicted:.4g}"

    def __str__(self) -> str:
        return self.text()

    def text(self, top: int = MAX_TYPES_SHOWN) -> str:
        """One line for each of the ``top`` strongest types, one for the others, and the strongest vertices."""
        shown = self.strongest(top)
        lines = [self._heading]
        titles = [_short(title) for title in _titles(shown)]
        width = max(24, *map(len, titles), 0)
        for title, shown_type in zip(titles, shown, strict=True):
            scaling = "" if shown_type.scaling is None else f"{shown_type.scaling}; "
            if shown_type.scaling == "fitted":
                scaling = f"fitted (exponent {shown_type.exponent:.2f}); "
            lines.append(f"  {title:{width}}  {shown_type.contribution:+8.3f}  {scaling}{shown_type.where}")
        others = len(self.columns) - len(shown)
        if others:
            rest = f"{others} other types{' and patterns' if self.patterns else ''}"
            lines.append(f"  {rest:{width}}  {self.contributions[top:].sum():+8.3f}")
        lines.append(f"  {self.base_name:{width}}  {self.base:+8.3f}")
        names = self.graph.color_names()
        order = [int(v) for v in np.argsort(-np.abs(self.vertices), kind="stable")[:MAX_VERTICES_LISTED]]
        strong = [
            f"{v}{f' ({format_color(names[v])})' if names else ''} {self.vertices[v]:+.3f}"
            for v in order
            if self.vertices[v]
        ]
        if strong:
            lines.append(f"  strongest vertices: {', '.join(strong)}")
        return "\n".join(lines)

    def to_json(self, top: int = MAX_TYPES_SHOWN) -> dict[str, Any]:
        """The ``top`` strongest types and all vertices as a dictionary for JSON."""
        return {
            "predicted": self.predicted,
            "probability": self.probability,
            "score": self.score,
            "margin": self.margin,
            "base": self.base,
            "types": [asdict(strong) for strong in self.strongest(top)],
            "others": float(self.contributions[top:].sum()),
            "vertices": self.vertices.tolist(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the graph, each vertex in the color of its contribution; on new axes if None.

        A molecule that was read from SMILES is drawn as such if RDKit is installed, with types of bonds only if the
        model sees them. Of a large graph, the strongest vertices and their neighbors are drawn.
        """
        drawn: Axes = _plots().draw_contributions(self._seen, self.vertices, self._title, ax)
        return drawn

    def figure(self, top: int = MAX_TYPES_SHOWN) -> Figure:
        """A matplotlib figure: the graph as in `plot`, and a bar for each of the strongest types."""
        shown = self.strongest(top)
        bars = [(title, shown_type.contribution) for title, shown_type in zip(_titles(shown), shown, strict=True)]
        drawn: Figure = _plots().contributions_figure(self._seen, self.vertices, self._title, bars, self._heading)
        return drawn

    @property
    def _seen(self) -> GraphSet:
        """The graph without what the model does not see: colors of edges, if it was trained without them."""
        is_colored = any(kind.color is not None for kind in self.kernel.edge_types_ or ())
        return self.graph if is_colored else self.graph.without_edge_colors()

    def save(self, path: PathLike, top: int = MAX_TYPES_SHOWN) -> None:
        """Write `figure` to a .png, .svg or .pdf file."""
        _plots().save_figure(self.figure(top), path)


def explain_types(
    kernel: WLKernel, graph: GraphSet, contributions: FloatArray, scalings: Sequence[tuple[str, float]] = (),
    pattern_terms: FloatArray | None = None, **about: Any,
) -> VertexExplanation:  # fmt: skip
    """The explanation of one graph from what every column of its features adds to a score.

    Args:
        kernel: the fitted features. graph: the graph.
        contributions: (columns,).
        scalings: for SizeMix, scaling and exponent of each column and pattern.
        pattern_terms: for SizeMix, what each pattern adds.
        about: the other attributes of `VertexExplanation`.
    """
    terms = contributions if pattern_terms is None else np.concatenate([contributions, pattern_terms])
    nonzero = np.flatnonzero(terms)
    order = nonzero[np.argsort(-np.abs(terms[nonzero]), kind="stable")]
    vertices = np.zeros(int(graph.first[-1]))
    for of_iteration in vertex_columns(kernel, graph):
        known = of_iteration >= 0
        amounts = np.bincount(of_iteration[known], minlength=len(contributions))
        vertices[known] += (contributions / np.maximum(amounts, 1))[of_iteration[known]]
    return VertexExplanation(
        **about, graph=graph, vertices=vertices, contributions=terms[order], columns=order, kernel=kernel,
        scalings=tuple(scalings[column] for column in order) if scalings else (),
    )  # fmt: skip


def vertex_columns(kernel: WLKernel, graph: GraphSet) -> list[IntArray]:
    """For every depth, the column of the features that each vertex counts in; -1 for types unknown in training."""
    limits = zip(kernel.refine(graph).classes, kernel.offsets_[:-1], kernel.offsets_[1:], strict=True)
    return [np.where(of_iteration < end - begin, of_iteration + begin, -1) for of_iteration, begin, end in limits]


@naming_extra("A figure")
def _plots() -> ModuleType:
    from anysize import plots

    return plots


def _titles(shown: Sequence[TypeContribution]) -> list[str]:
    """The names of types; with their depth where several have one name, as vertices without neighbors do."""
    amounts = Counter(kind.name for kind in shown)
    return [f"{kind.name}, depth {kind.depth}" if amounts[kind.name] > 1 else kind.name for kind in shown]


def _short(name: str, longest: int = 48) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _listed(vertices: Sequence[int]) -> str:
    shown = ", ".join(map(str, vertices[:MAX_VERTICES_LISTED]))
    return shown if len(vertices) <= MAX_VERTICES_LISTED else f"{shown}, ... ({len(vertices)})"
