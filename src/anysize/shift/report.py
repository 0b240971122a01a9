"""The report as text and as an HTML page: a headline, a line per question, the strongest patterns, the advice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from anysize._errors import naming_extra
from anysize._html import Section, card, html_table, page, paragraph, text
from anysize._text import aligned, plural
from anysize.shift.advice import Advice
from anysize.shift.colors import ColorShift
from anysize.shift.findings import Findings, Subject

if TYPE_CHECKING:
    from anysize.estimators.forecast import Forecast

    Forecasts: TypeAlias = Forecast | dict[str, Forecast]

PATTERNS_PER_FAMILY, NAMES_LISTED = 3, 5
QUESTION_COLUMNS = ("question", "p", "adjusted p", "found", "effect")
PATTERN_COLUMNS = ("family", "pattern", "training", "new", "new / trend", "q", "judgment")

Rows = Sequence[Sequence[str]]


def headline(findings: Findings) -> str:
    """One line: what differs, between how many graphs."""
    shifted = ", ".join(question.subject for question in findings.questions if question.found)
    train, new = findings.graphs
    sets = f"{plural(train, 'training graph')}, {plural(new, 'new graph')}, patterns of up to {findings.k} vertices"
    return f"{f'Shift of {shifted}' if shifted else 'No shift found'} ({sets})"


def question_rows(findings: Findings) -> Rows:
    """One row per question, and one for the label of the training graphs where it is known."""
    rows = [
        [
            question.subject,
            _format_p(question.p),
            _format_p(question.adjusted),
            _yes(question.found),
            _effect(question.subject, findings),
        ]
        for question in findings.questions
    ]
    label = findings.label
    if label is not None:
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in label.log_losses)
        effect = f"held-out log loss: {losses}" if losses else f"not scored: {label.not_scored}"
        rows.append(["label follows size", _format_p(label.p_size), "", _yes(label.follows_size), effect])
    return rows


def pattern_rows(findings: Findings) -> Rows:
    """The patterns of every family that differ most."""
    return [
        [
            family.name,
            pattern.pattern,
            f"{pattern.train:.3g}",
            f"{pattern.new:.3g}",
            ratio,
            _format_p(pattern.q),
            pattern.judgment,
        ]
        for family in findings.families
        for pattern in family.patterns[:PATTERNS_PER_FAMILY]
        for ratio in ["" if pattern.trend_ratio is None else f"{pattern.trend_ratio:.3g}"]
    ]


def advice_lines(findings: Findings, advice: Advice, forecast: Forecasts | None = None) -> list[str]:
    """The suggested call, the reasons, the warnings, the edge densities, and the forecast of a model."""
    train, new = findings.sparsity.edge_density
    densities = f"Edge density: {train:.3g} in training, {new:.3g} in new graphs."
    too_small = (
        plural(number, f"{kind} graph") for kind, number in zip(("training", "new"), findings.too_small, strict=True)
    )
    small = [f"Too small for densities: {', '.join(too_small)}."]
    method = f"Suggested: {advice.call}" if advice.method else "No method can be suggested."
    warnings = [f"Warning: {warning}" for warning in advice.warnings]
    by_target = forecast if isinstance(forecast, dict) else {} if forecast is None else {"": forecast}
    expected = [f"The model{target and f' of {target}'}: {each}." for target, each in by_target.items()]
    return [method, *advice.reasons, *warnings, densities, *(small if any(findings.too_small) else []), *expected]


def to_text(findings: Findings, advice: Advice, forecast: Forecasts | None = None) -> str:
    """The report as plain text."""
    tables = (QUESTION_COLUMNS, question_rows(findings)), (PATTERN_COLUMNS, pattern_rows(findings))
    parts = [[headline(findings)], *(aligned([columns, *rows], len(columns)) for columns, rows in tables if rows)]
    return "\n\n".join("\n".join(part) for part in (*parts, advice_lines(findings, advice, forecast)))


@naming_extra("the page")
def to_page(
    findings: Findings, advice: Advice, sizes: Sequence[Sequence[int]], forecast: Forecasts | None = None
) -> str:
    """The report as one self-contained page."""
    from anysize.plots import size_distribution, to_svg

    def table(columns: Sequence[str], rows: Rows) -> str:
        left = len(columns) if columns == QUESTION_COLUMNS else 2
        return html_table([text(name) for name in columns], [[text(cell) for cell in row] for row in rows], left)

    title = "Vertices per graph"
    histogram = size_distribution({"training graphs": sizes[0], "new graphs": sizes[1]})
    lead = "".join(paragraph(line) for line in advice_lines(findings, advice, forecast))
    sections = [
        Section("questions", "Questions", table(QUESTION_COLUMNS, question_rows(findings))),
        Section("patterns", "Patterns that differ most", table(PATTERN_COLUMNS, pattern_rows(findings))),
        Section("sizes", "Sizes", card(to_svg(histogram, "sizes", title), title)),
    ]
    foot = paragraph(f"Probability of any false alarm among the questions: {findings.level:g}.")
    return page(headline(findings), lead, sections, foot)


def _effect(subject: Subject, findings: Findings) -> str:
    """The difference in numbers."""
    sizes, colors = findings.sizes, findings.colors
    if subject == "sizes":
        inside = f"{sizes.within:.0%} of the new graphs within the training range"
        return f"median {sizes.train[2]:g} to {sizes.new[2]:g}, {inside}, distance {sizes.distance:.2f}"
    if subject == "colors" and colors is not None:
        return _color_effect(colors)
    if subject == "role shares" and colors is not None and colors.role_test is not None:
        return f"distance {colors.role_test.distance:.2f}, by chance {colors.role_test.expected:.2f}"
    family = next(family for family in findings.families if family.name == subject)
    beyond, explained = family.number("beyond size"), family.number("size may explain")
    return f"{beyond} of {len(family.patterns)} patterns beyond size, {explained} more that size may explain"


def _color_effect(colors: ColorShift) -> str:
    groups = [" = ".join(map(str, role)) for role in colors.roles or () if len(role) > 1]
    parts = [f"distance {colors.test.distance:.2f}, by chance {colors.test.expected:.2f}"]
    for title, names in (("unseen", colors.unseen), ("missing", colors.missing), ("exchangeable", groups)):
        more = f" and {len(names) - NAMES_LISTED} more" if len(names) > NAMES_LISTED else ""
        parts += [f"{title}: {', '.join(map(str, names[:NAMES_LISTED]))}{more}"] if names else []
    return "; ".join(parts + ([f"roles unknown: {colors.roles_unknown}"] if colors.roles_unknown else []))


def _format_p(value: float | None) -> str:
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _yes(is_found: bool) -> str:
    return "yes" if is_found else "no"
