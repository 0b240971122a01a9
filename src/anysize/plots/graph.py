"""Contributions to a prediction: a graph with its vertices colored by them, and bars of types and patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.graphs.assembly import induced_subgraphs
from anysize.graphs.attributes import BOTH_WAYS, IN
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.patterns.drawing import layout as pattern_layout
from anysize.patterns.pattern import Pattern
from anysize.plots.patterns import color_places
from anysize.plots.theme import INK, MUTED, PAPER, SERIES, caption, drawing, new_figure, quiet_grid

MAX_DRAWN = 120  # vertices; of larger graphs the strongest and their neighbors are drawn
MAX_NUMBERED = 60  # vertices
SIDE_POINTS = 230.0  # about the side of the drawing
LARGEST_DOT, SMALLEST_DOT, SMALLEST_LABELED = 17.0, 4.0, 8.0  # diameters of vertices in points
MAX_LABEL_LETTERS = 4
LAYOUT_STEPS = 300
FOR, AGAINST = SERIES[0], SERIES[1]
COLORS = LinearSegmentedColormap.from_list("contributions", [AGAINST, PAPER, FOR], 257)
BONDS: Mapping[str, tuple[str, ...]] = {  # colors of edges of molecules -> the lines they are drawn as
    "single": ("solid",), "double": ("solid", "solid"), "triple": ("solid", "solid", "solid"),
    "aromatic": ("solid", "dashed"),
}  # fmt: skip


def draw_contributions(graph: GraphSet, values: ArrayLike, name: str, ax: Axes | None = None) -> Axes:
    """Draw one graph, each vertex between two colors: what it adds for or against a class.

    Vertices are labeled with their colors and numbers. Edges of the color "double", "triple" or "aromatic" are drawn as
    such bonds. A graph whose name is the SMILES of its molecule gets the positions of RDKit, if that is installed.

    Args:
        graph: a set of one graph.
        values: (vertices,), positive for the class.
        name: of the class.
        ax: axes to draw on; new ones if None.
    """
    contributions = np.asarray(values, np.float64)
    size = int(graph.first[-1])
    if len(graph) != 1 or contributions.shape != (size,):
        raise ValueError(
            f"expected one graph and a value for each of its vertices; got {len(graph)} graphs with {size} vertices "
            f"and values of shape {contributions.shape}"
        )
    with drawing():
        axes = new_figure(4.0).subplots() if ax is None else ax
        shown = _strongest_part(graph, contributions)
        part = graph if shown.all() else induced_subgraphs(graph, shown)
        edges = part.edges()
        molecule = _molecule(part)
        positions = layout(part) if molecule is None else molecule
        lines, styles = _lines(positions, edges, _edge_colors(part))
        axes.add_collection(LineCollection(lines, colors=MUTED, linewidths=1.2, linestyles=styles, zorder=1))
        diameter = _diameter(positions, edges)
        limit = float(np.abs(contributions).max(initial=0)) or 1.0
        x, y = positions.T
        axes.scatter(
            x, y, diameter**2, c=contributions[shown], cmap=COLORS, vmin=-limit, vmax=limit,
            edgecolors=INK, linewidths=0.7, zorder=2,
        )  # fmt: skip
        if len(positions) <= MAX_NUMBERED:
            _label(axes, part, positions, np.flatnonzero(shown), diameter)
        handles = [
            Line2D([], [], marker="o", linestyle="", color=color, label=caption(f"{side} {name}"))
            for color, side in ((FOR, "for"), (AGAINST, "against"))
        ]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2)
        if not shown.all():
            axes.set_title(f"the strongest vertices and their neighbors, {int(shown.sum())} of {size:,}", fontsize=8.5)
        axes.margins(0.12)
        axes.set_aspect("equal", "datalim")
        axes.axis("off")
        return axes


def contributions_figure(
    graph: GraphSet, values: ArrayLike, name: str, bars: Sequence[tuple[str, float]], title: str = ""
) -> Figure:
    """The drawing of `draw_contributions`, and a bar for each of the named contributions."""
    with drawing():
        figure = new_figure(4.0, 8.0)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        draw_contributions(graph, values, name, left)
        _bars(right, bars)
        right.set_xlabel("contribution of a vertex type or pattern")
        figure.suptitle(caption(title, 100), fontsize=10)
        return figure


def pattern_contributions_figure(
    bars: Sequence[tuple[Pattern, float]], name: str, other: str, title: str = ""
) -> Figure:
    """A bar and a drawing for the contribution of each pattern, for the class ``name`` or for the ``other``."""
    with drawing():
        figure = new_figure(1.1 + 0.62 * max(len(bars), 1), 7.0)
        rows = figure.add_gridspec(max(len(bars), 1), 2, width_ratios=(1, 8))
        right = figure.add_subplot(rows[:, 1])
        _bars(right, [(pattern.plain_name, amount) for pattern, amount in bars])
        arrows = "\N{LEFTWARDS ARROW}", "\N{RIGHTWARDS ARROW}"
        right.set_xlabel(f"{arrows[0]} for {caption(other, 28)}    logits    for {caption(name, 28)} {arrows[1]}")
        places = color_places(sorted({color for pattern, _ in bars for color in pattern.colors or ()}, key=str))
        if places:
            dots = [
                Line2D([], [], marker="o", linestyle="", color=SERIES[number], label=caption(color))
                for color, number in places.items()
            ]
            figure.legend(handles=dots, loc="outside lower center", ncols=min(len(places), 6))
        for row, (pattern, _) in enumerate(bars):
            _draw_pattern(figure.add_subplot(rows[row, 0]), pattern, places)
        figure.suptitle(caption(title, 100), fontsize=10)
        return figure


def _bars(axes: Axes, bars: Sequence[tuple[str, float]]) -> None:
    """A horizontal bar for each of the named contributions, the first one on top."""
    amounts = [amount for _, amount in bars]
    axes.barh(range(len(bars)), amounts, color=[FOR if amount >= 0 else AGAINST for amount in amounts])
    axes.set_yticks(range(len(bars)), [caption(label, 28) for label, _ in bars])
    axes.set_ylim(max(len(bars), 1) - 0.5, -0.5)
    axes.axvline(0, color=MUTED, linewidth=0.8)
    quiet_grid(axes, "x")


def _draw_pattern(axes: Axes, pattern: Pattern, places: Mapping[ColorName, int]) -> None:
    """One pattern; vertices are filled with their color, and they and edges show the first two letters of theirs."""
    positions = np.array(pattern_layout(pattern.size, pattern.edges))
    edges = np.array(pattern.edges, np.int64).reshape(-1, 2)
    types = [str(kind.color or "") for kind in pattern.edge_types or ()] or [""] * len(edges)
    lines, styles = _lines(positions, edges, types)
    axes.add_collection(LineCollection(lines, colors=MUTED, linewidths=1.2, linestyles=styles, zorder=1))
    for (i, j), kind in zip(pattern.edges, pattern.edge_types or (), strict=False):
        tail, head = (positions[i], positions[j]) if kind.direction != IN else (positions[j], positions[i])
        if kind.direction != BOTH_WAYS:
            arrow = {"arrowstyle": "-|>", "color": MUTED, "linewidth": 1.2}
            axes.annotate("", (2 * head + tail) / 3, tail, arrowprops=arrow)
        if kind.color is not None and _bond(str(kind.color)) not in BONDS:
            x, y = (tail + head) / 2
            axes.text(x, y, caption(str(kind.color)[:2]), ha="center", va="center", fontsize=4.5, zorder=3)
    names = pattern.colors or ()
    colors = [SERIES[places[name]] for name in names] if names else INK
    axes.scatter(
        positions[:, 0], positions[:, 1], s=60 if names else 20, c=colors, edgecolors=INK, linewidths=0.7, zorder=2
    )
    for (x, y), name in zip(positions, names, strict=False):
        axes.text(x, y, caption(str(name)[:2]), ha="center", va="center", fontsize=4.5, color=PAPER, zorder=3)
    axes.set(xlim=(-0.3, 1.3), ylim=(1.3, -0.3), aspect="equal")
    axes.axis("off")


def layout(graph: GraphSet) -> FloatArray:
    """(vertices, 2): positions whose distances resemble the lengths of shortest paths.

    The sum over all pairs of (distance / length - 1)^2 is reduced step by step (stress majorization), from the first
    two principal axes of the lengths on. Components are one step further apart than any two vertices of one.
    """
    size = int(graph.first[-1])
    if size < 2:
        return np.zeros((size, 2))
    adjacency = csr_array((np.ones(len(graph.indices)), graph.indices.astype(np.int32), graph.indptr), (size, size))
    lengths = np.asarray(shortest_path(adjacency, unweighted=True))
    lengths[np.isinf(lengths)] = lengths[np.isfinite(lengths)].max() + 1
    squares = lengths**2
    centered = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, axes = np.linalg.eigh(centered)
    positions = axes[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    positions += np.random.default_rng(0).normal(scale=0.1, size=positions.shape)  # equal positions would stay equal
    np.fill_diagonal(squares, np.inf)
    weights = 1 / squares
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(LAYOUT_STEPS):
        apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        pull = weights * lengths / np.maximum(apart, 1e-9)
        positions = inverse @ (pull.sum(axis=1)[:, None] * positions - pull @ positions)
    return np.asarray(positions)


def _strongest_part(graph: GraphSet, values: FloatArray) -> BoolArray:
    """Which vertices are drawn: all, or in order of their absolute values the strongest, each with its neighbors."""
    size = len(values)
    if size <= MAX_DRAWN:
        return np.ones(size, np.bool_)
    shown = np.zeros(size, np.bool_)
    for vertex in np.argsort(-np.abs(values), kind="stable"):
        near = graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]]
        added = [vertex, *near[np.argsort(-np.abs(values[near]), kind="stable")]]
        fresh = [candidate for candidate in added if not shown[candidate]]
        shown[fresh[: MAX_DRAWN - int(shown.sum())]] = True
        if shown.sum() == MAX_DRAWN:
            break
    return shown


def _molecule(graph: GraphSet) -> FloatArray | None:
    """Positions of the atoms, if the name of the graph is the SMILES of just this molecule."""
    if graph.names is None or graph.colors is None:
        return None
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(graph.names[0])
    if molecule is None or molecule.GetNumAtoms() != int(graph.first[-1]):
        return None
    bonds = sorted(tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))) for bond in molecule.GetBonds())
    if bonds != [tuple(edge) for edge in graph.edges().tolist()]:
        return None
    rdDepictor.Compute2DCoords(molecule)
    return np.asarray(molecule.GetConformer().GetPositions(), np.float64)[:, :2]


def _edge_colors(graph: GraphSet) -> list[str]:
    """The color of every edge of one graph, in the order of `GraphSet.edges`; empty strings without colors."""
    if graph.edge_colors is None:
        return [""] * len(graph.edges())
    once = owners(graph.indptr) < graph.indices
    return [str(graph.edge_palette[code]) for code in graph.edge_colors[once]]


def _diameter(positions: FloatArray, edges: IntArray) -> float:
    """Of a vertex in points: at most 60 % of the median edge, or for graphs without edges by the number of vertices."""
    if len(positions) < 2:
        return LARGEST_DOT
    side = max(float(np.ptp(positions, axis=0).max()), 1e-9)
    lengths = np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)
    edge = float(np.median(lengths)) if len(edges) else side / len(positions) ** 0.5
    return float(np.clip(0.6 * edge / side * SIDE_POINTS, SMALLEST_DOT, LARGEST_DOT))


def _lines(positions: FloatArray, edges: IntArray, colors: Sequence[str]) -> tuple[list[FloatArray], list[str]]:
    """Line segments and their styles: one for an edge, parallel ones for a bond that has several (`BONDS`)."""
    lines: list[FloatArray] = []
    styles: list[str] = []
    for (i, j), color in zip(edges, colors, strict=True):
        ends = positions[[i, j]]
        along = ends[1] - ends[0]
        across = 0.12 * np.array([-along[1], along[0]])
        strokes = BONDS.get(_bond(color), ("solid",))
        lines += [ends + (step - (len(strokes) - 1) / 2) * across for step in range(len(strokes))]
        styles += strokes
    return lines, styles


def _bond(color: str) -> str:
    """The type of a bond, without whether it is in a ring."""
    return color.removesuffix(" in ring")


def _label(axes: Axes, graph: GraphSet, positions: FloatArray, numbers: IntArray, diameter: float) -> None:
    """Colors inside the vertices where they fit, and numbers beside them."""
    names = [str(name) for name in graph.color_names()] if diameter >= SMALLEST_LABELED else []
    if any(len(name) > MAX_LABEL_LETTERS for name in names):
        names = [name[:2] for name in names]
    for vertex, (x, y) in enumerate(positions):
        if names:
            height = diameter * (0.5 if len(names[vertex]) < 3 else 0.35)
            axes.text(x, y, caption(names[vertex]), ha="center", va="center", fontsize=height, zorder=3)
        axes.annotate(
            str(numbers[vertex]), (x, y), (0.4 * diameter,) * 2, textcoords="offset points", fontsize=5.5, color=MUTED,
            zorder=3,
        )  # fmt: skip
