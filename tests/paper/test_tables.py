"""Tables from records: what stands in each cell, which rows there are, what the foot says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluation.helpers import made, seeds, sweep

from anysize._errors import RecordWarning
from anysize.evaluation.intervals import interval
from anysize.evaluation.records import Outcome, Scores, decode
from anysize.evaluation.render import own_text
from anysize.evaluation.tables import FALLBACK_MARK, Cell, Column, Row, ScoreSummary, Table, Ties, format_score
from anysize.methods.catalog import METHODS
from anysize.paper.layout import TABLES
from anysize.paper.published import published
from anysize.paper.tables import best_places, build_table, lead_notes, paper_grid_size, rows_that_ran
from anysize.paper.tasks import TASKS

ROWS = [
    "PNA", "PNA (mean)", "PNA (max)", "PNA + IRM", "GCN", "GCN (mean)", "GCN (max)", "GCN + IRM",
    "GIN", "GIN (mean)", "GIN (max)", "GIN + IRM", "RPGIN", "WL, padded", "GC kernel", "Γ 1-hot", "Γ GIN", "Γ RPGIN",
]  # fmt: skip


def cell(table, label, task, split="test", data="published"):
    (row,) = [row for row in table.rows if row.label == label]
    (place,) = [
        place
        for place, column in enumerate(table.columns)
        if (column.task, column.split, column.data) == (task, split, data)
    ]
    return row.cells[place]


def note(table, start):
    (found,) = [note for note in table.notes if note.startswith(start)]
    return found


# ---- nothing run -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 3])
def test_without_records_the_published_numbers_stand_alone(number):
    table = build_table(number, [])
    assert [row.label for row in table.rows] == ROWS + ["random"] * (number == 3)
    assert len(table.columns) == {1: 9, 2: 9, 3: 4}[number]
    for row in table.rows:
        for own, column in zip(row.cells, table.columns, strict=True):
            beside = published(column.task, row.method, column.split)
            assert own == Cell("not run" if beside.applies else "NA", published=beside)
            assert own.difference is None
    assert any(note.startswith("NA:") for note in table.notes) == (number != 3)


def test_other_numbers_and_words_are_refused():
    with pytest.raises(ValueError, match="got 4"):
        build_table(4, [])
    with pytest.raises(ValueError, match="rule must be one of"):
        build_table(1, [], rule="best")
    with pytest.raises(ValueError, match="all, published, fresh, splits"):
        build_table(1, [], data="new")
    with pytest.raises(ValueError, match="got 'val'"):
        build_table(1, [], splits=["val"])


# ---- cells -----------------------------------------------------------------------------------------


def test_a_cell_has_mean_deviation_and_the_published_number():
    table = build_table(2, seeds([1.0, 0.9], [0.8, 1.0]))
    own = cell(table, "Γ GIN", "sbm-20")
    assert (own.status, own.summary.count, own.best) == ("run", 2, True)
    assert (own.summary.mean, own.summary.std) == pytest.approx((0.9, 0.1))
    assert own.published == published("sbm-20", "gamma-gin")
    assert own.difference == pytest.approx(0.9 - 0.98)
    assert own.interval is None
    assert cell(table, "Γ GIN", "sbm-20", "validation").summary.mean == pytest.approx(0.95)
    assert cell(table, "Γ GIN", "sbm-20", "train").summary.mean == 1.0
    assert cell(table, "Γ GIN", "sbm-14-20").status == "not run"


def test_irm_is_run_where_somebody_ran_it_and_na_elsewhere():
    table = build_table(2, [made(method="gin-irm")])
    own = cell(table, "GIN + IRM", "sbm-20")
    assert own.status == "run"
    assert not own.published.applies
    assert own.difference is None
    assert cell(table, "PNA + IRM", "sbm-20").status == "NA"
    assert cell(table, "PNA + IRM", "sbm-14-20").status == "not run"


def test_a_score_that_was_not_kept_is_unknown():
    table = build_table(2, [made(train=None), replace(made(seed=1, train=0.5))])
    assert cell(table, "Γ GIN", "sbm-20", "train") == Cell(
        "unknown", published=published("sbm-20", "gamma-gin", "train")
    )
    assert cell(table, "Γ GIN", "sbm-20").status == "run"
    last = build_table(2, [made()], rule="last")
    assert cell(last, "Γ GIN", "sbm-20").fallback
    assert own_text(cell(last, "Γ GIN", "sbm-20")).endswith(FALLBACK_MARK)
    assert note(last, f"{FALLBACK_MARK}:")
    assert not cell(build_table(2, [made()], rule="first-best"), "Γ GIN", "sbm-20").fallback


def test_the_foot_names_rows_that_were_trained_with_patience():
    table = build_table(2, [made(patience=100), made(method="gin-sum"), made(recipe="robust", patience=60)])
    assert "patience, which the paper does not use: Γ GIN (100 epochs)" in note(table, "SBM, 20 → 40:")


def test_records_of_other_tables_do_not_matter():
    records = sweep(("sbm-20", "er-single", "NCI1", "somewhere"))
    only = [record for record in records if record.task == "sbm-20"]
    assert build_table(2, records) == build_table(2, only)


# ---- the best --------------------------------------------------------------------------------------


def test_the_best_are_bold_as_printed_and_checks_do_not_compete():
    scores = {"gin-sum": 0.904, "gcn-sum": 0.896, "pna-sum": 0.89, "topology-only": 1.0}
    table = build_table(2, [made(test=score, method=method) for method, score in scores.items()])
    bold = {row.label for row in table.rows if any(own.best for own in row.cells)}
    assert bold == {"GIN", "GCN"}
    assert [row.label for row in table.rows if row.is_baseline] == ["topology only"]
    assert not any(own.best for row in table.rows for own, at in zip(row.cells, table.columns, strict=True)
                   if at.split != "test")  # fmt: skip


def test_the_top_four_are_bold_in_table_3():
    names = list(METHODS)[:6]
    scores = [0.1, 0.3, 0.204, 0.4, 0.2, 0.5]
    table = build_table(
        3, [made(test=score, task="DD", method=name) for name, score in zip(names, scores, strict=True)]
    )
    bold = [row.method for row in table.rows if cell(table, row.label, "DD").best]
    assert bold == names[1:]  # .204 and .2 are printed alike


def test_best_places():
    assert best_places([], 1) == set()
    assert best_places([None, None], 4) == set()
    assert best_places([-0.2, -0.1], 1) == {1}
    assert best_places([0.1, 0.2], 4) == {0, 1}


# ---- rows and columns that the paper lacks ---------------------------------------------------------


def test_recipes_checks_and_unknown_methods_get_rows():
    records = [
        made(recipe="robust"), made(method="gamma-rpgin", recipe="robust"), made(method="mine"),
        made(method="majority", recipe="none"), made(method="size-only", recipe="paper"),
    ]  # fmt: skip
    table = build_table(2, records)
    labels = [row.label for row in table.rows]
    assert labels == [
        *ROWS[:-1],
        "Γ GIN, robust",
        "Γ RPGIN",
        "Γ RPGIN, robust",
        "mine",
        "majority",
        "size only",
    ]
    assert cell(table, "Γ GIN", "sbm-20").status == "not run"
    robust = cell(table, "Γ GIN, robust", "sbm-20")
    assert (robust.status, robust.published) == ("run", None)
    assert cell(table, "majority", "sbm-20").status == "run"
    assert cell(table, "majority", "sbm-14-20").status == "not run"
    assert note(table, "Trivial baselines").endswith(": majority, size only.")


def test_a_check_with_two_recipes_has_two_rows():
    table = build_table(3, [made(task="DD", method="random", recipe=recipe) for recipe in ("paper", "fair")])
    assert [row.label for row in table.rows if row.is_baseline] == ["random", "random, fair"]
    one = build_table(3, [made(task="DD", method="random", recipe="fair")])
    assert [row.label for row in one.rows if row.is_baseline] == ["random"]
    assert cell(one, "random", "DD").published.mean == 0.0


def test_tasks_of_our_own_appear_where_they_were_run():
    table = build_table(2, [made(task="sbm-color")])
    assert [column.task for column in table.columns if column.split == "test"] == [
        "sbm-20", "sbm-14-20", "sbm-20-30", "sbm-color",
    ]  # fmt: skip
    assert cell(table, "Γ GIN", "sbm-color").published is None
    assert cell(table, "GIN + IRM", "sbm-color").status == "NA"
    only = build_table(2, [made(task="my-task")], tasks=["my-task", "sbm-color"], splits=["test"])
    assert [column.heading for column in only.columns] == ["my-task", "SBM, colors needed, 20 → 40"]
    assert cell(only, "Γ GIN", "my-task").status == "run"


def test_fresh_data_are_means_over_data_sets():
    records = [
        *seeds([1.0, 1.0], [0.9, 0.7], data="seed:1"),
        *seeds([1.0, 1.0], [1.0, 1.0], data="seed:2", hidden=2),
        *seeds([0.9, 0.9], [0.0, 0.0], data="seed:2", hidden=1),
        *seeds([1.0], [0.3]),
    ]
    table = build_table(2, records)
    own = cell(table, "Γ GIN", "sbm-20", data="fresh")
    assert (own.summary.mean, own.summary.std, own.summary.count) == pytest.approx((0.9, 0.1, 2))
    assert own.published is None
    assert cell(table, "Γ GIN", "sbm-20").summary.mean == 0.3
    assert {column.heading for column in table.columns} >= {"SBM, 20 → 40", "SBM, 20 → 40, fresh data"}
    told = note(table, "SBM, 20 → 40, fresh data:")
    assert "data sets 2" in told
    assert "lowest test mean of a data set: Γ GIN (0.80)" in told
    assert {column.data for column in build_table(2, records, data="published").columns} == {"published"}
    fresh = build_table(2, records, data="fresh")
    assert {column.data for column in fresh.columns} == {"fresh"}
    one = build_table(2, records, data="seed:2")
    assert cell(one, "Γ GIN", "sbm-20", data="seed:2").summary.mean == 1.0
    assert one.columns[0].heading == "SBM, 20 → 40, data seed:2"
    assert "fresh" not in {column.data for column in build_table(2, records[-1:]).columns}


# ---- bootstrap intervals ---------------------------------------------------------------------------


def own_runs(metric="accuracy", task="mine", **about):
    """Runs on two splits of one data set; 3 and 2 of 4 test graphs are right."""
    found = []
    for split, predictions in enumerate(("0111", "0000")):
        run = made(0.5, 0.75 - 0.25 * split, task=task, data=f"split:{split}", labels="0110", recipe="robust",
                   predictions=predictions, seed=split, **about)  # fmt: skip
        found.append(run if metric == "accuracy" else replace(run, metric=metric, labels=""))
    return found


def test_tasks_in_none_of_the_papers_tables_have_a_table_of_their_own():
    table = rows_that_ran(build_table(None, [*own_runs(), *own_runs(method="majority"), made()]))
    assert table.title == "Accuracy, other tasks"
    assert [column.heading for column in table.columns] == ["mine, several splits"] * 3
    assert [row.method for row in table.rows] == ["gamma-gin", "majority"]
    cell = table.rows[0].cells[2]
    assert (cell.summary.mean, cell.summary.std, cell.summary.count) == pytest.approx((0.625, 0.125, 2))
    assert cell.interval.low <= 0.625 <= cell.interval.high
    assert cell.best
    assert not table.rows[1].cells[2].best
    assert not any("published" in note for note in (*table.notes, *table.short_notes))
    assert any("splits 2" in note for note in table.notes)


def test_no_table_mixes_two_metrics():
    several = [*own_runs(), *own_runs(method="gin-sum"), *own_runs("mcc", task="other")]
    with pytest.warns(RecordWarning, match="one metric, here accuracy: runs of other with scores in MCC"):
        table = build_table(None, several)
    assert table.metric == "accuracy"
    assert {column.task for column in table.columns} == {"mine"}
    alone = build_table(None, own_runs("mcc", task="other"), tasks=["other"])
    assert (alone.metric, alone.title) == ("mcc", "MCC, other tasks")
    with pytest.warns(RecordWarning, match="here MCC"):
        numbered = build_table(3, [replace(made(task="NCI1"), metric="accuracy")])
    assert not any(row.ran for row in numbered.rows)


def test_a_deviation_over_one_value_is_not_shown():
    one = build_table(2, seeds([1.0, 1.0], [0.5, 0.7], data="seed:0"), data="fresh", tasks=["sbm-20"])
    (row,) = [row for row in one.rows if row.ran]
    assert row.cells[2].summary.count == 1
    assert own_text(row.cells[2]) == "0.60"
    assert own_text(Cell("run", ScoreSummary.of([0.5, 0.7]))) == "0.60 (0.10)"


def test_mcc_has_a_bootstrap_interval_over_test_graphs():
    labels, predictions = "0101" * 10, ("0111" * 10, "0100" * 10)
    score = 1 / 3**0.5
    records = [
        made(test=score, task="DD", seed=seed, predictions=text, labels=labels) for seed, text in enumerate(predictions)
    ]
    own = cell(build_table(3, records, resamples=300, seed=5), "Γ GIN", "DD")
    stacked = np.stack([decode(text) for text in predictions])
    assert own.interval == interval(stacked, decode(labels), "mcc", resamples=300, seed=5)
    assert own.interval.low < score < own.interval.high
    assert note(build_table(3, records), "[low, high]: 95% bootstrap interval")


def test_no_interval_without_predictions_of_the_same_graphs():
    some = [made(test=1.0, task="DD", predictions="01", labels="01"), made(test=1.0, task="DD", seed=1)]
    assert cell(build_table(3, some), "Γ GIN", "DD").interval is None
    others = [
        made(test=1.0, task="DD", seed=seed, predictions=text, labels=text) for seed, text in enumerate(("01", "10"))
    ]
    assert cell(build_table(3, others), "Γ GIN", "DD").interval is None


def test_predictions_that_contradict_the_scores_are_named():
    record = made(test=0.5, task="DD", predictions="0101", labels="0101")
    with pytest.warns(
        RecordWarning, match=r"Γ GIN on DD: the stored predictions give 1\.000, the stored scores 0\.500"
    ):
        table = build_table(3, [record])
    assert cell(table, "Γ GIN", "DD").interval is None
    assert cell(table, "Γ GIN", "DD").summary.mean == 0.5


# ---- rules and notes -------------------------------------------------------------------------------


def test_rules_are_followed_and_the_oracle_is_marked():
    last = Outcome(Scores(1.0, 0.5, 0.25), epoch=500)
    kept = {"last": last}
    records = [replace(run, alternatives=kept) for run in (made(test=0.5), made(validation=0.1, test=0.75, hidden=99))]
    for rule, expected in {"paper": 0.5, "last": 0.25, "oracle": 0.75}.items():
        table = build_table(2, records, rule=rule)
        assert cell(table, "Γ GIN", "sbm-20").summary.mean == expected
        assert table.rule == rule
        for notes in (table.notes, table.short_notes):
            assert any("ORACLE" in note for note in notes) == (rule == "oracle")


def test_every_cell_has_its_ties_and_their_range():
    runs = [
        run for hidden, test in enumerate((0.5, 0.25, 0.75), 1) for run in seeds([1.0] * 2, [test] * 2, hidden=hidden)
    ]
    table = build_table(2, [*runs, *seeds([0.5] * 2, [1.0] * 2, hidden=4), made(method="gin-sum")])
    own = cell(table, "Γ GIN", "sbm-20")
    assert (own.summary.mean, own.ties) == (0.5, Ties(3, 0.25, 0.75))
    assert cell(table, "Γ GIN", "sbm-20", "validation").ties is None  # they are beside the test score
    assert cell(table, "GIN", "sbm-20").ties is None
    without_test = build_table(2, runs, splits=["train", "validation"])
    assert cell(without_test, "Γ GIN", "sbm-20", "validation").ties == Ties(3, 1.0, 1.0)
    assert cell(build_table(2, runs, rule="best-lowest-loss"), "Γ GIN", "sbm-20").ties == Ties(3, 0.25, 0.75)


def test_ties_over_several_data_sets_are_the_most_and_the_range_that_other_choices_give():
    first = [made(test=test, data="seed:1", hidden=hidden) for hidden, test in enumerate((0.2, 0.6))]
    second = [made(test=test, data="seed:2", hidden=hidden) for hidden, test in enumerate((0.4, 0.6, 1.0))]
    own = cell(build_table(2, [*first, *second], data="fresh"), "Γ GIN", "sbm-20", data="fresh")
    assert own.ties == Ties(3, pytest.approx(0.3), pytest.approx(0.8))


def test_the_foot_names_grids_seeds_and_what_was_left_out():
    records = [
        *(run for hidden in (1, 2, 3) for run in seeds([1.0] * 4, [hidden / 4] * 4, hidden=hidden)),
        *seeds([0.5] * 4, [0.5] * 4, hidden=4),
        *seeds([1.0] * 3, [0.5] * 3, hidden=5),
        *seeds([1.0] * 2, [0.5] * 2, method="gin-sum"),
    ]
    table = build_table(2, records, grid_size=lambda task, method: {"gin-sum": 64}.get(method))
    found = note(table, "SBM, 20 → 40:")
    for fact in (
        "seeds 2 (GIN), 4 (Γ GIN)", "configurations 1 (GIN), 4 (Γ GIN)", "reduced grid: GIN (1 of 64)",
        "Γ GIN (1 configuration)",
    ):  # fmt: skip
        assert fact in found
    assert not any(note.startswith("SBM, 14/20") for note in table.notes)
    assert note(table, "Rule 'paper'")
    assert "divides by their number" in table.notes[0]
    assert note(table, "9 tie, ")
    assert len(table.short_notes) == 4
    assert "smaller than in the paper" in table.short_notes[2]


def test_the_foot_names_selected_values_that_the_papers_grid_does_not_have():
    runs = [made(task="DD", method="gamma-1hot", batch_size=256, hidden=32, lr=0.01)]
    assert "not of the paper's grid: Γ 1-hot (batch_size 256)" in note(
        build_table(3, runs, grid_size=paper_grid_size), "DD:"
    )
    runs = [made(task="DD", method="gamma-1hot", batch_size=128, hidden=32, lr=0.01)]
    assert "not of the paper's grid" not in note(build_table(3, runs, grid_size=paper_grid_size), "DD:")


def test_columns_in_which_nobody_has_a_number_are_not_shown():
    records = [made(method="mine", data=f"seed:{seed}") for seed in (0, 1)]
    table = rows_that_ran(build_table(2, records))
    assert {(column.task, column.data) for column in table.columns} == {("sbm-20", "fresh")}
    assert [len(row.cells) for row in table.rows] == [3]
    known = rows_that_ran(build_table(2, [*records, made()]))  # of Gamma_GIN there are published numbers
    assert {column.task for column in known.columns} == {"sbm-20", "sbm-14-20", "sbm-20-30"}


def test_rows_that_ran():
    table = rows_that_ran(build_table(2, [made(), made(method="gin-irm", task="sbm-14-20")]))
    assert [row.label for row in table.rows] == ["GIN + IRM", "Γ GIN"]
    assert note(table, "NA:")
    only = rows_that_ran(build_table(2, [made(task=task) for task in ("sbm-20", "sbm-14-20", "sbm-20-30")]))
    assert not any(note.startswith(("NA:", "not run:")) for note in only.notes)


def test_a_table_does_not_depend_on_the_order_of_records():
    records = sweep(data=("published", "seed:1"), methods=("gin-sum", "gamma-gin", "mine"))
    assert build_table(2, records) == build_table(2, records[::-1])


def test_no_number_is_printed_as_minus_zero():
    assert [format_score(value) for value in (-0.004, 0.0, -0.006, 0.995)] == ["0.00", "0.00", "-0.01", "0.99"]


def test_every_table_has_its_own_tasks():
    names = [task.name for entry in TABLES.values() for task in entry.tasks]
    assert len(names) == len(set(names)) == 13


def test_every_task_of_a_table_has_its_metric():
    for entry in TABLES.values():
        for task in entry.tasks:
            assert TASKS[task.name].metric == entry.metric


def test_notes_say_where_a_trivial_baseline_is_as_good_and_where_the_next_row_is_near() -> None:
    columns = tuple(Column(name, name, "published", "test") for name in ("clear", "near", "beaten"))

    def row(name: str, *means: float, is_baseline: bool = False) -> Row:
        cells = tuple(Cell("run", ScoreSummary(mean, 0.05, 3)) for mean in means)
        return Row(name, "paper", name, is_baseline, cells)

    rows = (
        row("gin-sum", 0.9, 0.9, 0.9), row("gcn-sum", 0.7, 0.88, 0.7), row("gamma-gin-free", 1, 1, 1, is_baseline=True),
        row("topology-only", 0.5, 0.5, 0.91, is_baseline=True),
    )  # fmt: skip
    beaten, near = lead_notes(Table("title", "accuracy", "paper", columns, rows, (), ()))
    assert beaten == "No method beats a trivial baseline: topology-only (0.91) on beaten."
    assert "in 1 of 3 test columns" in near
    assert lead_notes(Table("title", "accuracy", "paper", columns[:1], rows[:2], (), ())) == []
