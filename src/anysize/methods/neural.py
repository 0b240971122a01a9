"""What neural methods share: recipes, settings of models, stacks of runs, and the fitted stack.

torch is imported by what trains or restores models: the catalog of methods does without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from anysize._schema import integer, list_of, optional, real
from anysize._typing import FloatArray
from anysize.methods.configuration import positive, switch, whole_number
from anysize.methods.method import Arrays, Configuration, Examples, RecipeName, Run, Sizes, TrainingData, Validator
from anysize.training.device import torch_defaults
from anysize.training.settings import Recipe, Settings

if TYPE_CHECKING:
    from anysize.counting.counts import Counts
    from anysize.graphs.graphset import GraphSet
    from anysize.training.epoch_selection import KeptEpochs
    from anysize.training.loop import Trained

# ---- hyper-parameters and recipes --------------------------------------------------------------------


def batch_size(name: str, value: Any) -> int | None:
    """None for all graphs at once, or the value as an int of at least 2: batch norm needs two graphs."""
    return None if value is None else whole_number(name, value, 2)


TRAINED: Mapping[str, Validator] = {
    "epochs": whole_number, "hidden": whole_number, "lr": positive, "batch_size": batch_size,
}  # fmt: skip
DEEP: Mapping[str, Validator] = {**TRAINED, "layers": whole_number, "jumping": switch}
RECIPE_FIELDS = frozenset(field.name for field in fields(Recipe))
WIDTHS = (32, 64, 128, 256)
TU_GRID: Mapping[str, tuple[Any, ...]] = {"hidden": (32, 64), "lr": (0.01, 0.005, 0.001), "batch_size": (64, 128)}
TU_DEFAULTS: Configuration = {"batch_size": 64, "lr": 0.005}

PAPER = Recipe(
    over="connected",
    penalty_on="representation",
    epochs=500,
    epoch="best",
    tie_break="first",
    averages="torch",
    max_permutations=1,
)
BEST_EPOCH = Recipe(epochs=300, epoch="best", tie_break="loss", whiten=True)  # the robust recipe without penalty
# GNNs on whole graphs, robust: docs/recipes.md has the comparison inside training graphs that chose it
GNN_RECIPE = Recipe(epochs=60, epoch="last", schedule="cosine", head_hidden=32)
GNN_TRAINING: Configuration = {"lr": 0.003, "batch_size": 64}

_TU_HEAD: Mapping[str, Any] = {"head_hidden": 128, "dropout": 0.3}
# What families of tasks change. Brain networks have no validation set, so that the last epoch is kept.
PAPER_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "brain": {"epochs": 400, "epoch": "last"}, "tu": {"epochs": 1000, **_TU_HEAD},
}  # fmt: skip
ROBUST_CHANGES: Mapping[str, Mapping[str, Any]] = {"tu": {"patience": 60, **_TU_HEAD}}


def plain_recipe(name: RecipeName, family: str | None, vanishing: bool = False) -> Recipe:
    """Recipes of models without a color penalty: Gamma_1-hot, and the paper's of GNNs on whole graphs.

    ``paper``: as in its appendix, 500 epochs (brain 400, TU 1000), the first of the epochs with the best validation
    score, densities over connected subsets. ``robust``: the best epoch, ties broken by validation loss; densities
    over all subsets, or if these are ``vanishing`` with the size over connected ones, or occurrences (``auto``).
    """
    base, changes = (PAPER, PAPER_CHANGES) if name == "paper" else (BEST_EPOCH, ROBUST_CHANGES)
    recipe = replace(base, **changes.get(family or "", {}))
    return replace(recipe, over="connected" if name == "paper" else "auto") if vanishing else recipe


def gnn_recipe(name: RecipeName, family: str | None, vanishing: bool = False) -> Recipe:
    """Recipes of GNNs on whole graphs: the paper's, and one robust recipe for all sets."""
    return GNN_RECIPE if name == "robust" else plain_recipe(name, family)


def fitting_recipe(recipe: Recipe, data: TrainingData, colored: bool = True) -> Recipe:
    """The recipe for the graphs at hand.

    Without validation graphs the last epoch is kept, and for numbers: squared errors of a few graphs are too noisy to
    choose by. The robust recipe keeps the last epoch because of its penalty: Gamma models of graphs that are not
    ``colored`` have none, and keep the best epoch instead, ties broken by validation loss.
    """
    if data.validation is None or data.predicts == "numbers":
        return replace(recipe, epoch="last", patience=None)
    if not colored and recipe.epoch == "last":
        return replace(recipe, epoch="best", tie_break="loss")
    return recipe


# ---- stacks of models --------------------------------------------------------------------------------

STACK_MEMBERS = {"cpu": 16, "cuda": 160}  # larger stacks are not faster
TABLE_NAMES = frozenset({"k", "top"})  # hyper-parameters of the input, not of the model
_SETTINGS = {field.name: field.name for field in fields(Settings) if field.name not in ("seed", "invariance")}


def settings_of(run: Run, invariance_name: str | None = None) -> Settings:
    """The run as the settings of one model; ``invariance_name``: of the weight of an objective for environments.

    >>> settings_of(Run({"hidden": 64, "irm": 8}, seed=3), "irm").invariance
    8
    """
    fields_by_name = _SETTINGS if invariance_name is None else {**_SETTINGS, invariance_name: "invariance"}
    settings: dict[str, Any] = {"seed": run.seed}
    for name, value in run.configuration.items():
        if name in fields_by_name:
            settings[fields_by_name[name]] = value
        elif name not in TABLE_NAMES:
            raise ValueError(f"a neural method is configured by {', '.join(sorted(fields_by_name))}; got {name}")
    return Settings(**settings)


@dataclass(frozen=True)
class Stack:
    """Runs that are trained together: sizes and number of patterns, runs, and the settings of their models."""

    k: Sizes
    top: int | None
    runs: tuple[Run, ...]
    members: tuple[Settings, ...]


def make_stacks(
    data: TrainingData, runs: Sequence[Run], settings: Callable[[Run], Settings],
    max_members: Callable[[Settings], int], one_seed: bool = False,
) -> list[Stack]:  # fmt: skip
    """Runs with one stack key, at most ``max_members`` of them; with ``one_seed`` they have one seed.

    ``max_members`` is asked where several runs could be in one stack.
    """
    groups: dict[Any, list[tuple[Run, Settings]]] = {}
    for run in runs:
        member = settings(run)
        k, top = run.configuration.get("k", data.k), run.configuration.get("top", data.top)
        groups.setdefault((k, top, member.stack_key, run.seed if one_seed else None), []).append((run, member))
    stacks = []
    for (k, top, *_), pairs in groups.items():
        parts = 1 if len(pairs) == 1 else -(-len(pairs) // max_members(pairs[0][1]))
        for part in range(parts):
            members, their_settings = zip(*pairs[part::parts], strict=True)
            stacks.append(Stack(k, top, members, their_settings))
    return stacks


class TargetScale(NamedTuple):
    """Mean and standard deviation of the numbers that training graphs have: networks predict in these units."""

    mean: float
    deviation: float

    @staticmethod
    def of_each(data: TrainingData) -> tuple[TargetScale, ...]:
        """Of each target of weighted training graphs; empty for classes."""
        return () if data.predicts == "classes" else tuple(TargetScale._of(each.train) for each in data.by_target)

    @staticmethod
    def _of(train: Examples) -> TargetScale:
        y, weights = train.numbers(), train.graph_weights()
        mean = float(np.average(y, weights=weights))
        return TargetScale(mean, float(np.sqrt(np.average((y - mean) ** 2, weights=weights))) or 1.0)


def targets_of(examples: Examples, scales: Sequence[TargetScale]) -> NDArray[Any]:
    """What a stack is trained on: class numbers, or numbers in units of their scales; 0 in gaps."""
    if not scales:
        return np.asarray(np.maximum(examples.labels(), 0))
    means, deviations = np.array(scales).T
    return np.asarray(np.nan_to_num((examples.numbers() - means) / deviations))


@dataclass(frozen=True, eq=False)
class FittedStack:
    """M trained models of one stack.

    ``k``: the sizes of the patterns that they read; None: they read whole graphs. ``scale``: of the numbers they
    predict; None for classes. ``columns``: the first of their outputs and the end, where the stack has others for other
    targets.
    """

    stack: Any
    runs: tuple[Run, ...]
    k: Sizes | None = None
    scale: TargetScale | None = None
    columns: tuple[int, int] | None = None

    def by_target(self, data: TrainingData, scales: Sequence[TargetScale]) -> Iterator[FittedStack]:
        """The models of each target that the stack was trained on."""
        if not data.blocks:
            yield replace(self, scale=scales[0] if scales else None)
        for number, end in enumerate(accumulate(data.blocks)):
            columns = end - data.blocks[number], end
            yield replace(self, scale=scales[number] if scales else None, columns=columns)

    @property
    def trained(self) -> Trained | None:
        trained: Trained | None = self.stack.trained
        return trained

    @torch_defaults()
    def outputs(self, examples: Examples, kept: KeptEpochs | None = None) -> FloatArray:
        """(models, graphs, classes or 1); with ``kept``, followed by those of the states it holds."""
        logits = self.stack.logits(self._input(examples), kept).astype(np.float64)
        if self.columns is not None:
            logits = logits[..., slice(*self.columns)]
        if self.scale is None:
            return np.asarray(softmax(logits, -1))
        return np.asarray(self.scale.mean + self.scale.deviation * logits)

    @torch_defaults()
    def represent(self, examples: Examples) -> FloatArray:
        return np.asarray(self.stack.represent(self._input(examples)), np.float64)

    def _input(self, examples: Examples) -> GraphSet | Counts:
        return examples.whole("a GNN") if self.k is None else examples.counts(self.k, edges=True)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.stack.state()
        scale = {} if self.scale is None else {"target_scale": list(self.scale)}
        sizes = {} if self.k is None else {"k": self.k}
        columns = {} if self.columns is None else {"columns": list(self.columns)}
        return about | scale | columns | {"runs": [asdict(run) for run in self.runs]} | sizes, arrays

    @staticmethod
    def restored(stack: Any, about: Mapping[str, Any]) -> FittedStack:
        """The models from a restored stack and what `state` returned."""
        scale = optional(list_of(real(), 2))(about.get("target_scale"), "target_scale")
        columns = optional(list_of(integer(0), 2))(about.get("columns"), "columns")
        k = about.get("k")
        return FittedStack(
            stack, tuple(Run(**run) for run in about["runs"]), tuple(k) if isinstance(k, list) else k,
            None if scale is None else TargetScale(*map(float, scale)), None if columns is None else tuple(columns),
        )  # fmt: skip
