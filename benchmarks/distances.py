"""Which distances between graphs hold for graphs of different sizes: ``python -m benchmarks.distances``.

Graphs of three graphons with edge density .3 (constant, two blocks, product) are drawn in several sizes. A distance
that carries over is small between graphs of one graphon and different sizes, large between graphons, and finds for a
large graph a small one of the same graphon.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anysize import BlockModel, Environment, ErdosRenyi, GraphSet, SmoothGraphon, distances, sample_graphs
from anysize.networks.distances import METRICS

GRAPHONS = (
    ErdosRenyi(0.3),
    BlockModel(within=(0.5, 0.5), between=0.1),
    SmoothGraphon(lambda u, v: (0.1 + 0.8954 * u) * (0.1 + 0.8954 * v)),
)
SIZES = (50, 100, 200)
GRAPHS = 10  # of each graphon and size
HEAD = ("metric", "same graphon, same size", "same graphon, other size", "other graphon, same size", "nearest is right")


def drawn(graphs: int, sizes: tuple[int, ...] = SIZES) -> tuple[GraphSet, NDArray[np.int64], NDArray[np.int64]]:
    """The graphs, their graphons and their sizes."""
    parts = [
        sample_graphs((graphon,), Environment(sizes=(size,)), graphs, seed=100 * at + size).without_colors()
        for at, graphon in enumerate(GRAPHONS)
        for size in sizes
    ]
    kind = np.repeat(np.arange(len(GRAPHONS)), graphs * len(sizes))
    size = np.tile(np.repeat(sizes, graphs), len(GRAPHONS))
    plain = [GraphSet(part.first, part.indptr, part.indices) for part in parts]
    return GraphSet.concatenate(plain), kind, size


def judged(table: NDArray[np.float64], kind: NDArray[np.int64], size: NDArray[np.int64]) -> tuple[float, ...]:
    """Three mean distances, and how often the nearest graph of the smallest size has the graphon of a largest one."""
    same_kind, same_size = kind[:, None] == kind, size[:, None] == size
    other = ~np.eye(len(kind), dtype=bool)
    means = (
        table[mask & other].mean() for mask in (same_kind & same_size, same_kind & ~same_size, ~same_kind & same_size)
    )
    large, small = np.flatnonzero(size == size.max()), np.flatnonzero(size == size.min())
    nearest = small[table[np.ix_(large, small)].argmin(axis=1)]
    return (*map(float, means), float((kind[nearest] == kind[large]).mean()))


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distances", description=__doc__)
    parser.add_argument("--graphs", type=int, default=GRAPHS, help="graphs of each graphon and size")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    graphs, kind, size = drawn(options.graphs)
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for metric in METRICS:
        same, across, between, right = judged(distances(graphs, metric), kind, size)
        lines.append(f"| {metric} | {same:.3g} | {across:.3g} | {between:.3g} | {right:.0%} |")
    print("\n".join(lines))
    if options.out is not None:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
