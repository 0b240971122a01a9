"""Sampled counts: unbiased, with valid standard errors, the same for any number of threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import comb
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import anysize as az
from anysize.counting.execution import EngineChoice
from anysize.counting.sampling.estimates import SampleSize
from anysize.counting.sampling.trees import spanning_trees, tree_plans
from anysize.graphs.assembly import assemble
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

RUNS = 200


def preferential() -> GraphSet:
    return GraphSet.from_networkx(nx.barabasi_albert_graph(300, 3, seed=1))


def blocks() -> GraphSet:
    """Two blocks of 200 vertices, three colors."""
    draw = np.random.default_rng(5)
    block = np.repeat([0, 1], 200)
    edge = np.where(block[:, None] == block, 0.05, 0.02)
    source, target = np.nonzero(np.triu(draw.random((400, 400)) < edge, 1))
    colors = draw.integers(0, 3, 400).astype(np.uint16)
    return assemble([400], source, target, colors, ("a", "b", "c"))


def check(graph: GraphSet, k: int, samples: int) -> None:
    """Means of 200 runs against the exact counts, and how often the intervals hold them."""
    exact = az.count(graph, k)
    truth = exact.matrix.toarray()[0].astype(float)
    values, covered, expected = [], [], None
    for seed in range(RUNS):
        table = az.count(graph, k, engine="sample", samples=samples, seed=seed).align(exact)
        low, high = table.interval(0.95)
        values.append(table.matrix.toarray()[0])
        covered.append((low[0] <= truth) & (truth <= high[0]))
        expected = truth * table.sampling.rates[0, exact.columns.pattern_index]
    often = (expected >= 20) & (np.std(values, axis=0) > 0)
    assert often.any()
    means, spread = np.mean(values, axis=0)[often], np.std(values, axis=0, ddof=1)[often] / np.sqrt(RUNS)
    z = np.abs(means - truth[often]) / spread
    assert (z > 3).mean() <= 0.01
    assert z.max() < 5
    assert 0.93 <= np.mean(np.array(covered)[:, often]) <= 0.97


@pytest.mark.parametrize("k", [3, 4, 5])
def test_preferential_attachment_is_estimated_without_bias(k: int) -> None:
    check(preferential(), k, samples=20_000)


def test_colored_blocks_are_estimated_without_bias() -> None:
    check(blocks(), 4, samples=20_000)


def test_a_large_real_graph_is_estimated_without_bias(data_dir: Path) -> None:
    check(az.read_graphs(data_dir / "ca-AstroPh-lcc.txt.gz"), 4, samples=20_000)


@pytest.mark.parametrize("k", [6, 7])
def test_larger_patterns_agree_with_exact_counts(k: int) -> None:
    graph = GraphSet.from_networkx(nx.gnp_random_graph(22, 0.3, seed=2))
    truth = az.count(graph, k).matrix.toarray()[0]
    table = az.count(graph, k, engine="sample", samples=400_000, seed=1)
    rate = table.sampling.rates[0]
    sure = truth * rate >= 50  # expected hits, which are nearly Poisson
    assert sure.sum() > 20
    assert (np.abs(table.matrix.toarray()[0] - truth)[sure] <= 5 * np.sqrt(truth / rate)[sure]).all()


@pytest.mark.parametrize("make", [preferential, blocks])
def test_estimates_depend_only_on_the_seed(make: Callable[[], GraphSet]) -> None:
    graphs = GraphSet.concatenate([make(), make()])
    tables = [az.count(graphs, 5, engine="sample", samples=50_000, seed=3, threads=threads) for threads in (1, 2, 5)]
    for other in tables[1:]:
        assert np.array_equal(tables[0].matrix.toarray(), other.matrix.toarray())
        assert np.array_equal(tables[0].hits.toarray(), other.hits.toarray())
    different = az.count(graphs, 5, engine="sample", samples=50_000, seed=4)
    assert not np.array_equal(tables[0].totals()[:5], different.totals()[:5])
    rows = tables[0].matrix.toarray()
    assert not np.array_equal(rows[0], rows[1])  # two graphs do not share their samples


def test_parts_of_a_set_have_the_estimates_of_the_whole(tmp_path: Path) -> None:
    graphs = GraphSet.concatenate([preferential()] * 3)
    whole = az.count(graphs, 4, engine="sample", samples=5000, seed=1)
    part = az.count(graphs[1:], 4, engine="sample", samples=5000, seed=1, first=1, cache=tmp_path)
    assert np.array_equal(part.matrix.toarray(), whole[1:].matrix.toarray())
    other = az.count(graphs[1:], 4, engine="sample", samples=5000, seed=1, cache=tmp_path)  # not that of the cache
    assert np.array_equal(other.matrix.toarray(), whole[:2].matrix.toarray())
    with pytest.raises(ValueError, match="first must be"):
        az.count(graphs, 4, first=-1)


def test_cliques_are_counted_not_sampled() -> None:
    hidden = nx.disjoint_union(nx.barabasi_albert_graph(2000, 3, seed=1), nx.complete_graph(6))
    table = az.count(hidden, 5, engine="sample", samples=10_000)
    clique = len(connected_patterns(5)) - 1
    exact = az.count(hidden, 5).matrix[0, clique]
    assert table.matrix[0, clique] == exact >= comb(6, 5)
    assert table.standard_errors[0, clique] == 0
    low, high = table.interval()
    assert low[0, clique] == high[0, clique] == exact


def test_patterns_without_hits_have_an_upper_end() -> None:
    graph = preferential()
    table = az.count(graph, 5, engine="sample", samples=500)
    truth = az.count(graph, 5).matrix.toarray()[0]
    low, high = table.interval(0.999)
    missed = (table.hits.toarray()[0] == 0) & (truth > 0)
    assert missed.sum() >= 3
    assert (low[0, missed] == 0).all()
    assert (high[0, missed] >= truth[missed]).all()


def test_the_relative_error_is_reached() -> None:
    graph = GraphSet.from_networkx(nx.barabasi_albert_graph(2000, 5, seed=1))
    table = az.count(graph, 5, engine="sample", rel_error=0.02, seed=1)
    truth = az.count(graph, 5).matrix.toarray()[0]
    error = table.standard_errors.toarray()[0]
    common = truth / truth.sum() > 2e-3
    assert (error[common] / truth[common]).max() <= 0.022
    assert table.sampling.samples[0] < 5_000_000


def test_a_relative_error_out_of_reach_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SampleSize, "__init__", lambda self, *_: self.__dict__.update(
        samples=None, rel_error=0.001, min_share=1e-3, max_samples=20_000))  # fmt: skip
    with pytest.warns(az.CountWarning, match=r"relative error of 0.001; 20,000 are drawn"):
        az.count(preferential(), 5, engine="sample", rel_error=0.001)


def test_a_budget_switches_to_sampling() -> None:
    graph = GraphSet.from_networkx(nx.barabasi_albert_graph(400, 10, seed=1))
    sampled = az.count(graph, 7, budget_s=0.01)
    assert "more than the budget of 0.01 s" in sampled.explain()
    assert sampled.sampling is not None
    assert az.count(graph, 5, budget_s=100).sampling is None


class Elapsed:
    """The seconds of a block."""

    def __enter__(self) -> Elapsed:
        self.began = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self.began


@pytest.mark.parametrize(("graphs", "vertices"), [(1, 2000), (20, 300)])
def test_a_budget_is_kept_and_used(graphs: int, vertices: int) -> None:
    made = [nx.barabasi_albert_graph(vertices, 20, seed=seed) for seed in range(graphs)]
    graphset, budget = GraphSet.from_networkx(made), 2.0
    az.count(graphset[0], 6, engine="sample", samples=10)  # loads the kernels
    with Elapsed() as elapsed:
        table = az.count(graphset, 6, budget_s=budget)
    assert budget / 1.3 < elapsed.seconds < 2 * budget  # 1.3 times the budget on a quiet machine
    assert table.sampling is not None
    assert table.sampling.samples.min() > 1000


def test_estimates_of_a_budget_are_those_of_as_many_samples() -> None:
    graph = GraphSet.from_networkx(nx.barabasi_albert_graph(400, 10, seed=1))
    hurried = az.count(graph, 7, budget_s=0.5, seed=3)
    assert hurried.sampling is not None
    again = az.count(graph, 7, engine="sample", samples=int(hurried.sampling.samples[0]), seed=3)
    assert (hurried.matrix != again.matrix).nnz == 0
    assert (hurried.hits != again.hits).nnz == 0


def test_exact_counting_that_takes_longer_than_expected_ends_in_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EngineChoice, "seconds", property(lambda self: 1e-3))
    star, reported = GraphSet.from_networkx(nx.star_graph(2000)), []
    az.count(star, 7, engine="sample", samples=10)
    az.count(nx.star_graph(60), 7, engine="enumerate")  # compiles the kernel, which nothing interrupts
    with Elapsed() as elapsed:
        table = az.count(star, 7, budget_s=1.5, progress=reported.append)
    assert "took longer than expected" in table.explain()
    assert table.matrix.toarray().sum() == pytest.approx(comb(2000, 6), rel=0.05)
    assert 1.5 < elapsed.seconds < 1.3 * 1.5
    assert reported == sorted(reported)
    assert reported[-1] == 1.0


def test_rows_columns_and_files_keep_the_errors(tmp_path: Path) -> None:
    graphs = GraphSet.concatenate([blocks(), blocks(), blocks()])
    table = az.count(graphs, 4, engine="sample", samples=20_000, seed=2)
    table.save(tmp_path / "sampled.npz")
    loaded = az.Counts.load(tmp_path / "sampled.npz")
    again = az.Counts.concatenate([table[:1], table[1:]]).align(table)
    for other in (loaded, again):
        for name in ("matrix", "hits", "standard_errors"):
            assert np.array_equal(getattr(other, name).toarray(), getattr(table, name).toarray())
        assert np.array_equal(other.interval()[1], table.interval()[1])
    part = table[1].select(np.arange(5))
    assert np.array_equal(part.standard_errors.toarray(), table.standard_errors.toarray()[1:2, :5])
    assert np.allclose(table.densities("connected").sum(axis=1), 1)
    with pytest.raises(ValueError, match="all exact, or all sampled"):
        az.Counts.concatenate([table, az.count(graphs, 4)])


def test_the_cache_keeps_estimates_by_seed(tmp_path: Path) -> None:
    first = az.count(preferential(), 4, engine="sample", samples=1000, seed=1, cache=tmp_path)
    again = az.count(preferential(), 4, engine="sample", samples=1000, seed=1, cache=tmp_path)
    other = az.count(preferential(), 4, engine="sample", samples=1000, seed=2, cache=tmp_path)
    assert np.array_equal(first.standard_errors.toarray(), again.standard_errors.toarray())
    assert not np.array_equal(first.matrix.toarray(), other.matrix.toarray())


def test_exact_tables_have_no_error() -> None:
    table = az.count(preferential(), 4)
    assert table.standard_errors.nnz == 0
    assert np.array_equal(table.interval()[0], table.matrix.toarray())
    with pytest.raises(ValueError, match="counted exactly"):
        _ = table.hits


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"k": 2, "engine": "sample", "samples": 10}, "k from 3 to 7"),
        ({"k": (3, 4), "engine": "sample", "samples": 10}, "one pattern size at a time"),
        ({"k": 4, "engine": "sample"}, "either samples=NUMBER or rel_error"),
        ({"k": 4, "engine": "sample", "samples": 0}, "at least 1"),
        ({"k": 4, "engine": "sample", "rel_error": 2.0}, "between 0 and 1"),
        ({"k": 4, "samples": 10}, "need engine='sample'"),
        ({"k": 4, "budget_s": -1.0}, "positive number of seconds"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        az.count(preferential(), **arguments)  # type: ignore[arg-type]


def test_small_and_empty_graphs_have_zero_rows() -> None:
    graphs = GraphSet.from_edges([[(0, 1)], [], [(0, 1), (1, 2), (2, 3), (0, 3)]], [2, 0, 4])
    table = az.count(graphs, 4, engine="sample", samples=1000)
    assert table.matrix.toarray()[:2].sum() == 0
    assert np.flatnonzero(table.matrix.toarray()[2]).tolist() == [3]
    assert abs(table.matrix[2, 3] - 1) < 5 * table.standard_errors[2, 3]
    assert az.count(graphs[:0], 4, engine="sample", samples=10).shape == (0, 6)


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_spanning_trees_sum_to_the_matrix_tree_theorem(k: int) -> None:
    for column in range(0, len(connected_patterns(k)), 7):
        laplacian = nx.laplacian_matrix(connected_patterns(k)[column].to_networkx()).toarray()
        assert spanning_trees(k)[:, column].sum() == round(np.linalg.det(laplacian[1:, 1:]))
    assert len(tree_plans(k)) == nx.number_of_nonisomorphic_trees(k)
