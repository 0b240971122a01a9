"""The benchmark of the WL kernel: all contestants have the kernel values of the slow kernel."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from kernels.helpers import DYED, graphs_of, slow_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks/ lies beside src/, outside the package

from benchmarks.kernels import PEERS, available, our_gram


def test_our_gram_matrix_is_that_of_the_slow_kernel() -> None:
    np.testing.assert_array_equal(our_gram(graphs_of(DYED), 3), slow_kernel(DYED, DYED, 3))


@pytest.mark.parametrize("name", sorted(PEERS))
def test_peers_have_the_values_of_the_slow_kernel(name: str) -> None:
    if name not in available():
        pytest.skip(f"{name} is not installed")
    np.testing.assert_array_equal(PEERS[name](graphs_of(DYED), 3)(), slow_kernel(DYED, DYED, 3))
