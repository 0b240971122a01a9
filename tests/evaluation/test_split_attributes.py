"""Splits of graphs with attributes: positions, masks, and parts that keep everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anysize import GraphSet
from anysize.evaluation.tasks import own_task, size_split


def attributed(amount: int = 30) -> GraphSet:
    """Paths with edge colors, directions and features that tell every graph apart."""
    edges = [[(v, v + 1) for v in range(n)] for n in range(2, 2 + amount)]
    return GraphSet.from_edges(
        edges, y=["odd", "even"] * (amount // 2), directed=True,
        colors=[["C"] * (len(path) + 1) for path in edges],
        edge_colors=[[str((len(path) + v) % 3) for v in range(len(path))] for path in edges],
        features=[[[len(path), v] for v in range(len(path) + 1)] for path in edges],
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, 3])
def test_splits_say_where_their_graphs_were_and_keep_all_attributes(seed: int) -> None:
    graphs = attributed()
    splits = size_split(graphs).splits(seed=seed)
    parts = {"train": splits.train_index, "validation": splits.validation_index, "test": splits.test_index}
    for name, rows in parts.items():
        part, mask = splits.sets[name], splits.masks[name]
        assert np.flatnonzero(mask).tolist() == sorted(rows.tolist())
        assert len(mask) == len(graphs)
        assert part.equals(graphs[rows].with_y(part.y))
        assert part.edge_colors is not None
        assert part.directions is not None
        assert part.features is not None
    assert not (splits.masks["train"] & splits.masks["test"]).any()


def test_parts_of_a_split_become_pyg_graphs() -> None:
    pytest.importorskip("torch")
    graphs = attributed()
    splits = size_split(graphs).splits()
    for data, row in zip(splits.test.to_pyg(), splits.test_index.tolist(), strict=True):
        n = int(graphs.sizes[row])
        assert data.edge_index.tolist() == [list(range(n - 1)), list(range(1, n))]
        assert data.x.tolist() == [[n - 1, v, 1] for v in range(n)]
        assert data.edge_attr.argmax(dim=1).tolist() == [(n - 1 + v) % 3 for v in range(n - 1)]


def test_tasks_of_graphs_with_other_attributes_have_other_names() -> None:
    graphs = attributed()
    others = [
        graphs, graphs.without_directions(), graphs.without_features(), graphs.without_edge_colors(),
        graphs.with_features(-np.asarray(graphs.features)), graphs.with_features(graphs.features, ["a", "b"]),
    ]  # fmt: skip
    assert len({own_task(each).name for each in others}) == len(others)
    assert own_task(graphs.with_edge_palette(["2", "1", "0", "x"])).name == own_task(graphs).name


def test_drawn_graphs_have_no_positions() -> None:
    splits = replace(size_split(attributed()).splits(), positions=None)
    with pytest.raises(ValueError, match="they have no positions"):
        splits.train_index  # noqa: B018
