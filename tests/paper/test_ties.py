"""The study of ties: against numbers computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evaluation.helpers import made, seeds

from anysize.evaluation.records import Outcome, Scores
from anysize.paper.ties import WAYS, distances, tied_cells, ties_section

# published: gin-sum on sbm-20 has .64, gamma-gin .98; gin-sum on er-single .64
TIED = [run for hidden, test in enumerate((0.5, 0.4, 0.7), 1) for run in seeds([1.0, 0.9], [test] * 2, hidden=hidden)]
WORSE = seeds([0.9, 0.9], [1.0, 1.0], hidden=4)


def gin(runs, **about):
    return [replace(run, method="gin-sum", **about) for run in runs]


def test_a_cell_has_the_test_means_of_the_configurations_that_tie():
    (cell,) = tied_cells(gin([*TIED, *WORSE]))
    assert cell.tests == pytest.approx((0.5, 0.4, 0.7))
    assert (cell.table, cell.kind, cell.mean) == (2, "gnn", 0.64)
    assert cell.above_mean == pytest.approx(0.64 - (0.5 + 0.4 + 0.7) / 3)
    assert cell.above_best == pytest.approx(0.64 - 0.7)
    assert cell.share_below == pytest.approx(2 / 3)


def test_only_rows_of_networks_in_tables_1_and_2_on_the_published_data_take_part():
    others = [
        *gin(TIED, recipe="robust"), *gin(TIED, data="seed:1"), *gin(TIED, task="NCI1"), *gin(TIED, task="sbm-color"),
        *(replace(run, method="gc-kernel") for run in TIED), *(replace(run, method="gamma-gin-free") for run in TIED),
    ]  # fmt: skip
    assert tied_cells(others) == []
    assert ties_section(others) == "There are no records yet."


def test_every_way_to_choose_by_hand():
    def run(hidden, seed, validation, test, loss):
        return made(validation, test, hidden=hidden, seed=seed, loss=loss, method="gin-sum")

    runs = [
        run(1, 0, 0.8, 0.1, 0.5), run(1, 1, 0.8, 0.3, 0.5),  # ties with 2, and is the first
        run(2, 0, 0.6, 0.5, 0.4), run(2, 1, 1.0, 0.7, 0.4),  # the best score of one seed
        run(3, 0, 0.9, 0.6, 0.3), run(3, 1, 0.5, 0.4, 0.1),  # the best of the first seed, and the lowest mean loss
    ]  # fmt: skip
    expected = [0.2, (0.2 + 0.6) / 2, 0.6, 0.5, (0.6 + 0.7) / 2, 0.5, 0.6]
    table = distances(runs)
    assert list(table) == list(WAYS)
    for by_epoch, test in zip(table.values(), expected, strict=True):
        assert by_epoch["best-lowest-loss"] == pytest.approx(abs(test - 0.64))


def test_epochs_of_other_rules_are_compared_at_their_scores():
    last = Outcome(Scores(1.0, 1.0, 0.64), epoch=500)
    runs = [replace(run, alternatives={"last": last}) for run in gin(TIED)]
    first = distances(runs)["highest mean, the ties on average"]
    assert first["first-best"] == pytest.approx(abs(0.64 - (0.5 + 0.4 + 0.7) / 3))
    assert first["last"] == pytest.approx(0)


def test_the_section_has_bins_of_ties_and_names_the_share_below():
    page = ties_section([*gin([*TIED, *WORSE]), *TIED[:2], *gin(TIED, task="er-single")])
    assert "| 1 to 2 | 0 |  |  | 1 | +0.48 | +0.48 |" in page  # Gamma_GIN, one configuration with .5
    assert "| 3 to 8 | 2 | +0.11 | -0.06 | 0 |  |  |" in page
    assert "In each of the 1 cells of GNNs in Table 1 the published mean lies above at least 66 % of the ties." in page
    assert "| configuration (3 cells) | `first-best` |" in page
