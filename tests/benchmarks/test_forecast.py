"""The page of forecasts and the constants of the package are those of the committed records."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.forecast import constants, forecasts, page

from anysize.estimators import forecast as module
from anysize.evaluation.standings import family_names

ROOT = Path(__file__).resolve().parents[2]
RECORDS = [json.loads(line) for line in (ROOT / "results" / "forecast.jsonl").read_text().splitlines()]


def test_constants_are_fitted_to_the_records() -> None:
    kept, deviation = constants(RECORDS, family_names(sorted({record["set"] for record in RECORDS})))
    assert kept == module.KEPT
    assert deviation == module.SHIFT_DEVIATION


def test_intervals_hold_what_they_promise_without_covering_everything() -> None:
    told = [(each.balanced_accuracy, record["truth"]) for record, each in forecasts(RECORDS)]
    assert sum(score.low <= truth <= score.high for score, truth in told) >= 0.85 * len(told)
    assert sum(score.high - score.low for score, _ in told) <= 0.40 * len(told)


def test_the_committed_page_is_up_to_date() -> None:
    text = (ROOT / "docs" / "forecast.md").read_text(encoding="utf-8")
    assert text == page(RECORDS), "python -m benchmarks.forecast --out docs/forecast.md"
