"""From what a user passes to examples, from examples to several trained models, and from those to their mean."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anysize._errors import GraphWarning, warn_user
from anysize._progress import ProgressFunction
from anysize._typing import FloatArray, IntArray
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.estimators.configuration import ResolvedConfig
from anysize.estimators.novelty import NoveltyDetector
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.methods.method import Examples, Fitted, LearningTask, Method, Sizes

GraphsOrCounts = GraphSet | Counts

DIVERGED = 100.0  # cross entropy in nats: guessing among a thousand classes has 7
SETTLED = 10  # epochs after which the averages of batch norm say something about the weights


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trained models of one method, with what they know of patterns and colors.

    ``palette``: the colors that the training graphs could have, None for graphs without colors. ``known``: what
    new graphs are compared with; None in files of early versions.
    """

    method: Method
    k: Sizes
    palette: tuple[ColorName, ...] | None
    parts: tuple[Fitted, ...]
    known: NoveltyDetector | None = None

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the models, in ascending order."""
        return tuple(sorted(run.seed for part in self.parts for run in part.runs))

    def probabilities(self, examples: Examples) -> FloatArray:
        """(graphs, classes): the mean over the models."""
        return np.asarray(self._all(lambda part: part.probabilities(examples)).mean(axis=0))

    def represent(self, examples: Examples) -> FloatArray:
        """(graphs, models * width): the representations side by side, in the order of the seeds."""
        found = self._all(lambda part: part.represent(examples))
        models, graphs, width = found.shape
        return np.asarray(found.transpose(1, 0, 2).reshape(graphs, models * width))

    def _all(self, ask: Callable[[Fitted], FloatArray]) -> FloatArray:
        answers = np.concatenate([ask(part) for part in self.parts])
        return np.asarray(answers[np.argsort([run.seed for part in self.parts for run in part.runs], kind="stable")])

    def examples(self, source: GraphsOrCounts, cache: Any = None, report: ProgressFunction | None = None) -> Examples:
        """New graphs as these models look at them; an error where they were trained on another kind."""
        check_kind(source, self.method, self.k)
        if isinstance(source, GraphSet) and not len(source):  # without graphs there is nothing to have colors
            nobody = None if self.palette is None else np.zeros(0, np.uint16)
            source = replace(source, colors=nobody, palette=self.palette or ())
        ours, theirs = self.palette is not None, palette_of(source) is not None
        if self.method.colors and ours != theirs and len(source):
            had, have = ("with colors", "none") if ours else ("without colors", "some")
            advice = "color them as in training" if ours else "leave colors out, as without_colors() and --no-colors do"
            raise ValueError(f"this model was trained on graphs {had} and these have {have}; {advice}")
        return examples_of(source, self.method, self.k, cache, report)

    def warn(self, source: GraphsOrCounts, examples: Examples) -> None:
        """Warn of new graphs that these models have no reason to be right about, once for each kind of reason."""
        known = self.known or NoveltyDetector(self.palette if self.method.colors else None, None)
        least = self.k if isinstance(self.k, int) else min(self.k)
        for sentence in known.warnings(source, examples.table, least):
            warn_user(sentence, GraphWarning)


# ---- what a user passes ----------------------------------------------------------------------------


def as_graphs_or_counts(graphs: Any, color: str | None = None) -> GraphsOrCounts:
    """A table of counts as it is, anything else as a GraphSet; ``color`` as in `count`."""
    if isinstance(graphs, Counts):
        return graphs
    own = isinstance(graphs, (GraphSet, str, os.PathLike)) or (
        isinstance(graphs, (list, tuple)) and len(graphs) > 0 and isinstance(graphs[0], GraphSet)
    )
    return as_graphset(graphs, None if own else color)


def palette_of(source: GraphsOrCounts) -> tuple[ColorName, ...] | None:
    """The colors that graphs or patterns may have; None where there are none."""
    colored = (source.columns if isinstance(source, Counts) else source).colors is not None
    return source.palette if colored else None


def check_kind(source: GraphsOrCounts, method: Method, k: Sizes) -> None:
    """An error for a table where the method looks at graphs, or for a table of other sizes."""
    if not isinstance(source, Counts):
        return
    if not method.takes_tables:
        verb = "counts" if method.patterns else "looks at"
        given = "and got a table of counts; pass the graphs themselves"
        raise ValueError(f"{method.name} {verb} {method.looks_at} {given}")
    source.columns.check_sizes(k)


def examples_of(
    source: GraphsOrCounts, method: Method, k: Sizes, cache: Any = None, report: ProgressFunction | None = None
) -> Examples:
    """The graphs, or their counts where the method looks at nothing else."""
    if isinstance(source, Counts):
        return Examples(table=source)
    if not method.takes_tables:
        return Examples(graphs=source)
    tell = None if report is None else lambda done: report("counting", done)
    return Examples(table=count(source, k, cache=cache, progress=tell))


def check_patterns(examples: Examples, k: Sizes) -> None:
    """An error where no training graph has any pattern: there would be nothing to learn from."""
    table = examples.table
    if table is not None and not table.matrix.nnz:
        least = k if isinstance(k, int) else min(k)
        raise ValueError(
            f"no training graph has a connected subgraph on {least} vertices (the largest graph has "
            f"{int(table.sizes.max(initial=0))}); take a smaller k"
        )


def some(examples: Examples, rows: IntArray, y: IntArray, environments: IntArray | None = None) -> Examples:
    """These rows of the examples, with their classes."""
    own = None if environments is None else environments[rows]
    if examples.table is not None:
        return Examples(table=examples.table[rows], y=y[rows], environments=own)
    assert examples.graphs is not None
    return Examples(graphs=examples.graphs[rows], y=y[rows], environments=own)


def hold_out(y: IntArray, share: float, seed: int) -> IntArray:
    """The graphs to validate on: a share of every class, at least one of two, drawn with the seed.

    >>> hold_out(np.array([0] * 10 + [1] * 20 + [2]), 0.1, seed=0).tolist()
    [4, 14, 28]
    """
    rng = np.random.default_rng(seed)
    chosen = [np.zeros(0, np.int64)]
    for label in np.unique(y):
        own = rng.permutation(np.flatnonzero(y == label))
        amount = min(max(round(share * len(own)), 1), len(own) - 1)
        chosen.append(own[:amount] if share > 0 else own[:0])
    return np.sort(np.concatenate(chosen))


def environments_of(source: GraphsOrCounts, wanted: Any, given: Any) -> IntArray:
    """The environment of every training graph as a number: as given, or by a rule.

    ``wanted``: "median" (graphs up to and above the median size), "size" (every size is one), or a function of
    the graphs.
    """
    if given is None:
        if callable(wanted):
            given = wanted(source)
        elif isinstance(wanted, str) and wanted in ("median", "size"):
            sizes = source.sizes
            middle = np.median(sizes)
            # where most graphs have the largest size, none is above: the others are the other environment then
            halves = sizes > middle if len(sizes) and sizes.max() > middle else sizes >= middle
            given = halves if wanted == "median" else sizes
        else:
            raise ValueError(f"environments must be 'median', 'size' or a function of the graphs; got {wanted!r}")
    found = np.asarray(given)
    if found.shape != (len(source),):
        raise ValueError(f"expected one environment for each of the {len(source)} graphs; got shape {found.shape}")
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


# ---- training --------------------------------------------------------------------------------------


def train(
    choice: ResolvedConfig, problem: LearningTask, report: ProgressFunction
) -> tuple[tuple[Fitted, ...], FloatArray]:
    """All models of the choice, and their mean probabilities for the training graphs (graphs, classes); an error
    where a model is none: it is judged by what it says of its own training graphs."""
    parts = tuple(choice.method.learner.fit(problem, choice.runs, choice.recipe, lambda done: report("training", done)))
    chances = [part.probabilities(problem.train) for part in parts]
    labels = problem.train.labels()
    judged = [_broken(part, found, labels) for part, found in zip(parts, chances, strict=True)]
    seeds = [
        str(run.seed)
        for part, bad in zip(parts, judged, strict=True)
        for run, broken in zip(part.runs, bad, strict=True)
        if broken
    ]
    if seeds:
        told = f"model {seeds[0]}" if len(choice.runs) == 1 else f"{len(seeds)} of {len(choice.runs)} models"
        lr = choice.runs[0].configuration.get("lr")
        raise ValueError(
            f"training failed: the loss of {told} (seed {', '.join(seeds[:5])}) is no number any more or far above "
            f"that of guessing; take a smaller lr{'' if lr is None else f' than {lr:g}'}"
        )
    return parts, np.asarray(np.concatenate(chances).mean(axis=0))


def _broken(part: Fitted, chances: FloatArray, y: IntArray) -> list[bool]:
    """Of every model, whether it ended in weights that are no numbers, or in a loss that training should forbid.

    The loss is that of the model as it will be used. The one that training saw may be 0 all the same: batch norm then
    took the mean and the variance of the training graphs, and later takes averages over epochs. After very few epochs
    these are far off whatever the learning rate, and the loss that training saw decides.
    """
    if part.trained is None:
        return [False] * len(part.runs)
    models = len(part.runs)
    with np.errstate(divide="ignore"):
        own = -np.log(chances[:, np.arange(len(y)), y]).mean(axis=1)
    epoch, seen = part.trained.epoch.numpy(), part.trained.curves["loss"].numpy()
    loss = own if len(seen) >= SETTLED else seen[np.maximum(epoch, 0), np.arange(models)]
    bad = (epoch < 0) | np.isnan(own) | ~(loss < DIVERGED)
    for array in part.state()[1].values():
        if array.dtype.kind == "f" and array.ndim > 1 and len(array) == models:
            bad |= ~np.isfinite(array.reshape(models, -1)).all(axis=1)
    return [bool(one) for one in bad]


def curves_of(ensemble: Ensemble) -> tuple[dict[str, FloatArray], IntArray]:
    """Curves, name -> (epochs, models), and the epoch kept for every model, models in the order of their seeds.

    A shorter run has nan behind its last epoch. Both are empty for methods without epochs.
    """
    found = [part.trained for part in ensemble.parts if part.trained is not None]
    if not found:
        return {}, np.zeros(0, np.int64)
    order = np.argsort([run.seed for part in ensemble.parts for run in part.runs], kind="stable")
    longest = max(len(one.curves["loss"]) for one in found)

    def padded(curve: Any) -> FloatArray:
        return np.pad(np.asarray(curve, np.float64), ((0, longest - len(curve)), (0, 0)), constant_values=np.nan)

    names = found[0].curves
    curves = {name: np.concatenate([padded(one.curves[name]) for one in found], axis=1)[:, order] for name in names}
    return curves, np.concatenate([one.epoch.numpy() for one in found])[order]
