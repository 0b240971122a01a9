"""All classes that a vertex can fall into after one layer, whatever the colors: a table in place of a batch.

With c colors and k vertices a vertex is its own color and how many neighbors it has of each: 276 classes for
c = 4, k = 5. However patterns are recolored, their vertices stay inside this table, so that a layer runs on its
rows and not on tens of thousands of vertices that are new in every step. With identities (relational pooling) a
mark is (color, identity), and neighbors have different identities.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product

import torch
from torch import Tensor

from anysize.nn.rows.structure import Dense, Sums, sums_of

ROWS = 20_000  # more rows than this are no gain over the vertices themselves
CODES = 1 << 22


@dataclass(frozen=True)
class Universe:
    """``own`` (rows,) and ``near`` (sums over marks) of every class; how vertices find their class."""

    own: Tensor
    near: Sums
    degree: Tensor
    lookup: Tensor
    digit: Tensor  # what a neighbor of each mark adds to the code; 0 for the mark behind the last: no neighbor
    base: int

    def __len__(self) -> int:
        return len(self.own)

    def classes(self, own: Tensor, near: Tensor) -> Tensor:
        """The class of vertices with these marks, whose neighbors have the marks ``near`` (.., d)."""
        return self.lookup[own * self.base + self.digit[near].sum(-1)]

    def to(self, device: torch.device) -> Universe:
        return Universe(
            self.own.to(device), self.near.to(device), self.degree.to(device),
            self.lookup.to(device), self.digit.to(device), self.base,
        )  # fmt: skip


def colored_universe(colors: int, k: int, alone: bool = False) -> Universe | None:
    """Classes by color and multiset of neighbors' colors; None where there are too many.

    ``alone``: with vertices that have no neighbor, which only the pattern of one vertex has.

    Examples:
        >>> len(colored_universe(4, 5))
        276
    """
    if colors * k**colors > CODES:
        return None
    least = 0 if alone else 1
    sets = [s for size in range(least, k) for s in combinations_with_replacement(range(colors), size)]
    digit = [k**color for color in range(colors)]
    return _universe([(own, near) for own in range(colors) for near in sets], digit, k**colors)


def identified_universe(colors: int, k: int, alone: bool = False) -> Universe | None:
    """Classes by the marks (color, identity) of a vertex and its neighbors; None where there are too many."""
    if colors * k * (colors + 1) ** k > CODES or colors * k * (colors + 1) ** (k - 1) > ROWS:
        return None
    pairs = []
    for color, identity in product(range(colors), range(k)):
        others = [other for other in range(k) if other != identity]
        for size in range(0 if alone else 1, k):
            for chosen in combinations(others, size):
                for dress in product(range(colors), repeat=size):
                    near = tuple(c * k + i for c, i in zip(dress, chosen, strict=True))
                    pairs.append((color * k + identity, near))
    digit = [(color + 1) * (colors + 1) ** identity for color in range(colors) for identity in range(k)]
    return _universe(pairs, digit, (colors + 1) ** k)


def _universe(pairs: list[tuple[int, tuple[int, ...]]], digit: list[int], base: int) -> Universe | None:
    if len(pairs) > ROWS:
        return None
    import numpy as np
    from scipy.sparse import csr_array

    own = np.array([pair[0] for pair in pairs])
    sizes = np.array([len(pair[1]) for pair in pairs])
    near = np.array([mark for pair in pairs for mark in pair[1]], np.int64)
    digits = np.array([*digit, 0])
    row = np.repeat(np.arange(len(pairs)), sizes)
    code = own * base + np.bincount(row, digits[near], minlength=len(pairs)).astype(np.int64)
    lookup = np.zeros(len(digit) * base, np.int64)
    lookup[code] = np.arange(len(pairs))
    sums = csr_array((np.ones(len(near)), (row, near)), shape=(len(pairs), len(digit)))
    dense = sums_of(sums) if sums.nnz else Dense(torch.zeros(len(pairs), len(digit)))
    return Universe(
        torch.from_numpy(own), dense, torch.from_numpy(sizes.astype(np.float32)),
        torch.from_numpy(lookup), torch.from_numpy(digits), base,
    )  # fmt: skip
