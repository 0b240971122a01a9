"""Which tasks and methods the tables have, in which order, under which names: the one place that knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TaskEntry:
    """A group of columns.

    Attributes:
        title: what a reader sees.
        sizes: in how many sizes the training graphs come; with one, IRM does not apply. None: many.
        extra: not in the paper; shown where there are records.
    """

    name: str
    title: str
    sizes: int | None = None
    extra: bool = False


@dataclass(frozen=True)
class MethodEntry:
    """A row.

    Attributes:
        check: a row to judge the others by, not one of them: shown where there are records or published numbers,
            below the others, and never the best.
        extra: not in the paper; shown where there are records, after the paper's rows.
        environments: it compares training environments, and does not apply where there is one.
    """

    name: str
    label: str
    check: bool = False
    extra: bool = False
    environments: bool = False


@dataclass(frozen=True)
class TableEntry:
    """A table: tasks across, methods down.

    Attributes:
        bold: so many of the best test means are set in bold.
    """

    title: str
    metric: str
    tasks: tuple[TaskEntry, ...]
    splits: tuple[str, ...]
    bold: int


GNNS = tuple(
    MethodEntry(f"{encoder.lower()}-{readout}", f"{encoder}{ending}", environments=readout == "irm")
    for encoder in ("PNA", "GCN", "GIN")
    for readout, ending in (("sum", ""), ("mean", " (mean)"), ("max", " (max)"), ("irm", " + IRM"))
)

METHODS = (
    *GNNS,
    MethodEntry("rpgin", "RPGIN"),
    MethodEntry("wl-kernel", "WL kernel"),
    MethodEntry("gc-kernel", "GC kernel"),
    MethodEntry("gamma-1hot", "Γ 1-hot"),
    MethodEntry("gamma-gin", "Γ GIN"),
    MethodEntry("gamma-rpgin", "Γ RPGIN"),
    MethodEntry("gin-vrex", "GIN + V-REx", extra=True, environments=True),
    MethodEntry("gamma-gin-free", "Γ GIN, no penalty", check=True),
    MethodEntry("random", "random", check=True),
    MethodEntry("majority", "majority", check=True),
    MethodEntry("size-only", "size only", check=True),
    MethodEntry("topology-only", "topology only", check=True),
    MethodEntry("bayes", "Bayes", check=True),
)

TABLES = {
    1: TableEntry(
        "graphs without attributes",
        "accuracy",
        (
            TaskEntry("schizophrenia", "Schizophrenia", 1),
            TaskEntry("schizophrenia-like", "Schizophrenia-like", 1, extra=True),
            TaskEntry("er-single", "Erdős–Rényi, 80 → 140", 1),
            TaskEntry("er-multi", "Erdős–Rényi, 70/80 → 140", 2),
        ),
        ("train", "validation", "test"),
        bold=1,
    ),
    2: TableEntry(
        "attributed block models",
        "accuracy",
        (
            TaskEntry("sbm-20", "SBM, 20 → 40", 1),
            TaskEntry("sbm-14-20", "SBM, 14/20 → 40", 2),
            TaskEntry("sbm-20-30", "SBM, 20/30 → 40", 2),
            TaskEntry("sbm-color", "SBM, colors needed, 20 → 40", 1, extra=True),
            TaskEntry("sbm-color-400", "SBM, colors needed, 400 training graphs", 1, extra=True),
        ),
        ("train", "validation", "test"),
        bold=1,
    ),
    3: TableEntry(
        "real graphs, small to large",
        "mcc",
        tuple(TaskEntry(name, name) for name in ("NCI1", "NCI109", "PROTEINS", "DD")),
        ("test",),
        bold=4,
    ),
}

# Hyper-parameters that weigh a penalty: of equal configurations the stronger penalty is the simpler model.
PENALTIES = frozenset({"penalty", "irm", "beta"})

METRIC_NAMES = {"accuracy": "accuracy", "mcc": "Matthews correlation coefficient"}


def table_of(task: str) -> int | None:
    """The number of the table that a task belongs to.

    >>> table_of("sbm-color"), table_of("DD"), table_of("mine")
    (2, 3, None)
    """
    return next((number for number, table in TABLES.items() if any(task == one.name for one in table.tasks)), None)


def applies(task: TaskEntry, method: str) -> bool:
    """Whether a method can be run on a task at all: IRM, for one, needs training graphs of several sizes.

    >>> applies(TaskEntry("one", "One", sizes=1), "gin-irm"), applies(TaskEntry("one", "One", sizes=1), "mine")
    (False, True)
    """
    return task.sizes != 1 or all(not entry.environments for entry in METHODS if entry.name == method)
