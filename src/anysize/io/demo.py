"""Small files to try things on: `write_demo`, the command `anysize demo DIR`. The examples of the manual use them."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from anysize._files import atomic_write, make_folder
from anysize._typing import IntArray, PathLike
from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import BlockModel
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet

SMALL_MOLECULES = 50  # of the molecules, which ascend in size
CONTENT = {
    "TRAIN.zip, NEW.zip": "colored block models of two classes, 12 to 20 and 30 vertices; TU sets",
    "molecules.csv": "70 molecules as SMILES, with the column acid; small.csv and large.csv are parts of it",
    "rings.jsonl": "90 rings and paths, a tenth of them with the wrong label; split.csv lists some for training",
    "friends.csv": "two networks as a table of edges",
    "networks/": "60 edge lists, half of them with hubs; network-labels.csv has their classes, large.txt is another",
    "matrices/": "16 adjacency matrices as CSV; matrix-labels.csv has their classes",
}


def write_demo(folder: PathLike) -> Path:
    """Write the files of `CONTENT` into a folder, which is made if it does not exist; the same ones every time."""
    target = Path(folder)
    make_folder(target)
    _write_tu_sets(target)
    _write_molecules(target)
    _write_rings(target)
    friends = "A,ann,bob,Rome\nA,bob,cat,Rome\nB,dan,eve,Oslo\nB,eve,fay,Oslo\nB,fay,dan,Oslo\n"
    _write(target / "friends.csv", f"graph,source,target,city\n{friends}")
    _write_networks(target)
    _write_matrices(target)
    return target


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def _block_models(sizes: tuple[int, ...], graphs: int, seed: int) -> GraphSet:
    pair = BlockModel(within=(0.2, 0.2), between=0.1), BlockModel(within=(0.2, 0.2), between=0.3)
    colors: Sequence[Mapping[ColorName, float]] = ({"red": 0.7, "blue": 0.3}, {"red": 0.3, "blue": 0.7})
    return sample_graphs(pair, Environment(sizes, colors, blocks="balanced"), graphs, seed)


def _write_tu_sets(target: Path) -> None:
    with TemporaryDirectory() as temporary:
        for name, sizes, graphs, seed in (("TRAIN", (12, 16, 20), 60, 1), ("NEW", (30,), 20, 2)):
            _block_models(sizes, graphs, seed).to_tu(temporary, name)
            shutil.make_archive(str(target / name), "zip", temporary, name)


def _write_molecules(target: Path) -> None:
    text = files("anysize.io").joinpath("molecules.csv").read_text(encoding="utf-8")
    head, *rows = text.splitlines(keepends=True)
    parts = {"molecules.csv": rows, "small.csv": rows[:SMALL_MOLECULES], "large.csv": rows[SMALL_MOLECULES:]}
    for name, lines in parts.items():
        _write(target / name, "".join([head, *lines]))


def _write_rings(target: Path) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for size in rng.integers(6, 60, size=90).tolist():
        ring = rng.random() < 0.5
        edges = [[vertex, vertex + 1] for vertex in range(size - 1)] + [[0, size - 1]] * ring
        lines.append(json.dumps({"edges": edges, "y": "ring" if ring != (rng.random() < 0.1) else "path"}))
    _write(target / "rings.jsonl", "\n".join(lines) + "\n")
    split = [f"{graph},{'train' if graph < 60 else 'test'}" for graph in range(90)]
    _write(target / "split.csv", "\n".join(split) + "\n")


def _write_networks(target: Path) -> None:
    make_folder(target / "networks")
    labels = ["network,kind"]
    for seed in range(60):
        size = 60 + 4 * seed
        edges = hub_edges(size, 3, seed) if seed % 2 else random_edges(size, 3 * size, seed)
        _write_edges(target / "networks" / f"net{seed:02}.txt", edges)
        labels.append(f"net{seed:02},{'hubs' if seed % 2 else 'random'}")
    _write(target / "network-labels.csv", "\n".join(labels) + "\n")
    _write_edges(target / "large.txt", hub_edges(10_000, 3, 100))


def _write_edges(path: Path, edges: IntArray) -> None:
    _write(path, "".join(f"{u} {v}\n" for u, v in edges.tolist()))


def hub_edges(size: int, per_vertex: int, seed: int) -> IntArray:
    """Preferential attachment: every new vertex is joined to vertices drawn with probabilities like their degrees."""
    rng = np.random.default_rng(seed)
    ends: list[int] = list(range(per_vertex))  # every vertex once per edge, and the first ones once more
    edges: list[tuple[int, int]] = []
    for vertex in range(per_vertex, size):
        chosen: set[int] = set()
        while len(chosen) < per_vertex:
            chosen.add(ends[int(rng.integers(len(ends)))])
        edges += [(vertex, other) for other in sorted(chosen)]
        ends += [vertex] * per_vertex + sorted(chosen)
    return np.array(edges, np.int64)


def random_edges(size: int, amount: int, seed: int) -> IntArray:
    """Edges drawn uniformly from all pairs of vertices."""
    source, target = np.triu_indices(size, 1)
    drawn = np.sort(np.random.default_rng(seed).permutation(len(source))[:amount])
    return np.stack([source[drawn], target[drawn]], axis=1)


def _write_matrices(target: Path) -> None:
    make_folder(target / "matrices")
    labels: list[Sequence[str]] = [("graph", "kind")]
    for number in range(16):
        density, rng = (0.3, 0.6)[number % 2], np.random.default_rng(number)
        half = np.triu(rng.random((12, 12)) < density, 1)
        rows = [",".join(map(str, row)) for row in (half | half.T).astype(int).tolist()]
        _write(target / "matrices" / f"graph{number:02}.csv", "\n".join(rows) + "\n")
        labels.append((f"graph{number:02}", "dense" if number % 2 else "sparse"))
    with atomic_write(target / "matrix-labels.csv") as part, open(part, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(labels)
