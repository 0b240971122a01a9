"""The grids and training settings of the paper, written down again from its appendix, section by section."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from anysize import METHODS
from anysize.methods.method import FAMILIES
from anysize.paper.tasks import PUBLISHED_KEYS, TASKS

GNNS = [f"{encoder}-{readout}" for encoder in ("pna", "gcn", "gin") for readout in ("sum", "mean", "max")] + ["rpgin"]
IRM = ["pna-irm", "gcn-irm", "gin-irm"]
GAMMA_GNNS = ["gamma-gin", "gamma-rpgin"]
WIDTHS, C = [32, 64, 128, 256], [0.001, 0.01, 0.1, 1, 10, 100, 1000]
JUMPING = [False, True]

# (methods, family) -> the values that the appendix lists
APPENDIX: dict[tuple[tuple[str, ...], str], dict[str, list[Any]]] = {
    # "Schizophrenia Task": a batch size of 32 graphs for all these models
    (("gamma-1hot",), "brain"): {"hidden": WIDTHS, "lr": [0.001, 0.0001], "k": [4, 5], "batch_size": [32]},
    (tuple(GAMMA_GNNS), "brain"): {
        "hidden": WIDTHS, "layers": [1, 2], "lr": [0.001, 0.0001], "k": [4, 5], "batch_size": [32],
    },
    (tuple(GNNS), "brain"): {"lr": [0.01, 0.001], "hidden": [32, 64, 128], "layers": [1, 2, 3], "batch_size": [32]},
    # "Erdos-Renyi Connection Probability": batches of all training graphs
    (("gamma-1hot",), "erdos-renyi"): {"hidden": WIDTHS, "lr": [0.1, 0.01, 0.001]},
    (tuple(GAMMA_GNNS), "erdos-renyi"): {
        "hidden": WIDTHS, "layers": [1, 2], "lr": [0.1, 0.01, 0.001], "jumping": JUMPING,
    },
    (tuple(GNNS), "erdos-renyi"): {
        "hidden": WIDTHS, "layers": [1, 2, 3], "lr": [0.1, 0.01, 0.001], "jumping": JUMPING,
    },
    (tuple(IRM), "erdos-renyi"): {
        "hidden": WIDTHS, "layers": [1, 2, 3], "lr": [0.1, 0.01, 0.001], "jumping": JUMPING, "irm": [4, 8, 16, 32],
    },
    # "Extrapolation performance over SBM attributed graphs"
    (("gamma-1hot",), "sbm"): {"hidden": WIDTHS, "lr": [0.01, 0.001]},
    (tuple(GAMMA_GNNS), "sbm"): {
        "hidden": WIDTHS, "layers": [1, 2], "lr": [0.01, 0.001], "jumping": JUMPING, "penalty": [0.1, 0.15],
    },
    (tuple(GNNS), "sbm"): {"hidden": WIDTHS, "layers": [1, 2, 3], "lr": [0.1, 0.01, 0.001], "jumping": JUMPING},
    (tuple(IRM), "sbm"): {
        "hidden": WIDTHS, "layers": [1, 2, 3], "lr": [0.1, 0.01, 0.001], "jumping": JUMPING, "irm": [4, 8, 16, 32],
    },
    # "Extrapolation performance in real world tasks"
    (("gamma-1hot",), "tu"): {"batch_size": [64, 128], "lr": [0.01, 0.005, 0.001], "hidden": [32, 64]},
    (tuple(GAMMA_GNNS), "tu"): {
        "batch_size": [64, 128], "lr": [0.01, 0.005, 0.001], "hidden": [32, 64], "layers": [2],
    },
    (tuple(GNNS), "tu"): {"batch_size": [64, 128], "lr": [0.01, 0.005, 0.001], "hidden": [32, 64], "layers": [3]},
    (tuple(IRM), "tu"): {
        "batch_size": [64, 128], "lr": [0.01, 0.005, 0.001], "hidden": [32, 64], "layers": [3],
        "irm": [8, 32, 128, 512],
    },
    # graph kernels, at the end of every section; the GC kernel needs a k where the others choose theirs
    (("wl-kernel",), "brain"): {"iterations": [1, 2, 3, 4], "C": C},
    (("wl-kernel",), "erdos-renyi"): {"iterations": [1, 2, 3, 4], "C": C},
    (("wl-kernel",), "sbm"): {"iterations": [1, 2, 3, 4], "C": C},
    (("wl-kernel",), "tu"): {"iterations": [3], "C": C},
    (("gc-kernel",), "brain"): {"k": [4, 5], "C": C},
    (("gc-kernel",), "erdos-renyi"): {"C": C},
    (("gc-kernel",), "sbm"): {"C": C},
    (("gc-kernel",), "tu"): {"C": C},
}  # fmt: skip


def values(point: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(point.items()))


@pytest.mark.parametrize(("methods", "family"), APPENDIX)
def test_every_point_of_the_appendix_and_no_other(methods: tuple[str, ...], family: str) -> None:
    grid = APPENDIX[methods, family]
    expected = {values(dict(zip(grid, point, strict=True))) for point in product(*grid.values())}
    for method in methods:
        found = METHODS[method].points(family)
        assert len(found) == len(expected)
        assert {values(point) for point in found} == expected


def test_every_row_of_the_paper_has_its_section() -> None:
    written = {(method, family) for methods, family in APPENDIX for method in methods}
    rows = {(method.name, family) for method in METHODS.values() if method.in_paper for family in FAMILIES}
    absent = {(method, "brain") for method in IRM}  # one graph size: IRM does not apply
    padded = {("wl-kernel-padded", family) for family in FAMILIES}
    assert rows - written == absent | padded


def test_the_padded_kernel_leaves_out_one_iteration_of_the_appendix() -> None:
    for family in FAMILIES:
        points, printed = (METHODS[name].points(family) for name in ("wl-kernel-padded", "wl-kernel"))
        shown = [{name: value for name, value in point.items() if name != "padding_color"} for point in points]
        assert shown == [point for point in printed if point["iterations"] > 1]


def test_the_training_of_the_appendix() -> None:
    neural = [*GNNS, *IRM, "gamma-1hot", *GAMMA_GNNS]
    epochs = {"erdos-renyi": 500, "sbm": 500, "tu": 1000, "brain": 400}
    for name, family in product(neural, epochs):
        recipe = METHODS[name].recipe("paper", family)
        assert recipe.epochs == epochs[family]
        assert recipe.epoch == ("last" if family == "brain" else "best")  # no validation set: a fixed number of epochs
        assert recipe.patience is None
        assert (recipe.head_hidden is None) == (family != "tu")  # an MLP with one hidden layer, else one linear layer
        assert recipe.dropout == (0.3 if family == "tu" else 0)
        assert recipe.samples is None


def test_patterns_metrics_and_class_weights_of_the_appendix() -> None:
    sizes = {"erdos-renyi": 5, "sbm": 5, "tu": 4, "brain": (4, 5)}
    paper = [TASKS[name] for name in PUBLISHED_KEYS]
    assert len(paper) == 10
    for task in paper:
        assert task.k == sizes[task.family]
        assert task.metric == ("mcc" if task.family == "tu" else "accuracy")
        assert (task.class_weights is not None) == (task.family == "tu")
        assert task.color_penalty == (task.family == "sbm")
    most_common = {task.name: task.top for task in paper}
    assert {name: top for name, top in most_common.items() if top} == {"NCI1": 100, "NCI109": 100, "DD": 30_000}
