"""Convert adjacency matrices."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anysize import GraphError, GraphSet, GraphWarning


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
