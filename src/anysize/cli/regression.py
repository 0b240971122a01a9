"""Models of numbers in `anysize fit --target` and `anysize predict`: what they print and write."""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anysize._text import csv_cell
from anysize.cli.input import graph_names
from anysize.cli.shared import console, errors, note, open_output

if TYPE_CHECKING:
    from anysize.estimators.regressor import GraphRegressor
    from anysize.graphs.graphset import GraphSet


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


def predict_numbers(file: Path, model: GraphRegressor, graphs: GraphSet, out: Path | None, json: bool) -> None:
    """Write one number per graph; print the scores if the graphs have numbers as labels."""
    predicted = model.predict(graphs)
    rows = list(zip(graph_names(graphs), predicted.tolist(), strict=True))
    with open_output(out) as stream:
        if json:
            listed: list[dict[str, Any]] = [{"graph": name, "prediction": value} for name, value in rows]
            stream.write(dumps({"model": str(file), "graphs": listed}) + "\n")
        else:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["graph", "prediction"])
            writer.writerows([csv_cell(name), value] for name, value in rows)
    if out is not None:
        errors.print(f"Wrote {out}.")
    if graphs.y is None or not len(graphs):
        return
    if graphs.y.dtype.kind not in "biuf":
        note(f"no score: these graphs have the label {graphs.y.tolist()[0]!r}, and the model predicts numbers.")
        return
    from anysize.metrics import REGRESSION_METRIC_NAMES, regression_metrics

    scores = regression_metrics(graphs.y, predicted)
    told = ", ".join(f"{REGRESSION_METRIC_NAMES[name]} {value:.3f}" for name, value in scores.items())
    errors.print(f"On these {len(graphs)} labeled graphs: {told}", highlight=False)
