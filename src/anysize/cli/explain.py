"""`anysize explain`: show why graphs get their classes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize.cli.input import ColorsOption, Reading, read_input, with_reading_options, with_trained_color
from anysize.cli.shared import FIGURES, check_out, console, errors, handle_errors, note

if TYPE_CHECKING:
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.explain import Explanation
    from anysize.graphs.graphset import GraphSet
    from anysize.kernels.explanation import VertexExplanation

MAX_GRAPHS_SHOWN = 5  # as text, unless --graph names one


class FormatOption(StrEnum):
    text, json = "text", "json"


@with_reading_options("labels", "y")
def explain(
    model: Annotated[
        Path, typer.Argument(help="A model file that anysize fit wrote: auto, sizemix, wl-kernel, gamma.")
    ],
    reading: Reading,
    graphs: Annotated[
        Path | None,
        typer.Argument(help="Graphs to explain; without them, the weights of the patterns of a Gamma model."),
    ] = None,
    graph: Annotated[str | None, typer.Option(help="One of the graphs: its name, or its number from 0.")] = None,
    reference: Annotated[Path | None, typer.Option(help="Graphs to compare with, such as the training graphs.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw one graph: .png, .svg or .pdf.")] = None,
    colors: ColorsOption = True,
    top: Annotated[int, typer.Option(help="Number of patterns or vertex types.", min=1)] = 10,
    format: Annotated[FormatOption, typer.Option(help="What to print.")] = FormatOption.text,
) -> None:
    """Show what patterns (Gamma models) or vertices (SizeMix, WL kernel) add to the class that a model predicts."""
    with handle_errors():
        from anysize import GraphRegressor, load_model

        check_out(out, FIGURES, ending_optional=False)
        if graphs is None and (graph is not None or reference is not None or out is not None):
            raise ValueError("--graph, --reference and --out need graphs to explain; pass their file as well.")
        classifier = load_model(model)
        if isinstance(classifier, GraphRegressor):
            raise ValueError(f"anysize explain takes a model of classes; {model} predicts numbers.")
        if graphs is None:
            _show_weights(classifier, top, format)
            return

        def read(file: Path) -> GraphSet:
            return read_input(file, with_trained_color(reading, classifier, file), colors)

        graph_set = read(graphs)
        rows = _selected_rows(graph_set, graph, graphs)
        if out is not None and len(rows) != 1:
            raise ValueError(f"--out draws one graph and {graphs} has {len(rows)}; add --graph.")
        shown = rows if format is FormatOption.json else rows[:MAX_GRAPHS_SHOWN]
        compared = None if reference is None else read(reference)
        explanations = [(_name(graph_set, row), classifier.explain(graph_set[row], compared)) for row in shown]
        _show(explanations, top, format)
        if len(shown) < len(rows):
            note(f"shown are the first {len(shown)} of {len(rows)} graphs; use --graph or --format json for others.")
        if out is not None:
            explanations[0][1].save(out, top)
            errors.print(f"Wrote {out}.")


def _name(graphs: GraphSet, row: int) -> str:
    return str(row) if graphs.names is None else graphs.names[row]


def _selected_rows(graphs: GraphSet, graph: str | None, file: Path) -> list[int]:
    """The numbers of the graphs to explain: all, or the one with this name or number."""
    if not len(graphs):
        raise ValueError(f"{file} holds no graphs.")
    if graph is None:
        return list(range(len(graphs)))
    names = list(graphs.names or ())
    if graph in names:
        return [names.index(graph)]
    if graph.isdecimal() and int(graph) < len(graphs):
        return [int(graph)]
    expected = f"{'a name, or ' if names else ''}a number from 0 to {len(graphs) - 1}"
    raise ValueError(f"--graph must be {expected}; {file} has no graph {graph!r}.")


def _show(explanations: list[tuple[str, Explanation | VertexExplanation]], top: int, format: FormatOption) -> None:
    if format is FormatOption.json:
        rows = [{"graph": name, **explanation.to_json(top)} for name, explanation in explanations]
        print(dumps({"graphs": rows}))
        return
    for name, explanation in explanations:
        _print(f"graph {name}: {explanation.text(top)}")
    shown = [pattern.size for _, explanation in explanations for pattern in getattr(explanation, "patterns", ())[:1]]
    _print_hint(shown)


def _show_weights(model: GraphClassifier, top: int, format: FormatOption) -> None:
    """The patterns with the largest weights of the model, for every class."""
    import numpy as np

    from anysize.estimators.explain import pattern_weights

    patterns, weights = pattern_weights(model.ensemble_)
    order = np.argsort(-np.abs(weights).max(axis=1), kind="stable")[:top]
    classes = [str(name) for name in model.classes_.tolist()]
    if format is FormatOption.json:
        rows: list[dict[str, Any]] = [
            {"pattern": patterns[index].name, "weights": dict(zip(classes, weights[index].tolist(), strict=True))}
            for index in order
        ]
        print(dumps({"classes": model.classes_.tolist(), "patterns": rows}))
        return
    first = max(20, *(len(patterns[index].name) for index in order))
    widths = [max(len(name), 10) for name in classes]
    _print("what one unit of density of a pattern adds to the logit of each class, minus the mean over the classes:")
    _print(" " * first + "".join(f"  {name:>{width}}" for name, width in zip(classes, widths, strict=True)))
    for index in order:
        row = "".join(f"  {value:+{width}.3f}" for value, width in zip(weights[index], widths, strict=True))
        _print(f"{patterns[index].name:{first}}{row}")
    _print_hint(patterns[index].size for index in order)


def _print_hint(sizes: Iterable[int]) -> None:
    commands = [f"anysize patterns {size}" for size in sorted(set(sizes))]
    if commands:
        _print(f"{' and '.join(commands)} shows the patterns")


def _print(line: str) -> None:
    console.print(line, soft_wrap=True)
