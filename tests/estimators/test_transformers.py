"""Densities as features: the scikit-learn transformer and the PyG transform."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from learned import as_networkx, labeled, labels
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import Compose

from anysize import AttachDensities, GraphSet, SubgraphDensities, count


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return labeled(24)


@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
@pytest.mark.parametrize("colors", [True, False])
def test_columns_are_the_densities_of_the_patterns_that_they_name(over: Any, colors: bool, graphs: GraphSet) -> None:
    made = SubgraphDensities(k=(2, 3), over=over, colors=colors)
    found = made.fit_transform(graphs)
    table = count(graphs, (2, 3), colors=colors)
    expected = dict(zip((p.name for p in table.patterns), table.densities(over).toarray().T, strict=True))
    assert found.shape == (24, len(made.get_feature_names_out()))
    for name, column in zip(made.get_feature_names_out(), found.toarray().T, strict=True):
        np.testing.assert_array_equal(column, expected[name])
    np.testing.assert_array_equal(made.transform(graphs).toarray(), found.toarray())
    np.testing.assert_array_equal(made.transform(table).toarray(), found.toarray())


def test_patterns_unseen_in_fit_are_dropped_but_count_in_the_denominators(graphs: GraphSet) -> None:
    """With shares of connected sets a graph of strange patterns has a row that sums to less than 1."""
    made = SubgraphDensities(k=3, over="connected").fit(graphs)
    strange = labeled(4, colors="AZ")
    rows = made.transform(strange)
    assert rows.shape == (4, len(made.get_feature_names_out()))
    assert "Z" not in "".join(made.get_feature_names_out())
    assert (rows.sum(axis=1) < 1).all()
    trees = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]])
    assert SubgraphDensities(k=3).fit(trees).get_feature_names_out().tolist() == ["3-path"]  # no triangle, no column


def test_a_limited_vocabulary_is_limited_before_shares_are_taken(graphs: GraphSet) -> None:
    made = SubgraphDensities(k=3, over="connected", top=4)
    rows = made.fit_transform(graphs).toarray()
    assert rows.shape == (24, 4)
    np.testing.assert_allclose(rows.sum(axis=1)[rows.any(axis=1)], 1)
    assert set(made.get_feature_names_out()) == {p.name for p in count(graphs, 3).top(4).patterns}


@pytest.mark.parametrize("kind", ["set", "list", "table"])
def test_it_works_in_pipelines_and_searches(kind: str, graphs: GraphSet) -> None:
    x: Any = {"set": graphs, "list": as_networkx(24), "table": count(graphs, 3)}[kind]
    pipe = make_pipeline(SubgraphDensities(k=3, color="atom"), MaxAbsScaler(), LogisticRegression())
    assert cross_val_score(pipe, x, labels(24), cv=3, error_score="raise").mean() > 0.9
    names = pipe.fit(x, labels(24))[:-1].get_feature_names_out()
    assert len(names) == pipe[-1].coef_.shape[1]
    search = GridSearchCV(pipe, {"subgraphdensities__over": ["subsets", "maps"]}, cv=2, error_score="raise")
    assert search.fit(x, labels(24)).predict(x).shape == (24,)


def test_conventions_and_errors(graphs: GraphSet) -> None:
    made = SubgraphDensities(k=[3], over="maps", colors=False, top=2)
    assert clone(made).get_params() == made.get_params()
    assert made.k == [3]
    for ask in (made.get_feature_names_out, lambda: made.transform(graphs)):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(ValueError, match="over must be one of"):
        SubgraphDensities(over="all").fit(graphs)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="top must be a whole number"):
        SubgraphDensities(k=3, top=0).fit(graphs)
    with pytest.raises(ValueError, match="had some colors and these have none"):
        SubgraphDensities(k=3).fit(graphs).transform(graphs.without_colors())
    assert SubgraphDensities(k=3).fit(graphs).transform([]).shape[0] == 0
    assert SubgraphDensities(k=5).fit_transform(GraphSet.from_edges([[(0, 1)]])).shape == (1, 0)


def test_tables_of_other_patterns_are_refused(graphs: GraphSet) -> None:
    learned = SubgraphDensities(k=3).fit(graphs)
    for ask in (learned.transform, SubgraphDensities(k=3).fit):
        with pytest.raises(ValueError, match="got a table with 4"):
            ask(count(graphs, 4))
    with pytest.raises(ValueError, match="needs counts without colors"):
        SubgraphDensities(k=3, colors=False).fit(count(graphs, 3))
    plain = count(graphs, 3, colors=False)
    np.testing.assert_array_equal(
        SubgraphDensities(k=3, colors=False).fit_transform(plain).toarray(), plain.densities().toarray()
    )


def test_dense_output_for_estimators_and_data_frames(graphs: GraphSet) -> None:
    sparse, dense = SubgraphDensities(k=3), SubgraphDensities(k=3, sparse_output=False)
    expected = sparse.fit_transform(graphs).toarray()
    for found in (dense.fit_transform(graphs), dense.transform(graphs)):
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected)
    scaled = make_pipeline(dense, StandardScaler(), LogisticRegression()).fit(graphs, labels(24))
    assert scaled.score(graphs, labels(24)) > 0.9
    np.testing.assert_allclose(scaled[:-1].transform(graphs).mean(axis=0), 0, atol=1e-12)
    assert make_pipeline(dense, GaussianNB()).fit(graphs, labels(24)).predict(graphs).shape == (24,)


def test_data_frames_have_patterns_as_columns_and_graphs_as_rows(graphs: GraphSet) -> None:
    expected = SubgraphDensities(k=3).fit_transform(graphs).toarray()
    made = SubgraphDensities(k=3).set_output(transform="pandas")
    names = tuple(f"graph {number}" for number in range(24))
    for found, index in (
        (made.fit_transform(graphs), list(range(24))),
        (made.transform(replace(graphs, names=names)), list(names)),
        (made.transform(count(replace(graphs, names=names), 3)), list(names)),
        (clone(made).fit(graphs).transform(graphs[:5]), list(range(5))),
    ):
        assert found.columns.tolist() == made.get_feature_names_out().tolist()
        assert found.index.tolist() == index
        np.testing.assert_array_equal(found.to_numpy(), expected[: len(index)])
    with config_context(transform_output="pandas"):
        assert SubgraphDensities(k=3).fit_transform(graphs).shape == expected.shape
        assert made.set_output(transform="default").transform(graphs).nnz  # sparse again
    edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3]})  # one graph, three rows
    found = SubgraphDensities(k=3).set_output(transform="pandas").fit_transform(edges)
    assert (found.columns.tolist(), found.to_numpy().tolist()) == (["3-path"], [[0.5]])


def test_names_of_columns_are_unique_for_awkward_colors() -> None:
    """A color may hold a comma or a bracket, be empty, or be a number written as text."""
    edge = [(0, 1)]
    commas = GraphSet.from_edges([edge] * 3, colors=[["a,b", "c"], ["a", "b,c"], ["", "a]"]])
    numbers = GraphSet.from_edges([edge], colors=[[1, 1]]) + GraphSet.from_edges([edge], colors=[["1", "1"]])
    for graphs, amount in ((commas, 3), (numbers, 2)):
        frame = SubgraphDensities(k=2).set_output(transform="pandas").fit_transform(graphs)
        assert len(frame.columns) == amount
        assert frame.columns.is_unique
    plain = AttachDensities(k=(2, 3, 4, 5))(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2))
    assert len(set(plain.pattern_names)) == len(plain.pattern_names) == 1 + 2 + 6 + 21


# ---- PyG -------------------------------------------------------------------------------------------


def test_data_gets_its_densities(graphs: GraphSet) -> None:
    pyg = graphs.with_y(None).to_pyg()
    transform = Compose([AttachDensities(k=(3, 4), over="maps")])
    done = [transform(data) for data in pyg]
    table = count(graphs, (3, 4), colors=False)
    batch = Batch.from_data_list(done)
    assert batch.densities.dtype == torch.float32
    np.testing.assert_allclose(batch.densities.numpy(), table.densities("maps").toarray(), rtol=1e-6)
    assert done[0].pattern_names == [pattern.name for pattern in table.patterns]
    assert not hasattr(pyg[0], "densities")  # a copy
    assert done[0].edge_index is pyg[0].edge_index


def test_colored_patterns_need_a_vocabulary(graphs: GraphSet) -> None:
    pyg = graphs.with_y(None).to_pyg()
    learned = SubgraphDensities(k=3, color="x").fit(pyg[:10])
    attach = AttachDensities(vocabulary=learned)
    framed = AttachDensities(vocabulary=clone(learned).set_params(sparse_output=False).fit(pyg[:10]))
    assert torch.equal(framed(pyg[0]).densities, attach(pyg[0]).densities)
    batch = Batch.from_data_list([attach(data) for data in pyg])
    np.testing.assert_allclose(batch.densities.numpy(), learned.transform(pyg).toarray(), rtol=1e-6)
    assert attach(pyg[0]).pattern_names == learned.get_feature_names_out().tolist()
    with pytest.raises(NotFittedError):
        AttachDensities(vocabulary=SubgraphDensities())
    with pytest.raises(ValueError, match="over must be one of"):
        AttachDensities(over="all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k must be"):
        AttachDensities(k=8)
    assert "AttachDensities(k=4, over='subsets'" in repr(AttachDensities())


def test_a_graph_that_is_too_small_has_zeros() -> None:
    lone = AttachDensities(k=3)(Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=1))
    assert lone.densities.tolist() == [[0.0, 0.0]]
