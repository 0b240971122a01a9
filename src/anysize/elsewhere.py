"""Things of other modules by name: what an environment variable tells processes that nobody can call `register` in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any


def named_elsewhere(variable: str, what: str) -> Iterator[Any]:
    """What an environment variable names, as ``module:NAME`` between commas; ``what`` they are, for error messages.

    >>> os.environ["EXAMPLE"] = "math:pi, math:e"
    >>> [round(value, 2) for value in named_elsewhere("EXAMPLE", "numbers")]
    [3.14, 2.72]
    >>> del os.environ["EXAMPLE"]
    """
    for place in filter(None, map(str.strip, os.environ.get(variable, "").split(","))):
        module, _, name = place.partition(":")
        try:
            yield getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"{variable} names {what} as module:NAME, and {place!r} is none: {error}.") from error
