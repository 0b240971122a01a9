"""Compilation of kernels: `entry` for those called from Python, `helper` for those called by kernels.

`specialize` compiles an entry for constants: the same functions, with some of their global names bound to numbers. The
compiler unrolls loops over a constant and drops branches that it decides. Closures would do the same, but numba's cache
on disk cannot find closures that hold other kernels.
"""

# mypy: ignore-errors
from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType

from numba import njit
from numba.core import event

helper = njit(nogil=True, error_model="numpy")


def entry(function: Callable) -> Callable:
    """A kernel that Python calls, without the interpreter lock, in numba's cache on disk."""
    dispatcher = njit(nogil=True, error_model="numpy", cache=True)(function)
    cache = dispatcher._cache
    if hasattr(cache, "_cache_file") and hasattr(cache._cache_file, "_source_stamp"):
        cache._cache_file._source_stamp = (cache._cache_file._source_stamp, _all_kernels())
    if all(hasattr(cache, name) for name in ("_load_overload", "_guard_against_spurious_io_errors")):
        dispatcher._cache = _LightCache(cache)
    return dispatcher


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

    def __init__(self, cache) -> None:
        self._cache = cache

    def load_overload(self, sig, target_context):
        from numba.core.runtime import rtsys

        rtsys.initialize(target_context)
        with self._cache._guard_against_spurious_io_errors():
            return self._cache._load_overload(sig, target_context)
        return None

    def __getattr__(self, name):
        return getattr(self._cache, name)


def specialize(function: Callable, helpers: tuple[Callable, ...], **constants: int) -> Callable:
    """An entry compiled with these constants; the helpers that it calls are compiled with the same ones."""
    scope = {}
    for each in (*helpers, function):
        scope |= each.__globals__  # one scope for all: a name must have one meaning in all their files
    scope |= constants
    suffix = "_".join(f"{name}{value}" for name, value in sorted(constants.items()))
    for each in (*helpers, function):
        bound = FunctionType(each.__code__, scope, each.__name__, each.__defaults__)
        bound.__qualname__ = f"{each.__qualname__}_{suffix}"
        bound.__module__ = each.__module__
        scope[each.__name__] = entry(bound) if each is function else helper(bound)
    return scope[function.__name__]


_announced: set[str] = set()


class _Announcer(event.Listener):
    def __init__(self, engine: str) -> None:
        self._engine = engine

    def on_start(self, event) -> None:
        if self._engine not in _announced:
            _announced.add(self._engine)
            print(
                f"anysize: compiling the {self._engine!r} engine for this machine (some seconds, the first time only)",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event) -> None:
        pass


@contextmanager
def announced(engine: str):
    """Print a note on standard error when a kernel is compiled inside this block: once per machine, some seconds."""
    with event.install_listener("numba:compile", _Announcer(engine)):
        yield
