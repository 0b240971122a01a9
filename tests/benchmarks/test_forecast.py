"""The page of forecasts and the constants of the package are those of the committed records."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.forecast import DRAWN, constants, forecasts, page

from anysize.estimators import forecast as module
from anysize.evaluation.standings import family_names

ROOT = Path(__file__).resolve().parents[2]
RECORDS = [json.loads(line) for line in (ROOT / "results" / "forecast.jsonl").read_text().splitlines()]


def test_constants_are_fitted_to_the_records() -> None:
    assert constants(RECORDS, family_names(sorted({record["set"] for record in RECORDS}))) == module.DRIFT


def test_intervals_hold_what_they_promise_without_covering_everything() -> None:
    told = [(record["set"], each.balanced_accuracy, record["truth"]) for record, each in forecasts(RECORDS)]
    drawn = {task.replace("-", ".", 1) for task in DRAWN}
    for some in (told, [row for row in told if row[0] not in drawn]):
        assert sum(score.low <= truth <= score.high for _, score, truth in some) >= 0.85 * len(some)
        assert sum(score.high - score.low for _, score, _ in some) <= 0.40 * len(some)


def test_the_committed_page_is_up_to_date() -> None:
    text = (ROOT / "docs" / "forecast.md").read_text(encoding="utf-8")
    assert text == page(RECORDS), "python -m benchmarks.forecast --out docs/forecast.md"
