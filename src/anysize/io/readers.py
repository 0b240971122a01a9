"""All readers. A new format or library is one module, and one line here."""

from __future__ import annotations

from anysize.graphs.graphset import GraphSet
from anysize.io.adjacency import MATRIX_TEXT
from anysize.io.arrays import MAT, NPY, NPZ
from anysize.io.edgelist import EDGE_LIST
from anysize.io.graphml import GML, GRAPHML
from anysize.io.igraph import IGRAPH
from anysize.io.jsonlines import JSON_LINES
from anysize.io.matrices import MATRIX
from anysize.io.neighborlists import NEIGHBOR_LISTS
from anysize.io.networkx import NETWORKX
from anysize.io.pyg import PYG
from anysize.io.reader import Library
from anysize.io.smiles import RDKIT, SMILES_LINES
from anysize.io.table import EDGE_TABLE

GRAPH_SET = Library(
    "a GraphSet", frozenset({("anysize", "GraphSet")}), lambda sets, _: GraphSet.concatenate(sets), takes_color=False
)
LIBRARIES = (GRAPH_SET, NETWORKX, IGRAPH, PYG, RDKIT, EDGE_TABLE, MATRIX)  # of graph objects in memory
FORMATS = (  # of files; the first that matches is used, and the last takes any text
    GRAPHML,
    GML,
    NPY,
    NPZ,
    MAT,
    JSON_LINES,
    SMILES_LINES,
    NEIGHBOR_LISTS,
    MATRIX_TEXT,
    EDGE_LIST,
)
ENDINGS = tuple(ending for form in FORMATS for ending in form.endings)  # read in a folder, also with .gz
