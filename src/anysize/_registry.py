"""Things by name, ours and those of others: added in this process, or named by an environment variable for others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar


class Named(Protocol):
    @property
    def name(self) -> str: ...


Thing = TypeVar("Thing", bound=Named)


class Registry(Generic[Thing]):
    """Things of one type by name; those of the package stay.

    ``word`` is what messages call them, ``variable`` the environment variable that names others, as ``module:NAME``
    between commas. ``no_table``: names such as table1 mean something else.
    """

    def __init__(
        self, kind: type[Thing], word: str, variable: str, ours: Iterable[Thing], no_table: bool = False
    ) -> None:
        self.kind, self.word, self.variable, self.no_table = kind, word, variable, no_table
        self._known = {thing.name: thing for thing in ours}
        self._ours = frozenset(self._known)

    @property
    def known(self) -> Mapping[str, Thing]:
        """By name, as it is at any time."""
        return MappingProxyType(self._known)

    def add(self, thing: Any) -> None:
        """Make a thing known; the same again changes nothing."""
        if not isinstance(thing, self.kind):
            raise ValueError(f"register takes a {self.kind.__name__}; got a {type(thing).__name__}")
        table = self.no_table and re.fullmatch(r"table[0-9]+", thing.name)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", thing.name) or table:
            told = "letters, digits, dots and dashes" + ", and is no table" * self.no_table
            raise ValueError(f"the name of a {self.word} has {told}; got {thing.name!r}")
        if self._known.setdefault(thing.name, thing) != thing:
            raise ValueError(
                f"There is a {self.word} {thing.name!r} already; take another name, or unregister that one first."
            )

    def remove(self, name: str) -> None:
        """Forget a thing that was added."""
        if name not in self._known or name in self._ours:
            raise ValueError(f"{name!r} is no {self.word} that was registered")
        del self._known[name]

    def add_elsewhere(self) -> None:
        """Add what the environment variable names."""
        for found in self._elsewhere():
            self.add(found)

    def _elsewhere(self) -> Iterator[Any]:
        for place in filter(None, map(str.strip, os.environ.get(self.variable, "").split(","))):
            module, _, name = place.partition(":")
            try:
                yield getattr(import_module(module), name)
            except (ImportError, AttributeError, ValueError) as error:
                raise ValueError(
                    f"{self.variable} names {self.word}s as module:NAME, and {place!r} is none: {error}."
                ) from error
