"""The HTML page of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from anysize import __version__
from anysize._html import Section, card, cards, html_table, missing, page, paragraph, text, tiles
from anysize._progress import rough_duration
from anysize._text import capitalized
from anysize.evaluation.compare import Comparison, ComparisonRow, TargetComparison
from anysize.evaluation.describe import describe
from anysize.evaluation.records import now
from anysize.evaluation.render import html_figure
from anysize.evaluation.tables import format_score
from anysize.metrics import METRIC_NAMES, METRICS_OF, decimals_of
from anysize.plots import to_svg


def comparison_page(comparison: Comparison) -> str:
    """A self-contained page: the table with its chart, all metrics, the split, and how methods were trained."""
    sections = (
        Section("scores", "Scores", html_figure(comparison.table) + _chart(comparison)),
        Section("metrics", "All metrics", _all_metrics(comparison)),
        Section("split", "The split", _split(comparison)),
        Section("training", "Training", _training(comparison)),
    )
    kept = "" if comparison.folder is None else f", from the records in {comparison.folder}"
    foot = paragraph(f"Made by anysize {__version__}, {now().replace('T', ' ')[:16]} UTC{kept}.")
    return page(f"Methods compared on {comparison.task.label}", _lead(comparison), sections, foot)


def targets_page(comparison: TargetComparison) -> str:
    """A self-contained page: the table of all targets, and a table for each."""
    sections = [Section("targets", "Targets", html_figure(comparison.table))]
    for number, (target, each) in enumerate(comparison.comparisons.items()):
        sections.append(Section(f"target-{number}", target, html_figure(each.table)))
    foot = paragraph(f"Made by anysize {__version__}, {now().replace('T', ' ')[:16]} UTC.")
    lead = paragraph(comparison.statement, "lead")
    return page(f"Methods compared on {comparison.name}", lead, tuple(sections), foot)


def _lead(comparison: Comparison) -> str:
    seconds = sum(record.seconds or 0.0 for record in comparison.records)
    facts = [
        (f"{sum(not row.is_baseline for row in comparison.rows)}", "methods"),
        (f"{comparison.seeds}", "splits and seeds"),
        (f"{len(comparison.records)}", "runs"),
        (rough_duration(seconds), "of training"),
    ]
    return paragraph(comparison.statement, "lead") + tiles(facts)


def _chart(comparison: Comparison) -> str:
    if not any(row.mean is not None for row in comparison.rows):
        return missing("There is no chart: no method has a score.")
    title = f"{capitalized(METRIC_NAMES[comparison.metric])} on the test graphs"
    caption = "Dots: means. Bars: 95 % bootstrap intervals. Ticks: single seeds. Shaded: baselines."
    return cards([card(to_svg(comparison.plot(), "comparison", title), title, caption)])


def _all_metrics(comparison: Comparison) -> str:
    names = METRICS_OF[comparison.task.predicts]
    decimals = {name: decimals_of(name, [(row.metrics or {}).get(name) for row in comparison.rows]) for name in names}

    def cells(row: ComparisonRow) -> Iterator[str]:
        yield text(row.label)
        for name in names:
            value = (row.metrics or {}).get(name)
            yield "" if value is None else format_score(value, decimals[name])

    return paragraph("Means over seeds on the test graphs.") + html_table(
        ("method", *names.values()), [tuple(cells(row)) for row in comparison.rows]
    )


def _split(comparison: Comparison) -> str:
    head = ("set", "graphs", "vertices", "mean", "classes" if comparison.task.predicts == "classes" else "numbers")
    rows = []
    for part in describe(comparison.task.splits(seed=0)):
        classes = part.numbers or ", ".join(f"{name}: {amount}" for name, amount in part.classes.items())
        cells = (part.name, part.graphs, f"{part.smallest} to {part.largest}", f"{part.mean_size:.1f}", classes)
        rows.append(tuple(text(cell) for cell in cells))
    lead = paragraph(f"{comparison.task.title}. {comparison.shift}")
    return lead + paragraph("With split seed 0:") + html_table(head, rows)


def _training(comparison: Comparison) -> str:
    rows = []
    for row in comparison.rows:
        record = next((record for record in comparison.records if record.method == row.method), None)
        configuration = "" if record is None else ", ".join(f"{n}={v}" for n, v in record.configuration.items())
        cells = (row.label, configuration, "" if row.seconds is None else f"{row.seconds:.1f} s", row.problem)
        rows.append(tuple(text(cell) for cell in cells))
    return html_table(("method", "configuration", "a run", "problem"), rows, text_columns=4)
