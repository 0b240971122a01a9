"""What was run: how much, when, on which device, with which versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from anysize._json import compact_json
from anysize.experiments.records import Record
from anysize.experiments.report.page import Section, grid, paragraph, text
from anysize.experiments.report.selected_rows import title_of


def facts(records: Sequence[Record]) -> list[tuple[str, str]]:
    """The numbers at the top of the page."""
    amounts = [
        (f"{len(records):,}", "run", "runs"),
        (str(len({record.task for record in records})), "task", "tasks"),
        (str(len({(record.task, record.data) for record in records})), "data set", "data sets"),
        (str(len({record.method for record in records})), "method", "methods"),
    ]
    told = [(number, one if number == "1" else many) for number, one, many in amounts]
    return [*told, (duration(sum(record.seconds or 0.0 for record in records)), "of training")]


def runs_section(records: Sequence[Record]) -> Section:
    """A line for every task and data set, then the versions."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.task, record.data), []).append(record)
    head = ("task", "data", "device", "runs", "methods", "configurations", "seeds", "training", "from", "to")
    rows = [
        [text(cell) for cell in (title_of(task), data, _several(record.device or "not known" for record in own))]
        + [f"{len(own):,}", str(len({record.method for record in own}))]
        + [str(len({(r.method, r.recipe, compact_json(r.configuration)) for r in own}))]
        + [str(len({record.seed for record in own})), duration(sum(record.seconds or 0.0 for record in own))]
        + [text(_moment(pick(_times(own), default="not known"))) for pick in (min, max)]
        for (task, data), own in groups.items()
    ]
    return Section("runs", "What was run", grid(head, rows, words=3) + _versions(records))


def _versions(records: Iterable[Record]) -> str:
    told = Counter(", ".join(f"{name} {own}" for name, own in sorted(record.versions.items())) for record in records)
    known = [f"{words} ({count:,} run{'s' * (count > 1)})" for words, count in told.most_common() if words]
    unknown = told.get("", 0)
    known += [f"{unknown:,} run{'s' * (unknown > 1)} did not say"] if unknown else []
    return paragraph(f"Versions: {'; '.join(known)}.", "small")


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(3), duration(200), duration(7300)
    ('3 s', '3 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _several(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _times(records: Iterable[Record]) -> list[str]:
    return [record.when for record in records if record.when]


def _moment(when: str) -> str:
    """To the minute.

    >>> _moment("2026-01-02T03:04:05+00:00")
    '2026-01-02 03:04'
    """
    return when[:16].replace("T", " ")
