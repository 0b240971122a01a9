"""Graphs and labels that commands read, and the options for it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from anysize.cli.shared import split_names
from anysize.graphs.labels import target_position
from anysize.io.smiles import SMILES_ENDINGS

if TYPE_CHECKING:
    from anysize.counting.counts import Counts
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.regressor import GraphRegressor
    from anysize.graphs.graphset import GraphSet
    from anysize.io.rows import GraphRows

Reading: TypeAlias = dict[str, Any]  # options of `read_graphs` that the user gave
ColorsOption = Annotated[bool, typer.Option("--colors/--no-colors", help="Use vertex colors.")]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="Predict a number: the column or attribute that holds it; several as A,B,C.",
    ),
]
READING: dict[str, Any] = {  # the options of `read_graphs`
    "labels": Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="Text file with the labels: one per line, lines 'graph name,label', or with --y a table with a column "
            "of names.",
        ),
    ],
    "smiles": Annotated[
        str | None,
        typer.Option("--smiles", metavar="COLUMN", help="Read molecules: the column of a table with SMILES."),
    ],
    "y": Annotated[
        str | None,
        typer.Option(
            "--y",
            metavar="COLUMN",
            help="The column of a table with the label of each graph; several targets as A,B,C.",
        ),
    ],
    "color": Annotated[
        str | None,
        typer.Option(
            "--color",
            metavar="NAME",
            help="Vertex attribute with the color (GraphML, GML); for molecules rich (default) or element.",
        ),
    ],
    "edge_color": Annotated[
        str | None,
        typer.Option(
            "--edge-color", metavar="NAME", help="Edge attribute or column of a table with the type of an edge."
        ),
    ],
    "features": Annotated[
        list[str] | None,
        typer.Option("--features", metavar="NAME", help="Vertex attribute with numbers (GraphML, GML); repeatable."),
    ],
    "directed": Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected", help="Whether edges of an edge list have directions; default: if mixed."
        ),
    ],
    "threshold": Annotated[
        list[float] | None,
        typer.Option(
            "--threshold", help="Matrices: pairs with a larger weight are edges; several give types of edges."
        ),
    ],
    "density": Annotated[
        list[float] | None,
        typer.Option("--density", help="Matrices: the share of pairs that are edges, those with the largest weights."),
    ],
}


def with_reading_options(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options in `READING`, but those left out, in the place of its parameter ``reading``.

    The parameter is a dictionary of those that the user gave, for `read_graphs`.
    """
    names = [name for name in READING if name not in left_out]
    options = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=READING[n]) for n in names]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**arguments: Any) -> None:
            given = {name: value for name in names if (value := arguments.pop(name)) not in (None, [])}
            given |= {"y": column_names(given["y"])} if "y" in given else {}
            command(**arguments, reading=given)

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
            parameters += options if parameter.name == "reading" else keyword_only
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call

    return decorate


def column_names(text: str) -> str | list[str]:
    """The name of a column, or several names with commas between them.

    >>> column_names("A"), column_names("A, B")
    ('A', ['A', 'B'])
    """
    names = split_names(text) or []
    return names if len(names) > 1 else text


def read_input(file: Path, reading: Reading, colors: bool = True) -> GraphSet:
    """Read the graphs of a file, with or without their colors."""
    from anysize import read_graphs

    graphs = read_graphs(file, **reading)
    return graphs if colors else graphs.without_colors()


def read_labeled(file: Path, reading: Reading, colors: bool) -> GraphSet:
    """As `read_input`; an error if the graphs have no labels."""
    graphs = read_input(file, reading, colors)
    if graphs.y is None:
        raise ValueError(f"{file} has graphs without labels; pass --labels FILE or --y COLUMN.")
    return graphs


def with_target(reading: Reading, target: str | None) -> Reading:
    """The options with the column of ``--target`` as the label, if it is given."""
    if target is None:
        return reading
    if "y" in reading:
        raise ValueError("--y is for classes and --target for a number to predict; pass one of them.")
    return {**reading, "y": column_names(target)}


def read_new(
    words: Sequence[str], model: GraphClassifier | GraphRegressor, reading: Reading, colors: bool
) -> GraphRows:
    """The rows of new graphs: of a file or folder, of standard input (a dash), or SMILES.

    Molecules, and files whose colors have a name, are colored as in training unless an option says otherwise.
    """
    from anysize.io.labels import read_labels
    from anysize.io.rows import read_rows

    if not all(word.strip() for word in words):
        raise ValueError("expected a file of graphs, SMILES, or - for standard input; got an empty argument.")
    files = [word for word in words if Path(word).exists()]
    if files and len(words) > 1:
        raise ValueError(f"expected one file or folder, or SMILES; got {len(words)} arguments with {files[0]}.")
    options = dict(reading)
    if "y" in options:
        options["y"] = _label_columns(options["y"], model)
    labels = options.get("labels")
    column = options.pop("y", None) if labels is not None else None
    if files:
        rows = read_rows(Path(words[0]), **with_trained_color(options, model, Path(words[0])))
    elif words == ["-"]:
        rows = _read_standard_input(model, options)
    else:
        rows = _read_words(words, model, options)
    if labels is not None:
        rows = replace(
            rows, labels=read_labels(labels, rows.names, column), targets=column or () if model.targets_ else ()
        )
    return rows if colors else replace(rows, graphs=rows.graphs.without_colors())


def _label_columns(y: str | list[str], model: GraphClassifier | GraphRegressor) -> str | list[str]:
    """The column with labels of a model of one target, or those with some of its several targets."""
    if not model.targets_ and not isinstance(y, str):
        raise ValueError(f"--y takes one column: the model predicts one target; got {', '.join(y)}.")
    names = [y] if isinstance(y, str) else y
    if model.targets_:
        for name in names:
            target_position(model.targets_, name)
    return names if model.targets_ else y


def _read_standard_input(model: GraphClassifier | GraphRegressor, options: Reading) -> GraphRows:
    """Lines of SMILES, JSON lines, or with ``--smiles`` a table."""
    from anysize.io.jsonlines import is_json_lines
    from anysize.io.rows import parse_rows

    data = sys.stdin.buffer.read()
    if "smiles" not in options and is_json_lines(data):
        return parse_rows(data, "-.jsonl", "standard input", **options)
    return parse_rows(data, "-.smi", "standard input", **with_trained_color(options, model))


def _read_words(words: Sequence[str], model: GraphClassifier | GraphRegressor, options: Reading) -> GraphRows:
    """SMILES that are arguments; an error if they are none, as a file that does not exist."""
    from anysize.io.reader import ReadOptions
    from anysize.io.rows import join_rows
    from anysize.io.smiles import parse_smiles

    if given := [name for name in options if name not in ("color", "edge_color", "labels")]:
        option = given[0].replace("_", "-")
        raise ValueError(f"There is no file or folder {words[0]}; SMILES as arguments take no --{option}.")
    try:
        parsed = parse_smiles(words, ReadOptions(**with_trained_color(options, model)))
    except ImportError as error:
        raise ValueError(f"There is no file or folder {words[0]}. {error}") from None
    if all(parsed.problems):
        raise ValueError(f"There is no file or folder {words[0]}, and RDKit cannot read it as SMILES.")
    return join_rows(parsed, "the arguments")


def with_trained_color(reading: Reading, model: GraphClassifier | GraphRegressor, file: Path | None = None) -> Reading:
    """The options, with the color of training where it has a name and no other one is asked for.

    These are molecules (without a file: lines of SMILES), GraphML and GML; models of elements alone do not say so.
    """
    from anysize.io.read import has_named_colors
    from anysize.io.smiles import are_elements

    if "color" in reading:
        return reading
    color = model.color
    if file is None or "smiles" in reading or file.name.removesuffix(".gz").endswith(SMILES_ENDINGS):
        palette = next(iter(model.models_.values()), model).ensemble_.palette
        color = color or ("element" if palette and are_elements(palette) else None)
    elif not has_named_colors(file):
        return reading
    return reading if color is None else {**reading, "color": color}


def select_graph(graphs: GraphSet, name: str, where: str) -> int:
    """The number of the graph that ``--graph`` gives by its name or number."""
    names = graph_names(graphs)
    if name in names or (name.isdecimal() and int(name) < len(graphs)):
        return names.index(name) if name in names else int(name)
    expected = f"{'' if graphs.names is None else 'a name, or '}a number from 0 to {len(graphs) - 1}"
    raise ValueError(f"--graph must be {expected}; {where} has no graph {name!r}.")


def graph_names(graphs: GraphSet | Counts | GraphRows) -> list[str]:
    """The names of the graphs, or their positions."""
    return [str(row) for row in range(len(graphs))] if graphs.names is None else list(graphs.names)
