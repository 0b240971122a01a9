"""Defaults that `GraphClassifier`, `GraphRegressor`, `compare` and the commands share. Imports nothing heavy."""

from __future__ import annotations

from typing import Literal

METHOD = "auto"
REGRESSION_METHOD = "sizemix"
K = 4  # vertices of the patterns
RECIPE: Literal["robust", "paper"] = "robust"
METRIC: Literal["accuracy", "mcc"] = "accuracy"
DEVICE = "auto"

# of comparisons: what users would try first, one of each kind
COMPARED_METHODS = ("auto", "sizemix", "gamma-gin", "gin-sum", "wl-kernel")
COMPARED_BY = "balanced_accuracy"  # class shares move with the size, and accuracy would reward the most common class
COMPARED_SEEDS = 5
