"""Which rule explains the published rows best: against numbers computed by hand."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, pi, sqrt

import pytest
from evaluation.helpers import made

from anysize.evaluation.records import Outcome, Scores
from anysize.evaluation.store import RecordStore
from anysize.paper.epoch_rules import compare_rules, main, rules_table
from anysize.training.settings import EPOCH_RULES

# published: gin-sum on sbm-20 has .64 (.17), gcn-sum .62 (.09)


def runs(method="gin-sum", **tests):
    """Ten seeds with these test scores under the rules, underscores for hyphens."""
    named = {name: tests[name.replace("-", "_")] for name in EPOCH_RULES}
    others = {name: Outcome(Scores(1.0, 1.0, test), Scores(validation=0.1), epoch=5) for name, test in named.items()}
    return [replace(made(method=method, seed=seed), alternatives=others) for seed in range(10)]


GIN = runs(first_best=0.40, best_lowest_loss=0.60, lowest_loss=0.90, best_lowest_penalty=0.40, last=0.55)
GCN = runs("gcn-sum", first_best=0.50, best_lowest_loss=0.60, lowest_loss=0.62, best_lowest_penalty=0.50, last=0.30)


def test_likelihood_difference_and_rank():
    best, *others = compare_rules([*GIN, *GCN])
    assert (best.rule, best.cells) == ("best-lowest-loss", 2)
    expected = [-0.5 * (d / s) ** 2 - log(s * sqrt(2 * pi)) for d, s in ((0.04, 0.17), (0.02, 0.09))]
    assert best.likelihood == pytest.approx(sum(expected) / 2)
    assert best.difference == pytest.approx(0.03)
    assert best.rank == pytest.approx((1 + 2) / 2)  # the closest on GIN, the second closest on GCN
    assert best.wins + sum(fit.wins for fit in others) == pytest.approx(1)


def test_configurations_that_tie_count_on_average():
    other = [replace(run, configuration={"hidden": 64}, alternatives={
        name: Outcome(Scores(1.0, 1.0, 0.74), epoch=5) for name in EPOCH_RULES}) for run in GIN]  # fmt: skip
    fit = next(fit for fit in compare_rules([*GIN, *other]) if fit.rule == "best-lowest-loss")
    assert fit.difference == pytest.approx((0.04 + 0.10) / 2)
    densities = [exp(-0.5 * (d / 0.17) ** 2) / (0.17 * sqrt(2 * pi)) for d in (0.04, 0.10)]
    assert fit.likelihood == pytest.approx(log(sum(densities) / 2))


def test_only_cells_that_kept_every_rule_and_have_a_published_number_take_part():
    lacking = [made(method="pna-sum", seed=seed) for seed in range(10)]
    others = [replace(run, method="gamma-gin-free") for run in GIN] + [replace(run, recipe="robust") for run in GIN]
    fits = compare_rules([*GIN, *lacking, *others])
    assert {fit.cells for fit in fits} == {1}
    assert compare_rules(lacking) == []
    assert compare_rules(GIN, table=1) == []
    assert compare_rules(GIN, table=2) == fits


def test_gamma_models_take_part_and_are_compared_apart_too():
    gamma = [replace(run, method="gamma-gin") for run in GIN]  # published: .98
    fits = {kinds: compare_rules([*GIN, *gamma], kinds=kinds) for kinds in (("gnn",), ("gamma",), ("gnn", "gamma"))}
    assert [{fit.cells for fit in found} for found in fits.values()] == [{1}, {1}, {2}]
    first = {kinds: next(f for f in found if f.rule == "lowest-loss").difference for kinds, found in fits.items()}
    assert list(first.values()) == pytest.approx([0.26, 0.08, 0.17])
    assert compare_rules([*GIN, *gamma]) == fits["gnn", "gamma"]
    assert "| GNNs (1 cells) | Γ models (1 cells) | Table 2 (2 cells) |" in rules_table([*GIN, *gamma])


def test_the_command_prints_a_table(tmp_path, capsys):
    RecordStore(tmp_path).write([*GIN, *GCN])
    assert main(["--records", str(tmp_path)]) == 0
    assert capsys.readouterr().out == rules_table([*GIN, *GCN])
    assert "| `best-lowest-loss` | 0.040 | 1.0 | " in rules_table(GIN)
    RecordStore(tmp_path / "empty").write([made()])
    assert main(["--records", str(tmp_path / "empty")]) == 1
