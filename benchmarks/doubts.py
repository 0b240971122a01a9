"""How often `fit` doubts a model: on coin-flip labels, where it should, and on tasks that can be learned.

Run:  python -m benchmarks.doubts [--data FOLDER_WITH_NCI1] [--repeats 10]

Coin flips: 300 graphs of 8 to 30 vertices from one random graph model, labels drawn at random. Learnable: fresh data of
the paper's synthetic tasks, whose training graphs have the classes that the task says, and the small half of NCI1. The
balanced accuracy on the larger test graphs (of NCI1 the large half) says whether a doubt about them was right.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import networkx as nx
import numpy as np

import anysize as az
from anysize.metrics import all_metrics
from anysize.paper.tasks import TASKS

GRAPHS, SMALLEST, LARGEST = 300, 8, 30
METHODS = ("auto", "sizemix", "wl-kernel", "gc-kernel", "gamma-1hot", "gamma-gin", "gin-sum", "gcn-mean")
SLOW = frozenset({"gamma-gin", "gin-sum", "gcn-mean"})  # a fifth of the repetitions
LEARNABLE = ("er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30")


def _colored(graph: nx.Graph, seed: int) -> nx.Graph:
    rng = np.random.default_rng(seed)
    nx.set_node_attributes(graph, {v: "abc"[rng.integers(3)] for v in graph}, "color")
    return graph


MODELS: dict[str, Callable[[int, int], nx.Graph]] = {
    "G(n, 0.3)": lambda n, seed: nx.gnp_random_graph(n, 0.3, seed=seed),
    "G(n, 3 / n)": lambda n, seed: nx.gnp_random_graph(n, 3 / n, seed=seed),
    "Barabasi-Albert": lambda n, seed: nx.barabasi_albert_graph(n, 2, seed=seed),
    "trees": lambda n, seed: nx.random_labeled_tree(n, seed=seed),
    "colored trees": lambda n, seed: _colored(nx.random_labeled_tree(n, seed=seed), seed),
}


def fitted(method: str, graphs: az.GraphSet, y: np.ndarray) -> az.GraphClassifier:
    """A model of these graphs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return az.GraphClassifier(method).fit(graphs, y)


def doubted(model: az.GraphClassifier) -> bool:
    """Whether `fit` doubts the model."""
    return model.verdict_.doubt is not None


def test_score(model: az.GraphClassifier, graphs: az.GraphSet) -> float:
    """The balanced accuracy on labeled graphs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chances = model.predict_proba(graphs)
    return all_metrics(np.searchsorted(model.classes_, np.asarray(graphs.y)), chances)["balanced_accuracy"]


def coin_flips(model: str, seed: int) -> tuple[az.GraphSet, np.ndarray]:
    """300 graphs of one model, with random labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(SMALLEST, LARGEST + 1, GRAPHS).tolist()
    made = [MODELS[model](n, 1000 * seed + number) for number, n in enumerate(sizes)]
    color = "color" if model.startswith("colored") else None
    return az.GraphSet.from_networkx(made, color=color), rng.integers(0, 2, GRAPHS)


def main(given: Sequence[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with NCI1.zip")
    parser.add_argument("--repeats", type=int, default=10, help="data sets per random graph model, a fifth if slow")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    options = parser.parse_args(given)
    tasks = {task: TASKS[task].splits(0) for task in LEARNABLE}
    halves = {task: (splits.train, splits.test) for task, splits in tasks.items()}
    if options.data is not None:
        graphs = az.read_graphs(options.data / "NCI1.zip")
        small = graphs.sizes <= np.median(graphs.sizes)
        halves["NCI1"] = graphs[small], graphs[~small]
    print("| method | coin flips doubted | learnable tasks doubted: score on test graphs | others |\n|---|---|---|---|")
    for method in options.methods:
        repeats = max(options.repeats // 5, min(options.repeats, 1)) if method in SLOW else options.repeats
        flips = [doubted(fitted(method, *coin_flips(model, seed))) for model in MODELS for seed in range(repeats)]
        listed: dict[bool, list[str]] = {True: [], False: []}
        for task, (train, test) in halves.items():
            if task != "NCI1" or method not in SLOW:
                model = fitted(method, train, np.asarray(train.y))
                listed[doubted(model)].append(f"{task} {test_score(model, test):.2f}")
        cells = [", ".join(listed[is_doubted]) or "none" for is_doubted in (True, False)]
        print(f"| `{method}` | {sum(flips)} of {len(flips)} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
