"""`GraphRegressor` on solubility and hydration energy: trained on small molecules, tested on the largest.

Run:  python -m benchmarks.regression FOLDER_WITH_CSV_FILES

The training molecules are those up to the median size, the test molecules those from the 90th percentile on.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

import anysize as az
from anysize.metrics import regression_metrics

SETS = {"esol": "measured log solubility in mols per litre", "freesolv": "expt"}  # file -> column of the target
METHODS = ("mean", "size-only", "gamma-gin", "gin-sum", "pna-mean", "wl-kernel", "sizemix")
ATOMS: tuple[Literal["rich", "element"], ...] = ("rich", "element")


def main(given: Sequence[str] | None = None) -> None:
    """Print RMSE and rank correlation of every method, with rich atoms and with elements alone."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with esol.csv and freesolv.csv")
    folder = parser.parse_args(given).folder
    warnings.simplefilter("ignore")  # of molecules that cannot be read, and of colors that no training molecule has
    print(f"| | atoms | test molecules | {' | '.join(METHODS)} |\n|{'---|' * (len(METHODS) + 3)}")
    for name, target in SETS.items():
        for atoms in ATOMS:
            graphs = az.read_graphs(folder / f"{name}.csv", smiles="smiles", y=target, atoms=atoms)
            small = graphs[np.flatnonzero(graphs.sizes <= np.median(graphs.sizes))]
            large = graphs[np.flatnonzero(graphs.sizes >= np.percentile(graphs.sizes, 90))]
            cells = []
            for method in METHODS:
                scores = regression_metrics(large.y, az.GraphRegressor(method, check=False).fit(small).predict(large))
                cells.append(", ".join(f"{scores[key]:.2f}" for key in ("rmse", "rank_correlation") if key in scores))
            print(f"| {name} | {atoms} | {len(large)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
