"""Start and service: imports, a first count and a loaded model in a fresh process, and the latency of one graph.

Numba caches are warm. A latency is the CPU time of one prediction: on a busy machine wall time says little.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import anysize as az
from benchmarks.timing import race

HOUSE = "[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]"
FIRST = f"import anysize as az; az.count(az.GraphSet.from_edges({HOUSE}{{colors}}), 5)"
IMPORTS = "import numpy, scipy.sparse, numba"
LOAD = "import anysize as az; az.load_model({path!r})"
PREDICTIONS = 20  # timed together
LATENCY_AIM = 0.7e-3  # seconds of one small graph with a loaded SizeMix model
LOADING_AIM = 0.5  # seconds until a fresh process has loaded it

# name, script, script to compare with, target for the ratio
PAIRS = (
    ("import anysize", "import anysize", "import numpy", 1.3),
    ("first count, plain", FIRST.format(colors=""), IMPORTS, 1.5),
    ("first count, colored", FIRST.format(colors=", colors=[0, 0, 1, 1, 2]"), IMPORTS, 1.5),
)


def _process(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True)


def startup(quick: bool) -> list[dict[str, Any]]:
    """Wall time of processes, the best of several, compared with bare imports."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "sizemix.anysize")
        small_model().save(path)
        pairs = [_compared(*pair, quick) for pair in PAIRS]
        return [*pairs, loading(path, quick), latency(az.load_model(path))]


def _compared(name: str, script: str, bare: str, target: float, quick: bool) -> dict[str, Any]:
    _process(script)  # fills the caches
    best = race({"ours": lambda: _process(script), "bare": lambda: _process(bare)}, 0.7 if quick else 5.0)
    return {"what": name, "beside": bare, "target": target, "ratio": best["ours"] / best["bare"], **best}


def loading(path: str, quick: bool) -> dict[str, Any]:
    """CPU time of a process that loads the model and ends, beside the aim."""
    script = LOAD.format(path=path)
    _process(script)  # reads the files once
    seconds = race({"ours": lambda: _process(script)}, 0.7 if quick else 5.0, _time_of_children)["ours"]
    return _beside_aim("load SizeMix", seconds, LOADING_AIM)


def _time_of_children() -> float:
    """CPU seconds of the processes that this one started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _beside_aim(what: str, seconds: float, aim: float) -> dict[str, Any]:
    times = {"ours": seconds, "bare": aim, "ratio": seconds / aim}
    return {"what": what, "beside": "the aim (CPU time)", "target": 1.0, **times}


def molecules(amount: int, seed: int = 0) -> az.GraphSet:
    """Random trees of 12 to 29 vertices with some rings of six, in four colors; two classes by chance."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(12, 30, amount).tolist()
    edges = [
        [(vertex, int(rng.integers(max(0, vertex - 3), vertex))) for vertex in range(1, size)]
        + [(vertex, vertex + 5) for vertex in range(0, size - 5, 7)]
        for size in sizes
    ]
    colors = [rng.choice(list("CNOS"), size).tolist() for size in sizes]
    return az.GraphSet.from_edges(edges, sizes, colors, y=np.arange(amount) % 2)


def small_model() -> az.GraphClassifier:
    """SizeMix of 60 molecule-like graphs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing can be learned from classes by chance
        return az.GraphClassifier("sizemix", check=False).fit(molecules(60))


def latency(model: az.GraphClassifier) -> dict[str, Any]:
    """CPU time of the prediction for one small graph, beside the aim."""
    graph = molecules(1, seed=1)
    model.predict_proba(graph)

    def predict() -> None:
        for _ in range(PREDICTIONS):
            model.predict_proba(graph)

    seconds = race({"ours": predict}, 0.5, process_time)["ours"] / PREDICTIONS
    return _beside_aim("one graph, SizeMix", seconds, LATENCY_AIM)
