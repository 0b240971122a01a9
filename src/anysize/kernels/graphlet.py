"""The graphlet kernel: inner products of densities of connected induced patterns."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize.counting.api import count
from anysize.counting.counts import Counts, Over
from anysize.counting.counts_file import from_arrays, to_arrays
from anysize.graphs.labels import State
from anysize.kernels.gram import ExplicitKernel, short_indices
from anysize.patterns.pattern import pattern_sizes


class GraphletKernel(ExplicitKernel):
    r"""Densities of the connected induced k-vertex patterns, colored if the graphs are.

    .. math:: K(G, H) = \sum_F \omega_F(G)\, \omega_F(H)

    (Shervashidze et al. 2009), where omega_F is the share of F among the connected k-subsets with ``over="connected"``,
    as in the published rows of the paper. Patterns are matched by edges and color names. Those that no training graph
    has are not features, but count in the denominators.

    Args:
        k: size of the patterns.
        over: the denominator of densities, see `Counts.densities`.
        colors: distinguish vertices by color.
        top: keep only this many patterns, the most common ones of the training graphs (and of the validation graphs
            that `fit_transform` is given: "the most common subgraphs in training and validation"); the others are
            dropped before densities are computed, as in the paper for molecules (100) and DD (30000).

    `fit`, `transform` and `kernel` take graphs or `Counts` (``k`` and ``colors`` are then those of the table).

    Examples:
        >>> import anysize as az
        >>> square, paw = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2), (2, 0), (2, 3)]
        >>> graphs = az.GraphSet.from_edges([square, paw])
        >>> GraphletKernel(k=3).fit_transform(graphs).toarray().round(3)  # paths and triangles
        array([[1.   , 0.   ],
               [0.667, 0.333]])
    """

    def __init__(self, k: int = 5, over: Over = "connected", colors: bool = True, top: int | None = None) -> None:
        self.k = k
        self.over = over
        self.colors = colors
        self.top = top

    def fit_transform(self, graphs: Any, y: Any = None, validation: Any = None) -> csr_array[np.float64]:
        """Fit the kernel and return the features of the training graphs; see `ExplicitKernel.fit_transform`."""
        if self.top is not None and self.top < 1:
            raise ValueError(f"top must be at least 1, or None for all patterns; got {self.top}")
        counts = self._count(graphs)
        kept = counts
        if self.top is not None:
            pool = [counts] if validation is None else [counts, self._count(validation)]
            kept = Counts.concatenate(pool).top(self.top)
        self.columns_ = replace(kept[:0], y=None, names=None, log=(), sampling=None)
        self.features_ = self._features(counts)
        return self.features_

    def transform(self, graphs: Any) -> csr_array[np.float64]:
        """Features (graphs, patterns) over the patterns of the training graphs."""
        return self._features(self._count(graphs))

    def _count(self, graphs: Any) -> Counts:
        return graphs if isinstance(graphs, Counts) else count(graphs, self.k, colors=self.colors)

    def _features(self, counts: Counts) -> csr_array[np.float64]:
        if self.top is not None:
            return short_indices(counts.align(self.columns_).densities(self.over))
        densities: Any = replace(counts, matrix=counts.densities(self.over), sampling=None)  # type: ignore[arg-type]
        return short_indices(densities.align(self.columns_).matrix)

    def state(self) -> State:
        """What was learned: a JSON-compatible dictionary, and arrays."""
        arrays = to_arrays(self.columns_)
        about = {
            "kernel": "graphlet",
            "k": self.k if isinstance(self.k, int) else [int(size) for size in self.k],
            "over": self.over,
            "colors": bool(self.colors),
            "top": None if self.top is None else int(self.top),
            "columns": json.loads(arrays.pop("about").tobytes()),
        }
        return about, arrays

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GraphletKernel:
        """Restore a kernel from what `state` returned."""
        sizes: Any = pattern_sizes(about["k"])
        restored = cls(sizes, about["over"], about["colors"], about["top"])
        restored.columns_ = from_arrays(about["columns"], arrays)
        return restored
