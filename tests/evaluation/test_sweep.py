"""Sweeps: resuming, kill -9, workers, clusters, missing graphs, machines that only train, the time left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
import torch
from evaluation.errands import die, halve

from anysize import GraphError, GraphSet
from anysize.evaluation.evaluate import EvaluationOptions
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import Clock, RunBatch, SweepPlan, SweepResult, fill_cache, load_splits, sweep
from anysize.evaluation.tasks import own_task, size_split
from anysize.evaluation.workers import Processes
from anysize.methods.catalog import METHODS
from anysize.methods.method import Run
from anysize.paper.plan import make_plan
from anysize.paper.tasks import TASKS, find_task

HERE = Path(__file__).parent
TINY = {"epochs": 3, "k": 3}
# two methods, two data sets, three batches each: twelve batches of a moment
PLAN = {
    "targets": ["sbm-20"], "methods": ["gamma-1hot", "gamma-gin"], "grid": "paper", "seeds": 2, "data": "fresh:2",
    "settings": {**TINY, "hidden": 8, "layers": 1, "jumping": False}, "stack": 3,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def options(cache=None):
    """As `anysize paper sweep` trains, on a CPU."""
    return EvaluationOptions("cpu", cache, curve_points=50, epoch_rules=True)


def plain(records):
    """Records, or those of a folder, without what differs between two runs of the same thing."""
    records = records if isinstance(records, tuple) else RecordStore(records).read()
    return sorted((replace(record, seconds=None, when="") for record in records), key=lambda record: record.key)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    fill_cache(make_plan(**PLAN), folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, cache):
    """What a sweep gives that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    swept = sweep(make_plan(**PLAN), folder, options=options(cache))
    assert (swept.planned, swept.made, swept.found, swept.left) == (24, 24, 0, 0)
    return plain(folder)


# ---- resuming --------------------------------------------------------------------------------------


def test_finished_runs_are_skipped_and_a_larger_plan_adds_to_them(tmp_path, cache, undisturbed):
    part = make_plan(**(PLAN | {"methods": ["gamma-gin"], "data": "0"}))
    assert sweep(part, tmp_path, options=options(cache)).made == 8
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = sweep(part, tmp_path, options=options(cache))
    assert (again.found, again.made, again.left) == (8, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files
    whole = sweep(make_plan(**PLAN), tmp_path, options=options(cache))
    assert (whole.found, whole.made, whole.left) == (8, 16, 0)
    assert plain(tmp_path) == undisturbed


def test_what_others_finish_meanwhile_is_not_done_again(tmp_path, cache):
    plan = make_plan(**PLAN)
    sweep(plan, tmp_path / "other", options=options(cache))
    records = RecordStore(tmp_path / "other").read()
    wanted = plan.batches[-1].keys
    last = [record for record in records if record.key in wanted]
    seen = []

    def progress(step, done, detail=""):
        if step == "training" and not seen:  # the first batch is at work: another sweep writes the last one
            RecordStore(tmp_path / "here").write(last)
        seen.extend([(done, detail)] * (step == "training"))

    swept = sweep(plan, tmp_path / "here", options=options(cache), progress=progress)
    assert (swept.found, swept.made, swept.left) == (len(last), 24 - len(last), 0)
    assert seen[-1] == (1.0, "24 of 24 runs, about 0:00 left")
    assert plain(tmp_path / "here") == plain(tmp_path / "other")


def test_without_a_folder_the_records_are_in_the_result(cache, undisturbed):
    swept = sweep(make_plan(**PLAN), None, options=options(cache))
    assert (swept.made, swept.left) == (24, 0)
    assert plain(swept.records) == undisturbed
    assert sweep(make_plan(**PLAN), None, options=options(cache), time_limit=0).left == 24


def test_the_time_limit_ends_it_and_the_same_command_goes_on(tmp_path, cache, undisturbed):
    plan = make_plan(**PLAN)
    nothing = sweep(plan, tmp_path, options=options(cache), time_limit=0)
    assert (nothing.made, nothing.left) == (0, 24)
    rounds = 0
    while (swept := sweep(plan, tmp_path, options=options(cache), time_limit=0.15)).left:
        rounds += 1
        assert swept.made or rounds > 1 or swept.seconds > 0.15
        assert rounds < 100
    assert plain(tmp_path) == undisturbed


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory, cache):
    """Two sweeps at once in one folder; in another, sweeps that were killed at random moments, and how often."""
    if not hasattr(os, "fork"):
        pytest.skip("these sweeps are forks, and this machine has none")
    folders = {name: str(tmp_path_factory.mktemp(name)) for name in ("together", "killed")}
    order = json.dumps({"plan": PLAN, "cache": str(cache), "seed": 7, "kills": 12, **folders})
    done = subprocess.run(
        [sys.executable, "-W", "error", HERE / "interrupted.py", order], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folders, int(done.stdout)


def test_killed_at_random_moments_it_ends_with_the_records_of_an_undisturbed_one(interrupted, undisturbed):
    folders, kills = interrupted
    assert kills >= 3
    assert plain(folders["killed"]) == undisturbed


def test_two_sweeps_may_write_at_once(interrupted, undisturbed):
    folders, _ = interrupted
    assert plain(folders["together"]) == undisturbed
    assert {path.suffix for path in Path(folders["together"]).iterdir()} == {".jsonl"}


# ---- workers ---------------------------------------------------------------------------------------


def test_two_workers_give_the_records_of_one(tmp_path, cache, undisturbed):
    details = []
    swept = sweep(
        make_plan(**PLAN), tmp_path, options=options(cache), workers=2,
        progress=lambda step, done, detail="": details.append(detail),
    )  # fmt: skip
    assert (swept.made, swept.failures) == (24, ())
    assert plain(tmp_path) == undisturbed
    assert any(detail.count(" on sbm-20") == 2 for detail in details)  # two batches at the same time


def test_workers_train_tasks_that_are_registered_nowhere(tmp_path):
    edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 63)]
    task = own_task(GraphSet.from_edges(edges, y=["ring", "path"] * 30), name="rings")
    with pytest.raises(ValueError, match="There is no task"):
        find_task(task.name)
    runs = (Run({"iterations": 1, "C": 1.0}, 0), Run({"iterations": 2, "C": 1.0}, 0))
    splits = (None, 1, 2)
    plan = SweepPlan(tuple(RunBatch(task, "published", split, "wl-kernel", "robust", runs) for split in splits))
    swept = sweep(plan, tmp_path, options=options(), workers=2)
    assert (swept.made, swept.failures) == (6, ())
    assert [record.data for record in RecordStore(tmp_path).read()] == ["published", "published"] + [
        f"split:{seed}" for seed in (1, 2) for _ in runs
    ]
    assert plain(tmp_path) == plain(sweep(plan, None, options=options()).records)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the test looks for processes in /proc")
def test_workers_die_with_the_process_that_started_them(tmp_path):
    signs = [tmp_path / "first", tmp_path / "second"]
    environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
    started = subprocess.Popen([sys.executable, HERE / "errands.py", *signs], env=environment)
    workers = []
    try:
        assert _wait(lambda: all(sign.exists() and sign.read_text() for sign in signs)), "the workers did not start"
        workers = [int(sign.read_text()) for sign in signs]
        assert all(_alive(worker) for worker in workers)
        started.kill()
        started.wait()
        assert _wait(lambda: not any(_alive(worker) for worker in workers)), "workers outlived their parent"
    finally:
        started.kill()
        for worker in filter(_alive, workers):
            os.kill(worker, signal.SIGKILL)


def _alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_a_worker_that_dies_is_one_sentence():
    with pytest.raises(ChildProcessError, match="A worker process died"):
        list(Processes(1).completed(die, [1, 2], 2, lambda shares: None))


def test_processes_report_shares_and_return_errors():
    reported = []
    results = dict(Processes(2).completed(halve, [2, 3, 4, "x"], 4, reported.append))
    assert {number: results[number] for number in (0, 2)} == {0: 1, 2: 2}
    assert str(results[1]) == "3 is odd"
    assert str(results[3]).startswith("TypeError: ")
    assert any(share == 0.5 for shares in reported for share in shares.values())


def test_a_ray_cluster_of_two_workers_gives_the_same_records(tmp_path, cache, undisturbed, two_workers):
    swept = sweep(make_plan(**PLAN), tmp_path, options=options(cache), cluster="auto")
    assert (swept.made, swept.failures) == (24, ())
    assert plain(tmp_path) == undisturbed


def test_one_batch_that_fails_does_not_take_the_others_with_it(tmp_path, cache, monkeypatch):
    plan = make_plan(**PLAN)
    learner = type(METHODS["gamma-1hot"].learner)
    fit = learner.fit

    def sometimes(self, data, runs, *rest):
        if self.kind == "1hot":
            raise RuntimeError("no\nluck")
        return fit(self, data, runs, *rest)

    monkeypatch.setattr(learner, "fit", sometimes)
    swept = sweep(plan, tmp_path, options=options(cache))
    assert {record.method for record in RecordStore(tmp_path).read()} == {"gamma-gin"}
    assert swept.made == sum(len(batch.runs) for batch in plan.batches if batch.method == "gamma-gin")
    assert swept.left == 24 - swept.made
    assert set(swept.failures) == {
        f"gamma-1hot on sbm-20, seed:{seed}: RuntimeError: no" for seed in (0, 1)
    }  # fmt: skip
    monkeypatch.undo()
    assert sweep(plan, tmp_path, options=options(cache)).left == 0


# ---- graphs ------------------------------------------------------------------------------------------


def test_graphs_in_memory_are_those_of_the_task_and_the_split():
    """Tasks of one name may differ, and a fixed data set has several splits."""
    small, large = (
        size_split(GraphSet.from_networkx([nx.path_graph(n) for n in range(3, stop)], y=[0, 1] * ((stop - 3) // 2)))
        for stop in (43, 63)
    )
    assert small.name == large.name
    for task in (small, large, small):
        for split in (None, 0, 3):
            loaded, drawn = load_splits(task, "published", split, None), task.splits(seed=split)
            assert loaded.validation.equals(drawn.validation)
            assert loaded.train.equals(drawn.train)
    assert load_splits(small, "published", 3, None) is load_splits(small, "published", 3, None)
    first, second = (load_splits(small, "published", split, None).validation for split in (0, 3))
    assert first.sizes.tolist() != second.sizes.tolist()


def test_a_task_of_a_table_without_its_files_is_left_out_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYSIZE_DATA", raising=False)
    plan = make_plan(["table1"], ["random", "majority"], seeds=1, data="0")
    swept = sweep(plan, tmp_path, options=options())
    assert {record.task for record in RecordStore(tmp_path).read()} == {"er-single", "er-multi"}
    assert swept.left == 0
    assert swept.left_out[0].startswith("schizophrenia is left out. The brain networks cannot be downloaded")
    with pytest.raises(ValueError, match="The brain networks cannot be downloaded"):
        sweep(make_plan(["schizophrenia"], ["random"]), tmp_path, options=options())


def test_tables_without_any_files_are_an_error_with_one_reason(tmp_path, monkeypatch):
    def draw(self, data, seed, data_dir):
        raise GraphError(f"{self.name} could not be had")

    monkeypatch.setattr(type(TASKS["NCI1"].source), "draw", draw)
    with pytest.raises(ValueError, match=r"NCI1, NCI109, PROTEINS, DD.*NCI1 could not be had$"):
        sweep(make_plan(["table3"], ["majority"], seeds=1), tmp_path, options=options())


# ---- machines that only train ----------------------------------------------------------------------

MISSING = ("numba", "llvmlite", "sklearn", "rich", "typer", "click", "pandas", "matplotlib", "joblib",
           "torch_geometric", "safetensors", "networkx")  # fmt: skip


def test_from_a_filled_cache_a_sweep_needs_numpy_scipy_and_torch_alone(tmp_path, cache, undisturbed):
    code = (
        f"import sys\nfor name in {MISSING!r}: sys.modules[name] = None\n"
        "from anysize.evaluation.evaluate import EvaluationOptions\n"
        "from anysize.evaluation.sweep import sweep\n"
        "from anysize.paper.plan import make_plan\n"
        f"plan, records = make_plan(**{PLAN!r}), sys.argv[1]\n"
        "for cache in sys.argv[2:]:\n"
        "    options = EvaluationOptions('cpu', cache, curve_points=50, epoch_rules=True)\n"
        "    try: print(sweep(plan, records, options=options).made)\n"
        "    except ImportError as error: print(error)\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, tmp_path / "records", tmp_path / "empty", cache]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    without_counts, made = done.stdout.splitlines()
    assert "numba" in without_counts  # it is really missing
    assert made == "24"
    assert plain(tmp_path / "records") == undisturbed


# ---- the time left ---------------------------------------------------------------------------------


def batch(task, method, runs):
    task = replace(TASKS["sbm-20"], name=task)
    return RunBatch(task, "published", None, method, "paper", tuple(Run({}, seed) for seed in range(runs)))


def test_the_time_left_comes_from_batches_of_the_same_task_and_method():
    now, reported = [0.0], []

    def report(clock):
        clock.report(lambda step, done, detail="": reported.append((step, done * clock.total, detail)))
        return reported[-1]

    batches = [batch("a", "x", 4), batch("b", "x", 2), batch("a", "y", 10), batch("b", "y", 1)]
    clock = Clock(batches, 2, lambda: now[0])
    assert report(clock) == ("training", 0, "0 of 17 runs, time left unknown")
    clock.begin(0, batches[0])
    now[0] = 8.0
    assert report(clock) == ("training", 0, "0 of 17 runs, time left unknown; now x on a")
    clock.update({0: 0.5})  # 16 s for 4 runs: 4 s a run, of everything that is left; (17 - 2) * 4 / 2
    assert report(clock) == ("training", 2, "2 of 17 runs, about 0:30 left; now x on a")
    clock.end(0)  # 8 s for 4 runs: 2 s a run; 13 * 2 / 2
    assert report(clock) == ("training", 4, "4 of 17 runs, about 0:13 left")
    clock.begin(1, batches[2])
    now[0] = 98.0
    clock.end(1)  # 9 s a run of y; (2 * 2 + 1 * 9) / 2 = 6.5
    assert report(clock) == ("training", 14, "14 of 17 runs, about 0:06 left")
    clock.skip(batches[1], 2)
    clock.skip(batches[3], 1)
    assert report(clock) == ("training", 17, "17 of 17 runs, about 0:00 left")


def test_of_many_batches_in_progress_two_are_named():
    batches = [batch(name, "x", 1) for name in "abc"]
    clock, details = Clock(batches, 3), []
    for number, started in enumerate(batches):
        clock.begin(number, started)
    clock.report(lambda step, done, detail="": details.append(detail))
    assert details == ["0 of 3 runs, time left unknown; now x on a, x on b, ..."]


def test_counting_names_the_data_set(tmp_path):
    details = []

    def progress(step, done, detail=""):
        details.append((step, done, detail))

    fill_cache(make_plan(**PLAN), tmp_path, progress=progress)
    assert details == [
        ("counting", 0.0, "0 of 2 data sets; now sbm-20"), ("counting", 0.5, "1 of 2 data sets; now sbm-20"),
        ("counting", 1.0, ""),
    ]  # fmt: skip


def test_what_was_done_as_json():
    fields = SweepResult(30, 10, 15, ("a",), ("b",), 1.23456).fields()
    assert json.loads(json.dumps(fields)) == {
        "planned": 30, "found": 10, "made": 15, "left": 5, "failures": ["a"], "left_out": ["b"], "seconds": 1.235,
    }  # fmt: skip


def test_a_second_cache_is_filled_although_counts_are_in_memory(tmp_path):
    plan = make_plan(["sbm-20"], ["topology-only"], data="7", settings={"k": 3})
    for name in ("first", "second"):
        fill_cache(plan, tmp_path / name)
        assert len(list((tmp_path / name).rglob("*.npz"))) == 3  # train, validation, test
