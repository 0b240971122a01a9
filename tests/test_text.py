"""Text of others: nothing is obeyed by a terminal or a spreadsheet, and CSV cells come back as they were."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anysize._text import csv_cell, csv_text, escape_surrogates, visible

any_text = st.text(st.characters(categories=None))


@given(any_text)
@example("\x1b]0;title\x07")
@example("\u202egnp.exe")
@example("\ud800")
def test_what_is_shown_holds_nothing_that_acts(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not set(shown) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0xD800)}
    shown.encode()
    if text.isprintable():
        assert shown == text


@given(any_text)
@example("'=x")
@example("''")
@example("-1e5")
@example("-1+1")
def test_csv_cells_come_back(text: str) -> None:
    cell = csv_cell(text)
    assert csv_text(cell) == text
    assert cell[:1] not in ("=", "@", "\t", "\r")
    if cell[:1] in ("+", "-"):
        float(cell)
    escape_surrogates(text).encode()


@pytest.mark.parametrize("value", [-1, 1.5, None, True])
def test_other_cells_stay(value: object) -> None:
    assert csv_cell(value) is value


def test_a_written_row_is_read_back() -> None:
    row = ["=cmd|'/c calc'!A1", '+"1', "-x,y", "@a\nb", "'tis", "-1"]
    file = io.StringIO()
    csv.writer(file).writerow(map(csv_cell, row))
    file.seek(0)
    assert [csv_text(cell) for cell in next(csv.reader(file))] == row
