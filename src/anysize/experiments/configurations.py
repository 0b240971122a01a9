"""Which configurations a method tries on a task, and what a user may change about them.

A configuration has the settings of one model (a point of a grid) and may change its recipe as well: ``{"hidden": 32,
"epochs": 50}``. All of it is in the record of a run and in its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from json import JSONDecodeError, loads
from typing import Any, Literal

from anysize._json import compact_json, plain
from anysize.methods.grids import Configuration
from anysize.methods.method import Method, RecipeName
from anysize.patterns.pattern import check_size
from anysize.tasks.task import Task
from anysize.training.settings import Recipe

GridName = Literal["quick", "paper", "one"]
GRIDS: tuple[GridName, ...] = ("quick", "paper", "one")

# The quick grid: of each hyper-parameter these values of the paper's grid, or its first where it has none of them;
# of a penalty the weight of the paper's configuration.
QUICK: Mapping[str, tuple[Any, ...]] = {
    "hidden": (32,), "lr": (0.01,), "jumping": (False,), "batch_size": (64,), "k": (4,),
}  # fmt: skip
QUICK_LAYERS: Mapping[str, tuple[int, ...]] = {"gin": (1, 2), "gcn": (1, 2)}  # one layer for others: two take minutes
# ``penalty`` is the weight in a configuration, and not where the recipe takes it
RECIPE_NAMES = frozenset(field.name for field in fields(Recipe)) - {"penalty"}


def configurations(method: Method, task: Task, grid: GridName, recipe: RecipeName) -> tuple[Configuration, ...]:
    """The configurations to try: the whole grid of the paper, a few points of it, or one good one.

    Methods without epochs (kernels, checks) always try their whole grid: it costs little, and without validation
    their row would not be the paper's.

    >>> from anysize.methods import find_method
    >>> from anysize.tasks import find_task
    >>> configurations(find_method("gamma-gin"), find_task("sbm-20"), "quick", "paper")
    ({'hidden': 32, 'layers': 1, 'lr': 0.01, 'penalty': 0.15, 'jumping': False},)
    """
    if grid not in GRIDS:
        raise ValueError(f"a grid is one of {', '.join(GRIDS)}; got {grid!r}")
    points = method.points(task.family, task.name)
    if grid == "paper" or not method.trained:
        return points
    if grid == "one":
        return (default_configuration(method, task, recipe),)
    weights = {name: (value,) for name, value in method.default("paper").items() if name == method.weight}
    layers = QUICK_LAYERS.get(method.name.partition("-")[0], (1,))
    return _restricted(points, {**QUICK, **weights, "layers": layers})


def default_configuration(method: Method, task: Task, recipe: RecipeName) -> Configuration:
    """One good configuration of a method for a task: one of its own grid, where it has one.

    >>> from anysize.methods import find_method
    >>> from anysize.tasks import find_task
    >>> default_configuration(find_method("gamma-gin"), find_task("DD"), "paper")["batch_size"]
    256
    """
    chosen = method.default(recipe, task.family, colored=task.family == "sbm")  # TU sets have no penalty anyway
    own = method.grid.get(task.name, {})
    return chosen | {name: values[0] for name, values in own.items() if chosen.get(name) not in values}


def _restricted(points: Iterable[Configuration], wanted: Mapping[str, tuple[Any, ...]]) -> tuple[Configuration, ...]:
    points = tuple(points)
    kept: dict[str, tuple[Any, ...]] = {}
    for name in points[0] if points else ():
        there = tuple(dict.fromkeys(point[name] for point in points))
        kept[name] = tuple(value for value in wanted.get(name, there) if value in there) or there[:1]
    return tuple(point for point in points if all(point[name] in kept[name] for name in point))


# ---- what a user may set ---------------------------------------------------------------------------


def parse_setting(text: str) -> tuple[str, Any]:
    """``name=value``; the value as JSON where it is some, otherwise as text.

    >>> parse_setting("hidden=64"), parse_setting("over=maps"), parse_setting("jumping=True")
    (('hidden', 64), ('over', 'maps'), ('jumping', True))
    """
    name, found, value = (part.strip() for part in text.partition("="))
    if not found or not name:
        raise ValueError(f"--set takes name=value, such as --set hidden=64; got {text!r}.")
    words = {"True": True, "False": False, "None": None}
    try:
        return name, words[value] if value in words else loads(value)
    except JSONDecodeError:
        return name, value


def settable(method: Method) -> frozenset[str]:
    """The names that a configuration of the method may have.

    >>> from anysize.methods import find_method
    >>> sorted(settable(find_method("gc-kernel")))
    ['C', 'k']
    """
    recipe = RECIPE_NAMES if method.trained else frozenset()
    return (method.settable - {"top"}) | recipe | ({"k"} if method.patterns else frozenset())


def checked(method: Method, settings: Mapping[str, Any]) -> Configuration:
    """The settings, with values that the method can take; a ValueError says what is wrong with others."""
    found: Configuration = {}
    known = settable(method)
    for name, value in settings.items():
        if name not in known:
            listed = f"it has {', '.join(sorted(known))}" if known else "it has nothing of the kind"
            raise ValueError(f"{name} cannot be set for {method.name}: {listed}.")
        found[name] = check_size(value) if name == "k" else method.checked(name, value)
    recipe_with(Recipe(), found)
    plain(found)
    return found


def changed(points: Iterable[Configuration], method: Method, settings: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """Configurations with some settings replaced; those that become equal are one."""
    own = checked(method, settings)
    return tuple({compact_json(plain({**point, **own})): {**point, **own} for point in points}.values())


def divided(configuration: Mapping[str, Any]) -> tuple[Configuration, Configuration]:
    """The settings of the model, and what is changed about its recipe.

    >>> divided({"hidden": 64, "epochs": 50})
    ({'hidden': 64}, {'epochs': 50})
    """
    model = {name: value for name, value in configuration.items() if name not in RECIPE_NAMES}
    return model, {name: value for name, value in configuration.items() if name in RECIPE_NAMES}


def recipe_with(recipe: Recipe, configuration: Mapping[str, Any]) -> Recipe:
    """The recipe with the changes that a configuration makes to it."""
    _, changes = divided(configuration)
    try:
        return replace(recipe, **changes)
    except TypeError:
        told = ", ".join(f"{name}={value!r}" for name, value in changes.items())
        raise ValueError(f"a recipe takes numbers and words, each in its place; got {told}.") from None
