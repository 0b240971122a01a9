"""The figures of the page: small SVG drawings made by hand, so that the page needs nothing else."""

from __future__ import annotations

from html import escape
from math import log

from anysize.diagnosis.colors import ColorShift
from anysize.diagnosis.labels import LabelNature
from anysize.diagnosis.sizes import SizeShift

WIDTH = 360  # units of the drawings; a phone shows about one per pixel
TRAIN, NEW = "#4477aa", "#cc6677"  # told apart by people who see colors differently
SHADES = ("#4477aa", "#cc6677", "#ddaa33", "#117733", "#88ccee", "#aa4499", "#999933", "#555555")
SHOWN = 10
VISIBLE = 0.005  # shares below have no bar to speak of


def legend(entries: tuple[tuple[str, str], ...]) -> str:
    """Colors and what they stand for."""
    spans = (f'<span><i style="background:{color}"></i>{escape(name)}</span>' for name, color in entries)
    return f'<p class="legend">{" ".join(spans)}</p>'


def size_figure(shift: SizeShift) -> str:
    """Shares of graphs by size, training above the line and new graphs below; sizes on a scale of ratios."""
    high, base = 60, 70
    top = max(*shift.train_bins, *shift.new_bins)
    step = WIDTH / len(shift.train_bins)
    bars = []
    for place, (ours, theirs) in enumerate(zip(shift.train_bins, shift.new_bins, strict=True)):
        up, down = high * ours / top, high * theirs / top
        bars.append(_box(place * step, base - up, step - 1, up, TRAIN))
        bars.append(_box(place * step, base, step - 1, down, NEW))
    low, last = max(shift.bins[0], 1.0), shift.bins[-1]
    bottom = base + high
    ticks = []
    for size in _ticks(low, last):
        x = WIDTH * log(size / low) / log(last / low)
        anchor = "start" if x < 10 else "end" if x > WIDTH - 10 else "middle"
        ticks.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 4}" stroke="currentColor"/>')
        ticks.append(_words(x, bottom + 15, f"{size:g}", anchor))
    label = (
        f"Sizes: training {shift.train[0]:g} to {shift.train[4]:g}, new {shift.new[0]:g} to {shift.new[4]:g} vertices"
    )
    lines = [f'<line x1="0" y1="{y}" x2="{WIDTH}" y2="{y}" stroke="currentColor"/>' for y in (base, bottom)]
    drawn = _svg(bottom + 20, label, [*bars, *lines, *ticks])
    keys = legend((("training graphs", TRAIN), ("new graphs", NEW)))
    axis = "Across: vertices per graph, on a logarithmic scale. Height: share of the graphs of each set."
    return f'{drawn}{keys}<p class="legend">{axis}</p>\n'


def _ticks(low: float, last: float) -> list[float]:
    """Round sizes, those with few digits first, an eighth of the axis apart; the ends where there are too few.

    >>> _ticks(3, 111), _ticks(19.98, 40.04), _ticks(59.9, 60.1)
    ([5.0, 10.0, 20.0, 50.0, 100.0], [20.0, 25.0, 30.0, 40.0], [60])
    """
    apart = log(last / low) / 8
    for digits in ((1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)):
        kept: list[float] = []
        for size in (digit * 10.0**exponent for exponent in range(len(str(int(last)))) for digit in digits):
            inside = low <= size <= last and size.is_integer()
            if inside and (not kept or log(size / kept[-1]) >= apart):
                kept.append(size)
        if len(kept) > 2:
            return kept
    return sorted({round(low), round(last)})


def color_figure(shift: ColorShift) -> str:
    """Mean shares of the colors that move most, two bars each."""
    seen = [item for item in shift.shares if max(item.train, item.new) >= VISIBLE] or list(shift.shares)
    rows = [(str(item.name), item.train, item.new) for item in seen[:SHOWN]]
    keys = legend((("training graphs", TRAIN), ("new graphs", NEW)))
    what = "Mean share of the vertices that have the color, for the colors that move most."
    return f'{_pairs(rows, "Mean shares of colors")}{keys}<p class="legend">{what}</p>\n'


def rate_figure(label: LabelNature) -> str:
    """Shares of the classes among training graphs, by size."""
    drawn, high = [], 22
    for place, one in enumerate(label.rates):
        at = 0.0
        drawn.append(
            _words(
                0,
                place * high + 14,
                f"{one.smallest}" if one.smallest == one.largest else f"{one.smallest} to {one.largest}",
            )
        )
        for code, share in enumerate(one.shares):
            wide = share * (WIDTH - 90)
            drawn.append(_box(90 + at, place * high + 3, wide, high - 6, SHADES[code % len(SHADES)]))
            at += wide
    figure = _svg(high * len(label.rates), "Shares of the classes by number of vertices", drawn)
    keys = legend(tuple((name, SHADES[c % len(SHADES)]) for c, name in enumerate(label.classes)))
    return f'{figure}{keys}<p class="legend">Shares of the classes among training graphs, by number of vertices.</p>\n'


def _pairs(rows: list[tuple[str, float, float]], label: str) -> str:
    top = max((max(a, b) for _, a, b in rows), default=1.0) or 1.0
    drawn, high = [], 26
    for place, (name, ours, theirs) in enumerate(rows):
        y = place * high
        drawn.append(_words(0, y + 15, name if len(name) <= 12 else name[:11] + "…"))
        for row, (share, color) in enumerate(((ours, TRAIN), (theirs, NEW))):
            wide = (WIDTH - 140) * share / top
            drawn.append(_box(90, y + 3 + 10 * row, wide, 9, color))
            drawn.append(_words(94 + wide, y + 11 + 10 * row, f"{100 * share:.1f} %", size=9))
    return _svg(high * len(rows), label, drawn)


def _svg(height: float, label: str, inside: list[str]) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label, quote=True)}">'
    return f"{head}<title>{escape(label)}</title>{''.join(inside)}</svg>"


def _box(x: float, y: float, wide: float, high: float, color: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(wide, 0):.1f}" height="{max(high, 0):.1f}" fill="{color}"/>'


def _words(x: float, y: float, text: str, anchor: str = "start", size: int = 11) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="currentColor">'
        f"{escape(text)}</text>"
    )
