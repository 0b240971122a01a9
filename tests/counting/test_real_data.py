"""Published data sets: the numbers of their types, subsets and triangles come out exactly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from counting.helpers import color_sums

import anysize as az

# connected induced 4-subsets, their colored types, and the types in the smaller half of the graphs
FACTS = {
    "MUTAG": (8864, 45, 36),
    "NCI1": (309386, 390, 348),
    "NCI109": (310781, 372, 336),
    "PROTEINS": (491218, 201, 187),
    "DD": (9973546, 284652, 243282),
}
TRIANGLES = {"facebook_combined": 1612010, "ca-AstroPh-lcc": 1350014}


def graphs_of(data_dir: Path, name: str) -> az.GraphSet:
    file = data_dir / json.loads((data_dir / "manifest.json").read_text())[name]["file"]
    if not file.is_file():
        pytest.skip(f"{file.name} is not among the data files")
    return az.read_graphs(file, warn=False)


@pytest.mark.parametrize("name", FACTS)
def test_types_of_connected_four_subsets(name: str, data_dir: Path) -> None:
    subsets, types, pool_types = FACTS[name]
    graphs = graphs_of(data_dir, name)
    counts = az.count(graphs, k=4)
    assert counts.matrix.sum() == subsets
    assert counts.shape == (len(graphs), types)
    pool = graphs.sizes <= np.percentile(graphs.sizes, 50)
    assert (np.asarray(counts[pool].matrix.sum(axis=0)) > 0).sum() == pool_types
    assert az.count(graphs[pool], k=4).shape == (pool.sum(), pool_types)


@pytest.mark.parametrize("k", [3, 4, 5])
def test_copies_summed_over_colors_are_plain_copies_in_proteins(k: int, data_dir: Path) -> None:
    graphs = graphs_of(data_dir, "PROTEINS")
    plain = az.count(graphs, k, colors=False).matrix.toarray()
    assert plain.sum() > 0
    assert np.array_equal(color_sums(az.count(graphs, k))[:, : plain.shape[1]], plain)


@pytest.mark.parametrize("name", TRIANGLES)
def test_triangles_of_large_graphs(name: str, data_dir: Path) -> None:
    graphs = graphs_of(data_dir, name)
    counts = az.count(graphs, k=3)
    assert counts.matrix.toarray()[0, 1] == TRIANGLES[name]
    wedges = (graphs.degrees * (graphs.degrees - 1) // 2).sum()
    assert counts.matrix.toarray()[0, 0] == wedges - 3 * TRIANGLES[name]
