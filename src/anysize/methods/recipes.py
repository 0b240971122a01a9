"""The two recipes: the paper's, by family of tasks, and the robust one, which is the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from anysize.training.settings import Recipe

RecipeName = Literal["robust", "paper"]
RECIPES: tuple[RecipeName, ...] = get_args(RecipeName)


def check_recipe(name: str) -> None:
    """Raise an error for a name that is no recipe."""
    if name not in RECIPES:
        raise ValueError(f"recipe must be one of {', '.join(RECIPES)}; got {name!r}")


NO_TRAINING = Recipe(epochs=1)  # for kernels and baselines, which have no epochs
PAPER = Recipe(
    over="connected",
    penalty="representation",
    epochs=500,
    epoch="best",
    tie_break="first",
    averages="torch",
    max_permutations=1,
)
BEST_EPOCH = Recipe(epochs=300, epoch="best", tie_break="loss", whiten=True)  # the robust recipe without penalty
LAST_EPOCH = Recipe(epochs=300, epoch="last", whiten=True, schedule="cosine")  # the robust recipe with penalty

_TU_HEAD: Mapping[str, Any] = {"head_hidden": 128, "dropout": 0.3}
# What families of tasks change. Brain networks have no validation set, so that the last epoch is kept.
PAPER_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "brain": {"epochs": 400, "epoch": "last"}, "tu": {"epochs": 1000, **_TU_HEAD},
}  # fmt: skip
ROBUST_CHANGES: Mapping[str, Mapping[str, Any]] = {"tu": {"patience": 60, **_TU_HEAD}}


def gnn_recipe(name: RecipeName, family: str | None, sparse: bool = False) -> Recipe:
    """Recipes of GNNs on whole graphs and of Gamma_1-hot.

    ``paper``: as in its appendix, 500 epochs (brain 400, TU 1000), the first of the epochs with the best validation
    score, densities over connected subsets. ``robust``: the best epoch, ties broken by validation loss; densities
    over all subsets, or over connected ones if graphs are ``sparse``, because the others vanish with size.
    """
    base, changes = (PAPER, PAPER_CHANGES) if name == "paper" else (BEST_EPOCH, ROBUST_CHANGES)
    recipe = replace(base, **changes.get(family or "", {}))
    return replace(recipe, over="connected") if sparse else recipe


def gamma_recipe(name: RecipeName, family: str | None, sparse: bool = False, roles: bool = True) -> Recipe:
    """Recipes of Gamma models with a penalty.

    ``robust``: densities over all subsets, colors by role, the penalty on logits, a falling learning rate and the last
    epoch. On ``sparse`` graphs the recipe is that of Gamma_1-hot, without penalty: the theory behind the penalty is
    that of dense graphs.
    """
    if name == "paper" or sparse:
        return gnn_recipe(name, family, sparse)
    return replace(LAST_EPOCH, roles=roles)
