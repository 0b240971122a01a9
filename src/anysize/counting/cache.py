"""Count once: a folder of tables, found again by the content of the graphs and the arguments of the count.

An entry is ``ab/abcdef....npz``: a table as `Counts.save` writes it, so that `Counts.load` and numpy read it
too. Its key and the SHA-256 of all bytes before stand behind it as the comment of the archive. Files are written
aside and renamed, so that a reader meets a whole entry or none, whoever writes or dies meanwhile.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from anysize._errors import CountWarning, warn_user
from anysize._files import atomic_write, make_folder
from anysize.counting.counts import Counts
from anysize.counting.counts_file import to_arrays, write
from anysize.graphs.graphset import GraphSet

FORMAT = "anysize store 1"
DAY = 24 * 60 * 60  # seconds after which a half-written file has no writer any more


class CountCache:
    """A folder of tables that have been counted before. Any number of processes may share it.

    Examples:
        >>> import anysize as az
        >>> from tempfile import TemporaryDirectory
        >>> square = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> with TemporaryDirectory() as folder:
        ...     store = Store(folder)
        ...     for _ in range(2):  # counted the first time, read the second time
        ...         counts = store.get_or_count(square, {"k": [3]}, lambda: az.count(square, 3))
        ...     print(counts.matrix.toarray().tolist(), len(store))
        [[4, 0]] 1
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open a store; the folder is made when the first table is put there."""
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"a store of counts is a folder; {self.folder} is a file")
        self._remove_leftovers()

    def __len__(self) -> int:
        """The number of tables."""
        return sum(1 for _ in self._entries())

    def key(self, graphs: GraphSet, arguments: Mapping[str, Any]) -> str:
        """The name under which the table of these graphs is kept: 64 hexadecimal digits.

        Graphs count with their edges and the names of their colors; their labels, their own names and colors
        that no vertex has do not. Arguments are JSON values; leave out those that do not change the result.
        """
        digest = sha256(f"{FORMAT}\n{canonical_json(arguments)}\n".encode())
        digest.update(content_digest(graphs))
        return digest.hexdigest()

    def fetch(self, key: str, graphs: GraphSet) -> Counts | None:
        """The table kept under a key, with the labels and names of these graphs; None if there is none.

        An entry that is damaged, or not what its name says, is reported by a warning and taken as missing.
        """
        path = self._path(key)
        try:
            counts = _read(path, key)
            if not np.array_equal(counts.sizes, graphs.sizes):
                raise ValueError("its graphs have other sizes than those to be counted")
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            warn_user(
                f"A stored table of counts cannot be used, so the graphs are counted again: {error}", CountWarning
            )
            return None
        # the writer's set may have named more or fewer colors that no vertex has
        return replace(counts, columns=counts.columns.recoded(graphs.palette), y=graphs.y, names=graphs.names)

    def put(self, key: str, counts: Counts) -> None:
        """Keep a table under a key, in place of one that may be there. An OSError if that is not possible."""
        path = self._path(key)
        make_folder(path.parent)
        archive = BytesIO()
        write(to_arrays(replace(counts, y=None, names=None)), archive)
        body = _with_comment_length(archive.getvalue(), len(_seal(key, b"")))
        with atomic_write(path) as part:
            part.write_bytes(body + _seal(key, body))

    def get_or_count(self, graphs: GraphSet, arguments: Mapping[str, Any], compute: Callable[[], Counts]) -> Counts:
        """The table kept for these graphs and arguments, or else the one that ``compute`` gives, kept from now on.

        Where it cannot be kept (a full or a read-only disk), a warning says so and the table is returned anyway.
        """
        key = self.key(graphs, arguments)
        counts = self.fetch(key, graphs)
        if counts is None:
            counts = compute()
            self.keep(graphs, arguments, counts)
        return counts

    def keep(self, graphs: GraphSet, arguments: Mapping[str, Any], counts: Counts) -> None:
        """Keep the table of these graphs; a warning where that is not possible."""
        try:
            self.put(self.key(graphs, arguments), counts)
        except OSError as error:
            warn_user(f"The counts could not be kept in the store {self.folder}: {error}", CountWarning)

    def size(self) -> int:
        """Bytes of all tables."""
        return sum(path.stat().st_size for path in self._entries())

    def clear(self) -> None:
        """Remove all tables."""
        for path in self._entries():
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"

    def _entries(self) -> Iterator[Path]:
        return self.folder.glob("??/*.npz")

    def _remove_leftovers(self) -> None:
        """Remove what writers left behind that were killed; a young file may belong to one that is at work."""
        for part in self.folder.glob("??/*.part"):
            with suppress(OSError):  # another process removed it, or the disk is read-only
                if time.time() - part.stat().st_mtime > DAY:
                    part.unlink()


# ---- what a key is made of -------------------------------------------------------------------------


def canonical_json(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON, the same text for the same values.

    >>> canonical_json({"k": (3, 4), "colors": True})
    '{"colors":true,"k":[3,4]}'
    """
    for name, value in arguments.items():
        try:
            json.dumps(value, default=_number, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(
                f"arguments of a count that is kept must be numbers, strings, lists or None; got {name} = {value!r}"
            ) from None
    return json.dumps(dict(arguments), default=_number, sort_keys=True, separators=(",", ":"))


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def content_digest(graphs: GraphSet) -> bytes:
    """SHA-256 of the edges and color names of graphs; the codes of colors do not matter."""
    if graphs.colors is not None:
        used = np.flatnonzero(np.bincount(graphs.colors))
        graphs = graphs.with_palette([graphs.palette[code] for code in used])
    head = {
        "graphs": len(graphs),
        "vertices": len(graphs.indptr) - 1,
        "neighbors": len(graphs.indices),
        "colors": None if graphs.colors is None else list(graphs.palette),
    }
    digest = sha256(f"{json.dumps(head, default=_number)}\n".encode())
    arrays = ((graphs.first, "<i8"), (graphs.indptr, "<i8"), (graphs.indices, "<u4"), (graphs.colors, "<u2"))
    for array, kind in arrays:
        if array is not None:
            digest.update(np.ascontiguousarray(array, kind).data)
    return digest.digest()


# ---- one entry -------------------------------------------------------------------------------------


def _seal(key: str, body: bytes) -> bytes:
    """The line behind the table; its length is the same for every table."""
    return f"\n{json.dumps({'format': FORMAT, 'key': key, 'sha256': sha256(body).hexdigest()})}\n".encode()


def _with_comment_length(archive: bytes, length: int) -> bytes:
    """A zip archive that announces a comment of this length: its last two bytes say how long it is."""
    return archive[:-2] + length.to_bytes(2, "little")


def _read(path: Path, key: str) -> Counts:
    """The table of an entry; a ValueError if a single bit is not as it was written under this key."""
    data = path.read_bytes()
    border = len(data) - len(_seal(key, b""))
    if border < 0 or data[border:] != _seal(key, data[:border]):
        raise ValueError(f"{path} is damaged, or is not an entry of this store")
    return Counts.load(path)
