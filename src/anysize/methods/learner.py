"""What a method gives back: trained models that score graphs, and that can be taken apart into plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.graphs.graphset import GraphSet
from anysize.methods.grids import Configuration
from anysize.training.loop import Trained

# ---- What a method is given: graphs or counts with their classes, and what to optimize.


Sizes = int | tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Examples:
    """Graphs, or tables counted before, with class numbers and environments where they are known.

    Tables are counted when a method asks for them, once per pattern size.
    """

    graphs: GraphSet | None = None
    y: IntArray | None = None
    environments: IntArray | None = None
    table: Counts | None = None
    _tables: dict[Any, Counts] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if (self.graphs is None) == (self.table is None):
            raise ValueError("examples are graphs or a table of counts: pass one of them")

    def __len__(self) -> int:
        return len(self.graphs if self.graphs is not None else self.table or ())

    def counts(self, k: Sizes, store: Any = None, colors: bool = True) -> Counts:
        """The table of patterns of these sizes, with colors where the graphs have some, unless they are not wanted."""
        if self.table is not None:
            return self.table
        assert self.graphs is not None
        sizes, colored = tuple(np.atleast_1d(k).tolist()), colors and self.graphs.colors is not None
        if (sizes, colored) not in self._tables:
            from anysize.counting.api import count  # numba is loaded here, not where counts come from a file

            self._tables[sizes, colored] = count(self.graphs, sizes, colored, store=store)
        return self._tables[sizes, colored]

    def rows(self, chosen: NDArray[Any]) -> Examples:
        """Some of the examples, by their numbers or as booleans, with rows of the tables counted so far."""
        return Examples(
            None if self.graphs is None else self.graphs[chosen],
            None if self.y is None else self.y[chosen],
            None if self.environments is None else self.environments[chosen],
            None if self.table is None else self.table[chosen],
            {key: table[chosen] for key, table in self._tables.items()},
        )

    def whole(self, method: str) -> GraphSet:
        """The graphs themselves, for methods that look at more than counts."""
        if self.graphs is None:
            raise ValueError(f"{method} looks at whole graphs and got a table of counts; pass the graphs themselves")
        return self.graphs

    def labels(self) -> IntArray:
        """The class numbers, which training and validation need."""
        if self.y is None:
            raise ValueError("these examples have no classes; pass y")
        return np.asarray(self.y, np.int64)


@dataclass(frozen=True, eq=False)
class LearningTask:
    """Training examples, validation examples where there are some, and what counts as good.

    ``top``: keep the most common patterns of the train pool only. ``class_weights``: weight of each class in the
    loss, None for equal ones. ``store``: a folder that keeps counts.
    """

    train: Examples
    validation: Examples | None
    classes: int
    k: Sizes = 5
    metric: Literal["accuracy", "mcc"] = "accuracy"
    top: int | None = None
    class_weights: NDArray[np.float64] | None = None
    device: str = "cpu"
    store: Any = None


def balancing_weights(y: IntArray, classes: int) -> NDArray[np.float64]:
    """1 / share of each class; 0 for a class that does not occur.

    Examples:
        >>> balancing_weights(np.array([0, 0, 0, 1]), 2).round(3).tolist()
        [1.333, 4.0]
    """
    amounts = np.bincount(y, minlength=classes)
    return np.where(amounts > 0, amounts.sum() / np.maximum(amounts, 1), 0.0)


# ----


Arrays = dict[str, NDArray[Any]]


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
