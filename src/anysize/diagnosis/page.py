"""The report as one HTML page: no scripts, no network, readable on a phone; whatever comes from data is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import exp

from anysize.diagnosis.advice import Advice
from anysize.diagnosis.conclusions import answer, headline, probe_rows, trust_sentence
from anysize.diagnosis.densities import Family, Judgment, PatternShift
from anysize.diagnosis.figures import color_figure, rate_figure, size_figure
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.text import title
from anysize.diagnosis.words import Section

SHOWN = 12
HUGE = 1000.0  # a ratio known no better than to this factor is not known
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.45 system-ui, sans-serif; margin: .8rem auto; max-width: 44rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; line-height: 1.2; margin: .2rem 0 .6rem; }
section { border-top: 1px solid #8888; margin-top: 1.5rem; }
h2 { font-size: 1.1rem; margin: .8rem 0 .3rem; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
.about, .note, .legend { font-size: .85rem; }
.about { margin: 0; opacity: .8; }
.advice { border: 1px solid #8888; border-left: .4rem solid #ddaa33; border-radius: .3rem; padding: .4rem .8rem; }
.advice.fine { border-left-color: #117733; }
.advice.stop { border-left-color: #cc3311; }
.advice b { font-size: 1.1rem; }
.advice code { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem .8rem; margin: .8rem 0 0; }
dt { opacity: .8; }
dd { margin: 0; font-weight: 600; }
svg { display: block; width: 100%; max-width: 32rem; height: auto; margin: .8rem 0 .2rem; }
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
TITLES = {
    "plain densities": "Plain patterns",
    "connected shares": "Plain patterns",
    "colored densities": "Colored patterns",
    "patterns by role": "Patterns colored by role",
}
COLUMNS = (
    ("training, new", "means over the graphs of each set."),
    (
        "new / trend",
        "how many times as dense the pattern is as the training graphs' own trend with size predicts for the new "
        "sizes, and the range that errors leave (95 %). With 1 in that range the trend explains the new mean; the "
        "wider it is, the less the trend can tell. ? stands for a range that says nothing; nothing is shown for "
        "patterns too rare for a trend.",
    ),
    ("q", "p-value of 'size explains the difference', corrected for the number of patterns."),
    (
        "judgment",
        "same: the means do not differ by more than chance, whatever the trend says. size may explain: they differ, "
        "and the sizes may be why. beyond size: sizes do not explain it.",
    ),
)


def as_page(found: Findings, advice: Advice, sections: tuple[Section, ...]) -> str:
    """The whole page: verdict and advice first, then what they rest on."""
    about = headline(found)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Diagnosis: {escape(title(found))}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
        f'<p class="about">{escape(title(found))}</p>\n<h1>{escape(about)}</h1>\n{_verdict(advice, sections[:-1])}'
        f"{_why(advice)}{''.join(_section(section, found) for section in sections[:-1])}</body>\n</html>\n"
    )


def _verdict(advice: Advice, sections: tuple[Section, ...]) -> str:
    """What to do, in a box, and every answer in a line."""
    kind = {"as in validation": " fine", "with care": "", "do not trust": " stop"}[advice.trust]
    call = f"<p><code>{escape(advice.call)}</code></p>\n" if advice.call else ""
    use = f"Use {advice.method}" if advice.method else answer(advice).capitalize()
    shown = (section for section in sections if section.title != "Theorem 1")  # which decides nothing
    answers = "".join(f"<dt>{escape(one.title)}</dt><dd>{escape(one.answer)}</dd>\n" for one in shown)
    why = "".join(f"<p>{escape(reason)}</p>\n" for reason in advice.reasons[:1])
    told = f"<p><b>{escape(use)}.</b> {escape(trust_sentence(advice))}</p>\n{call}{why}"
    return f'<div class="advice{kind}">\n{told}</div>\n<dl>\n{answers}</dl>\n'


def _why(advice: Advice) -> str:
    others = tuple(f"{name}: {why}." for name, why in advice.others)
    parts = (
        ("More reasons", advice.reasons[1:]),
        ("What speaks against trusting it" if advice.method else "What else to mind", advice.cautions),
        ("What to run beside it" if advice.method else "What to try", others),
    )
    told = "".join(
        f"<h2>{heading}</h2>\n<ul>{''.join(f'<li>{escape(one)}</li>' for one in items)}</ul>\n"
        for heading, items in parts
        if items
    )
    return told and f"<section>\n{told}</section>\n"


def _section(section: Section, found: Findings) -> str:
    heading = f"<h2>{escape(section.title)}: {escape(section.answer)}</h2>"
    told = "".join(f"<p>{escape(sentence)}</p>\n" for sentence in section.sentences)
    return f"<section>\n{heading}\n{told}{_figure(section.title, found)}</section>\n"


def _figure(name: str, found: Findings) -> str:
    if name == "Sizes":
        return size_figure(found.sizes)
    if name == "Colors" and found.colors is not None:
        return color_figure(found.colors)
    if name == "Densities":
        tables = "".join(_table(family) for family in found.families if family.patterns)
        meaning = "".join(f"<li><b>{escape(name)}</b>: {escape(what)}</li>" for name, what in COLUMNS)
        return tables and f'{tables}<ul class="note">{meaning}</ul>\n'
    if name == "Label" and found.label is not None:
        rows = probe_rows(found.label, found.sparsity.kind == "sparse")
        table = _grid("Probes", ("probe", "log loss", "right", "sees"), [(a, c, d, b) for a, b, c, d in rows])
        return (table if rows else "") + (rate_figure(found.label) if found.label.rates else "")
    return ""


def _table(family: Family) -> str:
    rows = [
        (item.pattern, f"{item.train:.3g}", f"{item.new:.3g}", _ratio(item), f"{item.q:.2g}", item.judgment)
        for item in family.patterns[:SHOWN]
    ]
    more = f" ({SHOWN} of {len(family.patterns)})" if len(family.patterns) > SHOWN else ""
    over = "densities over subsets" if family.over == "subsets" else "shares of connected subsets"
    marks = [_mark(item.judgment) for item in family.patterns[:SHOWN]]
    return _grid(
        f"{TITLES[family.name]}: {over}{more}",
        ("pattern", "training", "new", "new / trend", "q", "judgment"),
        rows,
        marks,
    )


def _ratio(item: PatternShift) -> str:
    """Observed over predicted, and the range that its error leaves: in logarithms above 1, as the test has it."""
    ratio, error = item.over_predicted, item.trend_error
    if ratio is None or error is None:
        return ""
    factor = exp(min(2 * error, 50.0))
    if factor > HUGE:
        return "?"
    low, high = (ratio / factor, ratio * factor) if ratio > 1 else (max(ratio - 2 * error, 0.0), ratio + 2 * error)
    return f"{ratio:.2g} ({low:.2g} to {high:.2g})"


def _grid(
    caption: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], marks: list[str] | None = None
) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr{mark}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for cells, mark in zip(rows, marks or [""] * len(rows), strict=True)
    )
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _mark(judgment: Judgment) -> str:
    return ' class="beyond"' if judgment == "beyond size" else ""
