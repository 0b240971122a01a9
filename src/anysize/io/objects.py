"""Recognize graph objects of other libraries by the name of their class, so that no library is imported for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError, GraphWarning, warn_user

_CONVERSIONS = {  # of types that are no graphs, by `type_name`
    "str": "SMILES are read from tables: az.read_graphs(table, smiles=...).",
    "list": "Lists of edges are read by GraphSet.from_edges.",
    "dict": "Pass its graphs as a list: list(graphs.values()).",
    "torch_geometric.HeteroData": "Convert it by to_homogeneous(); color='node_type' keeps its node types.",
}


@dataclass(frozen=True)
class GraphType:
    """A type of graph objects: how messages name one, and its base classes as (top-level package, class name).

    >>> from scipy.sparse import eye_array
    >>> GraphType("a scipy sparse matrix", (("scipy", "sparray"),)).matches(eye_array(3))
    True
    """

    title: str
    base_classes: tuple[tuple[str, str], ...]

    def matches(self, value: Any) -> bool:
        """Whether the value is one graph of this type."""
        return any(
            (base.__module__.partition(".")[0], base.__name__) in self.base_classes for base in type(value).__mro__
        )

    def as_list(self, graphs: Any) -> list[Any]:
        """One graph or an iterable of graphs as a list; an error if one is of another type."""
        items = [graphs] if self.matches(graphs) else as_list(graphs, f"{self.title} or a list of them")
        for graph, item in enumerate(items):
            if not self.matches(item):
                got = f"Graph {graph} of the list has type {type_name(item)}"
                raise GraphError(f"{got}; expected {self.title}.{conversion_hint(item)}")
        return items


def as_list(values: Any, expected: str) -> list[Any]:
    """The items of an iterable, or of a dataset of torch such as a `Subset`, which has a length and items by number.

    Anything else, and a string or a dict, is an error that names what was expected. A loader that shuffles gives a
    warning: its order is another one in every pass.
    """
    refused = GraphError(f"Expected {expected}; got {type_name(values)}.{conversion_hint(values)}")
    if isinstance(values, (str, bytes, dict)):
        raise refused
    if "Random" in type(getattr(values, "sampler", None)).__name__:
        warn_user(
            "This DataLoader shuffles: labels and predictions are in the order of one pass, not of the dataset. "
            "Pass its dataset (loader.dataset), or use shuffle=False.",
            GraphWarning,
        )
    try:
        return list(values) if isinstance(values, Iterable) else [values[place] for place in range(len(values))]
    except (NotImplementedError, TypeError):  # PyG's HeteroData, and arrays without dimensions
        raise refused from None


def split_by_graph(values: Any, single: bool, graphs: int, name: str) -> list[Any]:
    """The values of an argument graph by graph: as given for a single graph, None for each if the argument is None."""
    if values is None:
        return [None] * graphs
    if single:
        return [values]
    if not hasattr(values, "__len__") or isinstance(values, str) or len(values) != graphs:
        raise GraphError(f"{name}: for a list of {graphs} graphs give a list of {graphs}, one entry per graph.")
    return list(values)


def check_attribute_name(color: Any, argument: str = "color") -> None:
    """Refuse several attribute names where one is expected."""
    if isinstance(color, (list, tuple, set, dict, np.ndarray)):
        element = "edge" if argument == "edge_color" else "vertex"
        raise GraphError(
            f"{argument} takes the name of one {element} attribute; got {color!s:.60}. "
            "Join several attributes into one string first, such as 'C+1'."
        )


def attribute_names(features: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names of attributes that hold features: one, several, or none."""
    return () if features is None else (features,) if isinstance(features, str) else tuple(map(str, features))


def stack_features(blocks: Sequence[tuple[str, Any]], graph: int) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
    """One table of the numbers, or rows of numbers, that vertices have in each attribute, and names of its columns.

    >>> table, names = stack_features([("charge", [0, 1]), ("at", [[0.5, 1], [2, 3]])], 0)
    >>> table.tolist(), names
    ([[0.0, 0.5, 1.0], [1.0, 2.0, 3.0]], ('charge', 'at_0', 'at_1'))
    """
    tables, names = [], []
    for name, values in blocks:
        try:
            table = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            table = np.zeros(())
        if table.ndim not in (1, 2):
            raise GraphError(
                f"Graph {graph}: expected a number, or as many numbers, for every vertex in the attribute {name!r}; "
                "pass color= for categories."
            )
        tables.append(table.reshape(len(table), -1 if table.size else 1))
        names += [name] if table.ndim == 1 else [f"{name}_{column}" for column in range(table.shape[1])]
    return (np.concatenate(tables, axis=1) if tables else None), tuple(names)


def is_array(value: Any) -> bool:
    """Whether a value is an array with at least one dimension: numpy, pandas or torch.

    >>> is_array(np.zeros((2, 2))), is_array([[0, 1], [1, 0]])
    (True, False)
    """
    return hasattr(value, "__array__") and np.ndim(value) > 0


def to_numpy(value: Any, what: str) -> NDArray[Any]:
    """An array, or a tensor of torch, as an array of numpy; ``what`` begins the error for what cannot be one."""
    try:
        return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise GraphError(f"{what}: expected a dense array; got {type_name(value)}: {reason}") from None


def conversion_hint(value: Any) -> str:
    """How a value that is no graph of a known type may become one, as a sentence after a space; empty if unknown.

    >>> conversion_hint([(0, 1), (1, 2)])
    ' Lists of edges are read by GraphSet.from_edges.'
    """
    hint = _CONVERSIONS.get(type_name(value))
    return "" if hint is None else f" {hint}"


def type_name(value: Any) -> str:
    """The type of a value with its top-level package: 'networkx.Graph', 'list'."""
    module = type(value).__module__.partition(".")[0]
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"
