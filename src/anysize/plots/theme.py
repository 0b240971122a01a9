"""The look of all figures, and their conversion to SVG that takes its colors from the surrounding page."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from anysize._files import FIGURE_ENDINGS, atomic_write, check_ending
from anysize._html import LIGHT, clean, text
from anysize._typing import PathLike

INK, MUTED, LINE, PAPER = (LIGHT[name] for name in ("ink", "muted", "line", "paper"))
SERIES = tuple(color for name, color in LIGHT.items() if name.startswith("series-"))

WIDTH_INCHES = 4.0  # 384 pixels, about the width of a phone
MAX_LABEL_CHARACTERS = 40

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
    "font.family": "DejaVu Sans",  # shipped with matplotlib: the same layout everywhere
    "font.size": 9,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # keep text as text: searchable and readable by screen readers
    "text.color": INK,
    "text.parse_math": False,  # names may contain dollar signs
    "text.usetex": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@contextmanager
def drawing(**changes: Any) -> Iterator[None]:
    """Use our matplotlib settings inside the context, and restore the user's after it."""
    # style.context restores all settings except the backend, which Figure objects do not need
    with matplotlib.style.context(["default", {**_STYLE, **changes}]):
        yield


def new_figure(height: float, width: float = WIDTH_INCHES) -> Figure:
    """An empty figure with constrained layout, not registered with pyplot."""
    return Figure(figsize=(width, height), layout="constrained")


def quiet_grid(axes: Axes, axis: str = "y") -> None:
    """Draw grid lines behind the data and hide tick marks."""
    axes.grid(True, axis=axis)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(length=0, which="both")


def decimal_ticks(axes: Axes, axis: str) -> None:
    """Label a logarithmic axis with 0.001 and 100; powers of ten would need math text, which is switched off.

    There are no minor ticks: without mark and label nobody sees them, but drawing them takes time.
    """
    scale = axes.xaxis if axis == "x" else axes.yaxis
    scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    scale.set_minor_locator(NullLocator())


def caption(name: object, longest: int = MAX_LABEL_CHARACTERS) -> str:
    """A name as a figure label: bounded length, no characters that SVG forbids, no leading underscore.

    >>> caption("a" * 50, 10), caption("_private")
    ('aaaaaaaaa…', '\\u200b_private')
    """
    label = clean(str(name))
    label = label if len(label) <= longest else label[: longest - 1] + "…"
    return f"\u200b{label}" if label.startswith("_") else label  # legends skip labels that start with an underscore


def save_figure(figure: Figure, path: PathLike) -> None:
    """Write a figure to a .png, .svg or .pdf file, on a white ground."""
    ending = check_ending(path, FIGURE_ENDINGS, optional=False)
    with drawing(), atomic_write(path) as part, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # drawn as a box
        figure.savefig(part, format=ending[1:], dpi=150, facecolor="white")


def to_svg(figure: Figure, name: str = "figure", title: str = "") -> str:
    """A figure as an ``<svg>`` element for an HTML page.

    Colors become variables of the page (`anysize._html.LIGHT`), text stays text, and ``title`` is the label for screen
    readers. All identifiers begin with ``name``, so that many figures fit on one page. Equal figures give equal text.
    """
    file = io.StringIO()
    with drawing(**{"svg.hashsalt": "anysize"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the browser's fonts are used, not ours
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>|<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r"<[^>]+>", lambda tag: _rewritten(tag.group(), name), svg)  # tags only, never text
    box = [float(number) for number in re.findall(r'viewBox="([^"]*)"', svg)[0].split()]
    head = (
        f'<svg class="plot" role="img" aria-label="{text(title)}" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {box[2]:g} {box[3]:g}" '
        f'width="{box[2] * 4 / 3:.0f}" height="{box[3] * 4 / 3:.0f}" style="stroke-linejoin: round">'
    )
    return re.sub(r"\s*\n\s*", "\n", head + svg[svg.index(">") + 1 :]).strip() + "\n"


def _rewritten(tag: str, name: str) -> str:
    """An SVG tag with colors as variables, the page's fonts, short numbers and prefixed identifiers."""
    tag = _COLOR.sub(lambda color: _VARIABLES[color.group()], tag)
    tag = re.sub(r"(\d)(px|) 'DejaVu Sans'[^;\"]*", r"\1px system-ui, sans-serif", tag)
    if tag.startswith(("<path", "<use")):
        tag = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", tag)  # far below a pixel
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    return re.sub(r'(href="|url\()#', rf"\1#{name}-", tag)
