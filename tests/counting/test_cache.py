"""The cache of counts: keys, damaged entries, killed and concurrent writers."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from counting.helpers import colored, gnp, identical
from hypothesis import given, settings
from hypothesis import strategies as st

from anysize._errors import CountWarning
from anysize._files import PARTIAL_FILE_LIFETIME_S
from anysize.counting.api import count
from anysize.counting.cache import CountCache
from anysize.counting.counts import Counts
from anysize.graphs.graphset import GraphSet, empty_set

ARGUMENTS = {"k": [4], "colors": True}


def some_graphs(palette: tuple[int | str, ...] | None = None) -> GraphSet:
    graphs = GraphSet.concatenate([gnp(9, 0.5, seed=1), gnp(2, 0.0), gnp(14, 0.3, seed=2)])
    if palette is not None:
        graphs = colored(graphs, len(palette), palette=palette)
    return replace(graphs, y=np.array([3, 1, 2]), names=("a", "b", "c"))


def refuse() -> Counts:
    raise AssertionError("counted again, although the table is in the cache")


def cached_or(
    cache: CountCache, graphs: GraphSet, arguments: dict[str, object], compute: Callable[[], Counts]
) -> Counts:
    """The cached table, or else the computed one, which is cached."""
    found = cache.get(graphs, arguments)
    if found is None:
        found = compute()
        cache.put(graphs, arguments, found)
    return found


def entry_of(cache: CountCache) -> Path:
    (path,) = cache.folder.glob("*/*.npz")
    return path


# ---- round trips and keys ----------------------------------------------------------------------------


@pytest.mark.parametrize("palette", [None, ("C", "N"), (7, "7", "x")])
@pytest.mark.parametrize("k", [1, 4, (2, 3, 4)])
def test_a_table_comes_back_as_it_was_counted(tmp_path: Path, palette: tuple[str, ...] | None, k: int) -> None:
    graphs, cache = some_graphs(palette), CountCache(tmp_path / "new" / "cache")
    counted = cached_or(cache, graphs, {"k": k}, lambda: count(graphs, k))
    read = cached_or(CountCache(tmp_path / "new" / "cache"), graphs, {"k": k}, refuse)
    identical(read, counted)
    assert read.names == graphs.names
    assert read.explain() == counted.explain()
    assert np.array_equal(read.y, graphs.y)
    assert len(cache) == 1
    assert cache.size() == entry_of(cache).stat().st_size
    cache.clear()
    assert len(cache) == cache.size() == 0
    assert cache.get(graphs, {"k": k}) is None


def test_a_set_without_graphs_has_a_table_too(tmp_path: Path) -> None:
    cache = CountCache(tmp_path)
    identical(
        cached_or(cache, empty_set(), ARGUMENTS, lambda: count(empty_set(), 4)),
        cached_or(cache, empty_set(), ARGUMENTS, refuse),
    )


def test_labels_and_names_are_taken_from_the_given_graphs(tmp_path: Path) -> None:
    graphs, cache = some_graphs(), CountCache(tmp_path)
    objects = replace(graphs, y=np.array([None, "x", 3], object), names=None)
    counts = cached_or(cache, objects, ARGUMENTS, lambda: count(objects, 4))
    assert counts.y is objects.y
    other = replace(graphs, y=None, names=("x", "y", "z"))
    read = cached_or(cache, other, ARGUMENTS, refuse)
    assert read.y is None
    assert read.names == ("x", "y", "z")


def test_other_graphs_colors_or_arguments_have_other_keys(tmp_path: Path) -> None:
    cache, graphs = CountCache(tmp_path), some_graphs(("C", "N"))
    assert graphs.colors is not None
    swapped = replace(graphs, palette=("C", "O"))
    flipped = replace(graphs, colors=(1 - graphs.colors).astype(np.uint16))
    # the same flat arrays cut into graphs elsewhere
    recut = replace(graphs, first=np.array([0, 10, 11, 25]))
    numbers = [replace(graphs, palette=palette) for palette in ((1, 2), ("1", "2"), (1, "2"))]
    sets = [
        graphs,
        swapped,
        flipped,
        recut,
        *numbers,
        graphs.without_colors(),
        graphs[:2],
        graphs[[1, 0, 2]],
        gnp(9, 0.5),
    ]
    sets += [empty_set(), replace(empty_set(), colors=np.zeros(0, np.uint16))]
    keys = {cache.key(chosen, ARGUMENTS) for chosen in sets}
    arguments = [{}, {"k": 4}, {"k": [4]}, {"k": [4, 5]}, {"k": ["4"]}, {"k": [4], "engine": "brute"}, {"k": None}]
    keys |= {cache.key(graphs, chosen) for chosen in arguments}
    assert len(keys) == len(sets) + len(arguments)
    assert all(len(key) == 64 for key in keys)


def test_the_key_does_not_depend_on_types_labels_or_names(tmp_path: Path) -> None:
    cache, graphs = CountCache(tmp_path), some_graphs(("C", "N"))
    key = cache.key(graphs, ARGUMENTS)
    assert key == cache.key(graphs, {"colors": np.True_, "k": (np.int64(4),)})
    assert key == cache.key(graphs.with_y(None), ARGUMENTS)
    assert key == cache.key(replace(graphs, names=None), ARGUMENTS)
    assert key == cache.key(GraphSet.concatenate([graphs, graphs])[:3], ARGUMENTS)
    for wrong in (np.random.default_rng(0), float("nan"), {1, 2}):
        with pytest.raises(ValueError, match="seed"):
            cache.key(graphs, {"seed": wrong})


@pytest.mark.parametrize("wider", [("A", "C", "N", "Z"), ("C", "N", "O"), (5, "C", "N")])
def test_unused_colors_do_not_change_the_key(tmp_path: Path, wider: tuple[str, ...]) -> None:
    graphs, cache = some_graphs(("C", "N")), CountCache(tmp_path)
    wide = graphs.with_palette(wider)
    assert cache.key(graphs, ARGUMENTS) == cache.key(wide, ARGUMENTS)
    for first, second in ((graphs, wide), (wide, graphs)):
        cache.clear()
        cached_or(cache, first, ARGUMENTS, lambda first=first: count(first, 4))
        identical(cached_or(cache, second, ARGUMENTS, refuse), count(second, 4))


def test_codes_of_a_palette_in_another_order_are_the_same_colors(tmp_path: Path) -> None:
    graphs, cache = some_graphs(("C", "N")), CountCache(tmp_path)
    assert graphs.colors is not None
    recoded = replace(graphs, colors=(1 - graphs.colors).astype(np.uint16), palette=("N", "C"))
    assert cache.key(graphs, ARGUMENTS) == cache.key(recoded, ARGUMENTS)


# ---- damage ------------------------------------------------------------------------------------------


def test_an_entry_is_an_archive_that_numpy_and_counts_read(tmp_path: Path) -> None:
    graphs, cache = some_graphs(), CountCache(tmp_path)
    counted = cached_or(cache, graphs, ARGUMENTS, lambda: count(graphs, 4))
    path = entry_of(cache)
    identical(Counts.load(path), counted)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert cache.key(graphs, ARGUMENTS).encode() in archive.comment
    assert path.parent.name == path.name[:2]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[CountCache, GraphSet, Counts, bytes]:
    graphs, cache = some_graphs(("C", "N")), CountCache(tmp_path_factory.mktemp("cache"))
    counts = cached_or(cache, graphs, ARGUMENTS, lambda: count(graphs, 4))
    return cache, graphs, counts, entry_of(cache).read_bytes()


def check_damage(shelf: tuple[CountCache, GraphSet, Counts, bytes], data: bytes) -> None:
    """It is noticed, reported once, counted again and overwritten."""
    cache, graphs, counts, good = shelf
    assert data != good
    entry_of(cache).write_bytes(data)
    with pytest.warns(CountWarning, match="counted again") as messages:
        identical(cached_or(cache, graphs, ARGUMENTS, lambda: counts), counts)
    assert len(messages) == 1
    identical(cached_or(cache, graphs, ARGUMENTS, refuse), counts)


@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=30)
def test_a_truncated_file_is_detected(shelf: tuple[CountCache, GraphSet, Counts, bytes], share: float) -> None:
    check_damage(shelf, shelf[3][: int(share * len(shelf[3]))])


@given(data=st.data())
@settings(max_examples=60)
def test_flipped_bits_are_detected(shelf: tuple[CountCache, GraphSet, Counts, bytes], data: st.DataObject) -> None:
    bits = data.draw(st.sets(st.integers(0, 8 * len(shelf[3]) - 1), min_size=1, max_size=8))
    damaged = bytearray(shelf[3])
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    check_damage(shelf, bytes(damaged))


@given(at=st.integers(0, 10**6), junk=st.binary(min_size=1, max_size=40))
@settings(max_examples=30)
def test_inserted_bytes_are_detected(shelf: tuple[CountCache, GraphSet, Counts, bytes], at: int, junk: bytes) -> None:
    good = shelf[3]
    at %= len(good) + 1
    check_damage(shelf, good[:at] + junk + good[at:])


def test_other_files_are_detected(shelf: tuple[CountCache, GraphSet, Counts, bytes]) -> None:
    cache, graphs, counts, good = shelf
    for data in (b"", b"\n", b"PK", b"hello\n" * 100, bytes(len(good)), good + good, good + b"\n"):
        check_damage(shelf, data)
    counts.save(entry_of(cache))  # a table, but without a seal
    check_damage(shelf, entry_of(cache).read_bytes())
    cache.put(graphs, {"k": [5]}, counts)  # an entry of another key
    (foreign,) = cache.folder.rglob(f"{cache.key(graphs, {'k': [5]})}.npz")
    data = foreign.read_bytes()
    foreign.unlink()
    check_damage(shelf, data)


def test_a_sealed_table_of_other_graphs_or_formats_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, cache = some_graphs(), CountCache(tmp_path)
    cache.put(graphs, ARGUMENTS, count(graphs[:2], 4))
    with pytest.warns(CountWarning, match="other sizes"):
        assert cache.get(graphs, ARGUMENTS) is None
    with monkeypatch.context() as patch:
        patch.setattr("anysize.counting.counts_file.FORMAT", "anysize counts 0")
        cache.put(graphs, ARGUMENTS, count(graphs, 4))
    with pytest.warns(CountWarning, match="anysize counts 0"):
        assert cache.get(graphs, ARGUMENTS) is None


def test_an_error_while_counting_or_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, cache = some_graphs(), CountCache(tmp_path)
    with pytest.raises(AssertionError):
        cached_or(cache, graphs, ARGUMENTS, refuse)
    counts = count(graphs, 4)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        cache.put(graphs, ARGUMENTS, counts)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_partial_files_are_removed_after_a_day(tmp_path: Path) -> None:
    graphs, cache = some_graphs(), CountCache(tmp_path)
    cached_or(cache, graphs, ARGUMENTS, lambda: count(graphs, 4))
    old, young = entry_of(cache).with_name("x.npz.1-2.part"), entry_of(cache).with_name("y.npz.1-2.part.1.part")
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - PARTIAL_FILE_LIFETIME_S - 60,) * 2)
    cached_or(CountCache(tmp_path), graphs, ARGUMENTS, refuse)
    assert young.exists()
    assert not old.exists()


# ---- disks that take nothing -------------------------------------------------------------------------


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the right to write everywhere, if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_cache_is_read_and_other_graphs_are_counted(read_only: Path) -> None:
    graphs, more = some_graphs(), gnp(8, 0.5)
    kept = cached_or(CountCache(read_only), graphs, ARGUMENTS, lambda: count(graphs, 4))
    counted = count(more, 4)
    for folder in (*read_only.glob("*"), read_only):
        folder.chmod(0o555)
    with as_nobody():
        cache = CountCache(read_only)
        identical(cached_or(cache, graphs, ARGUMENTS, refuse), kept)
        with pytest.warns(CountWarning, match="could not be written to the cache") as messages:
            assert cached_or(cache, more, ARGUMENTS, lambda: counted) is counted
        assert len(messages) == 1


def test_a_full_disk_gives_a_warning_and_the_counts(tmp_path: Path) -> None:
    graphs, cache = some_graphs(), CountCache(tmp_path)
    counts = count(graphs, 4)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 500):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))  # a longer file fails in the middle of a write
        try:
            with warnings.catch_warnings(record=True) as messages:
                warnings.simplefilter("always")
                assert cached_or(cache, graphs, ARGUMENTS, lambda: counts) is counts
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [entry.category for entry in messages] == [CountWarning]
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    identical(cached_or(cache, graphs, ARGUMENTS, lambda: counts), cached_or(cache, graphs, ARGUMENTS, refuse))


def test_a_cache_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        CountCache(tmp_path / "file")


# ---- writers that are killed, and several at once -----------------------------------------------------

WRITER = """
import sys
import numpy as np
from dataclasses import replace
from scipy.sparse import csr_array
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.cache import CountCache
from anysize.graphs.graphset import GraphSet

def case(number):
    n = 2000 * (number + 1)
    graphs = GraphSet.from_edges([[(0, 1)]] * n)
    copies = np.random.default_rng(number).integers(0, 2**40, (n, 6))
    return graphs, Counts(csr_array(copies), Columns.plain(4), graphs.sizes)

CASES = [case(number) for number in range(4)]
if __name__ == "__main__":
    cache = CountCache(sys.argv[1])
    print("ready", flush=True)
    turn = 0
    while True:
        for graphs, counts in CASES:
            cache.put(graphs, {}, replace(counts, log=(sys.argv[2] * (turn % 7),)))  # so that no two files are the same
        turn += 1
"""


@pytest.fixture(scope="module")
def cases() -> list[tuple[GraphSet, Counts]]:
    space: dict[str, list[tuple[GraphSet, Counts]]] = {"__name__": "writer"}  # type: ignore[dict-item]
    exec(WRITER, space)
    return space["CASES"]


@contextmanager
def writer(folder: Path, sign: str) -> Iterator[None]:
    """A process that writes the same entries again and again, until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder), sign], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        process.communicate()


def read_all(cache: CountCache, cases: list[tuple[GraphSet, Counts]]) -> int:
    """The number of entries; a damaged one gives a warning, which is an error here."""
    found = 0
    for graphs, counts in cases:
        read = cache.get(graphs, {})
        if read is not None:
            identical(read, counts)
            found += 1
    return found


def test_a_killed_writer_leaves_complete_entries(tmp_path: Path, cases: list[tuple[GraphSet, Counts]]) -> None:
    chance, found = random.Random(0), 0
    for attempt in range(6):
        folder = tmp_path / str(attempt % 3)  # some are written to again, over what the killed one left
        with writer(folder, "x"):
            time.sleep(chance.uniform(0, 0.25))
        found += read_all(CountCache(folder), cases)
    assert found > 0
    for folder in tmp_path.iterdir():
        for part in folder.rglob("*.part"):
            os.utime(part, (0, 0))
        CountCache(folder)
        assert not list(folder.rglob("*.part"))


def test_two_concurrent_writers_and_a_reader(tmp_path: Path, cases: list[tuple[GraphSet, Counts]]) -> None:
    cache, read = CountCache(tmp_path), 0
    with writer(tmp_path, "x"), writer(tmp_path, "y"):
        end = time.monotonic() + 3  # from when both are at work
        while time.monotonic() < end:
            read += read_all(CountCache(tmp_path), cases)
    assert read > 10
    assert read_all(cache, cases) == len(cache) == len(cases)


def test_files_behind_links_are_neither_removed_nor_written(tmp_path: Path) -> None:
    home, cache, graphs = tmp_path / "home", CountCache(tmp_path / "cache"), some_graphs()
    home.mkdir()
    key = cache.key(graphs, ARGUMENTS)
    for name in ("mine.npz", "x.1-ab.part"):
        (home / name).write_text("mine")
        os.utime(home / name, (time.time() - 10**6,) * 2)
    cache.folder.mkdir()
    (cache.folder / key[:2]).symlink_to(home)
    cache = CountCache(cache.folder)
    cache.clear()
    with pytest.warns(CountWarning, match="is a link"):
        cache.put(graphs, ARGUMENTS, count(graphs, 4))
    assert sorted(path.name for path in home.iterdir()) == ["mine.npz", "x.1-ab.part"]
    (cache.folder / key[:2]).unlink()
    (cache.folder / key[:2]).mkdir()
    (cache.folder / key[:2] / f"{key}.npz").symlink_to(home / "mine.npz")
    cache.put(graphs, ARGUMENTS, count(graphs, 4))
    assert (home / "mine.npz").read_text() == "mine"
    identical(cached_or(cache, graphs, ARGUMENTS, refuse), count(graphs, 4))
