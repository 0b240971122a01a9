"""`read_graphs`: read graphs from a file or a folder. ``FORMATS`` lists the supported file formats."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._typing import PathLike
from anysize.graphs.graphset import GraphSet
from anysize.io.adjacency import is_matrix, parse_matrix
from anysize.io.archive import open_zip, read_bytes, read_gzip
from anysize.io.arrays import parse_mat, parse_npy, parse_npz
from anysize.io.dropped import warn_unused
from anysize.io.edgelist import parse_edges
from anysize.io.graphml import parse_gml, parse_graphml
from anysize.io.jsonlines import is_json_lines, json_rows, parse_json_lines
from anysize.io.neighborlists import find_neighbor_lists, is_neighbor_lists, parse_neighbor_lists
from anysize.io.parsed import ParsedFile, ParsedRow, join_graphs
from anysize.io.smiles import SMILES_ENDINGS, parse_smiles, parse_smiles_lines, smiles_line_rows, smiles_rows
from anysize.io.tu import check_not_tu_part, find_sets, is_tu_folder, read_tu
from anysize.io.weights import Cut


class Format(NamedTuple):
    """A file format: its title, a test of name and content, its parser, and the options that the parser takes.

    ``rows`` also parses what the parser refuses or leaves out; None for formats without a graph on each row.
    """

    title: str
    matches: Callable[[str, bytes], bool]
    parse: Callable[..., ParsedFile]
    options: frozenset[str] = frozenset()
    rows: Callable[..., list[ParsedRow]] | None = None


_JSON = (".jsonl", ".ndjson")
_NAMED = frozenset({"color", "y", "edge_color", "features"})
_CUT = frozenset({"threshold", "density"})
FORMATS = (  # the first that matches is used; the last takes any text
    Format("GraphML", lambda name, data: name.endswith(".graphml"), parse_graphml, _NAMED),
    Format("GML", lambda name, data: name.endswith(".gml"), parse_gml, _NAMED),
    Format("numpy array", lambda name, data: name.endswith(".npy"), parse_npy, _CUT),
    Format("numpy archive", lambda name, data: name.endswith(".npz"), parse_npz, _CUT),
    Format("MATLAB", lambda name, data: name.endswith(".mat"), parse_mat, _CUT),
    Format(
        "JSON lines", lambda name, data: name.endswith(_JSON) or is_json_lines(data), parse_json_lines, rows=json_rows
    ),
    Format(
        "SMILES lines",
        lambda name, data: name.endswith(SMILES_ENDINGS),
        parse_smiles_lines,
        frozenset({"color", "atoms"}),
        smiles_line_rows,
    ),
    Format("neighbor lists", lambda name, data: is_neighbor_lists(data), parse_neighbor_lists),
    Format("adjacency matrix", lambda name, data: is_matrix(data, name), parse_matrix, _CUT),
    Format("edge list", lambda name, data: True, parse_edges, frozenset({"y", "edge_color", "directed"})),
)
MOLECULES = Format(
    "SMILES", lambda name, data: True, parse_smiles, frozenset({"smiles", "y", "color", "atoms"}), smiles_rows
)
_EDGE_LISTS = (".edges", ".edgelist", ".txt")
_NAMED_COLORS = (".graphml", ".gml")
_ARRAYS = (".npy", ".npz", ".mat")
ENDINGS = (
    *_NAMED_COLORS,
    *_ARRAYS,
    *_JSON,
    *SMILES_ENDINGS,
    ".csv",
    ".tsv",
    *_EDGE_LISTS,
)  # read in a folder, also with .gz
_MAX_FILES_SHOWN = 3


def read_graphs(
    path: PathLike | Any,
    name: str | None = None,
    *,
    smiles: str | None = None,
    y: str | None = None,
    color: str | None = None,
    atoms: Literal["rich", "element"] | None = None,
    edge_color: str | None = None,
    features: str | Sequence[str] | None = None,
    directed: bool | None = None,
    threshold: float | Sequence[float] | None = None,
    density: float | Sequence[float] | None = None,
    warn: bool = True,
) -> GraphSet:
    """Read the graphs in a file or a folder; the format is recognized by name and content.

    - a TU folder (or its parent), or a zip file of one
    - a table of molecules in SMILES: pass ``smiles``; a file with a SMILES on every line (.smi)
    - neighbor lists (the text format of isomorphism benchmarks), plain or in a zip file
    - an edge list (.txt, .edges, .edgelist, .csv, .tsv): two vertex numbers or names per line, or a table with a header
      such as ``source,target,weight`` and perhaps ``graph``
    - an adjacency matrix (.csv), or several (.npy, .npz, .mat)
    - GraphML and GML (needs networkx), JSON lines (.jsonl)
    - a folder of such files: graphs are ordered and named by file name (so is the graph of a file with one graph)

    Files may be gzipped. One warning names what is ignored (attributes, weights and columns that no
    argument names).

    Args:
        path: the file or folder; with ``smiles`` also a pandas data frame.
        name: which TU set to read, if the folder or zip file holds several.
        smiles: the column with the SMILES of molecules (needs RDKit).
        y: the column (tables) or graph attribute (GraphML, GML) with the label of a graph.
        color: the vertex attribute that holds the color (GraphML, GML), or the properties that
            distinguish atoms, see `GraphSet.from_rdkit`.
        atoms: what distinguishes atoms: "rich" (the default) for element, aromaticity, hydrogens and charge, or
            "element".
        edge_color: the column (edge tables) or edge attribute (GraphML, GML) with the color of an edge. Default for
            tables: a column such as ``type`` or ``relation``.
        features: the vertex attribute, or several, with numbers (GraphML, GML).
        directed: whether edges of an edge list without their reverse point from source to target. Default: only if
            some edges of a graph are given in both directions and others are not.
        threshold: for matrices: pairs with a larger weight, without its sign, are edges; see `GraphSet.from_scipy`.
        density: for matrices: the share of pairs that are edges, those with the largest weights.
        warn: whether to warn about what is ignored.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> GraphSet.from_edges([(0, 1), (1, 2)], y=[1]).to_tu(folder.name, "PATHS")
        >>> read_graphs(folder.name)
        GraphSet(1 graph, 3 vertices, 2 edges, 1 class)
        >>> folder.cleanup()
    """
    given: dict[str, Any] = {"smiles": smiles, "y": y, "color": color, "atoms": atoms, "edge_color": edge_color}
    for key, value in given.items():
        if value is not None and not isinstance(value, str):
            raise GraphError(f"{key} takes the name of a column or attribute; got {type(value).__name__}.")
    given |= {"features": features, "directed": directed, "threshold": threshold, "density": density}
    options = {key: value for key, value in given.items() if value is not None}
    if smiles is not None and hasattr(path, "to_csv"):  # a data frame
        parsed = MOLECULES.parse(path.to_csv(index=False).encode(), "the data frame", **options)
        return _join([parsed], parsed.names, warn, Path("the data frame"))
    if not isinstance(path, str | os.PathLike):
        raise GraphError(
            f"read_graphs takes a path, or with smiles= a data frame; got {type(path).__name__}. Graphs of libraries "
            "need no reading: pass them as they are, or use GraphSet.from_networkx, from_rdkit, ..."
        )
    path = Path(path)
    if not path.is_dir() and not path.is_file():
        raise GraphError(f"There is no file or folder {path}.")
    is_zip = path.is_file() and path.suffix != ".npz" and (path.suffix == ".zip" or zipfile.is_zipfile(path))
    if name is not None or (path.is_dir() and is_tu_folder(path)):
        if not path.is_dir() and not is_zip:
            raise GraphError(f"name= chooses a set in a TU folder or zip file; {path} is neither.")
        _check_options(options, frozenset(), f"the TU set in {path}")
        return read_tu(path, name, warn=warn)
    if is_zip:
        _check_options(options, frozenset(), str(path))
        return _read_zip(path, warn)
    if path.is_file():
        check_not_tu_part(path)
        parsed = _parse_file(path, options)
        names = [_stem(path)] if parsed.names is None and len(parsed.graphs) == 1 else parsed.names
        return _join([parsed], names, warn, path)
    files = _graph_files(path)
    try:
        parts = [_parse_file(file, options) for file in files]
    except GraphError as error:
        raise GraphError(f"{error} In a folder all such files are read: if this one holds no graph, move it.") from None
    return _join(parts, _names(files, parts), warn, path)


def has_named_colors(path: PathLike) -> bool:
    """Whether the colors of a file or folder are found by a name, ``color=``: GraphML, GML, lines of SMILES."""
    path, endings = Path(path), (*_NAMED_COLORS, *SMILES_ENDINGS)
    if path.is_dir():
        return not is_tu_folder(path) and any(_ending(file) in endings for file in path.glob("*"))
    return _ending(path) in endings


def _parse_file(file: Path, options: dict[str, Any]) -> ParsedFile:
    data = read_unpacked(file)
    form, parse_options = recognize(data, file.name, str(file), options)
    return form.parse(data, str(file), **parse_options)


def read_unpacked(file: Path) -> bytes:
    """The content of a file, which may be gzipped; an error if it is empty."""
    data = read_bytes(file)
    if data.startswith(b"\x1f\x8b") or file.suffix == ".gz":
        data = read_gzip(file)
    if not data.strip():
        raise GraphError(f"{file} is empty; expected a graph.")
    return data


def recognize(data: bytes, name: str, where: str, options: dict[str, Any]) -> tuple[Format, dict[str, Any]]:
    """The format of a file, and the options of its parser; an error for options that it does not take."""
    cut = Cut.of(options.get("threshold"), options.get("density"))
    name = name.removesuffix(".gz").lower()
    form = MOLECULES if "smiles" in options else next(form for form in FORMATS if form.matches(name, data))
    _check_options(options, form.options, f"{where}, which is read as {form.title}")
    parse_options = {key: value for key, value in options.items() if key not in _CUT}
    return form, {**parse_options, **({"cut": cut} if cut.levels else {})}


def _check_options(options: dict[str, Any], accepted: frozenset[str], what: str) -> None:
    for key in options:
        if key not in accepted:
            titles = [form.title for form in (*FORMATS, MOLECULES) if key in form.options]
            raise GraphError(f"{key}= is for {', '.join(titles)} files, not for {what}; leave it out.")


def _read_zip(path: Path, warn: bool) -> GraphSet:
    with open_zip(path) as archive:
        is_tu = bool(find_sets(archive.names))
        found = [] if is_tu else find_neighbor_lists(archive)
    if is_tu:
        return read_tu(path, warn=warn)
    if len(found) != 1:
        problem = "several files" if found else "no file"
        raise GraphError(
            f"{path} holds no TU set (expected NAME_A.txt) and {problem} of neighbor lists (expected one); unpack it "
            "to read other files."
        )
    ((where, data),) = found
    return _join([parse_neighbor_lists(data, where)], None, warn, path)


def _join(parts: Sequence[ParsedFile], names: list[str] | None, warn: bool, path: Path) -> GraphSet:
    graphs = [graph for part in parts for graph in part.graphs]
    labeled = [part.y is not None for part in parts]
    if any(labeled) and not all(labeled):
        raise GraphError(f"{path}: some files have labels of their graphs and others have none; read them separately.")
    y = [label for part in parts for label in np.asarray(part.y).tolist()] if all(labeled) else None
    try:
        joined = join_graphs(graphs, y, names=names)
    except ValueError as error:
        raise GraphError(f"{path}: {error}") from None
    if warn:
        warn_unused(graphs)
    return joined


def _graph_files(folder: Path) -> list[Path]:
    """The files of a folder that hold graphs by their names, sorted. Text beside them may be notes: not read."""
    try:
        files = sorted(file for file in folder.iterdir() if _ending(file) and file.is_file())
    except OSError as error:
        raise GraphError(f"Cannot list {folder}: {error.strerror}.") from None
    if not files or any(folder.glob("*_graph_indicator.txt")):
        raise GraphError(
            f"{folder} holds no graphs; expected a TU set (NAME_A.txt, NAME/NAME_A.txt) or files that end in "
            f"{', '.join(ENDINGS)}."
        )
    notes = [file for file in files if _ending(file) == ".txt"]
    if notes and not all(_ending(file) in _EDGE_LISTS for file in files):
        shown = ", ".join(file.name for file in notes[:_MAX_FILES_SHOWN])
        more = ", ..." if len(notes) > _MAX_FILES_SHOWN else ""
        warn_user(f"Text files beside graphs of other formats are not read: {shown}{more} in {folder}.", GraphWarning)
        return [file for file in files if file not in set(notes)]
    return files


def _names(files: list[Path], parts: Sequence[ParsedFile]) -> list[str]:
    """The names of graphs: of their files without ending, and of the graphs inside files with several."""
    names = []
    for file, part in zip(files, parts, strict=True):
        if len(part.graphs) == 1:
            names.append(_stem(file))
        else:
            inside = part.names or [str(number) for number in range(len(part.graphs))]
            names += [f"{_stem(file)}:{name}" for name in inside]
    return names


def _stem(file: Path) -> str:
    """The name of a file without its ending.

    >>> _stem(Path("ego.12.edges.gz")), _stem(Path("ego.12.dat"))
    ('ego.12', 'ego.12')
    """
    name, ending = file.name.removesuffix(".gz"), _ending(file)
    return name[: -len(ending)] if ending else Path(name).stem


def _ending(file: Path) -> str:
    """The ending of a file of graphs; nothing if it has none of them.

    >>> _ending(Path("ego.12.edges.gz")), _ending(Path("notes.md"))
    ('.edges', '')
    """
    name = file.name.removesuffix(".gz").lower()
    return next((ending for ending in ENDINGS if name.endswith(ending)), "")
