"""The default method beside a GNN: CPU seconds of training on the small half of NCI1; its scores on four real sets.

Run:  python -m benchmarks.default FOLDER_WITH_NCI1
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

import anysize as az
from anysize.evaluation.tasks import Splits, size_split

METHODS = ("auto", "sizemix", "gin-sum", "wl-kernel")
OTHER_SETS = ("NCI109", "PROTEINS", "DD")
TURNS = 3


def main(given: Sequence[str] | None = None) -> None:
    """Train every method in turn, and print its best time and that of gin-sum by it; then the scores of the default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with NCI1.zip, and NCI109, PROTEINS and DD")
    folder = parser.parse_args(given).folder
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of colors that no training graph has
    splits = _splits(folder, "NCI1")
    seconds: dict[str, float] = {}
    scores: dict[str, float] = {}
    for _ in range(TURNS):
        for method in METHODS:
            began = time.process_time()
            model = az.GraphClassifier(method, metric="mcc", check=False).fit(splits.train)
            seconds[method] = min(time.process_time() - began, seconds.get(method, float("inf")))
            scores[method] = model.score(splits.test)
    print(f"{len(splits.train)} training graphs, CPU seconds of one thread, best of {TURNS}")
    for method in METHODS:
        ratio = seconds["gin-sum"] / seconds[method]
        print(
            f"{method:10} {seconds[method]:7.2f} s   gin-sum / {method}: {ratio:6.1f}   test MCC {scores[method]:.2f}"
        )
    for name in OTHER_SETS:
        if (folder / f"{name}.zip").exists():
            parts = _splits(folder, name)
            score = az.GraphClassifier(metric="mcc", check=False).fit(parts.train).score(parts.test)
            print(f"{name:10} default: test MCC {score:.2f}")


def _splits(folder: Path, name: str) -> Splits:
    return size_split(az.read_graphs(folder / f"{name}.zip")).splits()


if __name__ == "__main__":
    main()
