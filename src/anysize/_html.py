"""Self-contained HTML pages: the one stylesheet of the package, escaping, and the elements that pages are built from.

Text from records and files is escaped here; arguments called ``html`` or ``svg`` are inserted as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

# Colors of pages and figures. Figures are drawn in the light colors, and in the SVG each becomes var(--name, color):
# a page that sets these variables repaints every figure. No two names may share a color.
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


def _variables(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


STYLE = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} --ground: #f5f6f9; --soft: #eef1f6; }}
@media (prefers-color-scheme: dark) {{
  :root {{ {_variables(DARK)} --ground: #0f131a; --soft: #1f2631; }}
}}
* {{ box-sizing: border-box; }}
html {{ scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }}
body {{ margin: 0; padding: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }}
main {{ max-width: 74rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; min-width: 0; }}
h1, h2, h3 {{ line-height: 1.2; letter-spacing: -.01em; text-wrap: balance; }}
h1 {{ font-size: clamp(1.7rem, 5vw, 2.5rem); margin: .5rem 0 .75rem; }}
h2 {{ font-size: 1.5rem; margin: 0 0 .5rem; padding-top: 2.5rem; border-top: 1px solid var(--line); }}
h3 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
section {{ margin-top: 2.5rem; }}
section section {{ margin-top: 0; }}
p {{ max-width: 46rem; margin: .5rem 0 1rem; }}
p.lead {{ font-size: 1.1rem; color: var(--muted); }}
p.missing {{ color: var(--muted); border-left: 3px solid var(--line); padding-left: .75rem; }}
p.small, footer {{ color: var(--muted); font-size: .875rem; }}
a {{ color: var(--series-1); }}
code {{ font: .875em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--soft);
  padding: .1em .35em; border-radius: 4px; }}
nav {{ background: var(--paper); border-bottom: 1px solid var(--line); }}
nav .name {{ display: none; }}
nav ul {{ display: flex; gap: .25rem; list-style: none; margin: 0; padding: .5rem .75rem; overflow-x: auto; }}
nav li {{ flex: none; }}
nav a {{ display: block; padding: .35rem .7rem; border-radius: 999px; color: var(--ink); text-decoration: none;
  white-space: nowrap; font-size: .875rem; }}
nav a:hover, nav a:focus-visible {{ background: var(--soft); }}
nav .sub {{ display: none; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }}
.tiles div {{ background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: .8rem 1rem; }}
.tiles b {{ display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }}
.tiles span {{ color: var(--muted); font-size: .875rem; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); gap: 1rem;
  margin: 1rem 0; align-items: start; }}
figure.card {{ margin: 0; padding: clamp(.7rem, 3vw, 1rem); min-width: 0; background: var(--paper);
  border: 1px solid var(--line); border-radius: 12px; }}
figure.card figcaption b {{ display: block; font-weight: 600; }}
figure.card figcaption span {{ display: block; color: var(--muted); font-size: .875rem; line-height: 1.4; }}
figure.card figcaption {{ margin-bottom: .75rem; }}
svg.plot {{ display: block; width: 100%; max-width: 28rem; height: auto; margin: 0 auto; }}
svg.pattern {{ display: block; width: 3.2rem; height: 3.2rem; }}
.wide {{ width: fit-content; max-width: 100%; overflow-x: auto; background: var(--paper);
  border: 1px solid var(--line); border-radius: 12px; }}
table {{ border-collapse: collapse; font-size: .875rem; white-space: nowrap; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .35rem .8rem; text-align: right; vertical-align: middle; }}
th[scope=row] {{ position: sticky; left: 0; background: var(--paper); text-align: left; font-weight: 500; }}
th.words, td.words {{ text-align: left; }}
thead th {{ color: var(--muted); font-weight: 500; border-bottom: 1px solid var(--line); }}
thead th[colspan] {{ color: var(--ink); font-weight: 600; text-align: center; }}
tbody tr + tr > * {{ border-top: 1px solid var(--soft); }}
tbody + tbody {{ border-top: 2px solid var(--line); }}
td b {{ color: var(--series-1); }}
th small, td small {{ display: block; }}
th small, td small, td.missing {{ color: var(--muted); font-weight: 400; }}
figure.results {{ margin: 1rem 0 1.5rem; min-width: 0; }}
figure.results figcaption {{ font-weight: bold; margin-bottom: .5rem; }}
figure.results summary {{ margin: .6rem 0; color: var(--series-1); cursor: pointer; font-size: .875rem; }}
figure.results ul {{ color: var(--muted); font-size: .875rem; padding-left: 1.1rem; }}
.bar {{ display: inline-block; position: relative; width: 4.5rem; height: .6rem; border-radius: 3px;
  background: var(--soft); vertical-align: middle; }}
.bar i {{ position: absolute; top: 0; bottom: 0; border-radius: 3px; background: var(--series-1); }}
.bar i.down {{ background: var(--series-2); }}
@media (max-width: 30rem) {{
  th, td {{ padding: .3rem .5rem; }}
  table {{ font-size: .8125rem; }}
  .bar {{ display: none; }}
}}
@media (min-width: 75rem) {{
  body.with-contents {{ display: grid; grid-template-columns: 15rem minmax(0, 1fr); }}
  nav {{ border-bottom: 0; border-right: 1px solid var(--line); position: sticky; top: 0; height: 100vh;
    overflow-y: auto; padding: 1.5rem 1rem; }}
  nav .name {{ display: block; font-weight: 700; font-size: 1rem; margin-bottom: .75rem; }}
  nav ul {{ display: block; padding: 0; overflow: visible; }}
  nav a, nav .sub {{ display: block; white-space: normal; border-radius: 8px; padding: .25rem .7rem; }}
  nav .sub {{ color: var(--muted); padding-left: 1.4rem; font-size: .8125rem; }}
  .with-contents main {{ padding: 2rem 2.5rem 5rem; margin: 0; max-width: 80rem; }}
}}
@media print {{ nav {{ display: none; }} figure.card {{ break-inside: avoid; }} }}
""".strip()


# ---- text ------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Replace control characters and lone surrogates, which neither SVG nor HTML may contain.

    >>> clean("a\\x00b")
    'a\ufffdb'
    """
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def text(value: object) -> str:
    """Any value as escaped HTML text.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return escape(clean(str(value)))


# ---- elements --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """A heading with HTML below it, and subsections.

    Attributes:
        name: the identifier that links point to.
    """

    name: str
    title: str
    body: str = ""
    parts: tuple[Section, ...] = field(default=())


def paragraph(sentence: str, css_class: str = "") -> str:
    """A paragraph of text; the stylesheet knows the classes `lead`, `small` and `missing`."""
    attribute = f' class="{css_class}"' if css_class else ""
    return f"<p{attribute}>{text(sentence)}</p>\n"


def missing(sentence: str) -> str:
    """A paragraph that says why something is not shown."""
    return paragraph(sentence, "missing")


def card(svg: str, title: str, caption: str = "") -> str:
    """A figure with a title and a caption."""
    below = f"<span>{text(caption)}</span>" if caption else ""
    return f'<figure class="card"><figcaption><b>{text(title)}</b>{below}</figcaption>\n{svg}</figure>\n'


def cards(html: Iterable[str]) -> str:
    """Figures side by side where there is room."""
    inner = "".join(html)
    return f'<div class="cards">\n{inner}</div>\n' if inner else ""


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """A table in a box that scrolls. Cells are HTML; the first ``text_columns`` columns are left-aligned."""

    def row(cells: Sequence[str], tag: str) -> str:
        line = []
        for position, cell in enumerate(cells):
            align = ' class="words"' if position < text_columns else ""
            is_label = position == 0 and tag == "td"
            line.append(f'<th scope="row"{align}>{cell}</th>' if is_label else f"<{tag}{align}>{cell}</{tag}>")
        return f"<tr>{''.join(line)}</tr>"

    body = "\n".join(row(cells, "td") for cells in rows)
    return f'<div class="wide"><table><thead>{row(head, "th")}</thead><tbody>\n{body}\n</tbody></table></div>\n'


def tiles(facts: Iterable[tuple[str, str]]) -> str:
    """Numbers, each with its unit below it."""
    inner = "".join(f"<div><b>{text(number)}</b><span>{text(unit)}</span></div>" for number, unit in facts)
    return f'<div class="tiles">{inner}</div>\n'


def bar(value: float) -> str:
    """A bar from the middle, to the right for positive values up to 1, to the left for negative ones."""
    half = 50 * min(abs(value), 1.0)
    start = 50 - half if value < 0 else 50.0
    down = ' class="down"' if value < 0 else ""
    return f'<span class="bar"><i{down} style="left: {start:.1f}%; width: {half:.1f}%"></i></span>'


# ---- pages -----------------------------------------------------------------------------------------


def document(title: str, html: str, css_class: str = "") -> str:
    """A complete HTML file with the stylesheet inside; it loads nothing and runs no script."""
    attribute = f' class="{css_class}"' if css_class else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f"<body{attribute}>\n{html}</body>\n</html>\n"
    )


def page(title: str, lead: str, sections: Sequence[Section], foot: str) -> str:
    """A page with a table of contents; ``lead`` and ``foot`` are HTML."""
    links = "".join(
        f'<li><a href="#{section.name}">{text(section.title)}</a>'
        + "".join(f'<a class="sub" href="#{part.name}">{text(part.title)}</a>' for part in section.parts)
        + "</li>"
        for section in sections
    )
    return document(
        title,
        f'<nav aria-label="Contents"><a class="name" href="#top">anysize</a><ul>{links}</ul></nav>\n'
        f'<main id="top">\n<header>\n<h1>{text(title)}</h1>\n{lead}</header>\n'
        + "".join(_section(section, 2) for section in sections)
        + f"<footer>\n{foot}</footer>\n</main>\n",
        "with-contents",
    )


def _section(section: Section, level: int) -> str:
    parts = "".join(_section(part, level + 1) for part in section.parts)
    return (
        f'<section id="{section.name}">\n<h{level}>{text(section.title)}</h{level}>\n{section.body}{parts}</section>\n'
    )
