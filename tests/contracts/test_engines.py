"""Every counting engine against the oracle: all graphs up to seven vertices, and graphs that break others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import pytest
from counting.helpers import colored, gnp, identical, renamed, same

from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.counting.planner import ENGINES
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

Oracle = Callable[[str, int], Counts]

# engine -> (pattern sizes, whether it distinguishes colors): what it must do here to be listed in ENGINES
CONTRACTS = {
    "direct": ((1, 2), True),
    "bitset": ((3, 4, 5), False),
    "sparse": ((3, 4, 5), False),
    "flip": ((4, 5, 6), True),
    "flip_sparse": ((4, 5), True),
    "enumerate": ((3, 4, 5, 6, 7), True),
    "typed": ((1, 2, 3, 4, 5), True),
    "brute": ((1, 2, 3, 4, 5, 6, 7), True),
}
# Strings, and a color that nobody has in the middle, so that codes are not the numbers of colors in use.
PALETTE = ("C", "H, 1", "N", "O")


def jobs(with_oracle: bool = False, kinds: tuple[str, ...] = ("plain", "colored")) -> list[Any]:
    """(engine, k, plain or colored) of every contract."""
    return [
        pytest.param(name, k, kind, id=f"{name}-{k}-{kind}")
        for name, (sizes, colors) in CONTRACTS.items()
        for k in sizes
        for kind in kinds
        if (with_oracle or name != "brute") and (colors or kind == "plain")
    ]


def in_both_kinds(graphs: GraphSet) -> dict[str, GraphSet]:
    """Plain, and with up to three of four colors; a third of the graphs has one, a third two."""
    wild = colored(graphs, 3, seed=1, palette=PALETTE)
    assert wild.colors is not None
    most = np.repeat(np.arange(len(graphs)) % 3, graphs.sizes)
    wild.colors[:] = np.array([0, 2, 3], np.uint16)[np.minimum(wild.colors, most)]
    return {"plain": graphs, "colored": wild}


@pytest.fixture(scope="session")
def atlas() -> dict[str, GraphSet]:
    """All 1253 graphs of up to seven vertices."""
    kinds = in_both_kinds(GraphSet.from_networkx(nx.graph_atlas_g()))
    return kinds | {"some colored": kinds["colored"][::5]}


@pytest.fixture(scope="session")
def oracle(atlas: dict[str, GraphSet]) -> Oracle:
    @cache
    def of_atlas(kind: str, k: int) -> Counts:
        return count(atlas[kind], k, engine="brute", threads=1)

    return of_atlas


def odd_graphs() -> GraphSet:
    """Graphs on which counters have been seen to fail."""
    return GraphSet.from_networkx(
        [
            nx.empty_graph(0),
            nx.empty_graph(1),
            nx.empty_graph(9),
            nx.path_graph(2),
            nx.star_graph(7),
            nx.complete_graph(8),
            nx.complete_bipartite_graph(4, 4),
            nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4)),
            nx.disjoint_union(nx.cycle_graph(3), nx.path_graph(6)),
            nx.disjoint_union(nx.empty_graph(3), nx.cycle_graph(6)),
            nx.complement(nx.cycle_graph(8)),
            nx.empty_graph(0),
        ]
    )


@pytest.fixture(scope="session")
def odd() -> dict[str, GraphSet]:
    return in_both_kinds(odd_graphs())


@pytest.fixture(scope="session")
def odd_oracle(odd: dict[str, GraphSet]) -> Oracle:
    @cache
    def of_odd(kind: str, k: int) -> Counts:
        return count(odd[kind], k, engine="brute", threads=1)

    return of_odd


def test_every_engine_has_a_contract() -> None:
    assert {name: (engine.sizes, engine.colored) for name, engine in ENGINES.items()} == CONTRACTS


def test_an_engine_is_the_object_of_the_file_with_its_name() -> None:
    for name, engine in ENGINES.items():
        file = import_module(f"anysize.counting.engines.{name}")
        assert getattr(file, name.upper()) is engine
        assert {engine.count.__module__, engine.seconds.__module__, engine.memory.__module__} == {file.__name__}


def test_the_atlas_holds_every_pattern(oracle: Oracle) -> None:
    for k in range(1, 8):
        totals = np.asarray(oracle("plain", k).matrix.sum(axis=0))
        assert totals.shape == (len(connected_patterns(k)),)
        assert totals.min() > 0


@pytest.mark.parametrize(("name", "k", "kind"), jobs())
def test_engine_equals_the_oracle_on_all_small_graphs(
    name: str, k: int, kind: str, atlas: dict[str, GraphSet], oracle: Oracle
) -> None:
    if k > 5 and kind == "colored":
        kind = "some colored"  # the oracle looks at k! numberings of every set
    same(count(atlas[kind], k, engine=name, threads=1), oracle(kind, k))


@pytest.mark.parametrize(("name", "k", "kind"), jobs())
def test_engine_equals_the_oracle_on_odd_graphs(
    name: str, k: int, kind: str, odd: dict[str, GraphSet], odd_oracle: Oracle
) -> None:
    same(count(odd[kind], k, engine=name, threads=2), odd_oracle(kind, k))


@pytest.mark.parametrize(("name", "k", "kind"), jobs())
def test_a_single_graph_has_the_counts_of_its_row_in_a_set(
    name: str, k: int, kind: str, odd: dict[str, GraphSet], odd_oracle: Oracle
) -> None:
    alone = [count(odd[kind][g], k, engine=name, threads=2) for g in range(len(odd[kind]))]
    same(Counts.concatenate(alone), odd_oracle(kind, k))


@pytest.mark.parametrize(("name", "k", "kind"), jobs(with_oracle=True))
def test_renaming_vertices_changes_nothing(name: str, k: int, kind: str, atlas: dict[str, GraphSet]) -> None:
    some = atlas[kind][slice(k, None, 90 if name == "brute" else 11)]
    other = renamed(some, seed=2)
    assert not some.equals(other)
    identical(count(other, k, engine=name, threads=1), count(some, k, engine=name, threads=1))


@pytest.mark.parametrize(("name", "k", "kind"), jobs(with_oracle=True))
def test_graphs_without_a_k_set_have_zero_rows(name: str, k: int, kind: str) -> None:
    bare = GraphSet.from_networkx([nx.complete_graph(k - 1), nx.empty_graph(0)])
    counts = count(bare if kind == "plain" else colored(bare, 2), k, engine=name)
    assert counts.shape == (2, len(connected_patterns(k)) if kind == "plain" else 0)
    assert counts.matrix.nnz == 0 or not counts.matrix.toarray().any()


@pytest.mark.parametrize(("name", "k", "kind"), jobs(with_oracle=True))
def test_an_empty_set_has_no_rows(name: str, k: int, kind: str, odd: dict[str, GraphSet]) -> None:
    counts = count(odd[kind][:0], k, engine=name)
    assert counts.shape == counts.matrix.shape == (0, len(connected_patterns(k)) if kind == "plain" else 0)
    assert counts.palette == odd[kind].palette


@pytest.mark.parametrize(("name", "k", "kind"), jobs(kinds=("colored",)))
def test_unused_colors_change_nothing(name: str, k: int, kind: str, odd: dict[str, GraphSet]) -> None:
    graphs = odd[kind][3:8]
    wide = graphs.with_palette((-5, *(f"{letter}x" for letter in "ABCDEFGHIJKLMNOPQ"), *graphs.palette))
    narrow, broad = count(graphs, k, engine=name), count(wide, k, engine=name)
    assert [p.name for p in narrow.patterns] == [p.name for p in broad.patterns]
    assert (narrow.matrix != broad.matrix).nnz == 0


def many(k: int) -> GraphSet:
    """A set of graphs of all densities that chunks can share."""
    sizes, shares = (5, 9, 14, 20) if k < 6 else (5, 9, 12, 14), (0.15, 0.4, 0.8)
    return GraphSet.concatenate([gnp(n, p, seed) for seed in range(2) for n in sizes for p in shares])


def large(name: str, k: int) -> GraphSet:
    """One graph that an engine splits among its threads."""
    if name == "flip":
        return gnp(300 if k < 6 else 40, 0.05 if k < 6 else 0.2)
    return gnp(1500, (4 if k < 6 else 2) / 1500)


@pytest.mark.parametrize("one", [False, True], ids=["many", "one"])
@pytest.mark.parametrize(("name", "k", "kind"), jobs())
def test_threads_do_not_change_a_bit(name: str, k: int, kind: str, one: bool) -> None:
    graphs = large(name, k) if one else many(k)
    if kind == "colored":
        graphs = colored(graphs, 4, seed=3)
    first, *others = (count(graphs, k, engine=name, threads=threads) for threads in (1, 2, 5))
    assert first.matrix.sum() > 0
    for other in others:
        identical(first, other)
