"""A folder of records that any number of sweeps may write to, and that stays readable after a crash.

A file holds the records of one batch and is named after their keys. It is written to a temporary name, flushed and
renamed, so that readers see a complete batch or none. Files ``*.jsonl`` and ``*.jsonl.gz`` are read, also in
subfolders; others are ignored.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from anysize._errors import RecordWarning, warn_user
from anysize._files import atomic_write, make_folder, remove_partial_files
from anysize._schema import compact_json
from anysize._unpack import open_gzip
from anysize.evaluation.records import Record, from_line, key_of_line, may_be_of, to_line

RECORDS_PER_COMPACT_FILE = 20_000  # some megabytes
MAX_LISTINGS = 20  # a listing goes stale if another process compacts the folder

Read = TypeVar("Read")


class RecordStore:
    """Records in a folder.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from anysize.evaluation.records import Outcome, Record, Scores
        >>> run = Record("sbm-20", "seed:1", "rpgin", "paper", {"lr": 0.01}, seed=0, chosen=Outcome(Scores(test=0.5)))
        >>> with TemporaryDirectory() as folder:
        ...     store = RecordStore(folder)
        ...     path = store.write([run])
        ...     print(run.key in store.keys(), store.read() == [run])
        True True
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open a folder; it is created when the first records are written."""
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"records need a folder; {self.folder} is a file")

    def files(self) -> list[Path]:
        """The files of records, sorted by name."""
        return sorted(path for pattern in ("*.jsonl", "*.jsonl.gz") for path in self.folder.rglob(pattern))

    def keys(self, files: Iterable[Path] | None = None) -> set[str]:
        """The keys of all records, or of those in some files; much faster than reading the records."""
        return {key for _, key in self._lines(key_of_line, files)[0]}

    def read(
        self,
        *,
        task: str | Iterable[str] | None = None,
        data: str | Iterable[str] | None = None,
        method: str | Iterable[str] | None = None,
        recipe: str | Iterable[str] | None = None,
        curves: bool = True,
    ) -> list[Record]:
        """Read the records, or those of some tasks, data sets, methods or recipes, in a fixed order.

        Of several records of one run the latest is returned. Damaged lines and files are skipped with one
        `RecordWarning`. Without curves, which tables do not need, reading takes half the time and memory.
        """
        arguments = {"task": task, "data": data, "method": method, "recipe": recipe}
        filters = {
            name: {values} if isinstance(values, str) else set(values)
            for name, values in arguments.items()
            if values is not None
        }

        def read(line: bytes) -> Record | None:
            if not may_be_of(line, filters.get("task")):
                return None
            record = from_line(line, curves)
            return record if all(getattr(record, name) in values for name, values in filters.items()) else None

        by_key: dict[str, Record] = {}
        for _, record in self._lines(read)[0]:
            if record is not None:
                other = by_key.get(record.key)
                by_key[record.key] = record if other is None else max(other, record, key=_newest)
        return sorted(by_key.values(), key=_sort_key)

    def write(self, records: Iterable[Record]) -> Path | None:
        """Write records as one file and return its path; None if there are none."""
        lines = {record.key: to_line(record) for record in sorted(records, key=lambda record: record.key)}
        if not lines:
            return None
        make_folder(self.folder)
        return self._write_lines(lines, ".jsonl")

    def compact(self) -> list[Path]:
        """Merge all records into few compressed files and return these; sweeps may keep writing meanwhile.

        Records of subfolders move into this folder. Files with damaged lines are kept for inspection.
        """
        lines, damaged = self._lines(lambda line: (from_line(line, False), line))
        newest: dict[str, tuple[str, bytes]] = {}
        order: dict[str, tuple[Any, ...]] = {}
        for _, (record, line) in lines:
            newest[record.key] = max(newest.get(record.key, ("", b"")), (record.when, line))
            order[record.key] = _sort_key(record)
        keys = sorted(newest, key=order.__getitem__)  # similar lines side by side compress better
        written = [
            self._write_lines(
                {key: newest[key][1] for key in keys[start : start + RECORDS_PER_COMPACT_FILE]}, ".jsonl.gz"
            )
            for start in range(0, len(keys), RECORDS_PER_COMPACT_FILE)
        ]
        for path in {path for path, _ in lines} - damaged - set(written):
            path.unlink(missing_ok=True)
        remove_partial_files(self.folder.glob("*.part"))
        return written

    def _write_lines(self, lines: dict[str, bytes], ending: str) -> Path:
        """Write lines to a file named after their keys."""
        path = self.folder / f"{sha256(' '.join(sorted(lines)).encode()).hexdigest()[:32]}{ending}"
        content = b"".join(lines.values())
        with atomic_write(path, follow_links=False) as part:
            part.write_bytes(gzip.compress(content, 9, mtime=0) if ending.endswith(".gz") else content)
        return path

    def _lines(
        self, read: Callable[[bytes], Read], files: Iterable[Path] | None = None
    ) -> tuple[list[tuple[Path, Read]], set[Path]]:
        """What was read from every valid line, with its file; and the damaged files, with one warning for all."""
        for _ in range(MAX_LISTINGS):
            lines: list[tuple[Path, Read]] = []
            damaged: dict[Path, list[str]] = {}
            try:
                for path in self.files() if files is None else files:
                    values, complaints = _read_file(path, read)
                    lines += [(path, value) for value in values]
                    if complaints:
                        damaged[path] = complaints
            except FileNotFoundError:  # another process compacted the folder meanwhile
                files = None
                continue
            if damaged:
                path, complaints = next(iter(damaged.items()))
                more = sum(map(len, damaged.values())) - 1
                files_ = "" if len(damaged) == 1 else f" in {len(damaged)} files"
                others = f" (and {more} more{files_})" if more else ""
                warn_user(f"{path} is partly unreadable: {complaints[0]}{others}", RecordWarning)
            return lines, set(damaged)
        raise OSError(f"the files of {self.folder} change while they are read; try again later")


def read_records(path: str | os.PathLike[str]) -> tuple[list[Record], list[str]]:
    """All records of a file or of the files of a folder, and what is wrong with other lines."""
    location = Path(path)
    files = RecordStore(location).files() if location.is_dir() else [location]
    if not files:
        raise ValueError(f"{location} has no files of records, *.jsonl or *.jsonl.gz.")
    records: list[Record] = []
    problems: list[str] = []
    for file in files:
        values, complaints = _read_file(file, from_line)
        records += values
        problems += [f"{file}: {complaint}" for complaint in complaints]
    return records, problems


def _read_file(path: Path, read: Callable[[bytes], Read]) -> tuple[list[Read], list[str]]:
    """What was read from the valid lines of a file, and what is wrong with the others."""
    values: list[Read] = []
    complaints: list[str] = []
    try:
        with open_gzip(path) if path.suffix == ".gz" else open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    values.append(read(line))
                except ValueError as error:
                    complaints.append(f"line {number} is not a record: {error}")
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        complaints.append(f"it cannot be read to its end: {error}")
    return values, complaints


def _newest(record: Record) -> tuple[str, bytes]:
    return record.when, to_line(record)


def _sort_key(record: Record) -> tuple[str, str, str, str, str, int]:
    configuration = compact_json(record.configuration)
    return record.task, record.data, record.method, record.recipe, configuration, record.seed
