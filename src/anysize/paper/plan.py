"""The plan of a sweep: tasks x data x methods x configurations x seeds, divided into batches.

A batch is trained as one stack and written as one file: configurations of one architecture, all seeds. It depends
on the plan alone and not on what is finished already, so that a sweep that is stopped and resumed trains the same
stacks and gives the same records to the last digit.

Batches are ordered in rounds: the first configurations of every task, data set and method, with all their seeds, then
the second of each, and so on. Whenever a sweep stops, all rows of the tables have about the same number of complete
configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal, get_args

from anysize._schema import canonical_configuration, compact_json
from anysize.evaluation.compare import not_applicable
from anysize.evaluation.evaluate import task_configuration
from anysize.evaluation.sweep import RunBatch, SweepPlan
from anysize.evaluation.tasks import Data, Task
from anysize.methods.catalog import GROUP_KINDS, METHODS, find_method
from anysize.methods.configuration import check_settings, settings_for, split_configuration, whole_number
from anysize.methods.method import RECIPES, Configuration, Method, RecipeName, Run
from anysize.methods.neural import STACK_MEMBERS
from anysize.paper.tasks import PUBLISHED_KEYS, TABLE_TASKS, find_task, parse_data
from anysize.training.device import device_kind, resolve_device

MAIN_METHODS = (
    "gamma-1hot", "gamma-gin", "gamma-rpgin", "gc-kernel", "wl-kernel-padded", "wl-kernel", "gin-sum", "gcn-sum",
    "pna-sum", "topology-only",
)  # fmt: skip

GridName = Literal["quick", "paper", "one"]
GRIDS: tuple[GridName, ...] = get_args(GridName)

# The quick grid: of each hyper-parameter these values of the paper's grid, or its first value where it has none of
# them; of a penalty the weight of the default configuration; of `Method.quick` the values that a method names itself.
QUICK: Mapping[str, tuple[Any, ...]] = {
    "hidden": (32,), "lr": (0.01,), "jumping": (False,), "batch_size": (64,), "k": (4,), "layers": (1,),
}  # fmt: skip


def method_groups() -> dict[str, tuple[str, ...]]:
    """The names that stand for several methods, registered ones included."""
    by_kind = {
        group: tuple(
            name
            for name, method in METHODS.items()
            if method.kind == kind and (group == "baselines" or not method.is_baseline)
        )
        for group, kind in GROUP_KINDS.items()
    }
    groups = {"main": MAIN_METHODS, **by_kind, "all": tuple(METHODS)}
    return {group: tuple(n for n in names if "classes" in METHODS[n].predicts) for group, names in groups.items()}


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
        targets: tasks or their names, built-in or registered, or `table1`, `table2`, `table3` for the tasks of a table.
        methods: names of methods or groups (`method_groups`); by default `main` for the quick grid, otherwise `all`.
        grid: `quick`, `paper`, or `one` configuration each; by default `quick` for the paper's recipe, otherwise `one`.
        seeds: the number of seeds for every configuration, from 0; methods without randomness get one.
        data: `published`, a seed, `fresh:10` for the data sets of the seeds 0 to 9, or `splits:10` for ten random
            splits of the published data, such as other validation graphs of the TU sets.
        settings: replaced in every configuration of the methods that have them, such as ``{"epochs": 50}``.
        stack: the most models that are trained together; by default what suits the device.
        device: where the models will be trained: `cpu`, `cuda` or `auto`.

    >>> plan = make_plan(["sbm-20"], ["gamma-gin", "wl-kernel"], grid="paper", seeds=10, stack=40)
    >>> plan.runs, len(plan.batches), str(plan.batches[0]), len(plan.batches[0].runs)
    (668, 17, 'gamma-gin on sbm-20', 40)
    """
    if recipe not in RECIPES:
        raise ValueError(f"recipe must be one of {', '.join(RECIPES)}; got {recipe!r}")
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
    for task, data_set, split in columns:
        for method in named:
            if reason := not_applicable(task, method):
                left_out.append(reason)
                continue
            points = configurations(method, task, grid_name, recipe, settings)
            rounds = _rounds(points, seed_range if method.seeded else range(1), method, task, max_stack)
            cells.append(
                [[RunBatch(task, data_set, split, method.name, recipe, runs) for runs in batch] for batch in rounds]
            )
    left_out = list(dict.fromkeys(left_out))
    if not any(cells):
        raise ValueError(" ".join(["Nothing is left to run.", *left_out]))
    in_rounds = tuple(
        batch for cell_round in zip_longest(*cells, fillvalue=[]) for part in cell_round for batch in part
    )
    return SweepPlan(in_rounds, tuple(left_out), frozenset(name for name, (_, by_name) in tasks.items() if not by_name))


def configurations(
    method: Method, task: Task, grid: GridName, recipe: RecipeName, settings: Mapping[str, Any] | None = None
) -> tuple[Configuration, ...]:
    """The configurations to try: the paper's grid, a few points of it, or one default; changed by settings.

    Methods without epochs (kernels, baselines) always try the whole grid: it costs little, and without validation
    their row would not be the paper's.

    >>> configurations(find_method("gamma-gin"), find_task("sbm-20"), "quick", "paper")
    ({'penalty': 0.15, 'layers': 1, 'hidden': 32, 'lr': 0.01, 'jumping': False},)
    """
    if grid not in GRIDS:
        raise ValueError(f"grid must be one of {', '.join(GRIDS)}; got {grid!r}")
    points = method.points(task.family, task.name)
    if task.family is None or (grid == "one" and (method.has_epochs or not points)):  # graphs of a user have no grid
        points = (task_configuration(method, task, recipe),)
    elif grid == "quick" and method.has_epochs:
        default = method.default("paper")
        weights = {name: (default[name],) for name in (method.penalty_name,) if name in default}
        points = _restricted(points, {**QUICK, **weights, **method.quick})
    changes = settings_for(method, settings or {})
    changed = [{**point, **changes} for point in points]
    return tuple({compact_json(canonical_configuration(point)): point for point in changed}.values())


def _restricted(points: Sequence[Configuration], values: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """The points of a grid with these values, or the grid's first value where it has none of them."""
    kept: dict[str, tuple[Any, ...]] = {}
    for name in points[0] if points else ():
        in_grid = tuple(dict.fromkeys(point[name] for point in points))
        kept[name] = tuple(value for value in values.get(name, in_grid) if value in in_grid) or in_grid[:1]
    return tuple(point for point in points if all(point[name] in kept[name] for name in point))


def parse_data_sets(data: str | Data) -> tuple[tuple[Data, int | None], ...]:
    """Parse the option ``--data`` of a sweep: data sets, and the seeds of their splits.

    >>> parse_data_sets("7"), parse_data_sets("fresh:2"), parse_data_sets("splits:2")
    (((7, None),), ((0, None), (1, None)), (('published', 0), ('published', 1)))
    """
    text = str(data)
    kind, _, amount = text.partition(":")
    try:
        if kind == "fresh":
            return tuple((seed, None) for seed in range(whole_number("fresh data sets", int(amount))))
        if kind == "splits":
            return tuple(("published", seed) for seed in range(whole_number("splits", int(amount))))
        return ((parse_data(text), None),)
    except ValueError:
        raise ValueError(
            "--data takes 'published', a seed, 'fresh:10' for ten fresh data sets, or 'splits:10' for ten splits; got "
            f"{text!r}."
        ) from None


# ---- tasks and methods -----------------------------------------------------------------------------


def _tasks(targets: Sequence[str | Task]) -> dict[str, tuple[Task, bool]]:
    """The tasks by name, and whether they were named themselves rather than by their table."""
    if not targets:
        raise ValueError("A sweep needs at least one task, or table1, table2 or table3.")
    tasks: dict[str, tuple[Task, bool]] = {}
    for target in targets:
        if isinstance(target, Task):
            tasks[target.name] = target, True
            continue
        number = target.removeprefix("table")
        if target.startswith("table") and number.isdigit():
            if int(number) not in TABLE_TASKS:
                raise ValueError(f"a table must be table1, table2 or table3; got {target!r}")
            for task in TABLE_TASKS[int(number)]:
                if task.name in PUBLISHED_KEYS:
                    tasks.setdefault(task.name, (task, False))
        else:
            tasks[target] = find_task(target), True
    return tasks


def _columns(
    tasks: Mapping[str, tuple[Task, bool]], data: Sequence[tuple[Data, int | None]]
) -> tuple[list[tuple[Task, Data, int | None]], list[str]]:
    """Task, data set and split of every column, and the reasons for tasks that are left out."""
    columns, left_out = [], []
    for task, by_name in tasks.values():
        reason = task.data_missing(data[0][0])
        if reason and by_name:
            raise ValueError(reason)
        if reason:
            left_out.append(reason)
        else:
            columns += [(task, data_set, split) for data_set, split in data]
    return sorted(columns, key=lambda column: data.index(column[1:])), left_out


def _methods(names: Iterable[str]) -> list[Method]:
    methods: dict[str, Method] = {}
    groups = method_groups()
    for name in names:
        for member in groups.get(name, (name,)) if isinstance(name, str) else (name,):
            methods[member] = find_method(member)
    if not methods:
        raise ValueError(f"A sweep needs at least one method, or a group of them: {', '.join(groups)}.")
    return list(methods.values())


# ---- batches ---------------------------------------------------------------------------------------


def _rounds(
    points: Sequence[Configuration], seeds: range, method: Method, task: Task, max_stack: int
) -> Iterator[list[tuple[Run, ...]]]:
    """The rounds of one cell. A round is configurations with one stack key and all seeds, in one batch or in several.

    Several: for models that share what they draw, which have one batch for each seed, and for many seeds.
    """
    stacks: dict[str, list[Configuration]] = {}
    for point in points:
        stacks.setdefault(_stack_key(point, method, task), []).append(point)
    for members in stacks.values():
        if method.one_seed:
            per_round, parts = max_stack, len(seeds)
        else:
            per_round, parts = max(max_stack // len(seeds), 1), -(-len(seeds) // max_stack)
        for start in range(0, len(members), per_round):
            chosen = members[start : start + per_round]
            yield [tuple(Run(point, seed) for point in chosen for seed in seeds[part::parts]) for part in range(parts)]


def _stack_key(configuration: Configuration, method: Method, task: Task) -> str:
    """What runs must have in common to be trained as one stack."""
    if method.stack_key is None:  # kernels and baselines are trained one by one
        return ""
    model, _ = split_configuration(method, {**method.defaults, **configuration})
    changes = sorted((name, value) for name, value in configuration.items() if name in method.recipe_fields)
    return compact_json([model.get("k", task.k), method.stack_key(model), changes])
