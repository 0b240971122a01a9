"""From user parameters to a configuration and a recipe: the one place that checks names and values of parameters.

A configuration holds the hyper-parameters of one model and may change fields of its recipe as well:
``{"hidden": 32, "epochs": 50}``. Records keep it in this form; `split_configuration` separates the two for training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from anysize._schema import canonical_configuration, is_integer
from anysize.methods.method import Configuration, Method, RecipeName
from anysize.patterns.pattern import check_size
from anysize.training.settings import Recipe

# ---- validators of values ----------------------------------------------------------------------------

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


# ---- configurations --------------------------------------------------------------------------------


def check_params(method: Method, params: Mapping[str, Any]) -> Configuration:
    """The parameters with checked values; a ValueError for a name that the method does not have or a bad value."""
    if not isinstance(params, Mapping):
        raise ValueError(f"params must be a mapping from names of parameters to values; got {params!r}")
    settable = method.settable if params else frozenset()
    checked: Configuration = {}
    for name, value in params.items():
        if name not in settable:
            has = f"its parameters are {', '.join(sorted(settable))}" if settable else "it has no parameters"
            raise ValueError(f"{method.name} has no parameter {name}; {has}")
        if name == "k":
            checked[name] = check_size(value)
        else:
            checked[name] = method.parameters[name](name, value) if name in method.parameters else value
    split_configuration(method, checked)
    canonical_configuration(checked)
    return checked


def settings_for(method: Method, settings: Mapping[str, Any]) -> Configuration:
    """Those of the settings for several methods that this method has, with checked values."""
    return check_params(method, {name: value for name, value in settings.items() if name in method.settable})


def check_settings(settings: Mapping[str, Any], methods: Iterable[Method]) -> None:
    """Raise an error for a setting that none of the methods has."""
    settable = {method.name: method.settable for method in methods} if settings else {}
    for name in settings:
        if not any(name in names for names in settable.values()):
            raise ValueError(f"{name} cannot be set for any of {', '.join(settable)}.")


def split_configuration(
    method: Method, configuration: Mapping[str, Any], recipe: Recipe | None = None
) -> tuple[Configuration, Recipe]:
    """The hyper-parameters of the model, and the recipe with the changes that the configuration makes to it.

    >>> from anysize.methods.catalog import find_method
    >>> model, recipe = split_configuration(find_method("gin-sum"), {"hidden": 64, "epochs": 50})
    >>> model, recipe.epochs
    ({'hidden': 64}, 50)
    """
    model: Configuration = {}
    changes: Configuration = {}
    for name, value in configuration.items():
        (changes if name in method.recipe_fields else model)[name] = value
    try:
        return model, replace(recipe or Recipe(), **changes)
    except TypeError:
        given = ", ".join(f"{name}={value!r}" for name, value in changes.items())
        raise ValueError(f"a field of the recipe has a value of the wrong type; got {given}") from None


def resolve_configuration(
    method: Method,
    recipe: RecipeName,
    *,
    family: str | None = None,
    task: str | None = None,
    colored: bool,
    vanishing: bool = False,
    params: Mapping[str, Any] | None = None,
) -> tuple[Configuration, Recipe]:
    """The configuration and the recipe that user parameters select.

    Args:
        method: what is trained.
        recipe: `robust` or `paper`.
        family: of tasks; None for graphs of a user.
        task: the name of a task that may have a grid of its own.
        colored: whether the graphs have colors; a penalty on colors is only used, or accepted, where they have.
        vanishing: whether densities over all subsets vanish with the size (`anysize.causal.graphon_check`): the robust
            recipe then has no penalty on colors, and densities over connected subsets.
        params: hyper-parameters, fields of the recipe, and k (for methods on patterns), by name.

    >>> from anysize.methods.catalog import find_method
    >>> configuration, recipe = resolve_configuration(
    ...     find_method("gamma-gin"), "robust", colored=True, params={"hidden": 8, "epochs": 50}
    ... )
    >>> configuration["hidden"], configuration["penalty"], recipe.epochs
    (8, 0.1, 50)
    """
    given = check_params(method, params or {})
    if method.recolors and not colored and method.is_penalized(given):
        name = str(method.penalty_name)
        raise ValueError(f"{name}={given[name]:g} needs vertex colors; pass color=... or drop {name}")
    base = method.default(recipe, family, colored, vanishing, task)
    return split_configuration(method, base | given, method.recipe(recipe, family, vanishing))
