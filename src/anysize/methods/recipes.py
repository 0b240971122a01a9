"""The two recipes: the paper's, by family of tasks, and the robust one, which is the default."""

from __future__ import annotations

from dataclasses import replace

from anysize.learning.settings import Recipe

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


def robust_recipe(method: str, gamma: bool, family: str | None) -> Recipe:
    """What holds over many data sets: densities over subsets, colours by role, a penalty on logits, the last epoch.

    GNNs on whole graphs have no penalty; they take the best epoch, ties by validation loss.
    """
    if family == "tu":
        return Recipe(epochs=300, epoch="best", tie_break="loss", patience=60, head_hidden=128, dropout=0.3)
    if gamma and method != "gamma-1hot":
        return Recipe(epochs=300, epoch="last", roles=method != "gamma-gin-free")
    return Recipe(epochs=300, epoch="best", tie_break="loss")
