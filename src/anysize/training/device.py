"""Torch devices by name, CPU threads, the settings of torch that models rely on, and memory of training on a CPU."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


def resolve_device(name: Any) -> str:
    """The torch device for ``cpu``, ``cuda``, ``cuda:1``, ... or ``auto``; an error if the machine lacks it."""
    try:
        import torch
    except ImportError:  # SizeMix, kernels and baselines do without
        has_gpu = False
    else:
        has_gpu = bool(torch.cuda.is_available())
    if name == "auto":
        return "cuda" if has_gpu else "cpu"
    kind, _, number = str(name).partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
        raise ValueError(f"device must be cpu, cuda (or cuda:1, ...) or auto; got {name!r}")
    if kind == "cuda" and not has_gpu:
        raise ValueError(f"device={name!r} needs a CUDA GPU and torch finds none; use device='cpu' or 'auto'")
    return str(name)


def device_kind(device: str) -> str:
    """``cuda`` or ``cpu``.

    >>> device_kind("cuda:1"), device_kind("cpu")
    ('cuda', 'cpu')
    """
    return device.partition(":")[0]


@contextmanager
def one_thread() -> Iterator[None]:
    """One CPU thread for torch, if it is installed: several sum in another order, and small steps wait for them."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def torch_defaults() -> Iterator[None]:
    """Torch as models need it, whatever a user has set: new tensors are float32, gradients are recorded, one thread."""
    import torch

    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with one_thread(), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)


# ---- memory on a CPU: glibc reuses large blocks instead of fetching fresh pages for them in every step -----------

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
                _set({_MMAP_MAX: 65536, _MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 64 << 20}, trim=True)


def _set(parameters: dict[int, int], trim: bool = False) -> None:
    """Set parameters of glibc, and ``trim``: give free memory back to the system."""
    library = glibc()
    if library is not None:
        for parameter, value in parameters.items():
            library.mallopt(parameter, value)
        if trim:
            library.malloc_trim(0)


@cache
def glibc() -> Any:
    """The C library of this process if it is glibc, otherwise None."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version, library.mallopt, library.malloc_trim  # noqa: B018
    except (AttributeError, OSError, TypeError):  # musl, macOS; Windows
        return None
    library.malloc_trim.argtypes = [ctypes.c_size_t]
    return library
