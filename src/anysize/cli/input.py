"""Graphs and labels that commands read, and the options for it."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize._text import csv_text, plural
from anysize.io.smiles import SMILES_ENDINGS, is_missing_label

if TYPE_CHECKING:
    from anysize.counting.counts import Counts
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.regressor import GraphRegressor
    from anysize.graphs.graphset import GraphSet
    from anysize.io.rows import GraphRows

SmilesOption = Annotated[
    str | None, typer.Option("--smiles", metavar="COLUMN", help="Read molecules: the column of a table with SMILES.")
]
LabelOption = Annotated[
    str | None, typer.Option("--y", metavar="COLUMN", help="The column of a table with the label of each graph.")
]
LabelsFileOption = Annotated[
    Path | None,
    typer.Option("--labels", help="Text file with the labels: one per line, or lines 'graph name,label'."),
]
ColorsOption = Annotated[bool, typer.Option("--colors/--no-colors", help="Use vertex colors.")]
ColorOption = Annotated[
    str | None,
    typer.Option(
        "--color",
        metavar="NAME",
        help="Vertex attribute with the color (GraphML, GML); for molecules rich (default) or element.",
    ),
]

EdgeColorOption = Annotated[
    str | None,
    typer.Option("--edge-color", metavar="NAME", help="Edge attribute or column of a table with the type of an edge."),
]
DirectedOption = Annotated[
    bool | None,
    typer.Option("--directed/--undirected", help="Whether edges of an edge list have directions; default: if mixed."),
]
ThresholdOption = Annotated[
    list[float] | None,
    typer.Option("--threshold", help="Matrices: pairs with a larger weight are edges; several give types of edges."),
]
DensityOption = Annotated[
    list[float] | None,
    typer.Option("--density", help="Matrices: the share of pairs that are edges, those with the largest weights."),
]


def read_input(
    file: Path, colors: bool = True, *, labels: Path | None = None, threshold: list[float] | None = None,
    density: list[float] | None = None, **options: Any,
) -> GraphSet:  # fmt: skip
    """Read the graphs of a file, with or without their colors, with labels from the file of ``--labels`` if given.

    The other options are those of `read_graphs`.
    """
    from anysize import read_graphs

    graphs = read_graphs(file, threshold=threshold or None, density=density or None, **options)
    if labels is not None:
        graphs = graphs.with_y(read_labels(labels, graphs))
    return graphs if colors else graphs.without_colors()


def read_new(
    words: Sequence[str], model: GraphClassifier | GraphRegressor, colors: bool, *, labels: Path | None = None,
    smiles: str | None = None, color: str | None = None, threshold: list[float] | None = None,
    density: list[float] | None = None, **options: Any,
) -> GraphRows:  # fmt: skip
    """The rows of new graphs: of a file or folder, of standard input (a dash), or SMILES.

    Molecules, and files whose colors have a name, are colored as in training unless ``color`` says otherwise.
    """
    from anysize.io.rows import read_rows

    if not all(word.strip() for word in words):
        raise ValueError("expected a file of graphs, SMILES, or - for standard input; got an empty argument.")
    options |= {"smiles": smiles, "threshold": threshold or None, "density": density or None}
    files = [word for word in words if Path(word).exists()]
    if files and len(words) > 1:
        raise ValueError(f"predict takes one file or folder, or SMILES; got {len(words)} arguments with {files[0]}.")
    if files:
        rows = read_rows(Path(words[0]), **options, color=trained_color(model, Path(words[0]), smiles, color))
    elif words == ["-"]:
        rows = _read_standard_input(color_of_atoms(model, color), options)
    else:
        rows = _read_words(words, color_of_atoms(model, color), options)
    if labels is not None:
        found = read_labels(labels, rows)
        missing = [isinstance(label, str) and is_missing_label(label) for label in found]
        rows = replace(rows, labels=[None if no else label for no, label in zip(missing, found, strict=True)])
    return rows if colors else replace(rows, graphs=rows.graphs.without_colors())


def _read_standard_input(color: str | None, options: dict[str, Any]) -> GraphRows:
    """Lines of SMILES, JSON lines, or with ``--smiles`` a table."""
    from anysize.io.jsonlines import is_json_lines
    from anysize.io.rows import parse_rows

    data = sys.stdin.buffer.read()
    if options["smiles"] is None and is_json_lines(data):
        return parse_rows(data, "-.jsonl", "standard input", **options)
    return parse_rows(data, "-.smi", "standard input", **options, color=color)


def _read_words(words: Sequence[str], color: str | None, options: dict[str, Any]) -> GraphRows:
    """SMILES that are arguments; an error if they are none, as a file that does not exist."""
    from anysize.io.rows import join_rows
    from anysize.io.smiles import smiles_word_rows

    if given := [name for name, value in options.items() if value is not None]:
        raise ValueError(f"There is no file or folder {words[0]}; SMILES as arguments take no --{given[0]}.")
    try:
        rows = smiles_word_rows(words, color)
    except ImportError as error:
        raise ValueError(f"There is no file or folder {words[0]}. {error}") from None
    if all(row.graph is None for row in rows):
        raise ValueError(f"There is no file or folder {words[0]}, and RDKit cannot read it as SMILES.")
    return join_rows(rows, "the arguments")


def read_labeled(file: Path, colors: bool, **options: Any) -> GraphSet:
    """As `read_input`; an error if the graphs have no labels."""
    graphs = read_input(file, colors, **options)
    if graphs.y is None:
        raise ValueError(f"{file} has graphs without labels; pass --labels FILE or --y COLUMN.")
    return graphs


def trained_color(
    model: GraphClassifier | GraphRegressor, file: Path, smiles: str | None, color: str | None
) -> str | None:
    """The color to read new graphs with: as asked for, else that of training for molecules and GraphML."""
    from anysize.io.read import has_named_colors

    if smiles is not None or file.name.removesuffix(".gz").endswith(SMILES_ENDINGS):
        return color_of_atoms(model, color)
    return model.color if color is None and has_named_colors(file) else color


def color_of_atoms(model: GraphClassifier | GraphRegressor, color: str | None) -> str | None:
    """What distinguishes atoms: as asked for, else as in training; models of elements alone do not say so."""
    from anysize import GraphRegressor
    from anysize.io.smiles import are_elements

    if color is not None or model.color is not None:
        return model.color if color is None else color
    palette = model.palette_ if isinstance(model, GraphRegressor) else model.ensemble_.palette
    return "element" if palette and are_elements(palette) else None


def graph_names(graphs: GraphSet | Counts | GraphRows) -> list[str]:
    """The names of the graphs, or their positions."""
    return [str(row) for row in range(len(graphs))] if graphs.names is None else list(graphs.names)


def read_labels(file: Path, graphs: GraphSet | GraphRows) -> list[Any]:
    """Read one label per line, or lines 'graph name,label' in any order; integers become numbers.

    Names and labels are separated by commas, tabs or semicolons, and may be quoted. Graphs without names are named by
    their positions, as `predict` does.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"--labels takes a UTF-8 text file with one label per line; {file} is not UTF-8.") from None
    except OSError as error:
        raise ValueError(f"--labels {file} cannot be read: {error.strerror}.") from None
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    separator = next((one for one in (",", "\t", ";") if lines and all(one in line for line in lines)), None)
    if separator is not None:
        names = graph_names(graphs)
        pairs: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            *parts, last = next(csv.reader([line], delimiter=separator))
            name, label = (csv_text(cell.strip()) for cell in (separator.join(parts), last))
            if name in pairs:
                raise ValueError(f"{file} names graph {name!r:.60} twice (line {number}); expected one line per graph.")
            pairs[name] = label
        if len(set(names)) < len(names):
            raise ValueError(f"Several graphs have the same name; give {file} one label per line, without names.")
        missing = [name for name in names if name not in pairs]
        if missing == [file.stem]:
            raise ValueError(f"{file} was read as a graph, too; move it out of the folder of graphs.")
        if missing:
            raise ValueError(
                f"{file} has no line for graph {missing[0]!r}; expected 'name,label' for every graph (in a folder of "
                "files the name is that of the file without its ending)."
            )
        lines = [pairs[name] for name in names]
    if len(lines) != len(graphs):
        raise ValueError(
            f"{file} has {plural(len(lines), 'label')} for {plural(len(graphs), 'graph')}; expected one "
            "line per graph and no header."
        )
    try:
        return [int(line) for line in lines]
    except ValueError:
        return [line.strip() for line in lines]
