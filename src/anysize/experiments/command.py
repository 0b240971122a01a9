"""``python -m anysize.experiments.sweep``: the command `anysize sweep` where typer and rich are not installed.

For machines that only train: with the counts in a cache and torch, numpy, scipy and networkx, nothing else is needed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from anysize.experiments.configurations import GRIDS, parse_setting
from anysize.experiments.plan import make_plan
from anysize.experiments.sweep import Swept, fill_cache, sweep
from anysize.experiments.sweep_progress import duration, shown_progress
from anysize.methods.recipes import RECIPES


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, sweep, tell; 0, or 1 where something failed."""
    chosen = _parser().parse_args(arguments)
    try:
        return _carry_out(chosen)
    except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The same command goes on.", file=sys.stderr)
        return 130


def _carry_out(chosen: Namespace) -> int:
    methods = None if chosen.methods is None else [name for text in chosen.methods for name in names(text)]
    plan = make_plan(
        chosen.targets, methods, grid=chosen.grid, seeds=chosen.seeds, data=chosen.data, recipe=chosen.recipe,
        settings=dict(parse_setting(text) for text in chosen.set), stack=chosen.stack,
        device=chosen.device,
    )  # fmt: skip
    with shown_progress() as show:
        if chosen.count_only:
            left_out = fill_cache(plan, _needed(chosen.cache), chosen.data_dir, show)
            told, code = [*plan.left_out, *left_out.values(), f"The counts are in {chosen.cache}."], 0
        else:
            swept = sweep(
                plan, chosen.records, workers=chosen.workers, cluster=chosen.cluster, device=chosen.device,
                stack=chosen.stack, cache=chosen.cache, data_dir=chosen.data_dir, time_limit=chosen.time_limit,
                curves=chosen.curves, show=show,
            )  # fmt: skip
            told, code = sentences(swept, chosen.records), int(bool(swept.failures))
    print("\n".join(told))
    return code


def sentences(swept: Swept, records: object) -> list[str]:
    """What a sweep has done, for a reader.

    >>> sentences(Swept(30, 10, 20, (), (), 61.0), "results/records")
    ['30 runs: 20 trained in 1:01, 10 found. The records are in results/records.']
    """
    told = list(swept.left_out)
    told += [f"Failed: {sentence}" for sentence in swept.failures]
    told.append(
        f"{_runs(swept.planned)}: {swept.made:,} trained in {duration(swept.seconds)}, {swept.found:,} found. "
        f"The records are in {records}."
    )
    if swept.left:
        told.append(f"{_runs(swept.left)} {'is' if swept.left == 1 else 'are'} left: the same command goes on.")
    return told


def _runs(amount: int) -> str:
    return "1 run" if amount == 1 else f"{amount:,} runs"


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _needed(cache: str | None) -> str:
    if cache is None:
        raise ValueError("--count-only fills a cache: name its folder with --cache.")
    return cache


def _parser() -> ArgumentParser:
    parser = ArgumentParser("python -m anysize.experiments.sweep", description="Train a table; see anysize sweep.")
    add = parser.add_argument
    add("targets", nargs="+", metavar="table1|table2|table3|TASK")
    add("--methods", nargs="+")
    add("--grid", choices=GRIDS)
    add("--seeds", type=int, default=10)
    add("--data", default="published", help="published, a seed, or fresh:10")
    add("--recipe", choices=RECIPES, default="paper")
    add("--set", nargs="+", default=[], metavar="NAME=VALUE")
    add("--workers", type=int, default=1)
    add("--cluster")
    add("--device", default="auto")
    add("--records", default="results/records")
    add("--stack", type=int)
    add("--cache")
    add("--data-dir")
    add("--time-limit", type=float)
    add("--curves", type=int, default=50)
    add("--count-only", action="store_true")
    return parser
