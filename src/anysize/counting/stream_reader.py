"""Streams of counts read back: what `count_stream` wrote, batch by batch or as a data set."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anysize.counting.arrow import ESTIMATES, ArrowTables, cell_schema, columns_from_arrow, from_arrow, pyarrow
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.graphs.graphset import empty_set
from anysize.patterns.pattern import Pattern

FORMAT = "anysize stream 1"
ABOUT = "stream.json"


def open_stream(path: str | os.PathLike[str]) -> CountStream:
    """The stream of counts that `count_stream` wrote, or is writing, to this folder."""
    return CountStream(Path(path), read_about(Path(path)))


@dataclass(frozen=True)
class Batch:
    """What stream.json says of one batch."""

    file: str
    sha256: str
    graphs: int
    colored: bool


@dataclass(frozen=True)
class About:
    """What stream.json holds."""

    arguments: dict[str, Any]
    finished: bool = False
    batches: tuple[Batch, ...] = ()


def read_about(folder: Path) -> About:
    path = folder / ABOUT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']!r}, expected {FORMAT!r}")
        return About(found["arguments"], found["finished"], tuple(Batch(**batch) for batch in found["batches"]))
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} holds no stream of counts: it has no {ABOUT}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} does not describe a stream of counts: {error}") from error


class CountStream:
    """Counts of many batches in a folder; nothing is read before it is asked for.

    The length is the number of graphs; iteration gives one `Counts` per batch, with the batch's own columns.
    """

    def __init__(self, folder: Path, about: About) -> None:
        self.folder, self._about = folder, about

    def __len__(self) -> int:
        return sum(batch.graphs for batch in self._about.batches)

    @property
    def n_batches(self) -> int:
        return len(self._about.batches)

    @property
    def finished(self) -> bool:
        """Whether the run that wrote the stream came to the end of its batches."""
        return self._about.finished

    @property
    def _sampled(self) -> bool:
        return bool(self._about.arguments.get("method") == "sample")

    def __repr__(self) -> str:
        sizes = ", ".join(str(k) for k in self._about.arguments["k"])
        return f"CountStream({len(self)} graphs in {self.n_batches} batches, k = {sizes})"

    def __iter__(self) -> Iterator[Counts]:
        return (self.batch(number) for number in range(self.n_batches))

    def batch(self, number: int) -> Counts:
        """The table of one batch, as `count` gave it."""
        number = range(self.n_batches)[number]  # IndexError as for a list
        first = sum(batch.graphs for batch in self._about.batches[:number])
        columns = ["graph", "pattern", "copies", *(ESTIMATES if self._sampled else ())]
        cells = self._table("counts", number, columns)
        return from_arrow(ArrowTables(cells, self._table("graphs", number), self._table("patterns", number)), first)

    def dataset(self) -> Any:
        """The cells of all batches as a `pyarrow.dataset.Dataset`, to filter and scan without loading all.

        Columns: graph (its number in the stream), vertices, pattern (name), size, code (the edges, one bit per
        pair), colors (a JSON list of names, or null), copies. What does not occur in a graph has no row. A stream of
        estimates also has standard_error and hits.
        """
        files = [str(self.folder / "counts" / batch.file) for batch in self._about.batches]
        return pyarrow().dataset.dataset(files, schema=cell_schema(self._sampled), format="parquet")

    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns of all batches, in canonical order."""
        united: Columns | None = None
        for number in self._telling():
            own = columns_from_arrow(self._table("patterns", number))
            united = own if united is None else unite([united, own])[0]
        return (self._no_counts().columns if united is None else united).patterns

    def counts(self, patterns: Sequence[Pattern] | None = None) -> Counts:
        """One table of all graphs, if it fits in memory: over all patterns, or over these, in this order."""
        tables = [self.batch(n) if patterns is None else self.batch(n).align(patterns) for n in self._telling()]
        whole = Counts.concatenate(tables or [self._no_counts()])
        return whole if patterns is None else whole.align(patterns)

    def _telling(self) -> list[int]:
        """The batches with graphs: one without has no say in whether there are colors, labels or names."""
        filled = [number for number, batch in enumerate(self._about.batches) if batch.graphs]
        return filled or list(range(self.n_batches))[:1]

    def _no_counts(self) -> Counts:
        from anysize.counting.api import count

        own = {name: value for name, value in self._about.arguments.items() if name != "k"}
        return count(empty_set(), self._about.arguments["k"], **own)

    def _table(self, kind: str, number: int, columns: list[str] | None = None) -> Any:
        file = self.folder / kind / self._about.batches[number].file
        try:
            return pyarrow().parquet.read_table(file, columns=columns)
        except (OSError, ValueError) as error:  # errors of Arrow are ValueErrors
            raise ValueError(
                f"{file} of a stream of counts is missing or damaged; remove it if it is there, and count_stream with "
                "the same arguments counts its batch again"
            ) from error
