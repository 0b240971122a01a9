"""Fixtures that several test files share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# One thread for linear algebra in every worker: as many workers as cores run at a time. Set before numpy is loaded.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# `make test &` ignores Ctrl-C, and so would the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: a busy machine must not fail a test that is right.
settings.register_profile("anysize", deadline=None, print_blob=True)
settings.load_profile("anysize")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the real data files: ANYSIZE_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("ANYSIZE_DATA", beside))
    if not (folder / "manifest.json").is_file():
        pytest.skip(f"no data files: {folder} has no manifest.json; set ANYSIZE_DATA to the folder that has")
    return folder


@pytest.fixture(scope="session")
def two_workers() -> Iterator[Any]:
    """A Ray cluster on this machine with two worker processes, which find `workers.py` beside this file."""
    pytest.importorskip("ray")
    from anysize.executors.ray import RayExecutor

    with pytest.MonkeyPatch.context() as patch:
        found = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, found)))
        executor = RayExecutor("local:2")
    with executor:
        yield executor
