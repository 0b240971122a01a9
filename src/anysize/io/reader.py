"""What readers take, `ReadOptions`, and what they give, a `ParsedSet`.

A reader is a `Library` of graph objects or a `Format` of files; ``readers.py`` lists them, and `join_graphs` makes a
`GraphSet` of what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from operator import ne
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._schema import is_integer
from anysize._typing import IntArray, PathLike
from anysize.graphs.graphset import GraphSet

NAMES = ("smiles", "color", "atoms", "edge_color")  # options that take one name
_CONVERSIONS = {  # of types that are no graphs, by `type_name`
    "str": "SMILES are read from tables: az.read_graphs(table, smiles=...).",
    "list": "Lists of edges are read by GraphSet.from_edges.",
    "dict": "Pass its graphs as a list: list(graphs.values()).",
    "torch_geometric.HeteroData": "Convert it by to_homogeneous(); color='node_type' keeps its node types.",
}


@dataclass(frozen=True)
class ReadOptions:
    """Which parts of a source become attributes of its graphs; None where the reader decides.

    Attributes:
        smiles: the column of a table with the SMILES of molecules.
        y: the column (tables) or graph attribute (GraphML, GML) with the label of a graph; a list of them for several
            targets.
        color: what tells vertices apart: a vertex attribute (networkx, igraph, GraphML, GML), a field (PyG), or
            properties of atoms (molecules).
        atoms: "rich" or "element", in place of ``color`` for molecules.
        edge_color: what tells edges apart: an edge attribute, a field (PyG), a column (tables), or properties of bonds.
        features: the vertex attributes or fields with numbers.
        directed: whether an edge without its reverse points from its first to its second vertex (edge lists, tables).
        threshold: weights above it are edges (matrices); one number or several.
        density: the share of pairs that are edges (matrices); one number or several.
        labels: a file with the labels, which is no graph itself where it lies in the folder that is read.
    """

    smiles: str | None = None
    y: str | Sequence[str] | None = None
    color: str | None = None
    atoms: str | None = None
    edge_color: str | None = None
    features: str | Sequence[str] | None = None
    directed: bool | None = None
    threshold: float | Sequence[float] | None = None
    density: float | Sequence[float] | None = None
    labels: PathLike | None = None

    def __post_init__(self) -> None:
        for name in NAMES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, str | int):
                got = str(list(value)) if isinstance(value, list | tuple) else type(value).__name__
                raise GraphError(
                    f"{name} takes the name of one column or attribute; got {got:.60}. To use several as one, join "
                    "them into one string first, such as 'C+1'."
                )
        several = self.y if isinstance(self.y, list | tuple) else None
        if several is None and not isinstance(self.y, str | int | None):
            raise GraphError(f"y takes the name of one column or attribute, or a list; got {type(self.y).__name__}.")
        if several is not None and not 0 < len(set(map(str, several))) == len(several):
            raise GraphError(f"y takes different names of columns or attributes; got {list(several)!s:.60}.")

    def one_label(self, where: str) -> str | None:
        """The column or attribute with the label, where there cannot be several; an error for several."""
        if self.targets:
            raise GraphError(
                f"{where}: y takes one column here; give several targets in a file with a line per graph, by labels= "
                "(--labels)."
            )
        return self.y if self.y is None else str(self.y)

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns or attributes with targets, if ``y`` is a list of them."""
        return tuple(map(str, self.y)) if isinstance(self.y, list | tuple) else ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The attributes with features."""
        named = () if self.features is None else self.features
        return (named,) if isinstance(named, str) else tuple(map(str, named))

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not None, without ``labels``, which go with every format."""
        return {name: value for name, value in vars(self).items() if value is not None and name != "labels"}


@dataclass(frozen=True)
class ParsedGraph:
    """One graph as read: vertices 0 .. size - 1, edges, and what they carry.

    Attributes:
        colors: one per vertex. edge_colors: one per edge. features: a row of numbers per vertex.
        weights: edge weights of matrices (loops left out).
        directed: whether an edge without its reverse has a direction, as in `assemble`: True for sources that list
            every undirected edge in both directions by convention; None if it is not known.
        size_inferred: the source does not tell the size, which is the largest vertex number plus 1.
        vertex_names: integers or strings, as `name_array` makes them; None if the source numbers vertices 0, 1, ...
    """

    size: int
    source: IntArray
    target: IntArray
    colors: Any = None
    edge_colors: Any = None
    features: Any = None
    feature_names: tuple[str, ...] = ()
    weights: Any = None
    directed: bool | None = None
    size_inferred: bool = False
    vertex_names: NDArray[Any] | None = None


def name_array(names: Iterable[Any]) -> NDArray[Any] | None:
    """Names of the vertices of a graph as integers, or else as strings; None if they are 0, 1, ...

    >>> name_array([7, 3]), name_array(["b", 3]), name_array([0, 1])
    (array([7, 3]), array(['b', '3'], dtype=object), None)
    """
    given = list(names)
    if not any(map(ne, given, count())) or not any(map(ne, map(str, given), map(str, count()))):
        return None
    if all(is_integer(name) and abs(name) < 1 << 63 for name in given):
        return np.array(given, np.int64)
    return np.array([str(name) for name in given], object)


@dataclass(frozen=True)
class ParsedSet:
    """The graphs of one source.

    Attributes:
        graphs: None for a row of the source that cannot be read.
        y: one label per graph, None for those without one; None if the source has no labels. With several targets a
            row of them per graph.
        targets: the names of several targets.
        names: one per graph, or None.
        unused: clauses about what the source holds and a set of its graphs does not; looked at once.
        color_title: what errors about colors begin with.
        y_problem: a clause: why the labels of the source cannot be used; empty if they are, or if there are none.
        problems: for sources with a graph on each row: why a row has none; empty for rows with one.
        lines: the numbers of these rows in the source, from 1.
        columns: what else these rows hold, by name: one value per row.
    """

    graphs: Sequence[ParsedGraph | None]
    y: Any = None
    names: Sequence[str] | None = None
    unused: Iterable[str] = ()
    color_title: str = "colors"
    y_problem: str = ""
    problems: Sequence[str] = ()
    lines: Sequence[int] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    targets: Sequence[str] = ()


@dataclass(frozen=True)
class Library:
    """A type of graph objects in memory.

    Attributes:
        title: how messages name one.
        classes: its base classes as (top-level package, class name), so that no library is imported for it.
        parse: the graphs of a list of such objects; a set that needs no checks is passed on as it is.
        takes_color: whether vertex attributes of the objects have names.
        recognizes: whether such an object is a graph; None if each of them is.
    """

    title: str
    classes: frozenset[tuple[str, str]]
    parse: Callable[[list[Any], ReadOptions], ParsedSet | GraphSet]
    takes_color: bool = True
    recognizes: Callable[[Any], bool] | None = None

    def includes(self, value: Any) -> bool:
        """Whether a value is an object of the library."""
        return not self.classes.isdisjoint(_class_names(cast(Hashable, type(value))))


@cache
def _class_names(kind: Any) -> frozenset[tuple[str, str]]:
    """The base classes of a type as (top-level package, class name)."""
    return frozenset((base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__)


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        title: how messages name it.
        parse: the graphs of (content, how messages name the file, options).
        options: the names of the `ReadOptions` that it takes.
        endings: of the names of files that have this format, whatever their content.
        recognizes: whether (content, name) has this format; None if only the ending says so.
        has_rows: whether each row of the file is a graph, so that a row that cannot be read is one row less.
        leaves_out: whether such rows are left out with a warning in training, and are no error.
        columns: what else (content, how messages name the file) says of each graph; None for nothing, and where parse
            gives it.
    """

    title: str
    parse: Callable[[bytes, str, ReadOptions], ParsedSet]
    options: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    recognizes: Callable[[bytes, str], bool] | None = None
    has_rows: bool = False
    leaves_out: bool = False
    columns: Callable[[bytes, str], Mapping[str, Sequence[Any]]] | None = None

    def matches(self, data: bytes, name: str) -> bool:
        """Whether a file of this content and name, in lower case and without .gz, has this format."""
        return name.endswith(self.endings) or (self.recognizes is not None and self.recognizes(data, name))


# ---- objects in memory -------------------------------------------------------------------------------


def as_list(values: Any, expected: str) -> list[Any]:
    """The items of an iterable, or of a dataset of torch such as a `Subset`, which has a length and items by number.

    Anything else, and a string or a dict, is an error that names what was expected. A loader that shuffles gives a
    warning: its order is another one in every pass.
    """
    if "Random" in type(getattr(values, "sampler", None)).__name__:
        warn_user(
            "This DataLoader shuffles: labels and predictions are in the order of one pass, not of the dataset. "
            "Pass its dataset (loader.dataset), or use shuffle=False.",
            GraphWarning,
        )
    try:
        if not isinstance(values, str | bytes | dict):
            return list(values) if isinstance(values, Iterable) else [values[row] for row in range(len(values))]
    except (NotImplementedError, TypeError):  # PyG's HeteroData, and arrays without dimensions
        pass
    raise GraphError(f"Expected {expected}; got {type_name(values)}.{conversion_hint(values)}")


def split_by_graph(values: Any, single: bool, graphs: int, name: str) -> list[Any]:
    """The values of an argument graph by graph: as given for a single graph, None for each if the argument is None."""
    if values is None:
        return [None] * graphs
    if single:
        return [values]
    if not hasattr(values, "__len__") or isinstance(values, str) or len(values) != graphs:
        raise GraphError(f"{name}: for a list of {graphs} graphs give a list of {graphs}, one entry per graph.")
    return list(values)


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
