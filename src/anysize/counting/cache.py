"""Cache of counts: a folder of tables, found by the content of the graphs and the arguments of the count.

An entry is ``ab/abcdef....npz``, a table as `Counts.save` writes it; `Counts.load` and numpy can read it. The comment
of the zip archive holds its key and the SHA-256 of all bytes before the comment. Entries are written under a temporary
name and renamed, so that a reader never sees a partial entry.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from anysize._errors import CountWarning, warn_user
from anysize._files import atomic_write, make_folder, remove_partial_files
from anysize._schema import compact_json, reason_of
from anysize.counting.counts import Counts
from anysize.counting.counts_file import read_table, to_arrays, write_arrays
from anysize.graphs.graphset import GraphSet, content_digest

FORMAT = "anysize cache 2"


class CountCache:
    """A cache folder of counts. Any number of processes may share it.

    Examples:
        >>> import anysize as az
        >>> from tempfile import TemporaryDirectory
        >>> square = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> with TemporaryDirectory() as folder:
        ...     for _ in range(2):  # counted the first time, read the second time
        ...         counts = az.count(square, 3, cache=folder)
        ...     print(counts.matrix.toarray().tolist(), len(CountCache(folder)))
        [[4, 0]] 1
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open a cache; the folder is created with the first entry."""
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"a cache of counts is a folder; {self.folder} is a file")
        remove_partial_files(part for folder in self._folders() for part in folder.glob("*.part"))

    def __len__(self) -> int:
        """The number of tables."""
        return sum(1 for _ in self._entries())

    def key(self, graphs: GraphSet, arguments: Mapping[str, Any]) -> str:
        """The key of the table of these graphs: 64 hexadecimal digits.

        It depends on the edges and color names of the graphs, not on their labels, their names or unused colors.
        Arguments are JSON values; leave out those that do not change the result.
        """
        try:
            text = compact_json(dict(arguments), sort_keys=True)
        except (TypeError, ValueError):
            raise ValueError(
                f"arguments of a cached count must be numbers, strings, lists or None; got {dict(arguments)!r}"
            ) from None
        return sha256(f"{FORMAT}\n{text}\n".encode() + content_digest(graphs)).hexdigest()

    def get(self, graphs: GraphSet, arguments: Mapping[str, Any]) -> Counts | None:
        """The table of these graphs, with their labels and names, or None.

        A damaged entry is reported by a warning and treated as missing.
        """
        key = self.key(graphs, arguments)
        try:
            counts = _read(self._path(key), key)
            _check(counts, graphs, arguments, self._path(key))
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            warn_user(f"A cached table of counts is not usable, the graphs are counted again: {error}", CountWarning)
            return None
        # The palette at the time of writing may have had other unused colors.
        return replace(counts, columns=counts.columns.recoded(graphs.palette), y=graphs.y, names=graphs.names)

    def put(self, graphs: GraphSet, arguments: Mapping[str, Any], counts: Counts) -> None:
        """Write the table of these graphs; a warning if that is not possible."""
        key = self.key(graphs, arguments)
        path = self._path(key)
        archive = BytesIO()
        write_arrays(to_arrays(replace(counts, y=None, names=None)), archive)
        comment_length = len(_seal(key, b"")).to_bytes(2, "little")
        body = archive.getvalue()[:-2] + comment_length  # the last two bytes of a zip file are the comment's length
        try:
            if path.parent.is_symlink():
                raise OSError(f"{path.parent} is a link to another folder; remove it")
            make_folder(path.parent)
            with atomic_write(path, follow_links=False) as part:
                part.write_bytes(body + _seal(key, body))
        except OSError as error:
            warn_user(f"The counts could not be written to the cache {self.folder}: {error}", CountWarning)

    def size(self) -> int:
        """The size of all tables in bytes."""
        return sum(path.stat().st_size for path in self._entries())

    def clear(self) -> None:
        """Remove all tables."""
        for path in self._entries():
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"

    def _folders(self) -> Iterator[Path]:
        """Not those that links point to: files elsewhere are not ours to remove."""
        return (path for path in self.folder.glob("??") if path.is_dir() and not path.is_symlink())

    def _entries(self) -> Iterator[Path]:
        return (path for folder in self._folders() for path in folder.glob("*.npz"))


def _check(counts: Counts, graphs: GraphSet, arguments: Mapping[str, Any], path: Path) -> None:
    """A ValueError unless the table may be that of these graphs."""
    if not np.array_equal(counts.sizes, graphs.sizes):
        raise ValueError(f"{path} holds graphs of other sizes")
    if arguments.get("k") is not None:
        counts.columns.check_sizes(arguments["k"])
    columns = counts.columns
    if columns.colors is not None:
        used = np.unique(columns.colors[np.arange(columns.colors.shape[1]) < columns.size[:, None]])
        if not {counts.palette[code] for code in used} <= set(graphs.palette):
            raise ValueError(f"{path} holds graphs of other colors")


def _seal(key: str, body: bytes) -> bytes:
    """The comment of the archive; it has the same length for every table."""
    return f"\n{json.dumps({'format': FORMAT, 'key': key, 'sha256': sha256(body).hexdigest()})}\n".encode()


def _read(path: Path, key: str) -> Counts:
    """The table of an entry; a ValueError if any byte differs from what was written under this key."""
    data = path.read_bytes()
    border = len(data) - len(_seal(key, b""))
    if border < 0 or data[border:] != _seal(key, data[:border]):
        raise ValueError(f"{path} is damaged or not an entry of this cache")
    try:
        return read_table(data)
    except Exception as error:  # from zipfile, json or numpy
        raise ValueError(f"{path} is not a readable table of counts: {reason_of(error)}") from error
