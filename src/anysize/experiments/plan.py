"""What a sweep consists of: tasks x data x methods x configurations x seeds, cut into pieces.

A piece is what is trained as one stack and written as one file: whole configurations, all their seeds, all of one
shape. It depends on the plan alone and not on what is finished already, so that a sweep that is stopped and started
again trains the same stacks, and ends with the same records to the last digit.

Pieces are ordered by rounds: the first piece of every task, data set and method, then the second of each, and so on.
Whenever a sweep stops, every row of the tables has got about the same number of configurations, complete with seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from anysize._json import compact_json
from anysize.experiments.configurations import GridName, changed, configurations
from anysize.experiments.records import key
from anysize.experiments.tables.layout import TABLES
from anysize.methods.catalog import METHODS, find_method
from anysize.methods.configuration import parameter_names, recipe_changes, split_configuration, whole_number
from anysize.methods.grids import Configuration
from anysize.methods.method import Method, Run, sizes_of
from anysize.methods.neural import STACK_MEMBERS
from anysize.methods.recipes import RECIPES, RecipeName
from anysize.tasks.catalog import TASKS, find_task
from anysize.tasks.task import Data, Task, parse_data
from anysize.training.device import resolve_device

GROUPS: Mapping[str, tuple[str, ...]] = {
    "main": (
        "gamma-1hot", "gamma-gin", "gamma-rpgin", "gc-kernel", "wl-kernel", "gin-sum", "gcn-sum", "pna-sum",
        "topology-only",
    ),
    "gamma": tuple(name for name, method in METHODS.items() if method.kind == "gamma" and not method.check),
    "kernels": tuple(name for name, method in METHODS.items() if method.kind == "kernel"),
    "gnns": tuple(name for name, method in METHODS.items() if method.kind == "gnn"),
    "checks": tuple(name for name, method in METHODS.items() if method.kind == "baseline"),
    "all": tuple(METHODS),
}  # fmt: skip


@dataclass(frozen=True)
class RunBatch:
    """Runs that are trained together: one task, one data set (`published` or `seed:7`), one method, one recipe."""

    task: str
    data: str
    method: str
    recipe: RecipeName
    runs: tuple[Run, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of the records to come, one for each run."""
        return tuple(
            key(self.task, self.data, self.method, self.recipe, run.configuration, run.seed) for run in self.runs
        )

    def without(self, finished: Iterable[str]) -> RunBatch | None:
        """What is left of it when some records exist already; None if nothing is."""
        known = set(self.keys).intersection(finished)
        if not known:
            return self
        runs = tuple(run for run, name in zip(self.runs, self.keys, strict=True) if name not in known)
        return RunBatch(self.task, self.data, self.method, self.recipe, runs) if runs else None

    def __str__(self) -> str:
        data = "" if self.data == "published" else f", {self.data}"
        return f"{self.method} on {self.task}{data}"


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep is to do.

    Attributes:
        pieces: in the order in which they are begun.
        left_out: a sentence for whatever was asked for and does not apply.
        optional: tasks that belong to a table that was asked for; they are left out where their graphs are missing.
    """

    pieces: tuple[RunBatch, ...]
    left_out: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()

    @property
    def runs(self) -> int:
        """How many models there are to train."""
        return sum(len(piece.runs) for piece in self.pieces)


def make_plan(
    targets: str | Sequence[str | Task],
    methods: str | Sequence[str] | None = None,
    *,
    grid: GridName | None = None,
    seeds: int = 10,
    data: str | Data = "published",
    recipe: RecipeName = "paper",
    settings: Mapping[str, Any] | None = None,
    stack: int | None = None,
    device: str = "auto",
) -> SweepPlan:
    """The plan of a sweep.

    Args:
        targets: names of tasks, built-in or registered, or `table1`, `table2`, `table3` for the tasks of a table.
        methods: names, or groups of them (`GROUPS`); `main` for the quick grid, otherwise `all`.
        grid: `quick`, `paper`, or `one` configuration each; `quick` for the paper's recipe, `one` for the robust one.
        seeds: so many for every configuration, from 0; one for methods without chance.
        data: `published`, a seed, or `fresh:10` for the data sets of the seeds 0 to 9.
        settings: replaced in every configuration of the methods that have them, such as ``{"epochs": 50}``.
        stack: the most models that are trained as one; what the device needs to be busy if None.
        device: where the models are to be trained, `cpu`, `cuda` or `auto`.

    >>> plan = make_plan(["sbm-20"], ["gamma-gin", "wl-kernel"], grid="paper", seeds=10, stack=40)
    >>> plan.runs, len(plan.pieces), str(plan.pieces[0]), len(plan.pieces[0].runs)
    (668, 17, 'gamma-gin on sbm-20', 40)
    """
    if recipe not in RECIPES:
        raise ValueError(f"a recipe is one of {', '.join(RECIPES)}; got {recipe!r}")
    amount = whole_number("seeds", seeds)
    kind = device if device.startswith("cuda") else resolve_device(device)  # a GPU may be elsewhere in a cluster
    busy = STACK_MEMBERS[kind.partition(":")[0]]
    most = busy if stack is None else whole_number("stack", stack)
    wanted: GridName = grid or ("quick" if recipe == "paper" else "one")
    usual = ("main",) if wanted == "quick" else ("all",)
    named = _methods(usual if methods is None else [methods] if isinstance(methods, str) else methods)
    given = dict(settings or {})
    strange = [name for name in given if not any(name in parameter_names(method) for method in named)]
    if strange:
        raise ValueError(f"{strange[0]} cannot be set for any of {', '.join(method.name for method in named)}.")
    tasks = _tasks([targets] if isinstance(targets, str) else targets)
    columns, left_out = _columns(tasks, parse_data_sets(data))
    cells: list[list[RunBatch]] = []
    for task, own in columns:
        for method in named:
            if reason := not_applicable(task, method):
                left_out.append(reason)
                continue
            fitting = {name: value for name, value in given.items() if name in parameter_names(method)}
            points = changed(configurations(method, task, wanted, recipe), method, fitting)
            cells.append(
                [
                    RunBatch(task.name, data_name(own), method.name, recipe, runs)
                    for runs in _cut(points, range(amount) if method.seeded else range(1), method, task, most)
                ]
            )
    left_out = list(dict.fromkeys(left_out))
    if not any(cells):
        raise ValueError(" ".join(["Nothing is left to run.", *left_out]))
    rounds = zip_longest(*cells)
    pieces = tuple(piece for round_ in rounds for piece in round_ if piece is not None)
    return SweepPlan(pieces, tuple(left_out), frozenset(name for name, (_, by_name) in tasks.items() if not by_name))


def not_applicable(task: Task, method: Method) -> str:
    """Why a method cannot be run on a task; an empty string if it can."""
    if task.single_environment and method.compares(method.default("paper", task.family)):
        return (
            f"{method.name} on {task.name}: NA. It compares training environments, and all training graphs of "
            f"{task.name} come from one."
        )
    return ""


def parse_data_sets(data: str | Data) -> tuple[Data, ...]:
    """The argument ``--data`` of a sweep.

    >>> parse_data_sets("published"), parse_data_sets("7"), parse_data_sets("fresh:3")
    (('published',), (7,), (0, 1, 2))
    """
    text = str(data)
    kind, found, amount = text.partition(":")
    if kind == "fresh" and found:
        if not (amount.isascii() and amount.isdigit() and int(amount)):
            raise ValueError(f"--data takes 'published', a seed, or 'fresh:10' for so many fresh sets; got {text!r}.")
        return tuple(range(int(amount)))
    try:
        return (parse_data(text),)
    except ValueError:
        raise ValueError(
            f"--data takes 'published', a seed, or 'fresh:10' for so many fresh sets; got {text!r}."
        ) from None


def data_name(data: Data) -> str:
    """Data as records have them.

    >>> data_name("published"), data_name(7)
    ('published', 'seed:7')
    """
    return "published" if data == "published" else f"seed:{data}"


def data_of(name: str) -> Data:
    """Data from their name in a record."""
    return "published" if name == "published" else int(name.removeprefix("seed:"))


# ---- what was asked for ----------------------------------------------------------------------------


def _tasks(targets: Sequence[str | Task]) -> dict[str, tuple[Task, bool]]:
    """The tasks, and whether they were asked for by name: others may be left out."""
    if not targets:
        raise ValueError("A sweep takes at least one task, or table1, table2 or table3.")
    tasks: dict[str, tuple[Task, bool]] = {}
    for target in targets:
        if isinstance(target, Task):
            if TASKS.get(target.name) != target:  # workers look a task up by its name
                raise ValueError(
                    f"A sweep looks tasks up by name: pass {target.name!r} to anysize.tasks.catalog.register first."
                )
            target = target.name
        number = target.removeprefix("table")
        if target.startswith("table") and number.isdigit():
            if int(number) not in TABLES:
                raise ValueError(f"the paper has table1, table2 and table3; got {target!r}")
            names = [entry.name for entry in TABLES[int(number)].tasks if not entry.extra]
            for name in names:
                tasks.setdefault(name, (find_task(name), False))
        else:
            tasks[target] = find_task(target), True
    return tasks


def _columns(tasks: Mapping[str, tuple[Task, bool]], data: Sequence[Data]) -> tuple[list[tuple[Task, Data]], list[str]]:
    """Tasks with their data sets, and what was left out."""
    columns, left_out = [], []
    for task, by_name in tasks.values():
        reason = _without(task, data[0])
        if reason and by_name:
            raise ValueError(reason)
        if reason:
            left_out.append(reason)
        else:
            columns += [(task, own) for own in data]
    return sorted(columns, key=lambda column: data.index(column[1])), left_out


def _without(task: Task, data: Data) -> str:
    """Why a task has no such data; an empty string if it has."""
    if data == "published" and not task.source.has_published:
        return f"{task.name} is no task of the published tables: give --data a seed or fresh:10."
    if data != "published" and not task.source.has_fresh:
        return f"{task.name} has one data set, and no fresh ones: take --data published."
    return ""


def _methods(names: Iterable[str]) -> list[Method]:
    found: dict[str, Method] = {}
    for name in names:
        for one in GROUPS.get(name, (name,)):
            found[one] = find_method(one)
    if not found:
        raise ValueError(f"A sweep takes at least one method, or a group of them: {', '.join(GROUPS)}.")
    return list(found.values())


# ---- pieces ----------------------------------------------------------------------------------------


def _cut(
    points: Sequence[Configuration], seeds: range, method: Method, task: Task, most: int
) -> Iterator[tuple[Run, ...]]:
    """The runs of one cell in pieces of one shape: some configurations with all seeds, or one with some of them."""
    shapes: dict[str, list[Configuration]] = {}
    for point in points:
        shapes.setdefault(_shape(point, method, task), []).append(point)
    for members in shapes.values():
        if len(seeds) > most:
            parts = -(-len(seeds) // most)
            for point in members:
                yield from (tuple(Run(point, seed) for seed in seeds[part::parts]) for part in range(parts))
        else:
            together = most // len(seeds)
            for start in range(0, len(members), together):
                yield tuple(Run(point, seed) for point in members[start : start + together] for seed in seeds)


def _shape(configuration: Configuration, method: Method, task: Task) -> str:
    """What runs of one piece have in common."""
    if method.shape is None:  # kernels and checks: trained one by one
        return ""
    model, _ = split_configuration(configuration)
    changes = sorted(recipe_changes(configuration).items())
    return compact_json([sizes_of(model, task.k), method.shape(model), changes])
