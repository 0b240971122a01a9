"""What a method gives back: trained models that score graphs, and that can be taken apart into plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anysize.learning.training import Trained
from anysize.methods.grids import Configuration
from anysize.methods.problem import Examples, Sizes

Arrays = dict[str, NDArray[Any]]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One model to train: a point of a grid and a seed."""

    configuration: Configuration
    seed: int


class Fitted(Protocol):
    """M trained models of one method."""

    @property
    def runs(self) -> tuple[Run, ...]: ...

    @property
    def trained(self) -> Trained | None:
        """Curves and chosen epochs; None for methods without epochs."""
        ...

    def probabilities(self, examples: Examples) -> FloatArray:
        """(models, graphs, classes); kernels give the share of pairwise votes."""
        ...

    def represent(self, examples: Examples) -> FloatArray:
        """(models, graphs, width): what the classifier on top sees."""
        ...

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Everything that predicting needs: a dictionary that JSON holds, and plain arrays."""
        ...


def softmax(logits: NDArray[np.float32]) -> FloatArray:
    """Over the last axis, in double precision."""
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def sizes_of(configuration: Mapping[str, Any], k: Sizes) -> Sizes:
    """The pattern size of a configuration: its own where k is a hyper-parameter, else that of the problem."""
    chosen: Sizes = configuration.get("k", k)
    return chosen
