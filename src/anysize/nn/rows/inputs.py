"""What networks on whole graphs know of vertices before the first layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._schema import edge_type, list_of
from anysize._typing import IntArray
from anysize.graphs.attributes import EdgeType, edge_types, with_attributes_of
from anysize.graphs.colors import ColorName
from anysize.graphs.features import FeatureScale
from anysize.graphs.graphset import GraphSet


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """What a model knows of the training graphs, and so takes from others.

    Inputs of a vertex are its features, standardized, and its color, one-hot (zero for an unknown color); the number 1
    without colors, so that sums over neighbors know degrees also where features have mean 0.

    Attributes:
        palette: the known colors; None for graphs without colors.
        scale: of the features; None for graphs without features.
        edge_types: the known types of edges; None for graphs without edge colors and directions.
    """

    palette: tuple[ColorName, ...] | None
    scale: FeatureScale | None = None
    edge_types: tuple[EdgeType, ...] | None = None

    @staticmethod
    def of(graphs: GraphSet) -> GraphInputs:
        """Those of training graphs."""
        types = edge_types(graphs)
        return GraphInputs(
            None if graphs.colors is None else graphs.palette,
            FeatureScale.of(graphs),
            None if types is None or not types[1] else tuple(types[1]),
        )

    @property
    def colors(self) -> int:
        """How many inputs are for colors."""
        return 1 if self.palette is None else max(len(self.palette), 1)

    @property
    def width(self) -> int:
        """The number of inputs of a vertex."""
        return self.colors + (0 if self.scale is None else len(self.scale.mean))

    @property
    def types(self) -> int:
        """The number of known types of edges; 0: edges are all alike."""
        return len(self.edge_types or ())

    def entry_types(self, graphs: GraphSet) -> tuple[IntArray, int] | None:
        """The type of every entry of ``indices``, and the number of types with one for all unknown ones.

        None if edges are all alike. A GraphError if edges have no colors and those of the training graphs have.

        >>> inputs = GraphInputs(None, None, (EdgeType("a", "a", 0), EdgeType("b", "b", 0)))
        >>> inputs.entry_types(GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["b", "c"]))
        (array([1, 1, 2, 2]), 3)
        """
        if self.edge_types is None:
            return None
        codes, types = edge_types(with_attributes_of(graphs, self.edge_types)) or (np.zeros(0, np.int64), [])
        position = {kind: number for number, kind in enumerate(self.edge_types)}
        known = np.array([position.get(kind, self.types) for kind in types], np.int64)
        return known[codes], self.types + bool((known == self.types).any())

    def state(self) -> dict[str, Any]:
        """A JSON-compatible dictionary."""
        palette = None if self.palette is None else list(self.palette)
        state: dict[str, Any] = {"palette": palette}
        if self.scale is not None:
            state["features"] = self.scale.state()
        if self.edge_types is not None:
            state["edge_types"] = [list(kind) for kind in self.edge_types]
        return state

    @staticmethod
    def from_state(about: Mapping[str, Any]) -> GraphInputs:
        """What `state` returned, among other entries."""
        palette, features, types = about["palette"], about.get("features"), about.get("edge_types")
        return GraphInputs(
            None if palette is None else tuple(palette),
            None if features is None else FeatureScale.from_state(features),
            None if types is None else tuple(EdgeType(*kind) for kind in list_of(edge_type)(types, "edge_types")),
        )


@dataclass(frozen=True, eq=False)
class InputClasses:
    """What distinguishes vertices, and edges, before the first layer.

    ``index`` (vertices,): the class of each vertex, a row of ``features`` (classes, inputs). ``degree`` (classes,): the
    degree of its vertices if classes are distinguished by degree, otherwise 0. Vertices with features, numbers that
    hardly recur, have a class each. ``types``: the types of edges, see `GraphInputs.entry_types`.
    """

    index: IntArray
    features: NDArray[np.float32]
    degree: NDArray[np.float32]
    types: tuple[IntArray, int] | None = None

    @staticmethod
    def of(graphs: GraphSet, inputs: GraphInputs, by_degree: bool = False) -> InputClasses:
        """The classes of the vertices of graphs; ``by_degree``: vertices of one class have the same degree.

        Examples:
            >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "X"])
            >>> classes = InputClasses.of(path, GraphInputs(("C", "O")))
            >>> classes.features[classes.index].tolist()
            [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
        """
        codes = _color_codes(graphs, inputs.palette)
        one_hot = np.eye(inputs.colors + 1, inputs.colors, k=-1, dtype=np.float32)  # code 0: an unknown color
        degrees = graphs.degrees if by_degree else np.zeros(len(codes), np.int64)
        types = inputs.entry_types(graphs)
        if inputs.scale is not None:
            features = np.concatenate([inputs.scale.apply(graphs), one_hot[codes]], axis=1)
            return InputClasses(np.arange(len(codes)), features, degrees.astype(np.float32), types)
        base = int(degrees.max(initial=0)) + 1
        keys, index = np.unique(codes * base + degrees, return_inverse=True)
        degree = (keys % base).astype(np.float32)
        return InputClasses(index.astype(np.int64), one_hot[keys // base], degree, types)


def _color_codes(graphs: GraphSet, palette: tuple[ColorName, ...] | None) -> IntArray:
    """1 + the position of every vertex's color in the palette, 0 for a color that is not in it."""
    if (graphs.colors is None) != (palette is None):
        trained, given = ("plain", "colored") if palette is None else ("colored", "plain")
        remedy = "call without_colors() on these" if palette is None else "give these graphs vertex colors"
        raise ValueError(f"this model was trained on {trained} graphs and got {given} ones; {remedy}")
    if palette is None or graphs.colors is None:
        return np.ones(int(graphs.first[-1]), np.int64)
    codes = {name: code + 1 for code, name in enumerate(palette)}
    known = np.array([codes.get(name, 0) for name in graphs.palette] or [0], np.int64)
    return known[graphs.colors]
