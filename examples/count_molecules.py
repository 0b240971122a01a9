"""Count colored patterns of molecules and see which ones tell two classes apart.

Run:  python examples/count_molecules.py path/to/NCI1.zip
"""

import sys

import numpy as np

import anysize as az

if len(sys.argv) != 2:
    sys.exit(__doc__)
graphs = az.read_graphs(sys.argv[1])
counts = az.count(graphs, k=4)
print(graphs)
print(counts.explain())

density = counts.densities(over="connected").toarray()
classes = np.unique(graphs.y)
means = np.stack([density[graphs.y == label].mean(axis=0) for label in classes])
gap = means[-1] - means[0]
print(f"\nPatterns whose share differs most between class {classes[0]} and class {classes[-1]}:")
for column in np.argsort(-np.abs(gap))[:8]:
    print(f"{counts.patterns[column].name:24} {means[0, column]:.4f} {means[-1, column]:.4f}")
