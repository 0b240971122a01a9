"""Two small models, fitted while the page is made: what they see of training and test graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anysize.causal.environments import sample_graphs
from anysize.experiments.report.page import card, cards, missing, paragraph
from anysize.experiments.report.task_graphs import K, TaskGraphs
from anysize.graphs.graphset import GraphSet
from anysize.plots.embedding import embedding
from anysize.plots.scores import SizePoint, score_by_size
from anysize.tasks.synthetic import Synthetic
from anysize.tasks.task import Splits, labels

if TYPE_CHECKING:
    from anysize.methods.method import Examples, Fitted, LearningTask

EPOCHS = 100
GRAPHS_PER_SIZE = 30
PAIR = (("gamma-gin", "Γ GIN"), ("gin-sum", "GIN"))


def fits_part(graphs: TaskGraphs | str, name: str) -> str:
    """Representations of both models in the plane, and their accuracy on graphs of many sizes."""
    if isinstance(graphs, str):
        return missing(f"Representations are not shown. {graphs}")
    if not isinstance(graphs.task.source, Synthetic):
        return missing(
            "Representations are not shown: fitting models takes long on these graphs, and this page fits small ones "
            "only."
        )
    try:
        import torch
    except ImportError:
        return missing("Representations are not shown: fitting models needs torch, pip install 'anysize[learn]'.")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # models this small are slower on two threads than on one
    try:
        return _fitted(graphs, graphs.task.source, name)
    finally:
        torch.set_num_threads(threads)


def _fitted(graphs: TaskGraphs, source: Synthetic, name: str) -> str:
    from anysize.methods.method import Examples, LearningTask

    splits = graphs.splits
    sets = {key: Examples(one, labels(one)) for key, one in splits.sets.items()}
    ladder = {size: Examples(one, labels(one)) for size, one in _ladder(splits, source).items()}
    problem = LearningTask(sets["train"], sets.get("validation"), len(splits.classes), K)
    seen = set(splits.train.sizes.tolist())
    made, lines = [], {}
    for method, label in PAIR:
        model = _fit(method, graphs, problem)
        train, test = sets["train"], sets["test"]
        figure = embedding(
            model.represent(train)[0], model.represent(test)[0], train.labels(), test.labels(), splits.classes
        )
        reached = [_accuracy(model, one) for one in (train, test)]
        told = f"Accuracy {reached[0]:.2f} on training graphs, {reached[1]:.2f} on test graphs."
        made.append(card(figure, f"{name}-{method}", f"What {label} sees", told))
        lines[label] = [SizePoint(size, _accuracy(model, one), train=size in seen) for size, one in ladder.items()]
    told = (
        f"The same two models on {GRAPHS_PER_SIZE} fresh graphs of each size, colors as in the test set. Hollow: a "
        "size that occurs in training."
    )
    made.append(card(score_by_size(lines), f"{name}-ladder", "Accuracy on graphs of any size", told))
    words = (
        f"Two models fitted for this page, with one seed and {EPOCHS} epochs each, patterns of {K} vertices; their "
        "representations on the two principal axes of training and test graphs together. Where test graphs lie among "
        "training graphs of their class, a classifier can go on as before."
    )
    return paragraph(words) + cards(made)


def _fit(name: str, graphs: TaskGraphs, problem: LearningTask) -> Fitted:
    from anysize.methods.catalog import find_method
    from anysize.methods.method import Run

    method, family = find_method(name), graphs.task.family
    recipe = replace(method.recipe("robust", family), epochs=EPOCHS)
    (model,) = method.learner.fit(
        problem, [Run(method.default("robust", family, graphs.task.color_penalty), 0)], recipe
    )
    return model


def _accuracy(model: Fitted, examples: Examples) -> float:
    return float(np.mean(model.probabilities(examples)[0].argmax(axis=-1) == examples.labels()))


def _ladder(splits: Splits, source: Synthetic) -> dict[int, GraphSet]:
    """Fresh graphs of sizes from half of the smallest training size to twice the largest test size."""
    low, high = int(splits.train.sizes.min()), int(splits.test.sizes.max())
    sizes = sorted({max(low // 2, 2 * K), low, high, (3 * high) // 2, 2 * high})
    return {
        size: sample_graphs(
            source.classes, replace(source.test, sizes=(size,), weights=None), GRAPHS_PER_SIZE, [2021, size]
        )
        for size in sizes
    }
