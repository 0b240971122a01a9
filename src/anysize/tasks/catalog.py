"""The tasks: every one of the paper, and our own, as a constant; `TASKS` has them by name, `register` adds others."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from anysize._registry import Registry
from anysize.tasks.brain import SCHIZOPHRENIA, SCHIZOPHRENIA_LIKE
from anysize.tasks.describe import SplitSummary, describe, shift
from anysize.tasks.metrics import accuracy, mcc
from anysize.tasks.size_split import size_split
from anysize.tasks.synthetic import ER_MULTI, ER_SINGLE, SBM_14_20, SBM_20, SBM_20_30, SBM_COLOR, SBM_COLOR_400
from anysize.tasks.task import Data, EnvironmentLabels, GraphSource, Parts, Splits, Task, parse_data
from anysize.tasks.tu import DD, NCI1, NCI109, PROTEINS

_ALL = (
    SCHIZOPHRENIA,
    SCHIZOPHRENIA_LIKE,
    ER_SINGLE,
    ER_MULTI,
    SBM_20,
    SBM_14_20,
    SBM_20_30,
    SBM_COLOR,
    SBM_COLOR_400,
    NCI1,
    NCI109,
    PROTEINS,
    DD,
)

_REGISTRY = Registry(Task, "task", "ANYSIZE_TASKS", _ALL, no_table=True)
TASKS: Mapping[str, Task] = _REGISTRY.known


def register(task: Task) -> None:
    """Give a task of your own a name that sweeps, reports and the command line of this process know from then on.

    Other processes (the command line, the workers of a sweep) read ``ANYSIZE_TASKS=module:NAME``. Registering the
    same task again changes nothing; another one under a name that is taken is an error.
    """
    _REGISTRY.add(task)


def unregister(name: str) -> None:
    """Forget a task that `register` added."""
    _REGISTRY.remove(name)


def register_elsewhere() -> None:
    """Register what the environment variable ANYSIZE_TASKS names, as ``module:NAME`` between commas."""
    _REGISTRY.add_elsewhere()


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
    "EnvironmentLabels",
    "GraphSource",
    "Parts",
    "SplitSummary",
    "Splits",
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
