"""Plans of sweeps: what they hold, in which batches and order, and what is refused."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from anysize.methods.catalog import METHODS
from anysize.paper.plan import MAIN_METHODS, make_plan, method_groups, parse_data_sets
from anysize.paper.tasks import TASKS


def test_a_plan_is_the_product_of_everything_once():
    plan = make_plan(["table2"], ["gamma-gin", "gin-irm", "wl-kernel"], grid="paper", seeds=3, data="fresh:2", stack=20)
    runs = Counter((batch.task.name, batch.data, batch.method) for batch in plan.batches for _ in batch.runs)
    expected = {
        (task, seed, method): len(METHODS[method].points("sbm")) * (1 if method == "wl-kernel" else 3)
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
        assert all(seeds_of_one == [0, 1, 2, 3] for seeds_of_one in seeds.values())
        assert len({(run.configuration["hidden"], run.configuration["layers"]) for run in batch.runs}) == 1
    seen: Counter[tuple[str, str]] = Counter()
    cells = Counter((batch.task.name, batch.method) for batch in plan.batches)
    for batch in plan.batches:  # nobody gets an extra batch before everybody who has more has got as many
        behind = [
            cell for cell in cells if seen[cell] < seen[batch.task.name, batch.method] and seen[cell] < cells[cell]
        ]
        assert behind == []
        seen[batch.task.name, batch.method] += 1


def test_a_round_has_all_seeds_of_its_configurations():
    plan = make_plan(["sbm-20"], ["gamma-rpgin", "gin-sum"], grid="paper", seeds=3, stack=8)
    names = [batch.method for batch in plan.batches]
    assert names[:5] == ["gamma-rpgin"] * 3 + ["gin-sum", "gamma-rpgin"]  # a stack of gamma-rpgin has one seed
    seeds = [[run.seed for run in batch.runs] for batch in plan.batches[:3]]
    assert [set(of_batch) for of_batch in seeds] == [{0}, {1}, {2}]
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
    assert {batch.task.name for batch in quick.batches} == {
        "schizophrenia", "er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30",
    }  # fmt: skip
    per_method = Counter(batch.method for batch in quick.batches for _ in batch.runs if batch.task.name == "sbm-20")
    assert per_method["gamma-gin"] == per_method["gamma-rpgin"] == 1
    assert per_method["gin-sum"] == 2
    robust = make_plan(["sbm-20"], recipe="robust", seeds=1)
    comparing = {"pna-irm", "gcn-irm", "gin-irm", "gin-vrex"}  # and all graphs of this task have one size
    classifying = {name for name, method in METHODS.items() if "classes" in method.predicts}
    assert {batch.method for batch in robust.batches} == classifying - comparing
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
    assert {batch.task.name for batch in plan.batches} == {"sbm-color"}
    assert len(plan.left_out) == 4
    assert plan.optional == {"NCI1", "NCI109", "PROTEINS", "DD"}


def test_groups_name_methods_and_main_ones_run_everywhere():
    assert all(name in METHODS for names in method_groups().values() for name in names)
    assert not any(METHODS[name].compares_environments(METHODS[name].default("paper")) for name in MAIN_METHODS)
    assert set(TASKS) >= {"er-single", "sbm-20"}


def test_ten_splits_of_a_fixed_data_set_are_planned_like_ten_data_sets():
    plan = make_plan(["NCI1", "DD"], ["gc-kernel"], grid="paper", data="splits:10")
    assert [(batch.task.name, batch.data, batch.split) for batch in plan.batches] == [
        (task, "published", split) for split in range(10) for task in ("NCI1", "DD")
    ]
    assert plan.runs == 2 * 10 * 7
    assert len({key for batch in plan.batches for key in batch.keys}) == plan.runs
    usual = make_plan(["NCI1"], ["gc-kernel"], grid="paper")
    assert [batch.split for batch in usual.batches] == [None]
    assert not set(usual.batches[0].keys) & {key for batch in plan.batches for key in batch.keys}


@pytest.mark.parametrize("data", ["splits:0", "splits:", "splits:x", "fresh:-1", "seed:3", "x"])
def test_other_words_are_refused(data):
    with pytest.raises(ValueError, match=r"--data takes 'published', a seed, 'fresh:10'.*'splits:10'"):
        parse_data_sets(data)
