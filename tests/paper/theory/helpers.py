"""Graphons, colors and samples that the tests of the theory share."""

from __future__ import annotations

import anysize as az

LOPSIDED = az.BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))
COLORS = [{"a": 0.6, "b": 0.4}, {"b": 0.3, "c": 0.7}]
ER = [az.ErdosRenyi(p) for p in (0.2, 0.5, 0.8)]


def draw(graphon, size, n, seed, colors=None):
    return az.sample_graphs(graphon, az.Environment(sizes=(size,), colors=colors), n, seed)
