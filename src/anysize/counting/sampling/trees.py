"""Free trees on k vertices, and how to draw their maps into a graph one vertex at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from anysize.patterns.pattern import Pattern, connected_patterns

Shape = tuple["Shape", ...]  # a rooted subtree: the shapes of its children, sorted; a leaf is ()


@dataclass(frozen=True)
class TreePlan:
    """A free tree, rooted at its center: vertices in the order in which they are drawn.

    Vertex 0 is the root; ``parent[i] < i``; leaves of one parent stand together, behind its other children.
    ``shape[i]`` is the subtree below vertex i.
    """

    pattern: Pattern
    parent: tuple[int, ...]
    shape: tuple[Shape, ...]


@cache
def tree_plans(k: int) -> tuple[TreePlan, ...]:
    """All free trees on k vertices.

    Examples:
        >>> [len(tree_plans(k)) for k in range(3, 8)]
        [1, 2, 3, 6, 11]
    """
    return tuple(_plan(pattern) for pattern in connected_patterns(k) if len(pattern.edges) == k - 1)


def _plan(tree: Pattern) -> TreePlan:
    beside: dict[int, list[int]] = {v: [] for v in range(tree.size)}
    for i, j in tree.edges:
        beside[i].append(j)
        beside[j].append(i)

    def shape(vertex: int, above: int) -> Shape:
        return tuple(sorted(shape(child, vertex) for child in beside[vertex] if child != above))

    def height(vertex: int, above: int) -> int:
        return 1 + max((height(child, vertex) for child in beside[vertex] if child != above), default=0)

    root = min(range(tree.size), key=lambda vertex: (height(vertex, -1), vertex))
    parent, shapes, waiting = [-1], [shape(root, -1)], [(root, -1, 0)]
    while waiting:
        vertex, above, place = waiting.pop(0)
        children = [child for child in beside[vertex] if child != above]
        for child in sorted(children, key=lambda child: shape(child, vertex) == ()):
            parent.append(place)
            shapes.append(shape(child, vertex))
            waiting.append((child, vertex, len(parent) - 1))
    return TreePlan(tree, tuple(parent), tuple(shapes))


@cache
def spanning_trees(k: int) -> NDArray[np.int64]:
    """Matrix (trees, catalog): how many spanning trees of each kind a pattern has.

    Examples:
        >>> spanning_trees(4).tolist()  # claws and paths in claw, path, paw, 4-cycle, diamond, clique
        [[1, 0, 1, 0, 2, 4], [0, 1, 2, 4, 6, 12]]
    """
    from anysize.patterns.pattern import class_table

    codes = _labeled_trees(k)
    kinds = class_table(k)[codes]
    plans = tree_plans(k)
    place = {pattern.code: number for number, pattern in enumerate(connected_patterns(k))}
    matrix = np.zeros((len(plans), len(connected_patterns(k))), np.int64)
    for column, pattern in enumerate(connected_patterns(k)):
        inside = (codes & ~pattern.code) == 0
        for row, plan in enumerate(plans):
            matrix[row, column] = np.count_nonzero(kinds[inside] == place[plan.pattern.code])
    return matrix


def _labeled_trees(k: int) -> NDArray[np.int64]:
    """The codes of all k^(k - 2) labeled trees: the permuted copies of the free ones."""
    from anysize.patterns.orbits import orbits

    smallest = [plan.pattern.code for plan in tree_plans(k)]
    return np.flatnonzero(np.isin(orbits(k).smallest, smallest)).astype(np.int64)
