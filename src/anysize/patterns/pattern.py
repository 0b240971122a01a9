"""Patterns: connected graphs on 1 to 7 vertices, plain or colored, with names, automorphisms and drawings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._schema import is_integer
from anysize.graphs.attributes import BOTH_WAYS, IN, OUT, EdgeType, edge_type_order
from anysize.graphs.colors import ColorName, color_order
from anysize.patterns.atlas import atlas_numbers
from anysize.patterns.drawing import draw
from anysize.patterns.graph6 import from_graph6, to_graph6
from anysize.patterns.orbits import MAX_SIZE, automorphisms, code_of, edges_of, is_connected, orbits

# Common names of patterns by their edges; names of cliques, cycles, paths, stars and wheels are generated.
_NAMED: dict[str, tuple[tuple[int, int], ...]] = {
    "vertex": (),
    "edge": ((0, 1),),
    "triangle": ((0, 1), (0, 2), (1, 2)),
    "claw": ((0, 1), (0, 2), (0, 3)),
    "paw": ((0, 1), (0, 2), (1, 2), (2, 3)),
    "diamond": ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)),
    "fork": ((0, 1), (0, 2), (0, 3), (3, 4)),
    "bull": ((0, 1), (0, 2), (1, 2), (0, 3), (1, 4)),
    "cricket": ((0, 1), (0, 2), (1, 2), (0, 3), (0, 4)),
    "tadpole": ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4)),
    "banner": ((0, 1), (1, 2), (2, 3), (0, 3), (0, 4)),
    "butterfly": ((0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)),
    "K2,3": ((0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)),
    "house": ((0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4)),
    "dart": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (0, 4)),
    "kite": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 4)),
    "lollipop": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4)),
    "K1,1,3": ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)),
    "gem": ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)),
    "K2,3+e": ((0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3)),
    "K5-P3": ((0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)),
    "K3,3": tuple((i, j) for i in range(3) for j in range(3, 6)),
    "prism": ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (0, 3), (1, 4), (2, 5)),
    "domino": ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)),
    "net": ((0, 1), (0, 2), (1, 2), (0, 3), (1, 4), (2, 5)),
    "sun": ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (0, 5), (2, 5)),
}


@dataclass(frozen=True)
class Pattern:
    """A connected graph on ``size`` vertices with canonical vertex numbers. Make one with `Pattern.of`.

    ``edges`` are pairs i < j; ``colors`` are the color names of the vertices, or None for a plain pattern;
    ``automorphisms`` is the number of automorphisms that preserve colors and types of edges; ``edge_types`` are those
    of the edges, seen from the smaller vertex, or None for a pattern that does not tell edges apart.

    Examples:
        >>> Pattern.of([(0, 1), (1, 2), (2, 0)])
        Pattern('triangle')
        >>> Pattern.of([(0, 1), (1, 2)], colors=["O", "C", "O"]).automorphisms
        2
    """

    size: int
    edges: tuple[tuple[int, int], ...]
    colors: tuple[ColorName, ...] | None
    automorphisms: int
    plain_name: str
    edge_types: tuple[EdgeType, ...] | None = None

    @staticmethod
    def of(
        edges: list[tuple[int, int]] | tuple[tuple[int, int], ...],
        colors: list[ColorName] | tuple[ColorName, ...] | None = None,
    ) -> Pattern:
        """Make the pattern of a connected graph; its vertices 0 .. size - 1 may be numbered in any way."""
        size = 1 + max((max(edge) for edge in edges), default=0)
        if colors is not None and len(colors) != size:
            raise ValueError(f"expected {size} colors, one per vertex; got {len(colors)}")
        check_size(size)
        if not is_connected(code_of(edges), size):
            raise ValueError(f"expected the edges of a connected graph with vertices numbered from 0; got {edges}")
        code = code_of(edges)
        table = class_table(size)
        plain = connected_patterns(size)[int(table[code])]
        if colors is None:
            return plain
        renamed: list[ColorName] = [0] * size
        for vertex, position in enumerate(orbits(size).renaming[code]):
            renamed[position] = colors[vertex]
        return plain.colored(tuple(renamed))

    @staticmethod
    def named(name: str) -> Pattern:
        """The plain pattern with a name, with a number in the atlas of graphs, or of a graph6 string.

        Examples:
            >>> Pattern.named("bull"), Pattern.named("G16"), Pattern.named("C~")
            (Pattern('bull'), Pattern('4-cycle'), Pattern('4-clique'))
        """
        for k in range(1, MAX_SIZE + 1):
            for pattern in connected_patterns(k):
                if name in (pattern.plain_name, f"G{pattern.atlas}"):
                    return pattern
        try:
            size, edges = from_graph6(name)
            if not is_connected(code_of(edges), size):
                raise ValueError("not connected")
            return Pattern.of(edges)
        except ValueError:
            raise ValueError(
                "expected the name of a pattern (bull, 6.45), its number in the atlas of graphs (G112) or a graph6 "
                f"string of a connected graph on up to {MAX_SIZE} vertices; got {name!r:.60}"
            ) from None

    def colored(self, colors: tuple[ColorName, ...]) -> Pattern:
        """The same pattern with these colors of its vertices; equivalent colorings give the same pattern."""
        kinds = dict(zip(self.edges, self.edge_types or (), strict=False))
        kinds |= {(j, i): kind.reverse for (i, j), kind in kinds.items()}
        equivalent = [
            (tuple(colors[v] for v in row), tuple(kinds[row[i], row[j]] for i, j in self.edges if kinds))
            for row in automorphisms(self.code, self.size).tolist()
        ]
        canonical = min(
            equivalent, key=lambda pair: (list(map(color_order, pair[0])), list(map(edge_type_order, pair[1])))
        )
        types = None if self.edge_types is None else canonical[1]
        return Pattern(self.size, self.edges, canonical[0], equivalent.count(canonical), self.plain_name, types)

    @property
    def code(self) -> int:
        """One bit per vertex pair, see `anysize.patterns.orbits`."""
        return code_of(self.edges)

    @property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """The ordered pairs of a directed pattern, both pairs of an edge without direction; none of other patterns."""
        if all(kind.direction == BOTH_WAYS and kind.color is not None for kind in self.edge_types or ()):
            return ()
        return tuple(ends for ends, _ in directed_edges(self.edges, self.edge_types or ()))

    @property
    def graph6(self) -> str:
        """The plain pattern in the graph6 format, by which databases of graphs can be searched."""
        return to_graph6(self.size, self.edges)

    @property
    def atlas(self) -> int:
        """The number of the plain pattern in the atlas of graphs, as in ``networkx.graph_atlas``."""
        return atlas_numbers(self.size)[int(class_table(self.size)[self.code])]

    @cached_property
    def name(self) -> str:
        """The name, followed by the colors of the vertices in canonical order, ``edge[C,O]``, and types of edges.

        Directed patterns on three vertices without any colors have the names of triads, such as ``021D``.
        """
        name = self.plain_name
        if self.edge_types is not None:
            is_triad = self.size == 3 and self.colors is None and all(kind.color is None for kind in self.edge_types)
            if is_triad:
                return triad_name(self.edges, self.edge_types)
            directed = any(kind.color is None or kind.direction != BOTH_WAYS for kind in self.edge_types)
            name += f"{{{','.join(kind.label(directed).strip() for kind in self.edge_types)}}}"
        if self.colors is None:
            return name
        return f"{name}[{','.join(format_color(color) for color in self.colors)}]"

    def __repr__(self) -> str:
        return f"Pattern({self.name!r})"

    def draw(self) -> str:
        """Draw the pattern as text; vertices are dots or the first letters of their colors."""
        return draw(self.size, self.edges, self.colors)

    def to_networkx(self) -> Any:
        """The pattern as a networkx graph, colors in the vertex attribute ``color``."""
        try:
            import networkx as nx
        except ImportError as error:
            raise ImportError("Pattern.to_networkx needs networkx: pip install networkx") from error
        graph = nx.empty_graph(self.size)
        graph.add_edges_from(self.edges)
        if self.edge_types is not None:
            graph = nx.empty_graph(self.size, nx.DiGraph)
            graph.add_edges_from(
                (*ends, {} if color is None else {"edge_color": color})
                for ends, color in directed_edges(self.edges, self.edge_types)
            )
        if self.colors is not None:
            nx.set_node_attributes(graph, dict(enumerate(self.colors)), "color")
        return graph


def directed_edges(
    edges: Iterable[tuple[int, int]], types: Iterable[EdgeType]
) -> list[tuple[tuple[int, int], ColorName | None]]:
    """The ordered pairs of edges with these types, and the color of each; both pairs of an edge without direction."""
    pairs: list[tuple[tuple[int, int], ColorName | None]] = []
    for (i, j), kind in zip(edges, types, strict=True):
        pairs += [((i, j), kind.color)] if kind.direction != IN else []
        pairs += [((j, i), kind.reverse.color)] if kind.direction != OUT else []
    return pairs


def triad_name(edges: Iterable[tuple[int, int]], types: Sequence[EdgeType]) -> str:
    """The usual name of a connected directed graph on three vertices: its numbers of mutual, asymmetric and null pairs.

    A letter tells apart those with the same numbers: down (one vertex points to both others), up, cyclic, transitive.

    >>> triad_name([(0, 1), (0, 2)], [EdgeType(None, None, OUT), EdgeType(None, None, OUT)])
    '021D'
    """
    mutual = sum(kind.direction == BOTH_WAYS for kind in types)
    arcs = [ends for ends, _ in directed_edges(edges, types)]
    one_way = [(u, v) for u, v in arcs if (v, u) not in arcs]
    name = f"{mutual}{len(one_way)}{3 - len(types)}"
    tails, heads = [u for u, _ in one_way], [v for _, v in one_way]
    if name == "111":  # the end of the mutual pair that the third vertex is joined to sends or receives the arc
        in_pair = {u for u, v in arcs if (v, u) in arcs}
        return f"{name}{'D' if heads[0] in in_pair else 'U'}"
    if name in ("021", "120"):
        return f"{name}{'D' if tails[0] == tails[1] else 'U' if heads[0] == heads[1] else 'C'}"
    return f"{name}{'C' if len(set(tails)) == 3 else 'T'}" if name == "030" else name


def format_color(color: ColorName) -> str:
    """A color in the name of a pattern or of a vertex type; ambiguous strings are quoted."""
    if isinstance(color, str) and (not color or re.search(r'[\[\],"\s]|^-?\d+$', color)):
        return json.dumps(color, ensure_ascii=False)
    return str(color)


def check_size(k: int) -> int:
    """Return k if it is a supported pattern size; otherwise raise an error."""
    if not is_integer(k) or not 1 <= k <= MAX_SIZE:
        raise ValueError(f"k must be an integer from 1 to {MAX_SIZE}; got {k!r:.60}")
    return int(k)


def pattern_sizes(k: Any) -> int | tuple[int, ...]:
    """A checked pattern size, or several in ascending order.

    >>> pattern_sizes(5), pattern_sizes([4, 3])
    (5, (3, 4))
    """
    sizes = list_sizes(k)
    return sizes[0] if len(sizes) == 1 else tuple(sizes)


def list_sizes(k: Any) -> list[int]:
    """One or several pattern sizes, checked, as an ascending list.

    >>> list_sizes(5), list_sizes(range(3, 5))
    ([5], [3, 4])
    """
    if isinstance(k, np.ndarray) and not k.ndim:
        k = k.item()
    given: list[Any] = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    if not given:
        raise ValueError(f"k needs at least one pattern size from 1 to {MAX_SIZE}; got {k!r:.60}")
    return sorted(set(map(check_size, given)))


@cache
def representatives(k: int) -> tuple[int, ...]:
    """The smallest codes of the connected isomorphism classes, by number of edges, then by code."""
    smallest = np.unique(orbits(k).smallest)
    connected = [int(code) for code in smallest if is_connected(int(code), k)]
    return tuple(sorted(connected, key=lambda code: (code.bit_count(), code)))


@cache
def class_table(k: int) -> NDArray[np.int16]:
    """For every code on k vertices its position in `connected_patterns`, or -1 if it is not connected."""
    position = np.full(1 << (k * (k - 1) // 2), -1, np.int16)
    position[list(representatives(k))] = np.arange(len(representatives(k)))
    return position[orbits(k).smallest]


@cache
def connected_patterns(k: int) -> tuple[Pattern, ...]:
    """List all connected patterns on k vertices (k = 1..7), by number of edges.

    Examples:
        >>> [pattern.name for pattern in connected_patterns(4)]
        ['claw', '4-path', 'paw', '4-cycle', 'diamond', '4-clique']
        >>> [len(connected_patterns(k)) for k in range(1, 7)]
        [1, 1, 2, 6, 21, 112]
    """
    check_size(k)
    names = _names(k)
    sizes = orbits(k).size
    return tuple(
        Pattern(
            size=k,
            edges=edges_of(code, k),
            colors=None,
            automorphisms=factorial(k) // int(sizes[code]),  # orbit-stabilizer theorem
            plain_name=names.get(code, f"{k}.{index}"),
        )
        for index, code in enumerate(representatives(k))
    )


def _names(k: int) -> dict[int, str]:
    """Representative code -> name, for patterns with a common name."""
    ring = [(i, (i + 1) % k) for i in range(k)]
    rim = [(1 + i, 1 + (i + 1) % (k - 1)) for i in range(k - 1)] if k > 1 else []
    spokes = [(0, i) for i in range(1, k)]
    clique = [(i, j) for j in range(k) for i in range(j)]
    families: list[tuple[str, list[tuple[int, int]]]] = []
    if k >= 5:
        families += [(f"{k - 1}-wheel", spokes + rim), (f"K1,{k - 1}", spokes), (f"K{k}-e", clique[1:])]
    if k >= 4:
        families += [(f"{k}-cycle", ring), (f"{k}-clique", clique)]
    if k >= 3:
        families.append((f"{k}-path", ring[:-1]))
    families += [(name, list(edges)) for name, edges in _NAMED.items() if _size(edges) == k]
    smallest = orbits(k).smallest
    return {int(smallest[code_of(edges)]): name for name, edges in families}


def _size(edges: tuple[tuple[int, int], ...]) -> int:
    return 1 + max((max(edge) for edge in edges), default=0)
