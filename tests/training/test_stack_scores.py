"""Scores of a stack against scikit-learn, model by model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, matthews_corrcoef

from anysize.training.epoch_selection import STACK_SCORES, stack_accuracy, stack_mcc


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_scores_are_those_of_scikit_learn(classes: int) -> None:
    source = np.random.default_rng(classes)
    y = source.integers(0, classes, 60)
    predicted = np.where(source.random((20, 60)) < np.linspace(0, 1, 20)[:, None], y, source.integers(0, classes, 60))
    found = {
        name: score(torch.from_numpy(predicted), torch.from_numpy(y)).numpy() for name, score in STACK_SCORES.items()
    }
    np.testing.assert_allclose(found["accuracy"], [accuracy_score(y, row) for row in predicted], atol=1e-6)
    np.testing.assert_allclose(found["mcc"], [matthews_corrcoef(y, row) for row in predicted], atol=1e-6)


def test_undefined_correlations_are_zero() -> None:
    y = torch.tensor([0, 1, 1, 0])
    constant, right = torch.tensor([[1, 1, 1, 1], [0, 0, 0, 0]]), torch.tensor([[0, 1, 1, 0]])
    assert stack_mcc(constant, y).tolist() == [0.0, 0.0] == [matthews_corrcoef(y, row) for row in constant]
    assert stack_mcc(constant, torch.ones(4, dtype=torch.int64)).tolist() == [0.0, 0.0]  # one class only
    assert stack_mcc(right, y).tolist() == [1.0]
    assert stack_mcc(1 - right, y).tolist() == [-1.0]


def test_a_class_that_no_graph_has_changes_nothing() -> None:
    y, predicted = torch.tensor([0, 0, 2, 2]), torch.tensor([[0, 1, 2, 2]])
    np.testing.assert_allclose(stack_mcc(predicted, y).numpy(), [matthews_corrcoef(y, predicted[0])], atol=1e-6)
    assert stack_accuracy(predicted, y).tolist() == [0.75]
