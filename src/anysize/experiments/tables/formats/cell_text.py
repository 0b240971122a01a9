"""The pieces of a cell as words, shared by all formats that people read."""

from __future__ import annotations

from anysize.experiments.tables.cells import Cell, printed


def ours(cell: Cell) -> str:
    """Mean (deviation), or why there is none.

    >>> from anysize.experiments.selection import ScoreSummary
    >>> ours(Cell("run", ScoreSummary(0.987, 0.021, 10))), ours(Cell("not run"))
    ('0.99 (0.02)', 'not run')
    """
    if cell.summary is None:
        return "?" if cell.status == "unknown" else cell.status
    return f"{printed(cell.summary.mean)} ({printed(cell.summary.std)})"


def paper(cell: Cell) -> str:
    """The published number; empty if the paper has no such cell, or has NA as we do."""
    own = cell.published
    if own is None or (cell.status == "NA" and not own.applies):
        return ""
    return "NA" if own.mean is None or own.std is None else f"{printed(own.mean)} ({printed(own.std)})"


def difference(cell: Cell) -> str:
    """Ours minus the published number, with its sign; empty if there is none.

    >>> from anysize.experiments.tables.published import Published
    >>> from anysize.experiments.selection import ScoreSummary
    >>> difference(Cell("run", ScoreSummary(0.95, 0.0, 10), Published(0.98, 0.02)))
    '-0.03'
    """
    if cell.difference is None:
        return ""
    number = printed(cell.difference)
    return number if number.startswith("-") else f"{'+' if number.strip('0.') else '±'}{number}"


def beside(cell: Cell) -> str:
    """The published number and the difference."""
    return f"{paper(cell)} {difference(cell)}".strip()


def interval(cell: Cell) -> str:
    """The bootstrap interval; empty if there is none."""
    return "" if cell.interval is None else f"[{printed(cell.interval.low)}, {printed(cell.interval.high)}]"
