"""Streams of counts: the same numbers as one count, resumable, with flat memory use."""

from __future__ import annotations

import gc
import inspect
import json
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from counting.helpers import colored, gnp, same

from anysize._errors import PartialResultError
from anysize.counting.api import count
from anysize.counting.stream import CountStream, count_stream, open_stream
from anysize.executors import cluster
from anysize.executors.executor import Executor
from anysize.graphs.graphset import GraphSet, empty_set
from anysize.patterns.pattern import Pattern, connected_patterns

PALETTES = [("C", "N"), ("C", "O"), (1, "1", "N")]


def some_batches(colors: bool, labels: bool = True) -> list[GraphSet]:
    """Batches of several sizes; one holds nothing but graphs too small for a copy."""
    batches = []
    for number, sizes in enumerate([(9, 12), (2, 1, 3), (10,), (3, 8, 2)]):
        graphs = GraphSet.concatenate([gnp(n, 0.4, seed=10 * number + n) for n in sizes])
        if colors:
            palette = PALETTES[number % 3]
            graphs = colored(graphs, len(palette), seed=number, palette=palette)
        if labels:
            names = tuple(f"{number}/{n}" for n in sizes)
            graphs = replace(graphs, y=np.array(sizes) / 2, names=names)
        batches.append(graphs)
    return batches


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a stream, byte by byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- what is written and read back ---------------------------------------------------------------------


@pytest.mark.parametrize("colors", [False, True])
@pytest.mark.parametrize("k", [2, 4, (1, 3)])
def test_a_stream_equals_one_count_of_everything(tmp_path: Path, colors: bool, k: int | tuple[int, ...]) -> None:
    batches = some_batches(colors)
    stream = count_stream(iter(batches), k, tmp_path / "new" / "out", threads=1)
    expected = count(GraphSet.concatenate(batches), k)
    same(stream.counts(), expected)
    assert stream.counts().names == expected.names
    assert np.array_equal(stream.counts().y, expected.y)
    assert len(stream) == len(expected)
    assert stream.n_batches == len(batches)
    assert stream.finished
    assert stream.patterns() == expected.patterns
    for number, table in enumerate(stream):
        own = count(batches[number], k)
        same(table, own)
        assert table.explain() == own.explain()
        assert table.names == own.names
        assert np.array_equal(table.y, own.y)
    same(stream.batch(-1), count(batches[-1], k))
    with pytest.raises(IndexError):
        stream.batch(len(batches))


def test_colors_can_be_left_out(tmp_path: Path) -> None:
    batches = some_batches(True)
    stream = count_stream(batches, 3, tmp_path, colors=False)
    same(stream.counts(), count(GraphSet.concatenate(batches), 3, colors=False))
    # whether there were colors does not matter then, nor does the number of threads
    again = count_stream([batch.without_colors() for batch in batches], 3, tmp_path, colors=False, threads=1)
    assert len(again) == len(stream)


def test_counts_over_chosen_patterns_in_their_order(tmp_path: Path) -> None:
    batches = some_batches(True)
    stream = count_stream(batches, 3, tmp_path)
    chosen = [
        Pattern.of([(0, 1), (1, 2)], ["N", "C", "N"]),
        Pattern.of([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"]),
        Pattern.of([(0, 1), (1, 2)], ["nowhere", "C", "C"]),
    ]
    table, expected = stream.counts(chosen), count(GraphSet.concatenate(batches), 3).align(chosen)
    assert table.patterns == tuple(chosen)
    assert np.array_equal(table.matrix.toarray(), expected.matrix.toarray())


def test_rows_are_tidy(tmp_path: Path) -> None:
    batches = some_batches(True)
    stream = count_stream(batches, (2, 3), tmp_path)
    rows = stream.dataset().to_table().to_pylist()
    expected = []
    counts = count(GraphSet.concatenate(batches), (2, 3))
    cells = counts.matrix.tocoo()
    for graph, column, copies in zip(cells.row.tolist(), cells.col.tolist(), cells.data.tolist(), strict=True):
        p = counts.patterns[column]
        expected.append((graph, int(counts.sizes[graph]), p.name, p.size, p.code, json.dumps(p.colors), copies))
    assert sorted(tuple(row.values()) for row in rows) == sorted(expected)
    schema = stream.dataset().schema
    assert pa.types.is_dictionary(schema.field("pattern").type)
    assert schema.field("code").type == pa.uint32()
    one = stream.dataset().to_table(filter=pc.field("graph") == 5, columns=["copies"])
    assert one["copies"].to_pylist() == counts[5].matrix.data.tolist()


def test_plain_rows_have_no_colors(tmp_path: Path) -> None:
    stream = count_stream(some_batches(False), 3, tmp_path)
    assert set(stream.dataset().to_table()["colors"].to_pylist()) == {None}
    assert stream.patterns() == connected_patterns(3)


@pytest.mark.parametrize("y", [np.array([True, False]), np.array(["ab", "c"]), np.array([1, -1], np.int8)])
def test_labels_keep_their_kind(tmp_path: Path, y: np.ndarray) -> None:
    batches = [replace(gnp(5, 0.5), y=y[:1]), replace(gnp(6, 0.5), y=y[1:])]
    read = count_stream(batches, 3, tmp_path).counts().y
    assert read is not None
    assert read.dtype.kind == y.dtype.kind
    assert read.tolist() == y.tolist()


@pytest.mark.parametrize("colors", [False, True])
@pytest.mark.parametrize("places", [(0,), (1, 2), (4,), (0, 0, 5)])
def test_batches_without_graphs(tmp_path: Path, colors: bool, places: tuple[int, ...]) -> None:
    batches = some_batches(colors)
    for place in places:
        batches.insert(place, empty_set())
    stream = count_stream(batches, 3, tmp_path)
    expected = count(GraphSet.concatenate(batches), 3)
    same(stream.counts(), expected)
    assert stream.counts().names == expected.names
    assert stream.patterns() == expected.patterns
    assert stream.n_batches == len(batches)


@pytest.mark.parametrize("batches", [[], [empty_set()], [empty_set(), empty_set()]])
def test_only_empty_batches(tmp_path: Path, batches: list[GraphSet]) -> None:
    stream = count_stream(batches, (2, 3), tmp_path)
    same(stream.counts(), count(empty_set(), (2, 3)))
    assert stream.dataset().count_rows() == len(stream) == 0
    assert stream.patterns() == connected_patterns(2) + connected_patterns(3)
    assert stream.finished


def test_many_cells_come_back_from_several_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    write, read = pq.write_table, []

    def in_small_groups(table: pa.Table, where: Path, **options: object) -> None:
        write(table, where, row_group_size=10, **options)
        read.append(pq.ParquetFile(where).num_row_groups)

    monkeypatch.setattr(pq, "write_table", in_small_groups)
    batches = some_batches(True)
    stream = count_stream(batches, 4, tmp_path)
    assert max(read) > 3
    same(stream.counts(), count(GraphSet.concatenate(batches), 4))


# ---- estimates and clusters ----------------------------------------------------------------------------


@pytest.mark.parametrize("colors", [False, True])
def test_a_stream_of_estimates_equals_one_count_of_everything(tmp_path: Path, colors: bool) -> None:
    batches = some_batches(colors)
    how = {"engine": "sample", "samples": 5000, "seed": 3}
    stream = count_stream(batches, 4, tmp_path, **how)
    expected = count(GraphSet.concatenate(batches), 4, **how)  # type: ignore[arg-type]
    read = stream.counts()
    for name in ("matrix", "hits", "standard_errors"):
        assert np.array_equal(getattr(read.align(expected), name).toarray(), getattr(expected, name).toarray())
    assert read.sampling is not None
    assert expected.sampling is not None
    for name in ("k", "rates", "samples", "exact_cliques"):
        assert np.array_equal(getattr(read.sampling, name), getattr(expected.sampling, name))
    assert np.array_equal(read.align(expected).interval()[1], expected.interval()[1])
    cells = stream.dataset().to_table().to_pandas()
    assert cells["standard_error"].gt(0).any()
    assert cells["hits"].sum() == expected.hits.sum()
    before = contents(tmp_path)
    count_stream(batches, 4, tmp_path, **how)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match="seed was 3, is now 4"):
        count_stream(batches, 4, tmp_path, **(how | {"seed": 4}))
    same(count_stream([empty_set()], 4, tmp_path / "none").counts(), count(empty_set(), 4))
    assert count_stream([], 4, tmp_path / "nothing", **how).counts().sampling is not None


@pytest.mark.parametrize("how", [{}, {"engine": "sample", "samples": 5000}, {"cache": "cache"}])
def test_a_cluster_writes_the_same_files(tmp_path: Path, two_workers: Executor, how: dict[str, object]) -> None:
    batches = some_batches(True) * 3
    if "cache" in how:
        how = {"cache": tmp_path / "cache"}
    count_stream(batches, 4, tmp_path / "here", **how)
    reported: list[tuple[int, int]] = []
    with cluster(two_workers):
        count_stream(iter(batches[:5]), 4, tmp_path / "there", **how)
        stream = count_stream(iter(batches), 4, tmp_path / "there", progress=lambda *done: reported.append(done), **how)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert stream.finished
    assert reported[-1] == (12, 27)


def test_a_batch_that_fails_on_a_cluster_keeps_those_before(tmp_path: Path, two_workers: Executor) -> None:
    star = GraphSet.from_edges(np.stack([np.zeros(200_000, int), np.arange(1, 200_001)], axis=1))
    batches = [gnp(9, 0.4), gnp(8, 0.4), star, gnp(9, 0.5)]
    with (
        cluster(two_workers),
        pytest.raises(PartialResultError, match=r"1 of 1 graphs could not be counted.*graph 2 has"),
    ):
        count_stream(batches, 5, tmp_path)
    assert open_stream(tmp_path).n_batches == 2
    with cluster(two_workers), pytest.raises(ValueError, match="batch 1 has no colors, unlike"):
        count_stream([colored(gnp(9, 0.4), 2), gnp(9, 0.4)], 3, tmp_path / "other")


# ---- going on ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("colors", [False, True])
def test_an_interrupted_stream_is_resumed(tmp_path: Path, colors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = some_batches(colors)
    count_stream(batches, 3, tmp_path / "whole")
    counted: list[int] = []
    reported: list[tuple[int, int]] = []

    def spy(graphs: GraphSet, *rest: object, **options: object) -> object:
        counted.append(len(graphs))
        return count(graphs, *rest, **options)  # type: ignore[arg-type]

    spy.__signature__ = inspect.signature(count)  # type: ignore[attr-defined]
    monkeypatch.setattr("anysize.counting.api.count", spy)

    def broken(after: int) -> Iterator[GraphSet]:
        yield from batches[:after]
        raise ConnectionError("the source went away")

    for after in (0, 2, 1, 2, 3):
        with pytest.raises(ConnectionError):
            count_stream(broken(after), 3, tmp_path / "out")
        assert not open_stream(tmp_path / "out").finished
    count_stream(batches, 3, tmp_path / "out", progress=lambda *done: reported.append(done))
    assert counted == [len(batch) for batch in batches]
    assert reported == [(1, 2), (2, 5), (3, 6), (4, 9)]
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    count_stream(batches, 3, tmp_path / "out")
    assert len(counted) == len(batches)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_more_batches_can_follow_later(tmp_path: Path) -> None:
    batches = some_batches(True)
    count_stream(batches[:2], 3, tmp_path / "out")
    count_stream(batches, 3, tmp_path / "out")
    count_stream(batches, 3, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_damaged_file_is_reported_and_can_be_recomputed(tmp_path: Path) -> None:
    batches = some_batches(True)
    count_stream(batches, 3, tmp_path)
    before = contents(tmp_path)
    (tmp_path / "graphs" / "000001.parquet").write_bytes(b"cut off")
    stream = open_stream(tmp_path)
    with pytest.raises(ValueError, match=r"000001\.parquet of a stream of counts is missing or damaged.*remove it"):
        stream.counts()
    (tmp_path / "graphs" / "000001.parquet").unlink()
    count_stream(batches, 3, tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("kind", ["counts", "graphs", "patterns"])
def test_a_missing_file_is_written_again(tmp_path: Path, kind: str) -> None:
    batches = some_batches(True)
    count_stream(batches, 3, tmp_path)
    before = contents(tmp_path)
    (tmp_path / kind / "000001.parquet").unlink()
    (tmp_path / kind / "000001.parquet.17-ab.part").write_bytes(b"half")
    count_stream(batches, 3, tmp_path)
    assert contents(tmp_path) == before


KILLED = """
import sys
import numpy as np
from dataclasses import replace
from anysize.counting.stream import count_stream
from anysize.graphs.assembly import assemble

def batches(n):
    for number in range(n):
        random = np.random.default_rng(number)
        sizes = np.full(30, 12)
        source = random.integers(0, 12, 600)
        target = (source + random.integers(1, 12, 600)) % 12
        start = np.repeat(np.arange(30) * 12, 20)
        edges = np.unique(np.stack([start + np.minimum(source, target), start + np.maximum(source, target)]), axis=1)
        colors = random.integers(0, 3, 360).astype(np.uint16)
        yield assemble(sizes, edges[0], edges[1], colors, ("C", "N", "O"), y=random.integers(0, 2, 30))

if __name__ == "__main__":
    print("ready", flush=True)
    count_stream(batches(400), 3, sys.argv[1], threads=1)
"""


def test_a_killed_run_is_resumed_with_the_same_files(tmp_path: Path) -> None:
    space: dict[str, object] = {"__name__": "killed"}
    exec(KILLED, space)
    chance, done = random.Random(1), []
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "out")], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        before = done[-1] if done else 0
        give_up = time.monotonic() + 60
        while time.monotonic() < give_up and process.poll() is None:
            if (tmp_path / "out" / "stream.json").exists() and open_stream(tmp_path / "out").n_batches > before + 3:
                break
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        process.communicate()
        stream = open_stream(tmp_path / "out")
        done.append(stream.n_batches)
        assert sum(len(counts) for counts in stream) == len(stream) == 30 * stream.n_batches
    assert done == sorted(set(done)), "each run went on"
    total = done[-1] + 5
    batches = space["batches"]
    assert callable(batches)
    resumed = count_stream(batches(total), 3, tmp_path / "out")
    count_stream(batches(total), 3, tmp_path / "whole", threads=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    same(resumed.counts(), count(GraphSet.concatenate(batches(total)), 3))


# ---- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": 4}, r"k was \[3\], is now \[4\]"),
        ({"k": (3, 4)}, r"k was \[3\], is now \[3, 4\]"),
        ({"colors": False}, "colors was True, is now False"),
        ({"engine": "brute"}, "engine was 'the default', is now 'brute'"),
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, options: dict[str, object], says: str) -> None:
    batches = some_batches(True)
    count_stream(batches, 3, tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=says):
        count_stream(batches, **({"k": 3, "out": tmp_path} | options))  # type: ignore[arg-type]
    assert contents(tmp_path) == before
    count_stream(batches, [3], tmp_path, engine="auto", threads=2)  # the same, written otherwise
    assert contents(tmp_path) == before


def test_other_batches_are_refused(tmp_path: Path) -> None:
    batches = some_batches(True)
    count_stream(batches[:3], 3, tmp_path)
    before = contents(tmp_path)
    first = batches[0]
    others = {
        "this has 1;": batches[2],
        "this has as many": first[[1, 0]],
        "labels or names": first.with_y([0, 1]),
        "edges, colors": first.with_palette(("A", "C", "N")),
    }
    for says, other in others.items():
        with pytest.raises(ValueError, match=f"batch 0 is not the one.*had 2 graphs.*{says}"):
            count_stream([other, *batches[1:]], 3, tmp_path)
    with pytest.raises(ValueError, match="batch 1 is not the one"):
        count_stream([first, *batches[2:]], 3, tmp_path)
    with pytest.raises(ValueError, match="holds 3 batches, but only 2 came"):
        count_stream(batches[:2], 3, tmp_path)
    assert contents(tmp_path) == before


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    batches = some_batches(False)
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="expected several graph sets"):
        count_stream(batches[0], 3, out)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k must be an integer"):
        count_stream(batches, 8, out)
    with pytest.raises(TypeError, match="no argument 'mehtod'"):
        count_stream(batches, 3, out, mehtod="auto")
    with pytest.raises(ValueError, match="either samples"):
        count_stream(batches, 3, out, engine="sample")
    with pytest.raises(ValueError, match="first=3"):
        count_stream(batches, 3, out, first=3)
    with pytest.raises(ValueError, match="budget_s=1"):
        count_stream(batches, 3, out, budget_s=1)
    with pytest.raises(ValueError, match="errors='skip'"):
        count_stream(batches, 3, out, errors="skip")
    assert not out.exists()
    with pytest.raises(ValueError, match="batch 0 is a Graph; expected a GraphSet"):
        count_stream([nx.path_graph(3)], 3, tmp_path / "a")
    with pytest.raises(ValueError, match="batch 1 has no colors, unlike"):
        count_stream([some_batches(True)[0], batches[0]], 3, tmp_path / "b")
    with pytest.raises(ValueError, match="batch 1 has colors, unlike"):
        count_stream([batches[0], some_batches(True)[0]], 3, tmp_path / "c")
    with pytest.raises(ValueError, match="labels must be numbers or strings; those of batch 0 are object"):
        count_stream([replace(batches[0], y=np.array([None, 1]))], 3, tmp_path / "d")


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="holds files but no stream"):
        count_stream([], 3, tmp_path)
    with pytest.raises(FileNotFoundError, match="holds no stream of counts"):
        open_stream(tmp_path)
    for text in ("", "[]", "{}", '{"format": "anysize stream 0"}', '{"format": "anysize stream 1"}', "\x00"):
        (tmp_path / "stream.json").write_text(text)
        with pytest.raises(ValueError, match="does not describe"):
            open_stream(tmp_path)
    (tmp_path / "stream.json").write_text('{"format": "anysize stream 1"}')
    with pytest.raises(ValueError, match="older version of anysize"):
        open_stream(tmp_path)


def test_without_pyarrow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'anysize\[table\]'"):
        count_stream(some_batches(False), 3, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ---- memory --------------------------------------------------------------------------------------------


def large_batches(n: int) -> Iterator[GraphSet]:
    ring = np.arange(3000)
    for number in range(n):
        hop = np.stack([ring, (ring + 2 + number) % 3000], axis=1)
        edges = np.concatenate([hop, np.stack([ring, (ring + 1) % 3000], axis=1)])
        yield colored(GraphSet.from_edges([edges] * 4), 3, seed=number)


def test_memory_stays_flat(tmp_path: Path) -> None:
    batch = next(large_batches(1))
    batch_bytes = sum(np.asarray(array).nbytes for array in (batch.first, batch.indptr, batch.indices, batch.colors))
    held: list[int] = []

    def measure(done: int, _: int) -> None:
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes())

    count_stream(large_batches(2), 3, tmp_path / "warm")  # kernels and catalogs, once
    tracemalloc.start()
    try:
        stream: CountStream = count_stream(large_batches(50), 3, tmp_path / "out", progress=measure)
        growth = held[-1] - held[4]
        assert growth < batch_bytes / 2, f"{growth} bytes more after 45 batches of {batch_bytes} bytes each"
        before = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes()
        assert sum(int(table.totals().sum()) for table in stream) > 50 * 4 * 3000
        after = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes()
        assert after - before < 2 * batch_bytes
    finally:
        tracemalloc.stop()


# ---- streams from someone else -----------------------------------------------------------------------


def forge(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    about = json.loads((folder / "stream.json").read_text())
    change(about)
    (folder / "stream.json").write_text(json.dumps(about))


@pytest.mark.parametrize("name", ["cache", "store", "graphs", "progress"])
def test_a_received_stream_does_not_name_paths(tmp_path: Path, name: str) -> None:
    stream = tmp_path / "stream"
    count_stream([empty_set()], 3, stream)
    forge(stream, lambda about: about["arguments"].update({name: str(tmp_path / "evil")}))
    with pytest.raises(ValueError, match=f"stream.json does not describe a readable stream of counts.*{name}"):
        open_stream(stream).counts()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("name", ["../other/000000.parquet", "/etc/passwd", "000001.parquet", "c:\\x", "x\0", 7, None])
def test_files_of_a_received_stream_lie_in_its_folder(tmp_path: Path, name: Any) -> None:
    for folder in ("stream", "other"):
        count_stream(some_batches(False), 3, tmp_path / folder)
    forge(tmp_path / "stream", lambda about: about["batches"][0].update(file=name))
    with pytest.raises(ValueError, match=r"stream.json does not.*batches\[0\]\.file"):
        open_stream(tmp_path / "stream")


def test_resuming_a_received_stream_follows_no_links(tmp_path: Path) -> None:
    home, stream, batches = tmp_path / "home", tmp_path / "stream", some_batches(False)
    home.mkdir()
    for name in ("thesis.part", "x.1-ab.part", "kept.txt"):
        (home / name).write_text("mine")
    count_stream(batches[:1], 3, stream)
    (stream / "more").symlink_to(home)
    (stream / "counts" / "note.part").write_text("mine")
    (stream / "counts" / "x.2-ab.part").symlink_to(home / "kept.txt")
    (stream / "counts" / "000001.parquet").symlink_to(home / "kept.txt")
    count_stream(batches[:2], 3, stream)
    assert {path.name: path.read_text() for path in home.iterdir()} == dict.fromkeys(
        ("thesis.part", "x.1-ab.part", "kept.txt"), "mine"
    )
    assert (stream / "counts" / "note.part").exists()
    assert not (stream / "counts" / "000001.parquet").is_symlink()
    (stream / "counts").rename(tmp_path / "away")
    (stream / "counts").symlink_to(home)
    with pytest.raises(ValueError, match="counts is a link"):
        count_stream(batches, 3, stream)
    assert len(list(home.iterdir())) == 3


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("counts", "copies", lambda values: -values),
        ("counts", "graph", lambda values: values + 100),
        ("counts", "graph", lambda values: values[::-1]),
        ("counts", "copies", lambda values: values.astype(str)),
        ("graphs", "vertices", lambda values: -values),
        ("graphs", "vertices", None),
        ("patterns", "size", lambda values: values + 7),
        ("patterns", "code", lambda values: values * 0),
        ("patterns", "colors", lambda values: np.array(["[" * 5000] * len(values))),
        ("patterns", "pattern", lambda values: np.array(["x"] * len(values))),
    ],
)
def test_forged_batches_are_refused(tmp_path: Path, kind: str, name: str, change: Any) -> None:
    import pyarrow.parquet as pq

    stream = count_stream(some_batches(True), 3, tmp_path)
    file = tmp_path / kind / "000000.parquet"
    table = pq.read_table(file)
    position = table.column_names.index(name)
    values = None if change is None else change(table[name].to_numpy())
    missing = pa.array([None] * len(table), pa.int64())
    table = table.set_column(position, name, missing if values is None else pa.array(values))
    pq.write_table(table, file)
    with pytest.raises(ValueError, match=r"000000.parquet are damaged: |batch 0"):
        stream.counts()


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.update(finished=1),
        lambda about: about["batches"][0].update(graphs=-1),
        lambda about: about["batches"][0].update(graphs=True),
        lambda about: about["batches"][0].update(graphs=3),
        lambda about: about["batches"][0].update(colored=True),
        lambda about: about["batches"][0].update(sha256="x"),
        lambda about: about["batches"][0].update(extra=1),
        lambda about: about["arguments"].update(k="3"),
        lambda about: about["arguments"].update(seed=1e400),
        lambda about: about.update(batches=json.loads("[" * 500 + "]" * 500)),
        lambda about: about.pop("arguments"),
    ],
)
def test_forged_metadata_is_refused(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    count_stream(some_batches(False), 3, tmp_path)
    forge(tmp_path, change)
    with pytest.raises(ValueError, match=r"stream.json does not|000000.parquet are damaged"):
        open_stream(tmp_path).counts()
    (tmp_path / "stream.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested"):
        open_stream(tmp_path)


def test_any_error_of_arrow_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise pa.ArrowException("unknown error")

    stream = count_stream(some_batches(False), 3, tmp_path)
    monkeypatch.setattr("anysize.counting.stream.read_parquet", fail)
    with pytest.raises(ValueError, match=r"000000\.parquet .*damaged \(unknown error\)"):
        stream.counts()
