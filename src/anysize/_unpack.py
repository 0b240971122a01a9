"""Unpack compressed files with a limit: a file of a few kilobytes may hold gigabytes of zeros.

The limit holds for all that is unpacked from one file: 4 GiB, and beyond 64 MiB at most 100 times the size of the file.
The environment variable ANYSIZE_MAX_UNPACKED, such as 16GiB, sets another one.
"""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import IO

from anysize._memory import bytes_from

VARIABLE = "ANYSIZE_MAX_UNPACKED"
MAX_BYTES = 4 << 30
ANY_RATIO_BYTES = 64 << 20  # up to this size any compression ratio is allowed: equal labels compress well
MAX_RATIO = 100  # of larger files; edge lists reach five to ten
_CHUNK = 1 << 20


def unpacked_limit(packed: int) -> int:
    """The largest allowed unpacked size of a file of this size."""
    given = bytes_from(VARIABLE)
    return min(MAX_BYTES, max(ANY_RATIO_BYTES, MAX_RATIO * packed)) if given is None else given


class Unpacker:
    """Counts what is unpacked from one file, and raises a ValueError as soon as that is too much."""

    def __init__(self, packed: int) -> None:
        self.packed, self.limit, self.unpacked = packed, unpacked_limit(packed), 0

    def add(self, amount: int) -> None:
        """Count bytes that were unpacked, or are about to be."""
        self.unpacked += amount
        if self.unpacked > self.limit:
            raise ValueError(
                f"it has {self.packed} bytes and unpacks to more than {self.limit}; set {VARIABLE}=16GiB (or more) "
                "if you trust it"
            )

    def read(self, file: IO[bytes]) -> bytes:
        """The unpacked bytes of a file that unpacks while it is read."""
        parts = []
        while part := file.read(_CHUNK):
            self.add(len(part))
            parts.append(part)
        return b"".join(parts)


class _Counted(io.RawIOBase):
    """A file that is unpacked while it is read, counted by an `Unpacker`."""

    def __init__(self, file: gzip.GzipFile, unpacker: Unpacker) -> None:
        self._file, self._unpacker = file, unpacker

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self._file.read1(len(buffer))  # what there is before the end of a file that was cut off
        self._unpacker.add(len(part))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_gzip(path: Path) -> IO[bytes]:
    """Open a gzip file for reading, with the limit."""
    return io.BufferedReader(_Counted(gzip.open(path), Unpacker(path.stat().st_size)), _CHUNK)
