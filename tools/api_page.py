"""Make docs/api.md, the API on one page, from the code: ``python -m tools.api_page``."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator
from enum import EnumMeta
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.models import ArgumentInfo

import anysize as az
from anysize.cli.app import COMMANDS
from anysize.paper.cli.app import COMMANDS as PAPER_COMMANDS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
HEAD = """# API on one page

Made from the code by `python -m tools.api_page`; do not edit. Full descriptions are in the [reference](reference.md).
Everything below is imported as `import anysize as az`.
"""
CLASSES_WITH_METHODS = ("GraphClassifier", "GraphRegressor", "GraphSet", "Counts")


def api_page() -> str:
    """The text of the page."""
    parts = [HEAD, *_names(), *_parameters(az.GraphClassifier), *_parameters(az.GraphRegressor)]
    for name in CLASSES_WITH_METHODS:
        parts += _members(getattr(az, name))
    parts += _commands()
    return "\n".join(parts) + "\n"


# ---- Python --------------------------------------------------------------------------------------


def _names() -> Iterator[str]:
    values = {name: getattr(az, name) for name in az.__all__ if name != "__version__"}
    unwrapped = {name: inspect.unwrap(value) if callable(value) else value for name, value in values.items()}
    groups: list[tuple[str, Callable[[Any], bool]]] = [
        ("Functions", inspect.isfunction),
        ("Classes", lambda value: inspect.isclass(value) and not issubclass(value, Exception)),
        ("Errors and warnings", lambda value: inspect.isclass(value) and issubclass(value, Exception)),
    ]
    for title, belongs in groups:
        yield f"## {title}\n"
        for name in sorted(unwrapped):
            if belongs(unwrapped[name]):
                yield _item(name + _signature(unwrapped[name]), values[name])
        yield ""
    yield "## Constants\n"
    for name in sorted(name for name in values if name.isupper()):
        yield f"- `{name}`: by name, {', '.join(f'`{key}`' for key in values[name])}"
    yield f"- `__version__`: the version, `{az.__version__}`\n"


def _parameters(cls: type) -> Iterator[str]:
    """The table of a class's parameters, with the first sentence that its docstring has about each."""
    yield f"## Parameters of {cls.__name__}\n"
    meaning = _arguments(cls)
    rows = []
    for name, parameter in inspect.signature(cls).parameters.items():
        default = "" if parameter.default is parameter.empty else f"`{_default(parameter.default)}`"
        rows.append((f"`{name}`", default, meaning.get(name, "")))
    yield from _table(("parameter", "default", "meaning"), rows)


def _members(cls: type) -> Iterator[str]:
    """The public methods and properties that a class itself or a base class in this package defines."""
    yield f"## Methods of {cls.__name__}\n"
    members: dict[str, Any] = {}
    for base in cls.__mro__:
        if base.__module__.startswith("anysize"):
            members |= {name: value for name, value in vars(base).items() if name not in members}
    for name, value in members.items():
        plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if name.startswith("_"):
            continue
        if inspect.isfunction(plain):
            yield _item(name + _signature(plain), plain)
        elif isinstance(value, property) or hasattr(value, "func"):  # a cached property
            yield _item(name, value)
    yield ""


def _item(written: str, value: Any) -> str:
    summary = _summary(value)
    return f"- `{written}`: {summary}" if summary else f"- `{written}`"


def _signature(value: Any) -> str:
    """The parameters with their defaults, without types.

    >>> _signature(lambda self, k, *, colors=True: None)
    '(k, *, colors=True)'
    """
    if inspect.isclass(value) and issubclass(value, Exception):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = []
    for name, parameter in signature.parameters.items():
        if name not in ("self", "cls"):
            default = parameter.default
            shown = default if default is parameter.empty else _Default(_default(default))
            parameters.append(parameter.replace(annotation=parameter.empty, default=shown))
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


class _Default:
    """A default value that is printed as this text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(value: Any) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _summary(value: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(value)
    return " ".join((text or "").split("\n\n")[0].split())


def _arguments(value: Any) -> dict[str, str]:
    """The first sentence about each parameter in the section ``Args:`` of a docstring."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", inspect.getdoc(value) or "", re.M | re.S)
    entries = re.findall(r"^    ([\w, *]+): (.*?)(?=^    \S|\Z)", section[1] if section else "", re.M | re.S)
    found = {}
    for names, text in entries:
        sentence = re.split(r"(?<=[^.]\.)\s+(?=[A-Z`\"])", " ".join(text.split()))[0]
        found.update(dict.fromkeys((name.strip("* ") for name in names.split(",")), sentence.rstrip(".")))
    return found


# ---- the command line ----------------------------------------------------------------------------


def _commands() -> Iterator[str]:
    yield "## Command line\n"
    for function, example in (*COMMANDS, *PAPER_COMMANDS):
        group = "anysize paper" if (function, example) in PAPER_COMMANDS else "anysize"
        yield f"### {group} {function.__name__}\n"
        yield f"{_summary(function)} Example: `{example}`\n"
        hints = get_type_hints(function, include_extras=True)
        rows = [_option(hints[name], parameter) for name, parameter in inspect.signature(function).parameters.items()]
        yield from _table(("argument", "default", "meaning"), rows)


def _option(hint: Any, parameter: inspect.Parameter) -> tuple[str, str, str]:
    """How an argument of a command is written, its default, its help text and choices."""
    value_type, info = get_args(hint)
    if isinstance(info, ArgumentInfo):
        written = (info.metavar or parameter.name).upper()
    else:
        name = parameter.name.replace("_", "-")
        flags = (info.default, *(info.param_decls or ())) if isinstance(info.default, str) else info.param_decls
        written = ", ".join(flags or [f"--{name}/--no-{name}" if value_type is bool else f"--{name}"])
    enums = [one for one in (value_type, *get_args(value_type)) if isinstance(one, EnumMeta)]
    choices = [choice.value for enum in enums for choice in enum]
    text = " ".join((info.help or "").split()).rstrip(".")
    named = ", ".join(f"`{choice}`" for choice in choices)
    return f"`{written}`", _option_default(parameter.default), f"{text}: {named}" if choices else text


def _option_default(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return "required"
    if default is None:
        return ""
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"`{getattr(default, 'value', default)}`"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield f"| {' | '.join(head)} |"
        yield f"|{'---|' * len(head)}"
        for row in rows:
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
        yield ""


def main(arguments: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.parse_args(arguments).out.write_text(api_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
