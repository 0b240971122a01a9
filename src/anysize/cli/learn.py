"""anysize fit, predict, methods."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize.cli.shared import (
    MAX_SEED,
    check_out,
    console,
    errors,
    handle_errors,
    note,
    open_output,
    parse_sizes,
    read_input,
    read_labels,
)

if TYPE_CHECKING:
    from anysize.estimators.classifier import GraphClassifier
    from anysize.graphs.graphset import GraphSet

LATE = 2.0  # seconds before progress is shown
OPTIONS = {  # parameters of GraphClassifier that --set must not change behind the back of an option
    "n_models": "--models",
    **{name: f"--{name}" for name in ("method", "k", "recipe", "seed", "validation", "metric", "device", "cache")},
}


class RecipeOption(StrEnum):
    robust, paper = "robust", "paper"


class MetricOption(StrEnum):
    accuracy, mcc = "accuracy", "mcc"


def fit(
    train: Annotated[
        Path, typer.Argument(help="Training graphs: a TU folder or zip, or whatever anysize count reads.")
    ],
    out: Annotated[Path, typer.Option(help="Where to write the trained model.")],
    method: Annotated[str, typer.Option(help="One of anysize methods.")] = "gamma-gin",
    k: Annotated[str, typer.Option(help="Pattern size 1..7; several as 3,4 or 1-4.")] = "5",
    recipe: Annotated[RecipeOption, typer.Option(help="How to train.")] = RecipeOption.robust,
    models: Annotated[int, typer.Option(help="How many models to average.", min=1)] = 1,
    seed: Annotated[
        int, typer.Option(help="Of the first model; the others have the numbers after it.", min=0, max=MAX_SEED)
    ] = 0,
    labels: Annotated[
        Path | None, typer.Option(help="A text file with the classes: one per line, or lines 'graph name,class'.")
    ] = None,
    validation: Annotated[
        float | None, typer.Option(help="Share of the graphs held out to choose the epoch; else as the recipe needs.")
    ] = None,
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Tell vertices apart by color.")] = True,
    metric: Annotated[MetricOption, typer.Option(help="What scores are.")] = MetricOption.accuracy,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter of GraphClassifier, as name=value.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    cache: Annotated[Path | None, typer.Option(help="Cache folder: counts found here are not recomputed.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON, for programs.")] = False,
) -> None:
    """Train a classifier on labeled graphs and write it to a file."""
    with handle_errors():
        from anysize import GraphClassifier
        from anysize._progress import progress_bars
        from anysize.experiments.configurations import parse_setting

        others = dict(parse_setting(text) for text in set_ or ())
        model = GraphClassifier(
            method, parse_sizes(k), recipe.value, n_models=models, seed=seed, validation=validation,
            metric=metric.value, device=device, cache=cache,
        )  # fmt: skip
        _set(model, others)
        check_out(out)
        graphs = read_input(train, colors)
        if labels is not None:
            graphs = graphs.with_y(read_labels(labels, graphs))
        if graphs.y is None:
            raise ValueError(f"{train} holds graphs without classes: give them with --labels FILE.")
        began = time.perf_counter()
        with progress_bars(after=LATE, keep=False) as report:
            model.fit_reporting(report, graphs)
        taken = time.perf_counter() - began
        model.save(out)
        facts = _facts(model, graphs, taken) | {"out": str(out)}
        if json:
            print(dumps(facts, ensure_ascii=False))
        else:
            _show(facts, model, graphs)
        _doubt(model)


def predict(
    model: Annotated[Path, typer.Argument(help="A file that anysize fit wrote.")],
    new: Annotated[Path, typer.Argument(help="Graphs to classify: whatever anysize count reads.")],
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Tell vertices apart by color.")] = True,
    out: Annotated[Path | None, typer.Option(help="Write here, not to the screen.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Cache folder: counts found here are not recomputed.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of CSV.")] = False,
) -> None:
    """Classify graphs: a line of CSV for each, with its class and the probability of every class."""
    with handle_errors():
        from anysize import load_model

        check_out(out)
        classifier = load_model(model).set_params(cache=cache, verbose=1)
        graphs = read_input(new, colors)
        chances = classifier.predict_proba(graphs)
        chosen = classifier.classes_[chances.argmax(axis=1)].tolist()
        classes = classifier.classes_.tolist()
        names = [str(row) for row in range(len(graphs))] if graphs.names is None else list(graphs.names)
        with open_output(out) as file:
            if json:
                rows = [
                    {"graph": name, "class": label, "probabilities": dict(zip(map(str, classes), row, strict=True))}
                    for name, label, row in zip(names, chosen, chances.tolist(), strict=True)
                ]
                file.write(dumps({"model": str(model), "classes": classes, "graphs": rows}, ensure_ascii=False) + "\n")
            else:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["graph", "class", *(f"probability of {name}" for name in classes)])
                writer.writerows(
                    [name, label, *row] for name, label, row in zip(names, chosen, chances.tolist(), strict=True)
                )
        if out is not None:
            errors.print(f"Wrote {out}.", highlight=False, markup=False)
        _tell_score(classifier, graphs, chosen)


def methods(
    json: Annotated[bool, typer.Option("--json", help="One line of JSON, for programs.")] = False,
) -> None:
    """List the methods and what each of them starts from."""
    with handle_errors():
        from rich import box
        from rich.table import Table

        listed = list(_described())
        if json:
            print(dumps(listed))
            return
        table = Table(box=box.SIMPLE, header_style="bold")
        for heading in ("method", "in the tables", "looks at", "starts from"):
            table.add_column(heading)
        for one in listed:
            settings = ", ".join(f"{name}={value}" for name, value in one["robust"].items() if value is not False)
            table.add_row(one["method"], one["title"], one["looks_at"], settings)
        console.print(table)
        console.print("anysize fit TRAIN --method METHOD --out model.anysize trains one.", highlight=False)


def _described() -> Iterator[dict[str, Any]]:
    from anysize.methods.catalog import METHODS, register_from_environment

    register_from_environment()
    for method in METHODS.values():
        yield {
            "method": method.name,
            "title": method.title,
            "looks_at": method.looks_at,
            "robust": method.default("robust"),
            "paper": method.default("paper"),
            "parameters": sorted(method.hyper_parameters),
            "seeded": method.seeded,
        }


# ---- fit -------------------------------------------------------------------------------------------


def _set(model: GraphClassifier, others: dict[str, Any]) -> None:
    from anysize.methods.catalog import find_method

    known, own = model.get_params(), find_method(model.method).hyper_parameters
    for name, value in others.items():
        if name in OPTIONS:
            raise ValueError(f"--set {name}=... is an option of its own: write {OPTIONS[name]} {value}.")
        if name in known:
            model.set_params(**{name: value})
        elif name in own:
            model.set_params(settings={**(model.settings or {}), name: value})
        else:
            raise ValueError(f"--set {name}=...: GraphClassifier has no such parameter; it has {', '.join(known)}.")


def _facts(model: GraphClassifier, graphs: GraphSet, seconds: float) -> dict[str, Any]:
    held, verdict = len(model.held_out_), model.verdict_
    return {
        "method": model.method,
        "k": model.ensemble_.k,
        "recipe": model.recipe,
        "seeds": list(model.ensemble_.seeds),
        "graphs": len(graphs) - held,
        "validation_graphs": held,
        "classes": model.classes_.tolist(),
        "metric": model.metric,
        "train": verdict.train["model"],
        "validation": None if verdict.validation is None else verdict.validation["model"],
        "rivals": {
            name: {
                "train": verdict.train[name],
                "validation": None if verdict.validation is None else verdict.validation[name],
            }
            for name in verdict.train
            if name != "model"
        },
        "doubt": verdict.doubt,
        "epochs": model.epochs_.tolist(),
        "seconds": round(seconds, 3),
    }


def _show(facts: dict[str, Any], model: GraphClassifier, graphs: GraphSet) -> None:
    amount = len(facts["seeds"])
    lines = [
        f"{facts['method']}, {facts['recipe']} recipe: {amount} model{'s' if amount > 1 else ''} trained on "
        f"{facts['graphs']} graphs of {len(facts['classes'])} classes in {facts['seconds']:.1f} s",
        f"training {facts['metric']}  {facts['train']:.3f}  ({_rivals(facts, 'train')})",
    ]
    if facts["validation"] is not None:
        held = f"{facts['validation_graphs']} graphs: {_rivals(facts, 'validation')}"
        lines.append(f"validation {facts['metric']}  {facts['validation']:.3f}  ({held})")
    lines += _learned(model, graphs)
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    errors.print(f"Wrote {facts['out']}.", highlight=False, markup=False)


def _rivals(facts: dict[str, Any], part: str) -> str:
    """What is reached on the same graphs without a look at them."""
    return ", ".join(f"{name} {scores[part]:.3f}" for name, scores in facts["rivals"].items())


def _doubt(model: GraphClassifier) -> None:
    """Where the model does not beat its rivals: say so, and what to try."""
    verdict = model.verdict_
    if verdict.doubt is not None:
        tries = [
            f"--method {value}" if name == "method" else f"--set {name}={value}" for name, value in verdict.remedies
        ]
        note(f"{verdict.doubt}; try {' or '.join(tries)}.")


def _learned(model: GraphClassifier, graphs: GraphSet) -> Iterator[str]:
    """The patterns by which the classes are known, for models that can say so."""
    import numpy as np

    from anysize.estimators.explain import voices
    from anysize.methods.neural import FittedGamma

    if not all(isinstance(part, FittedGamma) and part.stack.model.head.linear for part in model.ensemble_.parts):
        return
    assert graphs.y is not None
    y = np.searchsorted(model.classes_, graphs.y)
    examples = model.ensemble_.examples(graphs, model.cache)
    for label, found in zip(model.classes_.tolist(), voices(model.ensemble_, examples, y), strict=True):
        told = [f"{'more' if v.more else 'less'} {v.pattern.name} ({v.contribution:+.2f})" for v in found]
        yield f"class {label} is known by {', '.join(told) or 'nothing in particular'}"
    sizes = (model.ensemble_.k,) if isinstance(model.ensemble_.k, int) else model.ensemble_.k
    listed = " and ".join(f"anysize patterns {size}" for size in sizes)
    yield f"{listed} shows what the patterns look like, anysize explain why a graph gets its class"


# ---- predict ---------------------------------------------------------------------------------------


def _tell_score(model: GraphClassifier, graphs: GraphSet, chosen: list[Any]) -> None:
    """The score, where the new graphs have classes that the model knows."""
    if graphs.y is None or not set(graphs.y.tolist()) <= set(model.classes_.tolist()) or not len(graphs):
        return
    from anysize.tasks.metrics import accuracy, mcc

    score = (accuracy if model.metric == "accuracy" else mcc)(graphs.y, chosen)
    errors.print(f"{model.metric} on these {len(graphs)} labeled graphs: {score:.3f}", highlight=False, markup=False)
