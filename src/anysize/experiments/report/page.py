"""One self-contained page and what it is made of. Whatever a record says is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from matplotlib.figure import Figure

from anysize.experiments.report.style import STYLE
from anysize.plots.theme import clean, to_svg


@dataclass(frozen=True)
class Section:
    """A heading with ready HTML below it, and sections one level down."""

    name: str
    title: str
    body: str = ""
    parts: tuple[Section, ...] = field(default=())


def text(words: object) -> str:
    """Words as HTML, whatever they are.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return escape(clean(str(words)))


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph of plain words."""
    return f"<p{_class(kind)}>{text(words)}</p>\n"


def missing(words: str) -> str:
    """Why a part is not there."""
    return paragraph(words, "missing")


def card(figure: Figure, name: str, title: str, words: str = "") -> str:
    """A figure with a title, and a sentence on how to read it."""
    told = f"<span>{text(words)}</span>" if words else ""
    return (
        f'<figure class="card"><figcaption><b>{text(title)}</b>{told}</figcaption>\n'
        f"{to_svg(figure, name, title)}</figure>\n"
    )


def cards(made: Iterable[str]) -> str:
    """Figures side by side where there is room."""
    inner = "".join(made)
    return f'<div class="cards">\n{inner}</div>\n' if inner else ""


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A plain table inside a box that scrolls; cells are ready HTML, the first ``words`` columns are set left."""

    def row(cells: Sequence[str], kind: str) -> str:
        made = []
        for place, cell in enumerate(cells):
            start = ' class="words"' if place < words else ""
            made.append(
                f'<th scope="row"{start}>{cell}</th>'
                if not place and kind == "td"
                else f"<{kind}{start}>{cell}</{kind}>"
            )
        return f"<tr>{''.join(made)}</tr>"

    body = "\n".join(row(cells, "td") for cells in rows)
    inner = f"<thead>{row(head, 'th')}</thead><tbody>\n{body}\n</tbody>"
    return f'<div class="wide"><table class="grid">{inner}</table></div>\n'


def tiles(facts: Iterable[tuple[str, str]]) -> str:
    """Numbers with a word below each."""
    made = "".join(f"<div><b>{text(number)}</b><span>{text(word)}</span></div>" for number, word in facts)
    return f'<div class="tiles">{made}</div>\n'


def page(title: str, lead: str, sections: Sequence[Section], foot: str) -> str:
    """The whole page; ``lead`` and ``foot`` are ready HTML."""
    links = "".join(
        f'<li><a href="#{one.name}">{text(one.title)}</a>'
        + "".join(f'<a class="sub" href="#{part.name}">{text(part.title)}</a>' for part in one.parts)
        + "</li>"
        for one in sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
        f'<nav aria-label="Contents"><a class="name" href="#top">anysize</a><ul>{links}</ul></nav>\n'
        f'<main id="top">\n<header>\n<h1>{text(title)}</h1>\n{lead}</header>\n'
        + "".join(_section(one, 2) for one in sections)
        + f"<footer>\n{foot}</footer>\n</main>\n</body>\n</html>\n"
    )


def _section(section: Section, level: int) -> str:
    parts = "".join(_section(part, level + 1) for part in section.parts)
    return (
        f'<section id="{section.name}">\n<h{level}>{text(section.title)}</h{level}>\n{section.body}{parts}</section>\n'
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
