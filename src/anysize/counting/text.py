"""A table of counts as text, for `print`: the most frequent patterns by the first graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anysize._text import aligned, plural, visible

if TYPE_CHECKING:
    from anysize.counting.counts import Counts

MAX_PATTERNS, MAX_GRAPHS = 25, 5
MAX_PATTERN_WIDTH, MAX_GRAPH_WIDTH = 40, 12  # characters


def as_text(counts: Counts) -> str:
    """One line per pattern, one column per graph, and the sums over all graphs; what is left out is named below."""
    if not counts.shape[0] or not counts.shape[1]:
        return repr(counts)
    totals = counts.totals()
    columns = np.sort(np.argsort(-totals, kind="stable")[:MAX_PATTERNS])
    shown = counts[:MAX_GRAPHS].select(columns)
    names = counts.names or tuple(f"graph {number}" for number in range(len(shown)))
    table = [["pattern", *(_short(counts.columns.pattern(int(column)).name, MAX_PATTERN_WIDTH) for column in columns)]]
    copies, errors = shown.matrix.toarray(), shown.standard_errors.toarray()
    for row in range(len(shown)):
        cells = [_number(number) for number in copies[row]]
        if counts.sampling is not None:
            cells = [f"{cell} ±{_number(error)}" for cell, error in zip(cells, errors[row], strict=True)]
        table.append([_short(names[row], MAX_GRAPH_WIDTH), *cells])
    if len(counts) > 1:
        table.append([f"all {len(counts)}", *(_number(totals[column]) for column in columns)])
    notes = ["estimates ± standard errors"] if counts.sampling is not None else []
    hidden = (len(totals) - len(columns), "more pattern"), (len(counts) - len(shown), "more graph")
    notes += [plural(number, what) for number, what in hidden if number]
    return "\n".join([repr(counts), *aligned(zip(*table, strict=True)), *([f"({'; '.join(notes)})"] if notes else [])])


def _number(value: Any) -> str:
    """Integers in full; estimates to the next integer, small ones with two digits."""
    return f"{value:,}" if isinstance(value, (int, np.integer)) else f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _short(name: str, width: int) -> str:
    name = visible(name)
    return name if len(name) <= width else f"{name[: width - 1]}…"
