"""Numbers and lists as the sentences of the report have them."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 5  # names in a sentence


def p_value(p: float) -> str:
    """A p-value in words."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.995 else "p = 1"


def percent(share: float) -> str:
    """A share as a percentage."""
    if 0 < share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def number(value: float) -> str:
    """A number of vertices."""
    return f"{value:g}" if value < 1e5 else f"{value:,.0f}"


def span(five: tuple[float, ...]) -> str:
    """The smallest to the largest of five numbers."""
    return number(five[0]) if five[0] == five[-1] else f"{number(five[0])} to {number(five[-1])}"


def some(names: Iterable[object]) -> str:
    """The first few names, and how many more there are."""
    listed = list(map(str, names))
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return ", ".join(listed[:LISTED]) + more


def upto(low: int, high: int) -> str:
    """A range of pattern sizes."""
    return f"{low} to {high}" if high > low else f"{high}"


def plural(amount: int, one: str, many: str) -> str:
    """The word for this amount."""
    return one if amount == 1 else many
