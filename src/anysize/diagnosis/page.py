"""The report as one HTML page: no scripts, no network, readable on a phone; whatever comes from data is escaped."""

from __future__ import annotations

from html import escape

from anysize.diagnosis.densities import Family, Judgement
from anysize.diagnosis.figures import colour_figure, rate_figure, size_figure
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.text import title
from anysize.diagnosis.words import Section

SHOWN = 12
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 44rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; line-height: 1.2; }
section { border-top: 1px solid #8888; margin-top: 1.5rem; }
h2 { font-size: 1.1rem; margin: .8rem 0 .3rem; }
h2 b { font-weight: 600; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
svg { display: block; width: 100%; max-width: 32rem; height: auto; margin: .8rem 0 .2rem; }
.legend { font-size: .85rem; }
.legend span { margin-right: 1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; margin: .6rem 0; }
caption { text-align: left; font-weight: 600; }
th, td { padding: .15rem .6rem .15rem 0; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td:last-child, th:last-child { text-align: left; }
thead th { border-bottom: 1px solid #8888; }
tr.beyond { font-weight: 600; }
""".strip()


def as_page(found: Findings, sections: tuple[Section, ...]) -> str:
    """The whole page."""
    about = f"Diagnosis: {title(found)}"
    parts = [_section(section, found) for section in (sections[-1], *sections[:-1])]  # what to do comes first
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(about)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
        f"<h1>{escape(about)}</h1>\n{''.join(parts)}</body>\n</html>\n"
    )


def _section(section: Section, found: Findings) -> str:
    heading = f"<h2>{escape(section.title)}: <b>{escape(section.answer)}</b></h2>"
    told = "".join(f"<p>{escape(sentence)}</p>\n" for sentence in section.sentences)
    return f"<section>\n{heading}\n{told}{_figure(section.title, found)}</section>\n"


def _figure(name: str, found: Findings) -> str:
    if name == "Sizes":
        return size_figure(found.sizes)
    if name == "Colours" and found.colours is not None:
        return colour_figure(found.colours)
    if name == "Densities":
        return "".join(_table(family) for family in found.families if family.patterns)
    if name == "Label" and found.label is not None and found.label.rates:
        return rate_figure(found.label)
    return ""


def _table(family: Family) -> str:
    columns = ("pattern", "training", "new", "over predicted", "q", "judgement")
    head = "".join(f"<th>{column}</th>" for column in columns)
    rows = []
    for item in family.patterns[:SHOWN]:
        ratio = "" if item.over_predicted is None else f"{item.over_predicted:.3g}"
        cells = (item.pattern, f"{item.train:.3g}", f"{item.new:.3g}", ratio, f"{item.q:.2g}", item.judgement)
        rows.append(f"<tr{_mark(item.judgement)}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    more = f" ({SHOWN} of {len(family.patterns)})" if len(family.patterns) > SHOWN else ""
    over = "densities over subsets" if family.over == "subsets" else "shares of connected subsets"
    caption = f"{family.name}, {over}{more}"
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def _mark(judgement: Judgement) -> str:
    return ' class="beyond"' if judgement == "beyond size" else ""
