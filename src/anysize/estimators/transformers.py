"""Pattern densities as features: a scikit-learn transformer and a PyG transform."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from anysize._errors import naming_extra
from anysize._memory import dense
from anysize.counting.api import count
from anysize.counting.counts import Counts, Over, check_over
from anysize.estimators.ensemble import as_graphs_or_counts
from anysize.io.convert import as_graphset
from anysize.kernels.gram import short_indices
from anysize.methods.configuration import whole_number
from anysize.patterns.pattern import pattern_sizes

if TYPE_CHECKING:
    from pandas import DataFrame


class SubgraphDensities(TransformerMixin, BaseEstimator):
    """Densities of the connected induced patterns, as features for any scikit-learn estimator.

    The columns are the patterns, with their colors, that occur in the graphs of `fit`. Other patterns have no column,
    but count in the denominators of ``over="connected"``.

    Args:
        k: the number of vertices of the patterns, or several numbers.
        over: the denominator of the densities, see `Counts.densities`.
        colors: whether to use vertex colors.
        top: keep this many patterns, the most common ones; the others do not count in denominators either.
        color: for networkx, PyG and igraph graphs, the vertex attribute with the colors.
        sparse_output: False for numpy arrays, which `StandardScaler` and some other estimators need.

    After ``set_output(transform="pandas")`` the result is a data frame: patterns are columns, graph names the index.

    Examples:
        >>> from anysize import GraphSet
        >>> square, paw = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2), (2, 0), (2, 3)]
        >>> densities = SubgraphDensities(k=3)
        >>> densities.fit_transform(GraphSet.from_edges([square, paw])).toarray()
        array([[1.  , 0.  ],
               [0.5 , 0.25]])
        >>> densities.get_feature_names_out().tolist()
        ['3-path', 'triangle']
    """

    def __init__(
        self, k: int | Sequence[int] = 4, over: Over = "subsets", colors: bool = True, top: int | None = None,
        color: str | None = None, sparse_output: bool = True,
    ) -> None:  # fmt: skip
        self.k = k
        self.over = over
        self.colors = colors
        self.top = top
        self.color = color
        self.sparse_output = sparse_output

    def fit(self, graphs: Any, y: Any = None) -> SubgraphDensities:
        """Find the patterns that occur in graphs or in a table of counts; ``y`` is ignored."""
        self._learn(graphs)
        return self

    def fit_transform(self, graphs: Any, y: Any = None) -> csr_array[np.float64] | NDArray[np.float64] | DataFrame:
        """`fit`, then the densities of the same graphs."""
        counts = self._learn(graphs)
        return self._output(self._densities(counts), counts.names)

    def transform(self, graphs: Any) -> csr_array[np.float64] | NDArray[np.float64] | DataFrame:
        """(graphs, patterns)."""
        counts = self._known_counts(graphs)
        return self._output(self._densities(counts), counts.names)

    def rows(self, graphs: Any) -> csr_array[np.float64]:
        """(graphs, patterns), always sparse."""
        return self._densities(self._known_counts(graphs))

    def _known_counts(self, graphs: Any) -> Counts:
        check_is_fitted(self, "vocabulary_")
        counts = self._count(graphs)
        if len(counts) and (counts.columns.colors is None) != (self.vocabulary_.columns.colors is None):
            had, have = ("none", "some") if self.vocabulary_.columns.colors is None else ("some", "none")
            raise ValueError(f"the graphs of fit had {had} colors and these have {have}; color both or neither")
        return counts

    def _output(
        self, densities: csr_array[np.float64], names: tuple[str, ...] | None
    ) -> csr_array[np.float64] | NDArray[np.float64] | DataFrame:
        """The densities in the container that ``sparse_output`` and ``set_output`` ask for."""
        # scikit-learn's wrapper makes frames of arrays only, and takes the index of a frame of edges for that of graphs
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if self.sparse_output and wanted == "default":
            return densities
        table = dense(densities, "the table of densities", "use sparse_output=True without set_output")
        if wanted != "pandas":
            return table
        with naming_extra("set_output(transform='pandas')"):
            import pandas as pd
        return pd.DataFrame(table, index=None if names is None else list(names))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the patterns, one per column."""
        check_is_fitted(self, "vocabulary_")
        return np.array([pattern.name for pattern in self.vocabulary_.patterns], object)

    def _learn(self, graphs: Any) -> Counts:
        check_over(self.over)
        counts = self._count(graphs)
        kept = counts.select(np.bincount(counts.matrix.indices, minlength=len(counts.columns)) > 0)
        if self.top is not None:
            kept = kept.top(whole_number("top", self.top))
        self.vocabulary_ = replace(kept[:0], y=None, names=None, log=(), sampling=None)
        return counts

    def _count(self, graphs: Any) -> Counts:
        source = as_graphs_or_counts(graphs, self.color)
        if not isinstance(source, Counts):
            return count(source, pattern_sizes(self.k), colors=self.colors)
        source.columns.check_sizes(pattern_sizes(self.k))
        if not self.colors and source.columns.colors is not None:
            raise ValueError("colors=False needs counts without colors; count with colors=False")
        return source

    def _densities(self, counts: Counts) -> csr_array[np.float64]:
        if not len(counts):  # an empty set has no colors to compare
            return csr_array((0, len(self.vocabulary_.columns)), dtype=np.float64)
        if self.top is not None:
            return short_indices(counts.align(self.vocabulary_).densities(self.over))
        shares: Any = replace(counts, matrix=counts.densities(self.over), sampling=None)  # type: ignore[arg-type]
        return short_indices(shares.align(self.vocabulary_).matrix)


class AttachDensities:
    """A PyG transform that adds ``densities``, a float32 row (1, patterns), and ``pattern_names`` to every `Data`.

    PyG concatenates the rows when it makes a batch. Without vocabulary the columns are all uncolored patterns. Colored
    patterns differ from graph to graph: pass a fitted `SubgraphDensities`, which also sets k and over.

    Args:
        k: the number of vertices of the patterns, or several numbers.
        over: the denominator of the densities, see `Counts.densities`.
        vocabulary: a fitted `SubgraphDensities`, for colored patterns (its ``color`` names the field with the colors).

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), num_nodes=3)
        >>> AttachDensities(k=(2, 3))(triangle).densities
        tensor([[1., 0., 1.]])
    """

    def __init__(
        self, k: int | Sequence[int] = 4, over: Over = "subsets", vocabulary: SubgraphDensities | None = None
    ) -> None:
        check_over(over)
        if vocabulary is not None:
            check_is_fitted(vocabulary, "vocabulary_")
        self.k, self.over, self.vocabulary = pattern_sizes(k), over, vocabulary

    def __call__(self, data: Any) -> Any:
        """A copy of the data with densities."""
        with naming_extra("AttachDensities"):
            import torch
        if self.vocabulary is None:
            # no warning about unused fields: the copy keeps them
            counts = count(as_graphset(data, warn=False), self.k, colors=False)
            row, names = counts.densities(self.over), [pattern.name for pattern in counts.patterns]
        else:
            row, names = self.vocabulary.rows([data]), self.vocabulary.get_feature_names_out().tolist()
        extended = copy(data)
        extended.densities = torch.from_numpy(row.toarray().astype(np.float32))
        extended.pattern_names = names
        return extended

    def __repr__(self) -> str:
        return f"AttachDensities(k={self.k}, over={self.over!r}, vocabulary={self.vocabulary!r})"
