"""Selection: ties, incomplete configurations, other rules, and a slow obvious version."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from evaluation.helpers import made, seeds, sweep
from hypothesis import given
from hypothesis import strategies as st

from anysize.evaluation.records import Outcome, Scores
from anysize.evaluation.tables import ScoreSummary, Ties
from anysize.methods.catalog import METHODS
from anysize.paper.selection import RULES, Group, grouped, rule_named, select, select_all
from anysize.paper.tables import build_table
from anysize.paper.tasks import TASKS


def test_the_highest_mean_validation_wins():
    records = [
        *seeds([0.9, 1.0], [0.1, 0.2], hidden=1),
        *seeds([1.0, 1.0], [0.5, 0.7], hidden=2),
        *seeds([0.0, 0.9], [1.0, 1.0], hidden=3),
    ]
    chosen = select(records)
    assert chosen.configuration == {"hidden": 2}
    assert chosen.group == Group("sbm-20", "published", "gamma-gin", "paper")
    assert (chosen.configurations, len(chosen.tied), chosen.incomplete) == (3, 1, 0)
    assert chosen.ties() == Ties(1, pytest.approx(0.6), pytest.approx(0.6))
    assert chosen.summary("test") == ScoreSummary(pytest.approx(0.6), pytest.approx(0.1), 2)
    assert [record.seed for record in chosen.records] == [0, 1]


def test_the_deviation_divides_by_the_number_of_seeds():
    assert ScoreSummary.of([0.0, 1.0]).std == 0.5


@pytest.mark.parametrize(
    ("rule", "hidden"), [("paper", 1), ("best-lowest-loss", 3), ("best-lowest-penalty", 2), ("last", 1)]
)
def test_tie_breaks(rule, hidden):
    records = [
        *seeds([1.0, 0.8], [0.5, 0.5], hidden=1, loss=0.3, penalty=3.0),
        *seeds([0.9, 0.9], [0.9, 0.7], hidden=2, loss=0.2, penalty=1.0),
        *seeds([0.8, 1.0], [0.6, 0.6], hidden=3, loss=0.1, penalty=2.0),
        *seeds([0.8, 0.8], [1.0, 1.0], hidden=4, loss=0.0, penalty=0.0),
    ]
    chosen = select(records, RULES[rule])
    assert chosen.configuration == {"hidden": hidden}
    assert chosen.configurations == 4
    assert chosen.ties() == Ties(3, pytest.approx(0.5), pytest.approx(0.8))
    assert chosen.ties("validation") == Ties(3, pytest.approx(0.9), pytest.approx(0.9))


# ---- the order of ties -------------------------------------------------------------------------------


# Values as the appendix prints them; the penalty varies slowest, then layers, width and learning rate, and jumping
# knowledge, off first, fastest.
ENUMERATION = {
    "gamma-gin": [
        {"penalty": penalty, "layers": layers, "hidden": hidden, "lr": lr, "jumping": jumping}
        for penalty in (0.1, 0.15)
        for layers in (1, 2)
        for hidden in (32, 64, 128, 256)
        for lr in (0.01, 0.001)
        for jumping in (False, True)
    ],
    "gin-irm": [
        {"irm": weight, "layers": layers, "hidden": hidden, "lr": lr, "jumping": jumping}
        for weight in (4, 8, 16, 32)
        for layers in (1, 2, 3)
        for hidden in (32, 64, 128, 256)
        for lr in (0.1, 0.01, 0.001)
        for jumping in (False, True)
    ],
    "wl-kernel": [{"iterations": depth, "C": 10.0**power} for depth in (1, 2, 3, 4) for power in range(-3, 4)],
}


@pytest.mark.parametrize("method", ENUMERATION)
def test_ties_are_broken_in_the_order_of_the_authors_enumeration(method):
    runs = [replace(made(method=method, task="sbm-14-20"), configuration=point) for point in ENUMERATION[method]]
    while runs:
        assert select(reversed(runs)).configuration == runs[0].configuration
        runs = runs[len(runs) // 4 + 1 :]


def test_the_largest_learning_rate_comes_first_in_tables_too():
    runs = [made(test=lr, hidden=32, layers=1, lr=lr, jumping=False) for lr in (0.001, 0.01)]
    assert select(runs).configuration["lr"] == 0.01
    (shown,) = [row for row in build_table(2, runs, tasks=["sbm-20"], splits=["test"]).rows if row.ran]
    assert shown.cells[0].summary.mean == 0.01
    assert shown.cells[0].ties == Ties(2, 0.001, 0.01)
    assert next(iter(select_all(runs).values())).configuration["lr"] == 0.01


def test_the_order_of_ties_is_that_of_every_grid():
    for method in METHODS.values():
        for task in TASKS.values():
            points = method.points(task.family, task.name)
            if points:
                runs = [replace(made(method=method.name, task=task.name), configuration=point) for point in points]
                shown = [trial.configuration for trial in select(runs[::-1]).tied]
                assert shown == [run.configuration for run in runs]


def test_values_that_the_grid_lacks_follow_in_ascending_order():
    runs = [made(hidden=h, lr=lr, layers=1, jumping=False) for h in (16, 8, 64) for lr in (0.001, 0.5, 0.01)]
    order = [(trial.configuration["hidden"], trial.configuration["lr"]) for trial in select(runs).tied]
    assert order == [(h, lr) for h in (64, 8, 16) for lr in (0.01, 0.001, 0.5)]


def test_without_a_grid_values_are_ascending():
    tied = [
        replace(made(method="mine"), configuration={"a": a, "b": b}) for a in (10, 9) for b in (True, None, "x", 0.5)
    ]
    order = [tuple(trial.configuration.values()) for trial in select(tied).tied]
    assert order == [(a, b) for a in (9, 10) for b in (None, True, 0.5, "x")]


def test_the_rule_of_the_paper_is_the_epoch_that_the_papers_recipe_keeps():
    """The first of the epochs with the best validation score, whatever the loss says later."""
    recipe = METHODS["gamma-gin"].recipe("paper", "sbm")
    assert (recipe.epoch, recipe.tie_break) == ("best", "first")
    later = Outcome(Scores(1.0, 1.0, 0.9), Scores(validation=0.1), epoch=400)
    run = replace(made(1.0, 0.3), alternatives={"best-lowest-loss": later})
    for rule, test in {"paper": 0.3, "first-best": 0.3, "best-lowest-loss": 0.9}.items():
        assert select([run], RULES[rule]).summary("test").mean == test
    assert RULES["paper"].tie == "first"


def test_configurations_are_selected_by_the_score_that_the_method_asks_for():
    def run(C, mcc, accuracy):
        record = made(mcc, test=C / 1000, task="NCI1", method="gc-kernel", C=C)
        return replace(record, chosen=replace(record.chosen, selected_by=accuracy), alternatives={}, epochs=None)

    chosen = select([run(1, 0.5, 0.6), run(10, 0.4, 0.7), run(100, 0.3, 0.7)])
    assert (chosen.configuration, len(chosen.tied)) == ({"C": 10}, 2)
    assert chosen.summary("validation").mean == 0.4  # shown in the metric of the task


def test_unknown_losses_come_last_among_equals():
    records = [made(hidden=1), made(hidden=2, loss=5.0)]
    assert select(records, RULES["best-lowest-loss"]).configuration == {"hidden": 2}


def test_incomplete_configurations_are_no_candidates():
    records = [*seeds([0.7] * 3, [0.5] * 3, hidden=1), *seeds([1.0] * 2, [0.9] * 2, hidden=2), made(hidden=3)]
    chosen = select(records)
    assert chosen.configuration == {"hidden": 1}
    assert (chosen.configurations, chosen.incomplete) == (1, 2)


def test_a_run_given_twice_counts_once():
    records = [*seeds([0.7] * 2, [0.5] * 2, hidden=1), made(hidden=2), made(hidden=2)]
    assert select(records).incomplete == 1
    assert select(records).summary("test").count == 2


def test_missing_validation_scores():
    without = seeds([None] * 2, [0.5, 0.7], hidden=1)
    assert select(without).summary("validation") is None
    assert select(without).summary("test").mean == pytest.approx(0.6)
    mixed = [*without, *seeds([0.1] * 2, [0.2] * 2, hidden=2)]
    assert select(mixed).configuration == {"hidden": 2}
    assert select(mixed).incomplete == 1
    all_without = [*without, *seeds([None] * 2, [0.9] * 2, hidden=2)]
    assert select(all_without).ties() == Ties(2, pytest.approx(0.6), pytest.approx(0.9))


def test_rounding_does_not_break_ties():
    records = [*seeds([0.1, 0.2, 0.3], [0.5] * 3, hidden=2), *seeds([0.3, 0.2, 0.1], [0.4] * 3, hidden=1)]
    assert len(select(records).tied) == 2
    single = [np.float32(value) for value in (0.95, 0.9, 0.85)]  # the sum is that of three times 0.9, but for rounding
    assert sum(map(float, single)) != 3 * float(np.float32(0.9))
    records = [*seeds(single, [0.5] * 3, hidden=2), *seeds([np.float32(0.9)] * 3, [0.4] * 3, hidden=1)]
    assert len(select(records).tied) == 2


def test_last_takes_the_last_epoch_and_the_oracle_looks_at_the_test_scores():
    def run(hidden, chosen, last):
        record = made(*chosen, hidden=hidden, seed=0)
        return replace(record, alternatives={"last": Outcome(Scores(1.0, *last), epoch=500)})

    records = [run(1, (1.0, 0.1), (0.5, 0.9)), run(2, (0.6, 0.7), (0.8, 0.3))]
    last, oracle = select(records, RULES["last"]), select(records, RULES["oracle"])
    assert (last.configuration, last.summary("test").mean) == ({"hidden": 2}, 0.3)
    assert (oracle.configuration, oracle.summary("test").mean) == ({"hidden": 2}, 0.7)
    assert select(records).summary("test").mean == 0.1
    assert [name for name, rule in RULES.items() if rule.uses_test_scores] == ["oracle"]
    assert "ORACLE" in RULES["oracle"].description


def test_a_group_that_lacks_the_epoch_of_a_rule_is_shown_at_the_chosen_one():
    def run(hidden, seed, lowest):
        other = {"lowest-loss": Outcome(Scores(1.0, 1.0, 0.3), epoch=7)} if lowest else {}
        return replace(made(1.0, 0.8, hidden=hidden, seed=seed), alternatives=other)

    kept = [run(hidden, seed, True) for hidden in (1, 2) for seed in (0, 1)]
    full = select(kept, RULES["lowest-loss"])
    assert (full.summary("test").mean, full.fallback) == (pytest.approx(0.3), False)
    mixed = select([*kept, run(3, 0, False), run(3, 1, False)], RULES["lowest-loss"])
    assert (mixed.summary("test").mean, mixed.fallback, mixed.incomplete) == (pytest.approx(0.3), False, 1)
    without = select([run(3, seed, False) for seed in (0, 1)], RULES["lowest-loss"])
    assert (without.summary("test").mean, without.fallback) == (pytest.approx(0.8), True)
    robust = select([replace(one, recipe="robust") for one in kept])
    assert (robust.summary("test").mean, robust.fallback) == (pytest.approx(0.8), False)


def test_the_oracle_is_never_worse_than_the_others_on_what_they_share():
    kernel = [replace(record, epochs=None) for record in sweep(configurations=12)]
    for runs in grouped(kernel).values():
        tests = {name: select(runs, rule).summary("test").mean for name, rule in RULES.items()}
        assert tests["oracle"] == max(tests.values())


def test_groups_are_told_apart():
    records = sweep(data=("published", "seed:3"))
    assert len(select_all(records)) == 8
    with pytest.raises(ValueError, match="got 8 groups"):
        select(records)
    with pytest.raises(ValueError, match="got 0"):
        select([])
    with pytest.raises(ValueError, match="best-lowest-penalty, last, oracle; got 'best'"):
        rule_named("best")


runs = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)),
    min_size=1, max_size=30, unique_by=lambda run: run[:2],
)  # fmt: skip


@given(runs, st.sampled_from(["paper", "best-lowest-loss", "best-lowest-penalty"]), st.randoms(use_true_random=False))
def test_selection_equals_the_obvious_version(drawn, rule, rng: random.Random):
    records = [
        made(validation / 4, test / 4, hidden=hidden, seed=seed, loss=loss, penalty=3 - loss)
        for hidden, seed, validation, test, loss in drawn
    ]
    rng.shuffle(records)
    chosen = select(records, RULES[rule])
    table: dict[int, list[tuple[int, ...]]] = {}
    for hidden, *rest in sorted(drawn):
        table.setdefault(hidden, []).append(tuple(rest))
    most = max(map(len, table.values()))
    full = {hidden: own for hidden, own in table.items() if len(own) == most}
    total = {hidden: sum(run[1] for run in own) for hidden, own in full.items()}
    tied = [hidden for hidden in full if total[hidden] == max(total.values())]
    value = {
        "paper": lambda own: 0,
        "best-lowest-loss": lambda own: sum(r[3] for r in own),
        "best-lowest-penalty": lambda own: -sum(r[3] for r in own),
    }
    expected = min(tied, key=lambda hidden: (value[rule](full[hidden]), hidden))
    assert chosen.configuration == {"hidden": expected}
    assert chosen.incomplete == len(table) - len(full)
    means = [sum(run[2] for run in full[hidden]) / 4 / most for hidden in tied]
    assert chosen.ties() == Ties(len(tied), pytest.approx(min(means)), pytest.approx(max(means)))


def test_the_order_of_records_does_not_matter():
    records = sweep(("sbm-20",), ("gin-sum",), configurations=3, runs=2)
    choices = {str(select(order).configuration) for order in itertools.permutations(records)}
    assert len(choices) == 1
