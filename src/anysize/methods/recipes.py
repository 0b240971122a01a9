"""The two recipes: the paper's, by family of tasks, and the robust one, which is the default."""

from __future__ import annotations

from dataclasses import replace

from anysize.training.settings import Recipe

NO_TRAINING = Recipe(epochs=1)  # kernels and sanity rows have no epochs


def paper_recipe(family: str | None) -> Recipe:
    """As in the appendix: 500 epochs (brain 400, TU 1000), first best validation epoch, shares of connected subsets.

    TU: a head with one hidden layer of 128 units and dropout .3. Brain: no validation set, the last epoch.
    """
    base = Recipe(
        over="connected", penalty="representation", epochs=500, epoch="best", tie_break="first", averages="torch"
    )
    if family == "brain":
        return replace(base, epochs=400, epoch="last")
    if family == "tu":
        return replace(base, epochs=1000, head_hidden=128, dropout=0.3)
    return base


def gnn_recipe(name: str, family: str | None) -> Recipe:
    """Of GNNs on whole graphs, and of Gamma_1-hot: the paper's, or the best epoch, ties by validation loss."""
    if name == "paper":
        return paper_recipe(family)
    if family == "tu":
        return Recipe(epochs=300, epoch="best", tie_break="loss", patience=60, head_hidden=128, dropout=0.3)
    return Recipe(epochs=300, epoch="best", tie_break="loss")


def gamma_recipe(name: str, family: str | None, roles: bool = True) -> Recipe:
    """Of Gamma models with a penalty: the robust recipe is what holds over many data sets.

    Densities over subsets, colors by role, a penalty on logits, the last epoch.
    """
    if name == "paper" or family == "tu":
        return gnn_recipe(name, family)
    return Recipe(epochs=300, epoch="last", roles=roles)
