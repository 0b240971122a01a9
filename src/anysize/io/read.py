"""`read`: the one entry for files and folders of graphs."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.adjacency import from_adjacency_csv
from anysize.io.archive import Folder
from anysize.io.edgelist import ENDINGS, edge_lists, read_edge_list, read_edge_lists
from anysize.io.tu import read_tu, tu_sets


def read_graphs(path: str | os.PathLike[str], name: str | None = None) -> GraphSet:
    """The graphs in a file or a folder, of whatever supported form it has.

    - a TU folder (or its parent), or a zip file of one: see `read_tu`
    - another folder with CSV files, an adjacency matrix each: see `from_adjacency_csv`
    - a folder with edge lists (.txt, .edges, .edgelist), a graph each: see `read_edge_lists`
    - any other file: an edge list, plain or gzipped, see `read_edge_list`

    Args:
        path: the file or folder.
        name: which TU set, if the folder or zip file holds several.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> GraphSet.from_edges([(0, 1), (1, 2)], y=[1]).to_tu(folder.name, "PATHS")
        >>> read_graphs(folder.name)
        GraphSet(1 graph, 3 vertices, 2 edges, 1 class)
        >>> folder.cleanup()
    """
    where = Path(path)
    if where.is_dir():
        return _read_folder(where, name)
    if not where.is_file():
        raise GraphError(f"There is no file or folder {where}.")
    if where.suffix == ".zip" or zipfile.is_zipfile(where):
        return read_tu(where, name)
    if name is not None:
        raise GraphError(f"name= chooses a set in a TU folder or zip file; {where} is neither.")
    if where.name.endswith("_A.txt") and where.with_name(where.name[:-6] + "_graph_indicator.txt").exists():
        raise GraphError(f"{where} is one file of a TU set; read the folder {where.parent} instead.")
    return read_edge_list(where)


def _read_folder(where: Path, name: str | None) -> GraphSet:
    if name is not None or tu_sets(Folder(where).names):
        return read_tu(where, name)
    if any(where.glob("*.csv")):
        return from_adjacency_csv(where)
    if edge_lists(where) and not any(where.glob("*_graph_indicator.txt")):  # that one has lost its edges
        return read_edge_lists(where)
    raise GraphError(
        f"{where} holds no graphs: looked for a TU set (NAME_A.txt, NAME/NAME_A.txt), "
        f"for adjacency matrices (*.csv) and for edge lists (*{', *'.join(ENDINGS)})."
    )
