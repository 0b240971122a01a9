"""How figures look, and how they become SVG that follows the colors of the page around it."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

# Figures are drawn in the light colors. In the SVG each becomes var(--name, color): a page that sets these variables
# repaints every figure, and a figure on its own keeps the light ones. No two names may share a color.
LIGHT = {
    "ink": "#1c2430",
    "muted": "#626b7d",
    "line": "#dfe3ea",
    "paper": "#fffffe",
    "series-1": "#2c6bd6",
    "series-2": "#d9661f",
    "series-3": "#1d8f62",
    "series-4": "#c5304f",
    "series-5": "#6a4fc9",
    "series-6": "#0f879b",
    "series-7": "#937116",
    "series-8": "#7a8496",
}
DARK = {
    "ink": "#e7eaf0",
    "muted": "#9aa4b6",
    "line": "#333b49",
    "paper": "#171c25",
    "series-1": "#7aabff",
    "series-2": "#ff9f5a",
    "series-3": "#52cc98",
    "series-4": "#ff7d93",
    "series-5": "#ab96ff",
    "series-6": "#52c8db",
    "series-7": "#dcbc55",
    "series-8": "#a3adbf",
}
INK, MUTED, LINE, PAPER = (LIGHT[name] for name in ("ink", "muted", "line", "paper"))
SERIES = tuple(color for name, color in LIGHT.items() if name.startswith("series-"))

WIDTH = 4.0  # inches: 384 pixels, so that a phone has to shrink a figure by little
LONGEST = 40  # characters of a name in a figure

_VARIABLES = {color: f"var(--{name}, {color})" for name, color in LIGHT.items()}
_COLOR = re.compile("|".join(_VARIABLES))
_STYLE = {
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same layout everywhere
    "font.size": 9,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and copied
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "text.usetex": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@contextmanager
def drawing(**changes: Any) -> Iterator[None]:
    """The look of the figures, whatever the user has set; undone in the end."""
    # style.context stores and puts back all settings but the backend, which Figure objects do not need
    with matplotlib.style.context(["default", {**_STYLE, **changes}]):
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure that makes room for its labels; of no window, and unknown to pyplot."""
    return Figure(figsize=(width, height), layout="constrained")


def quiet_grid(axes: Axes, axis: str = "y") -> None:
    """Grid lines behind the data, ticks without marks."""
    axes.grid(True, axis=axis)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(length=0, which="both")


def plain_numbers(axes: Axes, axis: str) -> None:
    """Ticks of a logarithmic axis as 0.001 and 100: powers need mathematical text, which is switched off."""
    own = axes.xaxis if axis == "x" else axes.yaxis
    own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    own.set_minor_formatter(NullFormatter())


def caption(name: object, longest: int = LONGEST) -> str:
    """A name as figures show it: of bounded length, without characters that SVG forbids, never hidden.

    >>> caption("a" * 50, 10), caption("_private")
    ('aaaaaaaaa…', '\\u200b_private')
    """
    text = clean(str(name))
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return f"\u200b{text}" if text.startswith("_") else text  # legends leave out labels with an underscore first


def clean(text: str) -> str:
    """Text without control characters and halves of characters, which neither SVG nor HTML may hold.

    >>> clean("a\\x00b")
    'a\ufffdb'
    """
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def to_svg(figure: Figure, name: str = "figure", title: str = "") -> str:
    """A figure as an ``<svg>`` element to put into a page.

    Its colors are variables of the page (see `LIGHT`), its text is text, its identifiers begin with ``name``, so that
    many figures fit one page, and ``title`` is read to those who cannot see it. Equal figures give equal text.
    """
    file = io.StringIO()
    with drawing(**{"svg.hashsalt": "anysize"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's fonts are asked, not ours
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>|<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"<[^>]+>", lambda tag: _retouched(tag.group(), name), text)  # tags only: text is a reader's
    box = [float(number) for number in re.findall(r'viewBox="([^"]*)"', text)[0].split()]
    head = (
        f'<svg class="plot" role="img" aria-label="{escape(clean(title))}" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {box[2]:g} {box[3]:g}" '
        f'width="{box[2] * 4 / 3:.0f}" height="{box[3] * 4 / 3:.0f}" style="stroke-linejoin: round">'
    )
    return re.sub(r"\s*\n\s*", "\n", head + text[text.index(">") + 1 :]).strip() + "\n"


def _retouched(tag: str, name: str) -> str:
    """A tag with colors as variables, the fonts of the page, short numbers, and identifiers of its own."""
    tag = _COLOR.sub(lambda color: _VARIABLES[color.group()], tag)
    tag = re.sub(r"(\d)(px|) 'DejaVu Sans'[^;\"]*", r"\1px system-ui, sans-serif", tag)
    if tag.startswith(("<path", "<use")):
        tag = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", tag)  # finer than a pixel anyway
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    return re.sub(r'(href="|url\()#', rf"\1#{name}-", tag)
