"""`count`: inputs, engines, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
from counting.helpers import colored, gnp, identical, same
from scipy.sparse import csr_array

import anysize as az
from anysize._errors import GraphWarning
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.counting.planner import ENGINES, choose_engines
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns


@pytest.mark.parametrize("kind", ["networkx", "list", "igraph", "scipy", "path", "set"])
def test_graphs_of_every_kind_count_alike(kind: str, tmp_path: Path) -> None:
    house = nx.house_graph()
    (tmp_path / "house.txt").write_text("".join(f"{u} {v}\n" for u, v in house.edges))
    graphs: dict[str, Any] = {
        "networkx": house,
        "list": [house],
        "igraph": igraph.Graph(n=5, edges=list(house.edges)),
        "scipy": csr_array(nx.to_numpy_array(house)),
        "path": tmp_path / "house.txt",
        "set": GraphSet.from_networkx(house),
    }
    assert count(graphs[kind], 4).matrix.toarray().tolist() == [[0, 2, 2, 1, 0, 0]]


def test_the_vertex_attribute_with_the_color_is_named() -> None:
    water = nx.Graph([("O", "H1"), ("O", "H2")])
    nx.set_node_attributes(water, {"O": "O", "H1": "H", "H2": "H"}, "atom")
    (pattern,) = count([water], 3, color="atom").patterns
    assert pattern.automorphisms == 2
    assert sorted(pattern.colors or ()) == ["H", "H", "O"]
    with pytest.warns(GraphWarning, match="pass color='atom' to use it"):
        assert count([water], 3).palette == ()


def test_colors_are_ignored_on_demand() -> None:
    graphs = colored(gnp(12, 0.4), 3)
    same(count(graphs, 4, colors=False), count(graphs.without_colors(), 4))


@pytest.mark.parametrize("palette", [0, 2])
def test_several_sizes_make_one_table(palette: int) -> None:
    graphs = colored(gnp(12, 0.4), palette) if palette else gnp(12, 0.4)
    several = count(graphs, (4, 2, 4, 1))
    apart = [count(graphs, k) for k in (1, 2, 4)]
    assert [p.name for p in several.patterns] == [p.name for one in apart for p in one.patterns]
    assert np.array_equal(several.matrix.toarray(), np.hstack([one.matrix.toarray() for one in apart]))
    same(several, count(graphs, iter([1, 2, 4])))
    same(count(graphs, np.int64(4)), apart[2])


def test_labels_and_names_go_along() -> None:
    graphs = GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], y=[5, 6])
    counts = count(graphs, 2)
    assert counts.y is not None
    assert counts.y.tolist() == [5, 6]
    assert counts.matrix.toarray().tolist() == [[1], [2]]


@pytest.mark.parametrize("k", [0, 8, -1, 3.0, "4", True, None, (), (3, 9), (3, 4.5), [True]])
def test_sizes_out_of_range_are_refused(k: Any) -> None:
    with pytest.raises(ValueError, match="from 1 to 7"):
        count(nx.path_graph(4), k)


def test_unknown_engines_are_refused_with_the_names_of_the_others() -> None:
    with pytest.raises(ValueError, match=r"engine must be 'auto', 'sample' or one of direct, bitset, .*; got 'magic'"):
        count(nx.path_graph(4), 3, engine="magic")


def test_wrong_arguments_are_refused_before_counting() -> None:
    with pytest.raises(ValueError, match="progress must be a function"):
        count(nx.path_graph(4), 3, progress=True)  # type: ignore[arg-type]
    for seed in (-1, 1.5, None, True):
        with pytest.raises(ValueError, match="seed must be"):
            count(nx.path_graph(4), 3, engine="sample", samples=10, seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_wrong_numbers_of_threads_are_refused(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads must be"):
        count(nx.path_graph(4), 3, threads=threads)


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "brute"])
def test_engines_refuse_sizes_they_cannot_count(name: str) -> None:
    k = next(k for k in range(1, 8) if k not in ENGINES[name].sizes)
    with pytest.raises(ValueError, match=rf"the engine '{name}' counts k = .*; got k = {k}; use engine='auto'"):
        count(nx.path_graph(4), k, engine=name)


@pytest.mark.parametrize("name", ["bitset", "sparse"])
def test_plain_engines_refuse_colors(name: str) -> None:
    graphs = colored(gnp(8, 0.4), 2)
    with pytest.raises(ValueError, match=rf"the engine '{name}' cannot count colored.*colors=False"):
        count(graphs, 4, engine=name)
    same(count(graphs, 4, engine=name, colors=False), count(graphs.without_colors(), 4))


@pytest.mark.parametrize(
    ("name", "graphs", "what"),
    [
        ("flip", GraphSet.from_networkx([nx.path_graph(3), nx.path_graph(1025)]), "1025 vertices, 1 colors"),
        ("bitset", GraphSet.from_networkx([nx.path_graph(3), nx.path_graph(4097)]), "4097 vertices"),
        ("flip_sparse", GraphSet.from_edges([[(0, 1)], [(0, 1)]], [2, 20], [[0, 1], list(range(20))]), "20 col"),
        ("flip", GraphSet.from_edges([[(0, 1)], [(0, 1)]], [2, 20], [[0, 1], list(range(20))]), "20 colors"),
    ],
)
def test_engines_refuse_graphs_beyond_their_limits(name: str, graphs: GraphSet, what: str) -> None:
    with pytest.raises(ValueError, match=rf"the engine '{name}' cannot count graph 1 \(.*{what}.*engine='auto'"):
        count(graphs, 4, engine=name)
    assert len(count(graphs, 4)) == 2


def test_explain_names_the_engine_and_the_reason() -> None:
    assert "k = 4: sparse for 1 of 1 graphs" in count(gnp(9, 0.5), 4, engine="sparse").explain()
    assert "no graph has more than 512 vertices" in count(gnp(9, 0.5), 4).explain()
    reported = count(gnp(600, 0.01), (2, 4)).explain().splitlines()
    assert len(reported) == 2
    assert reported[0].startswith("k = 2: direct for 1 of 1 graphs")
    assert "estimated" in reported[1]


def test_auto_takes_different_engines_for_different_graphs() -> None:
    """A clique is for words of bits, a graph of 40,000 vertices for its few edges."""
    clique = GraphSet.from_networkx(nx.complete_graph(300))
    sparse = GraphSet.from_networkx(nx.barabasi_albert_graph(40_000, 4, seed=1))
    choices = choose_engines(GraphSet.concatenate([clique, sparse, clique]), 5)
    assert {choice.engine.name: choice.rows.tolist() for choice in choices} == {"bitset": [0, 2], "sparse": [1]}


def test_a_set_shared_by_engines_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:

    graphs = GraphSet.concatenate([gnp(40, 0.5), GraphSet.from_networkx(nx.path_graph(2000)), gnp(41, 0.5)])
    monkeypatch.setattr("anysize.counting.planner.SECOND_ENGINE_ABOVE_S", -1e18)
    names = {choice.engine.name for choice in choose_engines(graphs, 4)}
    assert len(names) > 1
    same(count(graphs, 4), count(graphs, 4, engine="enumerate"))


@pytest.mark.parametrize("palette", [0, 3])
@pytest.mark.parametrize("k", range(1, 8))
def test_auto_equals_the_oracle(k: int, palette: int) -> None:
    graphs = gnp(8, 0.5, seed=k)
    graphs = colored(graphs, palette) if palette else graphs
    same(count(graphs, k), count(graphs, k, engine="brute"))


def test_progress_rises_to_one() -> None:
    reported: list[float] = []
    count(GraphSet.concatenate([gnp(9, 0.5, seed=s) for s in range(30)]), (3, 4), progress=reported.append)
    assert reported == sorted(reported)
    assert reported[-1] == 1.0
    assert reported[0] > 0


def test_long_counts_give_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anysize.counting.planner.WARN_ABOVE_S", 0.0)
    with pytest.warns(az.CountWarning, match="will take about") as warned:
        count(gnp(600, 0.1), (2, 3))
    note = str(warned[0].message)
    assert "count(graphs, 3, budget_s=60)" in note
    assert "anysize count FILE --k 3 --budget 60" in note
    assert "color" not in note
    with pytest.warns(az.CountWarning, match="colors"):
        count(colored(gnp(60, 0.1), 2), 3)


def test_an_empty_list_is_an_empty_table() -> None:
    assert count([], (3, 4)).shape == (0, 8)
    assert count([], 3).densities().shape == (0, 2)


def test_the_public_names_are_the_same_objects() -> None:
    assert az.count is count
    assert az.Counts is Counts
    assert az.connected_patterns is connected_patterns
    identical(az.count(nx.path_graph(4), 3), count(nx.path_graph(4), 3))


def test_one_large_graph_goes_to_an_engine_that_all_threads_can_share() -> None:
    graph = gnp(900, 0.1)
    assert [choice.engine.name for choice in choose_engines(graph, 5, threads=1)] == ["bitset"]
    assert [choice.engine.name for choice in choose_engines(graph, 5, threads=16)] == ["sparse"]


def test_sizes_that_are_counted_on_the_way_to_the_largest_are_those_counted_alone() -> None:
    shapes = [nx.gnp_random_graph(n, p, seed=n) for n in (0, 1, 3, 4, 5, 9, 40, 70) for p in (0.1, 0.5, 0.9)]
    graphs = GraphSet.from_networkx(shapes)
    together = count(graphs, (3, 4, 5))
    assert "k = 3: bitset" in together.explain()
    assert "on the way to k = 5" in together.explain()
    alone = [count(graphs, k, max_memory="1GiB") for k in (3, 4, 5)]
    expected = np.hstack([table.matrix.toarray() for table in alone])
    np.testing.assert_array_equal(together.matrix.toarray(), expected)
    assert together.patterns == sum((table.patterns for table in alone), ())
