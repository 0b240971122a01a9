"""Forecast against truth on real sets: ``python -m benchmarks.forecast DATA... --out docs/forecast.md``.

Every set is split by size twice. *Up*: train on graphs up to the median size, test from the 90th percentile on. *Down*:
train from the median size on, test up to the 10th percentile. A forecast for a set is made with the constants of
`anysize.estimators.forecast` fitted to the OTHER families of sets, so that its own test labels have no part in it; the
last lines say what they are when fitted to all families. Sets are cut to 900 random graphs, and left out where the test
graphs have fewer than 8 graphs of a class. Records are kept in a file of JSON lines, and sets found there are not
trained again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import anysize as az
from anysize._files import atomic_write
from anysize.estimators import forecast as module
from anysize.estimators.held_out import HeldOutScores
from anysize.evaluation.league import find_sets
from anysize.evaluation.standings import family_names
from anysize.metrics import all_metrics

MAX_GRAPHS, MIN_MINORITY = 900, 8
SECONDS = 20.0  # for held-out scores
DIRECTIONS = ("up", "down")


def measure(folders: Sequence[str], method: str, known: set[tuple[str, str, str]]) -> Iterator[dict[str, Any]]:
    """One record for each set and direction that is not known: held-out scores, sizes, true scores."""
    for task in find_sets(folders)[0]:
        graphs = task.source.graphs  # type: ignore[attr-defined]
        if len(graphs) > MAX_GRAPHS:
            graphs = graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:MAX_GRAPHS])]
        y = np.unique(np.asarray(graphs.y), return_inverse=True)[1]
        name = task.name.rpartition("-size-")[0]
        for direction in DIRECTIONS:
            low, middle, high = np.percentile(graphs.sizes, [10, 50, 90])
            up = direction == "up"
            train = np.flatnonzero(graphs.sizes <= middle if up else graphs.sizes >= middle)
            test = np.flatnonzero(graphs.sizes >= high if up else graphs.sizes <= low)
            classes = len(np.unique(y))
            if (name, direction, method) in known or middle in (low, high) or len(np.unique(y[train])) < classes:
                continue
            if np.bincount(y[test], minlength=classes).min() < MIN_MINORITY:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = az.GraphClassifier(method, check=SECONDS).fit(graphs[train], y[train])
                chances = model.predict_proba(graphs[test])
                told = model.forecast(graphs[test])
            scores = all_metrics(y[test], chances)
            yield {
                "set": name, "direction": direction, "method": method, "truth": scores["balanced_accuracy"],
                "auc": scores.get("roc_auc"), "confidence": float(chances.max(axis=1).mean()), "far": told.far,
                "train_size": model.ensemble_.novelty.mean_size, "sizes": graphs.sizes[test].tolist(),
                "held_out": [vars(held) for held in model.verdict_.held_out],
            }  # fmt: skip


# ---- constants, and forecasts by them ------------------------------------------------------------------


def _scores(record: dict[str, Any]) -> tuple[HeldOutScores, ...]:
    return tuple(HeldOutScores(**held) for held in record["held_out"])


def constants(records: Sequence[dict[str, Any]], families: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
    """KEPT and SHIFT_DEVIATION for both directions; a family counts once, its sets are averaged."""
    kept, deviation = {}, {}
    for direction, name in zip(DIRECTIONS, ("larger", "smaller"), strict=True):
        rows = [record for record in records if record["direction"] == direction]
        amounts = {family: sum(families[row["set"]] == family for row in rows) for family in families.values()}
        x, t, extra, weights = [], [], [], []
        for row in rows:
            across = next((held for held in _scores(row) if held.protocol == "larger graphs"), None)
            if across is None:
                continue
            chance = 1 / across.classes
            x.append(across.scores["model"] - chance)
            t.append(row["truth"] - chance)
            extra.append((across.errors["model"] ** 2, row["truth"] * (1 - row["truth"]) / len(row["sizes"])))
            weights.append(1 / amounts[families[row["set"]]])
        first, truth, weight, known = np.array(x), np.array(t), np.array(weights), np.array(extra)
        share = float(np.clip((weight * first * truth).sum() / (weight * first**2).sum(), 0, 1))
        residual = (truth - share * first) ** 2 - share**2 * known[:, 0] - known[:, 1]
        kept[name] = round(share, 2)
        deviation[name] = round(float(np.sqrt(max((weight * residual).sum() / weight.sum(), 0.02**2))), 3)
    return kept, deviation


def forecasts(records: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], module.Forecast]]:
    """Every record with its forecast, by constants of the other families."""
    families = family_names(sorted({record["set"] for record in records}))
    for record in records:
        others = [other for other in records if families[other["set"]] != families[record["set"]]]
        kept, deviation = constants(others, families)
        with patch.multiple(module, KEPT=kept, SHIFT_DEVIATION=deviation):
            sizes = np.array(record["sizes"])
            yield record, module.forecast(_scores(record), record["train_size"], sizes, record["far"])


# ---- the page ------------------------------------------------------------------------------------------

HEAD = """# Forecasts

How well will the model do on larger graphs that have no labels yet? `model.forecast(new_graphs)` and `anysize predict`
say what balanced accuracy and ROC-AUC to expect, with an interval:

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
use the probabilities of the model for the new graphs: on the sets below their mean is {confidence:+.2f} away from the
balanced accuracy. `check=False` switches held-out scores off, and with them the forecast.

## Against the truth

{sets} splits of {families} families of real sets, up (train on small graphs, test on large ones) and down, `{method}`.
The constants of every forecast come from the other families; the true scores of a set have no part in its forecast. The
90 % interval contains the true balanced accuracy in {covered:.0%} of the splits ({by_family:.0%} if a family counts
once), its mean width is {width:.2f}; of ROC-AUC {auc_covered:.0%} and {auc_width:.2f}. The forecast is {error:.3f} off
on average ({bias:+.3f} too high), the score across sizes inside training {across:.3f}, the score at the training sizes
{same:.3f}, the mean probability {confident:.3f}.

Fitted to all families, the constants of `anysize.estimators.forecast` are: {constants}.
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
    amounts = {family: sum(families[record["set"]] == family for record in records) for family in families.values()}
    weight = np.array([1 / amounts[families[record["set"]]] for record, _ in pairs])
    truth = np.array([record["truth"] for record, _ in pairs])
    told = np.array(
        [[f.balanced_accuracy.expected, f.balanced_accuracy.low, f.balanced_accuracy.high] for _, f in pairs]
    )
    inside = (told[:, 1] <= truth) & (truth <= told[:, 2])
    areas = [(f.auc.low, f.auc.high, r["auc"]) for r, f in pairs if f.auc is not None and r["auc"] is not None]
    same, across = (
        np.array([next((h.scores["model"] for h in _scores(r) if h.protocol == p), np.nan) for r, _ in pairs])
        for p in ("same sizes", "larger graphs")
    )
    confidence = np.array([record["confidence"] for record, _ in pairs])
    kept, deviation = constants(records, families)
    text = HEAD.format(
        sets=len(pairs), families=len(amounts), method=records[0]["method"], covered=inside.mean(),
        by_family=float((weight * inside).sum() / weight.sum()), width=float((told[:, 2] - told[:, 1]).mean()),
        auc_covered=np.mean([low <= value <= high for low, high, value in areas]),
        auc_width=np.mean([high - low for low, high, _ in areas]), error=np.abs(told[:, 0] - truth).mean(),
        bias=(told[:, 0] - truth).mean(), across=np.nanmean(np.abs(across - truth)),
        same=np.nanmean(np.abs(same - truth)), confident=np.abs(confidence - truth).mean(),
        confidence=(confidence - truth).mean(),
        constants=", ".join(
            f"{name} graphs keep {kept[name]} of the score above chance (deviation {deviation[name]})" for name in kept
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
        for record in measure(given.folders, given.method, known) if given.folders else ():
            file.write(json.dumps(record) + "\n")
            file.flush()
            records.append(record)
            print(record["set"], record["direction"], f"{record['truth']:.2f}", flush=True)
    if given.out is not None:
        with atomic_write(given.out) as part:
            part.write_text(page([r for r in records if r["method"] == given.method]), encoding="utf-8")


if __name__ == "__main__":
    main()
