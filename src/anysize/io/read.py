"""`read_graphs`: read graphs from a file or a folder. ``FORMATS`` lists the supported formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from anysize._errors import GraphError
from anysize._typing import PathLike
from anysize.graphs.graphset import GraphSet
from anysize.io.adjacency import is_adjacency_folder, read_adjacency_csv
from anysize.io.edgelist import ENDINGS, is_edge_list_folder, read_edge_list, read_edge_lists
from anysize.io.tu import check_not_tu_part, is_tu, read_tu


class Format(NamedTuple):
    """A file format: what it looks like, a test whether a path has it, and its reader."""

    looks_like: str
    matches: Callable[[Path], bool]
    read: Callable[[Path], GraphSet]


FORMATS = (  # the first that matches is used
    Format("a TU set (NAME_A.txt, NAME/NAME_A.txt or a zip file of one)", is_tu, read_tu),
    Format("adjacency matrices (*.csv)", is_adjacency_folder, read_adjacency_csv),
    Format(f"edge lists (*{', *'.join(ENDINGS)})", is_edge_list_folder, read_edge_lists),
    Format("an edge list in a text file", Path.is_file, read_edge_list),
)


def read_graphs(path: PathLike, name: str | None = None) -> GraphSet:
    """Read the graphs in a file or a folder; the format is recognized.

    - a TU folder (or its parent), or a zip file of one: see `read_tu`
    - a folder with CSV files, one adjacency matrix each: see `read_adjacency_csv`
    - a folder with edge lists (.txt, .edges, .edgelist), one graph each: see `read_edge_lists`
    - any other file: an edge list, plain or gzipped: see `read_edge_list`

    Args:
        path: the file or folder.
        name: which TU set to read, if the folder or zip file holds several.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> GraphSet.from_edges([(0, 1), (1, 2)], y=[1]).to_tu(folder.name, "PATHS")
        >>> read_graphs(folder.name)
        GraphSet(1 graph, 3 vertices, 2 edges, 1 class)
        >>> folder.cleanup()
    """
    path = Path(path)
    if not path.is_dir() and not path.is_file():
        raise GraphError(f"There is no file or folder {path}.")
    if name is not None:
        if not path.is_dir() and not is_tu(path):
            raise GraphError(f"name= chooses a set in a TU folder or zip file; {path} is neither.")
        return read_tu(path, name)
    check_not_tu_part(path)
    for form in FORMATS:
        if form.matches(path):
            return form.read(path)
    raise GraphError(f"{path} holds no graphs; expected {', '.join(form.looks_like for form in FORMATS[:-1])}.")
