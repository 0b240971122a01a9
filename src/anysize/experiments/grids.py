"""How many configurations the paper tried, so that a table can say where fewer were."""

from __future__ import annotations


def paper_grid_size(task: str, method: str) -> int | None:
    """The number of configurations of the paper's grid; None for tasks and methods that have none. Needs torch.

    >>> paper_grid_size("sbm-20", "gamma-gin"), paper_grid_size("sbm-20", "mine")
    (64, None)
    """
    from anysize.methods import METHODS
    from anysize.tasks import TASKS

    if task not in TASKS or method not in METHODS:
        return None
    return len(METHODS[method].points(TASKS[task].family, task)) or None
