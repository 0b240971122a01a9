"""The size-invariant representations of the paper: Gamma(G) = densities of patterns @ embeddings of patterns.

Gamma_1-hot (eq. 4) learns an embedding per pattern. Gamma_GNN (eq. 6) computes it by message passing. Gamma_GNN+ (eq.
7) adds vertex identities averaged over permutations (relational pooling) and distinguishes all patterns. All of them
hold M models with a leading axis; M = 1 is the ordinary case.

The GNN baselines are the same modules on the structure of whole graphs (`anysize.nn.rows.graph_batch`): all vertices of
a graph are read out by sum, mean or max, and the result depends on the size of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anysize._schema import arrays_of
from anysize.nn.gnn import Embeddings, Encoder
from anysize.nn.layers import BatchNorm, Head, Linear
from anysize.nn.rows.maps import Sums
from anysize.nn.rows.structure import Structure


class GammaOneHot(nn.Module):
    """One learned row per pattern of the training vocabulary; patterns that did not occur in training have none."""

    def __init__(self, models: int, patterns: int, width: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.full((models, patterns, width), torch.nan))
        self.width = width

    def bounds(self) -> dict[str, float]:
        return {"rows": 1 / math.sqrt(max(self.rows.shape[1], 1))}

    @torch.no_grad()
    def zero_unseen(self, seen: Tensor) -> None:
        """Set the rows of patterns that no training graph has to zero; without gradient, they stay zero."""
        self.rows[:, ~seen] = 0

    def encode(self, structure: Structure) -> Embeddings:
        return [(0, self.rows)]

    def forward(self, structure: Structure) -> Tensor:
        """(models, graphs, width): the densities times the learned rows."""
        return read_out(self.encode(structure), structure.readouts)


class GammaGNN(nn.Module):
    """Patterns embedded by message passing and summed over their vertices; whole graphs likewise.

    The columns are those of the last layer; with ``jumping`` (jumping knowledge) those of all earlier levels follow,
    down to the input features. ``types``: of edges; 0: edges are all alike.
    """

    def __init__(
        self, models: int, inputs: int, hidden: int, layers: int, kind: str = "gin", jumping: bool = True,
        types: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.encoder = Encoder(kind, models, inputs, hidden, layers, types)
        self.jumping = jumping
        self.width = sum(self.encoder.widths) if jumping else hidden

    def encode(self, structure: Structure) -> Embeddings:
        """Embeddings of the rows that are read out, the last level first."""
        levels: Embeddings = self.encoder(structure)
        return levels[::-1] if self.jumping else levels[-1:]

    def forward(self, structure: Structure) -> Tensor:
        """(models, items, width), where the items of the structure are patterns or graphs."""
        return read_out(self.encode(structure), structure.readouts, copies=structure.copies)


class GammaRP(GammaGNN):
    """Relational pooling: features [color, identity] pass through a small MLP without batch norm before the layers.

    Identities that are wider than a pattern has vertices end in columns that are always zero.
    """

    def __init__(
        self, models: int, inputs: int, hidden: int, layers: int, kind: str = "gin", jumping: bool = True,
        types: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(models, hidden, hidden, layers, kind, jumping, types)
        self.first, self.second = Linear(models, inputs, hidden), Linear(models, hidden, hidden)
        self.width += inputs if jumping else 0

    def encode(self, structure: Structure) -> Embeddings:
        features = structure.features
        missing = self.first.weight.shape[1] - features.shape[-1]
        if missing:
            features = torch.nn.functional.pad(features, (0, missing))
        lifted = self.second(torch.relu(self.first(features)))
        rows = features if features.dim() == 3 else features[None]
        levels: Embeddings = [(0, rows), *self.encoder(structure, lifted)]
        return levels[::-1] if self.jumping else levels[-1:]


Gamma = GammaOneHot | GammaGNN


def read_out(
    rows: Embeddings, sums: Sequence[Sums] | Mapping[int, Sums], slopes: Tensor | None = None, copies: int = 1
) -> Tensor:
    """Rows read out into items, the levels side by side: (models, items, width).

    ``sums``: the map of each level. ``copies``: of every item, one copy of all items after the other, to be averaged.
    With ``slopes`` (models, width, columns): the items times the slopes, (models, items, columns). The product is
    computed on the rows, which are far fewer than the items.
    """
    if slopes is None:
        parts = [sums[level](h) for level, h in rows]
        items = torch.cat([part.expand(len(parts[0]), -1, -1) for part in parts], dim=-1)  # all models have last rows
        copied = copies > 1 and any(h.shape[1] for _, h in rows)  # graphs without vertices have no copies
        return items.unflatten(1, (copies, -1)).mean(1) if copied else items
    total: Tensor | int = 0
    start = 0
    for level, h in rows:
        total = total + sums[level](h @ slopes[:, start : start + h.shape[-1]])
        start += h.shape[-1]
    return torch.as_tensor(total)


class GraphModel(nn.Module):
    """A representation with a head: M classifiers of graphs; jumping knowledge is on or off for each model.

    ``corrected``, ``population``: the running averages of batch norm (see `BatchNorm`), the latter of the
    representation alone: graphs, which the head normalizes, are always a sample.
    """

    columns: Tensor

    def __init__(
        self, representation: Gamma, models: int, classes: int, jumping: Sequence[bool],
        hidden: int | None = None, dropout: float = 0.0, normalize: bool = True, corrected: bool = False,
        population: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        columns = torch.ones(models, representation.width, 1)
        if isinstance(representation, GammaGNN):
            for model, enabled in enumerate(jumping):
                if not enabled:
                    columns[model, representation.encoder.widths[-1] :] = 0  # those of the last layer come first
        self.representation = representation
        self.head = Head(models, representation.width, classes, columns, hidden, dropout, normalize)
        self.register_buffer("columns", columns)  # (models, width, 1): 1 for columns that the head reads
        for part in self.modules():
            if isinstance(part, BatchNorm):
                part.corrected = corrected
        for part in representation.modules():
            if isinstance(part, BatchNorm):
                part.population = population

    def forward(self, structure: Structure) -> Tensor:
        """Logits (models, graphs, classes)."""
        logits: Tensor = self.head(self.representation(structure))[0]
        return logits

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Parameters and buffers as arrays, for a model file."""
        return {f"model.{name}": tensor.cpu().numpy() for name, tensor in self.state_dict().items()}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> GraphModel:
        """Load what `arrays` returned, ignoring other arrays; returns itself, ready to predict."""
        state = arrays_of("model.", arrays)
        self.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in state.items()})
        return self.eval()

    def represent(self, structure: Structure) -> Tensor:
        """The representation (models, graphs, width); columns that the head does not read are zero."""
        gamma: Tensor = self.representation(structure) * self.columns.transpose(1, 2)
        return gamma
