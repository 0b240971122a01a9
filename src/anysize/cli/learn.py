"""`anysize fit`, `anysize predict` and `anysize methods`: train models, use them, list methods."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
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
    score_table,
    text_table,
)
from anysize.methods import defaults
from anysize.metrics import METRIC_NAMES, METRICS_OF

if TYPE_CHECKING:
    from anysize._typing import FloatArray
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.forecast import Forecast
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
    check: Annotated[
        bool,
        typer.Option("--check/--no-check", help="Also score the method on held-out training graphs, for forecasts."),
    ] = True,
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
            "validation": validation, "color": reading.get("color"), "check": check, "device": device,
            "cache": cache or folder, "params": _params(set_) or None,
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
        seconds = time.perf_counter() - began
        if model.targets_:
            facts = {
                "targets": {name: _facts(each, graphs.target(name), seconds) for name, each in model.models_.items()},
                "seconds": round(seconds, 3),
            }  # fmt: skip
        else:
            facts = _facts(model, graphs, seconds)
        facts |= {"target": target, "out": str(out)}
        model.set_params(verbose=0).save(out)
        if json:
            print(dumps(facts))
        elif model.targets_:
            _show_targets(facts, model, len(graphs))
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

    Models of numbers give the number, and models of several targets all of this for each target. Other columns of a
    table are kept, and rows that cannot be read have a reason instead of a prediction. Of several models (--n-models),
    the standard deviation of the probability of the class is told. Scores are printed as well if classes or numbers are
    known: from the file, --labels or --y.
    """
    # Patterns are counted once for predictions and for the forecast, also without --cache.
    with handle_errors(), TemporaryDirectory(prefix="anysize-", ignore_cleanup_errors=True) as folder:
        from anysize import GraphRegressor, load_model

        format = check_out(out, PREDICTION_FORMATS, PredictionFormat.json if json else None)
        estimator = load_model(model)
        rows = read_new(new, estimator, reading, colors)
        estimator.set_params(cache=cache or folder, verbose=1)
        about: dict[str, Any] = {"model": str(model)}
        models = estimator.models_ or {"": estimator}
        if isinstance(estimator, GraphRegressor):
            numbers = estimator.predict(rows.graphs, per_model=True)
            tables = {"": numbers[:, :, None]} if not estimator.targets_ else {
                name: numbers[:, :, [column]] for column, name in enumerate(models)
            }  # fmt: skip
        else:
            chances = estimator.predict_proba(rows.graphs, per_model=True)
            tables = dict(zip(models, chances if estimator.targets_ else [chances], strict=True))
            classes = {name: each.classes_.tolist() for name, each in models.items()}
            about |= {"targets": classes} if estimator.targets_ else {"classes": classes[""]}
        columns = [
            column for name, table in tables.items() for column in _prediction_columns(models[name], table, name)
        ]
        PredictionTable(rows, columns).write(out, format, about)
        _show_scores(estimator, rows, {name: table.mean(axis=0) for name, table in tables.items()})


def _prediction_columns(
    model: GraphClassifier | GraphRegressor, by_model: FloatArray, target: str
) -> Iterator[PredictionColumn]:
    """What is told of each graph about one target: its class with probabilities, or a number."""
    of, inside = (f"{target}: ", (target,)) if target else ("", ())
    predicted = by_model.mean(axis=0)
    if model.predicts == "numbers":
        yield PredictionColumn(f"{of}prediction", predicted[:, 0].tolist(), (*inside, "prediction"))
        spread = by_model.std(axis=0)[:, 0]
    else:
        from anysize.estimators.classifier import warn_of_one_class

        likely = predicted.argmax(axis=1)
        warn_of_one_class(likely, model.classes_, model.ensemble_, target)
        yield PredictionColumn(f"{of}class", model.classes_[likely].tolist(), (*inside, "class"))
        for name, values in zip(model.classes_.tolist(), predicted.T.tolist(), strict=True):
            yield PredictionColumn(f"{of}probability of {name}", values, (*inside, "probabilities", str(name)))
        spread = by_model[:, range(len(likely)), likely].std(axis=0)
    if len(by_model) > 1:
        yield PredictionColumn(f"{of}standard deviation over models", spread.tolist(), (*inside, "standard_deviation"))


def methods(json: JsonOption = False) -> None:
    """List the methods, their input and their default hyper-parameters."""
    with handle_errors():
        described = list(_methods())
        if json:
            print(dumps(described))
            return
        table = text_table("method", "in the tables", "input", "defaults")
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
    numbers = facts["classes"] is None
    predicted = f"to predict {facts['target']}" if numbers else f"of {len(facts['classes'])} classes"
    validated = f" and validated on {facts['validation_graphs']}" if facts["validation_graphs"] else ""
    lines = [
        f"{facts['method']}, {facts['recipe']} recipe: {plural(len(facts['seeds']), 'model')} trained on "
        f"{facts['graphs']} graphs {predicted}{validated} in {facts['seconds']:.1f} s",
        *str(replace(model.verdict_, doubt=None)).splitlines(),  # fit has warned of the doubt
    ]
    if model.bins_ is not None:
        lines.append(model.bins_.sentence)
    patterns = () if model.predicts == "numbers" else _class_patterns(model, graphs)
    for line in (*lines, *patterns):
        console.print(line, soft_wrap=True)
    errors.print(f"Wrote {facts['out']}.")


def _show_targets(facts: dict[str, Any], model: GraphClassifier | GraphRegressor, graphs: int) -> None:
    """A table with a row for every target, and their means."""
    by_target: dict[str, dict[str, Any]] = facts["targets"]
    first = next(iter(by_target.values()))
    numbers = first["classes"] is None
    together = next(iter(model.models_.values())).ensemble_.method.shares_targets and len(by_target) > 1
    console.print(
        f"{first['method']}, {first['recipe']} recipe: {plural(len(first['seeds']), 'model')} of "
        f"{'all' if together else 'each of'} {len(by_target)} targets trained on {graphs} graphs in "
        f"{facts['seconds']:.1f} s",
        soft_wrap=True,
    )
    protocols = list(dict.fromkeys(held["protocol"] for each in by_target.values() for held in each["held_out"]))
    metrics = ["rmse", "rank_correlation"] if numbers else ["balanced_accuracy", "roc_auc"]
    columns = [(protocol, metric) for protocol in protocols for metric in metrics]
    rows: dict[str, list[float | None]] = {}
    for name, each in by_target.items():
        held_out = {held["protocol"]: held["metrics"] for held in each["held_out"]}
        known = each["graphs"] + each["validation_graphs"]
        rows[name] = [known, each["train"], *(held_out.get(protocol, {}).get(name) for protocol, name in columns)]
    headings = ["graphs", f"training {METRIC_NAMES[first['metric']]}"]
    headings += [f"{protocol}: {METRIC_NAMES[metric]}" for protocol, metric in columns]
    console.print(score_table("target", headings, rows))
    errors.print(f"Wrote {facts['out']}.")


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


def _show_scores(model: GraphClassifier | GraphRegressor, rows: GraphRows, outputs: Mapping[str, FloatArray]) -> None:
    """The forecast, and the scores on graphs with labels, if there are any that the model can predict."""
    forecasts: dict[str, Forecast] = {}
    if model.predicts == "classes" and len(rows.graphs):
        with suppress(ValueError):  # a model without held-out scores has no forecast
            made = model.forecast(rows.graphs)
            forecasts = made if model.targets_ else {"": made}
    scores: dict[str, tuple[int, dict[str, float]]] = {}
    for name, each in (model.models_ or {"": model}).items():
        if rows.labels is None or (name and name not in rows.targets):
            continue
        at = list(rows.targets).index(name) if name else None
        labels = [None if row is None else row if at is None else row[at] for row in rows.labels]
        read = [labels[position] for position in rows.read]
        known = [number for number, label in enumerate(read) if label is not None]
        if not known:
            continue
        if rows.targets and not name:
            note(
                f"no score: the model predicts one of several targets; name its column, such as --y {rows.targets[0]}."
            )
            continue
        try:
            scores[name] = len(known), _scores(each, [read[number] for number in known], outputs[name][known])
        except ValueError as error:
            note(f"no score{f' of {name}' if name else ''}: {error}.")
    if model.targets_:
        wanted = (
            METRICS_OF["numbers"] if model.predicts == "numbers" else (model.metric, "balanced_accuracy", "roc_auc")
        )
        _show_scores_by_target(forecasts, scores, tuple(dict.fromkeys(wanted)))
        return
    for forecast in forecasts.values():
        errors.print(f"{forecast}", highlight=False, soft_wrap=True)
    for graphs, values in scores.values():
        if model.predicts == "numbers":
            sentence = ", ".join(f"{METRIC_NAMES[name]} {value:.3f}" for name, value in values.items())
            errors.print(f"On these {graphs} labeled graphs: {sentence}", highlight=False, soft_wrap=True)
            continue
        beside = ""
        if model.metric == "accuracy":  # high where one class is common
            common = f"always the most common class: {values['common']:.3f}"
            beside = f" (balanced {values['balanced_accuracy']:.3f}; {common})"
        if "roc_auc" in values:
            beside += f", ROC-AUC {values['roc_auc']:.3f}"
        sentence = f"{METRIC_NAMES[model.metric]} on these {graphs} labeled graphs: {values[model.metric]:.3f}{beside}"
        errors.print(sentence, highlight=False, soft_wrap=True)


def _scores(model: GraphClassifier | GraphRegressor, labels: list[Any], outputs: FloatArray) -> dict[str, float]:
    """All metrics, and of classes the share of the most common one; an error for labels that training did not have."""
    import numpy as np

    from anysize.metrics import all_metrics

    if model.predicts == "numbers":
        if text := [label for label in labels if isinstance(label, str)]:
            raise ValueError(f"these graphs have the label {text[0]!r}, and the model predicts numbers")
        return all_metrics(np.array(labels, np.float64), outputs)
    classes = model.classes_.tolist()
    if unknown := sorted(set(labels) - set(classes), key=str):
        raise ValueError(f"these graphs have the class {unknown[0]!r}, which no training graph had")
    y = np.array([classes.index(label) for label in labels])
    return {**all_metrics(y, outputs), "common": float(np.bincount(y).max()) / len(y)}


def _show_scores_by_target(
    forecasts: Mapping[str, Forecast], scores: Mapping[str, tuple[int, Mapping[str, float]]], metrics: Sequence[str]
) -> None:
    """A table with a row for every target and their means: the scores to expect, and those on labeled graphs."""
    names = list(dict.fromkeys((*forecasts, *scores)))
    rows: dict[str, list[float | None]] = {}
    for name in names:
        expected: list[float | None] = [None, None]
        if name in forecasts:
            area = forecasts[name].auc
            expected = [forecasts[name].balanced_accuracy.expected, None if area is None else area.expected]
        graphs, values = scores.get(name, (0, {}))
        rows[name] = [*(expected if forecasts else []), *([graphs] if scores else []), *map(values.get, metrics)]
    headings = ["balanced accuracy, expected", "ROC-AUC, expected"] if forecasts else []
    headings += ["labeled graphs", *(METRIC_NAMES[name] for name in metrics)] if scores else []
    if rows:
        errors.print(score_table("target", headings, rows))
