"""Thinned records: the tables stay the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evaluation.helpers import sweep
from tools.thin_records import main, thin

from anysize.evaluation.store import RecordStore
from anysize.paper.selection import RULES
from anysize.paper.tables import build_table


@pytest.mark.filterwarnings("ignore::anysize._errors.RecordWarning")  # scores and predictions are drawn at random
def test_tables_are_the_same_under_every_rule():
    records = sweep(("sbm-20", "DD"), configurations=12)
    thinned = thin(records)
    assert {run.key for run in thinned} == {run.key for run in records}
    for rule in RULES:
        for number in (2, 3):
            assert build_table(number, thinned, rule=rule, resamples=20) == build_table(
                number, records, rule=rule, resamples=20
            )
    assert all(run.curves is None for run in thinned)
    assert {bool(run.labels) for run in thinned} == {True, False}  # of selected configurations, and of others


def test_the_score_that_selects_is_kept():
    runs = sweep(("DD",), ("gc-kernel",), configurations=3, runs=1)
    scored = [replace(run, chosen=replace(run.chosen, selected_by=place / 10)) for place, run in enumerate(runs)]
    assert [run.chosen.selected_by for run in thin(scored)] == [0.0, 0.1, 0.2]


def test_folders_are_merged_and_the_later_run_wins(tmp_path, capsys):
    records = sweep(("sbm-20",), ("gin-sum",), configurations=2)
    later = [replace(run, when="2027-01-01T00:00:00+00:00", seconds=9.0) for run in records[:1]]
    RecordStore(tmp_path / "out").write(records)
    RecordStore(tmp_path / "new").write(later)
    assert main([str(tmp_path / "new"), "--out", str(tmp_path / "out")]) == 0
    found = RecordStore(tmp_path / "out").read()
    assert {run.key for run in found} == {run.key for run in records}
    assert {run.seconds for run in found} == {1.5, 9.0}
    assert all(path.suffix == ".gz" for path in RecordStore(tmp_path / "out").files())
    assert main([str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]) == 1
    assert "no folder" in capsys.readouterr().err
