"""Read bytes from folders, zip archives and gzip files; every failure becomes a GraphError."""

from __future__ import annotations

import gzip
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from anysize._errors import GraphError

MAX_BYTES = 4 << 30  # unpacked bytes of one file
_ANY_RATIO_BYTES = 256 << 20  # up to this unpacked size any compression ratio is allowed: equal labels compress well
_MAX_RATIO = 200  # allowed compression ratio of larger files; edge lists reach five to ten

_READ_ERRORS = (
    OSError,
    EOFError,
    RuntimeError,  # an encrypted member, or (NotImplementedError) an unknown compression
    ValueError,
    KeyError,
    OverflowError,
    IndexError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


class FileTree(Protocol):
    """A folder or an archive: file names with forward slashes, and their bytes."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def read(self, name: str) -> bytes: ...

    def describe(self, name: str) -> str: ...


@dataclass(frozen=True)
class Folder:
    """The text files in a folder on disk and in its subfolders."""

    path: Path

    @property
    def names(self) -> tuple[str, ...]:
        try:
            found = [file for pattern in ("*.txt", "*/*.txt") for file in self.path.glob(pattern) if file.is_file()]
        except OSError as error:
            raise GraphError(f"Cannot list {self.path}: {error.strerror}.") from None
        return tuple(sorted(file.relative_to(self.path).as_posix() for file in found))

    def read(self, name: str) -> bytes:
        return read_bytes(self.path / name)

    def describe(self, name: str) -> str:
        return str(self.path / name)


@dataclass(frozen=True)
class ZipArchive:
    """The members of an open zip file."""

    path: Path
    archive: zipfile.ZipFile

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(info.filename for info in self.archive.infolist() if not info.is_dir())

    def read(self, name: str) -> bytes:
        info = self.archive.getinfo(name)
        check_unpacked_size(info.file_size, info.compress_size, self.describe(name))
        try:
            return self.archive.read(info)
        except _READ_ERRORS as error:
            raise GraphError(f"Cannot unpack {self.describe(name)}: {error}.") from None

    def describe(self, name: str) -> str:
        return f"{self.path}: {name}"


@contextmanager
def open_zip(path: Path) -> Iterator[ZipArchive]:
    """Open an archive; an error if a member lies outside its folder or occurs twice."""
    try:
        archive = zipfile.ZipFile(path)
    except _READ_ERRORS as error:
        raise GraphError(f"{path} is not a readable zip file: {error}.") from None
    with archive:
        seen: set[str] = set()
        for info in archive.infolist():
            parts = re.split(r"[/\\]", info.filename)
            if ".." in parts or parts[0] == "" or ":" in parts[0]:
                raise GraphError(f"{path}: the member {info.filename!r} lies outside the archive's folder.")
            if info.filename in seen:
                raise GraphError(f"{path}: the member {info.filename!r} occurs twice.")
            seen.add(info.filename)
        yield ZipArchive(path, archive)


def check_unpacked_size(unpacked: int, packed: int, where: str) -> None:
    """Raise an error if the unpacked size is above `unpacked_limit`."""
    if unpacked > unpacked_limit(packed):
        raise GraphError(
            f"{where} unpacks from {packed} to {unpacked} bytes or more, above the limit of "
            f"{unpacked_limit(packed)}; unpack it yourself if you trust it."
        )


def unpacked_limit(packed: int) -> int:
    """The largest allowed unpacked size."""
    return min(MAX_BYTES, max(_ANY_RATIO_BYTES, _MAX_RATIO * packed))


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise GraphError(f"Cannot read {path}: {error.strerror}.") from None


def read_gzip(path: Path) -> bytes:
    """The unpacked content of a gzip file."""
    try:
        packed = path.stat().st_size
        with gzip.open(path) as file:
            data = file.read(unpacked_limit(packed) + 1)
    except _READ_ERRORS as error:
        raise GraphError(f"Cannot unpack {path}: {error}.") from None
    check_unpacked_size(len(data), packed, str(path))
    return data
