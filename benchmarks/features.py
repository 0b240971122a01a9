"""The default method beside a plain PyG GIN, on graphs with vertex features and a size shift.

Two sets: PROTEINS with its colors and its feature, and a made-up one whose label is whether the fourth of seven
features varies smoothly over edges. Both train on graphs up to the median size and are tested from the 90th percentile
on. The GIN takes features and one-hot colors as they are, and keeps the epoch with the best validation loss.

Run:  python -m benchmarks.features FOLDER_WITH_PROTEINS
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import anysize as az
from anysize import GraphSet
from anysize.evaluation.tasks import Splits, size_split
from anysize.metrics import roc_auc, score
from benchmarks.plain_gamma import HAS_PYG, gin_layer

if HAS_PYG:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated function of torch is called while PyG is imported
        from torch_geometric.data import Batch
        from torch_geometric.loader import DataLoader
        from torch_geometric.nn import global_add_pool

FEATURES, TELLING = 7, 3
HIDDEN, LAYERS, EPOCHS, LR, BATCH_SIZE = 32, 3, 100, 0.003, 64
SEEDS = (0, 1, 2)


def smoothness(graphs: int, seed: int = 0, sizes: tuple[int, int] = (15, 150)) -> GraphSet:
    """Random graphs with mean degree 4, whose seven features are smooth over edges or not, each by a coin of its own.

    A smooth feature is noise that was averaged over neighbors twice; its values are replaced by normal ones of the same
    order. A rough feature is the same in a random order of the vertices: one vertex alone tells nothing.
    """
    rng = np.random.default_rng(seed)
    edges, features, y = [], [], []
    n_vertices = np.exp(rng.uniform(*np.log(sizes), graphs)).astype(int).tolist()
    for n in n_vertices:
        pairs = rng.integers(0, n, (2 * n, 2))
        pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
        near = np.eye(n)
        near[pairs[:, 0], pairs[:, 1]] = near[pairs[:, 1], pairs[:, 0]] = 1
        near /= near.sum(axis=1, keepdims=True)
        is_smooth = rng.random(FEATURES) < 0.5
        order = np.argsort(np.argsort(near @ near @ rng.normal(size=(n, FEATURES)), axis=0), axis=0)
        values = np.sort(rng.normal(size=(n, FEATURES)), axis=0)
        table = np.take_along_axis(values, order, 0)
        shuffled = rng.permuted(table, axis=0)
        edges.append(pairs)
        features.append(np.where(is_smooth, table, shuffled))
        y.append(int(is_smooth[TELLING]))
    return GraphSet.from_edges(edges, n_vertices=n_vertices, y=y).with_features(np.concatenate(features))


# ---- plain PyG ---------------------------------------------------------------------------------------


class PlainGIN(nn.Module):
    """GIN layers with batch norm and ReLU, the sum over vertices, and a linear head."""

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        sizes = [inputs] + [HIDDEN] * LAYERS
        self.convs = nn.ModuleList(gin_layer(size, HIDDEN) for size in sizes[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(HIDDEN) for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, classes)

    def forward(self, batch: Any) -> Tensor:
        """Logits (graphs, classes)."""
        h = batch.x
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = torch.relu(norm(conv(h, batch.edge_index)))
        logits: Tensor = self.head(global_add_pool(h, batch.batch, size=batch.num_graphs))
        return logits


def plain_gin(splits: Splits, seed: int) -> np.ndarray[Any, Any]:
    """Train a plain GIN; its probabilities of the test graphs."""
    torch.manual_seed(seed)
    train, validation, test = (graphs.to_pyg() for graphs in splits.sets.values())
    model = PlainGIN(train[0].x.shape[1], len(splits.classes))
    optimizer, best, kept = torch.optim.Adam(model.parameters(), lr=LR), float("inf"), model.state_dict()
    held_out = Batch.from_data_list(validation)
    for _ in range(EPOCHS):
        model.train()
        for batch in DataLoader(train, batch_size=BATCH_SIZE, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(batch), batch.y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            loss = float(nn.functional.cross_entropy(model(held_out), held_out.y))
        if loss < best:
            best, kept = loss, deepcopy(model.state_dict())
    model.load_state_dict(kept)
    with torch.no_grad():
        return model.eval()(Batch.from_data_list(test)).softmax(-1).double().numpy()


# ---- comparison --------------------------------------------------------------------------------------


def compare(name: str, splits: Splits) -> None:
    """Print the scores and seconds of the default with and without features, and of the plain GIN."""
    y = np.asarray(splits.test.y)
    print(
        f"{name}: {len(splits.train)} training graphs, {len(y)} test graphs; MCC, balanced accuracy, ROC-AUC, seconds"
    )
    rows: dict[str, list[tuple[float, ...]]] = {}
    for title, seed in [("auto", 0), ("auto, no features", 0), *(("plain GIN", seed) for seed in SEEDS)]:
        began = time.process_time()
        if title == "plain GIN":
            chances = plain_gin(splits, seed)
        else:
            train, test = splits.train, splits.test
            if title != "auto":
                train, test = train.without_features(), test.without_features()
            chances = az.GraphClassifier(check=False).fit(train).predict_proba(test)
        seconds, predicted = time.process_time() - began, chances.argmax(axis=1)
        scores = score("mcc", y, predicted), score("balanced_accuracy", y, predicted), roc_auc(y, chances) or 0.0
        rows.setdefault(title, []).append((*scores, seconds))
    for title, runs in rows.items():
        means = np.mean(runs, axis=0)
        print(f"  {title:18} " + "  ".join(f"{value:6.2f}" for value in means) + f"   (runs: {len(runs)})")


def main(given: Sequence[str] | None = None) -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with PROTEINS.zip")
    parser.add_argument("--graphs", type=int, default=1000, help="of the made-up set")
    options = parser.parse_args(given)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    compare("PROTEINS", size_split(az.read_graphs(options.folder / "PROTEINS.zip")).splits(seed=0))
    compare("smoothness of one of seven features", size_split(smoothness(options.graphs)).splits(seed=0))


if __name__ == "__main__":
    main()
