"""The size-invariant representations of the paper: Gamma(G) = densities of patterns @ embeddings of patterns.

Gamma_1-hot (eq. 4) learns an embedding per pattern. Gamma_GNN (eq. 6) computes it by message passing. Gamma_GNN+
(eq. 7) does so with identities under permutations, averaged (relational pooling), and tells all patterns apart.
All of them hold M models with a leading axis; M = 1 is the ordinary case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anysize.nn.encoders import Embeddings, Encoder
from anysize.nn.heads import Head
from anysize.nn.layers import BatchNorm, Linear
from anysize.nn.rows.structure import Structure, Sums


class GammaOneHot(nn.Module):
    """One learned row per pattern of the training vocabulary; a pattern that training never saw has none."""

    def __init__(self, models: int, patterns: int, width: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.empty(models, patterns, width))
        self.width = width

    def bounds(self) -> dict[str, float]:
        return {"rows": 1 / math.sqrt(max(self.rows.shape[1], 1))}

    @torch.no_grad()
    def keep(self, seen: Tensor) -> None:
        """Patterns (patterns,) that no training graph has start, and so stay, at zero: they have no gradient."""
        self.rows[:, ~seen] = 0

    def encode(self, structure: Structure) -> Embeddings:
        return [(0, self.rows)]

    def forward(self, structure: Structure) -> Tensor:
        """(models, graphs, width): the densities times the learned rows."""
        return read(self.encode(structure), structure.readouts)


class GammaGNN(nn.Module):
    """Patterns embedded by message passing and summed over their vertices.

    The columns are those of the last layer; with ``jumping`` those of all earlier levels follow, down to the
    features themselves (jumping knowledge).
    """

    def __init__(
        self, models: int, inputs: int, hidden: int, layers: int, kind: str = "gin", jumping: bool = True
    ) -> None:
        super().__init__()
        self.encoder = Encoder(kind, models, inputs, hidden, layers)
        self.jumping = jumping
        self.width = sum(self.encoder.widths) if jumping else hidden

    @property
    def last_width(self) -> int:
        """The columns that a model without jumping knowledge reads: the first ones."""
        return self.encoder.widths[-1]

    def encode(self, structure: Structure) -> Embeddings:
        """Embeddings of the rows that are read out, the last level first."""
        return self._read(self.encoder(structure))

    def _read(self, levels: Embeddings) -> Embeddings:
        return levels[::-1] if self.jumping else levels[-1:]

    def forward(self, structure: Structure) -> Tensor:
        """(models, items, width): patterns or graphs, as the structure reads out."""
        return read(self.encode(structure), structure.readouts)


class GammaRP(GammaGNN):
    """Relational pooling: features [color, identity] pass a small MLP before message passing."""

    def __init__(
        self, models: int, inputs: int, hidden: int, layers: int, kind: str = "gin", jumping: bool = True
    ) -> None:
        super().__init__(models, hidden, hidden, layers, kind, jumping)
        self.first, self.second = Linear(models, inputs, hidden), Linear(models, hidden, hidden)
        self.width += inputs if jumping else 0

    def encode(self, structure: Structure) -> Embeddings:
        lifted = self.second(torch.relu(self.first(structure.features)))
        return self._read([(0, structure.features[None]), *self.encoder(structure, lifted)])


Gamma = GammaOneHot | GammaGNN


def read(rows: Embeddings, sums: Sequence[Sums], slopes: Tensor | None = None) -> Tensor:
    """Rows read out into items, the levels side by side: (models, items, width).

    With ``slopes`` (models, width, columns) the items times the slopes, (models, items, columns), formed on the
    rows, which are far fewer than the items and their columns.
    """
    if slopes is None:
        found = [sums[level](h) for level, h in rows]
        models = max(part.shape[0] for part in found)
        return torch.cat([part.expand(models, -1, -1) for part in found], dim=-1)
    total: Tensor | int = 0
    start = 0
    for level, h in rows:
        total = total + sums[level](h @ slopes[:, start : start + h.shape[-1]])
        start += h.shape[-1]
    return torch.as_tensor(total)


class GraphModel(nn.Module):
    """A representation and the head on it: M classifiers of graphs."""

    columns: Tensor

    def __init__(self, representation: Gamma, head: Head, columns: Tensor) -> None:
        super().__init__()
        self.representation, self.head = representation, head
        self.register_buffer("columns", columns)  # (models, width, 1): what jumping knowledge lets through

    @staticmethod
    def of(
        representation: Gamma, models: int, classes: int, jumping: Sequence[bool],
        hidden: int | None = None, dropout: float = 0.0, normalize: bool = True, corrected: bool = False,
    ) -> GraphModel:  # fmt: skip
        """The representation with a head, jumping knowledge switched on or off model by model.

        ``corrected``: how batch norm averages, see `BatchNorm`.
        """
        columns = torch.ones(models, representation.width, 1)
        if isinstance(representation, GammaGNN):
            for model, on in enumerate(jumping):
                if not on:
                    columns[model, representation.last_width :] = 0
        head = Head(models, representation.width, classes, hidden, dropout, normalize, columns)
        model = GraphModel(representation, head, columns)
        for part in model.modules():
            if isinstance(part, BatchNorm):
                part.corrected = corrected
        return model

    def forward(self, structure: Structure) -> Tensor:
        """Logits (models, graphs, classes)."""
        logits: Tensor = self.head(self.representation(structure))[0]
        return logits

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters and buffers as plain arrays, for a model file."""
        return {f"model.{name}": tensor.cpu().numpy() for name, tensor in self.state_dict().items()}

    def take(self, arrays: Mapping[str, NDArray[Any]]) -> GraphModel:
        """Itself with what `arrays` gave, among which there may be others; ready to predict."""
        own = {name.removeprefix("model."): array for name, array in arrays.items() if name.startswith("model.")}
        self.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in own.items()})
        return self.eval()

    def represent(self, structure: Structure) -> Tensor:
        """The representation (models, graphs, width), with columns that the head never reads set to zero."""
        gamma: Tensor = self.representation(structure) * self.columns.transpose(1, 2)
        return gamma
