"""`anysize explain`: show why graphs get their classes or numbers."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anysize.cli.input import (
    ColorsOption,
    Reading,
    graph_names,
    read_input,
    read_new,
    select_graph,
    with_reading_options,
    with_trained_color,
)
from anysize.cli.shared import FIGURES, check_out, console, errors, handle_errors, note
from anysize.graphs.labels import target_position

if TYPE_CHECKING:
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.explain import Explanation
    from anysize.estimators.regressor import GraphRegressor
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
    graphs: Annotated[
        list[str], typer.Argument(help="Graphs to explain: any file of graphs, SMILES, or - for lines on stdin.")
    ],
    reading: Reading,
    target: Annotated[str | None, typer.Option(help="One of several targets that the model predicts.")] = None,
    graph: Annotated[str | None, typer.Option(help="One of the graphs: its name, or its number from 0.")] = None,
    reference: Annotated[Path | None, typer.Option(help="Graphs to compare with, such as the training graphs.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw one graph: .png, .svg or .pdf.")] = None,
    colors: ColorsOption = True,
    top: Annotated[int, typer.Option(help="Number of patterns or vertex types.", min=1)] = 10,
    format: Annotated[FormatOption, typer.Option(help="What to print.")] = FormatOption.text,
) -> None:
    """Show what patterns (Gamma models) or vertices (SizeMix, WL kernel) add to the prediction of a model."""
    with handle_errors():
        from anysize import load_model

        check_out(out, FIGURES, ending_optional=False)
        classifier = load_model(model)
        if classifier.targets_ and target is None:
            raise ValueError(f"{model} predicts several targets; add --target {classifier.targets_[0]}.")
        if target is not None:
            classifier = classifier.models_[classifier.targets_[target_position(classifier.targets_, target)]]

        def read(file: Path) -> GraphSet:
            return read_input(file, with_trained_color(reading, classifier, file), colors)

        is_file = len(graphs) == 1 and Path(graphs[0]).exists()
        graph_set = read(Path(graphs[0])) if is_file else _read_rows(graphs, classifier, reading, colors)
        where = graphs[0] if len(graphs) == 1 else "the arguments"
        rows = _selected_rows(graph_set, graph, where)
        if out is not None and len(rows) != 1:
            raise ValueError(f"--out draws one graph of the {len(rows)} in {where}; add --graph.")
        shown = rows if format is FormatOption.json else rows[:MAX_GRAPHS_SHOWN]
        names = graph_names(graph_set)
        compared = None if reference is None else read(reference)
        explanations = [(names[row], classifier.explain(graph_set[row], compared)) for row in shown]
        if len(rows) > 1 and format is FormatOption.text and classifier.predicts == "classes":
            _show_classes(classifier, graph_set)
        _show(explanations, top, format)
        if len(shown) < len(rows):
            note(f"shown are the first {len(shown)} of {len(rows)} graphs; use --graph or --format json for others.")
        if out is not None:
            explanations[0][1].save(out, top)
            errors.print(f"Wrote {out}.")


def _read_rows(words: list[str], model: GraphClassifier | GraphRegressor, reading: Reading, colors: bool) -> GraphSet:
    """The graphs of SMILES that are arguments, or of standard input; what cannot be read is told."""
    rows = read_new(words, model, reading, colors)
    for name, problem in zip(rows.names, rows.problems, strict=True):
        if problem:
            note(f"{name}: {problem}.")
    return rows.graphs


def _selected_rows(graphs: GraphSet, graph: str | None, where: str) -> list[int]:
    """The numbers of the graphs to explain: all, or the one with this name or number."""
    if not len(graphs):
        raise ValueError(f"{where} holds no graphs.")
    return list(range(len(graphs))) if graph is None else [select_graph(graphs, graph, where)]


def _show(explanations: list[tuple[str, Explanation | VertexExplanation]], top: int, format: FormatOption) -> None:
    if format is FormatOption.json:
        rows = [{"graph": name, **explanation.to_json(top)} for name, explanation in explanations]
        print(dumps({"graphs": rows}))
        return
    for name, explanation in explanations:
        _print(f"graph {name}: {explanation.text(top)}")
    shown = {pattern.size for _, explanation in explanations for pattern in getattr(explanation, "patterns", ())[:1]}
    if shown:
        _print(f"{' and '.join(f'anysize patterns {size}' for size in sorted(shown))} shows the patterns")


def _show_classes(model: GraphClassifier, graphs: GraphSet) -> None:
    """The patterns that distinguish the graphs of each predicted class, for models that are sums over patterns."""
    from anysize.estimators.explain import class_pattern_lines

    examples = model.ensemble_.examples(graphs)
    predicted = model.ensemble_.outputs(examples).mean(axis=0).argmax(axis=1)
    for line in class_pattern_lines(model.ensemble_, model.classes_, examples, predicted):
        _print(f"predicted {line}")


def _print(line: str) -> None:
    console.print(line, soft_wrap=True)
