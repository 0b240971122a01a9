"""Folders, zip archives and gzip files: names of files and their bytes; every failure becomes a GraphError."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, cast

from anysize._errors import GraphError
from anysize._schema import reason_of
from anysize._unpack import Unpacker

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
    """A folder or an archive: file names with forward slashes, their bytes, and how messages name them."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def read(self, name: str) -> bytes: ...

    def describe(self, name: str) -> str: ...


@dataclass(frozen=True)
class Folder:
    """The files in a folder on disk, and the text files in its subfolders."""

    path: Path

    @property
    def names(self) -> tuple[str, ...]:
        try:
            files = [file for pattern in ("*", "*/*.txt") for file in self.path.glob(pattern) if file.is_file()]
        except OSError as error:
            raise GraphError(f"Cannot list {self.path}: {error.strerror}.") from None
        return tuple(sorted(file.relative_to(self.path).as_posix() for file in files))

    def read(self, name: str) -> bytes:
        return read_file(self.path / name)

    def describe(self, name: str) -> str:
        return str(self.path / name)


@dataclass(frozen=True)
class ZipArchive:
    """The members of an open zip file."""

    path: Path
    archive: zipfile.ZipFile
    unpacker: Unpacker

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(info.filename for info in self.archive.infolist() if not info.is_dir())

    def read(self, name: str) -> bytes:
        try:
            with self.archive.open(name) as member:
                return self.unpacker.read(member)
        except _READ_ERRORS as error:
            raise GraphError(f"Cannot unpack {self.describe(name)}: {reason_of(error)}.") from None

    def describe(self, name: str) -> str:
        return f"{self.path}: {name}"


@contextmanager
def open_tree(path: Path) -> Iterator[FileTree]:
    """Open a folder or a zip file; an error if a member of a zip file lies outside its folder or occurs twice."""
    if path.is_dir():
        yield Folder(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except _READ_ERRORS as error:
        raise GraphError(f"{path} is not a readable zip file: {reason_of(error)}.") from None
    with archive:
        seen: set[str] = set()
        for info in archive.infolist():
            parts = re.split(r"[/\\]", info.filename)
            if ".." in parts or parts[0] == "" or ":" in parts[0]:
                raise GraphError(f"{path}: the member {info.filename!r} lies outside the archive's folder.")
            if info.filename in seen:
                raise GraphError(f"{path}: the member {info.filename!r} occurs twice.")
            seen.add(info.filename)
        yield ZipArchive(path, archive, Unpacker(path.stat().st_size))


def read_file(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise GraphError(f"Cannot read {path}: {error.strerror}.") from None


def unpacked(data: bytes, where: str) -> bytes:
    """The content of a file that may be packed by gzip; an error if there is none."""
    if data.startswith(b"\x1f\x8b") or where.endswith(".gz"):
        try:
            with gzip.open(io.BytesIO(data)) as file:
                data = Unpacker(len(data)).read(cast(IO[bytes], file))
        except _READ_ERRORS as error:
            raise GraphError(f"Cannot unpack {where}: {reason_of(error)}.") from None
    if not data.strip():
        raise GraphError(f"{where} is empty; expected a graph.")
    return data
