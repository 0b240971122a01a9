"""Parameters, configurations and recipes, and the weights of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from anysize import METHODS
from anysize.methods.configuration import (
    check_params,
    resolve_configuration,
    split_configuration,
)
from anysize.methods.method import RECIPES, class_weights
from anysize.paper.tasks import TASKS


def test_parameters_change_the_defaults_or_the_recipe() -> None:
    gamma = METHODS["gamma-gin"]
    given = {"hidden": 8, "epochs": 5, "over": "maps", "k": 3, "top": 7}
    configuration, recipe = resolve_configuration(gamma, "paper", family="sbm", colored=True, params=given)
    assert configuration == gamma.default("paper") | {"hidden": 8, "k": 3, "top": 7}
    assert configuration["penalty"] == 0.15
    assert (recipe.epochs, recipe.over) == (5, "maps")
    assert recipe.epoch == gamma.recipe("paper", "sbm").epoch
    assert resolve_configuration(gamma, "paper", colored=False)[0] == gamma.defaults


def test_a_task_with_a_grid_of_its_own_changes_the_defaults() -> None:
    configuration = METHODS["gamma-gin"].default("paper", "tu", colored=False, task="DD")
    assert configuration["batch_size"] == 256
    assert configuration["layers"] == 2
    assert METHODS["gamma-1hot"].default("paper", "tu", task="DD")["batch_size"] == 64


def test_batches_on_dd_are_those_of_the_appendix() -> None:
    """256 "to reduce the number of times the subgraphs are passed to the network"; Gamma_1-hot has no such network."""
    batches = {
        name: {point["batch_size"] for point in METHODS[name].points("tu", "DD")}
        for name in ("gamma-1hot", "gamma-gin", "gamma-rpgin", "gin-sum")
    }
    assert batches["gamma-gin"] == batches["gamma-rpgin"] == {256}
    assert batches["gamma-1hot"] == batches["gin-sum"] == {64, 128}
    assert len(METHODS["gamma-1hot"].points("tu", "DD")) == 12


@pytest.mark.parametrize("name", ["gin-sum", "pna-mean", "gcn-irm", "gin-vrex", "gin-plain", "gin-ssr"])
def test_networks_on_whole_graphs_share_one_robust_recipe_for_all_families(name: str) -> None:
    method = METHODS[name]
    expected = {"lr": 0.003, "batch_size": 64, "layers": 3, "hidden": 32}
    for family in (None, "sbm", "tu"):
        assert expected.items() <= method.default("robust", family).items()
        recipe = method.recipe("robust", family)
        assert (recipe.epochs, recipe.epoch, recipe.schedule) == (60, "last", "cosine")


def test_the_recipe_of_the_paper_trains_gnns_on_all_graphs_at_once() -> None:
    paper = METHODS["gin-sum"].default("paper", "sbm")
    assert paper == {"hidden": 32, "layers": 2, "lr": 0.01, "jumping": False}
    assert check_params(METHODS["gin-sum"], {"batch_size": None}) == {"batch_size": None}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", METHODS)
def test_defaults_pass_their_own_checks(name: str, recipe: Any) -> None:
    for task in TASKS.values():
        configuration = METHODS[name].default(recipe, task.family, task=task.name)
        assert check_params(METHODS[name], configuration) == configuration


@pytest.mark.parametrize(
    ("name", "params", "key"),
    [
        ("gamma-gin", {"hiden": 3}, "no parameter hiden"),
        ("gin-sum", {"over": "maps"}, "no parameter over"),  # densities are of patterns
        ("gin-sum", {"k": 3}, "no parameter k"),
        ("majority", {"epochs": 3}, "no parameter epochs"),
        ("gamma-gin", {"batch_size": 1}, "batch_size must be a whole number of at least 2"),
        ("gamma-gin", {"top": 2**31}, "top must be a whole number of at most"),
        ("gamma-gin", {"lr": float("nan")}, "lr must be a number above 0"),
        ("gamma-gin", {"penalty": -1}, "penalty must be a number of at least 0"),
        ("gamma-gin", {"jumping": 1}, "jumping must be True or False"),
        ("gamma-gin", {"patience": "abc"}, "patience='abc'"),
        ("gamma-gin", [("hidden", 3)], "must be a mapping"),
    ],
)
def test_wrong_parameters_are_refused(name: str, params: Any, key: str) -> None:
    with pytest.raises(ValueError, match=key):
        resolve_configuration(METHODS[name], "robust", colored=True, params=params)


def test_a_penalty_on_colors_needs_colors() -> None:
    gamma = METHODS["gamma-gin"]
    with pytest.raises(ValueError, match="needs vertex colors"):
        resolve_configuration(gamma, "robust", colored=False, params={"penalty": 0.1})
    assert resolve_configuration(gamma, "robust", colored=False, params={"penalty": 0})[0]["penalty"] == 0
    assert resolve_configuration(METHODS["gin-irm"], "robust", colored=False, params={"irm": 4})[0]["irm"] == 4


def test_a_configuration_is_split_into_model_and_recipe() -> None:
    gin = METHODS["gin-sum"]
    model, recipe = split_configuration(gin, {"hidden": 64, "penalty": 0.3, "epochs": 50}, gin.recipe("paper"))
    assert model == {"hidden": 64, "penalty": 0.3}  # the weight of the penalty, not its place in the recipe
    assert (recipe.epochs, recipe.penalty_on) == (50, "representation")


def test_penalties_have_a_name_and_a_check() -> None:
    for method in METHODS.values():
        assert method.penalty_name is None or method.penalty_name in method.parameters, method.name


# ---- class weights ---------------------------------------------------------------------------------


def test_balanced_weights_are_those_of_scikit_learn() -> None:
    y = np.array([0, 0, 0, 1, 2, 2])
    np.testing.assert_allclose(class_weights(y, 3), compute_class_weight("balanced", classes=np.arange(3), y=y))
    np.testing.assert_allclose(class_weights(y, 3, "inverse"), 3 * class_weights(y, 3))
    assert class_weights(np.array([0, 2]), 3).tolist() == [2 / 3, 0.0, 2 / 3]


def test_published_tasks_keep_the_scale_of_their_records() -> None:
    rules = {name: task.class_weights for name, task in TASKS.items()}
    assert {name for name, rule in rules.items() if rule == "inverse"} == {"NCI1", "NCI109", "PROTEINS", "DD"}
    assert set(rules.values()) == {None, "inverse"}
