"""Sweeps: plans, resuming, kill -9, workers, clusters, machines that only train."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from evaluation.errands import die, halve

from anysize import GraphError
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import Clock, SweepProgress, SweepResult, fill_cache, main, sweep
from anysize.evaluation.workers import Processes
from anysize.methods.catalog import METHODS
from anysize.methods.method import Run
from anysize.paper.plan import MAIN_METHODS, RunBatch, make_plan, method_groups
from anysize.paper.tasks import TASKS

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


def plain(folder):
    """The records of a folder without what differs between two runs of the same thing."""
    return [replace(record, seconds=None, when="") for record in RecordStore(folder).read()]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    fill_cache(make_plan(**PLAN), folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, cache):
    """What a sweep gives that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    swept = sweep(make_plan(**PLAN), folder, device="cpu", cache=cache)
    assert (swept.planned, swept.made, swept.found, swept.left) == (24, 24, 0, 0)
    return plain(folder)


# ---- plans -----------------------------------------------------------------------------------------


def test_a_plan_is_the_product_of_everything_once():
    plan = make_plan(["table2"], ["gamma-gin", "gin-irm", "wl-kernel"], grid="paper", seeds=3, data="fresh:2", stack=20)
    runs = Counter((batch.task, batch.data, batch.method) for batch in plan.batches for _ in batch.runs)
    expected = {
        (task, f"seed:{seed}", method): len(METHODS[method].points("sbm")) * (1 if method == "wl-kernel" else 3)
        for task in ("sbm-20", "sbm-14-20", "sbm-20-30")
        for seed in (0, 1)
        for method in ("gamma-gin", "gin-irm", "wl-kernel")
        if (task, method) != ("sbm-20", "gin-irm")
    }
    assert runs == expected
    keys = [key for batch in plan.batches for key in batch.keys]
    assert len(set(keys)) == len(keys) == plan.runs
    assert plan.left_out == (
        "gin-irm on sbm-20: NA. It compares training environments, and all training graphs of sbm-20 come from one.",
    )
    assert plan.optional == {"sbm-20", "sbm-14-20", "sbm-20-30"}


def test_batches_hold_whole_configurations_of_one_shape_and_come_in_rounds():
    plan = make_plan(["sbm-20", "er-multi"], ["gamma-gin", "gcn-sum"], grid="paper", seeds=4, stack=10)
    for batch in plan.batches:
        assert len(batch.runs) <= 10
        seeds: dict[str, list[int]] = {}
        for run in batch.runs:
            seeds.setdefault(json.dumps(run.configuration), []).append(run.seed)
        assert all(own == [0, 1, 2, 3] for own in seeds.values())
        assert len({(run.configuration["hidden"], run.configuration["layers"]) for run in batch.runs}) == 1
    seen: Counter[tuple[str, str]] = Counter()
    cells = Counter((batch.task, batch.method) for batch in plan.batches)
    for batch in plan.batches:  # nobody gets an extra batch before everybody who has more has got as many
        behind = [cell for cell in cells if seen[cell] < seen[batch.task, batch.method] and seen[cell] < cells[cell]]
        assert behind == []
        seen[batch.task, batch.method] += 1


def test_a_round_has_all_seeds_of_its_configurations():
    plan = make_plan(["sbm-20"], ["gamma-rpgin", "gin-sum"], grid="paper", seeds=3, stack=8)
    names = [batch.method for batch in plan.batches]
    assert names[:5] == ["gamma-rpgin"] * 3 + ["gin-sum", "gamma-rpgin"]  # a stack of gamma-rpgin has one seed
    seeds = [[run.seed for run in batch.runs] for batch in plan.batches[:3]]
    assert [set(own) for own in seeds] == [{0}, {1}, {2}]
    first, second, third = ([run.configuration for run in batch.runs] for batch in plan.batches[:3])
    assert first == second == third


def test_more_seeds_than_a_stack_holds_are_divided():
    plan = make_plan(["sbm-20"], ["gamma-gin"], grid="one", seeds=10, stack=4)
    assert [len(batch.runs) for batch in plan.batches] == [4, 3, 3]
    assert sorted(run.seed for batch in plan.batches for run in batch.runs) == list(range(10))


def test_stacks_are_larger_on_a_gpu():
    sizes = {
        device: max(len(batch.runs) for batch in make_plan(["sbm-20"], ["gamma"], grid="paper", device=device).batches)
        for device in ("cpu", "cuda")
    }
    assert sizes == {"cpu": 10, "cuda": 80}  # of one shape: 2 rates, 2 penalties, 2 ways to read, 10 seeds


def test_the_quick_grid_is_for_main_methods_and_the_robust_recipe_has_one_configuration():
    quick = make_plan(["table1", "table2"], seeds=1)
    assert {batch.method for batch in quick.batches} == set(MAIN_METHODS)
    assert {batch.task for batch in quick.batches} == {
        "schizophrenia", "er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30",
    }  # fmt: skip
    per_method = Counter(batch.method for batch in quick.batches for _ in batch.runs if batch.task == "sbm-20")
    assert per_method["gamma-gin"] == per_method["gamma-rpgin"] == 1
    assert per_method["gin-sum"] == 2
    robust = make_plan(["sbm-20"], recipe="robust", seeds=1)
    comparing = {"pna-irm", "gcn-irm", "gin-irm", "gin-vrex"}  # and all graphs of this task have one size
    assert {batch.method for batch in robust.batches} == set(METHODS) - comparing
    counts = Counter(batch.method for batch in robust.batches for _ in batch.runs)
    assert counts["gamma-gin"] == counts["pna-sum"] == 1
    assert counts["wl-kernel"] == 28  # kernels are always chosen by validation


def test_settings_go_where_they_apply_and_collapse_the_grid():
    plan = make_plan(["sbm-20"], ["gamma-1hot", "wl-kernel"], grid="paper", seeds=1, settings={"hidden": 16})
    hidden = [run.configuration.get("hidden") for batch in plan.batches for run in batch.runs]
    assert Counter(hidden) == {16: 2, None: 28}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"targets": []}, "at least one task"),
        ({"targets": ["table4"]}, "table1, table2 or table3"),
        ({"targets": ["sbm20"]}, "did you mean sbm-20"),
        ({"methods": ["gama"]}, "There is no method 'gama'"),
        ({"methods": []}, "at least one method"),
        ({"grid": "full"}, "grid must be one of quick, paper, one"),
        ({"recipe": "best"}, "recipe must be one of"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1"),
        ({"stack": 0}, "stack must be"),
        ({"data": "fresh"}, "'fresh:10'"),
        ({"data": "fresh:0"}, "'fresh:10'"),
        ({"data": "new"}, "'fresh:10'"),
        ({"targets": ["NCI1"], "data": "3"}, "NCI1 has one data set"),
        ({"targets": ["sbm-color"]}, "sbm-color has no published data"),
        ({"settings": {"hiden": 3}}, "hiden cannot be set for any of gamma-gin"),
        ({"settings": {"hidden": -1}}, "hidden must be"),
        ({"targets": ["er-single"], "methods": ["gin-irm"]}, "Nothing is left to run. gin-irm on er-single: NA"),
    ],
)
def test_plans_that_make_no_sense_are_refused(arguments, sentence):
    given = {"targets": ["sbm-20"], "methods": ["gamma-gin"]} | arguments
    with pytest.raises(ValueError, match=sentence):
        make_plan(**given)


def test_of_a_table_only_tasks_that_have_such_data_are_planned():
    plan = make_plan(["table3", "sbm-color"], ["random"], data="fresh:2", seeds=1)
    assert {batch.task for batch in plan.batches} == {"sbm-color"}
    assert len(plan.left_out) == 4
    assert plan.optional == {"NCI1", "NCI109", "PROTEINS", "DD"}


# ---- resuming --------------------------------------------------------------------------------------


def test_finished_runs_are_skipped_and_a_larger_plan_adds_to_them(tmp_path, cache, undisturbed):
    part = make_plan(**(PLAN | {"methods": ["gamma-gin"], "data": "0"}))
    assert sweep(part, tmp_path, device="cpu", cache=cache).made == 8
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = sweep(part, tmp_path, device="cpu", cache=cache)
    assert (again.found, again.made, again.left) == (8, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files
    whole = sweep(make_plan(**PLAN), tmp_path, device="cpu", cache=cache)
    assert (whole.found, whole.made, whole.left) == (8, 16, 0)
    assert plain(tmp_path) == undisturbed


def test_what_others_finish_meanwhile_is_not_done_again(tmp_path, cache):
    plan = make_plan(**PLAN)
    sweep(plan, tmp_path / "other", device="cpu", cache=cache)
    records = RecordStore(tmp_path / "other").read()
    wanted = plan.batches[-1].keys
    last = [record for record in records if record.key in wanted]
    seen = []

    def show(progress):
        if progress.step == "training" and not seen:  # the first batch is at work: somebody writes the last one
            RecordStore(tmp_path / "own").write(last)
        seen.extend([progress] * (progress.step == "training"))

    swept = sweep(plan, tmp_path / "own", device="cpu", cache=cache, show=show)
    assert (swept.found, swept.made, swept.left) == (len(last), 24 - len(last), 0)
    assert seen[-1].done == seen[-1].total == 24
    assert plain(tmp_path / "own") == plain(tmp_path / "other")


def test_the_time_limit_ends_it_and_the_same_command_goes_on(tmp_path, cache, undisturbed):
    plan = make_plan(**PLAN)
    nothing = sweep(plan, tmp_path, device="cpu", cache=cache, time_limit=0)
    assert (nothing.made, nothing.left) == (0, 24)
    rounds = 0
    while (swept := sweep(plan, tmp_path, device="cpu", cache=cache, time_limit=0.15)).left:
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
    seen = []
    swept = sweep(make_plan(**PLAN), tmp_path, device="cpu", cache=cache, workers=2, show=seen.append)
    assert (swept.made, swept.failures) == (24, ())
    assert plain(tmp_path) == undisturbed
    assert any(len(progress.current) == 2 for progress in seen)  # two batches at the same time


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
    told = []
    found = dict(Processes(2).completed(halve, [2, 3, 4, "x"], 4, told.append))
    assert {number: found[number] for number in (0, 2)} == {0: 1, 2: 2}
    assert str(found[1]) == "3 is odd"
    assert str(found[3]).startswith("TypeError: ")
    assert any(share == 0.5 for shares in told for share in shares.values())


def test_a_ray_cluster_of_two_workers_gives_the_same_records(tmp_path, cache, undisturbed, two_workers):
    swept = sweep(make_plan(**PLAN), tmp_path, device="cpu", cache=cache, cluster="auto")
    assert (swept.made, swept.failures) == (24, ())
    assert plain(tmp_path) == undisturbed


def test_one_batch_that_fails_does_not_take_the_others_with_it(tmp_path, cache, monkeypatch):
    plan = make_plan(**PLAN)
    learner = type(METHODS["gamma-1hot"].learner)
    fit = learner.fit

    def sometimes(self, problem, runs, *rest):
        if self.kind == "1hot":
            raise RuntimeError("no\nluck")
        return fit(self, problem, runs, *rest)

    monkeypatch.setattr(learner, "fit", sometimes)
    swept = sweep(plan, tmp_path, device="cpu", cache=cache)
    assert {record.method for record in RecordStore(tmp_path).read()} == {"gamma-gin"}
    assert swept.made == sum(len(batch.runs) for batch in plan.batches if batch.method == "gamma-gin")
    assert swept.left == 24 - swept.made
    assert set(swept.failures) == {
        f"gamma-1hot on sbm-20, seed:{seed}: RuntimeError: no" for seed in (0, 1)
    }  # fmt: skip
    monkeypatch.undo()
    assert sweep(plan, tmp_path, device="cpu", cache=cache).left == 0


# ---- graphs that cannot be had ---------------------------------------------------------------------


def test_a_task_of_a_table_without_its_files_is_left_out_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYSIZE_DATA", raising=False)
    plan = make_plan(["table1"], ["random", "majority"], seeds=1, data="0")
    swept = sweep(plan, tmp_path, device="cpu")
    assert {record.task for record in RecordStore(tmp_path).read()} == {"er-single", "er-multi"}
    assert swept.left == 0
    assert swept.left_out[0].startswith("schizophrenia is left out. The brain networks cannot be downloaded")
    with pytest.raises(ValueError, match="The brain networks cannot be downloaded"):
        sweep(make_plan(["schizophrenia"], ["random"]), tmp_path, device="cpu")


def test_tables_without_any_files_are_an_error_with_one_reason(tmp_path, monkeypatch):
    def draw(self, data, seed, data_dir):
        raise GraphError(f"{self.name} could not be had")

    monkeypatch.setattr(type(TASKS["NCI1"].source), "draw", draw)
    with pytest.raises(ValueError, match=r"NCI1, NCI109, PROTEINS, DD.*NCI1 could not be had$"):
        sweep(make_plan(["table3"], ["majority"], seeds=1), tmp_path, device="cpu")


# ---- machines that only train ----------------------------------------------------------------------

MISSING = ("numba", "llvmlite", "sklearn", "rich", "typer", "click", "pandas", "matplotlib", "joblib",
           "torch_geometric", "safetensors", "networkx")  # fmt: skip


def test_from_a_filled_cache_a_sweep_needs_numpy_scipy_and_torch_alone(tmp_path, cache, undisturbed):
    plan = ["sbm-20", "--methods", "gamma-1hot,gamma-gin", "--grid", "paper", "--seeds", "2", "--data", "fresh:2"]
    plan += [word for name, value in PLAN["settings"].items() for word in ("--set", f"{name}={value}")]
    plan += ["--stack", "3"]
    plan += ["--device", "cpu", "--records", str(tmp_path / "records"), "--cache"]
    code = (
        f"import sys\nfor name in {MISSING!r}: sys.modules[name] = None\n"
        "from anysize.evaluation.sweep import main\n"
        f"print([main([*{plan!r}, cache]) for cache in sys.argv[1:]])\n"
    )
    given = [sys.executable, "-W", "error", "-c", code, tmp_path / "empty", cache]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Error: ")  # from the empty cache: numba is really missing there
    assert "numba" in done.stderr
    assert "24 runs: 24 trained in " in done.stdout
    assert done.stdout.endswith("[1, 0]\n")
    assert plain(tmp_path / "records") == undisturbed


def test_the_module_has_a_command_of_its_own(tmp_path, capsys):
    given = ["er-single", "--methods", "random,majority", "--seeds", "2", "--data", "0", "--records", str(tmp_path)]
    assert main(given) == 0
    assert capsys.readouterr().out.startswith("3 runs: 3 trained in ")
    assert main([*given, "--time-limit", "0", "--records", str(tmp_path / "new")]) == 0
    assert "3 runs left" in capsys.readouterr().out
    assert main(["er-single", "--methods", "none"]) == 1
    assert capsys.readouterr().err.startswith("Error: There is no method 'none'")
    assert main(["er-single", "--count-only"]) == 1
    assert "--cache" in capsys.readouterr().err
    assert main([*given, "--methods", "topology-only", "--count-only", "--cache", str(tmp_path / "cache")]) == 0
    assert len(list((tmp_path / "cache").rglob("*.npz"))) == 3


# ---- the time left ---------------------------------------------------------------------------------


def batch(task, method, runs):
    return RunBatch(task, "published", method, "paper", tuple(Run({}, seed) for seed in range(runs)))


def test_the_time_left_comes_from_batches_of_the_same_task_and_method():
    now = [0.0]
    batches = [batch("a", "x", 4), batch("b", "x", 2), batch("a", "y", 10), batch("b", "y", 1)]
    clock = Clock(batches, 2, lambda: now[0])
    assert clock.progress() == SweepProgress("training", 0, 17, None, ())
    clock.begin(0, batches[0])
    now[0] = 8.0
    assert clock.progress().seconds_left is None
    clock.update({0: 0.5})  # 16 s for 4 runs: 4 s a run, of everything that is left
    assert clock.progress() == SweepProgress("training", 2, 17, (17 - 2) * 4 / 2, ("x on a",))
    clock.end(0)  # 8 s for 4 runs: 2 s a run
    assert clock.progress() == SweepProgress("training", 4, 17, 13 * 2 / 2, ())
    clock.begin(1, batches[2])
    now[0] = 58.0
    clock.end(1)  # 5 s a run of y
    assert clock.progress().seconds_left == (2 * 2 + 1 * 5) / 2
    clock.skip(batches[1], 2)
    clock.skip(batches[3], 1)
    assert clock.progress() == SweepProgress("training", 17, 17, 0.0, ())


def test_progress_is_a_sentence():
    progress = SweepProgress("counting", 1, 3, None, ("sbm-20", "er-single", "NCI1"))
    assert str(progress) == "1 of 3 data sets, time left unknown; now sbm-20, er-single, ..."


def test_what_was_done_as_json():
    fields = SweepResult(30, 10, 15, ("a",), ("b",), 1.23456).fields()
    assert json.loads(json.dumps(fields)) == {
        "planned": 30, "found": 10, "made": 15, "left": 5, "failures": ["a"], "left_out": ["b"], "seconds": 1.235,
    }  # fmt: skip


def test_groups_name_methods_and_main_ones_run_everywhere():
    assert all(name in METHODS for names in method_groups().values() for name in names)
    assert not any(METHODS[name].compares(METHODS[name].default("paper")) for name in MAIN_METHODS)
    assert set(TASKS) >= {"er-single", "sbm-20"}
