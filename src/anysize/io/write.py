"""Convert a GraphSet to networkx and PyG graphs, and write it as a TU folder."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray, PathLike
from anysize.graphs.attributes import IN
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners


def to_networkx(graphs: GraphSet, color: str = "color", edge_color: str = "edge_color") -> list[Any]:
    """Make one `networkx.Graph` per graph, or `DiGraph` if edges have directions, or different colors each way.

    Color names are in a vertex attribute, those of edges in an edge attribute; features are in vertex attributes of
    their names, or in the rows of one attribute ``features`` if they have no names.

    >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
    >>> to_networkx(path, color="atom")[0].nodes[2]
    {'atom': 'O'}
    """
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install networkx.") from None
    colors, result = graphs.edge_colors, []
    directed = graphs.directions is not None
    directed |= colors is not None and not np.array_equal(colors, colors[graphs.reverse_entries])
    for source in graphs:
        graph = networkx.DiGraph() if directed else networkx.Graph()
        graph.add_nodes_from(range(int(source.sizes[0])))
        arcs = list(map(tuple, source.arcs().tolist()))
        graph.add_edges_from(arcs)
        if source.colors is not None:
            networkx.set_node_attributes(graph, dict(enumerate(source.color_names())), color)
        if source.edge_colors is not None:
            networkx.set_edge_attributes(graph, dict(zip(arcs, source.arc_color_names(), strict=True)), edge_color)
        if source.features is not None:
            for name, values in _named_features(source).items():
                networkx.set_node_attributes(graph, dict(enumerate(values)), name)
        result.append(graph)
    return result


def _named_features(graphs: GraphSet) -> dict[str, list[Any]]:
    """The features by name: a number per vertex; or the rows, named features, if they have no names."""
    assert graphs.features is not None
    if not graphs.feature_names:
        return {"features": graphs.features.tolist()}
    return dict(zip(graphs.feature_names, graphs.features.T.tolist(), strict=True))


def to_pyg(graphs: GraphSet) -> list[Any]:
    """Make one PyG `Data` per graph: ``edge_index``, ``x``, ``edge_attr`` and ``y``.

    ``edge_index`` has both directions of edges without direction; ``x`` the features and after them the one-hot colors,
    ``edge_attr`` the one-hot edge colors. What a set does not have is left out; labels must be numbers.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError:
        raise ImportError("to_pyg needs torch and torch_geometric: pip install 'anysize[learn]'.") from None
    if graphs.y is not None and graphs.y.dtype.kind not in "biuf":
        raise GraphError(f"PyG labels must be numbers; got dtype {graphs.y.dtype}. Encode them first with with_y.")
    result = []
    for each in graphs:
        kept = slice(None) if each.directions is None else each.directions != IN
        ends = np.ascontiguousarray(each.arcs().T)
        data = Data(edge_index=torch.from_numpy(ends), num_nodes=int(each.sizes[0]))
        vertex_rows = [] if each.features is None else [each.features]
        if each.colors is not None:
            vertex_rows.append(np.eye(len(each.palette), dtype=np.float32)[each.colors])
        if vertex_rows:
            data.x = torch.from_numpy(np.concatenate(vertex_rows, axis=1))
        if each.edge_colors is not None:
            data.edge_attr = torch.from_numpy(np.eye(len(each.edge_palette), dtype=np.float32)[each.edge_colors[kept]])
        if each.y is not None:
            data.y = torch.tensor(each.y.tolist())  # with several targets a row
        result.append(data)
    return result


def to_tu(graphs: GraphSet, folder: PathLike, name: str) -> None:
    """Write the set as a TU folder ``folder/name/name_A.txt``, ...; `read_tu` reads the same set back.

    Integer colors and labels are written as they are. String colors, and palettes with unused colors, need the files
    ``name_node_label_names.txt`` and ``name_edge_label_names.txt``; string labels need ``name_graph_label_names.txt``,
    directions ``name_edge_directions.txt``. Floats to predict are ``name_graph_attributes.txt``. Graph names are not
    written. The folder is written completely or not at all.

    Args:
        graphs: the set.
        folder: where to make the new folder.
        name: the name of the new folder and of the set; the folder must not exist.
    """
    if not name or name != Path(name).name or name.startswith(".") or not name.isprintable():
        raise GraphError(f"The name of a TU set must be a file name without folders; got {name!r}.")
    contents = {
        **_structure(graphs),
        **_color_files("node", graphs.colors, graphs.palette),
        **_color_files("edge", graphs.edge_colors, graphs.edge_palette),
        **_features(graphs),
        **_graph_labels(graphs),
    }
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
    files = {"A": "".join(f"{u}, {v}\n" for u, v in pairs), "graph_indicator": _lines(graph.tolist())}
    return files if graphs.directions is None else {**files, "edge_directions": _lines(graphs.directions.tolist())}


def _color_files(what: str, codes: NDArray[np.uint16] | None, palette: tuple[ColorName, ...]) -> dict[str, str]:
    """The labels of vertices ("node") or edges ("edge"), and their names if these are needed."""
    if codes is None:
        return {}
    used = np.bincount(codes, minlength=len(palette)) > 0
    if used.all() and all(not isinstance(name, str) and abs(name) < 10**18 for name in palette):
        return {f"{what}_labels": _lines(palette[code] for code in codes.tolist())}
    return _encoded(what, codes.astype(np.int64), list(palette))


def _features(graphs: GraphSet) -> dict[str, str]:
    if graphs.features is None or not graphs.features.shape[1]:
        return {}
    files = {"node_attributes": _lines(", ".join(map(repr, row)) for row in graphs.features.tolist())}
    if not graphs.feature_names:
        return files
    return {**files, "node_attribute_names": _lines(json.dumps(name) for name in graphs.feature_names)}


def _graph_labels(graphs: GraphSet) -> dict[str, str]:
    if graphs.y is None:
        return {}
    if graphs.targets:
        raise GraphError("A TU folder holds one label per graph; choose a target, such as graphs.target(name).")
    if graphs.y.dtype.kind in "biu":
        if graphs.y.size and max(abs(int(graphs.y.min())), abs(int(graphs.y.max()))) >= 10**18:
            raise GraphError("TU graph labels must have at most 18 digits.")
        return {"graph_labels": _lines(graphs.y.astype(np.int64).tolist())}
    if graphs.y.dtype.kind == "U":
        names, codes = np.unique(graphs.y, return_inverse=True)
        return _encoded("graph", codes.astype(np.int64), names.tolist())
    if graphs.y.dtype.kind == "f":
        return {"graph_attributes": _lines(map(repr, graphs.y.tolist()))}
    raise GraphError(f"TU graph labels must be integers, strings or floats; got dtype {graphs.y.dtype}.")


def _encoded(what: str, codes: IntArray, names: list[ColorName]) -> dict[str, str]:
    return {
        f"{what}_labels": _lines(codes.tolist()),
        f"{what}_label_names": _lines(json.dumps(name) for name in names),
    }


def _lines(values: Iterable[Any]) -> str:
    return "".join(f"{value}\n" for value in values)
