"""Atomic writes: a file is written under another name, flushed to disk and then renamed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anysize._typing import PathLike

PARTIAL_FILE_LIFETIME_S = 24 * 60 * 60  # an older .part file belongs to a writer that was killed
FIGURE_ENDINGS = (".png", ".svg", ".pdf")
PAGE_ENDINGS = (".html", ".htm")
MODEL_ENDINGS = (".anysize",)
_PART_NAME = re.compile(r"\.[0-9]+-[0-9a-f]+\.part$")
_CANNOT_FLUSH = (errno.EINVAL, errno.ENOTSUP)  # errors of file systems without fsync


@contextmanager
def atomic_write(path: PathLike, follow_links: bool = True) -> Iterator[Path]:
    """Give a temporary path to write to; when the block ends, the file is flushed and renamed to ``path``.

    If the block fails, ``path`` stays as it was. A symbolic link stays, and the file it points to is replaced. A pipe
    or a device is written to directly. An OSError says why ``path`` cannot be written.

    Without ``follow_links`` a link, a pipe or a device is replaced by the file: for names that the user did not choose,
    in a folder that may come from someone else.
    """
    problem = write_problem(path)
    if problem is not None:
        raise problem
    if follow_links and _is_special(path):
        yield Path(path)
        return
    target = Path(os.path.realpath(path)) if follow_links else Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        with _naming(path):
            yield part
        with suppress(OSError):  # there was no file, or another user owns it: keep the permissions of a new file
            shutil.copymode(target, part)
        _flush(part)
        os.replace(part, target)
        with suppress(OSError):  # the folder may be writable but not readable
            _flush(target.parent)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def _naming(path: PathLike) -> Iterator[None]:
    """Let an error of the system, such as a full disk, name the file that was to be written."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).endswith(".part")):
            error.filename = os.fspath(path)
        raise


def write_problem(path: PathLike) -> OSError | None:
    """The reason why this file cannot be written, before there is anything to write; None if it can.

    >>> write_problem("no/such/counts.csv")
    FileNotFoundError('no/such/counts.csv would be in the folder no/such, which does not exist')
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _folder_problem(path)
    except OSError as error:  # a name that is too long, a cycle of links, a folder without permission
        return type(error)(f"{path} cannot be written to: {error.strerror}")
    if stat.S_ISDIR(mode):
        return IsADirectoryError(f"{path} is a folder; name a file in it")
    if not _may_write(path):
        return PermissionError(f"{path} is write-protected")
    return None if _is_special(path) else _folder_problem(path)


def check_ending(path: PathLike, endings: Iterable[str], optional: bool = True) -> str:
    """The ending of a file to be written, in lower case; an error if it is another one than these.

    A name without an ending (a pipe, /dev/stdout) is taken as it is if ``optional``.

    >>> check_ending("Page.HTML", PAGE_ENDINGS), check_ending("/dev/stdout", PAGE_ENDINGS)
    ('.html', '')
    """
    ending = Path(path).suffix.lower()
    if ending in endings or (optional and not ending):
        return ending
    raise ValueError(f"expected a file that ends in {', '.join(endings)}; got {path}")


def remove_partial_files(paths: Iterable[Path]) -> None:
    """Remove files that killed writers left behind; recent ones may belong to running writers."""
    for path in paths:
        with suppress(OSError):  # another process removed it, or the disk is read-only
            if is_own_part(path) and time.time() - path.stat().st_mtime > PARTIAL_FILE_LIFETIME_S:
                path.unlink()


def is_own_part(path: Path) -> bool:
    """Whether a path has the name of a temporary file of `atomic_write`, and is a file and not a link to one.

    >>> is_own_part(Path("thesis.part"))
    False
    """
    return _PART_NAME.search(path.name) is not None and path.is_file() and not path.is_symlink()


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and flush their names to disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush(folder.parent)


def _folder_problem(path: PathLike) -> OSError | None:
    """The reason why no file can be made in the folder of this path."""
    folder = Path(os.path.realpath(path) if os.path.islink(path) else path).parent
    if not folder.exists():
        return FileNotFoundError(f"{path} would be in the folder {folder}, which does not exist")
    if not folder.is_dir():
        return NotADirectoryError(f"{path} would be in {folder}, which is not a folder")
    if not _may_write(folder):
        return PermissionError(f"{path} would be in the folder {folder}, which is write-protected")
    return None


def _may_write(path: PathLike) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _is_special(path: PathLike) -> bool:
    """Whether the path is a pipe or a device. /dev/stdout may resolve to a pipe without a name: then the path exists
    and its target does not."""
    return os.path.exists(path) and not os.path.isfile(os.path.realpath(path))


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open folders, and writes their names immediately
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_FLUSH:
            raise
    finally:
        os.close(handle)
