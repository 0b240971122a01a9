"""The deterministic kernel cells of the paper, on the reproduced published data."""

from __future__ import annotations

from functools import cache

import pytest
from sklearn.svm import SVC

from anysize import count
from anysize.evaluation.tasks import Splits
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.svm import C_GRID, ITERATIONS_GRID, KernelClassifier
from anysize.kernels.wl import WLKernel
from anysize.metrics import accuracy
from anysize.paper.tasks import TASKS

CELLS = {
    ("er-single", "wl"): (1.00, 1.00, 0.01),
    ("er-single", "gc"): (1.00, 1.00, 1.00),
    ("er-multi", "wl"): (1.00, 1.00, 0.30),
    ("er-multi", "gc"): (1.00, 1.00, 1.00),
    ("sbm-20", "wl"): (1.00, 0.95, 0.57),
    ("sbm-20", "gc"): (1.00, 0.90, 0.43),
    ("sbm-14-20", "gc"): (1.00, 0.80, 0.43),
    ("sbm-20-30", "gc"): (0.99, 0.90, 0.43),
}


@cache
def published(task: str) -> Splits:
    return TASKS[task].splits("published")


def published_model(kind: str) -> KernelClassifier:
    if kind == "wl":
        return KernelClassifier(WLKernel(), grid={"iterations": ITERATIONS_GRID})
    return KernelClassifier(GraphletKernel(k=5, over="connected"))


@pytest.mark.parametrize(("task", "kind"), CELLS)
def test_published_cells_agree_to_the_printed_digit(task: str, kind: str) -> None:
    splits = published(task)
    assert splits.validation is not None
    model = published_model(kind).fit(splits.train, validation=splits.validation)
    parts = (splits.train, splits.validation, splits.test)
    assert tuple(round(accuracy(part.y, model.predict(part)), 2) for part in parts) == CELLS[task, kind]
    assert round(model.best_.train, 2) == CELLS[task, kind][0]


@pytest.mark.parametrize(("task", "test_score"), [("sbm-14-20", 0.62), ("sbm-20-30", 0.57)])
def test_the_two_cells_that_are_not_reproduced_are_close(task: str, test_score: float) -> None:
    splits = published(task)
    model = published_model("wl").fit(splits.train, validation=splits.validation)
    assert model.best_.validation == 0.95  # published: .90 and 1.00, one graph less and one more
    assert accuracy(splits.test.y, model.predict(splits.test)) == pytest.approx(test_score, abs=0.051)


def test_ties_in_the_published_cells_do_not_decide_them() -> None:
    splits = published("sbm-20")
    model = published_model("wl").fit(splits.train, validation=splits.validation)
    assert model.tied_ == 10
    tied = [trial for trial in model.trials_ if trial.validation == model.best_.validation]
    made = [KernelClassifier(WLKernel(**dict(t.settings)), C=t.C).fit(splits.train) for t in tied]
    assert {round(accuracy(splits.test.y, other.predict(splits.test)), 2) for other in made} == {0.57}


def test_the_small_constant_of_the_authors_changes_no_cell() -> None:
    """The authors divide by the number of connected sets plus 1e-4; the cells are the same."""
    splits = published("sbm-20-30")
    train, validation, test = (count(part, 5) for part in (splits.train, splits.validation, splits.test))
    parts = [
        part.align(train).matrix.toarray() / (part.matrix.sum(axis=1) + 1e-4)[:, None]
        for part in (train, validation, test)
    ]
    scores = []
    for C in C_GRID:
        svc = SVC(kernel="precomputed", C=C).fit(parts[0] @ parts[0].T, train.y)
        scores.append(
            [
                accuracy(table.y, svc.predict(part @ parts[0].T))
                for part, table in zip(parts, (train, validation, test), strict=True)
            ]
        )
    best = max(scores, key=lambda score: score[1])
    assert tuple(round(score, 2) for score in best) == CELLS["sbm-20-30", "gc"]
