"""Forecast against truth: ``python -m benchmarks.forecast DATA... --out docs/forecast.md``.

Every real set is split by size twice. *Up*: train on graphs up to the median size, test from the 90th percentile on.
*Down*: train from the median size on, test up to the 10th percentile. Tasks of drawn graphs have larger test graphs. A
forecast for a set is made with the constants of `anysize.estimators.forecast` fitted to the OTHER families of sets, so
that its own test labels have no part in it; the last lines say what they are when fitted to all families. Sets are cut
to 900 random graphs, and left out where the test graphs have fewer than 8 graphs of a class. Records are kept in a file
of JSON lines, and sets found there are not trained again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize_scalar

import anysize as az
from anysize._files import atomic_write
from anysize._typing import FloatArray
from anysize.estimators import forecast as module
from anysize.estimators.verdict import HeldOutScores
from anysize.evaluation.league import find_sets
from anysize.evaluation.standings import family_names
from anysize.metrics import all_metrics
from anysize.paper.tasks import TASKS

MAX_GRAPHS, MIN_MINORITY = 900, 8
SMALLEST_DEVIATION = 0.02  # of a score, per step
SECONDS = 20.0  # for held-out scores
DRAWN = (
    "er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30", "motif-size", "motif-size-concept", "spmotif-33",
    "spmotif-60", "spmotif-90", "motif-count",
)  # fmt: skip


class Split(NamedTuple):
    """Training and test graphs of a set, and whether the test graphs are larger ("up") or smaller ("down")."""

    name: str
    direction: str
    train: az.GraphSet
    test: az.GraphSet


def real_splits(folders: Sequence[str]) -> Iterator[Split]:
    """Both splits of every set in the folders."""
    for task in find_sets(folders)[0]:
        graphs = _cut(task.source.graphs)  # type: ignore[attr-defined]
        low, middle, high = np.percentile(graphs.sizes, [10, 50, 90])
        if middle not in (low, high):
            name = task.name.rpartition("-size-")[0]
            yield Split(name, "up", graphs[graphs.sizes <= middle], graphs[graphs.sizes >= high])
            yield Split(name, "down", graphs[graphs.sizes >= middle], graphs[graphs.sizes <= low])


def drawn_splits() -> Iterator[Split]:
    """Tasks of drawn graphs; what stands before the dot in a name is the family."""
    for task in DRAWN:
        splits = TASKS[task].splits(0)
        yield Split(task.replace("-", ".", 1), "up", _cut(splits.train), _cut(splits.test))


def _cut(graphs: az.GraphSet) -> az.GraphSet:
    drawn = np.random.default_rng(0).permutation(len(graphs))[:MAX_GRAPHS]
    return graphs if len(graphs) <= MAX_GRAPHS else graphs[np.sort(drawn)]


def measure(splits: Iterable[Split], method: str, known: set[tuple[str, str, str]]) -> Iterator[dict[str, Any]]:
    """One record for each split that is not known: held-out scores, sizes, true scores."""
    for name, direction, train, test in splits:
        if (name, direction, method) in known:
            continue
        classes = np.unique(np.concatenate([np.asarray(train.y), np.asarray(test.y)]))
        y, truth = (np.searchsorted(classes, np.asarray(graphs.y)) for graphs in (train, test))
        if len(np.unique(y)) < len(classes) or np.bincount(truth, minlength=len(classes)).min() < MIN_MINORITY:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = az.GraphClassifier(method, check=SECONDS).fit(train, y)
            chances = model.predict_proba(test)
            told = model.forecast(test)
        scores = all_metrics(truth, chances)
        yield {
            "set": name, "direction": direction, "method": method, "truth": scores["balanced_accuracy"],
            "auc": scores.get("roc_auc"), "confidence": float(chances.max(axis=1).mean()), "far": told.far,
            "train_size": model.ensemble_.novelty.mean_size, "sizes": test.sizes.tolist(),
            "held_out": [vars(held) for held in model.verdict_.held_out],
        }  # fmt: skip


# ---- constants, and forecasts by them ------------------------------------------------------------------


def _scores(record: dict[str, Any]) -> tuple[HeldOutScores, ...]:
    return tuple(HeldOutScores(**held) for held in record["held_out"])


def constants(records: Sequence[dict[str, Any]], families: dict[str, str]) -> dict[module.Direction, module.Drift]:
    """DRIFT: the decay by least squares, the deviation by the squared residuals; a family counts once."""
    lines: dict[module.Direction, list[tuple[float, ...]]] = {"larger": [], "smaller": []}
    for record in records:
        scores = {held.protocol: held for held in _scores(record)}
        across = scores.get("larger graphs", scores.get("same sizes"))
        assert across is not None
        forecast = module.forecast(tuple(scores.values()), record["train_size"], np.array(record["sizes"]))
        larger = forecast.size_ratio >= 1
        unseen = module.unseen_steps(forecast.extrapolation, larger and "larger graphs" in scores)
        chance, truth = 1 / across.classes, record["truth"]
        known = across.errors["model"] ** 2, truth * (1 - truth) / len(record["sizes"])
        lines["larger" if larger else "smaller"].append(
            (across.scores["model"] - chance, truth - chance, unseen, *known, 1 / _sets(records, families, record))
        )
    drift: dict[module.Direction, module.Drift] = {}
    for direction, rows in lines.items():
        score, truth, unseen, of_score, of_sample, weight = np.array(rows).T

        def squares(decay: float, *, data: Any = (score, truth, unseen, weight)) -> float:
            score, truth, unseen, weight = data
            return float((weight * (truth - score * np.exp(-decay * unseen)) ** 2).sum())

        decay = float(minimize_scalar(squares, bounds=(0, 3), method="bounded").x)
        kept = np.exp(-decay * unseen)
        residual = (truth - kept * score) ** 2 - kept**2 * of_score - of_sample
        variance = (weight * residual * unseen).sum() / (weight * unseen**2).sum()
        deviation = float(np.sqrt(max(variance, SMALLEST_DEVIATION**2)))
        drift[direction] = module.Drift(round(decay, 3), round(deviation, 3))
    return drift


def _sets(records: Sequence[dict[str, Any]], families: dict[str, str], record: dict[str, Any]) -> int:
    """How many records of one direction the family of a record has."""
    family, direction = families[record["set"]], record["direction"]
    return sum(families[other["set"]] == family and other["direction"] == direction for other in records)


def forecasts(records: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], module.Forecast]]:
    """Every record with its forecast, by constants of the other families."""
    families = family_names(sorted({record["set"] for record in records}))
    for record in records:
        others = [other for other in records if families[other["set"]] != families[record["set"]]]
        with patch.object(module, "DRIFT", constants(others, families)):
            sizes = np.array(record["sizes"])
            yield record, module.forecast(_scores(record), record["train_size"], sizes, record["far"])


# ---- the page ------------------------------------------------------------------------------------------

HEAD = """# Forecasts

How well will the model do on larger graphs that have no labels yet? `model.forecast(new_graphs)` and `anysize predict`
say what balanced accuracy and ROC-AUC to expect, with an interval. So does `anysize diagnose TRAIN NEW --model FILE`:

```python
import anysize as az

small = az.sample_graphs(
    (az.ErdosRenyi(0.3), az.ErdosRenyi(0.35)),
    az.Environment(sizes=(12, 16, 20)),
    120,
    seed=1,
)
large = az.sample_graphs(
    (az.ErdosRenyi(0.3), az.ErdosRenyi(0.35)),
    az.Environment(sizes=(40,)),
    100,
    seed=2,
)
model = az.GraphClassifier().fit(small)
print(model.forecast(large))
```

The forecast starts from scores on training graphs that were held out (`model.verdict_.held_out`): at the sizes of
training, and across sizes, where the model is fitted to the smaller graphs and predicts the larger ones. It does not
use the probabilities of the model for the new graphs: on the real sets below their mean is {confidence:+.2f} away from
the balanced accuracy. `check=False` (`anysize fit --no-check`) switches held-out scores off, and with them the
forecast.

Sizes are counted in steps. One step is the inner size shift: the logarithm of the ratio of sizes between the larger and
the smaller training graphs. What the model loses on the first step toward larger graphs was scored. Beyond it, and
toward smaller graphs, every step widens the interval. The lower end also falls, down to chance, with the share of the
new graphs about which training shows little: all of them if a [shift](trust.md#warnings) beyond sizes is found,
otherwise the largest of these: graphs that are far in the shares of their patterns, edges of a type that no training
graph had, the total variation distance between the colors of all vertices, and for methods on whole graphs that between
their degrees. A Weisfeiler-Lehman kernel on dense graphs is such a case: in graphs three times as large, most vertices
have more neighbors than any vertex in training.

## Against the truth

{sets} splits, with `{method}`: {real} of {real_families} families of real sets, up (train on small graphs, test on
large ones) and down, and {drawn} tasks of {drawn_families} families of drawn graphs, up. The constants of every
forecast come from the other families; the true scores of a set have no part in its forecast.

- The 90 % interval contains the true balanced accuracy in {covered:.0%} of the splits, in {by_family:.0%} if a family
  counts once (real sets: {real_covered:.0%} and {real_by_family:.0%}).
- Its mean width is {width:.2f} (real sets: {real_width:.2f}). For ROC-AUC: {auc_covered:.0%}, width {auc_width:.2f}.
- On the real sets, the forecast is {error:.3f} off on average ({bias_up:+.3f} too high up, {bias_down:+.3f} down), the
  score across sizes inside training {across:.3f}, the score at the training sizes {same:.3f}, the mean probability
  {confident:.3f}.

Fitted to all families, the constants of `anysize.estimators.forecast` are:

{constants}

They are calibrated on the test labels of these sets, as an interval must be; no model was chosen by them.

| set | direction | training, same sizes | training, across sizes | forecast | truth |
|---|---|---|---|---|---|
"""
FOOT = """
Made by `python -m benchmarks.forecast DATA --out docs/forecast.md`, with the records in `results/forecast.jsonl`.
"""


def page(records: Sequence[dict[str, Any]]) -> str:
    """The page of the manual."""
    pairs = list(forecasts(records))
    families = family_names(sorted({record["set"] for record in records}))
    drawn_names = {name.replace("-", ".", 1) for name in DRAWN}
    is_real = np.array([record["set"] not in drawn_names for record, _ in pairs])
    is_up = np.array([record["direction"] == "up" for record, _ in pairs])
    own_family = np.array([families[record["set"]] for record, _ in pairs])
    weight = np.array([1 / (own_family == family).sum() for family in own_family])
    truth = np.array([record["truth"] for record, _ in pairs])
    scores = [f.balanced_accuracy for _, f in pairs]
    expected, low, high = np.array([(score.expected, score.low, score.high) for score in scores]).T
    inside = (low <= truth) & (truth <= high)
    areas = [(f.auc.low, f.auc.high, r["auc"]) for r, f in pairs if f.auc is not None and r["auc"] is not None]
    same, across = (
        np.array([next((h.scores["model"] for h in _scores(r) if h.protocol == p), np.nan) for r, _ in pairs])
        for p in ("same sizes", "larger graphs")
    )
    confidence = np.array([record["confidence"] for record, _ in pairs])

    def off(values: FloatArray) -> float:
        return float(np.nanmean(np.abs(values - truth)[is_real]))

    text = HEAD.format(
        sets=len(pairs), method=records[0]["method"], real=is_real.sum(), drawn=(~is_real).sum(),
        real_families=len(set(own_family[is_real])), drawn_families=len(set(own_family[~is_real])),
        covered=inside.mean(), by_family=np.average(inside, weights=weight), real_covered=inside[is_real].mean(),
        real_by_family=np.average(inside[is_real], weights=weight[is_real]), width=(high - low).mean(),
        real_width=(high - low)[is_real].mean(), auc_width=np.mean([high - low for low, high, _ in areas]),
        auc_covered=np.mean([low <= value <= high for low, high, value in areas]), error=off(expected),
        bias_up=(expected - truth)[is_real & is_up].mean(), bias_down=(expected - truth)[~is_up].mean(),
        across=off(across), same=off(same), confident=off(confidence),
        confidence=(confidence - truth)[is_real].mean(),
        constants="\n".join(
            f"- every step toward {direction} graphs that was not scored takes {1 - np.exp(-drift.decay):.0%} of the "
            f"score above chance, and adds {drift.deviation}² to the variance"
            for direction, drift in constants(records, families).items()
        ),
    )  # fmt: skip
    lines = []
    for (record, f), near, far in zip(pairs, same, across, strict=True):
        cells = ["" if np.isnan(value) else f"{value:.2f}" for value in (near, far)]
        mark = "" if f.balanced_accuracy.low <= record["truth"] <= f.balanced_accuracy.high else " (outside)"
        lines.append(
            f"| {record['set']} | {record['direction']} | {cells[0]} | {cells[1]} | {f.balanced_accuracy} | "
            f"{record['truth']:.2f}{mark} |"
        )
    return text + "\n".join(lines) + "\n" + FOOT


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", help="folders with sets; without any, the page is made from records")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--records", type=Path, default=Path("results/forecast.jsonl"))
    parser.add_argument("--out", type=Path, help="the page of the manual")
    given = parser.parse_args()
    lines = given.records.read_text(encoding="utf-8").splitlines() if given.records.is_file() else []
    records = [json.loads(line) for line in lines]
    known = {(record["set"], record["direction"], record["method"]) for record in records}
    with given.records.open("a", encoding="utf-8") as file:
        splits = chain(real_splits(given.folders), drawn_splits()) if given.folders else ()
        for record in measure(splits, given.method, known):
            file.write(json.dumps(record) + "\n")
            file.flush()
            records.append(record)
            print(record["set"], record["direction"], f"{record['truth']:.2f}", flush=True)
    if given.out is not None:
        with atomic_write(given.out) as part:
            part.write_text(page([r for r in records if r["method"] == given.method]), encoding="utf-8")


if __name__ == "__main__":
    main()
