"""`anysize fit`, `anysize predict` and `anysize methods`: train models, use them, list methods."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from anysize._files import MODEL_ENDINGS
from anysize._text import plural
from anysize.cli.input import (
    ColorsOption,
    Reading,
    TargetOption,
    read_labeled,
    read_new,
    with_reading_options,
    with_target,
)
from anysize.cli.predictions import PredictionColumn, PredictionFormat, PredictionTable
from anysize.cli.shared import (
    MAX_SEED,
    CacheOption,
    DeviceOption,
    JsonOption,
    RecipeOption,
    ScoreOption,
    check_out,
    console,
    errors,
    handle_errors,
    note,
    parse_settings,
    parse_sizes,
)
from anysize.methods import defaults
from anysize.metrics import METRIC_NAMES

if TYPE_CHECKING:
    from anysize._typing import FloatArray
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.regressor import GraphRegressor
    from anysize.graphs.graphset import GraphSet
    from anysize.io.rows import GraphRows

OPTIONS = {  # parameters of estimators with an option of their own, which --set refuses
    "n_models": "--n-models",
    "random_state": "--seed",
    "class_weight": "--class-weight",
    **{name: f"--{name}" for name in ("method", "k", "recipe", "validation", "metric", "device", "cache")},
}


class ClassWeightOption(StrEnum):
    auto, balanced, none = "auto", "balanced", "none"


PREDICTION_FORMATS = {".csv": PredictionFormat.csv, ".json": PredictionFormat.json}
CLASS_WEIGHTS: dict[ClassWeightOption, Literal["auto", "balanced"] | None] = {
    ClassWeightOption.auto: "auto", ClassWeightOption.balanced: "balanced", ClassWeightOption.none: None,
}  # fmt: skip
DEFAULT_RECIPE, DEFAULT_METRIC = RecipeOption(defaults.RECIPE), ScoreOption(defaults.METRIC)


@with_reading_options()
def fit(
    train: Annotated[Path, typer.Argument(help="Labeled training graphs: a TU folder or zip, or any file of graphs.")],
    out: Annotated[Path, typer.Option(help="Write the trained model to this file, such as model.anysize.")],
    reading: Reading,
    method: Annotated[str, typer.Option(help="A method; anysize methods lists them.")] = defaults.METHOD,
    k: Annotated[str, typer.Option(help="Pattern size 1..7; several as 3,4 or 1-4.")] = str(defaults.K),
    recipe: Annotated[RecipeOption, typer.Option(help="Training procedure.")] = DEFAULT_RECIPE,
    n_models: Annotated[int, typer.Option(help="Number of models to average.", min=1)] = 1,
    seed: Annotated[
        int, typer.Option(help="Seed of the first model; the others use the next numbers.", min=0, max=MAX_SEED)
    ] = 0,
    validation: Annotated[
        float | None,
        typer.Option(help="Share of the graphs held out to select the epoch; default: as the recipe needs."),
    ] = None,
    class_weight: Annotated[
        ClassWeightOption, typer.Option(help="Class weights in the loss; auto: balanced, except in the recipe paper.")
    ] = ClassWeightOption.auto,
    metric: Annotated[
        ScoreOption, typer.Option(help="Metric that selects the epoch and scores predictions.")
    ] = DEFAULT_METRIC,
    colors: ColorsOption = True,
    target: TargetOption = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter or a field of the recipe, as name=value.")
    ] = None,
    device: DeviceOption = defaults.DEVICE,
    cache: CacheOption = None,
    json: JsonOption = False,
) -> None:
    """Train a classifier on labeled graphs, or with --target a model that predicts a number; write it to a file."""
    # Patterns are counted once for training and for the list of class patterns, also without --cache.
    with handle_errors(), TemporaryDirectory(prefix="anysize-", ignore_cleanup_errors=True) as folder:
        from anysize import GraphClassifier, GraphRegressor

        shared: dict[str, Any] = {
            "k": parse_sizes(k), "recipe": recipe.value, "n_models": n_models, "random_state": seed,
            "validation": validation, "color": reading.get("color"), "device": device, "cache": cache or folder,
            "params": _params(set_) or None,
        }  # fmt: skip
        model: GraphClassifier | GraphRegressor
        if target is None:
            weights = CLASS_WEIGHTS[class_weight]
            model = GraphClassifier(method, class_weight=weights, metric=metric.value, **shared)
        else:
            classes_only = {
                "--metric": metric != DEFAULT_METRIC, "--class-weight": class_weight != ClassWeightOption.auto,
            }  # fmt: skip
            if given := [option for option, is_given in classes_only.items() if is_given]:
                raise ValueError(f"{given[0]} is for classes and --target for a number to predict; pass one of them.")
            name = defaults.REGRESSION_METHOD if method == defaults.METHOD else method
            model = GraphRegressor(name, **shared)
        check_out(out, dict.fromkeys(MODEL_ENDINGS, "a model"))
        graphs = read_labeled(train, with_target(reading, target), colors)
        began = time.perf_counter()
        model.set_params(verbose=1).fit(graphs)
        facts = _facts(model, graphs, time.perf_counter() - began) | {"target": target, "out": str(out)}
        model.set_params(verbose=0).save(out)
        if json:
            print(dumps(facts))
        else:
            _show(facts, model, graphs)


@with_reading_options()
def predict(
    model: Annotated[Path, typer.Argument(help="A model file that anysize fit wrote.")],
    new: Annotated[
        list[str],
        typer.Argument(help="Graphs to predict: any file of graphs, SMILES, or - for SMILES or JSON lines on stdin."),
    ],
    reading: Reading,
    out: Annotated[Path | None, typer.Option(help="Write to this .csv or .json file instead of the screen.")] = None,
    colors: ColorsOption = True,
    cache: CacheOption = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of CSV.")] = False,
) -> None:
    """Predict graphs: one line of CSV per graph or row of a table, with its class and the probability of every class.

    Models of numbers give the number. Other columns of a table are kept, and rows that cannot be read have a reason
    instead of a prediction. Of several models (--n-models), the standard deviation of the probability of the class is
    told. Scores are printed as well if classes or numbers are known: from the file, --labels or --y.
    """
    # Patterns are counted once for predictions and for the forecast, also without --cache.
    with handle_errors(), TemporaryDirectory(prefix="anysize-", ignore_cleanup_errors=True) as folder:
        from anysize import GraphRegressor, load_model

        format = check_out(out, PREDICTION_FORMATS, PredictionFormat.json if json else None)
        estimator = load_model(model)
        rows = read_new(new, estimator, reading, colors)
        estimator.set_params(cache=cache or folder, verbose=1)
        about: dict[str, Any] = {"model": str(model)}
        if isinstance(estimator, GraphRegressor):
            by_model = estimator.predict(rows.graphs, per_model=True)
            predicted = by_model.mean(axis=0)
            columns = [PredictionColumn("prediction", predicted.tolist(), ("prediction",))]
            spread = by_model.std(axis=0)
        else:
            from anysize.estimators.classifier import warn_of_one_class

            by_class = estimator.predict_proba(rows.graphs, per_model=True)
            predicted, classes = by_class.mean(axis=0), estimator.classes_.tolist()
            likely = predicted.argmax(axis=1)
            warn_of_one_class(likely, estimator.classes_, estimator.ensemble_)
            columns = [PredictionColumn("class", estimator.classes_[likely].tolist(), ("class",))]
            columns += [
                PredictionColumn(f"probability of {name}", values, ("probabilities", str(name)))
                for name, values in zip(classes, predicted.T.tolist(), strict=True)
            ]
            by_model, spread = by_class, by_class[:, range(len(likely)), likely].std(axis=0)
            about["classes"] = classes
        if len(by_model) > 1:
            column = PredictionColumn("standard deviation over models", spread.tolist(), ("standard_deviation",))
            columns.append(column)
        PredictionTable(rows, columns).write(out, format, about)
        if not isinstance(estimator, GraphRegressor) and estimator.verdict_.held_out and len(rows.graphs):
            errors.print(f"{estimator.forecast(rows.graphs)}", highlight=False, soft_wrap=True)
        _show_score(estimator, rows, predicted)


def methods(json: JsonOption = False) -> None:
    """List the methods, their input and their default hyper-parameters."""
    with handle_errors():
        from rich import box
        from rich.table import Table

        described = list(_methods())
        if json:
            print(dumps(described))
            return
        table = Table(box=box.SIMPLE, header_style="bold")
        for heading in ("method", "in the tables", "input", "defaults"):
            table.add_column(heading)
        for method in described:
            values = ", ".join(f"{name}={value}" for name, value in method["robust"].items() if value is not False)
            table.add_row(method["method"], method["title"], method["input"], values)
        console.print(table)
        console.print("Train one with: anysize fit TRAIN --method METHOD --out model.anysize")


def _methods() -> Iterator[dict[str, Any]]:
    from anysize.methods.catalog import METHODS

    for method in METHODS.values():
        yield {
            "method": method.name,
            "title": method.title,
            "input": method.input,
            "robust": method.default("robust"),
            "paper": method.default("paper"),
            "params": sorted(method.hyper_parameters),
            "seeded": method.seeded,
        }


# ---- fit -------------------------------------------------------------------------------------------


def _params(assignments: list[str] | None) -> dict[str, Any]:
    """The values of --set; names and values are checked in training."""
    params = parse_settings(assignments)
    for name, value in params.items():
        if name in OPTIONS:
            raise ValueError(f"--set {name}=... has an option of its own: write {OPTIONS[name]} {value}.")
    return params


def _facts(model: GraphClassifier | GraphRegressor, graphs: GraphSet, seconds: float) -> dict[str, Any]:
    held_out, verdict = len(model.held_out_), model.verdict_
    validation = verdict.validation
    return {
        "method": model.method,
        "k": model.ensemble_.k,
        "recipe": model.recipe,
        "seeds": list(model.ensemble_.seeds),
        "graphs": len(graphs) - held_out,
        "validation_graphs": held_out,
        "classes": model.classes_.tolist() if model.predicts == "classes" else None,
        "metric": verdict.metric,
        "train": verdict.train["model"],
        "validation": None if validation is None else validation["model"],
        "baselines": {
            name: {"train": score, "validation": None if validation is None else validation[name]}
            for name, score in verdict.train.items()
            if name != "model"
        },
        "held_out": [asdict(scores) for scores in verdict.held_out],
        "doubt": verdict.doubt,
        "epochs": model.epochs_.tolist(),
        "seconds": round(seconds, 3),
    }


def _show(facts: dict[str, Any], model: GraphClassifier | GraphRegressor, graphs: GraphSet) -> None:
    numbers, title = facts["classes"] is None, METRIC_NAMES[facts["metric"]]
    digits = ".3g" if numbers else ".3f"
    predicted = f"to predict {facts['target']}" if numbers else f"of {len(facts['classes'])} classes"
    lines = [
        f"{facts['method']}, {facts['recipe']} recipe: {plural(len(facts['seeds']), 'model')} trained on "
        f"{facts['graphs']} graphs {predicted} in {facts['seconds']:.1f} s",
        f"training {title}  {facts['train']:{digits}}  ({_baselines(facts, 'train', digits)})",
    ]
    if facts["validation"] is not None:
        details = f"{facts['validation_graphs']} graphs: {_baselines(facts, 'validation', digits)}"
        lines.append(f"validation {title}  {facts['validation']:{digits}}  ({details})")
    for scores in model.verdict_.held_out:
        told = f"{scores.scores['model']:{digits}} ± {scores.errors['model']:{digits}}"
        others = ", ".join(f"{name} {score:{digits}}" for name, score in scores.scores.items() if name != "model")
        held_title = title if numbers else METRIC_NAMES["balanced_accuracy"]
        lines.append(f"held out, {scores.protocol}: {held_title}  {told}  ({scores.graphs} training graphs: {others})")
    patterns = () if model.predicts == "numbers" else _class_patterns(model, graphs)
    for line in (*lines, *patterns):
        console.print(line, soft_wrap=True)
    errors.print(f"Wrote {facts['out']}.")


def _baselines(facts: dict[str, Any], part: str, digits: str) -> str:
    return ", ".join(f"{name} {scores[part]:{digits}}" for name, scores in facts["baselines"].items())


def _class_patterns(model: GraphClassifier, graphs: GraphSet) -> Iterator[str]:
    """The patterns that distinguish each class, for models that are sums over patterns."""
    import numpy as np

    from anysize.estimators.explain import class_pattern_lines

    assert graphs.y is not None
    y, examples = np.searchsorted(model.classes_, graphs.y), model.ensemble_.examples(graphs, model.cache)
    lines = class_pattern_lines(model.ensemble_, model.classes_, examples, y)
    yield from lines
    if lines:
        sizes = (model.ensemble_.k,) if isinstance(model.ensemble_.k, int) else model.ensemble_.k
        commands = " and ".join(f"anysize patterns {size}" for size in sizes)
        yield f"{commands} shows the patterns; anysize explain shows why a graph gets its class"


# ---- predict ---------------------------------------------------------------------------------------


def _show_score(model: GraphClassifier | GraphRegressor, rows: GraphRows, outputs: FloatArray) -> None:
    """The scores on graphs with labels, if there are any that the model can predict."""
    import numpy as np

    from anysize.metrics import regression_metrics, roc_auc, score

    labeled = [] if rows.labels is None else [rows.labels[position] for position in rows.read]
    known = [number for number, label in enumerate(labeled) if label is not None]
    if not known:
        return
    labels = [labeled[number] for number in known]
    if model.predicts == "numbers":
        if text := [label for label in labels if isinstance(label, str)]:
            note(f"no score: these graphs have the label {text[0]!r}, and the model predicts numbers.")
            return
        scores = regression_metrics(labels, outputs[known])
        told = ", ".join(f"{METRIC_NAMES[name]} {value:.3f}" for name, value in scores.items())
        errors.print(f"On these {len(known)} labeled graphs: {told}", highlight=False, soft_wrap=True)
        return
    classes = model.classes_.tolist()
    if unknown := sorted(set(labels) - set(classes), key=str):
        note(f"no score: these graphs have the class {unknown[0]!r}, which no training graph had.")
        return
    y, chances = np.array([classes.index(label) for label in labels]), outputs[known]
    predicted = chances.argmax(axis=1)
    value, area, beside = score(model.metric, y, predicted), roc_auc(y, chances), ""
    if model.metric == "accuracy":  # high where one class is common
        common = float(np.bincount(y).max()) / len(y)
        balanced = score("balanced_accuracy", y, predicted)
        beside = f" (balanced {balanced:.3f}; always the most common class: {common:.3f})"
    if area is not None:
        beside += f", ROC-AUC {area:.3f}"
    told = f"{METRIC_NAMES[model.metric]} on these {len(known)} labeled graphs: {value:.3f}{beside}"
    errors.print(told, highlight=False, soft_wrap=True)
