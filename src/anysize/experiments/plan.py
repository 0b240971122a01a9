"""The plan of a sweep: tasks x data x methods x configurations x seeds, divided into batches.

A batch is trained as one stack and written as one file: configurations of one shape with all their seeds. It depends
on the plan alone and not on what is finished already, so that a sweep that is stopped and resumed trains the same
stacks and gives the same records to the last digit.

Batches are ordered in rounds: the first configurations of every task, data set and method, with all their seeds, then
the second of each, and so on. Whenever a sweep stops, all rows of the tables have about the same number of complete
configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from anysize._json import compact_json
from anysize.experiments.configurations import GridName, changed, check_settings, configurations, own_settings
from anysize.experiments.records import key
from anysize.experiments.tables.layout import TABLES
from anysize.methods.catalog import GROUP_KINDS, METHODS, find_method
from anysize.methods.configuration import recipe_changes, split_configuration, whole_number
from anysize.methods.grids import Configuration
from anysize.methods.method import Method, Run, sizes_of
from anysize.methods.neural import STACK_MEMBERS, GammaMethod
from anysize.methods.recipes import RecipeName, check_recipe
from anysize.tasks.catalog import TASKS, find_task
from anysize.tasks.task import Data, Task, parse_data
from anysize.training.device import device_kind, resolve_device

SPLIT_SEED = 0  # of validation graphs and folds, the same for all models: the paper's kernels have no deviation

MAIN_METHODS = (
    "gamma-1hot", "gamma-gin", "gamma-rpgin", "gc-kernel", "wl-kernel", "gin-sum", "gcn-sum", "pna-sum",
    "topology-only",
)  # fmt: skip


def method_groups() -> dict[str, tuple[str, ...]]:
    """The names that stand for several methods, registered ones included."""
    by_kind = {
        group: tuple(name for name, one in METHODS.items() if one.kind == kind and (group == "checks" or not one.check))
        for group, kind in GROUP_KINDS.items()
    }
    return {"main": MAIN_METHODS, **by_kind, "all": tuple(METHODS)}


@dataclass(frozen=True)
class RunBatch:
    """Runs that are trained together: one task, data set (`published` or `seed:7`), method and recipe."""

    task: str
    data: str
    method: str
    recipe: RecipeName
    runs: tuple[Run, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of the records, one for each run."""
        return tuple(
            key(self.task, self.data, self.method, self.recipe, run.configuration, run.seed) for run in self.runs
        )

    def without(self, finished: Iterable[str]) -> RunBatch | None:
        """The batch without finished runs; None if all are finished."""
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
    """The batches of a sweep.

    Attributes:
        batches: in the order in which they are started.
        left_out: a sentence for every task and method that was named and does not apply.
        optional: tasks that were named by their table; they are left out if their graphs are not available.
        own_tasks: tasks that are not registered, with their graphs: they are sent to the workers.
    """

    batches: tuple[RunBatch, ...]
    left_out: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    own_tasks: tuple[Task, ...] = ()

    @property
    def runs(self) -> int:
        """The number of models to train."""
        return sum(len(batch.runs) for batch in self.batches)


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
    """Plan a sweep.

    Args:
        targets: names of tasks, built-in or registered, or `table1`, `table2`, `table3` for the tasks of a table.
        methods: names of methods or groups (`method_groups`); by default `main` for the quick grid, otherwise `all`.
        grid: `quick`, `paper`, or `one` configuration each; by default `quick` for the paper's recipe, otherwise `one`.
        seeds: the number of seeds for every configuration, from 0; methods without randomness get one.
        data: `published`, a seed, or `fresh:10` for the data sets of the seeds 0 to 9.
        settings: replaced in every configuration of the methods that have them, such as ``{"epochs": 50}``.
        stack: the most models that are trained together; by default what suits the device.
        device: where the models will be trained: `cpu`, `cuda` or `auto`.

    >>> plan = make_plan(["sbm-20"], ["gamma-gin", "wl-kernel"], grid="paper", seeds=10, stack=40)
    >>> plan.runs, len(plan.batches), str(plan.batches[0]), len(plan.batches[0].runs)
    (668, 17, 'gamma-gin on sbm-20', 40)
    """
    check_recipe(recipe)
    seed_range = range(whole_number("seeds", seeds))
    kind = device if device.startswith("cuda") else resolve_device(device)  # it may be on a cluster
    max_stack = STACK_MEMBERS[device_kind(kind)] if stack is None else whole_number("stack", stack)
    grid_name: GridName = grid or ("quick" if recipe == "paper" else "one")
    if methods is None:
        methods = "main" if grid_name == "quick" else "all"
    named = _methods([methods] if isinstance(methods, str) else methods)
    settings = dict(settings or {})
    check_settings(settings, named)
    tasks = _tasks([targets] if isinstance(targets, str) else targets)
    columns, left_out = _columns(tasks, parse_data_sets(data))
    cells: list[list[list[RunBatch]]] = []  # of every task and method: its rounds
    for task, data_set in columns:
        for method in named:
            if reason := not_applicable(task, method):
                left_out.append(reason)
                continue
            points = changed(configurations(method, task, grid_name, recipe), method, own_settings(method, settings))
            rounds = _rounds(points, seed_range if method.seeded else range(1), method, task, max_stack)
            name = data_name(data_set)
            cells.append([[RunBatch(task.name, name, method.name, recipe, runs) for runs in one] for one in rounds])
    left_out = list(dict.fromkeys(left_out))
    if not any(cells):
        raise ValueError(" ".join(["Nothing is left to run.", *left_out]))
    in_rounds = tuple(batch for round_ in zip_longest(*cells, fillvalue=[]) for own in round_ for batch in own)
    return SweepPlan(in_rounds, tuple(left_out), frozenset(name for name, (_, by_name) in tasks.items() if not by_name))


def not_applicable(task: Task, method: Method) -> str:
    """The reason why a method cannot be run on a task; empty if it can."""
    if task.single_environment and method.compares(method.default("paper", task.family)):
        return (
            f"{method.name} on {task.name}: NA. It compares training environments, and all training graphs of "
            f"{task.name} come from one."
        )
    return ""


def parse_data_sets(data: str | Data) -> tuple[Data, ...]:
    """Parse the option ``--data`` of a sweep.

    >>> parse_data_sets("published"), parse_data_sets("7"), parse_data_sets("fresh:3")
    (('published',), (7,), (0, 1, 2))
    """
    text = str(data)
    try:
        if text.startswith("fresh:"):
            return tuple(range(whole_number("fresh data sets", int(text.removeprefix("fresh:")))))
        return (parse_data(text),)
    except ValueError:
        raise ValueError(
            f"--data takes 'published', a seed, or 'fresh:10' for ten fresh data sets; got {text!r}."
        ) from None


def data_name(data: Data) -> str:
    """The name of a data set in records.

    >>> data_name("published"), data_name(7)
    ('published', 'seed:7')
    """
    return "published" if data == "published" else f"seed:{data}"


def data_of(name: str) -> tuple[Data, int]:
    """The data set of a name in records, and the seed of its split.

    >>> data_of("published"), data_of("seed:7"), data_of("split:3")
    (('published', 0), (7, 0), ('published', 3))
    """
    kind, _, number = name.partition(":")
    return (int(number), SPLIT_SEED) if kind == "seed" else ("published", int(number or SPLIT_SEED))


# ---- tasks and methods -----------------------------------------------------------------------------


def _tasks(targets: Sequence[str | Task]) -> dict[str, tuple[Task, bool]]:
    """The tasks by name, and whether they were named themselves rather than by their table."""
    if not targets:
        raise ValueError("A sweep needs at least one task, or table1, table2 or table3.")
    tasks: dict[str, tuple[Task, bool]] = {}
    for target in targets:
        if isinstance(target, Task):
            if TASKS.get(target.name) != target:  # workers look a task up by its name
                raise ValueError(
                    f"A sweep finds tasks by name: register {target.name!r} with anysize.tasks.catalog.register first."
                )
            target = target.name
        number = target.removeprefix("table")
        if target.startswith("table") and number.isdigit():
            if int(number) not in TABLES:
                raise ValueError(f"a table must be table1, table2 or table3; got {target!r}")
            names = [entry.name for entry in TABLES[int(number)].tasks if not entry.extra]
            for name in names:
                tasks.setdefault(name, (find_task(name), False))
        else:
            tasks[target] = find_task(target), True
    return tasks


def _columns(tasks: Mapping[str, tuple[Task, bool]], data: Sequence[Data]) -> tuple[list[tuple[Task, Data]], list[str]]:
    """Pairs of task and data set, and the reasons for tasks that are left out."""
    columns, left_out = [], []
    for task, by_name in tasks.values():
        reason = _data_missing(task, data[0])
        if reason and by_name:
            raise ValueError(reason)
        if reason:
            left_out.append(reason)
        else:
            columns += [(task, own) for own in data]
    return sorted(columns, key=lambda column: data.index(column[1])), left_out


def _data_missing(task: Task, data: Data) -> str:
    """The reason why a task has no such data; empty if it has."""
    if data == "published" and not task.source.has_published:
        return f"{task.name} has no published data: use --data with a seed or fresh:10."
    if data != "published" and not task.source.has_fresh:
        return f"{task.name} has one data set and no fresh ones: use --data published."
    return ""


def _methods(names: Iterable[str]) -> list[Method]:
    found: dict[str, Method] = {}
    groups = method_groups()
    for name in names:
        for member in groups.get(name, (name,)) if isinstance(name, str) else (name,):
            found[member] = find_method(member)
    if not found:
        raise ValueError(f"A sweep needs at least one method, or a group of them: {', '.join(groups)}.")
    return list(found.values())


# ---- batches ---------------------------------------------------------------------------------------


def _rounds(
    points: Sequence[Configuration], seeds: range, method: Method, task: Task, max_stack: int
) -> Iterator[list[tuple[Run, ...]]]:
    """The rounds of one cell. A round is some configurations of one shape with all seeds, in one batch or in several.

    Several: for models that share what they draw, which have one batch for each seed, and for many seeds.
    """
    shapes: dict[str, list[Configuration]] = {}
    for point in points:
        shapes.setdefault(_shape(point, method, task), []).append(point)
    for members in shapes.values():
        if isinstance(method.learner, GammaMethod) and method.learner.one_seed:
            per_round, parts = max_stack, len(seeds)
        else:
            per_round, parts = max(max_stack // len(seeds), 1), -(-len(seeds) // max_stack)
        for start in range(0, len(members), per_round):
            own = members[start : start + per_round]
            yield [tuple(Run(point, seed) for point in own for seed in seeds[part::parts]) for part in range(parts)]


def _shape(configuration: Configuration, method: Method, task: Task) -> str:
    """What runs must have in common to be trained as one stack."""
    if method.shape is None:  # kernels and checks are trained one by one
        return ""
    model, _ = split_configuration(method, method.complete(configuration))
    changes = sorted(recipe_changes(method, configuration).items())
    return compact_json([sizes_of(model, task.k), method.shape(model), changes])
