"""Tables that do not fit are refused with their size; the limit is adjustable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import anysize as az
from anysize import _memory
from anysize._memory import format_bytes
from anysize.cli.count_output import with_zeros
from anysize.estimators.transformers import SubgraphDensities
from anysize.kernels.svm import KernelClassifier
from anysize.kernels.wl import WLKernel
from anysize.paper.theory.bias import predictions_under_bias
from anysize.paper.theory.gaps import density_gap
from anysize.paper.theory.intervals import density_intervals
from anysize.training.color_roles import color_roles
from anysize.training.fit_gamma import fit_gamma
from anysize.training.settings import Recipe, Settings


def graphs() -> az.GraphSet:
    made = [nx.gnp_random_graph(12, 0.4, seed=seed) for seed in range(24)]
    for graph in made:
        nx.set_node_attributes(graph, {v: "abcdefgh"[v % 8] for v in graph}, "c")
    return az.GraphSet.from_networkx(made, color="c", y=[0, 1] * 12)


def test_the_limit_is_two_gigabytes_or_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(_memory.VARIABLE, raising=False)
    _memory.check_table((2**14, 2**14), "the table", "do less")
    with pytest.raises(ValueError, match=r"the table \(16,384 x 16,385\) .* 2 GiB .*do less.*ANYSIZE_MAX_TABLE=3GiB"):
        _memory.check_table((2**14, 2**14 + 1), "the table", "do less")
    _memory.check_table((2**14, 2**15), "the table", "do less", cell=4)
    monkeypatch.setenv(_memory.VARIABLE, "3GiB")
    _memory.check_table((2**14, 2**14 + 1), "the table", "do less")
    monkeypatch.setenv(_memory.VARIABLE, "lots")
    with pytest.raises(ValueError, match="ANYSIZE_MAX_TABLE must be a number of bytes"):
        _memory.table_limit()


def test_a_sparse_table_is_made_dense_if_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    table = csr_array(np.eye(16))
    assert _memory.dense(table, "it", "do less").tolist() == np.eye(16).tolist()
    monkeypatch.setenv(_memory.VARIABLE, "2047")
    with pytest.raises(ValueError, match=r"it \(16 x 16\)"):
        _memory.dense(table, "it", "do less")
    monkeypatch.setenv(_memory.VARIABLE, "2048")
    assert _memory.dense(table, "it", "do less").sum() == 16


GRAPHS = graphs()
COUNTS = az.count(GRAPHS, 3)
Y = np.array([0, 1] * 12)
TABLES: dict[str, Callable[[], Any]] = {
    "to_pandas": COUNTS.to_pandas,
    "interval": COUNTS.interval,
    "kernel": lambda: WLKernel(1).fit(GRAPHS).kernel(GRAPHS),
    "density_gap": lambda: density_gap(GRAPHS, GRAPHS, 2),
    "density_intervals": lambda: density_intervals(GRAPHS, 3, groups=2),
    "predictions_under_bias": lambda: predictions_under_bias(COUNTS, Y, COUNTS, np.ones(COUNTS.shape[1])),
    "zeros": lambda: with_zeros(COUNTS),
    "transformer": lambda: SubgraphDensities(3, sparse_output=False).fit_transform(GRAPHS),
    "transformer to pandas": lambda: SubgraphDensities(3).set_output(transform="pandas").fit_transform(GRAPHS),
    "color roles": lambda: color_roles(COUNTS, Y),
    "one-hot model": lambda: fit_gamma("1hot", COUNTS, Y, [Settings(hidden=2)], Recipe(epochs=1), classes=2),
    "classes of a kernel machine": lambda: KernelClassifier(WLKernel(2), C=1.0).fit(GRAPHS, np.arange(24) // 2),
    "representation by a kernel": lambda: az.GraphClassifier("wl-kernel").fit(GRAPHS).representation(GRAPHS),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", TABLES)
def test_dense_tables_are_refused_with_their_size(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    TABLES[name]()
    monkeypatch.setenv(_memory.VARIABLE, "4000")  # 24 x 24 numbers take 4608 bytes
    with pytest.raises(ValueError, match=r"\([0-9,]+( x [0-9,]+)+\) would take .* GiB .*ANYSIZE_MAX_TABLE="):
        TABLES[name]()


def test_a_frame_of_many_sparse_columns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = az.count(GRAPHS, 5)
    assert counts.shape[1] > 2000
    monkeypatch.setenv(_memory.VARIABLE, str(2300 * counts.shape[1]))
    assert counts.to_pandas().shape == counts.shape
    monkeypatch.setenv(_memory.VARIABLE, str(2300 * counts.shape[1] - 1))
    with pytest.raises(ValueError, match=r"Counts\.matrix"):
        counts.to_pandas()


def test_sparse_output_needs_no_dense_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_memory.VARIABLE, "1")
    assert SubgraphDensities(3).fit_transform(GRAPHS).shape == COUNTS.shape


def test_format_bytes() -> None:
    assert [format_bytes(amount) for amount in (12, 2048, 3 * 2**20, 2**31)] == ["12 bytes", "2 KiB", "3 MiB", "2 GiB"]


@pytest.mark.parametrize(
    ("text", "amount"),
    [(5, 5), ("7", 7), ("4GiB", 2**32), ("500MB", 5 * 10**8), ("1.5 g", 15 * 10**8), (2e6, 2 * 10**6),
     ("64 kib", 2**16), ("1TB", 10**12)],
)  # fmt: skip
def test_numbers_of_bytes(text: object, amount: int) -> None:
    assert _memory.parse_bytes(text, "max_memory") == amount


@pytest.mark.parametrize("text", ["", "much", "4 parsecs", "-3", 0, -1, True, "1..5", "4+4GiB", "1e40", float("nan")])
def test_other_numbers_of_bytes_are_refused(text: object) -> None:
    with pytest.raises(ValueError, match="max_memory must be"):
        _memory.parse_bytes(text, "max_memory")
