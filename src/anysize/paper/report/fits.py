"""The part of the report that shows representations: two small models, fitted while the page is made."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from anysize._html import card, cards, missing, paragraph
from anysize.causal.environments import sample_graphs
from anysize.evaluation.tasks import Splits
from anysize.graphs.graphset import GraphSet
from anysize.metrics import score
from anysize.paper.report.task_graphs import PATTERN_SIZE, TaskGraphs
from anysize.paper.synthetic import Synthetic
from anysize.plots.graph_sets import embedding
from anysize.plots.scores import SizePoint, score_by_size
from anysize.plots.theme import to_svg

if TYPE_CHECKING:
    from anysize.methods.method import Examples, Fitted, TrainingData

EPOCHS = 100
GRAPHS_PER_SIZE = 30
FITTED_METHODS = {"gamma-gin": "Γ GIN", "gin-sum": "GIN"}


def representations(graphs: TaskGraphs | str, name: str) -> str:
    """Representations of both models in the plane, and their accuracy on graphs of many sizes.

    ``graphs`` may be the reason why they are not available.
    """
    if isinstance(graphs, str):
        return missing(f"Representations are not shown. {graphs}")
    if not isinstance(graphs.task.source, Synthetic):
        return missing("Representations are not shown: models are fitted for synthetic tasks only, to save time.")
    if find_spec("torch") is None:
        return missing("Representations are not shown: fitting models needs torch, pip install 'anysize[learn]'.")
    return _figures(graphs, graphs.task.source, name)


def _figures(graphs: TaskGraphs, source: Synthetic, name: str) -> str:
    from anysize.methods.method import Examples, TrainingData

    splits = graphs.splits
    sets = splits.examples
    train, test = sets["train"], sets["test"]
    fresh = {size: Examples(drawn, drawn.y) for size, drawn in _graphs_of_many_sizes(splits, source).items()}
    data = TrainingData(train, sets.get("validation"), len(splits.classes), PATTERN_SIZE)
    trained_sizes = set(splits.train.sizes.tolist())
    figures, lines = [], {}
    for method, label in FITTED_METHODS.items():
        model = _fit(method, graphs, data)
        figure = embedding(
            model.represent(train)[0], model.represent(test)[0], train.labels(), test.labels(), splits.classes
        )
        title = f"Representations of {label}"
        caption = (
            f"Accuracy {_accuracy(model, train):.2f} on training graphs, {_accuracy(model, test):.2f} on test graphs."
        )
        figures.append(card(to_svg(figure, f"{name}-{method}", title), title, caption))
        lines[label] = [
            SizePoint(size, _accuracy(model, examples), train=size in trained_sizes) for size, examples in fresh.items()
        ]
    title = "Accuracy on graphs of many sizes"
    caption = (
        f"The same two models on {GRAPHS_PER_SIZE} fresh graphs of each size, colors as in the test set. Hollow: a "
        "size that occurs in training."
    )
    figures.append(card(to_svg(score_by_size(lines), f"{name}-ladder", title), title, caption))
    lead = (
        f"Two models fitted for this page, with one seed and {EPOCHS} epochs each, patterns of {PATTERN_SIZE} "
        "vertices; their representations on the two principal axes of training and test graphs together. Where test "
        "graphs lie among the training graphs of their class, the classifier carries over."
    )
    return paragraph(lead) + cards(figures)


def _fit(name: str, graphs: TaskGraphs, data: TrainingData) -> Fitted:
    from anysize.methods.catalog import find_method
    from anysize.methods.method import Run

    method, family = find_method(name), graphs.task.family
    colored, vanishing = graphs.splits.color_penalty, graphs.splits.vanishing
    recipe = replace(method.recipe("robust", family, vanishing), epochs=EPOCHS)
    configuration = method.default("robust", family, colored, vanishing)
    (model,) = method.learner.fit(data, [Run(configuration, 0)], recipe)
    return model


def _accuracy(model: Fitted, examples: Examples) -> float:
    return score("accuracy", examples.labels(), model.outputs(examples)[0].argmax(axis=-1))


def _graphs_of_many_sizes(splits: Splits, source: Synthetic) -> dict[int, GraphSet]:
    """Fresh graphs of sizes from half of the smallest training size to twice the largest test size."""
    low, high = int(splits.train.sizes.min()), int(splits.test.sizes.max())
    sizes = sorted({max(low // 2, 2 * PATTERN_SIZE), low, high, (3 * high) // 2, 2 * high})
    return {
        size: sample_graphs(
            source.classes, replace(source.test, sizes=(size,), weights=None), GRAPHS_PER_SIZE, [2021, size]
        )
        for size in sizes
    }
