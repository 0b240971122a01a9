"""Checks of answers before anything is timed: count again in another way, and compare."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anysize import Counts, GraphSet, count
from anysize.patterns.pattern import connected_patterns
from benchmarks.inputs import colored

Check = Callable[[GraphSet, int, Counts], None]


class WrongAnswer(AssertionError):
    """Two ways of counting disagree."""


def ours(graphs: GraphSet, k: int, engine: str = "auto", threads: int | None = None) -> Counts:
    """`anysize.count`, without the warning that a long job takes long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return count(graphs, k, engine=engine, threads=threads)


def class_sums(counts: Counts, k: int) -> NDArray[np.int64]:
    """Copies of every plain pattern over all graphs, summed over the colors."""
    sums = np.zeros(len(connected_patterns(k)), np.int64)
    np.add.at(sums, counts.columns.pattern_index, np.asarray(counts.matrix.sum(axis=0)).ravel())
    return sums


def same_classes(expected: NDArray[np.int64], got: NDArray[np.int64], who: str) -> None:
    """Stop unless both have the same copies of every plain pattern."""
    if not np.array_equal(expected, got):
        index = int(np.flatnonzero(expected != got)[0])
        raise WrongAnswer(f"{who} has {got[index]} copies of plain pattern {index}, anysize {expected[index]}")


def _same_tables(a: Counts, b: Counts, who: str) -> None:
    unequal = a.matrix != b.align(a).matrix if len(b.columns) else a.matrix
    if a.matrix.sum() != b.matrix.sum() or unequal.nnz:
        raise WrongAnswer(f"the engine {who!r} gives another table")


def engine(name: str) -> Check:
    """Compare every cell with another engine."""

    def check(graphs: GraphSet, k: int, counts: Counts) -> None:
        _same_tables(counts, ours(graphs, k, name), name)

    return check


def color_sums(graphs: GraphSet, k: int, counts: Counts) -> None:
    """Compare the sums over colorings with the plain counts."""
    plain = ours(graphs.without_colors(), k)
    same_classes(class_sums(counts, k), class_sums(plain, k), "the count without colors")


def recolored(colors: int, engine: str = "auto") -> Check:
    """For plain rows: color the vertices at random, count again and sum over the colors."""

    def check(graphs: GraphSet, k: int, counts: Counts) -> None:
        again = ours(colored(graphs, colors), k, engine)
        same_classes(class_sums(counts, k), class_sums(again, k), f"the count with {colors} colors")

    return check


def subgraph(vertices: int, name: str = "enumerate") -> Check:
    """Compare both engines on the first vertices only, for graphs that are too large for the other engine."""

    def check(graphs: GraphSet, k: int, counts: Counts) -> None:
        edges = graphs.edges()
        small = edges[(edges < vertices).all(axis=1)]
        names = None if graphs.colors is None else list(graphs.color_names()[:vertices])
        small_graph = GraphSet.from_edges(small, n_vertices=vertices, colors=names)
        used = counts.log[0].engine  # the engine that will be timed
        _same_tables(ours(small_graph, k, used), ours(small_graph, k, name), name)

    return check


def totals(copies: int, patterns: int | None = None) -> Check:
    """Compare with published numbers: copies over all graphs, and the number of patterns that occur."""

    def check(graphs: GraphSet, k: int, counts: Counts) -> None:
        found = int(counts.matrix.sum()), len(counts.columns)
        if found[0] != copies or patterns not in (None, found[1]):
            raise WrongAnswer(f"expected {copies} copies of {patterns} patterns, found {found}")

    return check


def triangles(amount: int) -> Check:
    """Compare with the published number of triangles."""

    def check(graphs: GraphSet, k: int, counts: Counts) -> None:
        found = int(ours(graphs.without_colors(), 3).matrix.toarray()[:, -1].sum())
        if found != amount:
            raise WrongAnswer(f"expected {amount} triangles, found {found}")

    return check


def all_of(*checks: Check) -> Check:
    """Several checks, one after the other."""

    def check(graphs: GraphSet, k: int, counts: Counts) -> None:
        for one in checks:
            one(graphs, k, counts)

    return check
