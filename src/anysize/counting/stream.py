"""Counts of sets larger than memory: one batch of graphs after the other, written as a Parquet data set.

    out/stream.json              format, arguments, and for every finished batch: file, hash, number of graphs
    out/counts/000000.parquet    one row per graph and pattern that occurs in it
    out/graphs/000000.parquet    one row per graph: number, vertices, and name and label if the batch has them
    out/patterns/000000.parquet  the columns of the batch's table, in order; palette and log as metadata

A batch is listed in stream.json after its files were written, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import inspect
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from anysize._files import atomic_write, is_own_part, make_folder
from anysize._schema import boolean, compact_json, fields, integer, list_of, parse_json, real, reason_of, text
from anysize._text import escape_surrogates
from anysize._typing import PathLike
from anysize.counting.arrow import (
    ESTIMATE_COLUMNS,
    ArrowTables,
    cell_schema,
    columns_from_arrow,
    from_arrow,
    pyarrow,
    read_parquet,
    to_arrow,
)
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.counting.counts_file import check_format
from anysize.counting.execution import make_request
from anysize.executors.executor import ACTIVE
from anysize.graphs.graphset import GraphSet, content_digest, empty_set
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import Pattern, list_sizes

FORMAT = "anysize stream 3"
METADATA_FILE = "stream.json"
WITHOUT_EFFECT = {"threads", "cache", "max_memory"}  # arguments of `count` that do not change its result
REFUSED = {  # arguments of `count` that cannot be used batch by batch, and why
    "first": "graphs are numbered through the stream",
    "budget_s": "all batches must be counted the same way; use engine='sample' or no budget",
    "edges": "files of streams hold no types of edges; count without a stream",
    "errors": "every graph has its row in the stream; remove graphs that cannot be counted",
}
DICTIONARY_PAGE_BYTES = 1 << 26  # a colored table may have a million pattern names, each written once


# ---- writing -----------------------------------------------------------------------------------------


def count_stream(
    batches: Iterable[GraphSet],
    k: int | Iterable[int],
    out: PathLike,
    *,
    colors: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **count_options: Any,
) -> CountStream:
    """Count graph sets one after the other and write the tables to a folder of Parquet files.

    Safe to interrupt: called again with the same folder, arguments and batches, it skips finished batches; the files
    come out the same, byte by byte. Only one run at a time may write to a folder. In an `anysize.cluster` block each
    batch is counted by one worker, and a few batches per worker are in memory.

    Args:
        batches: graph sets; one at a time is in memory, with its table.
        k: pattern size 1..7, or several sizes.
        out: a new folder, or one with a stream to resume.
        colors: distinguish vertices by color; either all batches have colors or none.
        progress: called after every batch with the numbers of batches and of graphs done so far.
        count_options: more arguments of `count`, such as ``engine`` or ``threads``.

    Returns:
        The stream, which can be read batch by batch or as a pyarrow data set.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> rings = ([(v, (v + 1) % n) for v in range(n)] for n in range(3, 7))
        >>> with TemporaryDirectory() as folder:
        ...     stream = count_stream((GraphSet.from_edges(ring) for ring in rings), 3, f"{folder}/rings")
        ...     print(stream, stream.counts().matrix.toarray().tolist())
        CountStream(4 graphs in 4 batches, k = 3) [[0, 1], [4, 0], [5, 0], [6, 0]]
    """
    pyarrow()  # raises an error before the first batch is counted
    if isinstance(batches, GraphSet):
        raise ValueError("expected several graph sets; got one: use count, or pass [graphs]")
    sizes = list_sizes(k)
    writer = _Writer(Path(out), _arguments(sizes, colors, count_options))
    for graphs, counts in _tables(writer.jobs(batches, colors), sizes, colors, count_options):
        if counts is not None:
            writer.write(graphs, counts)
        writer.advance(graphs)
        if progress is not None:
            progress(writer.position, writer.n_graphs)
        del graphs, counts  # freed before the next batch is made
    writer.finish()
    return open_stream(out)


BatchJob = tuple[GraphSet, int, bool]  # a batch, the number of its first graph, whether it is finished


def _tables(
    jobs: Iterator[BatchJob], sizes: list[int], colors: bool, options: dict[str, Any]
) -> Iterator[tuple[GraphSet, Counts | None]]:
    """The batches with their tables, in order; None for finished batches."""
    executor = ACTIVE.get()
    if executor is None or options.get("cache") is not None:  # `count` looks into the cache first
        from anysize.counting.api import count

        for graphs, first, finished in jobs:
            numbering: dict[str, Any] = {"first": first} if options.get("engine") == "sample" else {}
            yield graphs, None if finished else count(graphs, sizes, colors, **options, **numbering)
            del graphs
        return
    from anysize.counting.cluster import count_batches

    submitted: deque[GraphSet] = deque()

    def unfinished() -> Iterator[tuple[GraphSet, int] | None]:
        for graphs, first, finished in jobs:
            submitted.append(graphs)
            yield None if finished else (graphs, first)

    for counts in count_batches(executor, unfinished(), sizes, make_request(options), options.get("threads")):
        yield submitted.popleft(), counts


class _Writer:
    """The folder of a stream, and the position of this run in it."""

    def __init__(self, folder: Path, arguments: dict[str, Any]) -> None:
        self.folder, self.position, self.n_graphs = folder, 0, 0
        if (folder / METADATA_FILE).exists():
            self.metadata = read_metadata(folder)
            _compare(folder, self.metadata.arguments, arguments)
        elif folder.exists() and any(not path.name.endswith(".part") for path in folder.iterdir()):
            raise ValueError(f"{folder} holds files but no stream of counts; give a new or an empty folder")
        else:
            self.metadata = StreamMetadata(arguments)
        self._n_resumed = len(self.metadata.batches)  # batches of earlier runs
        self._colored = next((batch.colored for batch in self.metadata.batches if batch.graphs), None)
        self._lines = [json.dumps(vars(batch)) for batch in self.metadata.batches]
        make_folder(folder)
        folders = [folder / kind for kind in ArrowTables._fields]
        for inner in folders:
            if inner.is_symlink():
                raise ValueError(f"{inner} is a link to another folder; a stream is written to its own folders only")
        if not self._lines:
            self._save()  # before any other file: it marks the folder as a stream
        for inner in folders:
            make_folder(inner)
        for part in [part for inner in (folder, *folders) for part in inner.glob("*.part") if is_own_part(part)]:
            part.unlink()  # left by a killed run

    def jobs(self, batches: Iterable[GraphSet], colors: bool) -> Iterator[BatchJob]:
        """The batches of this run, each with the number of its first graph, and whether it is finished."""
        first = 0
        for number, batch in enumerate(batches):
            if not isinstance(batch, GraphSet):
                raise ValueError(f"batch {number} is a {type(batch).__name__}; expected a GraphSet")
            graphs = batch if colors else batch.without_colors()
            size, finished = len(graphs), self._is_finished(graphs, number)
            yield graphs, first, finished
            first += size

    def _is_finished(self, graphs: GraphSet, number: int) -> bool:
        """Whether this batch was written by an earlier run; a ValueError if that run had other graphs."""
        self._check(graphs, number)
        if number >= self._n_resumed:
            return False
        earlier = self.metadata.batches[number]
        if earlier.sha256 != _batch_hash(graphs):
            what = "as many with other edges, colors, labels or names"
            raise ValueError(
                f"batch {number} is not the one {self.folder} was begun with: that had {earlier.graphs} graphs, "
                f"this has {what if earlier.graphs == len(graphs) else len(graphs)}; give the same batches, "
                "or another folder"
            )
        return all((self.folder / kind / earlier.file).exists() for kind in ArrowTables._fields)

    def write(self, graphs: GraphSet, counts: Counts) -> None:
        """Write the files of the next batch, then add it to the metadata."""
        file = _file_name(self.position)
        for kind, table in to_arrow(counts, self.n_graphs)._asdict().items():
            with atomic_write(self.folder / kind / file, follow_links=False) as part:
                pyarrow().parquet.write_table(table, part, dictionary_pagesize_limit=DICTIONARY_PAGE_BYTES)
        if self.position == len(self.metadata.batches):
            batch = StreamBatch(file, _batch_hash(graphs), len(graphs), counts.columns.colors is not None)
            self.metadata = replace(self.metadata, batches=(*self.metadata.batches, batch), finished=False)
            self._lines.append(json.dumps(vars(batch)))
            self._save()

    def advance(self, graphs: GraphSet) -> None:
        """Go on to the next batch."""
        self.position, self.n_graphs = self.position + 1, self.n_graphs + len(graphs)

    def finish(self) -> None:
        """Mark the stream as finished."""
        if self.position < len(self.metadata.batches):
            raise ValueError(
                f"{self.folder} holds {len(self.metadata.batches)} batches, but only {self.position} came this time; "
                "give all of them, or another folder"
            )
        if not self.metadata.finished:
            self.metadata = replace(self.metadata, finished=True)
            self._save()

    def _check(self, graphs: GraphSet, number: int) -> None:
        """Raise a ValueError, before counting, if a batch cannot be written or does not match the earlier ones."""
        if graphs.y is not None and graphs.y.dtype.kind not in "biufU":
            raise ValueError(f"labels must be numbers or strings; those of batch {number} are {graphs.y.dtype}")
        labels = "".join(graphs.y) if graphs.y is not None and graphs.y.dtype.kind == "U" else ""
        if labels != escape_surrogates(labels):
            raise ValueError(f"labels must be text in Unicode; one of batch {number} is not: rename it")
        if len(graphs) and self._colored not in (None, graphs.colors is not None):
            raise ValueError(
                f"batch {number} has {'no ' if self._colored else ''}colors, unlike those before; color all or none, "
                "or pass colors=False"
            )
        if len(graphs):
            self._colored = graphs.colors is not None

    def _save(self) -> None:
        head = {"format": FORMAT, "arguments": self.metadata.arguments, "finished": self.metadata.finished}
        text = json.dumps(head)[:-1] + ', "batches": [\n' + ",\n".join(self._lines) + "\n]}\n"
        with atomic_write(self.folder / METADATA_FILE, follow_links=False) as part:
            part.write_text(text, encoding="utf-8")


def _file_name(number: int) -> str:
    """The name of the files of a batch."""
    return f"{number:06d}.parquet"


def _batch_hash(graphs: GraphSet) -> str:
    """SHA-256 of everything in a batch that affects the files: graphs, palette, names, labels."""
    digest = sha256(content_digest(graphs))
    labels = None if graphs.y is None else graphs.y.dtype.str
    digest.update(json.dumps([graphs.palette, graphs.names, labels]).encode())
    digest.update(b"" if graphs.y is None else np.ascontiguousarray(graphs.y).tobytes())
    return digest.hexdigest()


def _arguments(sizes: list[int], colors: bool, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments that determine the result, as JSON values, without those at their defaults."""
    from anysize.counting.api import count

    parameters = inspect.signature(count).parameters
    for name in options:
        if name not in parameters:
            raise TypeError(f"count_stream has no argument {name!r}; it takes its own and those of count")
    for name, reason in REFUSED.items():
        if options.get(name, parameters[name].default) != parameters[name].default:
            raise ValueError(f"count_stream does not take {name}={options[name]!r}: {reason}")
    make_request(options)  # raises an error for wrong values before a folder is made
    changed = {n: v for n, v in options.items() if n not in WITHOUT_EFFECT and v != parameters[n].default}
    arguments: dict[str, Any] = json.loads(compact_json({"k": sizes, "colors": bool(colors), **changed}))
    return arguments


def _compare(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise a ValueError that names the arguments that differ."""
    changes = [
        f"{name} was {old.get(name, 'the default')!r}, is now {new.get(name, 'the default')!r}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    if changes:
        raise ValueError(f"{folder} was begun with other arguments ({'; '.join(changes)}); give another folder")


# ---- reading -----------------------------------------------------------------------------------------


def open_stream(path: PathLike) -> CountStream:
    """Open the stream that `count_stream` wrote, or is writing, to this folder."""
    return CountStream(Path(path), read_metadata(Path(path)))


@dataclass(frozen=True)
class StreamBatch:
    """The entry of one batch in stream.json."""

    file: str
    sha256: str
    graphs: int
    colored: bool


@dataclass(frozen=True)
class StreamMetadata:
    """The contents of stream.json."""

    arguments: dict[str, Any]
    finished: bool = False
    batches: tuple[StreamBatch, ...] = ()


_ARGUMENTS = fields(  # those of `count` that change its result; never a path
    {"k": list_of(integer(1, MAX_SIZE)), "colors": boolean},
    {
        "engine": text(),
        "samples": integer(1),
        "rel_error": real(0, 1),
        "seed": integer(0),
        "color": text(),
    },
)
_BATCH = fields(
    {"file": text(), "sha256": text("[0-9a-f]{64}", "64 hexadecimal digits"), "graphs": integer(0), "colored": boolean}
)
_SCHEMA = fields({"format": text(), "arguments": _ARGUMENTS, "finished": boolean, "batches": list_of(_BATCH)})


def read_metadata(folder: Path) -> StreamMetadata:
    """Read stream.json."""
    path = folder / METADATA_FILE
    try:
        content = parse_json(path.read_bytes())
        check_format(content.get("format") if isinstance(content, dict) else None, FORMAT)
        content = _SCHEMA(content, "")
        batches = tuple(StreamBatch(**batch) for batch in content["batches"])
        for number, batch in enumerate(batches):
            if batch.file != _file_name(number):
                raise ValueError(f"batches[{number}].file: expected {_file_name(number)}; got {batch.file!r:.60}")
        return StreamMetadata(content["arguments"], content["finished"], batches)
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} holds no stream of counts: it has no {METADATA_FILE}") from None
    except ValueError as error:
        raise ValueError(f"{path} does not describe a readable stream of counts: {reason_of(error)}") from error


class CountStream:
    """Counts of many batches in a folder, read on request.

    The length is the number of graphs; iteration gives one `Counts` per batch, with the columns of that batch.
    """

    def __init__(self, folder: Path, metadata: StreamMetadata) -> None:
        self.folder, self._metadata = folder, metadata

    def __len__(self) -> int:
        return sum(batch.graphs for batch in self._metadata.batches)

    @property
    def n_batches(self) -> int:
        return len(self._metadata.batches)

    @property
    def finished(self) -> bool:
        """Whether the run that wrote the stream reached the end of its batches."""
        return self._metadata.finished

    @property
    def _sampled(self) -> bool:
        return bool(self._metadata.arguments.get("engine") == "sample")

    def __repr__(self) -> str:
        sizes = ", ".join(str(k) for k in self._metadata.arguments["k"])
        return f"CountStream({len(self)} graphs in {self.n_batches} batches, k = {sizes})"

    def __iter__(self) -> Iterator[Counts]:
        return (self.batch(number) for number in range(self.n_batches))

    def batch(self, number: int) -> Counts:
        """The table of one batch, as returned by `count`."""
        number = range(self.n_batches)[number]  # IndexError as for a list
        first = sum(batch.graphs for batch in self._metadata.batches[:number])
        columns = ["graph", "pattern", "copies", *(ESTIMATE_COLUMNS if self._sampled else ())]
        tables = ArrowTables(
            self._read("counts", number, columns), self._read("graphs", number), self._read("patterns", number)
        )
        batch = self._metadata.batches[number]
        try:
            if len(tables.graphs) != batch.graphs:
                raise ValueError(f"expected {batch.graphs} graphs; got {len(tables.graphs)}")
            counts = from_arrow(tables, first)
            if (counts.columns.colors is not None) != batch.colored:
                raise ValueError(f"expected {'colored' if batch.colored else 'plain'} patterns")
        except (ValueError, TypeError, KeyError, pyarrow().ArrowException) as error:
            raise ValueError(f"{self.folder}: the files {batch.file} are damaged: {reason_of(error)}") from error
        return counts

    def dataset(self) -> Any:
        """The cells of all batches as a `pyarrow.dataset.Dataset`, to filter and scan without loading all.

        Columns: graph (its number in the stream), vertices, pattern (name), size, code (the edges, one bit per pair),
        colors (a JSON list of names, or null), copies. A pattern that does not occur in a graph has no row. A stream
        of estimates also has standard_error and hits.
        """
        files = [str(self.folder / "counts" / batch.file) for batch in self._metadata.batches]
        return pyarrow().dataset.dataset(files, schema=cell_schema(self._sampled), format="parquet")

    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns of all batches, in canonical order."""
        union: Columns | None = None
        for number in self._batches_with_graphs():
            try:
                columns = columns_from_arrow(self._read("patterns", number))
            except ValueError as error:
                raise ValueError(
                    f"{self.folder}: the patterns of batch {number} are damaged: {reason_of(error)}"
                ) from error
            union = columns if union is None else unite([union, columns])[0]
        return (self._empty_counts().columns if union is None else union).patterns

    def counts(self, patterns: Sequence[Pattern] | None = None) -> Counts:
        """One table of all graphs, over all patterns or over the given ones in their order; it must fit in memory."""
        numbers = self._batches_with_graphs()
        tables = [self.batch(n) if patterns is None else self.batch(n).align(patterns) for n in numbers]
        table = Counts.concatenate(tables or [self._empty_counts()])
        return table if patterns is None else table.align(patterns)

    def _batches_with_graphs(self) -> list[int]:
        """Only these determine whether there are colors, labels and names; the first batch if all are empty."""
        filled = [number for number, batch in enumerate(self._metadata.batches) if batch.graphs]
        return filled or list(range(self.n_batches))[:1]

    def _empty_counts(self) -> Counts:
        from anysize.counting.api import count

        return count(empty_set(), **self._metadata.arguments)

    def _read(self, kind: str, number: int, columns: list[str] | None = None) -> Any:
        file = self.folder / kind / self._metadata.batches[number].file
        try:
            return read_parquet(file, columns)
        except (OSError, ValueError, KeyError, RuntimeError, pyarrow().ArrowException) as error:
            raise ValueError(
                f"{file} of a stream of counts is missing or damaged ({reason_of(error)}); remove it and call "
                "count_stream with the same arguments to count its batch again"
            ) from error
