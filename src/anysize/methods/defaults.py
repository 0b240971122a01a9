"""Defaults that `GraphClassifier`, `anysize fit` and `anysize run FILE` share. Imports nothing heavy."""

from __future__ import annotations

from typing import Literal

METHOD = "auto"
K = 4  # vertices of the patterns
RECIPE: Literal["robust", "paper"] = "robust"
METRIC: Literal["accuracy", "mcc"] = "accuracy"
DEVICE = "auto"
