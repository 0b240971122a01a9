"""The league: methods on many sets of graphs, trained on graphs of some sizes and tested on graphs of others.

Real sets are found in folders: TU collections and other files of labeled graphs, and tables of SMILES, of which every
column is a set, of classes or of numbers. Each is split by size (`anysize.splits.BySize`), up or down (numbers up
only), and five split seeds draw five random 90 % subsets of the training graphs. Planted motifs are drawn, five times.
`anysize.evaluation.standings` has the parts of the league, and its tables, which are made from records alone. Sets of
one family (targets of one table of molecules, names that begin alike) count once: their scores are averaged.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from anysize._errors import GraphError, GraphWarning, require
from anysize._progress import ProgressFunction, ignore_progress
from anysize._typing import PathLike, TargetKind
from anysize.evaluation.compare import plan_runs
from anysize.evaluation.evaluate import EvaluationOptions
from anysize.evaluation.motif_tasks import MOTIF_SIZE, MOTIF_SIZE_CONCEPT, SPMOTIF_33, SPMOTIF_60, SPMOTIF_90
from anysize.evaluation.records import Record
from anysize.evaluation.standings import MIN_MINORITY_GRAPHS, PARTS, minority
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import RunBatch, SweepPlan, SweepResult, sweep
from anysize.evaluation.tasks import Task, own_task
from anysize.evaluation.tuning import best, candidates, inner_task
from anysize.graphs.graphset import GraphSet
from anysize.io.read import read_graphs
from anysize.methods import defaults
from anysize.methods.baselines import TRIVIAL
from anysize.methods.catalog import find_method
from anysize.methods.method import Method, Run
from anysize.splits import BySize

LEAGUE_METHODS = (
    "auto", "gamma-1hot", "gamma-gin", "gamma-rpgin", "gin-sum", "gin-mean", "gcn-sum", "gcn-mean",
    "pna-sum", "pna-mean", "wl-kernel", "gc-kernel", "gin-plain", "gin-ssr", "gin-ciga", "gin-gsat", "gin-dann",
    "gin-crop", "patterns-forest", "ecfp-forest",
)  # fmt: skip
MOTIFS = (MOTIF_SIZE, MOTIF_SIZE_CONCEPT, SPMOTIF_33, SPMOTIF_60, SPMOTIF_90)
MOTIF_GRAPHS = 1_800, 200, 1_000  # training, validation, test: fewer than those of the tasks, for time
# ---- sets --------------------------------------------------------------------------------------------


def find_sets(
    folders: Iterable[PathLike], parts: Sequence[str] = ("up",), max_targets: int | None = None
) -> tuple[list[Task], dict[str, str]]:
    """The tasks of some parts of the league, of the sets in folders; and what was left out: name -> why.

    Every file and folder inside is read as labeled graphs; a file or the folder of one TU set is a set by itself. A CSV
    file with a column ``smiles`` gives one set for every other column, ``file.column``; rows without a value are not
    part of it. Of more than ``max_targets`` such columns those with most test graphs of the rarest class (or with
    numbers) are taken. Sets of numbers are the part ``numbers``, all others have classes. ``motifs`` needs no folder.
    """
    if unknown := [part for part in parts if part not in PARTS]:
        raise ValueError(f"The parts of the league are {', '.join(PARTS)}; got {unknown[0]!r}.")
    roots = [Path(folder) for folder in folders]
    if not roots and (of_sets := [part for part in parts if part != "motifs"]):
        raise ValueError(
            f"--parts {of_sets[0]} needs folders of sets; without --parts, the records are read and nothing is trained."
        )
    sets: dict[str, dict[str, Task]] = {}
    left_out: dict[str, str] = {}
    for root in roots:
        if not root.exists():
            raise GraphError(f"A league needs folders with sets of graphs; there is no folder {root}.")
        is_set = root.is_file() or any(root.glob("*_graph_indicator.txt"))
        for path in [root] if is_set else sorted(root.iterdir()):
            if path.name.startswith(".") or path.suffix in (".md", ".json"):
                continue
            in_file: dict[str, dict[str, Task]] = {}
            for name, read in _sets_of(path):
                if name in sets:
                    left_out[str(path)] = f"Another set is called {name}, too."
                    continue
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", GraphWarning)
                        graphs = read()
                        up = own_task(graphs, BySize(), name=name)
                        if up.predicts == "numbers":
                            if "numbers" in parts:
                                in_file[name] = {
                                    "numbers": replace(up, name=re.sub("-size-(.{8})$", r"-numbers-\1", up.name))
                                }
                            else:
                                left_out[name] = "Its labels are numbers; --parts numbers compares methods on them."
                            continue
                        in_file[name] = {"up": up}
                        if "down" in parts:
                            in_file[name]["down"] = own_task(graphs, BySize(down=True), name=name)
                except (GraphError, ValueError, OSError) as error:
                    left_out[f"{name}, down" if name in in_file else name] = str(error)
            fullest = sorted(in_file, key=lambda name: -scored_graphs(next(iter(in_file[name].values()))))
            sets |= {name: in_file[name] for name in in_file if name in fullest[:max_targets]}
    real = [of_set[part] for part in parts for of_set in sets.values() if part in of_set]
    if roots and not real:
        reasons = "".join(f" {name}: {why}" for name, why in left_out.items())
        raise GraphError(f"There is no set of labeled graphs in {', '.join(map(str, roots))}.{reasons}")
    return [*real, *(motif_tasks() if "motifs" in parts else [])], left_out


def motif_tasks() -> list[Task]:
    """The tasks of planted motifs, with `MOTIF_GRAPHS`; their names end with a hash of the rule that draws them."""
    tasks = []
    for task in MOTIFS:
        source = replace(task.source, graphs=MOTIF_GRAPHS)  # type: ignore[type-var]
        digest = sha256(repr(source).encode()).hexdigest()[:8]
        tasks.append(replace(task, source=source, name=f"{task.name}-drawn-{digest}"))
    return tasks


def _sets_of(path: Path) -> list[tuple[str, Callable[[], GraphSet]]]:
    name = path.name.removesuffix("".join(path.suffixes)) or path.name
    columns: list[str] = []
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            columns = next(csv.reader(file), [])
    if "smiles" not in columns:
        return [(name, partial(read_graphs, path))]
    targets = [column for column in columns if column != "smiles"]
    return [
        (name if len(targets) == 1 else f"{name}.{target}", partial(read_graphs, path, smiles="smiles", y=target))
        for target in targets
    ]


def scored_graphs(task: Task) -> int:
    """The number of test graphs of the rarest class, or with numbers."""
    y = task.splits().test.y
    return minority(y) if task.predicts == "classes" else len(np.asarray(y))


def run_league(
    tasks: Sequence[Task],
    records: PathLike,
    *,
    methods: Sequence[str] = LEAGUE_METHODS,
    seeds: int = defaults.COMPARED_SEEDS,
    tune: int = 1,
    workers: int = 1,
    device: str = defaults.DEVICE,
    cache: PathLike | None = None,
    time_limit: float | None = None,
    progress: ProgressFunction = ignore_progress,
) -> SweepResult:
    """Train what has no record yet: all sets and methods with the first seed, then with the second, and so on.

    Of sets with too few test graphs (of a class) only the majority, or the mean, is recorded, so that tables can name
    them. ``tune``: configurations of every method, of which `anysize.evaluation.tuning` chooses one inside the training
    graphs; their records are kept, too. Keep tuned runs in a folder of their own.
    """
    require("sklearn", "A league")
    planned: list[RunBatch] = []
    for task in tasks:
        enough = scored_graphs(task) >= MIN_MINORITY_GRAPHS
        run_here = league_methods(methods, task.predicts) if enough else [TRIVIAL[task.predicts][0]]
        plan, _ = plan_runs(task, run_here, range(seeds), {})
        planned += plan.batches
    run = partial(
        sweep, records=records, workers=workers, options=EvaluationOptions(device, cache, ranks=True),
        time_limit=time_limit, progress=progress,
    )  # fmt: skip
    if tune > 1:
        planned = _tuned(planned, tune, run, RecordStore(records))
    return run(SweepPlan(tuple(sorted(planned, key=lambda batch: batch.runs[0].seed))))


def league_methods(names: Iterable[str], predicts: TargetKind) -> list[Method]:
    """The named methods that predict classes, or numbers (SizeMix in place of `auto`), and the trivial baselines."""
    trivial = [method.name for method in TRIVIAL[predicts]]
    in_place = {defaults.METHOD: defaults.REGRESSION_METHOD} if predicts == "numbers" else {}
    methods = [find_method(name) for name in dict.fromkeys(in_place.get(name, name) for name in (*names, *trivial))]
    return [method for method in methods if predicts in method.predicts]


def _tuned(
    planned: Sequence[RunBatch], tune: int, run: Callable[[SweepPlan], SweepResult], store: RecordStore
) -> list[RunBatch]:
    """The planned runs with the configurations chosen inside training graphs; without those that have no choice yet."""
    inner: dict[str, Task | None] = {}
    tried: dict[tuple[str, str], RunBatch] = {}
    for batch in planned:
        cell = batch.task.name, batch.method
        chosen_from = candidates(find_method(batch.method), batch.runs[0].configuration, tune)
        if cell in tried or len(chosen_from) == 1:
            continue
        if batch.task.name not in inner:
            try:
                inner[batch.task.name] = inner_task(batch.task)
            except ValueError:  # nothing to choose by: one size, or one class
                inner[batch.task.name] = None
        task = inner[batch.task.name]
        if task is None:
            continue
        runs = tuple(Run(configuration, 0) for configuration in chosen_from)
        tried[cell] = RunBatch(task, "published", 0, batch.method, batch.recipe, runs)
    if not tried:
        return list(planned)
    run(SweepPlan(tuple(tried.values())))
    records: dict[tuple[str, str], list[Record]] = {}
    for record in store.read(task={batch.task.name for batch in tried.values()}):
        records.setdefault((record.task, record.method), []).append(record)
    tuned = []
    for batch in planned:
        choice = tried.get((batch.task.name, batch.method))
        if choice is None:
            tuned.append(batch)
            continue
        of_choice = records.get((choice.task.name, choice.method), [])
        configuration = best([each.configuration for each in choice.runs], of_choice)
        if configuration is not None:
            tuned.append(replace(batch, runs=(Run(configuration, batch.runs[0].seed),)))
    return tuned
