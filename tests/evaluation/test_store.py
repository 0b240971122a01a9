"""Folders of records: crashes, many writers, damage, compaction."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.helpers import made, sweep

from anysize._errors import RecordWarning
from anysize.evaluation.records import to_line
from anysize.evaluation.store import RecordStore


@pytest.fixture
def store(tmp_path):
    return RecordStore(tmp_path / "deep" / "records")


def by_key(records):
    return {record.key: record for record in records}


def test_what_is_written_is_read(store):
    assert store.read() == []
    assert store.keys() == set()
    assert store.write([]) is None
    assert not store.folder.exists()
    records = sweep()
    path = store.write(records[:5])
    store.write(records[5:])
    assert path in store.files()
    assert len(store.files()) == 2
    assert by_key(store.read()) == by_key(records)
    assert store.keys() == set(by_key(records))
    assert all(record.curves is None for record in store.read(curves=False))
    assert not list(store.folder.glob("*.part"))


def test_the_order_is_that_of_the_runs_not_of_the_files(store, tmp_path):
    records = sweep()
    other = RecordStore(tmp_path / "other")
    store.write(records)
    for record in reversed(records):
        other.write([record])
    assert store.read() == other.read()


def test_a_batch_is_named_after_its_keys(store):
    records = sweep()[:3]
    assert store.write(records) == store.write([replace(record, device="other") for record in reversed(records)])
    assert store.write(records[:2]) != store.write(records)
    assert {record.device for record in store.read()} == {"cpu"}


@pytest.mark.parametrize(
    "asked",
    [{"task": "sbm-20"}, {"task": ["sbm-20", "er-multi"]}, {"method": "gin-sum", "data": "seed:1"}, {"recipe": ()}],
)
def test_some_of_the_records(store, asked):
    records = sweep(data=("published", "seed:1"))
    store.write(records)
    expected = [
        record
        for record in records
        if all(getattr(record, name) in ([one] if isinstance(one, str) else one) for name, one in asked.items())
    ]
    assert by_key(store.read(**asked)) == by_key(expected)
    assert bool(expected) == ("recipe" not in asked)


def test_of_two_records_of_a_run_the_latest_counts(store):
    old, new = (replace(made(test=score), when=f"2026-01-0{day}T00:00:00+00:00") for day, score in ((1, 0.1), (2, 0.2)))
    filler = made(seed=9)
    store.write([new])
    store.write([old, filler])
    assert by_key(store.read())[new.key] == new
    store.compact()
    assert by_key(store.read()) == by_key([new, filler])


# ---- damage ----------------------------------------------------------------------------------------


def test_damaged_lines_are_named_and_left_out(store):
    records = sweep()[:4]
    path = store.write(records)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"train":1.0', b'"train":0.9')
    lines.insert(3, b'{"task": "sbm-20"}\n')
    lines.append(lines[0][:300])
    path.write_bytes(b"".join(lines))
    with pytest.warns(RecordWarning) as caught:
        found = store.read()
    assert len(caught) == 1
    told = str(caught[0].message)
    assert str(path) in told
    assert "line 2 is not a record: its checksum" in told
    assert "(and 2 more)" in told
    assert len(found) == 3
    with pytest.warns(RecordWarning, match="line 2"):
        assert store.keys() == {record.key for record in found}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("foreign.jsonl", b'{"a": 1}\n{"b": 2}\n', "does not begin with"),
        ("noise.jsonl", bytes(range(256)), "does not begin"),
        ("latin.jsonl", "é\n".encode("latin-1"), "does not begin"),
        ("not.jsonl.gz", b"plain text", "cannot be read to its end"),
        ("empty-line.jsonl", b"\n", "does not begin"),
    ],
)
def test_foreign_files_are_named_and_left_out(store, name, content, sentence):
    good = made()
    store.write([good])
    (store.folder / name).write_bytes(content)
    (store.folder / "README.md").write_text("not looked at")
    (store.folder / "abc.jsonl.1-2.part").write_bytes(b"half")
    (store.folder / "nothing.jsonl").write_bytes(b"")
    with pytest.warns(RecordWarning, match=sentence) as caught:
        assert store.read() == [good]
    assert len(caught) == 1
    assert name in str(caught[0].message)
    with pytest.warns(RecordWarning):
        store.compact()
    assert (store.folder / name).read_bytes() == content
    assert (store.folder / "README.md").exists()


def test_a_cut_off_archive_gives_what_comes_before_the_cut(store):
    records = sweep()
    store.write(records)
    (path,) = store.compact()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.warns(RecordWarning, match="cannot be read to its end"):
        found = store.read()
    assert 0 < len(found) < len(records)
    assert by_key(found).items() <= by_key(records).items()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        RecordStore(tmp_path / "file")


def test_a_file_that_cannot_be_opened_is_named(store):
    store.write([made()])
    (store.folder / "folder.jsonl").mkdir()
    with pytest.warns(RecordWarning, match=r"folder\.jsonl is partly unreadable: it cannot be read"):
        assert store.read() == [made()]


# ---- compaction ------------------------------------------------------------------------------------


def test_compaction_keeps_every_record_whole_in_few_files(store, monkeypatch):
    monkeypatch.setattr("anysize.evaluation.store.RECORDS_PER_COMPACT_FILE", 10)
    records = sweep()
    for start in range(0, len(records), 3):
        store.write(records[start : start + 3])
    below = RecordStore(store.folder / "below")
    below.write([made(seed=77)])
    before = store.read()
    written = store.compact()
    assert store.files() == sorted(written)
    assert len(written) == -(-(len(records) + 1) // 10)
    assert store.read() == before
    assert store.compact() == written
    assert store.read() == before
    content = b"".join(gzip.decompress(path.read_bytes()) for path in written)
    assert content.count(b"\n") == len(records) + 1
    assert to_line(records[0]) in content


def test_compaction_of_nothing(store):
    assert store.compact() == []
    assert not store.folder.exists()


def test_old_leftovers_go_and_young_ones_stay(store):
    store.write([made()])
    old, young = store.folder / "a.jsonl.1-2.part", store.folder / "b.jsonl.1-2.part"
    for path in (old, young):
        path.write_bytes(b"half a batch")
    os.utime(old, (time.time() - 10**6,) * 2)
    store.compact()
    assert not old.exists()
    assert young.exists()


# ---- many at once ----------------------------------------------------------------------------------


def test_readers_never_miss_a_record_while_others_write_and_compact(store):
    """The number of records seen only grows, though files come and go under the reader."""
    records = sweep(configurations=10)
    failures: list[BaseException] = []

    def worker(own):
        try:
            for start in range(0, len(own), 4):
                RecordStore(store.folder).write(own[start : start + 4])
                if start % 12 == 0:
                    RecordStore(store.folder).compact()
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=worker, args=(records[at::2],)) for at in (0, 1)]
    for thread in writers:
        thread.start()
    seen: set[str] = set()
    while any(thread.is_alive() for thread in writers):
        now = store.keys()
        assert seen <= now
        seen = now
    assert failures == []
    assert by_key(store.read()) == by_key(records)


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from evaluation.helpers import sweep
from anysize.evaluation.store import RecordStore
store = RecordStore(sys.argv[1])
done = store.keys()
for record in sweep(("sbm-20",), configurations=30, runs=10):
    if record.key not in done:
        store.write([record])
        print(record.key, flush=True)
"""


def test_kill_9_loses_at_most_what_is_in_flight(store):
    tests = str(Path(__file__).resolve().parents[1])
    told: set[str] = set()
    for delay in (0.02, 0.1, 0.3):
        command = [sys.executable, "-c", WRITER, str(store.folder), tests]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            first = process.stdout.readline().strip()  # at least one record has been written
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            lines = [first, *process.stdout.read().split()]
        new = {line for line in lines if len(line) == 64}
        assert new.isdisjoint(told)
        told |= new
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kept = store.keys()
        assert told <= kept
        assert len(kept) <= len(told) + 3  # one in flight in each round
    assert len(told) >= 3
    records = sweep(("sbm-20",), configurations=30, runs=10)
    kept = store.keys()
    store.write([record for record in records if record.key not in kept])
    assert by_key(store.read()) == by_key(records)
