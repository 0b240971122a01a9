"""A word before the first compilation: it happens once per machine and takes a few seconds."""

# mypy: ignore-errors
from __future__ import annotations

import sys
from contextlib import contextmanager

from numba.core import event

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
    """Inside, a compilation that numba's cache could not spare is announced on standard error."""
    with event.install_listener("numba:compile", _Announcer(engine)):
        yield
