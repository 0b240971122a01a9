"""Convert adjacency matrices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from anysize import GraphError, GraphSet, GraphWarning, read_graphs
from anysize.io.convert import as_graphset


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array, sp.dok_array, np.array])
def test_matrices_of_every_form(form: Any) -> None:
    with pytest.warns(GraphWarning, match="weights are not used"):
        graphs = GraphSet.from_scipy(form(np.array([[0, -0.5, 0], [0, 0, 3], [0, 1, 0]])), colors=["a", "b", "a"])
    assert graphs.edges().tolist() == [[0, 1], [1, 2]]
    assert graphs.color_names() == ("a", "b", "a")


def test_stored_zeros_and_canceling_entries_are_no_edges() -> None:
    zero = sp.csr_array((np.array([0.0, 1.0, 1.0]), (np.array([0, 1, 2]), np.array([1, 2, 1]))), shape=(3, 3))
    assert GraphSet.from_scipy(zero).edges().tolist() == [[1, 2]]
    ends = np.array([0, 0]), np.array([1, 1])
    canceling = sp.coo_array((np.array([1, -1]), ends), shape=(2, 2))
    assert GraphSet.from_scipy(canceling).edge_counts.tolist() == [0]
    assert canceling.nnz == 2  # the input is left as it was


def test_several_matrices() -> None:
    triangle = 1 - np.eye(3, dtype=int)
    graphs = GraphSet.from_scipy([triangle, sp.csr_array((2, 2))], colors=[["a", "b", "c"], ["c", "c"]], y=[0, 1])
    assert graphs.edge_counts.tolist() == [3, 0]
    assert graphs.color_names(1) == ("c", "c")
    assert GraphSet.from_scipy(np.stack([triangle, triangle])).edge_counts.tolist() == [3, 3]


def test_matrices_may_be_data_frames_and_tensors() -> None:
    torch = pytest.importorskip("torch")
    triangle = 1 - np.eye(3)
    for make in (pd.DataFrame, lambda matrix: torch.tensor(matrix, requires_grad=True)):
        assert GraphSet.from_scipy(make(triangle)).edge_counts.tolist() == [3]
        assert GraphSet.from_scipy([make(triangle), make(np.zeros((2, 2)))]).sizes.tolist() == [3, 2]
    assert GraphSet.from_scipy(torch.zeros(2, 4, 4)).sizes.tolist() == [4, 4]
    with pytest.raises(GraphError, match="expected a matrix of numbers"):
        GraphSet.from_scipy(pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}))


def test_matrix_diagonals_are_self_loops() -> None:
    with pytest.warns(GraphWarning, match="Dropped 3 self loops"):
        assert GraphSet.from_scipy(np.ones((3, 3))).edge_counts.tolist() == [3]


@pytest.mark.parametrize(
    ("matrices", "colors", "message"),
    [
        (np.zeros((2, 3)), None, "Graph 0: expected a square adjacency matrix; got shape (2, 3)"),
        ([np.eye(2) * 0, sp.coo_array(np.ones(4))], None, "Graph 1: expected a square"),
        (np.array([[0, np.nan], [1, 0]]), None, "Graph 0: the entry in row 0, column 1 is nan"),
        (sp.csr_array(np.array([[0, 1], [np.inf, 0]])), None, "Graph 0: the entry in row 1, column 0 is inf"),
        (np.array([["", "x"], ["x", ""]]), None, "Graph 0: expected a matrix of numbers"),
        ([[[0, 1], [1, 0]]], None, "Graph 0 has type list"),
        (7, None, "got int"),
        (np.zeros((2, 2)), ["a"], "Graph 0 has 2 vertices but 1 colors"),
        ([np.zeros((2, 2))], ["a", "b"], "colors: for a list of 1 graphs give a list of 1"),
        ([np.zeros((1, 1))] * 2, [["a"], None], "Graph 1 has no colors and others have"),
    ],
)
def test_matrix_refusals(matrices: Any, colors: Any, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        GraphSet.from_scipy(matrices, colors=colors)


def spoiled(kind: Any, **arrays: Any) -> Any:
    """A sparse matrix with some of its arrays replaced."""
    matrix = kind(np.eye(4, k=1))
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.bsr_array])
@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("indptr", [0, 1, 2, 10**7, 10**7]), ("indptr", [0, 3, 1, 3, 3]), ("indptr", [0, -5, 2, 3, 3]),
        ("indptr", [1, 1, 2, 3, 3]), ("indptr", [0, 3]), ("indptr", 0), ("indptr", [0, 1.5, 2, 3, 3]),
        ("indices", [1, 2, 10**8]), ("indices", [1, 2, -1]), ("indices", [1]), ("indices", [[1, 2, 3]]),
    ],
)  # fmt: skip
def test_inconsistent_arrays_are_refused_before_compiled_code_sees_them(kind: Any, name: str, array: Any) -> None:
    with pytest.raises(GraphError, match="Graph 0: the arrays of the sparse matrix do not fit together"):
        GraphSet.from_scipy(spoiled(kind, **{name: np.array(array)}))


@pytest.mark.parametrize("row", [[0, 1, 10**8], [0, 1, -7], [0, 1], 0])
def test_inconsistent_coordinates_are_refused(row: Any) -> None:
    matrix = sp.coo_array(np.eye(4, k=1))
    matrix.coords = (np.array(row), np.array([1, 2, 3]))
    with pytest.raises(GraphError, match=r"Graph 0"):
        GraphSet.from_scipy(matrix)


def test_arrays_longer_than_their_last_offset_are_allowed() -> None:
    matrix = sp.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    matrix.data, matrix.indices = np.append(matrix.data, 7.0), np.append(matrix.indices, 0).astype(np.int32)
    assert GraphSet.from_scipy(matrix).edge_counts.tolist() == [3]
    assert len(matrix.data) == 7


@pytest.mark.parametrize("value", [np.array(5), np.float64(3), np.array("x"), [np.array(5)]])
def test_arrays_without_dimensions_are_refused(value: Any) -> None:
    for convert in (GraphSet.from_scipy, GraphSet.from_edges, as_graphset):
        with pytest.raises(GraphError):
            convert(value)
    with pytest.raises(GraphError):
        GraphSet.from_edges([(0, 1)], colors=np.array(5))


def test_sparse_tensors_are_refused_with_what_to_do() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(GraphError, match=r"to_dense"):
        GraphSet.from_scipy(torch.eye(3).to_sparse())


def test_matrices_symmetric_but_for_rounding_have_no_directions() -> None:
    rng = np.random.default_rng(0)
    matrices = [np.corrcoef(rng.normal(size=(10, 30))) for _ in range(20)]
    assert any((matrix != matrix.T).any() for matrix in matrices)
    for density in (0.1, 0.2, 0.3, 0.4):
        graphs = GraphSet.from_scipy(matrices, density=density)
        assert graphs.directions is None
        assert graphs.edge_counts.tolist() == [round(density * 90) // 2 + round(density * 90) % 2] * 20
    graph = matrices[0].copy()
    graph[0, 1] *= 0.5  # a weight of its own in one direction
    assert GraphSet.from_scipy(graph, threshold=abs(graph[1, 0]) * 0.7).directions is not None


def test_matrices_in_cells_of_matlab_are_graphs(tmp_path: Path) -> None:
    cells = np.empty(2, object)
    cells[0], cells[1] = np.ones((3, 3)), np.ones((4, 4))
    savemat(tmp_path / "cells.mat", {"brains": cells, "ages": [30, 40]})
    with pytest.warns(GraphWarning, match=r"^The arrays ages in .*cells\.mat are not square"):
        graphs = read_graphs(tmp_path / "cells.mat", density=1)
    assert graphs.names == ("brains:0", "brains:1")
    assert graphs.sizes.tolist() == [3, 4]
