"""Methods of your own in one function: features with logistic regression, or a torch module in the loop of the GNNs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anysize._progress import Progress, part_of
from anysize.methods.baselines import FittedPipeline, fit_pipeline, linear_pipeline, restore_arrays
from anysize.methods.configuration import weight
from anysize.methods.method import (
    EDGE_TYPES,
    Arrays,
    Configuration,
    Grid,
    Method,
    RecipeName,
    Run,
    TrainingData,
    Validator,
)
from anysize.methods.neural import (
    GNN_TRAINING,
    TRAINED,
    TU_DEFAULTS,
    FittedStack,
    TargetScale,
    fitting_recipe,
    gnn_recipe,
    targets_of,
)
from anysize.training.device import torch_defaults
from anysize.training.settings import Recipe, Settings

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from anysize.training.objectives import Objective


@dataclass(frozen=True)
class FeatureLearner:
    """Regression on features of your own: ``features(graphs, **hyper_parameters)`` -> (graphs, width).

    Features are standardized. Classes have logistic regression, where the hyper-parameter ``C`` is that of
    scikit-learn's `LogisticRegression`, 1 by default; numbers have ridge regression. All other hyper-parameters are
    passed to ``features``.
    """

    features: Callable[..., Any]

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedPipeline]:  # fmt: skip
        """Train one model per run."""
        weights = None if data.class_weights is None else dict(enumerate(data.class_weights))
        graphs = data.train.whole("a method on features")
        y: Any = data.train.labels() if data.classes else data.train.numbers()
        for run in runs:
            pipeline = fit_pipeline(self._pipeline(run, data.classes, weights), graphs, y, data.train.weights)
            yield FittedPipeline(pipeline, (run,), data.classes, None)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedPipeline:
        """A fitted model from its state."""
        run, classes = Run(**about["runs"][0]), about["classes"]
        return FittedPipeline(restore_arrays(self._pipeline(run, classes), arrays), (run,), classes, None)

    def _pipeline(self, run: Run, classes: int, class_weight: dict[int, float] | None = None) -> Pipeline:
        passed_on = {name: value for name, value in run.configuration.items() if name != "C"}
        C = run.configuration.get("C", 1.0)
        return linear_pipeline(self.features, passed_on, "classes" if classes else "numbers", class_weight, C)


@dataclass(frozen=True)
class ModuleLearner:
    """A torch module of your own on whole graphs, trained by the loop and the recipes of the GNNs.

    ``build(inputs, classes, **hyper_parameters)`` returns an untrained module that maps
    `anysize.training.fit_module.GraphTensors` (``x``, ``edge_index``, ``batch``, ``num_graphs``) to logits (graphs,
    classes), or numbers (graphs, 1), of several targets side by side: ``classes`` is the number of outputs. Numbers are
    in units of their standard deviation. ``x`` has the vertex features, standardized, and after them the one-hot
    colors. The hyper-parameters ``lr`` and ``batch_size``, and the weight of the ``objective``, are for training; all
    others are passed to ``build``. With ``edge_types`` graphs have an ``edge_attr`` of one-hot types of edges, and
    ``build`` gets their number, ``edge_types=``: 0 where edges are all alike and ``edge_attr`` is None.
    """

    build: Callable[..., Any]
    objective: Objective | None = None
    edge_types: bool = False

    @property
    def penalty_name(self) -> str | None:
        """The hyper-parameter that weighs the penalty of the objective."""
        return None if self.objective is None else self.objective.weight

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedStack]:  # fmt: skip
        """Train the runs one by one."""
        from anysize.training.fit_module import fit_module
        from anysize.training.objectives import IRM

        scales = TargetScale.of_each(data)
        train, validation = (
            None if examples is None else (examples.whole("a GNN"), targets_of(examples, scales))
            for examples in (data.train, data.validation)
        )
        assert train is not None
        for number, run in enumerate(runs):
            stack = fit_module(
                self.build, self._passed_on(run), *train, self._settings(run), fitting_recipe(recipe, data),
                classes=data.outputs, blocks=data.blocks, environments=data.train.environments,
                objective=self.objective or IRM, validation=validation,
                weights=data.loss_weights(), validation_weights=data.validation_weights, metric=data.epoch_metric,
                device=data.device,
                progress=part_of(progress, number, len(runs)), edge_types=self.edge_types,
            )  # fmt: skip
            yield from FittedStack(stack, (run,)).by_target(data, scales)

    @torch_defaults()
    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedStack:
        """The trained module from what `FittedStack.state` returned."""
        from anysize.training.fit_module import ModuleStack

        parameters = self._passed_on(Run(**about["runs"][0]))
        stack = ModuleStack.from_state(about, arrays, self.build, parameters, self.edge_types)
        return FittedStack.restored(stack, about)

    def _settings(self, run: Run) -> Settings:
        used = {name: run.configuration[name] for name in ("lr", "batch_size") if name in run.configuration}
        return Settings(**used, invariance=run.configuration.get(self.penalty_name or "", 0.0), seed=run.seed)

    def _passed_on(self, run: Run) -> Configuration:
        used = ("lr", "batch_size", self.penalty_name)
        return {name: value for name, value in run.configuration.items() if name not in used}


MODULE_FAMILY_DEFAULTS: Mapping[str, Configuration] = {"tu": TU_DEFAULTS}
LOOP_FIELDS = frozenset({"epochs", "epoch", "tie_break", "patience", "schedule"})  # of a recipe


def module_method(
    *,
    name: str,
    title: str,
    learner: ModuleLearner,
    grid: Mapping[str, Grid] | None = None,
    defaults: Mapping[str, Any] | None = None,
    family_defaults: Mapping[str, Configuration] = MODULE_FAMILY_DEFAULTS,
    parameters: Mapping[str, Validator] | None = None,
    recipes: Callable[[RecipeName, str | None, bool], Recipe] = gnn_recipe,
    numbers: bool = True,
    paper: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Method:
    """A method that trains a torch module of your own, with the recipes of the GNNs.

    Args:
        name: of the method.
        title: of its row.
        learner: the module and the objective.
        grid: hyper-parameter values to try for each family of tasks; none by default.
        defaults: added to the default configuration: what builds the module, the weight of the objective's penalty.
        family_defaults: family of tasks -> what is added to the defaults.
        parameters: validators of what builds the module.
        recipes: how it is trained; by default as the other GNNs.
        numbers: whether it predicts numbers as well as classes, and learns several targets at once; False for one with
            an objective of its own that reads the classes of a step.
        paper: what the recipe ``paper`` adds to the defaults: parameters, and fields of the recipe.
        fields: further fields of `Method`.
    """
    checks = {name: TRAINED[name] for name in ("epochs", "lr", "batch_size")}
    penalty = {} if learner.penalty_name is None else {learner.penalty_name: weight}
    return Method(
        name=name,
        title=title,
        learner=learner,
        kind="gnn",
        predicts=frozenset({"classes", "numbers"} if numbers else {"classes"}),
        shares_targets=numbers,
        grid=grid or {},
        defaults={"lr": 0.01, **(defaults or {})},
        family_defaults=family_defaults,
        recipe_defaults={"robust": GNN_TRAINING, "paper": dict(paper or {})},
        parameters={**checks, **penalty, **(parameters or {})},
        recipes=recipes,
        recipe_fields=LOOP_FIELDS,
        edges=EDGE_TYPES if learner.edge_types else frozenset(),
        features="numbers",
        environments=learner.penalty_name is not None,
        penalty_name=learner.penalty_name,
        **fields,
    )
