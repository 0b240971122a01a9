"""Graphs from other types and from files, and back.

`as_graphset` takes whatever holds graphs in memory, `read` whatever holds them on disk.
"""

from anysize.readers.adjacency import from_adjacency_csv
from anysize.readers.convert import as_graphset
from anysize.readers.edgelist import read_edge_list, read_edge_lists
from anysize.readers.files import read
from anysize.readers.memory import from_edges, from_igraph, from_networkx, from_scipy
from anysize.readers.pyg import from_pyg
from anysize.readers.tu import read_tu
from anysize.readers.writers import to_networkx, to_pyg, to_tu

__all__ = [
    "as_graphset",
    "from_adjacency_csv",
    "from_edges",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "read",
    "read_edge_list",
    "read_edge_lists",
    "read_tu",
    "to_networkx",
    "to_pyg",
    "to_tu",
]
