"""The tasks: every one of the paper, and our own, as a constant; `TASKS` has them by name, `register` adds others."""

from __future__ import annotations

from collections.abc import Mapping

from anysize._registry import Registry
from anysize.tasks.brain import SCHIZOPHRENIA, SCHIZOPHRENIA_LIKE
from anysize.tasks.synthetic import ER_MULTI, ER_SINGLE, SBM_14_20, SBM_20, SBM_20_30, SBM_COLOR, SBM_COLOR_400
from anysize.tasks.task import Task
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

_REGISTRY = Registry(Task, "task", "ANYSIZE_TASKS", _ALL, reserved=r"table[0-9]+")
TASKS: Mapping[str, Task] = _REGISTRY
register = _REGISTRY.register
unregister = _REGISTRY.unregister
find_task = _REGISTRY.find
