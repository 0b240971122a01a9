"""Regular graphs: kappa is below 1 although edges grow as n^2; evidence inside training tells what carries over."""

from __future__ import annotations

import networkx as nx
import numpy as np

from anysize import GraphClassifier
from anysize.causal.graphon_check import check_graphon
from anysize.graphs.graphset import GraphSet


def regular(sizes: range, each: int, seed: int) -> tuple[list[nx.Graph], np.ndarray]:
    """Graphs of degree .3 n and .5 n, as two classes."""
    made, y = [], []
    for label, share in enumerate((0.3, 0.5)):
        for n in sizes:
            for number in range(each):
                degree = round(share * n)
                degree -= degree * n % 2
                made.append(nx.random_regular_graph(degree, n, seed=seed + 1000 * label + 37 * n + number))
                y.append(label)
    return made, np.array(y)


def test_evidence_decides_where_kappa_alone_speaks_against_graphons() -> None:
    (train, y), (large, truth) = regular(range(12, 25, 2), 5, 0), regular(range(40, 49, 4), 3, 5)
    model = GraphClassifier(check=False).fit(train, y)
    assert model.decision_ is not None
    assert (model.decision_.check.regime, model.decision_.family) == ("not_graphon", "gamma")
    assert model.decision_.evidence is not None
    assert model.score(large, truth) == 1.0


def test_a_density_that_was_fixed_is_said_to_say_nothing() -> None:
    rng = np.random.default_rng(0)
    made = []
    for n in range(12, 32):  # correlation matrices of which the strongest 30 % are kept
        weights = np.triu(rng.random((n, n)), 1)
        strongest = np.sort(weights[np.triu_indices(n, 1)])[-round(0.3 * n * (n - 1) / 2)]
        made.append(nx.from_numpy_array(((weights >= strongest) | (strongest <= weights.T)).astype(int)))
    check = check_graphon(GraphSet.from_networkx(made))
    assert check.density_is_fixed
    assert "say nothing about how the graphs came about" in check.summary()
    loose = check_graphon(GraphSet.from_networkx([nx.gnp_random_graph(n, 0.3, seed=n) for n in range(12, 32)]))
    assert not loose.density_is_fixed
