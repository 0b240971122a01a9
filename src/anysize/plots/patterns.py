"""Small drawings of patterns, one by one or as a picture of many."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import hypot

from anysize._html import LIGHT, text
from anysize.graphs.colors import ColorName
from anysize.patterns.drawing import Point, layout
from anysize.patterns.pattern import Pattern

SIDE, MARGIN, RADIUS, PLAIN_RADIUS = 64, 12, 8.5, 5  # pixels
HEAD_LENGTH, HEAD_WIDTH = 8, 7  # of arrows
CELL_WIDTH, CELL_HEIGHT, COLUMNS = 104, 110, 8  # of a picture of many patterns
DRAWN_COLORS = 8  # more vertex colors than this share drawn colors and differ by their letters only
HUES = {"blue": 0, "orange": 1, "green": 2, "red": 3, "purple": 4, "teal": 5, "yellow": 6, "gray": 7}


def color_places(palette: Sequence[ColorName]) -> dict[ColorName, int]:
    """Assign one of the eight drawn colors to each vertex color; a color named red is drawn red.

    >>> color_places(("C", "N", "blue"))
    {'C': 1, 'N': 2, 'blue': 0}
    """
    names = list(dict.fromkeys(palette))
    places: dict[ColorName, int] = {name: HUES[str(name).lower()] for name in names if str(name).lower() in HUES}
    free = [free_place for free_place in range(DRAWN_COLORS) if free_place not in places.values()] or list(
        range(DRAWN_COLORS)
    )
    others = [name for name in names if name not in places]
    places |= {name: free[at % len(free)] for at, name in enumerate(others)}
    return {name: places[name] for name in names}


def pattern_svg(pattern: Pattern, places: Mapping[ColorName, int] | None = None) -> str:
    """A pattern as an ``<svg>`` element: vertices in their colors, marked with the first two letters of the color.

    Args:
        places: from `color_places`; computed from the colors of this pattern if None.
    """
    colors = pattern.colors
    known = color_places(tuple(dict.fromkeys(colors or ()))) if places is None else places
    points = [_scaled(x, y) for x, y in layout(pattern.size, pattern.edges)]
    ink, paper = (f"var(--{name}, {LIGHT[name]})" for name in ("ink", "paper"))
    parts = [
        f'<line x1="{points[i][0]:g}" y1="{points[i][1]:g}" x2="{points[j][0]:g}" y2="{points[j][1]:g}" '
        f'style="stroke: {ink}; stroke-width: 1.6"/>'
        for i, j in pattern.edges
    ]
    radius = PLAIN_RADIUS if colors is None else RADIUS
    parts += [
        f'<polygon points="{_arrow_head(points[tail], points[head], radius)}" style="fill: {ink}"/>'
        for tail, head in pattern.arcs
    ]
    for vertex, (x, y) in enumerate(points):
        if colors is None:
            parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{PLAIN_RADIUS}" style="fill: {ink}"/>')
            continue
        name = f"series-{known[colors[vertex]] + 1}"
        letters = text(str(colors[vertex])[:2])
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" style="fill: var(--{name}, {LIGHT[name]})"/>')
        parts.append(
            f'<text x="{x:g}" y="{y + 3.2:g}" text-anchor="middle" '
            f'style="fill: {paper}; font: 600 9px system-ui, sans-serif">{letters}</text>'
        )
    named = text(pattern.name)
    return (
        f'<svg class="pattern" role="img" aria-label="{named}" viewBox="0 0 {SIDE} {SIDE}" width="{SIDE}" '
        f'height="{SIDE}" xmlns="http://www.w3.org/2000/svg"><title>{named}</title>{"".join(parts)}</svg>'
    )


def patterns_svg(patterns: Sequence[Pattern]) -> str:
    """A picture of many patterns, each with its name, graph6 string and number in the atlas of graphs."""
    columns = min(COLUMNS, max(len(patterns), 1))
    width, height = columns * CELL_WIDTH, -(-len(patterns) // columns) * CELL_HEIGHT
    places = color_places([color for pattern in patterns for color in pattern.colors or ()])
    cells = []
    for number, pattern in enumerate(patterns):
        x, y = number % columns * CELL_WIDTH, number // columns * CELL_HEIGHT
        captions = (("600 11px system-ui", pattern.name), ("10px monospace", f"{pattern.graph6}  G{pattern.atlas}"))
        lines = "".join(
            f'<text x="{CELL_WIDTH / 2:g}" y="{SIDE + 20 + 14 * line}" text-anchor="middle" xml:space="preserve" '
            f'style="fill: {LIGHT["ink"]}; font: {font}">{text(caption)}</text>'
            for line, (font, caption) in enumerate(captions)
        )
        drawing = f'<g transform="translate({(CELL_WIDTH - SIDE) / 2:g},4)">{pattern_svg(pattern, places)}</g>'
        cells.append(f'<g transform="translate({x},{y})">{drawing}{lines}</g>')
    content = re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", "\n".join(cells))  # variables are for pages
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>\n{content}\n</svg>\n'
    )


def _arrow_head(tail: Point, head: Point, radius: float) -> str:
    """The corners of the head of an arrow that ends at the circle around a vertex."""
    length = hypot(head[0] - tail[0], head[1] - tail[1])
    along = (head[0] - tail[0]) / length, (head[1] - tail[1]) / length

    def corner(back: float, aside: float) -> str:
        return f"{head[0] - back * along[0] - aside * along[1]:.1f},{head[1] - back * along[1] + aside * along[0]:.1f}"

    base = radius + HEAD_LENGTH
    return " ".join((corner(radius - 1, 0), corner(base, HEAD_WIDTH / 2), corner(base, -HEAD_WIDTH / 2)))


def _scaled(x: float, y: float) -> tuple[float, float]:
    inner = SIDE - 2 * MARGIN
    return round(MARGIN + x * inner, 2), round(MARGIN + y * inner, 2)
