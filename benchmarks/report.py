"""Tables for a terminal of 110 columns, and a description of the machine."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from anysize.executors.executor import available_cores
from benchmarks.growth import MAX_RATIO, MIN_DIFFERENCE_S, Record
from benchmarks.timing import rate_written, ratio_written, written

WIDTH = 110


def console() -> Console:
    """Standard output with the width of the tables."""
    return Console(width=WIDTH, highlight=False)


def machine() -> dict[str, Any]:
    """Cores, processor and versions."""
    facts: dict[str, Any] = {
        "cores": available_cores(),
        "cpu": _processor(),
        "python": platform.python_version(),
    }
    for package in ("numpy", "numba", "igraph", "networkx"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "absent"
    return facts


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _table(title: str, left: Iterable[str], right: Iterable[str], caption: str = "") -> Table:
    table = Table(title=title, box=None, padding=(0, 1, 0, 0), title_justify="left", caption_justify="left")
    table.caption = caption or None
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _against(record: Record, name: str) -> str:
    other = record.get(name)
    if other is None:
        return "-"
    return f"{written(other)} {ratio_written(other / record['seconds'])}"


def main_table(records: list[Record], threads: int, limit: float) -> Table:
    """Our time, and the times of the others as multiples of it."""
    cores = "1 core" if threads == 1 else f"{threads} cores"
    table = _table(
        "Exact counts: best of several; others also as multiples of our time (above 1: we are faster)",
        ("job", "engine"),
        (cores, "all cores", "rate", "prototype", "igraph", "networkx"),
        f"-: cannot do it, or not within {limit:g} s. Every time belongs to an answer that agrees with ours.",
    )
    for record in records:
        rate = rate_written(record["rate"]) if record["rate"] else ""
        others = [_against(record, name) for name in ("prototype", "igraph", "networkx")]
        times = written(record["seconds"]), written(record["seconds_all_cores"])
        table.add_row(record["row"], record["engine"], *times, rate, *others)
    return table


def growth_table(title: str, value: str, records: list[Record]) -> Table:
    """Times with the engine behind each."""
    names = [name for name in max(records, key=len) if name != "value"]
    table = _table(title, (), (value, *names))
    for record in records:
        cells = [record.get(name) for name in names]
        texts = [f"{c['engine']} {written(c['seconds']):>7}" if c else "-" for c in cells]
        table.add_row(str(record["value"]), *texts)
    return table


def estimates_table(records: list[Record]) -> Table:
    """Estimated and measured times, marked where they are far apart."""
    table = _table(
        "Estimates of the planner, one core",
        ("job", "engine", "taken"),
        ("estimated", "measured", "ratio", "slower than best", ""),
        f"off: more than {MAX_RATIO:g} times and {written(MIN_DIFFERENCE_S)} from the estimate, either way.",
    )
    for record in records:
        lost = ratio_written(record["lost"]) if record["lost"] and record["lost"] > 1 else ""
        times = written(record["estimated"]), written(record["measured"])
        taken = "auto" if record["picked"] else ""
        table.add_row(
            record["row"],
            record["engine"],
            taken,
            *times,
            f"{record['ratio']:.2f}",
            lost,
            "off" * record["off"],
        )
    return table


def startup_table(records: list[Record]) -> Table:
    """Fresh processes beside bare imports."""
    table = _table("Start of a fresh process", ("what", "beside"), ("ours", "bare", "ratio", "target"))
    for record in records:
        times = written(record["ours"]), written(record["bare"])
        table.add_row(record["what"], record["beside"], *times, f"{record['ratio']:.2f}", f"{record['target']:g}")
    return table


def rates_table(records: list[Record], threads: int) -> Table:
    """Samples per second."""
    cores = "1 core" if threads == 1 else f"{threads} cores"
    table = _table(
        "Samples per second, whole calls",
        ("job",),
        ("samples", cores, "all cores", "prototype", "ours / prototype", "aim"),
    )
    for record in records:
        other = record.get("prototype")
        beside = ("-", "-") if other is None else (rate_written(other), ratio_written(record["seconds"] / other))
        aim = rate_written(record["aim"]) if record["aim"] else ""
        rates = rate_written(record["seconds"]), rate_written(record["all"])
        table.add_row(record["row"], f"{record['samples']:,}", *rates, *beside, aim)
    return table


def break_even_table(records: list[Record]) -> Table:
    """Error against time of samples, beside the exact engines."""
    table = _table(
        "Error against time: the worst relative standard error of patterns above a thousandth",
        ("job", "by samples: error in time", "exact engines"),
        ("break-even",),
        "break-even: the error that samples reach in the time of the fastest exact engine; for a smaller error, count "
        "exactly. ~: estimated, not run. none: sampling takes longer for any error.",
    )
    for record in records:
        steps = ", ".join(f"{step['error']:.2%} {written(step['seconds'])}" for step in record["steps"])
        exact = sorted(record["exact"].items(), key=lambda item: float(item[1]["seconds"]))
        engines = ", ".join(f"{name} {'' if e['measured'] else '~'}{written(e['seconds'])}" for name, e in exact)
        meet = record["meet"]
        table.add_row(record["row"], steps, engines, "none" if meet == float("inf") else f"{meet:.2%}")
    return table
