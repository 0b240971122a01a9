"""`anysize paper tasks`: list tasks and describe their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize.cli.shared import MAX_SEED, DataDirOption, JsonOption, console, handle_errors, text_table

if TYPE_CHECKING:
    from rich.table import Table

    from anysize.evaluation.describe import SplitSummary
    from anysize.evaluation.tasks import Data, Task

MAX_ENVIRONMENTS_SHOWN = 6  # every size is an environment: thinned graphs have many


def tasks(
    name: Annotated[str | None, typer.Argument(help="A task; without it, all of them are listed.")] = None,
    data: Annotated[str | None, typer.Option(help="published, or the seed of fresh data.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the validation graphs of a TU set.", min=0, max=MAX_SEED)] = 0,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """List the tasks, or show what one of them consists of: sizes, classes and environments of its graphs."""
    with handle_errors():
        from anysize.evaluation.describe import describe, shift
        from anysize.paper.tasks import TASKS, find_task, parse_data

        if name is None:
            if data is not None or data_dir is not None:
                raise ValueError("--data and --data-dir go with the name of a task: anysize paper tasks NAME.")
            _show_all(list(TASKS.values()), json)
            return
        task = find_task(name)
        chosen = task.default_data if data is None else parse_data(data)
        splits = task.splits(chosen, seed, data_dir)
        sets, sentence = describe(splits), shift(splits)
        if json:
            rows = [asdict(part) | {"shares": part.shares} for part in sets]
            print(dumps(_facts(task) | {"data": chosen, "seed": seed, "shift": sentence, "sets": rows}))
        else:
            _show_one(task, chosen, sets, sentence)


def _show_all(listed: list[Task], json: bool) -> None:
    if json:
        print(dumps([_facts(task) for task in listed]))
        return
    from anysize.paper.tasks import PUBLISHED_KEYS, table_of

    table = text_table("task", "what it is", "metric", "paper")
    for task in listed:
        number = f"table {table_of(task.name)}" if task.name in PUBLISHED_KEYS else ""
        table.add_row(task.name, task.title, task.metric, number)
    console.print(table)
    console.print("anysize paper tasks NAME shows the graphs of one.")


def _show_one(task: Task, data: Data, sets: Sequence[SplitSummary], shift: str) -> None:
    sizes = task.k if isinstance(task.k, int) else " or ".join(map(str, task.k))
    kind = "published data" if data == "published" else f"fresh data, seed {data}"
    chosen = "stratified folds" if task.folds else "a validation set"
    console.print(f"{task.name}: {task.title}", style="bold")
    summary = f"{kind}; patterns of {sizes} vertices; scored by {task.metric}; tuned on {chosen}"
    console.print(summary)
    console.print(_table(sets))
    console.print(shift)


def _table(sets: Sequence[SplitSummary]) -> Table:
    """Sets as columns: graphs, sizes, edges, then the share and number of each class, then environments."""
    table = text_table("", right=[part.name for part in sets])
    table.add_row("graphs", *(f"{part.graphs}" for part in sets))
    table.add_row("vertices", *(_span(part) for part in sets))
    table.add_row("mean edges", *(f"{part.mean_edges:.1f}" for part in sets), end_section=True)
    for name in sets[0].classes:
        table.add_row(f"class {name}", *(f"{part.shares[name]:.2f} ({part.classes[name]})" for part in sets))
    table.add_section()
    seen = list(dict.fromkeys(name for part in sets for name in part.environments))
    shown = seen if len(seen) <= MAX_ENVIRONMENTS_SHOWN else list(sets[0].environments)[: MAX_ENVIRONMENTS_SHOWN - 1]
    for name in shown:
        table.add_row(name, *(f"{part.environments.get(name, 0)}" for part in sets))
    if len(shown) < len(seen):
        rest = (part.graphs - sum(part.environments.get(name, 0) for name in shown) for part in sets)
        table.add_row("other sizes", *(f"{amount}" for amount in rest))
    return table


def _span(part: SplitSummary) -> str:
    if part.smallest == part.largest:
        return f"{part.smallest}"
    return f"{part.smallest}-{part.largest}, mean {part.mean_size:.1f}"


def _facts(task: Task) -> dict[str, Any]:
    """The fields of a task for JSON."""
    from anysize.paper.tasks import PUBLISHED_KEYS, table_of

    return {
        "task": task.name,
        "title": task.title,
        "metric": task.metric,
        "k": task.k,
        "folds": task.folds,
        "published": task.name in PUBLISHED_KEYS,
        "table": table_of(task.name),
        "single_environment": task.single_environment,
        "fresh": task.source.has_fresh,
    }
