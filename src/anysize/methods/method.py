"""`Method`: one row of the tables, and the objects that its learner takes and returns.

Nothing here imports torch or scikit-learn: tables and `anysize methods` read capabilities on a bare install.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from anysize._errors import naming_extra
from anysize._progress import Progress
from anysize._typing import BoolArray, FloatArray, IntArray, PathLike, TargetKind
from anysize.counting.counts import Counts
from anysize.graphs.attributes import DIRECTIONS, EDGE_COLORS, FEATURES, VERTEX_COLORS
from anysize.graphs.graphset import GraphSet
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from anysize.graphs.colors import ColorName
    from anysize.kernels.vertex_bins import VertexBins
    from anysize.kernels.wl import RefinedGraphs, WLKernel
    from anysize.training.epoch_selection import KeptEpochs
    from anysize.training.loop import Trained

Sizes = int | tuple[int, ...]  # of patterns
Arrays = dict[str, NDArray[Any]]
Configuration = dict[str, Any]
Grid = Mapping[str, Sequence[Any]]
Validator = Callable[[str, Any], Any]  # (name, value) -> the value as it is used, or a ValueError that names it
RecipeName = Literal["robust", "paper"]
RECIPES: tuple[RecipeName, ...] = get_args(RecipeName)
EDGE_TYPES = frozenset({EDGE_COLORS, DIRECTIONS})  # of methods that tell edges apart
NO_TRAINING = Recipe(epochs=1)  # for kernels and baselines, which have no epochs

# ---- what a learner takes and returns --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Examples:
    """Graphs, or their counts alone, with targets, environments and weights where they are known.

    ``y``: the class number of every graph, or the number to predict, as floats; of several targets (graphs, targets),
    with -1 or NaN where one is not known. ``weights``: how often each graph counts, for example 2 as if it were there
    twice; None if each counts once.

    Graphs are counted when a method asks for counts, once per pattern size, and refined once for all runs that share a
    WL kernel. What is asked of a part (`rows`) is made for the whole: once for all parts.
    """

    graphs: GraphSet | None = None
    y: IntArray | FloatArray | None = None
    environments: IntArray | None = None
    table: Counts | None = None
    weights: FloatArray | None = None
    part_of: tuple[Examples, IntArray] | None = field(default=None, repr=False)  # the whole, and positions in it
    _tables: dict[tuple[tuple[int, ...], bool, bool], Counts] = field(default_factory=dict, repr=False)
    _kernels: dict[tuple[int, ColorName | None], WLKernel] = field(default_factory=dict, repr=False)
    _refined: list[RefinedGraphs] = field(default_factory=list, repr=False)  # under one kernel, the last one
    _binned: dict[VertexBins, Examples] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if (self.graphs is None) == (self.table is None):
            raise ValueError("Examples takes either graphs or a table of counts; pass exactly one of them")

    def __len__(self) -> int:
        return len(self.graphs if self.graphs is not None else self.table or ())

    @property
    def source(self) -> GraphSet | Counts:
        """The graphs, or the table where there is one instead."""
        source = self.table if self.graphs is None else self.graphs
        assert source is not None
        return source

    @property
    def sizes(self) -> IntArray:
        """(graphs,): numbers of vertices."""
        return self.source.sizes

    def counts(
        self, k: Sizes, cache: PathLike | None = None, colors: bool = True, edges: bool = False,
        progress: Progress | None = None,
    ) -> Counts:  # fmt: skip
        """Counts of the patterns of these sizes.

        Vertices are told apart by color and edges by color and direction, where the graphs have them and ``colors`` and
        ``edges`` are true.
        """
        if self.graphs is None:
            assert self.table is not None
            return self.table
        graphs = self.graphs if self.part_of is None else self.part_of[0].graphs  # a part may have no directions
        assert graphs is not None
        typed = edges and graphs.has_edge_types
        sizes, colored = (k,) if isinstance(k, int) else tuple(k), colors and graphs.colors is not None
        key = sizes, colored, typed
        if key not in self._tables:
            from anysize.counting.api import count  # imports numba

            if self.part_of is not None:
                whole, rows = self.part_of
                self._tables[key] = whole.counts(k, cache, colors, edges, progress)[rows]
                return self._tables[key]
            table = None if typed else self._coarsened(sizes, colored)
            if table is None:
                table = count(self.graphs, sizes, colors, cache=cache, progress=progress, edges=typed)
            self._tables[key] = table
        return self._tables[key]

    def _coarsened(self, sizes: tuple[int, ...], colored: bool) -> Counts | None:
        """Counts without types of edges, as sums of counts made before; None where there are none."""
        for (known_sizes, known_colored, _), table in self._tables.items():
            complete = set(table.columns.size.tolist()) == set(sizes)  # a size that no graph reaches has no columns
            if known_sizes == sizes and known_colored >= colored and complete:
                return table.without_edge_types() if colored else table.without_colors()
        return None

    def forget_counts(self) -> None:
        """Drop the counts made so far: they are made again, or read from a cache, when they are asked for."""
        self._tables.clear()
        if self.part_of is not None:
            self.part_of[0].forget_counts()

    def wl_kernel(self, iterations: int, padding_color: ColorName | None = None) -> WLKernel:
        """A WL kernel fitted to these graphs; for a part, to the whole: other types are none of a part's features."""
        everything, key = self if self.part_of is None else self.part_of[0], (iterations, padding_color)
        if key not in everything._kernels:
            from anysize.kernels.wl import WLKernel

            kernel = WLKernel(iterations, padding_color=padding_color)
            kernel.fit_transform(everything.whole("the WL kernel"))
            everything._kernels[key] = kernel
        return everything._kernels[key]

    def refined(self, kernel: WLKernel) -> RefinedGraphs:
        """The graphs with the types of their vertices under a fitted WL kernel; those of the last one are kept."""
        if not self._refined or not kernel.refines_like(self._refined[0].kernel):
            if self.part_of is not None and kernel in self.part_of[0]._kernels.values():
                whole, rows = self.part_of
                refined = whole.refined(kernel).rows(rows)
            else:
                refined = kernel.refine(self.whole("the WL kernel"))
            self._refined[:] = [refined]
        return self._refined[0]

    def binned(self, bins: VertexBins | None) -> Examples:
        """The graphs with their vertex features as colors, or as they are without bins; those by the last bins stay."""
        if bins is None:
            return self
        if bins not in self._binned:
            self._binned.clear()
            graphs = bins.transform(self.whole("a method on bins of vertex features"))
            self._binned[bins] = Examples(graphs, self.y, self.environments, weights=self.weights)
        return self._binned[bins]

    def vertex_types(self, iterations: int) -> tuple[WLKernel, csr_array[np.float64]]:
        """The WL kernel of these graphs (`wl_kernel`), and (graphs, types): how many vertices have each type."""
        kernel = self.wl_kernel(iterations)
        return kernel, kernel.features_ if self.part_of is None else kernel.features_[self.part_of[1]]

    def rows(self, chosen: NDArray[Any]) -> Examples:
        """A part of the examples, by positions or as a boolean mask."""
        positions = np.arange(len(self))[chosen]
        whole, places = (self, positions) if self.part_of is None else (self.part_of[0], self.part_of[1][positions])
        return Examples(
            None if self.graphs is None else self.graphs[positions],
            None if self.y is None else self.y[positions],
            None if self.environments is None else self.environments[positions],
            None if self.table is None else self.table[positions],
            None if self.weights is None else self.weights[positions],
            (whole, places),
        )

    def of_target(self, number: int) -> Examples:
        """The graphs that have this one of several targets, with it alone; all where there is one target."""
        if self.y is None or self.y.ndim == 1:
            return self
        part = self.rows(self.known[:, number])
        assert part.y is not None
        return replace(part, y=part.y[:, number])

    @property
    def known(self) -> BoolArray:
        """Where ``y`` has no gap."""
        assert self.y is not None
        return np.isfinite(self.y) if self.y.dtype.kind == "f" else self.y >= 0

    def whole(self, method: str) -> GraphSet:
        """The graphs themselves; an error where there are only counts."""
        if self.graphs is None:
            raise ValueError(f"{method} needs whole graphs and got a table of counts; pass the graphs themselves")
        return self.graphs

    def labels(self) -> IntArray:
        """The class numbers; an error where there are none."""
        if self.y is None:
            raise ValueError("these examples have no classes; pass y")
        return np.asarray(self.y, np.int64)

    def numbers(self) -> FloatArray:
        """The numbers to predict; an error where there are none."""
        if self.y is None:
            raise ValueError("these examples have no numbers to predict; pass y")
        return np.asarray(self.y, np.float64)

    def strata(self) -> IntArray:
        """Groups of which random parts have their share: the classes; numbers and several targets are one group."""
        assert self.y is not None
        return np.zeros(len(self), np.int64) if self.y.dtype.kind == "f" or self.y.ndim > 1 else self.labels()

    def graph_weights(self) -> FloatArray:
        """(graphs,): how often each graph counts, 1 where no weights are given."""
        return np.ones(len(self)) if self.weights is None else self.weights


def learn_bins(graphs: GraphSet, method: Method | None = None) -> VertexBins | None:
    """Bins of the vertex features of training graphs; None without features, or if ``method`` does not use bins."""
    if method is not None and method.features != "bins":
        return None
    if graphs.features is None or not graphs.features.size:
        return None
    from anysize._log import log
    from anysize.kernels.vertex_bins import VertexBins

    bins = VertexBins().fit(graphs)
    log.info(bins.sentence)
    return bins


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training and validation examples, and what to optimize.

    Attributes:
        train, validation: examples; validation is None where no graphs are held out.
        classes: the number of classes, of several targets their sum; 0 if numbers are predicted.
        k: pattern sizes, unless a configuration has its own.
        metric: of the task, for classes.
        top: keep this many patterns, the most common ones of training and validation graphs; None keeps all.
        class_weights: weight of each class in the loss, of several targets one after the other; None for equal weights.
        device: a torch device.
        cache: cache folder for counts.
        blocks: how many outputs each of several targets has, its classes or 1 for a number; empty for one target.
    """

    train: Examples
    validation: Examples | None
    classes: int
    k: Sizes = 5
    metric: Literal["accuracy", "mcc", "rmse"] = "accuracy"
    top: int | None = None
    class_weights: FloatArray | None = None
    device: str = "cpu"
    cache: PathLike | None = None
    blocks: tuple[int, ...] = ()

    @property
    def outputs(self) -> int:
        """How many outputs a network has."""
        return sum(self.blocks) or self.classes or 1

    @property
    def by_target(self) -> tuple[TrainingData, ...]:
        """The data of each of several targets, on the graphs that have it; of one target all."""
        return self._parts or (self,)

    @cached_property
    def _parts(self) -> tuple[TrainingData, ...]:
        return tuple([self._of_target(number) for number in range(len(self.blocks))])

    def _of_target(self, number: int) -> TrainingData:
        columns = slice(sum(self.blocks[:number]), sum(self.blocks[: number + 1]))
        validation = None if self.validation is None else self.validation.of_target(number)
        return replace(
            self, train=self.train.of_target(number),
            validation=validation if validation is not None and len(validation) else None,
            classes=self.blocks[number] if self.classes else 0, blocks=(),
            class_weights=None if self.class_weights is None else self.class_weights[columns],
        )  # fmt: skip

    def loss_weights(self) -> FloatArray | None:
        """(training graphs,): the weight of each graph in a loss, times that of its class; None: all are equal.

        Of several targets (training graphs, targets), 0 in gaps.
        """
        if self.blocks:
            weights = _weights_of_targets(self.train)
            if self.class_weights is not None:
                first = np.cumsum((0, *self.blocks[:-1]))
                weights *= self.class_weights[first + np.maximum(self.train.labels(), 0)]
            return weights
        if self.class_weights is None:
            return self.train.weights
        return np.asarray(self.train.graph_weights() * self.class_weights[self.train.labels()])

    @property
    def predicts(self) -> TargetKind:
        """What the targets are."""
        return "classes" if self.classes else "numbers"

    @property
    def validation_weights(self) -> FloatArray | None:
        """(validation graphs,): how often each counts; None if each counts once, or there are none.

        Of several targets (validation graphs, targets), 0 in gaps.
        """
        if self.validation is None:
            return None
        return _weights_of_targets(self.validation) if self.blocks else self.validation.weights

    @property
    def epoch_metric(self) -> Literal["accuracy", "balanced_accuracy", "mcc", "rmse"]:
        """By which epochs are compared: with class weights, accuracy is the mean accuracy of the classes."""
        weighted = self.class_weights is not None and self.metric == "accuracy"
        return "balanced_accuracy" if weighted else self.metric


def _weights_of_targets(examples: Examples) -> FloatArray:
    """(graphs, targets): how often each graph counts, 0 in gaps."""
    return np.asarray(examples.graph_weights()[:, None] * examples.known)


@dataclass(frozen=True)
class Run:
    """One model to train: a configuration and a seed."""

    configuration: Configuration
    seed: int


class Fitted(Protocol):
    """M trained models of one method."""

    @property
    def runs(self) -> tuple[Run, ...]: ...

    @property
    def trained(self) -> Trained | None:
        """Training curves and selected epochs; None for methods without epochs."""
        ...

    def outputs(self, examples: Examples) -> FloatArray:
        """Probabilities (models, graphs, classes), or predicted numbers (models, graphs, 1)."""
        ...

    def represent(self, examples: Examples) -> FloatArray:
        """(models, graphs, width): the input of the final classifier."""
        ...

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Everything that predicting needs: a JSON-compatible dictionary, and arrays."""
        ...


class Learner(Protocol):
    """Trains the models of a method, and restores them from a file."""

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[Fitted]:  # fmt: skip
        """Train the runs, and yield fitted models stack by stack; ``max_stack``: the most models in a stack."""
        ...

    def restore(self, about: dict[str, Any], arrays: Arrays) -> Fitted:
        """Fitted models from what `Fitted.state` returned."""
        ...


def checked_outputs(fitted: Fitted, examples: Examples, kept: KeptEpochs | None = None) -> FloatArray:
    """The outputs of a fitted method; an error if they do not have the shape (models, graphs, classes or 1).

    With ``kept`` they are followed, along the first axis, by those of the states of a stack that it holds.
    """
    outputs = fitted.outputs(examples) if kept is None else fitted.outputs(examples, kept)  # type: ignore[call-arg]
    expected = len(fitted.runs) * (1 + len(kept or ())), len(examples)
    if outputs.ndim != 3 or outputs.shape[:2] != expected:
        raise ValueError(
            f"outputs must return an array of {expected[0]} models x {expected[1]} graphs x classes (1 for numbers); "
            f"got one of shape {outputs.shape}"
        )
    return outputs


def class_weights(
    y: IntArray, classes: int, rule: Literal["balanced", "inverse"] = "balanced", weights: FloatArray | None = None
) -> FloatArray:
    """The weight of each class, which is large where the class is rare; 0 for a class that does not occur.

    ``balanced`` is n / (classes * n_c), as in scikit-learn: the weights of all graphs have the mean 1. ``inverse`` is
    n / n_c, the inverse share, which is ``classes`` times as much. Neural methods divide by the sum of weights and do
    not depend on the scale. Kernel machines multiply C by the weight, so that the same C means another machine: the
    paper's TU rows and our records of them have the inverse shares, everything else is balanced. With ``weights`` of
    the graphs, n and n_c are sums of weights.

    Examples:
        >>> y = np.array([0, 0, 0, 1])
        >>> class_weights(y, 2).round(3).tolist(), class_weights(y, 2, "inverse").round(3).tolist()
        ([0.667, 2.0], [1.333, 4.0])
    """
    amounts = np.bincount(y, weights, minlength=classes)
    inverse = np.where(amounts > 0, amounts.sum() / np.where(amounts > 0, amounts, 1), 0.0)
    return inverse / classes if rule == "balanced" else inverse


# ---- the method ------------------------------------------------------------------------------------

Kind = Literal["gnn", "gamma", "kernel", "baseline", "other"]
FAMILIES = ("brain", "erdos-renyi", "sbm", "tu")  # of tasks
NO_GRID: Mapping[str, Grid] = {family: {} for family in FAMILIES}  # of methods that have nothing to tune


@dataclass(frozen=True, kw_only=True)
class Method:
    """One row of the tables: what trains it, its hyper-parameters, and its capabilities.

    Attributes:
        name: as on the command line.
        title: as in the tables.
        learner: trains and restores its models.
        kind: a GNN on whole graphs, a Gamma model on patterns, a kernel machine, a trivial baseline, or another.
        predicts: classes, numbers, or both.
        grid: hyper-parameter values to try for each family of tasks (the paper's, for its rows), or for a single task
            by its name; others have their defaults. No entry where the method is not run; without any grid, the
            defaults are run everywhere.
        defaults: the configuration to use where no grid is searched.
        colored_defaults: recipe -> what is added to the defaults where graphs have colors (the color penalty); not for
            the robust recipe where densities vanish.
        vanishing_defaults: what is added to the defaults for the robust recipe where densities vanish.
        family_defaults: family of tasks -> what is added to the defaults.
        recipe_defaults: recipe -> what is added to both.
        quick: hyper-parameter -> its values in the quick grid, where these are not the same as for other methods.
        parameters: validators of hyper-parameters. Others that the grid or a configuration names can be set to any
            value.
        recipes: (recipe, family of tasks, whether densities vanish) -> how it is trained; None for methods without
            epochs.
        recipe_fields: fields of the recipe that a configuration may change.
        stack_key: configuration -> what runs that are trained as one stack have in common; None where each is trained
            alone.
        shares_targets: whether one network learns several targets: `fit` then gets a table of them (``blocks`` of
            `TrainingData`) and yields the models of each target, in order. Others have a model for each target.
        one_seed: whether the models of a stack must have one seed, because they share what they draw.
        seeded: whether results depend on the seed.
        bootstrap: whether several models in one classifier are fitted to bootstrap samples of the training graphs
            although results depend on the seed; models of methods that are not ``seeded`` always are.
        patterns: whether its input is counts of patterns rather than whole graphs.
        colors: whether it uses vertex colors.
        edges: what it uses of edges: names in `anysize.graphs.attributes`. Patterns have types of edges by all or none.
        features: how it uses vertex features: as numbers, or as bins that color vertices (`learn_bins`), which whoever
            trains it learns on the training graphs; None if it does not.
        environments: whether training compares environments; with ``penalty_name``, only where that is above 0.
        penalty_name: the name of the hyper-parameter that weighs its penalty; None without penalty.
        recolors: whether its penalty compares recolored copies of the graphs, which needs vertex colors.
        weighted_in_paper: whether the paper's recipe weights classes on tasks with class weights.
        selection_metric: of the validation scores by which its configurations are selected; None for that of the task.
        in_paper: whether it is a row of the paper's tables.
        is_baseline: a trivial baseline or ablation to compare the others with. Tables show it below them, and never as
            the best.
    """

    name: str
    title: str
    learner: Learner
    kind: Kind = "other"
    predicts: frozenset[TargetKind] = frozenset({"classes"})
    grid: Mapping[str, Grid] = field(default_factory=dict)
    defaults: Configuration = field(default_factory=dict)
    colored_defaults: Mapping[RecipeName, Configuration] = field(default_factory=dict)
    vanishing_defaults: Configuration = field(default_factory=dict)
    family_defaults: Mapping[str, Configuration] = field(default_factory=dict)
    recipe_defaults: Mapping[RecipeName, Configuration] = field(default_factory=dict)
    quick: Grid = field(default_factory=dict)
    parameters: Mapping[str, Validator] = field(default_factory=dict)
    recipes: Callable[[RecipeName, str | None, bool], Recipe] | None = None
    recipe_fields: frozenset[str] = frozenset()
    stack_key: Callable[[Configuration], Any] | None = None
    shares_targets: bool = False
    one_seed: bool = False
    seeded: bool = True
    bootstrap: bool = False
    patterns: bool = False
    colors: bool = True
    edges: frozenset[str] = frozenset()
    features: Literal["numbers", "bins"] | None = None
    environments: bool = False
    penalty_name: str | None = None
    recolors: bool = False
    weighted_in_paper: bool = True
    selection_metric: str | None = None
    in_paper: bool = False
    is_baseline: bool = False

    @property
    def takes_tables(self) -> bool:
        """Whether a table of counts can be passed instead of graphs: methods that ignore colors count themselves."""
        return self.patterns and self.colors

    @property
    def uses(self) -> frozenset[str]:
        """The attributes of graphs that it uses."""
        return self.edges | ({VERTEX_COLORS} if self.colors else set()) | ({FEATURES} if self.features else set())

    def counts(
        self, examples: Examples, k: Sizes, cache: PathLike | None = None, progress: Progress | None = None
    ) -> Counts:
        """The counts of patterns that it takes: told apart by what it uses of vertices and edges."""
        return examples.counts(k, cache, self.colors, bool(self.edges), progress)

    @property
    def input(self) -> str:
        """Its input: patterns, patterns without colors, or whole graphs."""
        if not self.patterns:
            return "whole graphs"
        return "patterns" if self.colors else "patterns without colors"

    @property
    def has_epochs(self) -> bool:
        """Whether it is trained in epochs, by a recipe."""
        return self.recipes is not None

    @property
    def hyper_parameters(self) -> frozenset[str]:
        """The names of its hyper-parameters, without k."""
        named = (
            *self.grid.values(), self.defaults, *self.colored_defaults.values(), self.vanishing_defaults,
            *self.family_defaults.values(), *self.recipe_defaults.values(),
        )  # fmt: skip
        return frozenset(self.parameters).union(*named) - {"k"}

    @property
    def settable(self) -> frozenset[str]:
        """The names that a configuration may have: hyper-parameters, k for patterns, and fields of the recipe."""
        return self.hyper_parameters | self.recipe_fields | ({"k"} if self.patterns else set())

    def compares_environments(self, configuration: Mapping[str, Any]) -> bool:
        """Whether training with this configuration compares environments."""
        return self.environments and (self.penalty_name is None or self.is_penalized(configuration))

    def is_penalized(self, configuration: Mapping[str, Any]) -> bool:
        """Whether the penalty has a weight above 0 in this configuration."""
        return self.penalty_name is not None and configuration.get(self.penalty_name, 0) > 0

    def recipe(self, name: RecipeName, family: str | None = None, vanishing: bool = False) -> Recipe:
        """How it is trained by this recipe, on tasks of this family; ``vanishing``: densities vanish with the size."""
        if name not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(RECIPES)}; got {name!r}")
        return NO_TRAINING if self.recipes is None else self.recipes(name, family, vanishing)

    def default(
        self, name: RecipeName, family: str | None = None, colored: bool = True, vanishing: bool = False,
        task: str | None = None,
    ) -> Configuration:  # fmt: skip
        """The configuration to use where no grid is searched; ``colored``: with what is for graphs with colors.

        A task with a grid of its own replaces default values that are not in it by the first value of that grid.
        """
        added = self.colored_defaults.get(name, {}) if colored else {}
        if vanishing and name == "robust":
            added = self.vanishing_defaults
        of_family = self.family_defaults.get(family or "", {})
        configuration = {**self.defaults, **added, **of_family, **self.recipe_defaults.get(name, {})}
        for parameter, values in self.grid.get(task or "", {}).items():
            if configuration.get(parameter) not in values:
                configuration[parameter] = values[0]
        return configuration

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[Fitted]:  # fmt: skip
        """As `Learner.fit`; an error if a run has no fitted model in the end."""
        missing = list(runs)
        with naming_extra(f"The method {self.name}"):
            for fitted in self.learner.fit(data, runs, recipe, progress, max_stack):
                for run in fitted.runs:
                    if run in missing:
                        missing.remove(run)
                yield fitted
        if missing:
            raise ValueError(
                f"fit of {self.name} must yield a fitted model for every run; {len(missing)} of {len(runs)} have none"
            )

    def points(self, family: str | None, task: str | None = None) -> tuple[Configuration, ...]:
        """The grid for a task, or else for its family, as configurations; the defaults of a method without a grid."""
        if not self.grid:
            return (self.defaults,)
        grid = self.grid_for(family, task)
        return () if grid is None else grid_points(grid)

    def grid_for(self, family: str | None, task: str | None = None) -> Grid | None:
        """The grid for a task, or else for its family; None if there is none."""
        return self.grid.get(task or "", self.grid.get(family or ""))


def grid_points(grid: Grid) -> tuple[Configuration, ...]:
    """Every point of a grid, the product of its values; the last name varies fastest.

    >>> grid_points({"layers": (1, 2), "lr": (0.1, 0.01)})[:2]
    ({'layers': 1, 'lr': 0.1}, {'layers': 1, 'lr': 0.01})
    """
    return tuple(dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
