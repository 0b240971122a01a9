"""Convert a GraphSet to networkx and PyG graphs, and write it as a TU folder."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize._typing import IntArray, PathLike
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners


def to_networkx(graphs: GraphSet, color: str = "color") -> list[Any]:
    """Make one `networkx.Graph` per graph, with color names in a vertex attribute.

    >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
    >>> to_networkx(path, color="atom")[0].nodes[2]
    {'atom': 'O'}
    """
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install networkx.") from None
    result = []
    for one in graphs:
        graph = networkx.Graph()
        graph.add_nodes_from(range(int(one.sizes[0])))
        graph.add_edges_from(one.edges().tolist())
        if one.colors is not None:
            networkx.set_node_attributes(graph, dict(enumerate(one.color_names())), color)
        result.append(graph)
    return result


def to_pyg(graphs: GraphSet) -> list[Any]:
    """Make one PyG `Data` per graph: ``edge_index`` in both directions, one-hot ``x`` over the palette, ``y``.

    Uncolored sets have no ``x``, unlabeled ones no ``y``; labels must be numbers.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError:
        raise ImportError("to_pyg needs torch and torch_geometric: pip install 'anysize[learn]'.") from None
    if graphs.y is not None and graphs.y.dtype.kind not in "biuf":
        raise GraphError(f"PyG labels must be numbers; got dtype {graphs.y.dtype}. Encode them first with with_y.")
    result = []
    for one in graphs:
        source = owners(one.indptr)
        ends = np.stack([source, one.indices.astype(np.int64)])
        data = Data(edge_index=torch.from_numpy(ends), num_nodes=int(one.sizes[0]))
        if one.colors is not None:
            data.x = torch.from_numpy(np.eye(len(one.palette), dtype=np.float32)[one.colors])
        if one.y is not None:
            data.y = torch.tensor(one.y.tolist())
        result.append(data)
    return result


def to_tu(graphs: GraphSet, folder: PathLike, name: str) -> None:
    """Write the set as a TU folder ``folder/name/name_A.txt``, ...; `read_tu` reads the same set back.

    Integer colors and labels are written as they are. String colors, and palettes with unused colors, need the file
    ``name_node_label_names.txt``; string labels need ``name_graph_label_names.txt``. Graph names are not written. The
    folder is written completely or not at all.

    Args:
        graphs: the set.
        folder: where to make the new folder.
        name: the name of the new folder and of the set; the folder must not exist.
    """
    if not name or name != Path(name).name or name.startswith(".") or not name.isprintable():
        raise GraphError(f"The name of a TU set must be a file name without folders; got {name!r}.")
    contents = {**_structure(graphs), **_node_labels(graphs), **_graph_labels(graphs)}
    final = Path(folder) / name
    if final.exists():
        raise GraphError(f"{final} already exists; remove it or choose another name.")
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = final.with_name(f".{name}-{secrets.token_hex(4)}")
    partial.mkdir()
    try:
        for ending, text in contents.items():
            (partial / f"{name}_{ending}.txt").write_text(text, encoding="utf-8", newline="\n")
        partial.rename(final)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _structure(graphs: GraphSet) -> dict[str, str]:
    if graphs.y is None and (graphs.sizes == 0).any():
        at = int(np.flatnonzero(graphs.sizes == 0)[0])
        raise GraphError(
            f"Graph {at} has no vertices; a TU folder can only hold an empty graph that has a label, so give the set y."
        )
    graph, source, target = owners(graphs.first) + 1, owners(graphs.indptr) + 1, graphs.neighbors + 1
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    return {"A": "".join(f"{u}, {v}\n" for u, v in pairs), "graph_indicator": _lines(graph.tolist())}


def _node_labels(graphs: GraphSet) -> dict[str, str]:
    if graphs.colors is None:
        return {}
    palette = graphs.palette
    used = np.bincount(graphs.colors, minlength=len(palette)) > 0
    if used.all() and all(not isinstance(name, str) and abs(name) < 10**18 for name in palette):
        return {"node_labels": _lines(palette[code] for code in graphs.colors.tolist())}
    return _encoded("node", graphs.colors.astype(np.int64), list(palette))


def _graph_labels(graphs: GraphSet) -> dict[str, str]:
    if graphs.y is None:
        return {}
    if graphs.y.dtype.kind in "biu":
        if graphs.y.size and max(abs(int(graphs.y.min())), abs(int(graphs.y.max()))) >= 10**18:
            raise GraphError("TU graph labels must have at most 18 digits.")
        return {"graph_labels": _lines(graphs.y.astype(np.int64).tolist())}
    if graphs.y.dtype.kind == "U":
        names, codes = np.unique(graphs.y, return_inverse=True)
        return _encoded("graph", codes.astype(np.int64), names.tolist())
    raise GraphError(f"TU graph labels must be integers or strings; got dtype {graphs.y.dtype}.")


def _encoded(what: str, codes: IntArray, names: list[ColorName]) -> dict[str, str]:
    return {
        f"{what}_labels": _lines(codes.tolist()),
        f"{what}_label_names": _lines(json.dumps(name) for name in names),
    }


def _lines(values: Iterable[Any]) -> str:
    return "".join(f"{value}\n" for value in values)
