"""Formats: everything of a table is in each of them, and nothing in a name can break them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from evaluation.helpers import made, seeds

from anysize.evaluation.render import (
    FORMATS,
    comparison_text,
    difference_text,
    html_figure,
    interval_text,
    own_text,
    published_text,
    render,
    render_html,
    render_latex,
    render_markdown,
    render_text,
    text_layout,
    text_renderables,
)
from anysize.evaluation.tables import Cell, Column, Published, Row, Table
from anysize.paper.selection import ScoreSummary
from anysize.paper.tables import build_table, lead_notes

HOSTILE = "<script>alert('x')</script> | a_b & 50% $x$ #1 {y} ~ ^ \\ `c` *d* [e](f) é ☃"


@pytest.fixture(scope="module")
def table() -> Table:
    labels = "01" * 20
    records = [
        *seeds([1.0, 0.9], [0.8, 1.0]),
        *seeds([1.0, 1.0], [1.0, 1.0], recipe="robust"),
        *seeds([0.6, 0.6], [0.3, 0.3], method="gin-sum"),
        *seeds([0.6, 0.6], [1.0, 1.0], method="topology-only"),
        *seeds([1.0], [0.7], data="seed:3"),
        made(test=1.0, task="DD", predictions=labels, labels=labels),
        made(test=-0.2, task="DD", method="gcn-sum"),
    ]
    return build_table(2, records)


@pytest.fixture(scope="module")
def real() -> Table:
    labels = "01" * 20
    good = "01" * 18 + "1001"
    return build_table(3, [made(test=0.9, task="DD", predictions=good, labels=labels), made(test=-0.2, task="NCI1")])


@pytest.fixture(scope="module")
def hostile() -> Table:
    return Table(
        HOSTILE, "accuracy", "paper", (Column("t", HOSTILE, "published", "test"),),
        (Row("m", "r", HOSTILE, False, (Cell("run", ScoreSummary(0.5, 0.1, 2)),)),), (HOSTILE,),
    )  # fmt: skip


def numbers(table: Table) -> set[str]:
    """Every number a reader must find."""
    cells = [cell for row in table.rows for cell in row.cells]
    return {text for cell in cells for text in (own_text(cell), published_text(cell), interval_text(cell)) if text}


# ---- words -----------------------------------------------------------------------------------------


def test_differences_have_a_sign():
    paper = Published(0.5, 0.1)
    means = {0.6: "+0.10", 0.4: "-0.10", 0.5: "±0.00", 0.504: "±0.00", 0.496: "±0.00"}
    assert {mean: difference_text(Cell("run", ScoreSummary(mean, 0, 1), paper)) for mean in means} == means
    assert comparison_text(Cell("run", ScoreSummary(0.6, 0, 1), paper)) == "0.50 (0.10) +0.10"
    assert comparison_text(Cell("NA", published=Published(None, None))) == ""
    assert comparison_text(Cell("run", ScoreSummary(0.6, 0, 1), Published(None, None))) == "NA"
    assert comparison_text(Cell("not run")) == ""
    assert [own_text(Cell(status)) for status in ("NA", "not run", "unknown")] == ["NA", "not run", "?"]


def test_unknown_formats():
    assert list(FORMATS) == ["text", "markdown", "latex", "html", "json"]
    with pytest.raises(ValueError, match="text, markdown, latex, html, json; got 'pdf'"):
        render(build_table(1, []), "pdf")


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_every_label_number_and_note_is_there(form, table, real):
    for one in (table, real):
        written = render(one, form)
        flat = re.sub(
            r"\s+", " ", written.replace("$-$", "-").replace("{[}", "[").replace("{]}", "]").replace("\\", "")
        )
        for number in numbers(one):
            assert number in flat
        assert written.endswith("\n")
        for word in (one.title.partition(". ")[2], "not run", "seeds", *(["Rule"] if form != "text" else [])):
            assert word in flat
        if form != "latex":
            assert all(row.label in flat for row in one.rows)


# ---- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [36, 50, 60, 80, 100, 120, 200, 400])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(width, table, real):
    for one in (table, real):
        written = render_text(one, width)
        assert max(map(len, written.splitlines())) <= width
        assert "…" not in written
        for number in numbers(one):
            assert number in written
        for row in one.rows:
            assert row.label in written


def test_a_terminal_gets_few_lines_of_notes(table):
    notes = [line for line in render_text(table, 160).splitlines() if line.startswith("- ")]
    assert notes == [f"- {note}" for note in table.short_notes]
    assert notes[3:] == [f"- {note}" for note in lead_notes(table)]
    assert all(note in render_markdown(table).replace("\\", "") for note in table.notes)


def test_tasks_stay_together_where_there_is_room(table):
    flat, blocks = text_layout(table, 400)
    assert flat
    assert len(blocks) == 1
    groups = [places for _, places in table.groups()]
    for width in (120, 80):
        flat, blocks = text_layout(table, width)
        assert sorted(place for places in blocks for place in places) == list(range(len(table.columns)))
        assert all(any(set(group) <= set(places) for places in blocks) for group in groups)
        assert flat == (width == 120)
    flat, blocks = text_layout(table, 34)
    assert not flat
    assert all(len(places) == 1 for places in blocks)


def test_one_line_per_row_where_there_is_room(real):
    lines = render_text(real, 140).splitlines()
    (line,) = [line for line in lines if line.strip().startswith("Γ GIN ")]
    assert line.split("DD")[0].count("0.") >= 4
    assert re.search(r"-0\.20 ", line)  # of one seed, without a deviation
    assert re.search(r"0\.90 \[0\.\d\d, 1\.00\] ", line)


def test_pieces_of_cells_stand_below_each_other(table):
    """A row without a published number leaves a gap where the others have theirs."""
    lines = render_text(table, 130).splitlines()
    line = {row.label: next(line for line in lines if line.startswith(f" {row.label}  ")) for row in table.rows}
    starts = {label: [match.start() for match in re.finditer(r"\d\.\d\d \(", own)] for label, own in line.items()}
    ours, robust = starts["Γ GIN"], starts["Γ GIN, robust"]
    assert len(ours) == 6
    assert robust == ours[::2] == starts["topology only"]
    assert starts["PNA"] == ours[1::2]
    heads = lines[3]
    ends = [match.end() for match in re.finditer(r"train|validation|test", heads)]
    assert [own - 6 for own in ends] == [match.start() for match in re.finditer(r" [-+±]\d", line["Γ GIN"])]


def test_the_best_are_bold_on_a_terminal(table):
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=120, force_terminal=True, color_system="standard")
    for part in text_renderables(table, 120):
        console.print(part)
    assert "\x1b[1m1.00 (0.00)\x1b[0m" in console.file.getvalue()


# ---- markdown --------------------------------------------------------------------------------------


def test_markdown_is_one_table(table, hostile):
    for one in (table, hostile):
        lines = render_markdown(one).splitlines()
        grid = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
        assert {len(row) for row in grid} == {len(one.columns) + 3}
        assert len(grid) == len(one.rows) + 2
        assert len(lines) == len(grid) + len(one.notes) + 3
    assert "**1.00 (0.00)**" in render_markdown(table)
    assert "*topology only*" in render_markdown(table)
    assert "<script>" not in render_markdown(hostile)


def test_markdown_text_comes_back_as_it_was(hostile):
    converter = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    page = converter.render(render_markdown(hostile))
    found = Reader(page)
    assert found.rows[1][0] == HOSTILE


# ---- html ------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """The tables and tags of a page, as a browser sees them."""

    VOID = ("meta", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.bold: list[str] = []
        self.widths: list[int] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
            self.widths.append(0)
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.widths[-1] += int(dict(attrs).get("colspan", 1))
        assert tag != "script"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        if self.open and self.open[-1] in ("b", "strong"):
            self.bold.append(data)


def test_html_is_well_formed_and_complete(table):
    page = Reader(render_html(table))
    assert len(page.rows) == len(table.rows) + 2
    assert page.rows[1] == [column.split for column in table.columns]
    assert set(page.widths) == {len(table.columns) + 1, len(table.columns)}
    by_label = {row[0]: row for row in page.rows[2:]}
    assert by_label["Γ GIN"][3] == "0.90 (0.10)0.98 (0.02) -0.08"
    assert by_label["Γ GIN, robust"][3] == "1.00 (0.00)"
    assert set(page.bold) == {"1.00 (0.00)", "0.70"}
    assert html_figure(table).count("<tbody>") == 2
    assert "//" not in render_html(table)


def test_html_is_escaped(hostile):
    page = Reader(render_html(hostile))
    assert page.rows[2][0] == HOSTILE
    assert page.rows[0][1] == HOSTILE


# ---- latex -----------------------------------------------------------------------------------------


def test_latex_rows_have_as_many_cells_as_columns(table, real, hostile):
    for one in (table, real, hostile):
        written = render_latex(one)
        body = [line for line in written.splitlines() if line.endswith(r"\\")]
        for line in body:
            cells = len(re.findall(r"(?<!\\)&", line)) + 1
            spans = [int(span) for span in re.findall(r"\\multicolumn\{(\d+)\}", line)]
            assert cells + sum(spans) - len(spans) == len(one.columns) + 1
        bare = re.sub(r"\\[{}]", "", written)
        assert bare.count("{") == bare.count("}")
        assert len(re.findall(r"(?<!\\)\$", written)) % 2 == 0
    written = render_latex(table)
    assert r"$\Gamma_{\textrm{GIN}}$, robust & " in written
    assert r"\textbf{1.00 (0.00)}" in written
    assert r"\midrule" + "\ntopology only" in written
    assert r"\cmidrule(lr){2-4} \cmidrule(lr){5-7}" in written
    assert "$-$0.20" in render_latex(real)
    assert r"\caption{MCC, real graphs" in render_latex(real)
    assert r"50\% \$x\$ \#1 \{y\} \textasciitilde{}" in render_latex(hostile)


# ---- json ------------------------------------------------------------------------------------------


def test_json_has_all_numbers_unrounded(table, real):
    fields = json.loads(render(table, "json"))
    assert (fields["metric"], fields["rule"]) == ("accuracy", "paper")
    assert len(fields["columns"]) == len(fields["rows"][0]["cells"]) == 12
    (row,) = [row for row in fields["rows"] if (row["method"], row["recipe"]) == ("gamma-gin", "paper")]
    cell = row["cells"][2]
    assert cell["summary"] == {"mean": 0.9, "std": pytest.approx(0.1), "count": 2}
    assert cell["published"] == {"mean": 0.98, "std": 0.02, "best": True}
    assert cell["difference"] == pytest.approx(-0.08)
    assert fields["notes"] == list(table.notes)
    (row,) = [row for row in json.loads(render(real, "json"))["rows"] if row["method"] == "gamma-gin"]
    assert row["cells"][3]["interval"]["resamples"] == 2000
