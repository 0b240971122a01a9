"""Ensemble: the trained models of one method, averaged; how they are trained and what they take as input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anysize._errors import GraphWarning, Notices, warn_user
from anysize._progress import ProgressFunction
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.counting.counts import Counts
from anysize.estimators.novelty import GraphsOrCounts, NoveltyDetector, palette_of
from anysize.graphs.attributes import DIRECTIONS, EDGE_COLORS, EdgeType, attributes_of, edge_types, with_attributes_of
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.io.read import has_named_colors
from anysize.methods.method import Examples, Fitted, Method, Run, Sizes, TrainingData, checked_outputs
from anysize.splits import bootstrap_by_class
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.kernels.vertex_bins import VertexBins

MAX_LOSS = 100.0  # above which training has diverged; in nats, where guessing among 1000 classes has 7, or variances
BATCH_NORM_EPOCHS = 10  # after fewer epochs the running averages of batch norm are far from the training statistics


@dataclass(frozen=True, eq=False)
class ModelInput:
    """What models take: graphs, or their counts, that are like the training graphs.

    Attributes:
        method: the method.
        k: the pattern sizes.
        palette: the colors of the training set; None for graphs without colors.
        edge_types: of the training graphs; None where there are none, and for a method that does not use them.
        bins: of vertex features, which take their place as colors, for methods that use bins.
    """

    method: Method
    k: Sizes
    palette: tuple[ColorName, ...] | None
    edge_types: tuple[EdgeType, ...] | None
    bins: VertexBins | None

    def examples(
        self, source: GraphsOrCounts, cache: PathLike | None = None, progress: ProgressFunction | None = None
    ) -> Examples:
        """Graphs as input of the method, counted if that is patterns; attributes of edges that are new are left out.

        An error if the graphs have colors and the training graphs had none, or the reverse, and for a table of other
        pattern sizes or for a method that needs the graphs. Tables must have the same attributes of edges.
        """
        method, palette, known_types = self.method, self.palette, self.edge_types
        if isinstance(source, Counts) and not method.takes_tables:
            raise ValueError(f"{method.name} uses {method.input} and got a table of counts; pass the graphs instead")
        if isinstance(source, Counts):
            source.columns.check_sizes(self.k)
            types = edge_types_of(source, method)
            if source.columns.edge_types is not None and not method.edges:
                raise ValueError(
                    f"{method.name} takes counts of patterns without types of edges; count with edges=False, or use a "
                    "method that tells edges apart, such as gamma-gin"
                )
            if (types is None, attributes_of(types)[0]) != (known_types is None, attributes_of(known_types)[0]):
                raise ValueError(
                    f"this model was trained on patterns {_attributes(known_types)} and got patterns "
                    f"{_attributes(types)}; count graphs that have the same attributes with "
                    f"edges={known_types is not None}"
                )
        elif method.edges and (known_types is not None or source.has_edge_types):
            source = with_attributes_of(source, known_types)
        if isinstance(source, GraphSet) and not len(source):  # an empty set has no colors; give it those of training
            source = replace(source, colors=None if palette is None else np.zeros(0, np.uint16), palette=palette or ())
        if method.colors and (palette_of(source) is None) != (palette is None) and len(source):
            if palette is None:
                raise ValueError(
                    "this model was trained on graphs without colors and these have some; drop them with "
                    "without_colors() or --no-colors"
                )
            raise ValueError(
                "this model was trained on graphs with colors and these have none; pass color=... (in commands "
                "--color) or color them"
            )
        if isinstance(source, Counts):
            return Examples(table=source)
        examples = Examples(graphs=source if self.bins is None else self.bins.transform(source))
        if method.takes_tables:
            method.counts(examples, self.k, cache, None if progress is None else partial(progress, "counting"))
        return examples


@dataclass(frozen=True, eq=False)
class Ensemble(ModelInput):
    """Trained models of one method.

    Attributes:
        parts: the models, in stacks that were trained together.
        novelty: what new graphs are compared with.
        features: names of the vertex features of the training set, "" for one without a name.
        notices: the warnings about new graphs so far; each is given once.
    """

    parts: tuple[Fitted, ...]
    novelty: NoveltyDetector
    features: tuple[str, ...] = ()
    notices: Notices = field(default_factory=Notices, repr=False)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the models in ascending order."""
        return tuple(sorted(run.seed for part in self.parts for run in part.runs))

    @cached_property
    def order(self) -> IntArray:
        """Positions of the models in ascending order of their seeds."""
        return np.argsort([run.seed for part in self.parts for run in part.runs], kind="stable")

    def curves(self) -> tuple[dict[str, FloatArray], IntArray]:
        """Curves, name -> (epochs, models), and the epoch kept by every model, models in the order of their seeds.

        Shorter runs are padded with NaN. Both are empty for methods without epochs.
        """
        trained = [part.trained for part in self.parts if part.trained is not None]
        if not trained:
            return {}, np.zeros(0, np.int64)
        epochs = max(len(stack.curves["loss"]) for stack in trained)

        def padded(curve: Any) -> FloatArray:
            return np.pad(np.asarray(curve, np.float64), ((0, epochs - len(curve)), (0, 0)), constant_values=np.nan)

        curves = {
            name: np.concatenate([padded(stack.curves[name]) for stack in trained], axis=1)[:, self.order]
            for name in trained[0].curves
        }
        return curves, np.concatenate([stack.epoch.numpy() for stack in trained])[self.order]

    def outputs(self, examples: Examples) -> FloatArray:
        """(models, graphs, classes or 1), in the order of the seeds; an error if they are not finite."""
        by_model = np.concatenate([part.outputs(examples) for part in self.parts])[self.order]
        if not np.isfinite(by_model).all():
            graphs = int((~np.isfinite(by_model)).any(axis=(0, 2)).sum())
            raise ValueError(
                f"the model overflows on {graphs} of {len(examples)} graphs: they are far too large for it, or its "
                "training failed"
            )
        return np.asarray(by_model)

    def represent(self, examples: Examples) -> FloatArray:
        """(graphs, models * width): the representations of all models, in the order of the seeds."""
        by_model = [table for part in self.parts for table in part.represent(examples)]  # their widths may differ
        return np.hstack([by_model[number] for number in self.order])

    def warn(self, examples: Examples) -> None:
        """Issue a `GraphWarning` for each reason not to trust predictions for these graphs."""
        smallest_k = self.k if isinstance(self.k, int) else min(self.k)
        counted = self.method.takes_tables or self.novelty.shares is not None
        table = self.method.counts(examples, self.k) if counted else None
        for sentence in self.novelty.warnings(examples.source, table, smallest_k):
            self.notices.warn(sentence, GraphWarning)


# ---- input -----------------------------------------------------------------------------------------


def as_graphs_or_counts(graphs: Any, color: str | None = None) -> GraphsOrCounts:
    """A table of counts unchanged, anything else as a GraphSet; ``color`` is for graphs whose colors have a name."""
    if isinstance(graphs, Counts):
        return graphs
    if isinstance(graphs, (str, os.PathLike)):
        return as_graphset(graphs, color if has_named_colors(graphs) else None)
    is_set = isinstance(graphs, GraphSet) or (
        isinstance(graphs, (list, tuple)) and len(graphs) > 0 and isinstance(graphs[0], GraphSet)
    )
    return as_graphset(graphs, None if is_set else color)


def edge_types_of(source: GraphsOrCounts, method: Method) -> tuple[EdgeType, ...] | None:
    """The types of edges of graphs or patterns; None where there are none, and for a method that does not use them."""
    if not method.edges:
        return None
    if isinstance(source, Counts):
        return None if source.columns.edge_types is None else source.columns.edge_palette
    types = edge_types(source)
    return None if types is None else tuple(types[1])


def features_of(source: GraphsOrCounts) -> tuple[str, ...]:
    """Names of the vertex features of graphs, "" for one without a name."""
    if not isinstance(source, GraphSet) or source.features is None:
        return ()
    return source.feature_names or ("",) * source.features.shape[1]


def _attributes(types: tuple[EdgeType, ...] | None) -> str:
    """What patterns with these types of edges tell edges apart by."""
    colored, directed = attributes_of(types)
    names = [name for name, has in ((EDGE_COLORS, colored), (DIRECTIONS, directed)) if has]
    if types is None:
        return "without types of edges"
    return f"with {' and '.join(names) or 'edges that all point both ways'}"


def warn_of_identifiers(source: GraphsOrCounts) -> None:
    """Warn if most colors of the training graphs occur once, as numbers or names of vertices do."""
    if not isinstance(source, GraphSet) or source.colors is None:
        return
    vertices, colors = len(source.colors), len(np.unique(source.colors))
    if 2 * colors > vertices:
        warn_user(
            f"The {vertices} vertices of the training graphs have {colors} colors. A color that occurs once tells "
            "nothing about other graphs: if it is a number or name of the vertex, train without it (color=None, in "
            "commands --no-colors).",
            GraphWarning,
        )


# ---- training --------------------------------------------------------------------------------------


def train(
    method: Method, recipe: Recipe, runs: Sequence[Run], data: TrainingData, progress: ProgressFunction
) -> list[tuple[tuple[Fitted, ...], FloatArray]]:
    """Train one model per run; return for each target the models and their mean outputs on the training graphs.

    Several models of a method whose models differ little by seed, or not at all, are fitted to bootstrap samples of the
    training graphs. An error if a model diverged.
    """
    if len(runs) > 1 and (method.bootstrap or not method.seeded):
        parts = tuple(_bootstrapped(method, recipe, runs, data, progress))
    else:
        parts = tuple(method.fit(data, runs, recipe, partial(progress, "training")))
    return [
        (parts[number :: len(data.by_target)], _mean_outputs(parts[number :: len(data.by_target)], runs, of_target))
        for number, of_target in enumerate(data.by_target)
    ]


def _mean_outputs(parts: Sequence[Fitted], runs: Sequence[Run], data: TrainingData) -> FloatArray:
    """On the training graphs; an error if a model diverged."""
    outputs = [checked_outputs(part, data.train) for part in parts]
    seeds: list[str] = []
    for part, tables in zip(parts, outputs, strict=True):
        if part.trained is not None:
            diverged = _diverged(part, tables, data)
            seeds += [str(run.seed) for run, bad in zip(part.runs, diverged, strict=True) if bad]
    if seeds:
        which = f"model {seeds[0]}" if len(runs) == 1 else f"{len(seeds)} of {len(runs)} models"
        lr = runs[0].configuration.get("lr")
        last = max(float(part.trained.curves["loss"][-1].max()) for part in parts if part.trained is not None)
        where, remedy = "", "" if lr is None else f" than {lr:g}"
        if last < MAX_LOSS:
            where = ", though not with the batch norm of training"
            remedy += ", or another method if the vertices of these graphs are alike"
        raise ValueError(
            f"training failed: the loss of {which} (seed {', '.join(seeds[:5])}) is NaN or above {MAX_LOSS:g}{where}; "
            f"use a smaller lr{remedy}"
        )
    return np.asarray(np.concatenate(outputs).mean(axis=0))


def _bootstrapped(
    method: Method, recipe: Recipe, runs: Sequence[Run], data: TrainingData, progress: ProgressFunction
) -> Iterator[Fitted]:
    """Every run fitted to its own sample of the training graphs, drawn with its seed."""
    for number, run in enumerate(runs):
        progress("training", number / len(runs))
        sample = data.train.rows(bootstrap_by_class(data.train.strata(), run.seed))
        yield from method.fit(replace(data, train=sample), [run], recipe)


def _diverged(part: Fitted, outputs: FloatArray, data: TrainingData) -> list[bool]:
    """For every model, whether its weights or its loss are NaN, or its loss is above `MAX_LOSS`.

    The loss is that of the model in evaluation mode. In training mode it may be small nevertheless, because batch norm
    then uses the statistics of the training graphs instead of running averages. After very few epochs these averages
    are far off for any learning rate, and the loss in training mode decides.
    """
    assert part.trained is not None
    models = np.arange(len(part.runs))
    if data.classes:
        with np.errstate(divide="ignore"):
            predicted = -np.log(outputs[:, np.arange(len(data.train)), data.train.labels()]).mean(axis=1)
    else:
        y = data.train.numbers()
        predicted = ((outputs[:, :, 0] - y) ** 2).mean(axis=1) / (float(y.var()) or 1.0)
    epoch, curve = part.trained.epoch.numpy(), part.trained.curves["loss"].numpy()
    loss = predicted if len(curve) >= BATCH_NORM_EPOCHS else curve[np.maximum(epoch, 0), models]
    bad = (epoch < 0) | np.isnan(predicted) | ~(loss < MAX_LOSS)
    for array in part.state()[1].values():
        if array.dtype.kind == "f" and array.ndim > 1 and len(array) == len(models):
            bad |= ~np.isfinite(array.reshape(len(models), -1)).all(axis=1)
    verdicts: list[bool] = bad.tolist()
    return verdicts
