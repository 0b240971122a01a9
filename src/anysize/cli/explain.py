"""anysize explain."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize._files import atomic_write
from anysize.cli.shared import check_out, console, errors, handle_errors, note, read_input

if TYPE_CHECKING:
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.explain import Explanation
    from anysize.graphs.graphset import GraphSet

SHOWN = 5  # graphs that are explained as text unless one is named
PICTURES = (".png", ".svg", ".pdf")


class FormatOption(StrEnum):
    text, json = "text", "json"


def explain(
    model: Annotated[Path, typer.Argument(help="A file that anysize fit wrote, of a Gamma model.")],
    graphs: Annotated[
        Path | None, typer.Argument(help="Graphs to explain; without them, the weights of the patterns are shown.")
    ] = None,
    graph: Annotated[str | None, typer.Option(help="Which of them: a name, or a number from 0.")] = None,
    reference: Annotated[
        Path | None, typer.Option(help="Graphs to compare with, such as the training graphs: more or less than there.")
    ] = None,
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Tell vertices apart by color.")] = True,
    top: Annotated[int, typer.Option(help="How many patterns.", min=1)] = 10,
    format: Annotated[FormatOption, typer.Option(help="What to print.")] = FormatOption.text,
    out: Annotated[Path | None, typer.Option(help="Draw the explanation of one graph: .png, .svg or .pdf.")] = None,
) -> None:
    """Say which patterns speak for the class that a model gives to a graph, and how strongly."""
    with handle_errors():
        from anysize import load_model

        check_out(out)
        if out is not None and out.suffix.lower() not in PICTURES:
            raise ValueError(f"--out names a picture that ends in {', '.join(PICTURES)}; got {out}.")
        if graphs is None and (graph is not None or reference is not None or out is not None):
            raise ValueError("--graph, --reference and --out are about the explanation of a graph: give graphs too.")
        classifier = load_model(model)
        if graphs is None:
            _weights(classifier, top, format)
            return
        found = read_input(graphs, colors)
        rows = _chosen(found, graph, graphs)
        if out is not None and len(rows) != 1:
            raise ValueError(f"--out draws the explanation of one graph and {graphs} has {len(rows)}: add --graph.")
        few = rows if format is FormatOption.json else rows[:SHOWN]
        compared = None if reference is None else read_input(reference, colors)
        told = {_name(found, row): classifier.explain(found[row], compared) for row in few}
        _show(told, top, format)
        if len(few) < len(rows):
            note(f"these are the first {len(few)} of {len(rows)} graphs; --graph names another, --format json has all.")
        if out is not None:
            _draw(next(iter(told.values())), top, out)


def _name(graphs: GraphSet, row: int) -> str:
    return str(row) if graphs.names is None else graphs.names[row]


def _chosen(graphs: GraphSet, graph: str | None, file: Path) -> list[int]:
    """The numbers of the graphs to explain: all, or the one of this name or number."""
    if not len(graphs):
        raise ValueError(f"{file} holds no graphs; there is nothing to explain.")
    if graph is None:
        return list(range(len(graphs)))
    names = list(graphs.names or ())
    if graph in names:
        return [names.index(graph)]
    if graph.isdecimal() and int(graph) < len(graphs):
        return [int(graph)]
    what = "a name, or " if names else ""
    raise ValueError(f"--graph takes {what}a number from 0 to {len(graphs) - 1}; {file} has no graph {graph!r}.")


def _show(told: dict[str, Explanation], top: int, format: FormatOption) -> None:
    if format is FormatOption.json:
        rows = [{"graph": name, **one.to_json(top)} for name, one in told.items()]
        print(dumps({"graphs": rows}, ensure_ascii=False))
        return
    for name, one in told.items():
        _print(f"graph {name}: {one.text(top)}")
    _print(_hint(one.patterns[0].size for one in told.values() if one.patterns))


def _weights(model: GraphClassifier, top: int, format: FormatOption) -> None:
    """The strongest patterns of the model itself, for every class."""
    import numpy as np

    from anysize.estimators.explain import pattern_weights

    patterns, weights = pattern_weights(model.ensemble_)
    order = np.argsort(-np.abs(weights).max(axis=1), kind="stable")[:top]
    classes = [str(name) for name in model.classes_.tolist()]
    if format is FormatOption.json:
        rows: list[dict[str, Any]] = [
            {"pattern": patterns[place].name, "weights": dict(zip(classes, weights[place].tolist(), strict=True))}
            for place in order
        ]
        print(dumps({"classes": model.classes_.tolist(), "patterns": rows}, ensure_ascii=False))
        return
    wide = max(20, *(len(patterns[place].name) for place in order))
    columns = [max(len(name), 10) for name in classes]
    _print("what one unit of density of a pattern adds to the logit of each class, above their mean:")
    _print(" " * wide + "".join(f"  {name:>{width}}" for name, width in zip(classes, columns, strict=True)))
    for place in order:
        row = "".join(f"  {value:+{width}.3f}" for value, width in zip(weights[place], columns, strict=True))
        _print(f"{patterns[place].name:{wide}}{row}")
    _print(_hint(patterns[place].size for place in order))


def _hint(sizes: Any) -> str:
    """Where the names of patterns are explained."""
    commands = [f"anysize patterns {size}" for size in sorted(set(sizes))]
    return f"{' and '.join(commands)} shows what the patterns look like" if commands else ""


def _draw(told: Explanation, top: int, out: Path) -> None:
    with atomic_write(out) as part:
        told.figure(top).savefig(part, format=out.suffix.lower().removeprefix("."), dpi=150)
    errors.print(f"Wrote {out}.", highlight=False, markup=False)


def _print(line: str) -> None:
    if line:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
