"""Defaults that `GraphClassifier`, `GraphRegressor`, `compare` and the commands share. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from anysize._typing import TargetKind

METHOD = "auto"
REGRESSION_METHOD = "sizemix"
K = 4  # vertices of the patterns
RECIPE: Literal["robust", "paper"] = "robust"
METRIC: Literal["accuracy", "mcc"] = "accuracy"
DEVICE = "auto"

# of comparisons: what users would try first, one of each kind
COMPARED_METHODS: Mapping[TargetKind, tuple[str, ...]] = {
    "classes": ("auto", "sizemix", "gamma-gin", "gin-sum", "wl-kernel"),
    "numbers": ("sizemix", "patterns-forest", "wl-kernel"),
}
# class shares move with the size, and accuracy would reward the most common class
COMPARED_BY: Mapping[TargetKind, str] = {"classes": "balanced_accuracy", "numbers": "rmse"}
COMPARED_SEEDS = 5
