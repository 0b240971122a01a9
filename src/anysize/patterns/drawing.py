"""Draw small graphs as text, with lines of Braille dots (two by four per character)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from math import cos, hypot, pi, sin

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
    frames = [_circle(size)] + ([[*_circle(size - 1), (0.5, 0.5)]] if size > 3 else [])
    best = min((_cost(frame, order, edges), number, order)
               for number, frame in enumerate(frames)
               for order in permutations(range(size)))  # fmt: skip
    frame, order = frames[best[1]], best[2]
    return tuple(frame[position] for position in order)


def _circle(size: int) -> list[Point]:
    turn = -pi / 2 + (pi / 4 if size == 4 else 0)  # draw a square with horizontal sides
    points = [(cos(turn + 2 * pi * i / size), sin(turn + 2 * pi * i / size)) for i in range(size)]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(y for _, y in points), max(y for _, y in points)
    return [((x - low_x) / (high_x - low_x), (y - low_y) / (high_y - low_y)) for x, y in points]


def _cost(frame: list[Point], order: tuple[int, ...], edges: Edges) -> float:
    """Cost of a layout: vertices on edges of others, crossings, total edge length."""
    lines = [(frame[order[i]], frame[order[j]]) for i, j in edges]
    crossings = sum(_cross(a, b, c, d) for (a, b), (c, d) in combinations(lines, 2))
    touched = sum(
        1 for a, b in lines for point in frame if point not in (a, b) and abs(_side(a, b, point)) < 1e-9
        and min(a[0], b[0]) <= point[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= point[1] <= max(a[1], b[1])
    )  # fmt: skip
    center = order.index(len(frame) - 1)
    idle_center = frame[-1] == (0.5, 0.5) and sum(center in edge for edge in edges) < 3
    length = sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in lines)
    return round(1000 * touched + 100 * crossings + 2 * idle_center + length, 6)


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    if {a, b} & {c, d}:
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0
