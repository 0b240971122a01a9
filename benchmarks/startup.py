"""Start of a fresh process: time of the import, and of the first count with a warm numba cache."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from benchmarks.timing import race

HOUSE = "[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]"
FIRST = f"import anysize as az; az.count(az.GraphSet.from_edges({HOUSE}{{colors}}), 5)"
IMPORTS = "import numpy, scipy.sparse, numba"

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
    records = []
    for name, script, bare, target in PAIRS:
        _process(script)  # fills the caches
        calls = {"ours": lambda s=script: _process(s), "bare": lambda b=bare: _process(b)}
        best = race(calls, 0.7 if quick else 5.0)
        ratio = best["ours"] / best["bare"]
        records.append({"what": name, "beside": bare, "target": target, "ratio": ratio, **best})
    return records
