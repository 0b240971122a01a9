"""Graphs and labels that commands read, and the options for it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize._text import csv_text, plural

if TYPE_CHECKING:
    from anysize.counting.counts import Counts
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.regressor import GraphRegressor
    from anysize.graphs.graphset import GraphSet

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
    from anysize import GraphRegressor
    from anysize.io.read import has_named_colors
    from anysize.io.smiles import are_elements

    if color is not None or (smiles is None and not has_named_colors(file)):
        return color
    palette = model.palette_ if isinstance(model, GraphRegressor) else model.ensemble_.palette
    is_of_elements = smiles is not None and model.color is None and palette and are_elements(palette)
    return "element" if is_of_elements else model.color


def graph_names(graphs: GraphSet | Counts) -> list[str]:
    """The names of the graphs, or their positions."""
    return [str(row) for row in range(len(graphs))] if graphs.names is None else list(graphs.names)


def read_labels(file: Path, graphs: GraphSet) -> list[Any]:
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
