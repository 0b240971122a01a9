"""Methods of other groups for graphs of other sizes, one GIN and one recipe for all of them (docs/why-these-rows.md).

`anysize.nn.peers` has the modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anysize.methods.configuration import number, weight, whole_number
from anysize.methods.method import Method, RecipeName, Validator
from anysize.methods.neural import GNN_RECIPE, GNN_TRAINING, TRAINED
from anysize.methods.own import ModuleLearner, module_method
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from torch import nn

NETWORK: Mapping[str, Any] = {"hidden": 32, "layers": 3, "readout": "sum", **GNN_TRAINING}


@dataclass(frozen=True)
class PeerModule:
    """The module of `anysize.nn.peers` with this name, which is imported when it is built."""

    name: str

    def __call__(self, inputs: int, classes: int, **parameters: Any) -> nn.Module:
        from anysize.nn import peers

        module: nn.Module = getattr(peers, self.name)(inputs, classes, **parameters)
        return module


def peer_recipe(name: RecipeName, family: str | None, vanishing: bool = False) -> Recipe:
    """The robust recipe of GNNs, under both names: what authors published instead is in configurations."""
    return GNN_RECIPE


def share(name: str, value: Any) -> float:
    """The value as a float above 0 and at most 1."""
    if not 0 < number(value) <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1; got {value!r}")
    return float(value)


CIGA_CHECKS: Mapping[str, Validator] = {"ratio": share, "alpha": weight, "beta": weight}
GSAT_CHECKS: Mapping[str, Validator] = {"beta": weight, "interval": whole_number}
CROP_CHECKS: Mapping[str, Validator] = {"probability": share, "smallest": share}


def _peer(
    name: str, title: str, module: str, checks: Mapping[str, Validator], published: Mapping[str, Any] | None = None,
    *, numbers: bool = True, **defaults: Any,
) -> Method:  # fmt: skip
    """A row; ``published``: the settings of its authors that are the same for all sets, for the recipe ``paper``."""
    return module_method(
        name=name,
        title=title,
        learner=ModuleLearner(PeerModule(module), edge_types=True),
        defaults={**NETWORK, **defaults},
        family_defaults={},
        parameters={"hidden": TRAINED["hidden"], "layers": whole_number, **checks},
        recipes=peer_recipe,
        numbers=numbers,
        paper=published,
    )


SELECTED: Mapping[str, Any] = {"epoch": "best", "schedule": "constant"}  # by validation, at a constant rate
SSR_PUBLISHED = {"epochs": 1000, **SELECTED}
CIGA_PUBLISHED = {"lr": 0.001, "batch_size": 32, "epochs": 400, "patience": 20, **SELECTED}
GSAT_PUBLISHED = {"layers": 2, "hidden": 64, "lr": 0.001, "batch_size": 128, "epochs": 100, **SELECTED}
DANN_PUBLISHED = {"readout": "mean", "lr": 0.001, "epochs": 200, **SELECTED}

PEERS = (
    _peer("gin-plain", "GIN, plain recipe", "GIN", {}),
    _peer("gin-ssr", "GIN + SizeShiftReg", "SizeShiftReg", {"ssr": weight}, SSR_PUBLISHED, ssr=0.1),
    _peer("gin-ciga", "GIN + CIGA", "CIGA", CIGA_CHECKS, CIGA_PUBLISHED, numbers=False, ratio=0.6, alpha=1.0, beta=0.0),
    _peer(
        "gin-gsat", "GIN + GSAT", "GSAT", GSAT_CHECKS, GSAT_PUBLISHED, beta=1.0, final_r=0.7, interval=10, dropout=0.5
    ),
    _peer("gin-dann", "GIN + DANN on sizes", "DANN", {"strength": weight}, DANN_PUBLISHED, strength=1.0),
    _peer("gin-crop", "GIN on random crops", "Crop", CROP_CHECKS, probability=0.5, smallest=0.5),
)
