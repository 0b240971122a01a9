"""Sets larger than memory: counts of one batch of graphs after the other, as a Parquet data set.

    out/stream.json              format, arguments, and of every batch that is done: file, hash, number of graphs
    out/counts/000000.parquet    one row per graph and pattern that occurs in it
    out/graphs/000000.parquet    one row per graph: number, vertices, and name and label where the batch has them
    out/patterns/000000.parquet  the columns of the batch's table, in order; palette and log as metadata

A batch is done when stream.json says so, and that is written after its files: a run that was killed goes on there.
"""

from __future__ import annotations

import inspect
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from anysize._files import atomic_write, make_folder
from anysize.counting.arrow import ArrowTables, pyarrow, to_arrow
from anysize.counting.cache import canonical_json, content_digest
from anysize.counting.counts import Counts
from anysize.counting.execution import make_request
from anysize.counting.stream_reader import ABOUT, FORMAT, About, Batch, CountStream, open_stream, read_about
from anysize.executors.cluster import active
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import check_size

NO_MATTER = {"threads", "store", "max_memory"}  # arguments of `count` that do not change its result
REFUSED = {  # arguments of `count` that make no sense batch by batch, and why
    "first": "graphs are numbered through the stream",
    "budget_s": "all batches are counted alike; use method='sample', or none",
    "errors": "every graph has its place in the stream; leave out those that cannot be counted",
}
DICTIONARY = 1 << 26  # bytes; a colored table may have a million names of patterns, each to be written once


def count_stream(
    batches: Iterable[GraphSet],
    k: int | Iterable[int],
    out: str | os.PathLike[str],
    *,
    colors: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **count_options: Any,
) -> CountStream:
    """Count one graph set after the other and write the tables to a folder of Parquet files.

    Called again with the same folder, arguments and batches it skips those that are done, so that a run that
    was stopped, in whatever way, goes on; the files come out the same, bit by bit. One run at a time per folder.
    In an `anysize.cluster` block each batch is counted by one worker, and a few batches for each are in memory.

    Args:
        batches: graph sets; one is in memory at a time, with its table.
        k: pattern size 1..7, or several of them.
        out: a folder: a new one, or one with a stream that was begun.
        colors: tell vertices apart by color; either all batches have colors or none.
        progress: called with the numbers of batches and of graphs done so far, after every batch.
        count_options: more arguments of `count`, such as ``method`` or ``threads``.

    Returns:
        The stream, to be read batch by batch or as a pyarrow data set.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> rings = ([(v, (v + 1) % n) for v in range(n)] for n in range(3, 7))
        >>> with TemporaryDirectory() as folder:
        ...     stream = count_stream((GraphSet.from_edges(ring) for ring in rings), 3, f"{folder}/rings")
        ...     print(stream, stream.counts().matrix.toarray().tolist())
        CountStream(4 graphs in 4 batches, k = 3) [[0, 1], [4, 0], [5, 0], [6, 0]]
    """
    pyarrow()  # better missed now than after the first batch has been counted
    if isinstance(batches, GraphSet):
        raise ValueError("expected several graph sets, one after the other; got one: use count, or give [graphs]")
    sizes = sorted({check_size(size) for size in (k if isinstance(k, Iterable) else [k])})
    writer = _Writer(Path(out), _arguments(sizes, colors, count_options))
    for graphs, counts in _tables(writer.new(batches, colors), sizes, colors, count_options):
        if counts is not None:
            writer.write(graphs, counts)
        writer.advance(graphs)
        if progress is not None:
            progress(writer.position, writer.n_graphs)
        del graphs, counts  # the next one is made without this one in memory
    writer.finish()
    return open_stream(out)


Task = tuple[GraphSet, int, bool]  # a batch, the number of its first graph, whether it is done


def _tables(
    tasks: Iterator[Task], sizes: list[int], colors: bool, options: dict[str, Any]
) -> Iterator[tuple[GraphSet, Counts | None]]:
    """The batches with their tables, one after the other; None for those that are done."""
    executor = active()
    if executor is None or options.get("store") is not None:  # with a store, `count` looks there first
        from anysize.counting.api import count  # here, because that module may offer this one

        for graphs, first, done in tasks:
            own: dict[str, Any] = {"first": first} if options.get("method") == "sample" else {}
            yield graphs, None if done else count(graphs, sizes, colors, **options, **own)
            del graphs
        return
    from anysize.counting.cluster import count_batches

    waiting: deque[GraphSet] = deque()

    def handed_out() -> Iterator[tuple[GraphSet, int] | None]:
        for graphs, first, done in tasks:
            waiting.append(graphs)
            yield None if done else (graphs, first)

    for counts in count_batches(executor, handed_out(), sizes, make_request(options), options.get("threads")):
        yield waiting.popleft(), counts


class _Writer:
    """The folder of a stream, and how far in it this run has come."""

    def __init__(self, folder: Path, arguments: dict[str, Any]) -> None:
        self.folder, self.position, self.n_graphs = folder, 0, 0
        if (folder / ABOUT).exists():
            self.about = read_about(folder)
            _compare(folder, self.about.arguments, arguments)
        elif folder.exists() and any(not path.name.endswith(".part") for path in folder.iterdir()):
            raise ValueError(f"{folder} holds files but no stream of counts; give a new or an empty folder")
        else:
            self.about = About(arguments)
        self._begun = len(self.about.batches)  # batches of runs before this one
        self._colored = next((batch.colored for batch in self.about.batches if batch.graphs), None)
        self._lines = [_line(batch) for batch in self.about.batches]
        make_folder(folder)
        if not self._lines:
            self._save()  # before any other file: from now on this folder is a stream
        for kind in ArrowTables._fields:
            make_folder(folder / kind)
        for part in [*folder.glob("*.part"), *folder.glob("*/*.part")]:
            part.unlink()  # what a killed run left behind

    def new(self, batches: Iterable[GraphSet], colors: bool) -> Iterator[Task]:
        """The batches of this run, each with the number of its first graph, and whether it is done."""
        first = 0
        for number, batch in enumerate(batches):
            if not isinstance(batch, GraphSet):
                raise ValueError(f"batch {number} is a {type(batch).__name__}; expected a GraphSet")
            graphs = batch if colors else batch.without_colors()
            size, done = len(graphs), self._is_done(graphs, number)
            yield graphs, first, done
            first += size

    def _is_done(self, graphs: GraphSet, number: int) -> bool:
        """Whether these graphs are that batch of the stream and done already."""
        self._check(graphs, number)
        if number >= self._begun:
            return False
        done = self.about.batches[number]
        if done.sha256 != _batch_hash(graphs):
            what = "as many, but edges, colors, labels or names differ" if done.graphs == len(graphs) else len(graphs)
            raise ValueError(
                f"batch {number} is not the one {self.folder} was begun with: that had {done.graphs} graphs, "
                f"this has {what}; give the same batches, or another folder"
            )
        return all((self.folder / kind / done.file).exists() for kind in ArrowTables._fields)

    def write(self, graphs: GraphSet, counts: Counts) -> None:
        """Write the files of the next batch, then say that it is done."""
        file = f"{self.position:06d}.parquet"
        for kind, table in to_arrow(counts, self.n_graphs)._asdict().items():
            with atomic_write(self.folder / kind / file) as part:
                pyarrow().parquet.write_table(table, part, dictionary_pagesize_limit=DICTIONARY)
        if self.position == len(self.about.batches):
            batch = Batch(file, _batch_hash(graphs), len(graphs), counts.columns.colors is not None)
            self.about = replace(self.about, batches=(*self.about.batches, batch), finished=False)
            self._lines.append(_line(batch))
            self._save()

    def finish(self) -> None:
        """Say that all batches have come."""
        if self.position < len(self.about.batches):
            raise ValueError(
                f"{self.folder} holds {len(self.about.batches)} batches, but only {self.position} came this time; "
                "give all of them, or another folder"
            )
        if not self.about.finished:
            self.about = replace(self.about, finished=True)
            self._save()

    def advance(self, graphs: GraphSet) -> None:
        """Go on to the next batch."""
        self.position, self.n_graphs = self.position + 1, self.n_graphs + len(graphs)

    def _check(self, graphs: GraphSet, number: int) -> None:
        """Whether a batch can be written, and goes with those before; better known before it is counted."""
        if graphs.y is not None and graphs.y.dtype.kind not in "biufU":
            raise ValueError(f"labels must be numbers or strings; those of batch {number} are {graphs.y.dtype}")
        if len(graphs) and self._colored not in (None, graphs.colors is not None):
            raise ValueError(
                f"batch {number} has {'no ' if self._colored else ''}colors, unlike those before: color all, "
                "or none, or give colors=False"
            )
        if len(graphs):
            self._colored = graphs.colors is not None

    def _save(self) -> None:
        head = {"format": FORMAT, "arguments": self.about.arguments, "finished": self.about.finished}
        text = json.dumps(head)[:-1] + ', "batches": [\n' + ",\n".join(self._lines) + "\n]}\n"
        with atomic_write(self.folder / ABOUT) as part:
            part.write_text(text, encoding="utf-8")


def _line(batch: Batch) -> str:
    return json.dumps(vars(batch))


def _batch_hash(graphs: GraphSet) -> str:
    """SHA-256 of all that a batch leaves in the files: graphs, palette, names, labels."""
    digest = sha256(content_digest(graphs))
    labels = None if graphs.y is None else graphs.y.dtype.str
    digest.update(json.dumps([graphs.palette, graphs.names, labels]).encode())
    digest.update(b"" if graphs.y is None else np.ascontiguousarray(graphs.y).tobytes())
    return digest.hexdigest()


def _arguments(sizes: list[int], colors: bool, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments that make the result what it is, as JSON gives them back; those at their defaults are left out."""
    from anysize.counting.api import count

    known = inspect.signature(count).parameters
    for name in options:
        if name not in known:
            raise TypeError(f"count_stream has no argument {name!r}; besides its own it takes those of count")
    for name, why in REFUSED.items():
        if options.get(name, known[name].default) != known[name].default:
            raise ValueError(f"a stream takes no {name}={options[name]!r}: {why}")
    make_request(options)  # wrong ones are known before a folder is made
    chosen = {n: v for n, v in options.items() if n not in NO_MATTER and v != known[n].default}
    arguments: dict[str, Any] = json.loads(canonical_json({"k": sizes, "colors": bool(colors), **chosen}))
    return arguments


def _compare(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """An error that says what differs, if anything does."""
    changes = [
        f"{name} was {old.get(name, 'the default')!r}, is now {new.get(name, 'the default')!r}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    if changes:
        raise ValueError(f"{folder} was begun with other arguments ({'; '.join(changes)}); give another folder")
