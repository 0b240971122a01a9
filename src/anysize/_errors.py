"""Errors and warnings. Every message says what was expected, what was found and what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType
from typing import Any

EXTRAS = {  # package -> extra of anysize that installs it
    "torch": "learn",
    "torch_geometric": "learn",
    "sklearn": "learn",
    "safetensors": "learn",
    "pandas": "table",
    "pyarrow": "table",
    "matplotlib": "plot",
    "ray": "cluster",
    "rdkit": "chem",
}

MAX_TOLD = 1000  # different warnings of one object that are remembered


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


def missing_package(error: ModuleNotFoundError, what: str) -> str | None:
    """The sentence on what needs a package that is not installed, and the extra that has it; None for other packages.

    >>> missing_package(ModuleNotFoundError(name="sklearn.svm"), "This")
    "This needs scikit-learn: pip install 'anysize[learn]'"
    """
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    name = "scikit-learn" if package == "sklearn" else package
    return f"{what} needs {name}: pip install 'anysize[{EXTRAS[package]}]'"


@contextmanager
def naming_extra(what: str) -> Iterator[None]:
    """Make the error about a missing package of an extra one sentence: what needs it, and how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        sentence = missing_package(error, what)
        if sentence is None:
            raise
        raise ImportError(sentence, name=error.name) from error


def require(package: str, what: str) -> None:
    """An error that names the extra, unless the package is installed; it is not imported."""
    with naming_extra(what):
        if find_spec(package) is None:
            raise ModuleNotFoundError(name=package)


class Notices:
    """The warnings of one object: each sentence is given once."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def warn(self, sentence: str, category: type[Warning]) -> None:
        """Warn, unless this object has given the same warning before."""
        if sentence in self.given:
            return
        if len(self.given) >= MAX_TOLD:
            self.given.clear()
        self.given.add(sentence)
        warn_user(sentence, category)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, with the user's call (the innermost line outside this package) as the place of the warning."""
    package = __name__.partition(".")[0]
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
