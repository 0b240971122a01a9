"""The TU sets of the paper: what the diagnosis says of training pool and test graphs, and of random halves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anysize as az
from anysize.tasks.catalog import TASKS


def diagnosed(name: str, folder: Path) -> az.Diagnosis:
    if not (folder / f"{name}.zip").is_file():
        pytest.skip(f"{name}.zip is not among the data files")
    splits = TASKS[name].splits(data_dir=folder)
    assert splits.validation is not None
    return az.diagnose(splits.train + splits.validation, splits.test)


def test_nci1_has_larger_graphs_and_an_extensive_label(data_dir: Path) -> None:
    diagnosis = diagnosed("NCI1", data_dir)
    found = diagnosis.findings
    assert found.sizes.verdict == "disjoint"
    assert found.sizes.ratio == pytest.approx(59 / 21)
    assert found.too_small == (1, 0)
    assert found.sparsity.kind == "sparse"
    assert found.sparsity.exponent == pytest.approx(-1, abs=0.1)
    assert found.colors is not None
    assert len(found.colors.unseen) == 4
    assert found.label is not None
    assert found.label.verdict == "extensive"
    assert found.label.moves_p is not None
    assert found.label.moves_p < 1e-6
    rates = [one.shares[1] for one in found.label.rates]
    assert rates[0] < 0.25 < 0.4 < rates[-1]
    assert diagnosis.advice.method == "wl-kernel"
    assert diagnosis.advice.trust != "as in validation"


def test_in_proteins_size_itself_is_the_main_predictor(data_dir: Path) -> None:
    """Linear probes with test labels call it intensive; the training graphs alone do not say so."""
    diagnosis = diagnosed("PROTEINS", data_dir)
    label = diagnosis.findings.label
    assert label is not None
    assert label.verdict == "cannot tell"
    assert label.size_part is not None
    assert label.size_part > 0.6
    assert diagnosis.findings.sizes.verdict == "disjoint"
    assert diagnosis.advice.method == "gamma-gin"
    assert 'over="connected"' in diagnosis.advice.call
    assert "wl-kernel" in dict(diagnosis.advice.others)


def test_random_halves_of_nci1_do_not_differ(data_dir: Path) -> None:
    if not (data_dir / "NCI1.zip").is_file():
        pytest.skip("NCI1.zip is not among the data files")
    graphs = az.read_graphs(data_dir / "NCI1.zip").with_y(None)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(graphs))
        assert az.diagnose(graphs[order[:2000]], graphs[order[2000:]]).findings.nothing_found
