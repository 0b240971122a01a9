"""numba's cache of compiled kernels on disk, for packages that cannot be written to, and loaded without the compiler.

Kernels are written to the folder that the environment variable NUMBA_CACHE_DIR names, beside the source files, to the
cache folder of the user, or to a temporary folder: the first of these that can be written to. Kernels beside the source
files are loaded even if that folder cannot be written to, as in the image of a container.
"""

# mypy: ignore-errors
from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from numba import config

TEMPORARY_NAME = "anysize-kernels"


def use_cache(dispatcher) -> None:
    """Let a dispatcher load and save its machine code."""
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # none of numba's folders can be written to
        before, config.CACHE_DIR = config.CACHE_DIR, temporary_folder()
        try:
            dispatcher.enable_caching() if config.CACHE_DIR else _only_load(dispatcher)
        except RuntimeError:
            _only_load(dispatcher)
        finally:
            config.CACHE_DIR = before
    numba_cache = dispatcher._cache
    if hasattr(numba_cache, "_cache_file") and hasattr(numba_cache._cache_file, "_source_stamp"):
        numba_cache._cache_file._source_stamp = (numba_cache._cache_file._source_stamp, _all_kernels())
    if all(hasattr(numba_cache, name) for name in ("_load_overload", "_index_key", "_impl")):
        dispatcher._cache = _LightCache(numba_cache, Path(dispatcher.py_func.__code__.co_filename))


def folder_of(kernel) -> Path:
    """The folder that keeps the machine code of a kernel."""
    return Path(kernel._cache.cache_path)


@cache
def temporary_folder() -> str | None:
    """A temporary folder of this user for kernels, or None.

    The cache holds machine code: a folder that others could have filled is not used.
    """
    user = os.getuid() if hasattr(os, "getuid") else None
    with suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"{TEMPORARY_NAME}-{'user' if user is None else user}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
        private = user is None or (status.st_uid == user and not stat.S_IMODE(status.st_mode) & 0o077)
        if stat.S_ISDIR(status.st_mode) and private and os.access(folder, os.W_OK):
            return str(folder)
        return tempfile.mkdtemp(prefix=f"{TEMPORARY_NAME}-")
    return None


def _only_load(dispatcher) -> None:
    """Let a dispatcher load the machine code beside its source file; what it compiles is not kept."""
    try:
        from numba.core.caching import CompileResultCacheImpl, FunctionCache
    except ImportError:  # another version of numba: no cache
        return
    locator = next((each for each in CompileResultCacheImpl._locator_classes if "InTree" in each.__name__), None)
    if locator is None:
        return
    beside = type("Beside", (locator,), {"ensure_cache_path": lambda self: None})
    impl = type("Impl", (CompileResultCacheImpl,), {"_locator_classes": [beside]})
    dispatcher._cache = type("Cache", (FunctionCache,), {"_impl_class": impl})(dispatcher.py_func)


@cache
def _note(text: str) -> None:
    """Print a note, once in a process."""
    print(f"anysize: {text}; NUMBA_CACHE_DIR=FOLDER sets a folder for them", file=sys.stderr, flush=True)


@cache
def _all_kernels() -> str:
    """A fingerprint of all files with kernels. numba checks only the file of an entry, and would keep using its old
    machine code after a helper in another file has changed."""
    fingerprint = sha256()
    folders = Path(__file__).parent, Path(__file__).parents[1] / "sampling"
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        fingerprint.update(path.name.encode() + b"\0" + path.read_bytes())
    return fingerprint.hexdigest()


class _LightCache:
    """numba's cache, but loading a compiled kernel does not set up the compiler.

    That setup (0.2 s: a hundred modules, including scipy.linalg) is for type inference and code generation; loading
    machine code only needs the runtime. If there is nothing to load, numba sets up and compiles as usual.
    """

    def __init__(self, numba_cache, source: Path) -> None:
        self._cache = numba_cache
        beside = source.parent / "__pycache__"
        self._shipped = None if Path(numba_cache.cache_path) == beside else _opened(numba_cache, beside)

    def load_overload(self, sig, target_context):
        from numba.core.runtime import rtsys

        rtsys.initialize(target_context)
        kernel = None
        with suppress(OSError):  # the files cannot be read
            kernel = self._cache._load_overload(sig, target_context)
        if kernel is None and self._shipped is not None:
            with suppress(OSError):
                data = self._shipped.load(self._cache._index_key(sig, target_context.codegen()))
                kernel = None if data is None else self._cache._impl.rebuild(target_context, data)
        return kernel

    def save_overload(self, sig, data) -> None:
        folder = Path(self._cache.cache_path)
        try:
            self._cache.save_overload(sig, data)
        except OSError:
            _note(f"compiled kernels are not kept, because {folder} cannot be written to")
            return
        if folder.parent.name.startswith(TEMPORARY_NAME):
            _note(
                f"compiled kernels are kept in {folder.parent}, because the package and the home folder are read-only"
            )

    def __getattr__(self, name):
        return getattr(self._cache, name)


def _opened(numba_cache, folder: Path):
    """The cache files of the same kernel in another folder."""
    file = numba_cache._cache_file
    return type(file)(str(folder), numba_cache._impl.filename_base, file._source_stamp)
