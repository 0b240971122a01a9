"""What a classifier's parameters mean: a method, its recipe, one configuration, and the runs that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray, IntArray
from anysize.methods.catalog import find_method
from anysize.methods.configuration import number, whole_number
from anysize.methods.configuration import resolve_config as resolve_params
from anysize.methods.method import Method, Run, Sizes, balancing_weights
from anysize.patterns.pattern import check_size
from anysize.training.settings import Recipe

METRICS = ("accuracy", "mcc")
SHARE = 0.1  # of the training graphs, held out where the recipe chooses among epochs


@dataclass(frozen=True)
class ResolvedConfig:
    """A method with everything that a user may set decided.

    ``share``: of the training graphs to hold out for validation, 0 for none. ``runs``: one per model.
    """

    method: Method
    recipe: Recipe
    runs: tuple[Run, ...]
    k: Sizes
    share: float
    device: str

    @property
    def compares(self) -> bool:
        """Whether training compares environments."""
        return self.method.compares(self.runs[0].configuration)


# Parameters of a GraphClassifier that are None unless set; others of a method go into ``settings``.
NAMED = ("epochs", "hidden", "lr", "batch_size", "layers", "jumping", "penalty", "irm", "over", "top")


def resolve_config(parameters: Mapping[str, Any], colored: bool) -> ResolvedConfig:
    """The choice that the parameters of a `GraphClassifier` make, for graphs with or without colors."""
    method = find_method(parameters["method"])
    given = _given(parameters)
    configuration, recipe = resolve_params(method, parameters["recipe"], colored=colored, params=given)
    metric = parameters["metric"]
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    models = whole_number("n_models", parameters["n_models"])
    seed = whole_number("seed", parameters["seed"], 0)
    seeds = range(seed, seed + (models if method.seeded else 1))  # without chance all models would be the same
    return ResolvedConfig(
        method,
        recipe,
        tuple(Run(configuration, own_seed) for own_seed in seeds),
        sizes(parameters["k"]),
        _share(parameters["validation"], recipe),
        device_of(parameters["device"]),
    )


def _given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The hyper-parameters that the user has set."""
    given = {name: parameters[name] for name in NAMED if parameters[name] is not None}
    settings = parameters["settings"] or {}
    if not isinstance(settings, Mapping):
        raise ValueError(f"settings must be a mapping from hyper-parameters to values; got {settings!r}")
    own = [name for name in settings if name in (*NAMED, "k")]
    if own:
        raise ValueError(f"{own[0]} is a parameter of the classifier itself: pass it by its name, outside of settings")
    return {**given, **settings}


def sizes(k: Any) -> Sizes:
    """A pattern size, or several in ascending order.

    >>> sizes(5), sizes([4, 3])
    (5, (3, 4))
    """
    if isinstance(k, (list, tuple, set, frozenset, range, np.ndarray)) and len(k):
        found = tuple(sorted({check_size(size) for size in k}))
        return found[0] if len(found) == 1 else found
    return check_size(k)


def _share(validation: Any, recipe: Recipe) -> float:
    if validation is None:
        return SHARE if recipe.epoch == "best" else 0.0
    if not 0 <= number(validation) < 1:
        raise ValueError(
            "validation is the share of the training graphs to hold out, from 0 (none) up to, not including, 1, or "
            f"None for what the recipe needs; validation graphs are passed to fit. Got {validation!r}"
        )
    return float(validation)


def device_of(name: Any) -> str:
    """The torch device of a name; an error where this machine has none of the kind."""
    import torch

    there = bool(torch.cuda.is_available())
    if name == "auto":
        return "cuda" if there else "cpu"
    kind, _, number = str(name).partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
        raise ValueError(f"device must be cpu, cuda (or cuda:1, ...) or auto; got {name!r}")
    if kind == "cuda" and not there:
        raise ValueError(f"device={name!r} needs a CUDA GPU and torch finds none; take device='cpu' or 'auto'")
    return str(name)


def class_weights(wanted: Any, classes: NDArray[Any], y: IntArray) -> FloatArray | None:
    """The weight of every class in the loss: None for equal ones, n / (classes * n_c) for "balanced", or a mapping.

    A class that the mapping does not name has weight 1.
    """
    if wanted is None:
        return None
    if isinstance(wanted, str) and wanted == "balanced":
        return balancing_weights(y, len(classes)) / len(classes)
    if not isinstance(wanted, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a mapping from classes to weights; got {wanted!r}")
    names = classes.tolist()
    strange = [name for name in wanted if name not in names]
    if strange:
        near = get_close_matches(str(strange[0]), [str(name) for name in names], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the classes are {', '.join(map(repr, names[:10]))}"
        raise ValueError(f"class_weight names {strange[0]!r}, which is no class of the training graphs: {hint}")
    weights = np.array([wanted.get(name, 1.0) for name in names], np.float64)
    if not all(isfinite(weight) and weight >= 0 for weight in weights) or not weights.any():
        raise ValueError(f"class weights must be numbers of at least 0, not all 0; got {dict(wanted)}")
    return weights
