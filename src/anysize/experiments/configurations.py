"""The configurations that a method tries on a task, and changes that a user makes to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import JSONDecodeError, loads
from typing import Any, Literal, get_args

from anysize._json import canonical_configuration, compact_json
from anysize.methods.configuration import check_params, default_configuration, parameter_names
from anysize.methods.grids import Configuration
from anysize.methods.method import Method
from anysize.methods.recipes import RecipeName
from anysize.tasks.task import Task

GridName = Literal["quick", "paper", "one"]
GRIDS: tuple[GridName, ...] = get_args(GridName)

# The quick grid: of each hyper-parameter these values of the paper's grid, or its first value where it has none of
# them; of a penalty the weight of the default configuration; of `Method.quick` the values that a method names itself.
QUICK: Mapping[str, tuple[Any, ...]] = {
    "hidden": (32,), "lr": (0.01,), "jumping": (False,), "batch_size": (64,), "k": (4,), "layers": (1,),
}  # fmt: skip


def configurations(method: Method, task: Task, grid: GridName, recipe: RecipeName) -> tuple[Configuration, ...]:
    """The configurations to try: the paper's grid, a few points of it, or one default.

    Methods without epochs (kernels, baselines) always try the whole grid: it costs little, and without validation
    their row would not be the paper's.

    >>> from anysize.methods.catalog import find_method
    >>> from anysize.tasks.catalog import find_task
    >>> configurations(find_method("gamma-gin"), find_task("sbm-20"), "quick", "paper")
    ({'hidden': 32, 'layers': 1, 'lr': 0.01, 'penalty': 0.15, 'jumping': False},)
    """
    if grid not in GRIDS:
        raise ValueError(f"grid must be one of {', '.join(GRIDS)}; got {grid!r}")
    if task.family is None:  # graphs of a user have no grid
        return (task_configuration(method, task, recipe),)
    points = method.points(task.family, task.name)
    if grid == "paper" or not method.trained:
        return points
    if grid == "one":
        return (task_configuration(method, task, recipe),)
    weights = {name: (value,) for name, value in method.default("paper").items() if name == method.penalty}
    return _restricted(points, {**QUICK, **weights, **method.quick})


def task_configuration(method: Method, task: Task, recipe: RecipeName) -> Configuration:
    """The default configuration of a method on a task.

    >>> from anysize.methods.catalog import find_method
    >>> from anysize.tasks.catalog import find_task
    >>> task_configuration(find_method("gamma-gin"), find_task("DD"), "paper")["batch_size"]
    256
    """
    return default_configuration(
        method, recipe, family=task.family, task=task.name, colored=task.color_penalty, sparse=task.sparse
    )


def _restricted(points: Iterable[Configuration], values: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """The points of a grid with these values, or the grid's first value where it has none of them."""
    points = tuple(points)
    kept: dict[str, tuple[Any, ...]] = {}
    for name in points[0] if points else ():
        there = tuple(dict.fromkeys(point[name] for point in points))
        kept[name] = tuple(value for value in values.get(name, there) if value in there) or there[:1]
    return tuple(point for point in points if all(point[name] in kept[name] for name in point))


def parse_setting(text: str) -> tuple[str, Any]:
    """``name=value``; the value as JSON where it is valid JSON, otherwise as text.

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


def check_settings(settings: Mapping[str, Any], methods: Iterable[Method]) -> None:
    """Raise an error for a setting that none of the methods has."""
    known = {method.name: parameter_names(method) for method in methods}
    for name in settings:
        if not any(name in names for names in known.values()):
            raise ValueError(f"{name} cannot be set for any of {', '.join(known)}.")


def own_settings(method: Method, settings: Mapping[str, Any]) -> Configuration:
    """The settings that a method has."""
    return {name: value for name, value in settings.items() if name in parameter_names(method)}


def changed(points: Iterable[Configuration], method: Method, params: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """Configurations with some parameters replaced, without duplicates."""
    own = check_params(method, params)
    return tuple(
        {compact_json(canonical_configuration({**point, **own})): {**point, **own} for point in points}.values()
    )
