"""The logger ``anysize``: what is logged, at which level, and that nothing is written unless logging is set up."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import anysize as az

GRAPHS = [nx.cycle_graph(n) for n in range(5, 15)] + [nx.star_graph(n) for n in range(4, 14)]
LABELS = ["ring"] * 10 + ["star"] * 10


def test_fitting_loading_and_counting_are_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.DEBUG, logger="anysize"):
        az.GraphClassifier("size-only", check=False).fit(GRAPHS, LABELS).save(tmp_path / "model.anysize")
        az.load_model(tmp_path / "model.anysize")
        az.count(GRAPHS, 4)
        az.count(GRAPHS[0], 4, engine="sample", samples=10)
    fitted, loaded, exact, sampled = ((record.levelname, record.getMessage()) for record in caplog.records)
    assert fitted[0] == "INFO"
    assert fitted[1].startswith("fitted size-only (models: 1) to 20 graphs in ")
    assert loaded == ("INFO", f"loaded size-only from {tmp_path / 'model.anysize'}")
    assert exact[0] == "DEBUG"
    assert exact[1].startswith("counting, k = 4: bitset for 20 of 20 graphs (")
    assert sampled == ("DEBUG", "counting, k = 4: samples (requested)")
    assert {record.name for record in caplog.records} == {"anysize"}


def test_nothing_is_written_unless_logging_is_set_up() -> None:
    script = "from anysize._log import log; log.error('not seen')"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stderr == b""
