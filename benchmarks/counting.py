"""Time the counts and compare with igraph, networkx and the prototypes: ``python -m benchmarks.counting``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from anysize import Counts, GraphSet
from benchmarks import growth, peers, prototypes, report, sampling
from benchmarks.checks import class_sums, ours, same_classes
from benchmarks.growth import Record
from benchmarks.inputs import MissingData
from benchmarks.rows import ROWS, Row
from benchmarks.startup import startup
from benchmarks.timing import BUDGET, QUICK_BUDGET, race


def checked(row: Row, threads: int | None = 1) -> tuple[GraphSet, Counts]:
    """The row's graphs and counts, after the row's check; `WrongAnswer` if it fails."""
    graphs = row.graphs()
    counts = ours(graphs, row.k, row.engine, threads)
    row.check(graphs, row.k, counts)
    return graphs, counts


def measured(row: Row, threads: int, quick: bool) -> Record:
    """One row of the main table."""
    graphs, counts = checked(row, threads)
    expected = class_sums(counts, row.k)
    calls: dict[str, Callable[[], Any]] = {
        "seconds": lambda: ours(graphs, row.k, row.engine, threads),
        "seconds_all_cores": lambda: ours(graphs, row.k, row.engine),
    }
    if row.prototype and prototypes.available():
        call, answer = prototypes.JOBS[row.prototype](graphs, row.k)
        same_classes(expected, answer(call()), f"the prototype {row.prototype!r}")
        calls["prototype"] = call
    ours(graphs, row.k, row.engine)  # warm the all-core path too
    record: Record = {"row": row.name, "engine": growth.engines_of(counts), "subgraphs": int(expected.sum())}
    record.update(race(calls, QUICK_BUDGET if quick else BUDGET))
    record.update(_peers(row, graphs, expected, peers.QUICK_LIMIT if quick else peers.LIMIT))
    amount = {"graphs": len(graphs), "subgraphs": record["subgraphs"], None: 0}[row.unit]
    record["rate"] = amount / record["seconds"]
    return record


def _peers(row: Row, graphs: GraphSet, expected: Any, limit: float) -> Record:
    """Seconds of the other libraries, where they can do it; none of them counts colored patterns."""
    names = () if graphs.colors is not None else ("igraph", "networkx") if row.network else ("igraph",)
    times: Record = {}
    for name in names:
        result = peers.timed(name, graphs, row.k, int(expected.sum()), limit)
        if result is not None:
            same_classes(expected, result[0], name)
            times[name] = result[1]
    return times


def main_rows(screen: Console, rows: list[Row], threads: int, quick: bool) -> list[Record]:
    """Every row whose data is available; the others are named."""
    records = []
    for row in rows:
        with screen.status(row.name):
            try:
                records.append(measured(row, threads, quick))
            except MissingData as missing:
                screen.print(f"{row.name}: left out, {missing}")
    return records


def growth_tables(screen: Console, quick: bool, threads: int) -> dict[str, list[Record]]:
    """The three tables of growth."""
    tables = {}
    for title, value, make in (
        ("Growth with the number of vertices n (random graphs, p = .1)", "n", growth.by_size),
        ("Growth with the density p (140 vertices)", "p", growth.by_density),
        ("Growth with the number of colors (140 vertices, p = .3)", "colors", growth.by_colors),
    ):
        with screen.status(title):
            tables[value] = make(quick, threads)
        screen.print(report.growth_table(title, value, tables[value]), "")
    return tables


def sampling_tables(screen: Console, only: str, threads: int, quick: bool) -> dict[str, list[Record]]:
    """Samples per second, and break-even with exact engines."""
    tables: dict[str, list[Record]] = {}
    for name, jobs, make in (
        ("rates", sampling.RATES, sampling.rates),
        ("even", sampling.BREAK_EVEN, sampling.break_even),
    ):
        selected = [job for job in jobs if (job.quick or not quick) and only in job.name]
        with screen.status(name):
            tables[name] = list(make(selected, threads, quick))
    if tables["rates"]:
        screen.print(report.rates_table(tables["rates"], threads), "")
    if tables["even"]:
        screen.print(report.break_even_table(tables["even"]), "")
    return tables


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counting", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small jobs only, under a minute")
    parser.add_argument("--threads", type=int, default=1, help="threads of the compared column (1)")
    parser.add_argument("--only", metavar="SUBSTRING", help="only jobs with this in their name, no other tables")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write all numbers to this file")
    return parser.parse_args()


def main() -> None:
    """Print the tables."""
    options = arguments()
    quick, threads = options.quick, options.threads
    screen = report.console()
    results: dict[str, Any] = {"machine": report.machine()}
    screen.print(", ".join(f"{name} {fact}" for name, fact in results["machine"].items()), "")
    rows = [r for r in ROWS if (r.quick or not quick) and (options.only or "") in r.name]
    if rows:
        results["rows"] = main_rows(screen, rows, threads, quick)
        screen.print(report.main_table(results["rows"], threads, peers.QUICK_LIMIT if quick else peers.LIMIT), "")
    results |= sampling_tables(screen, options.only or "", threads, quick)
    if not options.only:
        results["growth"] = growth_tables(screen, quick, threads)
        with screen.status("estimates"):
            results["estimates"] = list(growth.estimates(growth.estimate_rows(quick), quick))
        screen.print(report.estimates_table(results["estimates"]), "")
        results["startup"] = startup(quick)
        screen.print(report.startup_table(results["startup"]))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
