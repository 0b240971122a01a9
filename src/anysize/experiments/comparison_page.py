"""The HTML page of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from anysize import __version__
from anysize._html import Section, card, cards, html_table, missing, page, paragraph, text, tiles
from anysize._progress import rough_duration
from anysize._text import capitalized
from anysize.experiments.comparison import Comparison, ComparisonRow
from anysize.experiments.records import now
from anysize.experiments.tables.cells import format_score
from anysize.experiments.tables.render import html_figure
from anysize.plots import to_svg
from anysize.tasks.describe import describe
from anysize.tasks.metrics import METRIC_NAMES


def comparison_page(found: Comparison) -> str:
    """A self-contained page: the table with its chart, all metrics, the split, and how methods were trained."""
    sections = (
        Section("scores", "Scores", html_figure(found.table) + _chart(found)),
        Section("metrics", "All metrics", _all_metrics(found)),
        Section("split", "The split", _split(found)),
        Section("training", "Training", _training(found)),
    )
    kept = "" if found.folder is None else f", from the records in {found.folder}"
    foot = paragraph(f"Made by anysize {__version__}, {now().replace('T', ' ')[:16]} UTC{kept}.")
    return page(f"Methods compared on {found.task.label}", _lead(found), sections, foot)


def _lead(found: Comparison) -> str:
    best, metric = found.best, METRIC_NAMES[found.metric]
    if best is None or best.mean is None:
        sentence = "No method has a score."
    else:
        tied = [row.label for row in found.rows if row.tied and row is not best]
        beside = f" {', '.join(tied)} cannot be told from it." if tied else ""
        sentence = f"{best.label} has the highest {metric} on the test graphs, {format_score(best.mean)}.{beside}"
    seconds = sum(record.seconds or 0.0 for record in found.records)
    facts = [
        (f"{sum(not row.check for row in found.rows)}", "methods"),
        (f"{found.seeds}", "splits and seeds"),
        (f"{len(found.records)}", "runs"),
        (rough_duration(seconds), "of training"),
    ]
    return paragraph(sentence, "lead") + tiles(facts)


def _chart(found: Comparison) -> str:
    if not any(row.mean is not None for row in found.rows):
        return missing("There is no chart: no method has a score.")
    title = f"{capitalized(METRIC_NAMES[found.metric])} on the test graphs"
    caption = "Dots: means. Bars: 95 % bootstrap intervals. Ticks: single seeds. Shaded: checks."
    return cards([card(to_svg(found.plot(), "comparison", title), title, caption)])


def _all_metrics(found: Comparison) -> str:
    def cells(row: ComparisonRow) -> Iterator[str]:
        yield text(row.label)
        for name in METRIC_NAMES:
            value = (row.metrics or {}).get(name)
            yield "" if value is None else format_score(value)

    return paragraph("Means over seeds on the test graphs.") + html_table(
        ("method", *METRIC_NAMES.values()), [tuple(cells(row)) for row in found.rows]
    )


def _split(found: Comparison) -> str:
    head = ("set", "graphs", "vertices", "mean", "classes")
    rows = []
    for one in describe(found.task.splits(seed=0)):
        classes = ", ".join(f"{name}: {amount}" for name, amount in one.classes.items())
        cells = (one.name, one.graphs, f"{one.smallest} to {one.largest}", f"{one.mean_size:.1f}", classes)
        rows.append(tuple(text(cell) for cell in cells))
    lead = paragraph(f"{found.task.title}. {found.task.note}")
    return lead + paragraph("With split seed 0:") + html_table(head, rows)


def _training(found: Comparison) -> str:
    rows = []
    for row in found.rows:
        record = next((record for record in found.records if record.method == row.method), None)
        configuration = "" if record is None else ", ".join(f"{n}={v}" for n, v in record.configuration.items())
        cells = (row.label, configuration, "" if row.seconds is None else f"{row.seconds:.1f} s", row.problem)
        rows.append(tuple(text(cell) for cell in cells))
    return html_table(("method", "configuration", "a run", "problem"), rows, text_columns=4)
