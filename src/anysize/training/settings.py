"""What defines a training run: the settings of one model (a point of a grid), and the recipe of a table row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from anysize.counting.counts import Over

EncoderName = Literal["gin", "gcn", "pna"]
Epoch = Literal["best", "last"]
Penalty = Literal["representation", "logit"]
TieBreak = Literal["first", "loss", "penalty"]
Averages = Literal["corrected", "torch"]
Schedule = Literal["constant", "cosine"]
Densities = Literal[Over, "occurrence"]
DensitiesOrAuto = Literal[Densities, "auto"]

# The epochs at which runs are scored: the first with the best validation score; the one with the lowest validation
# loss among the best; the lowest validation loss of all; the smallest penalty among the best; the last.
EPOCH_RULES = ("first-best", "best-lowest-loss", "lowest-loss", "best-lowest-penalty", "last")
FIRST_BEST, BEST_LOWEST_LOSS, LOWEST_LOSS, BEST_LOWEST_PENALTY, LAST = EPOCH_RULES

# Fields of a recipe -> the type that lists their values.
_CHOICES: Mapping[str, Any] = {
    "over": DensitiesOrAuto, "penalty_on": Penalty, "epoch": Epoch, "tie_break": TieBreak, "averages": Averages,
    "schedule": Schedule,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """One model. Models with the same ``stack_key`` can be trained as one stack.

    ``penalty``: weight of the color penalty. ``invariance``: weight of the penalty of an objective that compares
    environments, such as IRM. ``jumping``: jumping knowledge, the representation joins all layers. ``batch_size`` None:
    all graphs at once.
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
                raise ValueError(f"{name} must be at least 0; got {getattr(self, name)}")
        if self.batch_size is not None and self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2, or None for all graphs; got {self.batch_size}")

    @property
    def stack_key(self) -> tuple[int, int, int, bool]:
        """What the models of a stack have in common.

        Whether there is a color penalty is part of it: recolored patterns in the batch change the statistics of batch
        norm.
        """
        return self.hidden, self.layers, self.batch_size or 0, self.penalty > 0


@dataclass(frozen=True)
class Recipe:
    """How models are trained and which epoch is kept.

    ``over``: the denominator of densities; ``occurrence``: 1 for every pattern that occurs; ``auto``: that or the share
    among connected subsets, whichever carries over to the larger training graphs. ``samples``: train on densities that
    are estimated from so many samples per graph and drawn again in every epoch, as the authors did for block models;
    None: on exact ones. ``penalty_on``: where the color penalty is measured. ``head_hidden``: units of the head's
    hidden layer, None for a linear head. ``permutations``: of relational pooling, per training step;
    ``test_permutations``: fixed ones for prediction; ``max_permutations``: the average is over all k! permutations if
    k! is at most this. ``id_width``: of the one-hot identities of Gamma_RPGIN, None for k, as in the authors' code (the
    paper's text: 10). ``whiten``: densities are whitened, or scaled topology by topology where patterns are colored.
    ``roles``: interchangeable colors (see `anysize.training.color_roles`) are one input of the model.
    ``averages``: running averages of batch norm start at the first batch and, for patterns, have the variance over all
    of them (``corrected``), or start at 0 and 1 and have the variance times n / (n - 1) (``torch``).
    ``schedule``: the learning rate is constant or falls to 0 along half a cosine, so that the last epoch is a settled
    one: at a constant rate the loss jumps now and then.
    """

    over: DensitiesOrAuto = "subsets"
    penalty_on: Penalty = "logit"
    epochs: int = 300
    epoch: Epoch = "last"
    tie_break: TieBreak = "first"
    patience: int | None = None
    head_hidden: int | None = None
    dropout: float = 0.0
    permutations: int | Literal["all"] = 3
    test_permutations: int = 10
    max_permutations: int = 120
    id_width: int | None = None
    samples: int | None = None
    whiten: bool = False
    roles: bool = False
    averages: Averages = "corrected"
    schedule: Schedule = "constant"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in get_args(choices):
                raise ValueError(f"{name} must be one of {', '.join(get_args(choices))}; got {getattr(self, name)!r}")
        if self.permutations != "all" and not (isinstance(self.permutations, int) and self.permutations >= 1):
            raise ValueError(f"permutations must be at least 1, or 'all'; got {self.permutations!r}")
        for name in ("epochs", "test_permutations", "patience", "head_hidden", "id_width", "samples"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout}")

    @staticmethod
    def from_file(stored: Mapping[str, Any]) -> Recipe:
        """The recipe that a model file holds; earlier versions had other fields."""
        encoder = stored.get("encoder", "gin")
        if encoder != "gin":
            raise ValueError(f"expected a model with GIN on its patterns, the only encoder there; got {encoder!r}")
        renamed = {"penalty": "penalty_on"}
        return Recipe(**{renamed.get(name, name): value for name, value in stored.items() if name != "encoder"})
