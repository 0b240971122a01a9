"""Torch devices by name, the number of CPU threads, and the settings of torch that models rely on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


def has_torch() -> bool:
    """Whether torch is installed: SizeMix, kernels and baselines do without."""
    return find_spec("torch") is not None


def resolve_device(name: Any) -> str:
    """The torch device for ``cpu``, ``cuda``, ``cuda:1``, ... or ``auto``; an error if the machine lacks it."""
    has_gpu = False
    if has_torch():
        import torch

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
    """Use one torch thread: results do not depend on the number of cores, and small products gain nothing by more."""
    if not has_torch():
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def torch_defaults() -> Iterator[None]:
    """Torch as it starts, whatever a user has set: new tensors are float32, and gradients are recorded."""
    import torch

    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
