"""The tasks: every one of the paper, and our own, as a constant; `TASKS` has them by name, `register` adds others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from anysize.elsewhere import named_elsewhere
from anysize.tasks.brain import SCHIZOPHRENIA, SCHIZOPHRENIA_LIKE
from anysize.tasks.describe import Summary, describe, shift
from anysize.tasks.metrics import accuracy, mcc
from anysize.tasks.size_split import size_split
from anysize.tasks.synthetic import ER_MULTI, ER_SINGLE, SBM_14_20, SBM_20, SBM_20_30, SBM_COLOUR, SBM_COLOUR_400
from anysize.tasks.task import Data, Environments, Parts, Source, Splits, Task, parse_data
from anysize.tasks.tudatasets import DD, NCI1, NCI109, PROTEINS

_ALL = (
    SCHIZOPHRENIA,
    SCHIZOPHRENIA_LIKE,
    ER_SINGLE,
    ER_MULTI,
    SBM_20,
    SBM_14_20,
    SBM_20_30,
    SBM_COLOUR,
    SBM_COLOUR_400,
    NCI1,
    NCI109,
    PROTEINS,
    DD,
)

_KNOWN = {task.name: task for task in _ALL}
TASKS: Mapping[str, Task] = MappingProxyType(_KNOWN)
ELSEWHERE = "ANYSIZE_TASKS"  # environment variable: tasks of other modules, such as "mine:CORES,mine:LATTICES"


def register(task: Task) -> None:
    """Give a task of your own a name that sweeps, reports and the command line of this process know from then on.

    Other processes (the command line, the workers of a sweep) read ``ANYSIZE_TASKS=module:NAME``. Registering the
    same task again changes nothing; another one under a name that is taken is an error.
    """
    if not isinstance(task, Task):
        raise ValueError(f"register takes a Task; got a {type(task).__name__}")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", task.name) or re.fullmatch(r"table[0-9]+", task.name):
        raise ValueError(f"the name of a task has letters, digits, dots and dashes, and is no table; got {task.name!r}")
    if _KNOWN.setdefault(task.name, task) != task:
        raise ValueError(f"There is a task {task.name!r} already; take another name, or unregister that one first.")


def unregister(name: str) -> None:
    """Forget a task that `register` added."""
    if name not in _KNOWN or any(task.name == name for task in _ALL):
        raise ValueError(f"{name!r} is no task that was registered")
    del _KNOWN[name]


def register_elsewhere() -> None:
    """Register what the environment variable ANYSIZE_TASKS names, as ``module:NAME`` between commas."""
    for found in named_elsewhere(ELSEWHERE, "tasks"):
        register(found)


def find_task(name: str) -> Task:
    """The task of that name; an error that lists the names, or the nearest one, if there is none.

    >>> find_task("sbm-20").table
    2
    """
    if name not in TASKS:
        register_elsewhere()
    if name in TASKS:
        return TASKS[name]
    near = get_close_matches(name.lower(), [known.lower() for known in TASKS], n=1, cutoff=0.7)
    meant = [known for known in TASKS if known.lower() in near]
    hint = f"did you mean {meant[0]}?" if meant else f"the tasks are {', '.join(TASKS)}."
    raise ValueError(f"There is no task {name!r}: {hint}")


__all__ = [
    "TASKS",
    "Data",
    "Environments",
    "Parts",
    "Source",
    "Splits",
    "Summary",
    "Task",
    "accuracy",
    "describe",
    "find_task",
    "mcc",
    "parse_data",
    "register",
    "register_elsewhere",
    "shift",
    "size_split",
    "unregister",
]
