"""Models of numbers in `anysize fit --target` and `anysize predict`: what they print and write."""

from __future__ import annotations

import time
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from anysize.cli.predictions import PredictionColumn, PredictionFormat, PredictionTable
from anysize.cli.shared import console, errors, note

if TYPE_CHECKING:
    from anysize.estimators.regressor import GraphRegressor
    from anysize.graphs.graphset import GraphSet
    from anysize.io.rows import GraphRows


def fit_numbers(model: GraphRegressor, graphs: GraphSet, target: str, out: Path, json: bool) -> None:
    """Fit a regressor, write it to a file, and print its scores and those of the baselines."""
    began = time.perf_counter()
    model.fit(graphs)
    seconds = time.perf_counter() - began
    model.save(out)
    verdict = model.verdict_
    facts = {
        "method": model.method,
        "target": target,
        "graphs": len(graphs),
        "metric": "rmse",
        "train": verdict.train["model"],
        "held_out": {held.protocol: dict(held.scores) for held in verdict.held_out},
        "baselines": {name: score for name, score in verdict.train.items() if name != "model"},
        "doubt": verdict.doubt,
        "seconds": round(seconds, 3),
        "out": str(out),
    }
    if json:
        print(dumps(facts))
        return
    lines = [f"{model.method}: trained on {len(graphs)} graphs to predict {target} in {seconds:.1f} s"]
    lines += [f"training RMSE  {_beside_baselines(verdict.train)}"]
    lines += [f"held-out RMSE, {held.protocol}  {_beside_baselines(held.scores)}" for held in verdict.held_out]
    for line in lines:
        console.print(line, soft_wrap=True)
    errors.print(f"Wrote {out}.")


def _beside_baselines(scores: Mapping[str, float]) -> str:
    others = ", ".join(f"{name} {score:.3g}" for name, score in scores.items() if name != "model")
    return f"{scores['model']:.3g}  ({others})"


def predict_numbers(
    file: Path, model: GraphRegressor, rows: GraphRows, out: Path | None, format: PredictionFormat | None
) -> None:
    """Write one number per row; print the scores on graphs with numbers as labels."""
    predicted = model.predict(rows.graphs)
    table = PredictionTable(rows, [PredictionColumn("prediction", predicted.tolist(), ("prediction",))])
    table.write(out, format, {"model": str(file)})
    labeled = [] if rows.labels is None else [rows.labels[position] for position in rows.read]
    known = [number for number, label in enumerate(labeled) if label is not None]
    if not known:
        return
    text = [labeled[number] for number in known if isinstance(labeled[number], str)]
    if text:
        note(f"no score: these graphs have the label {text[0]!r}, and the model predicts numbers.")
        return
    from anysize.metrics import REGRESSION_METRIC_NAMES, regression_metrics

    scores = regression_metrics([labeled[number] for number in known], predicted[known])
    told = ", ".join(f"{REGRESSION_METRIC_NAMES[name]} {value:.3f}" for name, value in scores.items())
    errors.print(f"On these {len(known)} labeled graphs: {told}", highlight=False)
