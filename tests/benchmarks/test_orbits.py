"""The benchmark of orbit counts: peers that are installed agree with us, and a wrong answer stops it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks/ lies beside src/, outside the package

from benchmarks import inputs, orbits
from benchmarks.checks import WrongAnswer

import anysize as az

TINY = inputs.erdos_renyi(16, 0.3)


@pytest.mark.parametrize("name", orbits.PEERS)
@pytest.mark.parametrize("k", [4, 5])
def test_peers_agree(name: str, k: int) -> None:
    module, make, largest = orbits.PEERS[name]
    if k > largest or find_spec(module) is None:
        pytest.skip(f"{name} is not installed, or does not count k = {k}")
    call, answer = make(TINY, k)
    assert np.array_equal(answer(call()), az.orbits(TINY, k))


def test_a_wrong_answer_stops_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    job = orbits.Job("tiny", lambda: TINY, 4, ("networkx",))
    assert orbits.measured(job, quick=True)["networkx"] > 0
    monkeypatch.setitem(
        orbits.PEERS, "networkx", ("networkx", lambda graph, k: (lambda: np.zeros((16, 15)), np.array), 5)
    )
    with pytest.raises(WrongAnswer, match="networkx has other orbit counts than anysize in the job 'tiny'"):
        orbits.measured(job, quick=True)
