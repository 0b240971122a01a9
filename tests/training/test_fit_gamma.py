"""Gamma models at every k: training and prediction agree, and a difference in density is learned."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from training.helpers import tables as task_tables

from anysize import Counts, GraphClassifier, count
from anysize.methods.catalog import METHODS
from anysize.methods.configuration import resolve_configuration
from anysize.nn.layers import BatchNorm, initialize
from anysize.paper.theory.bias import bias_counts
from anysize.training.fit_gamma import GammaStack, fit_gamma
from anysize.training.settings import Recipe, Settings

Y = np.repeat([0, 1], 50)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def tables() -> dict[int, tuple[Counts, Counts]]:
    """G(n, 0.30) against G(n, 0.34), from 60 to 120 vertices."""
    small = [nx.gnp_random_graph(60, p, seed=seed) for p in (0.30, 0.34) for seed in range(50)]
    large = [nx.gnp_random_graph(120, p, seed=100 + seed) for p in (0.30, 0.34) for seed in range(50)]
    return {k: (count(small, k), count(large, k)) for k in (3, 4, 5)}


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("method", ["gamma-1hot", "gamma-gin", "gamma-rpgin"])
def test_a_small_difference_in_density_is_learned(
    method: str, k: int, tables: dict[int, tuple[Counts, Counts]]
) -> None:
    train, test = tables[k]
    assert GraphClassifier(method, k=k).fit(train, Y).score(test, Y) >= 0.95


@pytest.mark.parametrize("k", [3, 4])
def test_running_averages_are_those_of_all_patterns(k: int, tables: dict[int, tuple[Counts, Counts]]) -> None:
    """Without drawn recolorings every step sees the same rows: the averages must reproduce training exactly."""
    still = Settings(lr=1e-12)
    found = {}
    for averages in ("corrected", "torch"):
        stack = fit_gamma("gnn", tables[k][0], Y, [still], Recipe(epochs=200, averages=averages), classes=2)
        structure = stack.structure(*stack.vocabulary.densities(tables[k][0]))
        encode = stack.model.representation
        predicted = encode.eval()(structure)
        norms = [part for part in encode.modules() if isinstance(part, BatchNorm)]
        assert norms
        trained = encode.train()(structure)
        found[averages] = float((predicted - trained).abs().max().detach() / trained.abs().max().detach())
    assert found["corrected"] < 1e-3
    assert found["torch"] > 0.005


def test_no_batch_is_small() -> None:
    """100 graphs in batches of 32: four of 25, not one of 4."""
    from anysize.training.loop import _Run

    class Problem:
        size = 100

    run = object.__new__(_Run)
    run.batch, run.problem, run.device = 32, Problem(), torch.device("cpu")
    run.now = torch.zeros((), dtype=torch.int64)
    orders = {}
    for seeds in ([3], [5], [3, 5]):
        run.seeds = torch.tensor(seeds)
        batches = run._batches()
        assert [batch.shape[-1] for batch in batches] == [25] * 4
        orders[tuple(seeds)] = torch.cat(batches, -1)
    assert sorted(orders[3,].tolist()) == sorted(orders[5,].tolist()) == list(range(100))
    assert not torch.equal(orders[3,], orders[5,])  # every model has the order of its seed
    assert torch.equal(orders[3, 5], torch.stack([orders[3,], orders[5,]]))


def test_few_permutations_are_all_taken(tables: dict[int, tuple[Counts, Counts]]) -> None:
    stack = fit_gamma("rp", tables[4][0], Y, [Settings()], Recipe(epochs=1), classes=2)
    assert len({tuple(row) for row in stack.architecture.identities(6, 0)}) == 24
    paper = fit_gamma("rp", tables[4][0], Y, [Settings()], Recipe(epochs=1, max_permutations=1), classes=2)
    assert len(paper.architecture.identities(6, 0)) == 10
    assert not np.array_equal(paper.architecture.identities(6, 0), paper.architecture.identities(6, 1))
    assert len(stack.architecture.identities(10**6, 0)) == 10


# ---- options of training that the paper describes --------------------------------------------------


def test_identities_of_width_ten(tables: dict[int, tuple[Counts, Counts]]) -> None:
    """The text has one-hot identities of dimension 10, the authors' code of k; the last six are never on."""
    made = {}
    for width in (None, 10):
        recipe = Recipe(epochs=30, id_width=width, whiten=True)
        stack = fit_gamma("rp", tables[4][0], Y, [Settings(jumping=True)], recipe, classes=2)
        made[width] = stack
        first = stack.model.representation.first.weight
        assert first.shape[1] == 1 + (width or 4)
        restored = GammaStack.from_state(*stack.state())
        assert np.array_equal(restored.logits(tables[4][1]), stack.logits(tables[4][1]))
        assert (stack.logits(tables[4][0])[0].argmax(-1) == Y).mean() > 0.9
    untrained = made[10].architecture.build([True])
    initialize(untrained, [0])
    before, after = (model.representation.first.weight[:, 5:] for model in (untrained, made[10].model))
    assert torch.equal(before, after)  # no gradient
    with pytest.raises(ValueError, match="id_width must be at least k = 4"):
        fit_gamma("rp", tables[4][0], Y, [Settings()], Recipe(epochs=1, id_width=3), classes=2)


def test_the_number_of_parameters_depends_on_k_for_one_hot_rows_alone(tables: dict[int, tuple[Counts, Counts]]) -> None:
    """As the paper says; of Gamma_RPGIN it is true with identities of dimension 10, as in its text."""

    def parameters(kind: Any, k: int, **given: Any) -> int:
        stack = fit_gamma(kind, tables[k][0], Y, [Settings(8)], Recipe(epochs=1, **given), classes=2)
        return sum(one.numel() for one in stack.model.parameters())

    assert parameters("gnn", 3) == parameters("gnn", 5)
    assert parameters("rp", 3, id_width=10) == parameters("rp", 5, id_width=10)
    assert parameters("rp", 5) - parameters("rp", 3) == 2 * 8  # two more identities, eight hidden units
    assert parameters("1hot", 5) - parameters("1hot", 3) == (21 - 2) * 8  # as many rows as patterns


def test_identities_of_width_ten_by_name(tables: dict[int, tuple[Counts, Counts]]) -> None:
    model = GraphClassifier("gamma-rpgin", k=3, params={"id_width": 10, "epochs": 2}).fit(tables[3][0], Y)
    assert model.predict(tables[3][1]).shape == (100,)
    with pytest.raises(ValueError, match="id_width must be at least 1"):
        GraphClassifier("gamma-rpgin", k=3, params={"id_width": 0}).fit(tables[3][0], Y)
    with pytest.raises(ValueError, match="gin-sum has no parameter id_width"):
        resolve_configuration(METHODS["gin-sum"], "paper", colored=False, params={"id_width": 10})


@pytest.mark.parametrize(
    ("kind", "colored", "penalty", "given"),
    [
        ("1hot", True, 0.0, {}),
        ("gnn", True, 0.0, {}),
        ("gnn", True, 0.1, {"roles": True, "whiten": True}),
        ("gnn", False, 0.0, {"whiten": True}),
        ("rp", True, 0.1, {"over": "connected", "max_permutations": 1}),
        ("rp", False, 0.0, {}),
    ],
)
def test_densities_that_change_by_epoch(kind: Any, colored: bool, penalty: float, given: dict[str, Any]) -> None:
    """With the exact densities in every epoch nothing changes; others are seen in their epoch and in no other."""
    counts, y = task_tables(colored=colored)["train"]
    half = bias_counts(counts, np.linspace(0.2, 1.8, counts.shape[1]))
    seeds, batch = ((0, 0), None) if kind == "rp" else ((0, 1), 32)  # models that draw permutations have one seed
    members = [Settings(8, 2, penalty=penalty, jumping=bool(penalty), batch_size=batch, seed=seed) for seed in seeds]

    def fitted(members: list[Settings], sample: Any) -> GammaStack:
        return fit_gamma(kind, counts, y, members, Recipe(epochs=4, **given), classes=2, sample=sample)

    plain, same = (fitted(members, sample).trained for sample in (None, lambda epoch: counts))
    assert plain is not None
    assert same is not None
    for name in ("loss", "penalty"):
        torch.testing.assert_close(plain.curves[name], same.curves[name], rtol=1e-4, atol=1e-5)
    still = [Settings(hidden=8, lr=1e-12)]
    asked: list[int] = []

    def alternating(epoch: int) -> Counts:
        asked.append(epoch)
        return half if epoch % 2 else counts

    losses = {
        name: fitted(still, sample).trained.curves["loss"][:, 0].numpy()  # type: ignore[union-attr]
        for name, sample in (("exact", None), ("half", lambda epoch: half), ("alternating", alternating))
    }
    assert asked == [0, 1, 2, 3]
    assert abs(losses["exact"][1] - losses["half"][1]) > 1e-4
    expected = np.where(np.arange(4) % 2, losses["half"], losses["exact"])
    np.testing.assert_allclose(losses["alternating"], expected, rtol=1e-5)


def test_sampled_densities_are_drawn_again_in_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set by name; every epoch has its own seed, and the mean over epochs is the exact table."""
    import anysize.counting.api as api

    drawn: list[Counts] = []
    exact = api.count

    def spied(*arguments: Any, **given: Any) -> Counts:
        counts = exact(*arguments, **given)
        if given.get("engine") == "sample":
            assert (given["samples"], given["seed"]) == (50, len(drawn))
            drawn.append(counts)
        return counts

    monkeypatch.setattr(api, "count", spied)
    graphs = [nx.gnp_random_graph(12, p, seed=seed) for p in (0.3, 0.6) for seed in range(10)]
    y = np.repeat([0, 1], 10)
    given = {"samples": 50, "epochs": 30, "lr": 0.05}
    model = GraphClassifier("gamma-gin", k=3, params=given, check=False).fit(graphs, y)
    assert len(drawn) == 30
    assert model.score([nx.gnp_random_graph(30, p, seed=99) for p in (0.3, 0.6)], [0, 1]) == 1
    tables = np.stack([counts.align(drawn[0]).matrix.toarray() for counts in drawn])
    assert (tables[0] != tables[1]).any()
    error = tables.std(axis=0) / np.sqrt(30)
    assert (np.abs(tables.mean(axis=0) - exact(graphs, 3).matrix.toarray()) <= 4.5 * error + 1e-9).all()
    with pytest.raises(ValueError, match="training on sampled densities needs whole graphs"):
        GraphClassifier("gamma-gin", k=3, params=given).fit(exact(graphs, 3), y)
    with pytest.raises(ValueError, match="samples must be at least 1"):
        GraphClassifier("gamma-gin", k=3, params={"samples": 0}).fit(graphs, y)
