"""Memory of training on a CPU: glibc reuses large blocks instead of fetching fresh pages for them in every step."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4  # parameters of mallopt, from malloc.h

_lock = threading.Lock()
_users = 0


@contextmanager
def kept_blocks() -> Iterator[None]:
    """Keep freed blocks of any size for the next ones of this process; without glibc, nothing happens.

    Blocks of more than 32 MB are otherwise given back to the system as soon as they are freed, and a stack of models
    spends more than half of its time on fresh pages. Blocks may be nested and used by several threads: the last one to
    end gives free memory back. Setting a parameter ends glibc's own adaptation of its thresholds, so that afterwards
    they are what that adaptation reaches at most: 32 MB, and twice as much.
    """
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _set({_MMAP_MAX: 0, _TRIM_THRESHOLD: -1})
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _set({_MMAP_MAX: 65536, _MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 64 << 20})
                _give_back()


def _set(parameters: dict[int, int]) -> None:
    library = _glibc()
    if library is not None:
        for parameter, value in parameters.items():
            library.mallopt(parameter, value)


def _give_back() -> None:
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> Any:
    """The C library of this process if it is glibc, otherwise None."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version, library.mallopt, library.malloc_trim  # noqa: B018
    except (AttributeError, OSError, TypeError):  # musl, macOS; Windows
        return None
    library.malloc_trim.argtypes = [ctypes.c_size_t]
    return library
