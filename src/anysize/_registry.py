"""Registry of built-in and user-registered objects by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Protocol, TypeVar

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Named(Protocol):
    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=Named)


class Registry(Mapping[str, Item]):
    """Objects of one type by name, with those that an environment variable names. Built-in ones cannot be removed.

    The variable is read when all objects are listed, or one that is not known is looked up.

    Args:
        kind: the type of the objects.
        noun: what messages call them.
        variable: the environment variable that names further objects, as ``module:NAME`` separated by commas.
        builtin: the objects of the package.
        reserved: a regular expression of names that cannot be registered.
    """

    def __init__(
        self, kind: type[Item], noun: str, variable: str, builtin: Iterable[Item], reserved: str | None = None
    ) -> None:
        self.kind, self.noun, self.variable, self.reserved = kind, noun, variable, reserved
        self._items = {item.name: item for item in builtin}
        self._builtin = frozenset(self._items)
        self._read = ""  # what the variable was when it was last read
        self._reading = False

    def __getitem__(self, name: str) -> Item:
        if name not in self._items:
            self._read_environment()
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        self._read_environment()
        return iter(tuple(self._items))

    def __len__(self) -> int:
        self._read_environment()
        return len(self._items)

    def __repr__(self) -> str:
        return f"<{len(self)} {self.noun}s: {', '.join(self)}>"

    def register(self, item: Item) -> None:
        """Add an object of your own, which everything in this process then finds by its name.

        Other processes (the command line, the workers of a sweep) read the environment variable ``ANYSIZE_METHODS`` or
        ``ANYSIZE_TASKS``. Registering an equal object again changes nothing; a different one with the same name is
        an error. What a process has registered goes before what the variable names: they may be the same file, run as
        a script and imported.
        """
        if not isinstance(item, self.kind):
            raise ValueError(f"register takes a {self.kind.__name__}; got a {type(item).__name__}")
        if not NAME.fullmatch(item.name):
            raise ValueError(
                f"the name of a {self.noun} has letters, digits, dots, dashes and underscores; got {item.name!r}"
            )
        if self.reserved is not None and re.fullmatch(self.reserved, item.name):
            raise ValueError(f"the name {item.name!r} is reserved; give the {self.noun} another name")
        kept = self._items.setdefault(item.name, item)
        if kept != item and not (self._reading and item.name not in self._builtin):
            raise ValueError(
                f"There is already a {self.noun} {item.name!r}; take another name, or unregister it first."
            )

    def unregister(self, name: str) -> None:
        """Remove an object that was registered."""
        if name not in self._items or name in self._builtin:
            raise ValueError(f"{name!r} is not a registered {self.noun}")
        del self._items[name]

    def find(self, name: str) -> Item:
        """The object of that name; otherwise an error that suggests similar names, or lists all."""
        if not isinstance(name, str):
            raise ValueError(f"a {self.noun} is given by its name; got a {type(name).__name__}; register it first")
        if name in self:
            return self[name]
        lower = {known.lower(): known for known in self}
        given = name.lower()
        near = [known for key, known in lower.items() if given and key.startswith(given)]
        near = near or [lower[key] for key in get_close_matches(given, lower, n=1, cutoff=0.7)]
        if near:
            hint = f"did you mean {' or '.join(filter(None, [', '.join(near[:-1]), near[-1]]))}?"
        else:
            hint = (
                f"the {self.noun}s are {', '.join(self)}. One of your own is found in every process if "
                f"{self.variable}=module:NAME names it."
            )
        raise ValueError(f"There is no {self.noun} {name!r}: {hint}")

    def _read_environment(self) -> None:
        """Register the objects that the environment variable names, once for every value of the variable."""
        before, self._read = self._read, os.environ.get(self.variable, "")  # first: a module may look names up
        if self._read == before:
            return
        self._reading = True
        try:
            for item in self._from_environment():
                self.register(item)
        except BaseException:
            self._read = before
            raise
        finally:
            self._reading = False

    def _from_environment(self) -> Iterator[Any]:
        for spec in filter(None, map(str.strip, os.environ.get(self.variable, "").split(","))):
            module, _, name = spec.partition(":")
            try:
                yield getattr(import_module(module), name)
            except (ImportError, AttributeError, ValueError) as error:
                raise ValueError(
                    f"{self.variable} must be module:NAME, or several with commas; {spec!r} names no {self.noun}: "
                    f"{error}."
                ) from error
