"""The jobs of the main table: what is counted, how the answer is checked, what it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from anysize import GraphSet
from benchmarks.checks import Check, all_of, color_sums, engine, recolored, subgraph, totals, triangles
from benchmarks.inputs import (
    barabasi_albert,
    colored,
    erdos_renyi,
    erdos_renyi_batch,
    geometric,
    molecules,
    powerlaw_cluster,
    real,
)


@dataclass(frozen=True)
class Row:
    """One job; `prototype` names a function of `benchmarks.prototypes`, `unit` is the unit of the rate."""

    name: str
    graphs: Callable[[], GraphSet]
    k: int
    check: Check
    prototype: str | None = None
    unit: str | None = None  # "graphs" or "subgraphs"
    engine: str = "auto"
    quick: bool = False
    network: bool = False  # whether networkx is fast enough to be timed


def _plain(file: str) -> GraphSet:
    return real(file).without_colors()


def _colored(make: Callable[..., GraphSet], *arguments: object) -> Callable[[], GraphSet]:
    return lambda: colored(make(*arguments), 4)


ASTRO, FACEBOOK = "ca-AstroPh-lcc.txt.gz", "facebook_combined.txt.gz"
astro, facebook = triangles(1350014), triangles(1612010)

TINY = (
    Row("k=3 ER 140 p=.5", partial(erdos_renyi, 140, 0.5), 3, engine("sparse"), quick=True, network=True),
    Row(
        "k=4 ER 40 p=.2",
        partial(erdos_renyi, 40, 0.2),
        4,
        engine("enumerate"),
        "bitset",
        quick=True,
        network=True,
    ),
    Row(
        "k=5 ER 40 p=.2",
        partial(erdos_renyi, 40, 0.2),
        5,
        engine("enumerate"),
        "bitset",
        quick=True,
        network=True,
    ),
    Row("k=3 ca-AstroPh", partial(_plain, ASTRO), 3, all_of(astro, engine("enumerate")), network=True),
)

DENSE = (
    Row("k=4 ER 140 p=.5", partial(erdos_renyi, 140, 0.5), 4, engine("sparse"), "bitset", quick=True),
    Row("k=4 ER 800 p=.1", partial(erdos_renyi, 800, 0.1), 4, engine("sparse"), "bitset"),
    Row("k=5 ER 80 p=.5", partial(erdos_renyi, 80, 0.5), 5, engine("flip"), "bitset", quick=True),
    Row("k=5 ER 140 p=.2", partial(erdos_renyi, 140, 0.2), 5, engine("flip"), "bitset", quick=True),
    Row("k=5 ER 140 p=.5", partial(erdos_renyi, 140, 0.5), 5, engine("flip"), "bitset", quick=True),
    Row("k=5 ER 140 p=.8", partial(erdos_renyi, 140, 0.8), 5, engine("flip"), "bitset", quick=True),
    Row("k=5 ER 264 p=.5", partial(erdos_renyi, 264, 0.5), 5, engine("flip"), "bitset", quick=True),
    Row("k=6 ER 140 p=.5", partial(erdos_renyi, 140, 0.5), 6, all_of(subgraph(45), recolored(2)), "flip6"),
)

BATCHES = (
    Row(
        "k=5 1000 ER 20-60 p=.2",
        partial(erdos_renyi_batch, 1000, (20, 60), (0.2,)),
        5,
        engine("enumerate"),
        "bitset",
        "graphs",
        quick=True,
    ),
    Row(
        "k=5 1000 ER 20-60 p=.5",
        partial(erdos_renyi_batch, 1000, (20, 60), (0.5,)),
        5,
        engine("flip"),
        "bitset",
        "graphs",
        quick=True,
    ),
    Row(
        "k=4 1000 ER 20-140",
        partial(erdos_renyi_batch, 1000, (20, 140), (0.2, 0.5, 0.8)),
        4,
        engine("flip"),
        "bitset",
        "graphs",
    ),
    Row(
        "k=5 1000 ER 20-140",
        partial(erdos_renyi_batch, 1000, (20, 140), (0.2, 0.5, 0.8)),
        5,
        engine("flip"),
        "bitset",
        "graphs",
    ),
)

SPARSE = (
    Row("k=4 BA 10k m=5", partial(barabasi_albert, 10_000, 5), 4, engine("enumerate"), "sparse", quick=True),
    Row("k=5 BA 10k m=5", partial(barabasi_albert, 10_000, 5), 5, engine("flip_sparse"), "sparse", quick=True),
    Row("k=5 BA 10k m=20", partial(barabasi_albert, 10_000, 20), 5, engine("flip_sparse"), "sparse"),
    Row("k=4 powerlaw-cluster 100k", partial(powerlaw_cluster, 100_000, 5), 4, engine("flip_sparse"), "sparse"),
    Row("k=5 powerlaw-cluster 100k", partial(powerlaw_cluster, 100_000, 5), 5, engine("flip_sparse"), "sparse"),
    Row("k=4 ca-AstroPh", partial(_plain, ASTRO), 4, all_of(astro, engine("flip_sparse")), "sparse"),
    Row("k=5 ca-AstroPh", partial(_plain, ASTRO), 5, all_of(astro, engine("flip_sparse")), "sparse"),
    Row("k=5 facebook_combined", partial(_plain, FACEBOOK), 5, all_of(facebook, engine("bitset")), "sparse"),
)

COLORED = (
    Row(
        "k=5 ER 140 p=.5, 4 colors",
        partial(erdos_renyi, 140, 0.5, 4),
        5,
        all_of(color_sums, engine("enumerate")),
        "flip",
        quick=True,
    ),
    Row(
        "k=5 ER 264 p=.5, 4 colors",
        partial(erdos_renyi, 264, 0.5, 4),
        5,
        all_of(color_sums, subgraph(80)),
        "flip",
    ),
    Row(
        "k=5 BA 10k m=5, 4 colors",
        _colored(barabasi_albert, 10_000, 5),
        5,
        all_of(color_sums, subgraph(600)),
        "flip_sparse",
        quick=True,
    ),
    Row(
        "k=5 BA 10k m=20, 4 colors",
        _colored(barabasi_albert, 10_000, 20),
        5,
        all_of(color_sums, subgraph(250)),
        "flip_sparse",
    ),
    Row(
        "k=5 powerlaw-cl. 100k, 4 colors",
        _colored(powerlaw_cluster, 100_000, 5),
        5,
        all_of(color_sums, subgraph(600)),
        "flip_sparse",
    ),
)

MANY_COLORS = (
    Row("k=4 molecules, 37 colors", partial(molecules, 4000), 4, color_sums, "batch", "graphs", quick=True),
    Row("k=5 molecules, 37 colors", partial(molecules, 4000), 5, color_sums, "batch", "graphs", quick=True),
    Row("k=4 NCI1 plain", partial(_plain, "NCI1.zip"), 4, totals(309386), "bitset", "graphs"),
    Row("k=5 NCI1 plain", partial(_plain, "NCI1.zip"), 5, engine("enumerate"), "bitset", "graphs"),
    Row(
        "k=4 NCI1 colored",
        partial(real, "NCI1.zip"),
        4,
        all_of(totals(309386, 390), color_sums),
        "batch",
        "graphs",
    ),
    Row("k=5 NCI1 colored", partial(real, "NCI1.zip"), 5, color_sums, "batch", "graphs"),
    Row(
        "k=4 DD colored",
        partial(real, "DD.zip"),
        4,
        all_of(totals(9973546, 284652), color_sums),
        "batch",
        "graphs",
    ),
    Row(
        "k=5 ER 80 p=.2, 4 colors, listed",
        partial(erdos_renyi, 80, 0.2, 4),
        5,
        all_of(color_sums, engine("flip")),
        "esu_direct",
        "subgraphs",
        "enumerate",
        quick=True,
    ),
    Row(
        "k=5 ER 80 p=.5, 4 colors, listed",
        partial(erdos_renyi, 80, 0.5, 4),
        5,
        all_of(color_sums, engine("flip")),
        "esu_direct",
        "subgraphs",
        "enumerate",
    ),
    Row(
        "k=5 geometric 5k, 89 colors",
        partial(geometric, 5000, 5, 89),
        5,
        color_sums,
        "esu_hash",
        "subgraphs",
        "enumerate",
    ),
)

ROWS: tuple[Row, ...] = (*TINY, *DENSE, *BATCHES, *SPARSE, *COLORED, *MANY_COLORS)
