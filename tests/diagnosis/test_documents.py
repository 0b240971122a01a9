"""The example and the code of the manual's page run as printed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_tells_three_shifts_apart(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "diagnose_shift.py"))
    told = capsys.readouterr().out
    assert "Colors: a shift within exchangeable colors" in told
    assert 'fashion: shifts of sizes, colors, colored densities; use az.GraphClassifier("gamma-gin", k=4)' in told
    assert re.search(r"rewired: shifts of plain densities.*do not trust", told)
    assert re.search(r"same: shifts of none; .*, as in validation", told)


def test_the_code_of_the_page_runs_and_says_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "diagnose.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(block, names)
    assert names["found"].findings.sizes.verdict == "disjoint"  # type: ignore[attr-defined]
    assert names["found"].advice.method == "gamma-gin"  # type: ignore[attr-defined]
    assert "What to do: gamma-gin" in capsys.readouterr().out
