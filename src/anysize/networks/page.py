"""The motifs of a graph as an HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anysize._errors import naming_extra
from anysize._html import Section, bar, card, html_table, page, paragraph, text, tiles
from anysize.networks.null_models import NULL_MODELS
from anysize.networks.significance import LEVEL

if TYPE_CHECKING:
    from anysize.networks.significance import Motifs

MOST_ROWS = 200  # patterns in the table of the page
HEAD = ("", "pattern", "copies", "null mean", "null sd", "z", "p", "q", "profile", "")


@naming_extra("the page")
def to_page(motifs: Motifs) -> str:
    """One self-contained page: the profile as a figure, and a table with the patterns drawn."""
    from anysize.plots import color_places, pattern_svg, to_svg
    from anysize.plots.motifs import motif_profile

    places = color_places([color for pattern in motifs.patterns for color in pattern.colors or ()])
    shown = motifs.order(MOST_ROWS)
    rows = []
    for number in shown:
        name, *cells = (text(cell) for cell in motifs.row(number))
        q = f"<b>{cells[5]}</b>" if motifs.q[number] <= LEVEL else cells[5]
        profile = bar(float(np.nan_to_num(motifs.profile[number])))
        rows.append([pattern_svg(motifs.patterns[number], places), name, *cells[:5], q, cells[6], profile])
    samples = len(motifs.null_copies)
    below = int((motifs.q <= LEVEL).sum())
    model = NULL_MODELS[motifs.null]
    keeps = model.keeps_directed if any(pattern.arcs for pattern in motifs.patterns) else model.keeps
    lead = paragraph(f"The random graphs share with it {keeps}; apart from that, all are equally likely.", "lead")
    lead += tiles(
        [(str(below), "patterns with q <= .05"), (str(len(motifs)), "patterns"), (f"{samples:,}", "random graphs")]
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
