"""Small files that become large are refused while they are read, whatever their format."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluation.helpers import made

import anysize as az
from anysize import _unpack
from anysize._errors import RecordWarning
from anysize.counting.stream import count_stream
from anysize.evaluation.records import to_line
from anysize.evaluation.store import RecordStore

MIB = 1 << 20
TRIANGLE = az.GraphSet.from_edges([(0, 1), (1, 2), (0, 2)], y=["a"])


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 MiB instead of 64, so that the bombs of these tests are small."""
    monkeypatch.setattr(_unpack, "ANY_RATIO_BYTES", MIB)


def peak(function: Callable[[], Any]) -> float:
    """The most memory in MiB that Python held at a time."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


def refused(function: Callable[[], Any]) -> Callable[[], Any]:
    def call() -> None:
        with pytest.raises(ValueError, match="unpacks to more than"):
            function()

    return call


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert _unpack.unpacked_limit(10) == 64 * MIB
    assert _unpack.unpacked_limit(2 * MIB) == 200 * MIB
    assert _unpack.unpacked_limit(1 << 40) == 4 << 30
    for text, limit in (("5", 5), ("1k", 1000), ("2 MiB", 2 * MIB), ("3GiB", 3 << 30)):
        monkeypatch.setenv(_unpack.VARIABLE, text)
        assert _unpack.unpacked_limit(10) == limit
    monkeypatch.setenv(_unpack.VARIABLE, "much")
    with pytest.raises(ValueError, match="ANYSIZE_MAX_UNPACKED must be"):
        _unpack.unpacked_limit(10)


def test_a_gzipped_edge_list(tmp_path: Path) -> None:
    file = tmp_path / "graph.txt.gz"
    file.write_bytes(gzip.compress(b"0 1\n" * (4 * MIB)))
    assert peak(refused(lambda: az.read_graphs(file))) < 8


def test_a_model(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b'{"format":' + b" " * (16 * MIB) + b"}")
        archive.writestr("model.safetensors", b"")
    load = az.load_model  # imports torch
    assert peak(refused(lambda: load(tmp_path / "model"))) < 8


def test_a_table_of_counts(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "counts.npz", about=np.zeros(16 * MIB, np.uint8))
    assert peak(refused(lambda: az.Counts.load(tmp_path / "counts.npz"))) < 8


def test_a_header_that_announces_more_than_follows(tmp_path: Path) -> None:
    az.count(TRIANGLE, 3).save(tmp_path / "counts.npz")
    with zipfile.ZipFile(tmp_path / "counts.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**13,)})
    members["sizes.npy"] = header.getvalue()
    with zipfile.ZipFile(tmp_path / "counts.npz", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match=r"counts\.npz is not a readable table of counts: sizes\.npy: expected"):
        az.Counts.load(tmp_path / "counts.npz")


def test_records_before_a_bomb_are_read(tmp_path: Path) -> None:
    line = to_line(made())
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line + b" " * (16 * MIB)))

    def read() -> None:
        with pytest.warns(RecordWarning, match="unpacks to more than"):
            assert RecordStore(tmp_path).read() == [made()]

    assert peak(read) < 16


@pytest.mark.parametrize(("kind", "name"), [("counts", "copies"), ("graphs", "name"), ("graphs", "y")])
def test_a_stream(tmp_path: Path, kind: str, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = count_stream([TRIANGLE], 3, tmp_path)
    file = tmp_path / kind / "000000.parquet"
    if kind == "graphs":  # one long text, which is stored once
        rows = 1000
        table = pa.table({"graph": range(rows), "vertices": [3] * rows, name: ["x" * 10_000] * rows})
    else:
        rows = 1_000_000
        table = pa.table({"graph": np.zeros(rows, int), name: np.ones(rows, int), "pattern": pa.array(["t"] * rows)})
    pq.write_table(table, file)
    assert file.stat().st_size < 50_000
    with pytest.raises(ValueError, match="unpacks to more than"):
        stream.batch(0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", json.dumps({"n": 2_000_000_000, "edges": [[0, 1]]})),
        ("a.edges", "2000000000 2\n1 2\n2 3\n"),
        ("a.graphml", '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><graphml>&b;</graphml>'),
    ],
)
def test_a_few_bytes_that_announce_much(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    def read() -> None:
        with pytest.raises(az.GraphError, match=f"{tmp_path / name}.*(expected at most|entities)"):
            az.read_graphs(tmp_path / name)

    assert peak(read) < 100  # with imports
