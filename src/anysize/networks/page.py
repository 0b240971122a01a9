"""The motifs of a graph as an HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anysize._html import Section, card, html_table, page, paragraph, text, tiles
from anysize.networks.null_models import NULL_MODELS
from anysize.networks.significance import LEVEL

if TYPE_CHECKING:
    from anysize.networks.significance import Motifs

MOST_ROWS = 200  # patterns in the table of the page
HEAD = ("", "pattern", "copies", "null mean", "null sd", "z", "p", "q", "profile", "")


def to_page(motifs: Motifs) -> str:
    """One self-contained page: the profile as a figure, and a table with the patterns drawn."""
    try:
        from anysize.plots import color_places, pattern_svg, to_svg
        from anysize.plots.motifs import motif_profile
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("matplotlib"):
            raise
        raise ImportError("the page needs matplotlib: pip install 'anysize[plot]'") from error

    places = color_places([color for pattern in motifs.patterns for color in pattern.colors or ()])
    shown = motifs.order(MOST_ROWS)
    rows = []
    for number in shown:
        name, *cells = (text(cell) for cell in motifs.row(number))
        q = f"<b>{cells[5]}</b>" if motifs.q[number] <= LEVEL else cells[5]
        bar = _bar(float(np.nan_to_num(motifs.profile[number])))
        rows.append([pattern_svg(motifs.patterns[number], places), name, *cells[:5], q, cells[6], bar])
    samples = len(motifs.null_copies)
    below = int((motifs.q <= LEVEL).sum())
    model = NULL_MODELS[motifs.null]
    keeps = model.keeps_directed if any(pattern.arcs for pattern in motifs.patterns) else model.keeps
    lead = paragraph(
        f"The random graphs share with it {keeps}; apart from that, all are equally likely.",
        "lead",
    ) + tiles(
        [
            (str(below), "patterns with q <= .05"),
            (str(len(motifs)), "patterns"),
            (f"{samples:,}", "random graphs"),
        ]
    )
    left_out = len(motifs) - len(shown)
    more = paragraph(f"{left_out} more patterns have a smaller abs(z).", "small") if left_out else ""
    title = "Significance profile"
    figure = card(to_svg(motif_profile(motifs), "profile", title), title, "pale: q above .05")
    explained = (
        "z: difference from the mean of the random graphs in standard deviations. p: two-sided, from the rank among "
        "the random graphs. q: p adjusted for the false discovery rate. profile: the z of all patterns of one size, "
        "scaled to length 1."
    )
    sections = [
        Section("profile", title, figure),
        Section("patterns", "Patterns", html_table(HEAD, rows, 2) + more + paragraph(explained, "small")),
    ]
    return page(f"Motifs: {motifs.graph}", lead, sections, paragraph(motifs.title))


def _bar(value: float) -> str:
    """A bar from the middle, to the right for positive values."""
    half = 50 * min(abs(value), 1.0)
    start = 50.0 if value > 0 else 50 - half
    down = ' class="down"' if value < 0 else ""
    return f'<span class="bar"><i{down} style="left: {start:.1f}%; width: {half:.1f}%"></i></span>'
