"""All tasks by name, `TASKS`: those of the paper, our own synthetic ones, and those with planted motifs.

`register` adds others to sweeps.
"""

from __future__ import annotations

from collections.abc import Mapping

from anysize._registry import Registry
from anysize.evaluation.motif_tasks import MOTIF_TASKS
from anysize.evaluation.tasks import Data, Task
from anysize.paper.brain import SCHIZOPHRENIA, SCHIZOPHRENIA_LIKE
from anysize.paper.synthetic import ER_MULTI, ER_SINGLE, SBM_14_20, SBM_20, SBM_20_30, SBM_COLOR, SBM_COLOR_400
from anysize.paper.tu import DD, NCI1, NCI109, PROTEINS

# number of a table -> its tasks; those without a published number are shown where there are records
TABLE_TASKS: Mapping[int, tuple[Task, ...]] = {
    1: (SCHIZOPHRENIA, SCHIZOPHRENIA_LIKE, ER_SINGLE, ER_MULTI),
    2: (SBM_20, SBM_14_20, SBM_20_30, SBM_COLOR, SBM_COLOR_400),
    3: (NCI1, NCI109, PROTEINS, DD),
}
PUBLISHED_KEYS: Mapping[str, str] = {  # name of a task -> its key in published.json
    "schizophrenia": "schizophrenia",
    "er-single": "erdos_renyi_single",
    "er-multi": "erdos_renyi_multi",
    "sbm-20": "sbm_20",
    "sbm-14-20": "sbm_14_20",
    "sbm-20-30": "sbm_20_30",
    "NCI1": "NCI1",
    "NCI109": "NCI109",
    "PROTEINS": "PROTEINS",
    "DD": "DD",
}

_REGISTRY = Registry(
    Task,
    "task",
    "ANYSIZE_TASKS",
    [*(task for tasks in TABLE_TASKS.values() for task in tasks), *MOTIF_TASKS],
    reserved=r"table[0-9]+",
)
TASKS: Mapping[str, Task] = _REGISTRY
register = _REGISTRY.register
unregister = _REGISTRY.unregister
find_task = _REGISTRY.find


def table_of(task: str) -> int | None:
    """The number of the table that shows a task.

    >>> table_of("sbm-color"), table_of("DD"), table_of("mine")
    (2, 3, None)
    """
    return next((number for number, tasks in TABLE_TASKS.items() if task in [known.name for known in tasks]), None)


def parse_data(text: str) -> Data:
    """The argument of ``--data``: "published" or a seed.

    >>> parse_data("published"), parse_data("3")
    ('published', 3)
    """
    if text == "published":
        return "published"
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"--data takes 'published' or a seed, a whole number of at least 0; got {text!r}.")
    return int(text)
