r"""Tables in LaTeX; the document needs the package booktabs and nothing else."""

from __future__ import annotations

import re

from anysize.experiments.tables.cells import Cell, Row, Table
from anysize.experiments.tables.formats import cell_text

MARKS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "→": r"$\to$", "Γ": r"$\Gamma$",
    "ő": r"\H{o}", "é": r"\'e", "–": "--", "±": r"$\pm$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def render(table: Table) -> str:
    """A table environment; below each row, in small print, intervals and published numbers."""
    columns = len(table.columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(re.sub(r'^Table [0-9]+[.] ', '', table.title))}}}",  # LaTeX counts tables itself
        rf"\begin{{tabular}}{{l{'r' * columns}}}",
        r"\toprule",
        *_head(table),
        r"\midrule",
    ]
    for at, row in enumerate(table.rows):
        if row.check and at and not table.rows[at - 1].check:
            lines.append(r"\midrule")
        lines += _row(row)
    lines += [r"\bottomrule", r"\end{tabular}", "", r"\smallskip", r"\begin{minipage}{\linewidth}\footnotesize"]
    lines += [rf"{escape(note)}\par" for note in table.notes]
    return "\n".join([*lines, r"\end{minipage}", r"\end{table}"]) + "\n"


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(escape("50 % of {a, b} → c_1"))
    50 \% of \{a, b\} $\to$ c\_1
    """
    return "".join(MARKS.get(letter, letter) for letter in text)


def label(text: str) -> str:
    r"""The label of a row, with what follows Gamma as its index.

    >>> print(label("Γ 1-hot, robust"))
    $\Gamma_{\textrm{1-hot}}$, robust
    """
    match = re.fullmatch(r"Γ ([^ ,]+)(.*)", text)
    return escape(text) if match is None else rf"$\Gamma_{{\textrm{{{escape(match[1])}}}}}${escape(match[2])}"


def _head(table: Table) -> list[str]:
    first, rules, at = [], [], 2
    for heading, places in table.groups():
        first.append(rf"\multicolumn{{{len(places)}}}{{c}}{{{escape(heading)}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + len(places) - 1}}}")
        at += len(places)
    return [_line(["", *first]), " ".join(rules), _line(["", *(column.split for column in table.columns)])]


def _row(row: Row) -> list[str]:
    lines = [_line([label(row.label), *(_own(cell) for cell in row.cells)])]
    for words_of in (cell_text.interval, cell_text.beside):
        texts = [words_of(cell) for cell in row.cells]
        if any(texts):
            lines.append(_line(["", *(rf"{{\scriptsize {_signed(text)}}}" if text else "" for text in texts)]))
    return lines


def _own(cell: Cell) -> str:
    text = _signed(cell_text.ours(cell))
    return rf"\textbf{{{text}}}" if cell.best else text


def _signed(text: str) -> str:
    """Numbers with a minus, not a hyphen."""
    return re.sub(r"-(?=\d)", "$-$", escape(text))


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
