"""Compilation of kernels: `entry` for those called from Python, `helper` for those called by kernels.

`specialize` compiles an entry for constants: the same functions, with some of their global names bound to numbers. The
compiler unrolls loops over a constant and drops branches that it decides. Closures would do the same, but numba's cache
on disk cannot find closures that hold other kernels.
"""

# mypy: ignore-errors
from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType

from numba import njit
from numba.core import event

from anysize.counting.engines.kernel_cache import use_cache

helper = njit(nogil=True, error_model="numpy")


def entry(function: Callable) -> Callable:
    """A kernel that Python calls, without the interpreter lock, in numba's cache on disk."""
    dispatcher = njit(nogil=True, error_model="numpy")(function)
    use_cache(dispatcher)
    return dispatcher


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


class _Notice(event.Listener):
    """A note on standard error when the first kernel of a process is compiled, which takes some seconds."""

    shown = False

    def on_start(self, event) -> None:
        if not _Notice.shown and event.data["dispatcher"].py_func.__module__.startswith("anysize."):
            _Notice.shown = True
            note = "anysize: compiling kernels for this machine (some seconds for each engine, the first time only)"
            print(note, file=sys.stderr, flush=True)

    def on_end(self, event) -> None:
        pass


event.register("numba:compile", _Notice())
