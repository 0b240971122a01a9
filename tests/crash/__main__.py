"""`make crash-test N=100`: kill work at random moments (SIGKILL), and check that nothing is lost or half-written.

Sweeps, cached counts, streams, fits and reports take turns. After every kill, what is on disk must be readable
without a warning: every record, table and batch that was there before is still there, an output file is the old one
or the new one. At the end the work is finished without a kill, and the result equals that of a run without kills.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

import anysize as az
from anysize._files import is_own_part
from anysize.counting.cache import CountCache
from anysize.counting.stream import count_stream, open_stream
from anysize.evaluation.evaluate import EvaluationOptions
from anysize.evaluation.records import to_line
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import sweep
from anysize.paper.cli.app import main_app as app
from anysize.paper.plan import make_plan


@dataclass(frozen=True)
class Work:
    """Something that is killed.

    Attributes:
        run: does the work in a folder, from where an earlier run was killed.
        state: what is on disk, by name; an error if something is half-written.
    """

    name: str
    run: Callable[[Path], None]
    state: Callable[[Path], dict[str, Any]]


def random_sets(number: int, graphs: int, seed: int = 0) -> list[az.GraphSet]:
    """Sets of random graphs with colors and classes."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        edges, colors = [], []
        for _ in range(graphs):
            n = int(rng.integers(8, 16))
            pairs = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.4]
            edges.append(pairs or [(0, 1)])
            colors.append(rng.choice(["C", "N"], n).tolist())
        sizes = [len(names) for names in colors]
        made.append(az.GraphSet.from_edges(edges, n_vertices=sizes, colors=colors, y=np.arange(graphs) % 2))
    return made


SETS = random_sets(12, 20)


def run_sweep(folder: Path) -> None:
    plan = make_plan(["er-single"], ["size-only", "gamma-1hot"], seeds=3, grid="quick")
    sweep(plan, folder / "records", options=EvaluationOptions("cpu", folder / "cache"))


def records(folder: Path) -> dict[str, Any]:
    """Every record by its key, without its times."""
    found = RecordStore(folder / "records").read() if (folder / "records").exists() else []
    return {record.key: (record.scores, record.chosen.predictions) for record in found if to_line(record)}


def run_cached(folder: Path) -> None:
    for graphs in SETS:
        az.count(graphs, 4, cache=folder / "cache", threads=1)


def cached(folder: Path) -> dict[str, Any]:
    cache = CountCache(folder / "cache")
    found = {}
    for number, graphs in enumerate(SETS):
        arguments = {
            "k": [4], "engine": "auto", "samples": None, "rel_error": None, "seed": 0, "budget_s": None,
        }  # fmt: skip
        table = cache.get(graphs, arguments)
        if table is not None:
            found[str(number)] = table.matrix.toarray().tolist()
    if len(cache) != len(found):
        raise AssertionError(f"{len(cache)} entries, of which {len(found)} are found")
    return found


def run_stream(folder: Path) -> None:
    count_stream(SETS, 4, folder / "stream", threads=1)


def streamed(folder: Path) -> dict[str, Any]:
    if not (folder / "stream" / "stream.json").exists():
        return {}
    stream = open_stream(folder / "stream")
    return {str(number): table.matrix.toarray().tolist() for number, table in enumerate(stream)}


def run_fit(folder: Path) -> None:
    for seed in (0, 1):  # the second model replaces the first
        model = az.GraphClassifier("gamma-1hot", k=3, random_state=seed, params={"epochs": 3})
        model.fit(SETS[0])
        model.save(folder / "model.anysize")


def fitted(folder: Path) -> dict[str, Any]:
    file = folder / "model.anysize"
    return {"model": az.load_model(file).classes_.tolist()} if file.exists() else {}


def run_report(folder: Path) -> None:
    reported = folder.parent / "reported" / "records"
    arguments = ["paper", "report", "--records", reported, "--out", folder / "report.html", "--no-fits"]
    app([str(argument) for argument in arguments], standalone_mode=False)


def reported(folder: Path) -> dict[str, Any]:
    file = folder / "report.html"
    if not file.exists():
        return {}
    page = file.read_text(encoding="utf-8")
    if not page.rstrip().endswith("</html>"):
        raise AssertionError("half a report")
    return {"report": "<html" in page}


WORKS = (
    Work("sweep", run_sweep, records),
    Work("cached count", run_cached, cached),
    Work("stream", run_stream, streamed),
    Work("fit", run_fit, fitted),
    Work("report", run_report, reported),
)


def begin(work: Work, folder: Path) -> int:
    """Start the work in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            warnings.simplefilter("ignore")
            work.run(folder)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def checked_state(work: Work, folder: Path) -> dict[str, Any]:
    """The state; a warning, such as that a record is damaged, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return work.state(folder)


def kill_often(work: Work, kills: int, longest: float, chance: Random, root: Path, expected: dict[str, Any]) -> int:
    """Kill the work so often, in a new folder whenever it got to its end; how many kills hit unfinished work."""
    done = hits = rounds = 0
    while done < kills:
        folder = root / f"{work.name.replace(' ', '-')}-{rounds}"
        folder.mkdir(parents=True)
        rounds += 1
        before: dict[str, Any] = {}
        while done < kills:
            child = begin(work, folder)
            time.sleep(chance.uniform(0, longest))
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                hits += 1
            elif status:
                raise AssertionError(f"{work.name} failed with status {status}")
            done += 1
            state = checked_state(work, folder)
            if any(state.get(name) != value for name, value in before.items()):
                raise AssertionError(f"{work.name}: something that was finished is lost or changed after a kill")
            before = state
            if ended:
                break
        if os.waitpid(begin(work, folder), 0)[1]:
            raise AssertionError(f"{work.name} does not finish after kills")
        if checked_state(work, folder) != expected:
            raise AssertionError(f"{work.name}: the result after kills differs from that without")
        left = [path for path in folder.rglob("*.part") if not is_own_part(path)]
        if left:
            raise AssertionError(f"{work.name} left {left}")
    return hits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100, help="kills, divided among the kinds of work")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    began, failures, total = time.process_time() + sum(os.times()[2:4]), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        run_sweep(Path(folder) / "reported")
        print(f"{'work':<16}{'kills':>7}{'unfinished':>12}{'lost or damaged':>17}")
        for place, work in enumerate(WORKS):
            kills = options.n * (place + 1) // len(WORKS) - options.n * place // len(WORKS)
            for name in ("first", "second"):  # the first run compiles and imports
                whole = Path(folder) / f"{name} {work.name}"
                whole.mkdir()
                start = time.monotonic()
                if os.waitpid(begin(work, whole), 0)[1]:
                    raise SystemExit(f"{work.name} fails without a kill")
                seconds = time.monotonic() - start
            try:
                chance = Random(f"{options.seed}/{work.name}")
                expected = checked_state(work, whole)
                hits = kill_often(work, kills, 0.6 * seconds, chance, Path(folder), expected)
                problem = ""
            except (AssertionError, Warning, ValueError, OSError) as error:
                hits, problem = 0, f"  {error}"
                failures += 1
            total += kills
            print(f"{work.name:<16}{kills:>7}{hits:>12}{int(bool(problem)):>17}{problem}", flush=True)
        seconds = time.process_time() + sum(os.times()[2:4]) - began
        print(f"{total} kills, seed {options.seed}, {seconds:.0f} s of CPU time, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
