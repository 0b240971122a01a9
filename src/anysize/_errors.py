"""Errors and warnings. Every message says what was expected, what was found and what to do."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any


class GraphError(ValueError):
    """The input is not a valid graph, set of graphs or file of graphs."""


class GraphWarning(UserWarning):
    """Part of the input was dropped while reading graphs, or predictions are unreliable."""


class ModelWarning(UserWarning):
    """A trained model is no better than a trivial baseline, or does not seem to carry over to new graphs."""


class CountWarning(UserWarning):
    """Counting takes long, or its result is unreliable."""


class RecordWarning(UserWarning):
    """A stored record is damaged, was not written by this package or does not fit the others."""


class PartialResultError(RuntimeError):
    """Some items of a parallel job failed: ``failed`` lists them with reasons, ``finished`` holds the other results."""

    def __init__(self, message: str, failed: tuple[Any, ...] = (), finished: Any = None) -> None:
        super().__init__(message)
        self.failed, self.finished = failed, finished


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, with the user's call (the innermost line outside this package) as the place of the warning."""
    package = __name__.partition(".")[0]
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
