"""The training loop: stacks against single models, curves, mini-batches, selected epochs, errors."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from training.helpers import accuracies, fitted, tables

from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs.graphset import GraphSet
from anysize.training.fit_gamma import GammaProblem, GammaStack, fit_gamma
from anysize.training.loop import EAGER_CALLS, StackAdam, _Recorded, without_collection
from anysize.training.settings import Recipe, Settings

KINDS = ("1hot", "gnn", "rp")


def members(**given: Any) -> list[Settings]:
    """Different seeds, rates, penalties and jumping knowledge, in one stack."""
    first = Settings(hidden=8, seed=1, **given)
    strong = {"penalty": 0.7} if "penalty" in given else {}
    return [first, replace(first, seed=2, lr=0.03, jumping=True), replace(first, seed=1, lr=0.001, **strong)]


STACKS: dict[str, tuple[list[Settings], Recipe]] = {
    "penalized": (members(penalty=0.2), Recipe(epochs=12)),
    "paper's": (
        members(penalty=0.2, layers=2),
        Recipe(epochs=8, penalty_on="representation", over="connected", averages="torch"),
    ),
    "without": (members(layers=2), Recipe(epochs=12, epoch="best", tie_break="loss")),
    "mini-batches": (members(penalty=0.2, batch_size=30), Recipe(epochs=5, epoch="best", tie_break="penalty")),
    "head": (members(layers=2, batch_size=32), Recipe(epochs=2, head_hidden=16, dropout=0.3, max_permutations=1)),
    "all permutations": (members(penalty=0.2), Recipe(epochs=5, permutations="all")),
}


ONE_HOT = (
    "penalized",
    "without",
    "mini-batches",
    "head",
)  # without layers and permutations
WAYS = [(kind, name) for kind in KINDS for name in (ONE_HOT if kind == "1hot" else STACKS)]


@pytest.mark.parametrize(("kind", "name"), WAYS)
def test_a_stacked_model_is_the_model_trained_alone(kind: Any, name: str) -> None:
    (settings, recipe), data = STACKS[name], tables("sbm-20", 3)
    if kind == "rp" and recipe.max_permutations == 1:
        with pytest.raises(ValueError, match=r"one seed; got \[1, 2\]"):
            fitted(kind, settings, recipe, data)
        settings = [replace(setting, seed=1) for setting in settings]
    if kind == "rp" and recipe.over == "connected":  # shares of identities are constant: their gradient is rounding
        settings = [replace(setting, jumping=False) for setting in settings]
    together = fitted(kind, settings, recipe, data)
    assert together.trained is not None
    for place, setting in enumerate(settings):
        alone = fitted(kind, [setting], recipe, data)
        assert alone.trained is not None
        for curve, values in together.trained.curves.items():
            torch.testing.assert_close(
                values[:, place], alone.trained.curves[curve][:, 0], rtol=1e-3, atol=1e-4, equal_nan=True
            )
        assert together.trained.epoch[place] == alone.trained.epoch[0]
        np.testing.assert_allclose(
            together.logits(data["test"][0])[place], alone.logits(data["test"][0])[0], rtol=1e-3, atol=1e-3
        )


def test_members_differ() -> None:
    settings, recipe = STACKS["penalized"]
    logits = fitted("gnn", settings, recipe, tables("sbm-20", 3)).logits(tables("sbm-20", 3)["test"][0])
    assert logits.shape == (3, 100, 2)
    for one in range(3):
        for other in range(one):
            assert np.abs(logits[one] - logits[other]).max() > 0.01


def test_curves_have_a_value_for_every_epoch_and_model() -> None:
    data = tables("sbm-20", 3)
    settings = [Settings(hidden=8, penalty=0.1, seed=s) for s in range(2)]
    best = fitted("gnn", settings, Recipe(epochs=25, epoch="best"), data)
    last = fitted("gnn", settings, Recipe(epochs=25), data)
    assert best.trained is not None
    assert last.trained is not None
    for trained in (best.trained, last.trained):
        assert set(trained.curves) == {"loss", "penalty", "validation_loss", "validation_score"}
        assert all(curve.shape == (25, 2) for curve in trained.curves.values())
        assert not trained.curves["loss"].isnan().any()
        assert (trained.curves["penalty"] > 0).all()
        assert trained.seconds > 0
    assert not best.trained.curves["validation_score"].isnan().any()
    seen = ~last.trained.curves["validation_score"].isnan().any(1)
    assert seen.nonzero()[:, 0].tolist() == [0, 10, 20, 24]
    torch.testing.assert_close(best.trained.curves["loss"], last.trained.curves["loss"])
    assert last.trained.curves["loss"][-1].max() < last.trained.curves["loss"][0].min()


def test_best_and_last_epochs_are_selected() -> None:
    data = tables("sbm-20", 3)
    settings = [Settings(hidden=8, lr=0.05, seed=s) for s in range(3)]
    best = fitted("gnn", settings, Recipe(epochs=20, epoch="best", tie_break="loss"), data)
    last = fitted("gnn", settings, Recipe(epochs=20), data)
    assert best.trained is not None
    assert last.trained is not None
    assert last.trained.epoch.tolist() == [19, 19, 19]
    score, loss = (best.trained.curves[f"validation_{name}"].numpy() for name in ("score", "loss"))
    for place in range(3):
        tied = np.flatnonzero(score[:, place] == score[:, place].max())
        epoch = int(best.trained.epoch[place])
        assert epoch == tied[np.argmin(loss[tied, place])]
        assert best.trained.ties[place] == len(tied)
        kept = accuracies(best, data["validation"])[place]
        assert kept == pytest.approx(score[epoch, place])  # the restored state is that of the epoch
    np.testing.assert_allclose(accuracies(last, data["validation"]), last.trained.curves["validation_score"][-1])


def test_a_cosine_schedule_ends_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    step = StackAdam.step

    def watched(self: StackAdam, factor: Tensor | float = 1.0) -> None:
        rates.append(float(factor))
        step(self, factor)

    monkeypatch.setattr(StackAdam, "step", watched)
    data = tables("sbm-20", 3)
    fitted("gnn", [Settings(hidden=8, batch_size=40)], Recipe(epochs=4, schedule="cosine"), data)
    fitted("gnn", [Settings(hidden=8)], Recipe(epochs=2), data)
    assert rates == pytest.approx([1, 1, 0.853553, 0.853553, 0.5, 0.5, 0.146447, 0.146447, 1, 1], abs=1e-5)


def test_the_same_run_twice_gives_the_same_bits() -> None:
    settings, recipe = STACKS["head"]
    settings = [replace(setting, seed=1) for setting in settings]
    data = tables("sbm-20", 3)
    first, second = (fitted("rp", settings, recipe, data).logits(data["test"][0]) for _ in range(2))
    assert np.array_equal(first, second)


def test_patience_ends_a_run() -> None:
    data = tables("sbm-20", 3)
    recipe = Recipe(epochs=300, epoch="best", patience=15)
    settings = [Settings(hidden=8, seed=s) for s in range(2)]
    stack = fitted("gnn", settings, recipe, data)
    assert stack.trained is not None
    epochs = len(stack.trained.curves["loss"])
    assert epochs < 300
    full = fitted("gnn", settings, replace(recipe, epochs=epochs, patience=None), data)
    assert full.trained is not None
    for place, epoch in enumerate(stack.trained.epoch.tolist()):
        score = full.trained.curves["validation_score"][:, place].numpy()
        best, found = -1.0, -1
        for now, value in enumerate(score):
            if value > best + 1e-6:
                best, found = value, now
            if now - found >= 15:
                break
        assert epoch == found


def test_class_weights_move_the_decision() -> None:
    data = tables("sbm-20", 3)
    settings = [Settings(hidden=8, seed=0)]
    shares = []
    for weights in ([20.0, 1.0], [1.0, 20.0]):
        by_graph = np.array(weights)[data["train"][1]]
        stack = fitted("gnn", settings, Recipe(epochs=8), data, weights=by_graph)
        shares.append(stack.logits(data["train"][0]).argmax(-1).mean())
    assert shares[0] < shares[1]


def test_short_trainings_give_models_as_good_as_their_training_loss() -> None:
    counts, y = tables("er-single", 3)["train"]
    excess = {}
    settings = [Settings(hidden=16, seed=seed) for seed in range(7)]
    for averages in ("corrected", "torch"):
        stack = fit_gamma("gnn", counts, y, settings, Recipe(epochs=20, averages=averages), classes=3)
        losses = [
            float(torch.nn.functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(y)))
            for logits in stack.logits(counts)
        ]
        assert stack.trained is not None
        excess[averages] = np.median(np.array(losses) - stack.trained.curves["loss"][-1].numpy())
    assert excess["corrected"] < 0.05 < 0.2 < excess["torch"]


def test_without_validation_graphs_the_last_epoch_is_kept() -> None:
    counts, y = tables("sbm-20", 3)["train"]
    stack = fit_gamma("gnn", counts, y, [Settings(hidden=8)], Recipe(epochs=4, epoch="best"), classes=2)
    assert stack.trained is not None
    assert stack.trained.epoch.tolist() == [3]
    assert stack.trained.curves["validation_loss"].isnan().all()
    assert np.isfinite(stack.logits(counts)).all()


def test_progress_is_reported_after_every_epoch() -> None:
    reported: list[float] = []
    fitted("1hot", [Settings(hidden=4)], Recipe(epochs=4), tables("sbm-20", 3), progress=reported.append)
    assert reported == [0.25, 0.5, 0.75, 1.0]


def test_progress_expects_patience_to_run_out() -> None:
    reported: list[float] = []
    recipe = Recipe(epochs=2000, epoch="best", patience=15)
    fitted("gnn", [Settings(hidden=8, seed=s) for s in range(2)], recipe, tables("sbm-20", 3), progress=reported.append)
    assert len(reported) < 1000, "it ends early"
    assert reported == sorted(reported)
    assert reported[-1] == 1.0
    assert reported[len(reported) // 2] > 0.25, "far more than the share of all epochs"


def test_a_finished_training_leaves_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of a stack is free without a garbage collection, which would abort a recording."""
    kept: list[weakref.ref[Any]] = []

    class Watched(GammaProblem):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            kept.append(weakref.ref(self))

    monkeypatch.setattr("anysize.training.fit_gamma.GammaProblem", Watched)
    with without_collection():
        members = [Settings(), Settings(seed=1)]
        stack = fitted("gnn", members, Recipe(epochs=2, epoch="best"), tables("er-single", 3))
        assert [found() for found in kept] == [None]
    assert stack.trained is not None


def test_a_pickled_parameter_does_not_contain_the_others() -> None:
    stack = fitted("gnn", [Settings(), Settings(seed=1)], Recipe(epochs=2), tables("er-single", 3))
    for name, parameter in stack.model.named_parameters():
        assert parameter.untyped_storage().nbytes() == 4 * parameter.numel(), name


def test_nothing_is_collected_while_an_epoch_is_recorded() -> None:
    class Circle:
        def __init__(self) -> None:
            self.itself = self

    assert gc.isenabled()
    before = weakref.ref(Circle())
    with without_collection():
        assert before() is None
        assert not gc.isenabled()
        with without_collection():
            pass
        assert not gc.isenabled(), "as it was before"
    assert gc.isenabled()


def test_an_epoch_is_recorded_once_and_then_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of calls on a GPU, with fake streams and graphs."""
    events: list[str] = []

    class Stream:
        def wait_stream(self, other: Stream) -> None:
            events.append("wait")

    class Graph:
        def replay(self) -> None:
            events.append("play")

    @contextmanager
    def recording(given: Any) -> Iterator[None]:
        events.append("record" if not gc.isenabled() else "record among garbage")
        yield

    stands = {"Stream": Stream, "current_stream": Stream, "stream": nullcontext, "graph": recording, "CUDAGraph": Graph}
    for name, stand in stands.items():
        monkeypatch.setattr(torch.cuda, name, stand)
    recorded = _Recorded()
    for _ in range(EAGER_CALLS + 2):
        recorded(lambda: events.append("work"))
    assert events == ["wait", "work", "wait"] * EAGER_CALLS + ["record", "work", "play", "play"]


def test_epochs_with_infinite_loss_are_not_selected() -> None:
    data = tables("sbm-20", 3)
    settings = [Settings(hidden=8, lr=0.01, seed=0), Settings(hidden=8, lr=1e30, seed=0)]
    stack = fitted("gnn", settings, Recipe(epochs=15, epoch="best", tie_break="loss"), data)
    assert stack.trained is not None
    exploded = stack.trained.curves["validation_loss"][:, 1]
    assert not exploded.isfinite().all()
    kept = int(stack.trained.epoch[1])
    assert kept == -1 or bool(exploded[kept].isfinite())
    alone = fitted("gnn", settings[:1], Recipe(epochs=15, epoch="best", tie_break="loss"), data)
    np.testing.assert_allclose(stack.logits(data["test"][0])[0], alone.logits(data["test"][0])[0], rtol=1e-3, atol=1e-3)


# ---- errors ----------------------------------------------------------------------------------------


def test_training_graphs_without_any_pattern_are_refused() -> None:
    small = GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], n_vertices=[2, 3])
    for kind in KINDS:
        with pytest.raises(ValueError, match="pattern of 5 vertices"):
            fit_gamma(kind, count(small, 5), np.array([0, 1]), [Settings()], Recipe(epochs=1), classes=2)


def test_tables_that_do_not_fit_a_model_are_refused() -> None:
    data = tables("sbm-20", 3)
    plain = count(GraphSet.from_edges([[(0, 1), (1, 2)]]), 3)
    larger = tables("sbm-20", 4)["test"][0]
    for kind in ("gnn", "rp"):
        stack = fitted(kind, [Settings(hidden=4)], Recipe(epochs=1), data)
        with pytest.raises(ValueError, match="got plain"):
            stack.logits(plain)
        with pytest.raises(ValueError, match=r"up to 3 .* of 4"):
            stack.logits(larger)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"permutations": 0}, "permutations must be at least 1, or 'all'; got 0"),
        ({"permutations": "some"}, "permutations must be at least 1, or 'all'; got 'some'"),
        ({"test_permutations": 0}, "test_permutations must be at least 1; got 0"),
        ({"patience": 0}, "patience must be at least 1; got 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"over": "all"}, "over must be one of subsets, maps, connected, occurrence, auto; got 'all'"),
        ({"tie_break": "last"}, "tie_break must be one of"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
    ],
)
def test_recipes_are_checked(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**wrong)


@pytest.mark.parametrize("wrong", [{"hidden": 0}, {"layers": 0}, {"lr": 0.0}, {"penalty": -1.0}, {"batch_size": 1}])
def test_settings_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}|penalties"):
        Settings(**wrong)


# ---- as plain arrays -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("top", [None, 20])
def test_a_stack_is_restored_from_its_state(kind: Any, top: int | None) -> None:
    data = tables("sbm-20", 3)
    recipe = Recipe(epochs=2, over="connected", head_hidden=5)
    stack = fitted(kind, [Settings(hidden=4, seed=s) for s in range(2)], recipe, data, top=top)
    about, arrays = stack.state()
    again = GammaStack.from_state(json.loads(json.dumps(about)), arrays)
    test: Counts = data["test"][0]
    assert np.array_equal(again.logits(test), stack.logits(test))
    assert np.array_equal(again.represent(test), stack.represent(test))


# ---- results of the paper ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["er-single", "er-multi"])
def test_edge_probabilities_are_learned_on_small_graphs_and_found_in_large_ones(kind: Any, task: str) -> None:
    data = tables(task, 5)
    recipe = Recipe(epochs=60, epoch="best", tie_break="loss")
    stack = fitted(kind, [Settings(hidden=16, seed=seed) for seed in range(3)], recipe, data)
    assert accuracies(stack, data["test"]).min() >= 0.99


# ---- Adam: many learning rates at once -----------------------------------------------------------------

RATES = [0.1, 0.01, 0.003]


def test_each_model_steps_as_torch_adam_would() -> None:
    source = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, 5, generator=source), torch.randn(3, 1, 5, generator=source)]
    ours = [nn.Parameter(tensor.clone()) for tensor in start]
    optimizer = StackAdam(ours, RATES)
    theirs = [[nn.Parameter(tensor[model].clone()) for tensor in start] for model in range(3)]
    others = [torch.optim.Adam(parts, lr=rate) for parts, rate in zip(theirs, RATES, strict=True)]
    for step in range(50):
        scale = 10 ** float(torch.randn((), generator=source))  # gradients of very different sizes
        for place, parameter in enumerate(ours):
            gradient = torch.randn(parameter.shape, generator=source) * scale
            parameter.grad = gradient.clone()
            for model in range(3):
                theirs[model][place].grad = gradient[model].clone()
        factor = 1 / (1 + step)
        optimizer.step(factor)
        for other, rate in zip(others, RATES, strict=True):
            other.param_groups[0]["lr"] = rate * factor
            other.step()
        for place, parameter in enumerate(ours):
            assert parameter.grad is None, "gradients are cleared"
            expected = torch.stack([theirs[model][place] for model in range(3)])
            torch.testing.assert_close(parameter.detach(), expected.detach(), rtol=1e-5, atol=1e-6, msg=f"step {step}")


def test_released_parameters_have_their_own_memory() -> None:
    parameters = [nn.Parameter(torch.full((3, size), float(size))) for size in (100, 5)]
    optimizer = StackAdam(parameters, RATES)
    assert [parameter.untyped_storage().nbytes() for parameter in parameters] == [4 * (320 + 64)] * 2
    optimizer.release()
    assert [parameter.untyped_storage().nbytes() for parameter in parameters] == [4 * 300, 4 * 15]
    assert [parameter.unique().tolist() for parameter in parameters] == [[100.0], [5.0]]


def test_a_parameter_without_gradient_stays() -> None:
    used, unused = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(2, 3))
    optimizer = StackAdam([used, unused], [0.1, 0.2])
    for _ in range(3):
        (used**2).sum().backward()
        optimizer.step()
    assert torch.equal(unused.detach(), torch.ones(2, 3))
    torch.testing.assert_close(used.detach()[:, 0], torch.tensor([0.7, 0.4]), rtol=0, atol=0.02)
