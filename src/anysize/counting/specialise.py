"""Kernels compiled for constants: the same functions, with some of their global names bound to numbers.

A compiler unrolls loops over a constant and drops branches it decides. Closures would do the same, but numba
cannot find a closure that holds other kernels in its cache on disk; functions with names of their own it can.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from numba import njit


def specialise(entry: Callable, helpers: tuple[Callable, ...], **constants: int) -> Callable:
    """The entry point compiled with these constants; it calls its helpers compiled with the same."""
    scope = dict(entry.__globals__) | constants
    suffix = "_".join(f"{name}{value}" for name, value in sorted(constants.items()))
    for function in (*helpers, entry):
        bound = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        bound.__qualname__ = f"{function.__qualname__}_{suffix}"
        bound.__module__ = function.__module__
        scope[function.__name__] = njit(nogil=True, error_model="numpy", cache=function is entry)(bound)
    return scope[entry.__name__]
