"""The errors and warnings of the package: each message says what was expected, what came, what to do."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any


class GraphError(ValueError):
    """Input that is not a graph, a graph set or a file of graphs."""


class GraphWarning(UserWarning):
    """Something was dropped or reinterpreted while graphs were read, or predictions are not to be trusted."""


class CountWarning(UserWarning):
    """Something a user should know before trusting, or waiting for, a count."""


class RecordWarning(UserWarning):
    """A stored record that is damaged, foreign or does not fit the others."""


class PartialResultError(RuntimeError):
    """Some of many pieces of work failed: ``failed`` says which and why, ``finished`` holds what the others gave."""

    def __init__(self, message: str, failed: tuple[Any, ...] = (), finished: Any = None) -> None:
        super().__init__(message)
        self.failed, self.finished = failed, finished


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside this package: the user's own call, however deep the reader."""
    package = __name__.partition(".")[0]
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
