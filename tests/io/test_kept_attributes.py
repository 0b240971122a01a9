"""Every reader keeps the edge colors, directions and features of its source."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from anysize import GraphError, GraphSet, GraphWarning, read_graphs

ARCS = {(0, 1): "b", (1, 0): "a", (1, 2): "b"}  # of a directed graph on three vertices, with types
ROWS = [[0.5, 1.0], [1.5, 0.0], [-2.0, 1.0]]


def directed() -> Any:
    graph = nx.DiGraph()
    for vertex, (charge, mass) in enumerate(ROWS):
        graph.add_node(vertex, charge=charge, mass=mass, both=[charge, mass])
    for (u, v), kind in ARCS.items():
        graph.add_edge(u, v, kind=kind)
    return graph


def check(graphs: GraphSet, names: tuple[str, ...] = ("charge", "mass")) -> None:
    graphs.check()
    assert dict(zip(map(tuple, graphs.arcs().tolist()), graphs.arc_color_names(), strict=True)) == ARCS
    assert graphs.features is not None
    assert graphs.features.tolist() == ROWS
    assert graphs.feature_names == names


def test_networkx() -> None:
    names = ["charge", "mass"]
    check(GraphSet.from_networkx(directed(), edge_color="kind", features=names))
    check(GraphSet.from_networkx(directed(), edge_color="kind", features="both"), ("both_0", "both_1"))
    multi = GraphSet.from_networkx(nx.MultiDiGraph(directed()), edge_color="kind", features=names)
    check(multi)
    graph = directed()
    del graph.edges[1, 2]["kind"]
    graph.nodes[0]["charge"] = "high"
    with pytest.raises(GraphError, match=r"edge \(1, 2\) has no attribute 'kind'; give every edge one"):
        GraphSet.from_networkx(graph, edge_color="kind", features=names)
    with pytest.raises(GraphError, match="expected a number, or as many numbers, for every vertex in the attribute"):
        GraphSet.from_networkx(graph, features=names)
    with pytest.raises(GraphError, match="edge_color takes the name of one column or attribute"):
        GraphSet.from_networkx(graph, edge_color=["kind"])  # type: ignore[arg-type]


def test_an_undirected_graph_in_a_directed_set_has_edges_both_ways() -> None:
    graphs = GraphSet.from_networkx([nx.path_graph(2), nx.DiGraph([(0, 1)])])
    assert [one.arcs().tolist() for one in graphs] == [[[0, 1], [1, 0]], [[0, 1]]]
    assert graphs.directions is not None
    assert graphs.directions.tolist() == [0, 0, 1, 2]


def test_igraph() -> None:
    graph = igraph.Graph(list(ARCS), directed=True)
    graph.vs["charge"], graph.vs["mass"] = zip(*ROWS, strict=True)
    graph.es["kind"] = list(ARCS.values())
    check(GraphSet.from_igraph(graph, edge_color="kind", features=["charge", "mass"]))
    with pytest.raises(GraphError, match="edge 0 has no attribute 'order'"):
        GraphSet.from_igraph(graph, edge_color="order", features="mass")


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_graphml_and_gml(tmp_path: Path, ending: str) -> None:
    graph = directed()
    for vertex in graph:
        del graph.nodes[vertex]["both"]
    getattr(nx, f"write_{ending}")(graph, tmp_path / f"g.{ending}")
    check(read_graphs(tmp_path, edge_color="kind", features=["charge", "mass"]))


def test_json_lines(tmp_path: Path) -> None:
    record = {
        "edges": list(ARCS), "edge_colors": list(ARCS.values()), "features": ROWS,
        "feature_names": ["charge", "mass"], "directed": True,
    }  # fmt: skip
    (tmp_path / "g.jsonl").write_text(json.dumps(record))
    check(read_graphs(tmp_path / "g.jsonl"))
    for change, message in (
        ({"directed": 1}, 'line 1: expected "directed" to be true or false; got 1'),
        ({"feature_names": "x"}, 'expected "feature_names" to be a list of strings'),
        ({"features": 5}, 'expected "features" to be a list of rows of numbers; got 5'),
        ({"features": [[1], [2]]}, "expected a row of numbers for each of 3 vertices"),
        ({"feature_names": ["a"]}, "feature_names has length 1, expected 2"),
        ({"edge_colors": ["a"]}, "3 edges but 1 edge colors"),
    ):
        (tmp_path / "g.jsonl").write_text(json.dumps(record | change))
        with pytest.raises(GraphError, match=message):
            read_graphs(tmp_path / "g.jsonl")


def test_pyg() -> None:
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    def data(**fields: Any) -> Any:
        return Data(edge_index=torch.tensor(list(ARCS)).T, num_nodes=3, **fields)

    rows, bits = torch.tensor(ROWS), torch.tensor([[0, 1], [1, 0], [0, 1]])
    check_codes = {(0, 1): 1, (1, 0): 0, (1, 2): 1}
    for attr in (bits, bits.float(), torch.tensor([1, 0, 1]), torch.tensor([[1], [0], [1]])):
        graphs = GraphSet.from_pyg([data(x=rows, edge_attr=attr), data(x=rows, edge_attr=attr)])
        graphs.check()
        assert graphs.features is not None
        assert graphs.features.tolist() == ROWS * 2
        for one in graphs:
            assert dict(zip(map(tuple, one.arcs().tolist()), one.arc_color_names(), strict=True)) == check_codes
    joined = GraphSet.from_pyg(data(edge_attr=torch.tensor([[1, 5], [0, 5], [1, 5]])))
    assert joined.edge_palette == ("0,5", "1,5")
    named = data(edge_order=torch.tensor([1, 0, 1]), charge=rows[:, 0])
    with pytest.warns(GraphWarning, match="pass edge_color='edge_order'"):
        GraphSet.from_pyg(named, features="charge")
    kept = GraphSet.from_pyg(named, edge_color="edge_order", features="charge")
    assert (kept.edge_palette, kept.feature_names) == ((0, 1), ("charge",))
    isolated = Data(x=rows[:1], edge_index=torch.zeros((2, 0), dtype=torch.long), edge_attr=torch.zeros((0, 2)))
    assert GraphSet.from_pyg([data(x=rows, edge_attr=bits), isolated])[1].edge_colors is not None


def test_pyg_fields_that_cannot_be_kept_are_named() -> None:
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    edges = torch.tensor([[0, 1], [1, 0]])
    for x in (torch.tensor([[0], [1]]), torch.tensor([[0, 5], [1, 5]])):
        with pytest.warns(GraphWarning, match="color='x'"):
            assert GraphSet.from_pyg(Data(edge_index=edges, x=x)).features is None
    with pytest.warns(GraphWarning, match="'edge_attr'"):
        assert GraphSet.from_pyg(Data(edge_index=edges, edge_attr=torch.tensor([0.5, 1]), num_nodes=2)).features is None
    colored = GraphSet.from_pyg(Data(edge_index=edges, x=torch.eye(2)), color="x")
    assert (colored.palette, colored.features) == ((0, 1), None)


def test_smiles_have_bonds_and_rich_atoms(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles\nc1ccccc1C=O\nC#[N+][O-]\nC\n")
    graphs = read_graphs(tmp_path / "m.csv", smiles="smiles", atoms="element")
    graphs.check()
    assert graphs.palette == ("C", "N", "O")
    assert graphs.edge_palette == ("aromatic", "double", "single", "triple")
    assert sorted(graphs.arc_color_names(0)) == ["aromatic"] * 12 + ["double"] * 2 + ["single"] * 2
    assert graphs.arc_color_names(1) == ("triple", "triple", "single", "single")
    assert graphs.arc_color_names(2) == ()
    assert graphs.directions is None
    rich = read_graphs(tmp_path / "m.csv", smiles="smiles")
    assert rich.color_names(1) == ("CH", "N+", "O-")
    assert set(rich.color_names(0)) == {"cH", "c", "CH", "O"}
    assert read_graphs(tmp_path / "m.csv", smiles="smiles", atoms="rich").equals(rich)
    for options in ({"atoms": "all"}, {"atoms": "rich", "color": "element"}):
        with pytest.raises(GraphError, match="atoms is 'rich' or 'element', and color is left out"):
            read_graphs(tmp_path / "m.csv", smiles="smiles", **options)  # type: ignore[arg-type]


def correlations(size: int, seed: int) -> Any:
    return np.corrcoef(np.random.default_rng(seed).normal(size=(size, 20)))


def test_thresholds_and_densities_against_all_pairs() -> None:
    matrix = correlations(9, 0)
    pairs = {(u, v): abs(matrix[u, v]) for u in range(9) for v in range(u + 1, 9)}
    kept = sorted(pair for pair, weight in pairs.items() if weight > 0.3)
    assert list(map(tuple, GraphSet.from_scipy(matrix, threshold=0.3).edges().tolist())) == kept
    strongest = sorted(sorted(pairs, key=pairs.__getitem__)[-9:])  # a quarter of 36
    for given in (matrix, np.triu(matrix), sp.csr_array(matrix)):
        graphs = GraphSet.from_scipy(given, density=0.25)
        assert list(map(tuple, graphs.edges().tolist())) == strongest
        assert graphs.directions is None
    levels = GraphSet.from_scipy(matrix, threshold=(0.1, 0.3))
    for (u, v), name in zip(levels.arcs().tolist(), levels.arc_color_names(), strict=True):
        assert name == 1 + (pairs[min(u, v), max(u, v)] > 0.3)
    ties = GraphSet.from_scipy(np.ones((4, 4)), density=0.2)
    assert ties.edge_counts.tolist() == [6]  # as strong as the weakest edge


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.5, "density": 0.5}, "threshold or density, not both"),
        ({"threshold": -1}, "A threshold is at least 0"),
        ({"density": 0}, "A density is a share of all pairs"),
        ({"density": [0.1, 2]}, "A density is a share of all pairs"),
        ({"threshold": "a"}, "threshold takes a number, or several; got 'a'"),
        ({"threshold": []}, "threshold takes a number, or several"),
        ({"threshold": float("nan")}, "threshold takes a number"),
    ],
)
def test_wrong_thresholds_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        GraphSet.from_scipy(correlations(4, 0), **options)


def test_files_of_arrays(tmp_path: Path) -> None:
    matrices = {f"m{seed}": correlations(6, seed) for seed in range(3)}
    expected = GraphSet.from_scipy(list(matrices.values()), threshold=0.2)
    several = np.stack(list(matrices.values()))
    np.savez(tmp_path / "a.npz", **matrices)
    np.save(tmp_path / "b.npy", several)
    scipy.io.savemat(tmp_path / "c.mat", matrices)
    scipy.io.savemat(tmp_path / "d.mat", {"all": np.moveaxis(several, 0, 2)})
    for name in ("a.npz", "b.npy", "c.mat", "d.mat"):
        graphs = read_graphs(tmp_path / name, threshold=0.2)
        assert GraphSet(graphs.first, graphs.indptr, graphs.indices).equals(expected)
        with pytest.raises(GraphError, match=f"{name} .*a weight for every pair of vertices"):
            read_graphs(tmp_path / name)
    assert read_graphs(tmp_path / "a.npz", threshold=0.2).names == ("m0", "m1", "m2")
    assert read_graphs(tmp_path / "d.mat", threshold=0.2).names == ("all:0", "all:1", "all:2")
    whole = read_graphs(tmp_path, density=[0.1, 0.5])
    assert len(whole) == 12
    assert whole.edge_palette == (1, 2)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
def test_sparse_matrices_in_files(tmp_path: Path, kind: str) -> None:
    matrix = sp.csr_matrix(np.eye(5, k=1)).asformat(kind)
    sp.save_npz(tmp_path / "m.npz", matrix)
    assert read_graphs(tmp_path / "m.npz").equals(read_graphs(tmp_path))
    assert read_graphs(tmp_path / "m.npz").arcs().tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    if kind == "csc":
        scipy.io.savemat(tmp_path / "m.mat", {"A": matrix})
        assert read_graphs(tmp_path / "m.mat").arcs().tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_arrays_that_are_no_matrices(tmp_path: Path) -> None:
    path = np.eye(4, k=1) + np.eye(4, k=-1)
    np.savez(tmp_path / "m.npz", A=path, labels=np.arange(3))
    with pytest.warns(GraphWarning, match="he arrays labels in .* are not square matrices"):
        assert read_graphs(tmp_path / "m.npz").edge_counts.tolist() == [3]
    for array in (np.zeros((2, 3)), np.zeros(3), np.array([["a"]])):
        np.save(tmp_path / "m.npy", array)
        with pytest.raises(GraphError, match="expected square matrices of numbers"):
            read_graphs(tmp_path / "m.npy")


def test_nothing_is_unpickled_and_damaged_files_are_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.save(file, np.array([[print]], dtype=object), allow_pickle=True)
    huge = file.getvalue().replace(b"(1, 1)", b"(9, 9)")
    short = io.BytesIO()
    np.save(short, np.eye(3))
    contents = {
        "a.npy": file.getvalue(), "b.npy": huge, "c.npy": short.getvalue()[:-8], "d.npz": b"PK damaged",
        "e.mat": b"MATLAB 5.0 damaged", "f.npy": b"\x93NUMPY", "g.mat": b"\0" * 300,
    }  # fmt: skip
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(GraphError, match=name):
            read_graphs(tmp_path / name)
