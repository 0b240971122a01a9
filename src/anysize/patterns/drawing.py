"""Draw small graphs as text, with lines of Braille dots (two by four per character)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from math import cos, hypot, pi, sin

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Edges = tuple[tuple[int, int], ...]

COLUMNS, ROWS = 13, 7  # size of a drawing in characters
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # Braille bit of (row, column) in a cell


def draw(size: int, edges: Edges, labels: Sequence[object] | None = None) -> str:
    """Draw a graph; vertices are dots or the first two letters of their labels.

    >>> print(draw(2, ((0, 1),), ["N", "O"]))
    N⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒O
    """
    positions = layout(size, edges)
    cells = [[0] * COLUMNS for _ in range(ROWS)]
    width, height = 2 * COLUMNS - 2, 4 * ROWS - 4
    dots = [(x * width + 0.5, y * height + 1.5) for x, y in positions]
    for i, j in edges:
        steps = int(max(abs(dots[i][0] - dots[j][0]), abs(dots[i][1] - dots[j][1]))) + 1
        for step in range(steps + 1):
            share = step / steps
            across = int(dots[i][0] + share * (dots[j][0] - dots[i][0]))
            down = int(dots[i][1] + share * (dots[j][1] - dots[i][1]))
            cells[down // 4][across // 2] |= _DOTS[down % 4][across % 2]
    text = [[chr(0x2800 + cell) if cell else " " for cell in row] for row in cells]
    for vertex, (x, y) in enumerate(dots):
        column, row = int(x) // 2, int(y) // 4
        label = "●" if labels is None else str(labels[vertex])[:2]
        column = min(column, COLUMNS - len(label))
        text[row][column : column + len(label)] = list(label)
    return "\n".join(line for row in text if (line := "".join(row).rstrip()))


@cache
def layout(size: int, edges: Edges) -> tuple[Point, ...]:
    """Vertex positions in the unit square: on a circle, with or without a center, with the fewest crossings."""
    if size == 1:
        return ((0.5, 0.5),)
    if size == 2:
        return ((0.0, 0.5), (1.0, 0.5))
    orders = _orders(size)
    costs = np.stack([frame.costs(orders, edges) for frame in _frames(size)])
    number, row = np.unravel_index(costs.argmin(), costs.shape)
    return tuple(_frames(size)[number].points[position] for position in orders[row])


@dataclass(frozen=True)
class _Frame:
    """Points for vertices, and tables of lines between points p and q, with the number p * size + q."""

    points: tuple[Point, ...]
    length: NDArray[np.float64]
    touched: NDArray[np.int64]  # other points on the line
    crossed: NDArray[np.int64]  # (lines, lines): whether they cross
    has_center: bool

    @staticmethod
    def of(points: list[Point]) -> _Frame:
        lines = [(p, q) for p in points for q in points]
        touched = [sum(_is_on(p, q, point) for point in points) if p != q else 0 for p, q in lines]
        return _Frame(
            tuple(points),
            np.array([hypot(q[0] - p[0], q[1] - p[1]) for p, q in lines]),
            np.array(touched),
            np.array([[int(_cross(*first, *second)) for second in lines] for first in lines]),
            points[-1] == (0.5, 0.5),
        )

    def costs(self, orders: NDArray[np.int64], edges: Edges) -> NDArray[np.float64]:
        """The cost of every order of the vertices: vertices on edges of others, crossings, total length of edges."""
        size = len(self.points)
        lines = np.stack([orders[:, i] * size + orders[:, j] for i, j in edges], axis=1)
        crossings = np.zeros(len(orders), np.int64)
        for first, second in combinations(lines.T, 2):
            crossings += self.crossed[first, second]
        idle = np.zeros(len(orders), np.bool_)
        if self.has_center:
            degrees = np.bincount(np.ravel(edges), minlength=size)
            idle = degrees[(orders == size - 1).argmax(axis=1)] < 3
        cost = 1000 * self.touched[lines].sum(axis=1) + 100 * crossings + 2 * idle + self.length[lines].sum(axis=1)
        return np.asarray(cost.round(6), np.float64)


@cache
def _frames(size: int) -> tuple[_Frame, ...]:
    centered = [[*_circle(size - 1), (0.5, 0.5)]] if size > 3 else []
    return tuple(map(_Frame.of, [_circle(size), *centered]))


@cache
def _orders(size: int) -> NDArray[np.int64]:
    """The point of every vertex, in all orders."""
    return np.array(list(permutations(range(size))))


def _circle(size: int) -> list[Point]:
    turn = -pi / 2 + (pi / 4 if size == 4 else 0)  # draw a square with horizontal sides
    points = [(cos(turn + 2 * pi * i / size), sin(turn + 2 * pi * i / size)) for i in range(size)]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(y for _, y in points), max(y for _, y in points)
    return [((x - low_x) / (high_x - low_x), (y - low_y) / (high_y - low_y)) for x, y in points]


def _is_on(a: Point, b: Point, point: Point) -> bool:
    """Whether a point lies between two others."""
    return (
        point not in (a, b) and abs(_side(a, b, point)) < 1e-9
        and min(a[0], b[0]) <= point[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= point[1] <= max(a[1], b[1])
    )  # fmt: skip


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    if {a, b} & {c, d}:
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0
