"""Epoch selection, against a reference that reads complete curves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from anysize.training.epoch_selection import EpochSelector

MODELS, EPOCHS, GRAPHS = 40, 25, 12


class Marked(nn.Module):
    """A stack whose parameter and buffer hold the number of the epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((MODELS, 2, 1), -1.0))
        self.register_buffer("average", torch.full((MODELS, 1), -1.0))

    def mark(self, epoch: int) -> None:
        with torch.no_grad():
            self.weight.fill_(epoch)
            self.average.fill_(epoch)


def curves(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores on a grid of few values, losses and penalties with many ties: (epochs, models)."""
    source = np.random.default_rng(seed)
    drift = np.linspace(0, 2, EPOCHS)[:, None] * source.integers(-1, 2, MODELS)
    score = np.clip(np.round(GRAPHS - 3 + drift + source.normal(0, 1.2, (EPOCHS, MODELS))), 0, GRAPHS) / GRAPHS
    loss, penalty = source.integers(1, 9, (2, EPOCHS, MODELS)) / 10
    return score, loss, penalty


def expected(score: np.ndarray, loss: np.ndarray, penalty: np.ndarray, rule: str, patience: int | None) -> int:
    """The kept epoch of one model: -1 if there is none."""
    keys = {"first": np.zeros_like(loss), "loss": loss, "penalty": penalty}[rule]
    usable = [math.isfinite(value) for value in loss]
    seen: list[int] = []
    top = -1
    for epoch in range(len(score)):
        if usable[epoch]:
            seen.append(epoch)
            best = max(score[e] for e in seen)
            top = min((e for e in seen if score[e] > best - 1e-6), key=lambda e: (keys[e], e))
        if patience is not None and epoch - top >= patience:
            break
    if not seen or rule != "penalty":
        return top
    best = max(score[e] for e in seen)
    near = [e for e in seen if score[e] > best - 1.5 / GRAPHS]
    return min(near, key=lambda e: (keys[e], -score[e], e))


def chosen(
    given: tuple[np.ndarray, ...], rule: Any, patience: int | None, score_step: float
) -> tuple[Marked, torch.Tensor]:
    model = Marked()
    selector = EpochSelector(model, MODELS, rule, score_step, patience)
    for epoch in range(EPOCHS):
        model.mark(epoch)
        rows = [torch.from_numpy(curve[epoch].astype(np.float32)) for curve in given]
        selector.observe(model, torch.tensor(epoch), *rows)
    return model, selector.restore(model)


@pytest.mark.parametrize("patience", [None, 1, 4, 10])
@pytest.mark.parametrize("rule", ["first", "loss", "penalty"])
@pytest.mark.parametrize("broken", [False, True])
def test_rules_keep_the_epoch_of_the_reference(rule: str, patience: int | None, broken: bool) -> None:
    for seed in range(5):
        given = curves(seed)
        if broken:
            source = np.random.default_rng(seed)
            given[1][source.random((EPOCHS, MODELS)) < 0.3] = np.nan
            given[1][source.random((EPOCHS, MODELS)) < 0.1] = np.inf
            given[1][:, 0] = np.nan  # a model without any usable epoch
        model, epochs = chosen(given, rule, patience, 1 / GRAPHS)
        expected_epochs = [expected(*(curve[:, place] for curve in given), rule, patience) for place in range(MODELS)]
        assert epochs.tolist() == expected_epochs
        assert (epochs[0] == -1) == broken
        kept = [EPOCHS - 1 if epoch == -1 else epoch for epoch in expected_epochs]  # nothing to restore: the last state
        assert model.weight[:, 0, 0].tolist() == kept
        assert model.weight[:, 1, 0].tolist() == kept
        assert model.average[:, 0].tolist() == kept


def test_the_states_of_every_rule_are_kept_whatever_the_recipe_selects() -> None:
    given = curves(7)
    given[1][np.random.default_rng(1).random((EPOCHS, MODELS)) < 0.2] = np.nan
    model = Marked()
    selector = EpochSelector(model, MODELS, "loss")
    for epoch in range(EPOCHS):
        model.mark(epoch)
        selector.observe(model, torch.tensor(epoch), *(torch.from_numpy(c[epoch].astype(np.float32)) for c in given))
    kept = selector.kept(model, EPOCHS - 1)
    own = selector.restore(model)
    found = kept.append_to(lambda structure: model.weight[:, 0].detach().clone())(None)  # type: ignore[arg-type]
    assert found.view(-1, MODELS)[0].tolist() == own.tolist() == model.average[:, 0].tolist()
    assert list(kept.epochs) == ["first-best", "best-lowest-loss", "lowest-loss", "best-lowest-penalty", "last"]
    for values, (name, epochs) in zip(found.view(-1, MODELS)[1:], kept.epochs.items(), strict=True):
        assert values.tolist() == epochs.tolist()
        for place, epoch in enumerate(epochs.tolist()):
            score, loss, penalty = (curve[:, place] for curve in given)
            usable = np.flatnonzero(np.isfinite(loss))
            best = usable[score[usable] == score[usable].max()]
            expected_epoch = {
                "first-best": best[0],
                "best-lowest-loss": best[np.argmin(loss[best])],
                "lowest-loss": usable[np.argmin(loss[usable])],
                "best-lowest-penalty": best[np.argmin(penalty[best])],
                "last": EPOCHS - 1,
            }[name]
            assert epoch == expected_epoch
    assert "best-lowest-penalty" not in EpochSelector(model, MODELS, "first", penalized=False).kept(model).epochs


def test_without_a_score_step_only_exact_ties_are_broken_by_penalty() -> None:
    given = curves(3)
    _, epochs = chosen(given, "penalty", None, 0.0)
    for place, epoch in enumerate(epochs.tolist()):
        score, _, penalty = (curve[:, place] for curve in given)
        tied = np.flatnonzero(score == score.max())
        assert epoch == tied[np.argmin(penalty[tied])]


def test_ties_are_counted() -> None:
    given = curves(0)
    model = Marked()
    selector = EpochSelector(model, MODELS, "first")
    for epoch in range(EPOCHS):
        rows = [torch.from_numpy(curve[epoch].astype(np.float32)) for curve in given]
        selector.observe(model, torch.tensor(epoch), *rows)
    assert selector.ties.tolist() == (given[0] == given[0].max(axis=0)).sum(axis=0).tolist()
