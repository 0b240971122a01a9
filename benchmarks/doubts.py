"""How often `fit` doubts a model: on coin-flip labels, where it should, and on tasks that can be learned.

Run:  python -m benchmarks.doubts [--data FOLDER_WITH_NCI1] [--repeats 10]

Coin flips: 300 graphs of 8 to 30 vertices from one random graph model, labels drawn at random. Learnable: fresh data of
the paper's synthetic tasks, whose training graphs have the classes that the task says, and the small half of NCI1.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import networkx as nx
import numpy as np

import anysize as az
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


def doubted(method: str, graphs: az.GraphSet, y: np.ndarray) -> bool:
    """Whether `fit` doubts a model of these graphs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return az.GraphClassifier(method).fit(graphs, y).verdict_.doubt is not None


def coin_flips(model: str, seed: int) -> tuple[az.GraphSet, np.ndarray]:
    """300 graphs of one model, with random labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(SMALLEST, LARGEST + 1, GRAPHS).tolist()
    made = [MODELS[model](n, 1000 * seed + number) for number, n in enumerate(sizes)]
    color = "color" if model.startswith("colored") else None
    return az.GraphSet.from_networkx(made, color=color), rng.integers(0, 2, GRAPHS)


def main(given: Sequence[str] | None = None) -> None:
    """Print both tables in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with NCI1.zip")
    parser.add_argument("--repeats", type=int, default=10, help="data sets per random graph model, a fifth if slow")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    options = parser.parse_args(given)
    print("| method | coin flips doubted | learnable tasks doubted |\n|---|---|---|")
    for method in options.methods:
        repeats = max(1, options.repeats // 5) if method in SLOW else options.repeats
        flips = [doubted(method, *coin_flips(model, seed)) for model in MODELS for seed in range(repeats)]
        learnable = {}
        for task in LEARNABLE:
            train = TASKS[task].splits(0).train
            learnable[task] = doubted(method, train, np.asarray(train.y))
        if options.data is not None and method not in SLOW:
            graphs = az.read_graphs(options.data / "NCI1.zip")
            small = graphs[np.flatnonzero(graphs.sizes <= np.median(graphs.sizes))]
            learnable["NCI1"] = doubted(method, small, np.asarray(small.y))
        named = ", ".join(task for task, doubt in learnable.items() if doubt) or "none"
        print(f"| `{method}` | {sum(flips)} of {len(flips)} | {named} of {len(learnable)} |", flush=True)


if __name__ == "__main__":
    main()
