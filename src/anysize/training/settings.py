"""What decides a run: the settings of one model (a point of a grid) and the recipe that a whole table row shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Epoch = Literal["best", "last"]
TieBreak = Literal["first", "loss", "penalty"]
Over = Literal["subsets", "maps", "connected"]
Penalty = Literal["representation", "logit"]


@dataclass(frozen=True)
class Settings:
    """One model. Those of one ``shape`` are trained as one stack, whatever their seeds, rates and penalties.

    ``penalty``: weight of the attribute penalty; ``invariance``: weight of the penalty of an objective that compares
    environments, such as IRM; ``jumping``: whether the representation joins all layers; ``batch_size`` None: all
    graphs at once.
    """

    hidden: int = 32
    layers: int = 1
    lr: float = 0.01
    penalty: float = 0.0
    jumping: bool = False
    batch_size: int | None = None
    invariance: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("hidden", "layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        if not self.lr > 0:
            raise ValueError(f"lr must be above 0; got {self.lr}")
        for name in ("penalty", "invariance"):
            if getattr(self, name) < 0:
                raise ValueError(f"a penalty must not weigh less than 0; got {name}={getattr(self, name)}")
        if self.batch_size is not None and self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2, or None for all graphs; got {self.batch_size}")

    @staticmethod
    def from_state(about: Mapping[str, Any]) -> Settings:
        """From what a file keeps; in files of early versions ``invariance`` is called ``irm``.

        >>> Settings.from_state({"hidden": 8, "irm": 4.0}).invariance
        4.0
        """
        return Settings(**{"invariance" if name == "irm" else name: value for name, value in about.items()})

    @property
    def shape(self) -> tuple[int, int, int, bool]:
        """What a stack has in common. Whether there is a penalty belongs to it: with recolored twins in the batch,
        batch norm has other statistics than without."""
        return self.hidden, self.layers, self.batch_size or 0, self.penalty > 0


@dataclass(frozen=True)
class Recipe:
    """How models are trained and which epoch is kept.

    ``over``: what densities are shares of. ``penalty``: where the attribute penalty is taken. ``head_hidden``: units
    of the head's hidden layer, None for a linear head. ``permutations``: of relational pooling, per step;
    ``test_permutations``: fixed ones at prediction. ``encoder``: the GNN behind Gamma_GNN.
    ``roles``: colors that can be exchanged (see `anysize.training.color_roles`) are one input of the model.
    ``averages``: those of batch norm, begun at the first batch (``corrected``) or at 0 and 1 as in ``torch``.
    """

    over: Over = "subsets"
    penalty: Penalty = "logit"
    epochs: int = 300
    epoch: Epoch = "last"
    tie_break: TieBreak = "first"
    patience: int | None = None
    head_hidden: int | None = None
    dropout: float = 0.0
    permutations: int | Literal["all"] = 3
    test_permutations: int = 10
    encoder: Literal["gin", "gcn", "pna"] = "gin"
    roles: bool = False
    averages: Literal["corrected", "torch"] = "corrected"

    def __post_init__(self) -> None:
        choices = {
            "over": ("subsets", "maps", "connected"), "penalty": ("representation", "logit"),
            "epoch": ("best", "last"), "tie_break": ("first", "loss", "penalty"), "encoder": ("gin", "gcn", "pna"),
            "averages": ("corrected", "torch"),
        }  # fmt: skip
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        if self.permutations != "all" and not (isinstance(self.permutations, int) and self.permutations >= 1):
            raise ValueError(f"permutations must be at least 1, or 'all'; got {self.permutations!r}")
        for name in ("test_permutations", "patience", "head_hidden"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        if self.epochs < 1:
            raise ValueError(f"epochs must be at least 1; got {self.epochs}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be from 0 up to, not including, 1; got {self.dropout}")
