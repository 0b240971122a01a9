"""GraphletKernel: densities matched by name; inner products of sparse features."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from kernels.helpers import DYED, graphs_of
from scipy.sparse import csr_array, random_array

from anysize import GraphSet, count
from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.methods.catalog import METHODS
from anysize.methods.method import Examples, Run, TrainingData


def test_graphlet_features_are_shares_matched_by_name() -> None:
    train, test = graphs_of(DYED[::2]), graphs_of(DYED[1::2])
    kernel = GraphletKernel(k=3).fit(train)
    columns = [pattern.name for pattern in kernel.columns_.patterns]
    shares = count(test, 3).to_pandas(over="connected")
    assert set(columns) - set(shares.columns) or set(shares.columns) - set(columns)  # the two sets differ
    expected = shares.reindex(columns=columns, fill_value=0.0).to_numpy()
    assert expected.sum(axis=1).min() < 1 - 1e-9  # unseen patterns count in the denominator
    np.testing.assert_array_equal(kernel.transform(test).toarray(), expected)
    np.testing.assert_allclose(kernel.kernel(test), expected @ kernel.features_.toarray().T, rtol=1e-12)


@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
def test_graphlets_take_tables_made_before(over: Any) -> None:
    train, test = graphs_of(DYED[::2]), graphs_of(DYED[1::2])
    kernel = GraphletKernel(k=4, over=over).fit(train)
    tabled = GraphletKernel(k=4, over=over).fit(count(train, 4))
    assert (kernel.transform(test) != tabled.transform(count(test, 4))).nnz == 0
    assert (kernel.features_ != tabled.features_).nnz == 0


def test_top_patterns_are_kept_before_shares_are_taken() -> None:
    graphs = graphs_of(DYED)
    kernel = GraphletKernel(k=3, top=4).fit(graphs)
    kept = count(graphs, 3).top(4).matrix.toarray()
    shares = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(kernel.transform(graphs).toarray(), shares, rtol=1e-12)
    with pytest.raises(ValueError, match="top must be at least 1"):
        GraphletKernel(top=0).fit(graphs)


def test_validation_graphs_count_for_the_most_common_patterns() -> None:
    """The most common subgraphs in training and validation: ten paths outnumber two training triangles."""
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    star = [(0, leaf) for leaf in range(1, 6)]  # ten paths on three vertices
    train, validation = GraphSet.from_edges([triangles]), GraphSet.from_edges([star])
    alone, pooled = GraphletKernel(k=3, top=1), GraphletKernel(k=3, top=1)
    assert alone.fit_transform(train).toarray().tolist() == [[1.0]]
    assert pooled.fit_transform(train, validation=validation).toarray().tolist() == [[0.0]]
    assert [pattern.name for pattern in alone.columns_.patterns] == ["triangle"]
    assert [pattern.name for pattern in pooled.columns_.patterns] == ["3-path"]
    tables = count(train, 3), count(validation, 3)
    assert GraphletKernel(top=1).fit_transform(tables[0], validation=tables[1]).toarray().tolist() == [[0.0]]


def test_the_method_takes_its_vocabulary_from_training_and_validation_graphs() -> None:
    graphs = graphs_of(DYED)
    y = np.arange(len(graphs)) % 2
    held_out = np.arange(len(graphs)) % 3 == 0
    train, validation = (Examples(graphs[rows], y[rows]) for rows in (~held_out, held_out))
    (fitted,) = METHODS["gc-kernel"].learner.fit(
        TrainingData(train, validation, 2, k=3, top=5), [Run({"C": 1.0}, 0)], METHODS["gc-kernel"].recipe("paper")
    )
    totals: Counter[str] = Counter()
    for graph in graphs:  # summed by hand, graph by graph
        counts = count(graph, 3)
        totals.update(dict(zip([p.name for p in counts.patterns], counts.matrix.toarray()[0].tolist(), strict=True)))
    kept = {pattern.name for pattern in fitted.machine.kernel_.columns_.patterns}
    assert sorted(totals[name] for name in kept) == sorted(totals.values())[-5:]
    only = GraphletKernel(k=3, top=5).fit(train.graphs)
    assert {pattern.name for pattern in only.columns_.patterns} != kept


def test_graphlets_without_colors_and_without_subgraphs() -> None:
    graphs = graphs_of(DYED)
    plain = GraphletKernel(k=4, colors=False).fit_transform(graphs).toarray()
    np.testing.assert_array_equal(plain, GraphletKernel(k=4).fit_transform(graphs.without_colors()).toarray())
    assert not plain[0].any()  # one vertex: a zero row


@pytest.mark.parametrize("density", [0.0, 0.01, 0.3, 1.0])
def test_gram_equals_the_plain_product(density: float) -> None:
    rng = np.random.default_rng(1)
    rare = random_array((40, 300), density=density / 10, rng=rng).toarray()
    common = random_array((40, 30), density=density, rng=rng).toarray()
    left = np.round(100 * np.hstack([common, rare]))[:, rng.permutation(330)]
    right = left[::3] + 1.0 * (left[::3] > 0)
    np.testing.assert_array_equal(gram(csr_array(left)), left @ left.T)
    np.testing.assert_array_equal(gram(csr_array(left), csr_array(right)), left @ right.T)


def test_gram_refuses_other_columns() -> None:
    with pytest.raises(ValueError, match="got 2 and 3 columns"):
        gram(csr_array((4, 2)), csr_array((4, 3)))
