"""Train on small graphs, predict on large ones: with synthetic graphs, or with your own.

Run:  python examples/classify_your_graphs.py
"""

import tempfile
from pathlib import Path

import numpy as np

import anysize as az

# Two classes of social networks: two groups that mix, and two groups that stay apart. Vertices have a color of their
# group, red or orange and blue or green; which of the two is common changes with the size of the network.
mixing = az.BlockModel(within=(0.2, 0.2), between=0.3)
apart = az.BlockModel(within=(0.2, 0.2), between=0.1)
small = az.Environment(sizes=(20,), colors=[{"red": 0.9, "orange": 0.1}, {"blue": 0.9, "green": 0.1}])
large = az.Environment(sizes=(40,), colors=[{"red": 0.1, "orange": 0.9}, {"blue": 0.1, "green": 0.9}])
names = np.array(["mixing", "apart"])

# Your own graphs: az.read_graphs(FILE), az.GraphSet.from_networkx(graphs, color="team", y=labels), from_pyg, ...
train = az.sample_graphs((mixing, apart), small, 80, seed=1)
new = az.sample_graphs((mixing, apart), large, 40, seed=2)
train, new = train.with_y(names[train.y]), new.with_y(names[new.y])
print(train, new, sep="\n")

# Count the patterns once; any number of models can be trained on the counts.
counts = az.count(train, k=5)
model = az.GraphClassifier("gamma-gin", k=5, n_models=3).fit(counts)
print(f"\naccuracy on large graphs: {model.score(new):.2f}")
gnn = az.GraphClassifier("gin-sum").fit(train)
print(f"accuracy of a GNN on whole graphs: {gnn.score(new):.2f}")

# The contributions of patterns to one prediction, compared with the mean training graph.
explanation = model.explain(new[0], reference=counts)
print(f"\nThe first large graph is {explanation}")

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "model.anysize"
    model.save(file)
    again = az.load_model(file)
    print(f"\n{file.name} has {file.stat().st_size:,} bytes and predicts the same:", end=" ")
    print(np.array_equal(again.predict_proba(new), model.predict_proba(new)))
    try:
        explanation.figure().savefig(Path(folder) / "why.png")
    except ImportError as missing:
        print(missing)
