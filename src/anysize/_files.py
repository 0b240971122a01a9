"""Files that are whole or not there: written aside, flushed to the disk, then put in their place."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NO_FLUSHING = (errno.EINVAL, errno.ENOTSUP)  # what file systems say that have nothing to flush


@contextmanager
def aside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside a file to write to; it takes the file's place once all of it has reached the disk.

    A symbolic link stays, and the file it points to is replaced. What is neither a file nor a folder (a pipe, a device)
    cannot be replaced by a file: it is itself the name to write to. An OSError says why nothing can be written.
    """
    problem = unwritable(path)
    if problem is not None:
        raise problem
    if _is_special(path):
        yield Path(path)
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f"{target.name}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        yield part
        with suppress(OSError):  # there was no file, or it is another user's: then rights are those of a new file
            shutil.copymode(target, part)
        _flush(part)
        os.replace(part, target)
        with suppress(OSError):  # a folder that may be written to but not listed
            _flush(target.parent)
    finally:
        with suppress(OSError):
            part.unlink()


def unwritable(path: str | os.PathLike[str]) -> OSError | None:
    """Why no file can be written under this name, known before there is anything to write; None if one can.

    >>> unwritable("no/such/counts.csv")
    FileNotFoundError('no/such/counts.csv would be in the folder no/such, which does not exist')
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _no_place(path)
    except OSError as error:  # a name that is too long, links in a circle, a folder that may not be entered
        return type(error)(f"{path} cannot be written to: {error.strerror}")
    if stat.S_ISDIR(mode):
        return IsADirectoryError(f"{path} is a folder; name a file in it")
    if not _may_write(path):
        return PermissionError(f"{path} is write-protected")
    return None if _is_special(path) else _no_place(path)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, and have their names reach the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush(folder.parent)


def _no_place(path: str | os.PathLike[str]) -> OSError | None:
    """Why no file can be made in the folder of this name."""
    folder = Path(os.path.realpath(path) if os.path.islink(path) else path).parent
    if not folder.exists():
        return FileNotFoundError(f"{path} would be in the folder {folder}, which does not exist")
    if not folder.is_dir():
        return NotADirectoryError(f"{path} would be in {folder}, which is not a folder")
    if not _may_write(folder):
        return PermissionError(f"{path} would be in the folder {folder}, which is write-protected")
    return None


def _may_write(path: str | os.PathLike[str]) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether something stands there that is no file. The name of standard output may point to a pipe without a name:
    then there is something at the path and nothing at what it points to."""
    return os.path.exists(path) and not os.path.isfile(os.path.realpath(path))


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, have reached the disk."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders, and writes their names at once
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FLUSHING:
            raise
    finally:
        os.close(handle)
