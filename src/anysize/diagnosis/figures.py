"""The figures of the page: small SVG drawings made by hand, so that the page needs nothing else."""

from __future__ import annotations

from html import escape

from anysize.diagnosis.colours import ColourShift
from anysize.diagnosis.labels import LabelNature
from anysize.diagnosis.sizes import SizeShift

WIDTH = 360  # units of the drawings; a phone shows about one per pixel
TRAIN, NEW = "#4477aa", "#cc6677"  # told apart by people who see colours differently
SHADES = ("#4477aa", "#cc6677", "#ddaa33", "#117733", "#88ccee", "#aa4499", "#999933", "#555555")
SHOWN = 10
VISIBLE = 0.005  # shares below have no bar to speak of


def legend(entries: tuple[tuple[str, str], ...]) -> str:
    """Colours and what they stand for."""
    spans = (f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in entries)
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
    ticks = []
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        size = low * (last / low) ** share
        ticks.append(_words(share * WIDTH, base + high + 14, f"{size:.0f}", anchor))
    label = (
        f"Sizes: training {shift.train[0]:g} to {shift.train[4]:g}, new {shift.new[0]:g} to {shift.new[4]:g} vertices"
    )
    line = f'<line x1="0" y1="{base}" x2="{WIDTH}" y2="{base}" stroke="currentColor"/>'
    drawn = _svg(base + high + 20, label, [*bars, line, *ticks])
    return drawn + legend((("training graphs", TRAIN), ("new graphs", NEW)))


def colour_figure(shift: ColourShift) -> str:
    """Mean shares of the colours that move most, two bars each."""
    seen = [item for item in shift.shares if max(item.train, item.new) >= VISIBLE] or list(shift.shares)
    rows = [(str(item.name), item.train, item.new) for item in seen[:SHOWN]]
    return _pairs(rows, "Mean shares of colours") + legend((("training graphs", TRAIN), ("new graphs", NEW)))


def rate_figure(label: LabelNature) -> str:
    """Shares of the classes among training graphs, by size."""
    drawn, high = [], 22
    for place, one in enumerate(label.rates):
        at = 0.0
        drawn.append(_words(0, place * high + 14, f"{one.smallest} to {one.largest}"))
        for code, share in enumerate(one.shares):
            wide = share * (WIDTH - 90)
            drawn.append(_box(90 + at, place * high + 3, wide, high - 6, SHADES[code % len(SHADES)]))
            at += wide
    figure = _svg(high * len(label.rates), "Shares of the classes by number of vertices", drawn)
    return figure + legend(tuple((name, SHADES[c % len(SHADES)]) for c, name in enumerate(label.classes)))


def _pairs(rows: list[tuple[str, float, float]], label: str) -> str:
    top = max((max(a, b) for _, a, b in rows), default=1.0) or 1.0
    drawn, high = [], 26
    for place, (name, ours, theirs) in enumerate(rows):
        y = place * high
        drawn.append(_words(0, y + 15, name if len(name) <= 12 else name[:11] + "…"))
        for row, (share, colour) in enumerate(((ours, TRAIN), (theirs, NEW))):
            wide = (WIDTH - 140) * share / top
            drawn.append(_box(90, y + 3 + 10 * row, wide, 9, colour))
            drawn.append(_words(94 + wide, y + 11 + 10 * row, f"{100 * share:.1f} %", size=9))
    return _svg(high * len(rows), label, drawn)


def _svg(height: float, label: str, inside: list[str]) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label, quote=True)}">'
    return f"{head}<title>{escape(label)}</title>{''.join(inside)}</svg>"


def _box(x: float, y: float, wide: float, high: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(wide, 0):.1f}" height="{max(high, 0):.1f}" fill="{colour}"/>'


def _words(x: float, y: float, text: str, anchor: str = "start", size: int = 11) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="currentColor">'
        f"{escape(text)}</text>"
    )
