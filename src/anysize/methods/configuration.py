"""From user parameters to a configuration and a recipe: the one place that checks names and values of parameters.

A configuration holds the hyper-parameters of one model and may change fields of its recipe as well:
``{"hidden": 32, "epochs": 50}``. Records keep it in this form; `split_configuration` separates the two for training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from numbers import Real
from typing import Any

import numpy as np

from anysize._json import canonical_configuration
from anysize._typing import is_integer
from anysize.methods.grids import Configuration
from anysize.methods.method import Check, Method
from anysize.methods.neural import ModuleMethod
from anysize.methods.recipes import RecipeName
from anysize.patterns.pattern import check_size
from anysize.training.settings import Recipe

# ---- checks of values ------------------------------------------------------------------------------

MAX_INT = 2**31 - 1  # the largest size of a torch tensor's axis


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """The value as an int from ``least`` to 2^31 - 1."""
    if not is_integer(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")
    if int(value) > MAX_INT:
        raise ValueError(f"{name} must be a whole number of at most {MAX_INT}; got {value!r}")
    return int(value)


def number(value: Any) -> float:
    """The value as a float; nan for anything that is not a number."""
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    return float(value) if real else float("nan")


def positive(name: str, value: Any) -> float:
    """The value as a float above 0."""
    if not 0 < number(value) < float("inf"):
        raise ValueError(f"{name} must be a number above 0; got {value!r}")
    return float(value)


def weight(name: str, value: Any) -> float:
    """The value as a float of at least 0."""
    if not 0 <= number(value) < float("inf"):
        raise ValueError(f"{name} must be a number of at least 0; got {value!r}")
    return float(value)


def switch(name: str, value: Any) -> bool:
    """The value as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def batch_size(name: str, value: Any) -> int:
    """The value as an int of at least 2: batch norm needs two graphs."""
    return whole_number(name, value, 2)


TRAINED: Mapping[str, Check] = {
    "epochs": whole_number, "hidden": whole_number, "lr": positive, "batch_size": batch_size,
}  # fmt: skip
DEEP: Mapping[str, Check] = {**TRAINED, "layers": whole_number, "jumping": switch}
COUNTED: Mapping[str, Check] = {"top": whole_number}  # of methods that turn counts into densities

# ---- configurations --------------------------------------------------------------------------------

# Without ``penalty``: in a configuration it is the weight of the penalty, in a recipe the place where it is taken.
RECIPE_NAMES = frozenset(field.name for field in fields(Recipe)) - {"penalty"}
# Fields that only methods on patterns have, and those that a module of a user has, too.
PATTERN_RECIPE_NAMES = frozenset({"over", "roles", "encoder", "whiten", "id_width", "samples"})
LOOP_RECIPE_NAMES = frozenset({"epochs", "epoch", "tie_break", "patience", "schedule"})


def parameter_names(method: Method) -> frozenset[str]:
    """The names that a configuration of the method may have.

    >>> from anysize.methods.catalog import find_method
    >>> sorted(parameter_names(find_method("gc-kernel")))
    ['C', 'k']
    """
    return method.hyper_parameters | ({"k"} if method.patterns else set()) | recipe_names(method)


def recipe_names(method: Method) -> frozenset[str]:
    """The fields of its recipe that a configuration of the method may change."""
    if not method.trained:
        return frozenset()
    if isinstance(method.learner, ModuleMethod):
        return LOOP_RECIPE_NAMES
    return RECIPE_NAMES if method.patterns else RECIPE_NAMES - PATTERN_RECIPE_NAMES


def check_params(method: Method, params: Mapping[str, Any]) -> Configuration:
    """The parameters with checked values; a ValueError for a name that the method does not have or a bad value."""
    if not isinstance(params, Mapping):
        raise ValueError(f"params must be a mapping from names of parameters to values; got {params!r}")
    known = parameter_names(method)
    checks: Mapping[str, Check] = {**method.parameters, "k": lambda name, value: check_size(value)}
    found: Configuration = {}
    for name, value in params.items():
        if name not in known:
            has = f"its parameters are {', '.join(sorted(known))}" if known else "it has no parameters"
            raise ValueError(f"{method.name} has no parameter {name}; {has}")
        found[name] = checks[name](name, value) if name in checks else value
    split_configuration(method, found)
    canonical_configuration(found)
    return found


def default_configuration(
    method: Method, recipe: RecipeName, *, family: str | None = None, task: str | None = None, colored: bool = True,
    sparse: bool = False,
) -> Configuration:  # fmt: skip
    """The configuration of a method where no grid is searched.

    A task with a grid of its own replaces default values that are not in it by the first value of that grid.
    """
    found = method.default(recipe, family, colored, sparse)
    grid = method.grid.get(task or "", {})
    return found | {name: values[0] for name, values in grid.items() if found.get(name) not in values}


def split_configuration(
    method: Method, configuration: Mapping[str, Any], recipe: Recipe | None = None
) -> tuple[Configuration, Recipe]:
    """The hyper-parameters of the model, and the recipe with the changes that the configuration makes to it.

    >>> from anysize.methods.catalog import find_method
    >>> model, recipe = split_configuration(find_method("gin-sum"), {"hidden": 64, "epochs": 50})
    >>> model, recipe.epochs
    ({'hidden': 64}, 50)
    """
    changes = recipe_changes(method, configuration)
    model = {name: value for name, value in configuration.items() if name not in changes}
    try:
        return model, replace(recipe or Recipe(), **changes)
    except TypeError:
        given = ", ".join(f"{name}={value!r}" for name, value in changes.items())
        raise ValueError(f"a field of the recipe has a value of the wrong type; got {given}") from None


def recipe_changes(method: Method, configuration: Mapping[str, Any]) -> Configuration:
    """The fields of the recipe that a configuration changes.

    >>> from anysize.methods.catalog import find_method
    >>> recipe_changes(find_method("gin-sum"), {"hidden": 64, "epochs": 50})
    {'epochs': 50}
    """
    known = recipe_names(method)
    return {name: value for name, value in configuration.items() if name in known}


def resolve_config(
    method: Method,
    recipe: RecipeName,
    *,
    family: str | None = None,
    task: str | None = None,
    colored: bool,
    sparse: bool = False,
    params: Mapping[str, Any] | None = None,
) -> tuple[Configuration, Recipe]:
    """The configuration and the recipe that user parameters select.

    Args:
        method: what is trained.
        recipe: `robust` or `paper`.
        family: of tasks; None for graphs of a user.
        task: the name of a task that may have a grid of its own.
        colored: whether the graphs have colors; a penalty on colors is only used, or accepted, where they have.
        sparse: whether the graphs are sparse (`anysize.theory.graphon_check`): the robust recipe then has no penalty on
            colors, and densities over connected subsets.
        params: hyper-parameters, fields of the recipe, and k (for methods on patterns), by name.

    >>> from anysize.methods.catalog import find_method
    >>> configuration, recipe = resolve_config(
    ...     find_method("gamma-gin"), "robust", colored=True, params={"hidden": 8, "epochs": 50}
    ... )
    >>> configuration["hidden"], configuration["penalty"], recipe.epochs
    (8, 0.1, 50)
    """
    given = check_params(method, params or {})
    if method.recolors and not colored and method.penalized(given):
        name = str(method.penalty)
        raise ValueError(f"{name}={given[name]:g} needs vertex colors; pass color=... or drop {name}")
    base = default_configuration(method, recipe, family=family, task=task, colored=colored, sparse=sparse)
    return split_configuration(method, base | given, method.recipe(recipe, family, sparse))
