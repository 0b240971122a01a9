"""Large blocks of memory are kept during training and handed back afterwards."""

from __future__ import annotations

import ctypes
import threading

import pytest
import torch
from training.helpers import fitted, tables

from anysize.training import device
from anysize.training.device import glibc, kept_blocks
from anysize.training.settings import Recipe, Settings


class Library:
    """Records the parameters that glibc would get."""

    def __init__(self) -> None:
        self.parameters: dict[int, int] = {}
        self.calls = self.trims = 0

    def mallopt(self, parameter: int, value: int) -> None:
        self.parameters[parameter] = value
        self.calls += 1

    def malloc_trim(self, pad: int) -> None:
        self.trims += 1


KEPT = {-4: 0, -1: -1}
AFTER = {-4: 65536, -3: 32 << 20, -1: 64 << 20}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    recorded = Library()
    monkeypatch.setattr(device, "glibc", lambda: recorded)
    return recorded


def test_parameters_are_set_once_and_undone_by_the_last_block(library: Library) -> None:
    with kept_blocks():
        assert library.parameters == KEPT
        with kept_blocks():
            assert library.calls == len(KEPT)
        assert library.parameters == KEPT
    assert library.parameters == AFTER
    assert library.trims == 1


def test_parameters_are_undone_after_an_error(library: Library) -> None:
    with pytest.raises(ZeroDivisionError), kept_blocks():
        _ = 1 / 0
    assert library.parameters == AFTER


def test_threads_share_the_parameters(library: Library) -> None:
    """One block ends while another thread is still training."""
    inside, end = threading.Event(), threading.Event()

    def other() -> None:
        with kept_blocks():
            inside.set()
            end.wait(10)

    thread = threading.Thread(target=other)
    with kept_blocks():
        thread.start()
        assert inside.wait(10)
    assert library.parameters == KEPT
    end.set()
    thread.join()
    assert library.parameters == AFTER


def test_nothing_happens_withoutglibc(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: None) -> None:
        raise TypeError  # as on Windows

    glibc.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    with kept_blocks():
        assert glibc() is None
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())  # as with musl, which has no mallopt
    glibc.cache_clear()
    with kept_blocks():
        assert glibc() is None
    glibc.cache_clear()


class _Info(ctypes.Structure):
    """What mallinfo2 returns; ``hblks``: blocks that the system gave one by one."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks")] + [
        ("others", ctypes.c_size_t * 6)
    ]


@pytest.mark.skipif(not hasattr(glibc(), "mallinfo2"), reason="needs glibc 2.33")
def test_large_blocks_come_from_the_kept_memory() -> None:
    info = glibc().mallinfo2
    info.restype = _Info

    def fresh_blocks() -> int:
        before = info().hblks
        block = torch.empty(1 << 30, dtype=torch.uint8)
        blocks = int(info().hblks - before)
        del block
        return blocks

    with kept_blocks():
        assert fresh_blocks() == 0
    assert fresh_blocks() == 1


def test_training_keeps_blocks_and_gives_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Settings(hidden=8, layers=2, penalty=0.1)], Recipe(epochs=3), tables()
    kept = fitted("gnn", *given)
    recorded = Library()
    monkeypatch.setattr(device, "glibc", lambda: recorded)
    plain = fitted("gnn", *given)
    assert recorded.calls == len(KEPT) + len(AFTER)
    for trained, expected in zip(kept.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.equal(trained, expected)
