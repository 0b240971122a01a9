"""Method: one row of the tables, and everything that the rest of the package asks about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from anysize.methods.grids import Configuration, Grid, points
from anysize.methods.learner import Arrays, Fitted, LearningTask, Run
from anysize.methods.parameters import Check
from anysize.methods.recipes import NO_TRAINING
from anysize.training.settings import Recipe

RecipeName = Literal["robust", "paper"]
RECIPES: tuple[RecipeName, ...] = ("robust", "paper")


class Learner(Protocol):
    """What a row of the tables does: train many runs, stack by stack."""

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe,
        progress: Callable[[float], None] | None = None, most: int | None = None,
    ) -> Iterator[Fitted]:  # fmt: skip
        """``most``: the largest number of models in one stack."""
        ...


@dataclass(frozen=True)
class Method:
    """One row of the tables: what trains it, what can be set, and what it looks at.

    Attributes:
        name: as on the command line. title: as in the tables.
        learner: what trains it.
        grid: the hyper-parameters to try for each family of tasks (the paper's, for its rows), or for one task by its
            name; no entry where the method is not run.
        restore: makes fitted models from their state.
        robust, paper: one good configuration for each recipe, where no grid is searched.
        colored: what is added to these where graphs have colors (the attribute penalty).
        families: what is added to these for a family of tasks.
        parameters: how values of hyper-parameters are checked. Others that the grid or a configuration names can be
            set as well, to any value.
        recipes: (name, family) -> how it is trained; None for methods without epochs.
        seeded: whether the seed matters at all.
        environments: whether training compares environments; with ``weight``, where that is above 0.
        weight: the hyper-parameter that weighs its penalty, if it has one.
        patterns: whether it looks at counts of patterns, and not at whole graphs.
        colors: whether it tells vertices apart by color.
        shape: configuration -> what runs that are trained as one have in common; None where each is trained alone.
    """

    name: str
    title: str
    learner: Learner
    grid: Mapping[str, Grid]
    restore: Callable[[dict[str, Any], Arrays], Fitted]
    robust: Configuration = field(default_factory=dict)
    paper: Configuration = field(default_factory=dict)
    colored: Mapping[str, Configuration] = field(default_factory=dict)
    families: Mapping[str, Configuration] = field(default_factory=dict)
    parameters: Mapping[str, Check] = field(default_factory=dict)
    recipes: Callable[[RecipeName, str | None], Recipe] | None = None
    seeded: bool = True
    environments: bool = False
    weight: str | None = None
    patterns: bool = False
    colors: bool = True
    shape: Callable[[Configuration], Any] | None = None

    @property
    def takes_tables(self) -> bool:
        """Whether a table of counts is all that it looks at: colors in the table would be too much for others."""
        return self.patterns and self.colors

    @property
    def looks_at(self) -> str:
        """What it looks at, in words: patterns, plain patterns (which it counts itself) or whole graphs."""
        if not self.patterns:
            return "whole graphs"
        return "patterns" if self.colors else "plain patterns"

    @property
    def trained(self) -> bool:
        """Whether it is trained in epochs, by a recipe."""
        return self.recipes is not None

    @property
    def settable(self) -> frozenset[str]:
        """The hyper-parameters by name, but for k."""
        known = (*self.grid.values(), self.robust, self.paper, *self.colored.values(), *self.families.values())
        return frozenset(self.parameters).union(*known) - {"k"}

    def checked(self, name: str, value: Any) -> Any:
        """The value of a hyper-parameter as it is used, or a ValueError."""
        return self.parameters[name](name, value) if name in self.parameters else value

    def compares(self, configuration: Mapping[str, Any]) -> bool:
        """Whether training compares environments, configured like this."""
        return self.environments and (self.weight is None or self.penalized(configuration))

    def penalized(self, configuration: Mapping[str, Any]) -> bool:
        """Whether a penalty has weight, configured like this."""
        return self.weight is not None and configuration.get(self.weight, 0) > 0

    def recipe(self, name: RecipeName, family: str | None = None) -> Recipe:
        """How it is trained by this recipe, on tasks of this family."""
        if name not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(RECIPES)}; got {name!r}")
        return NO_TRAINING if self.recipes is None else self.recipes(name, family)

    def default(self, name: RecipeName, family: str | None = None, colored: bool = True) -> Configuration:
        """The one configuration to take where nothing is searched."""
        chosen = dict(self.robust if name == "robust" else self.paper)
        if colored and family != "tu":
            chosen |= self.colored.get(name, {})
        return chosen | self.families.get(family or "", {})

    def points(self, family: str, task: str | None = None) -> tuple[Configuration, ...]:
        """The grid for a family of tasks, or for this task where it has one of its own, as configurations."""
        grid = self.grid.get(task or "", self.grid.get(family))
        return () if grid is None else points(grid)
