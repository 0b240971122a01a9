"""Progress: nothing for short work, a bar in a terminal, lines elsewhere."""

from __future__ import annotations

import sys

import pytest

from anysize import _progress
from anysize._progress import progress_bars, rough_duration


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)


def test_short_work_shows_nothing(capsys):
    with progress_bars() as report:
        report("counting", 0.5)
        report("counting", 1.0)
    assert capsys.readouterr() == ("", "")


def test_progress_that_is_not_shown(capsys, at_once):
    with progress_bars(False) as report:
        report("counting", 0.5)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("rich", [True, False])
def test_without_a_terminal_there_is_a_line_now_and_then(capsys, monkeypatch, at_once, rich):
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    with progress_bars() as report:
        for share in (0.0, 0.5, 1.0):
            report("training", share, "5 of 10 runs")
    assert capsys.readouterr().err == "training: 0 %, 5 of 10 runs\n"
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN_LINES", 0.0)
    with progress_bars() as report:
        for share in (0.0, 0.5, 1.0):
            report("training", share)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["training: 0 %", "training: 50 %"]
    assert "left" in lines[1]


def test_in_a_terminal_there_is_a_bar(capsys, monkeypatch, at_once):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with progress_bars() as report:
        report("counting", 1.0)
        report("training", 0.5, "5 of 10 runs, about 1:01 left")
    shown = capsys.readouterr().err
    assert "5 of 10 runs, about 1:01 left" in shown
    assert "50 %" in shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0.4 seconds"),
        (75, "75 seconds"),
        (95, "1.6 minutes"),
        (5000, "83 minutes"),
        (6000, "1.7 hours"),
        (1.96e4 * 60, "14 days"),
        (1e9, "32 years"),
        (1e30, "more than 1,000 years"),
    ],
)
def test_durations_have_sensible_units(seconds: float, text: str) -> None:
    assert rough_duration(seconds) == text
