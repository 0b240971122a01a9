"""Records made by hand, or in bulk by a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anysize.evaluation.records import (
    Curves,
    Outcome,
    Record,
    Scores,
    encode,
    evenly_spread,
    round_significant,
)
from anysize.paper.tasks import TASKS


def made(
    validation: float | None = 1.0,
    test: float | None = 0.5,
    *,
    task: str = "sbm-20",
    data: str = "published",
    method: str = "gamma-gin",
    recipe: str = "paper",
    seed: int = 0,
    loss: float | None = None,
    penalty: float | None = None,
    predictions: str = "",
    labels: str = "",
    train: float | None = 1.0,
    **configuration: bool | int | float | str | None,
) -> Record:
    """A run of which only some things matter; keyword arguments that are not named are its configuration."""
    chosen = Outcome(
        Scores(train, validation, test), Scores(validation=loss), penalty, epoch=10, predictions=predictions
    )
    kept = {"best-lowest-loss": chosen}
    return Record(
        task, data, method, recipe, configuration, seed, chosen, epochs=500, alternatives=kept, labels=labels,
        metric=_metric(task),
    )  # fmt: skip


def _metric(task: str) -> str:
    return TASKS[task].metric if task in TASKS else "accuracy"


def seeds(validation: Sequence[float], test: Sequence[float], **about: object) -> list[Record]:
    """Runs of one configuration with the seeds 0, 1, ..."""
    pairs = enumerate(zip(validation, test, strict=True))
    return [made(val, tst, seed=seed, **about) for seed, (val, tst) in pairs]  # type: ignore[arg-type]


def sweep(
    tasks: Sequence[str] = ("sbm-20", "sbm-14-20"),
    methods: Sequence[str] = ("gin-sum", "gamma-gin"),
    configurations: int = 4,
    runs: int = 3,
    graphs: int = 100,
    data: Sequence[str] = ("published",),
    seed: int = 0,
) -> list[Record]:
    """What a whole sweep leaves: records with curves, predictions and other epochs; all of it from one seed."""
    rng = np.random.default_rng(seed)
    records = []
    for task in tasks:
        for source in data:
            labels = rng.integers(2, size=graphs)
            for method in methods:
                for place in range(configurations):
                    configuration = {"hidden": 32 * (1 + place % 4), "lr": 10.0 ** -(1 + place // 4 % 3), "n": place}
                    records += [_run(rng, task, source, method, configuration, run, labels) for run in range(runs)]
    return records


def _run(rng, task, source, method, configuration, run, labels):
    def outcome(epoch: int) -> Outcome:
        predictions = np.where(rng.random(len(labels)) < 0.3, 1 - labels, labels)
        scores = Scores(1.0, round(rng.random(), 2), float((predictions == labels).mean()))
        losses = Scores(rng.random(), rng.random(), rng.random())
        return Outcome(scores, losses, rng.random(), epoch, encode(predictions))

    epochs = evenly_spread(500, 50)
    values = [rng.random(500) for _ in range(3)]
    curves = Curves(
        tuple(epoch + 1 for epoch in epochs),
        *(tuple(round_significant(float(curve[epoch])) for epoch in epochs) for curve in values),
    )
    return Record(
        task, source, method, "paper", configuration, run, outcome(12), epochs=500, tied_epochs=3,
        alternatives={"last": outcome(500), "oracle": outcome(99)}, curves=curves, labels=encode(labels),
        metric=_metric(task),
        versions={"anysize": "0.1.0", "torch": "2.2"}, device="cpu", seconds=1.5, when="2026-01-02T03:04:05+00:00",
    )  # fmt: skip
