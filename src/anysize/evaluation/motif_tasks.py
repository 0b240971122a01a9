"""Tasks with planted motifs: the class is which motif a graph has, or has more often; test graphs are larger.

`MOTIF_SIZE` and `MOTIF_SIZE_CONCEPT` follow the rule of GOOD-Motif with the domain size, `SPMOTIF_33`, `SPMOTIF_60` and
`SPMOTIF_90` that of SPMotif; graphs are drawn anew from a seed, nothing is downloaded. `MOTIF_COUNT` is a task of our
own. None of them is in the paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from anysize._typing import IntArray, PathLike
from anysize.causal.motifs import (
    CRANE,
    CYCLE,
    HOUSE,
    MOTIF_VERTICES,
    Base,
    add_random_edges,
    erdos_renyi,
    geometric,
    ladder,
    path,
    plant,
    preferential,
    star,
    tree,
    wheel,
)
from anysize.evaluation.tasks import Data, Parts, Task
from anysize.graphs.assembly import assemble
from anysize.graphs.graphset import GraphSet
from anysize.splits import SPLITS

Part: TypeAlias = str  # one of `SPLITS`
RANDOM_EDGES = 0.05  # pairs drawn, as a share of the edges


@dataclass(frozen=True)
class DrawnGraphs(ABC):
    """Graphs drawn from a seed; ``graphs`` says how many are for training, validation and test."""

    graphs: tuple[int, int, int]

    has_published = False
    has_fresh = True
    training_environments = 2  # or more: sizes

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""

    @abstractmethod
    def sample(self, part: Part, amount: int, rng: np.random.Generator) -> GraphSet:
        """Draw so many graphs for training, validation or test; y holds class numbers."""

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        streams = map(np.random.default_rng, np.random.SeedSequence(int(data)).spawn(3))
        train, validation, test = map(self.sample, SPLITS, self.graphs, streams)
        return Parts(train, validation, test, self.classes)


def motif_graphs(bases: Sequence[Base], motifs: Sequence[IntArray], rng: np.random.Generator) -> GraphSet:
    """One motif on every base, and random edges; without labels."""
    graphs = add_random_edges(plant(bases, [[motif] for motif in motifs], rng), RANDOM_EDGES, rng)
    return assemble(graphs.sizes, graphs.source, graphs.target)


# ---- GOOD-Motif, domain size ---------------------------------------------------------------------------

LABEL_NOISE = 0.1  # of the labels are drawn again: two thirds of these are wrong
WIDTH_JITTER = 5
COVARIATE_WIDTHS, COVARIATE_TEST_WIDTHS = (6, 10, 15), (70,)
CONCEPT_WIDTHS = (10, 40, 70)
CONCEPT_BIASES, CONCEPT_TEST_BIASES = (0.99, 0.97, 0.95), (0.0,)  # of environments with equally many graphs


@dataclass(frozen=True)
class MotifSizes(DrawnGraphs):
    """A house, a cycle or a crane on a wheel, tree, ladder, star or path; the class is the motif, but for noise.

    ``shift``: with ``covariate``, the bases of test graphs are wider. With ``concept``, all graphs have the same three
    widths, and each motif has one of its own in most training graphs, but not in test graphs.
    """

    shift: Literal["covariate", "concept"]

    classes = ("house", "cycle", "crane")

    def sample(self, part: Part, amount: int, rng: np.random.Generator) -> GraphSet:
        motif = rng.integers(0, 3, amount)
        if self.shift == "covariate":
            middle = rng.choice(COVARIATE_TEST_WIDTHS if part == "test" else COVARIATE_WIDTHS, amount)
        else:
            bias = rng.choice(CONCEPT_TEST_BIASES if part == "test" else CONCEPT_BIASES, amount)
            kept = rng.random(amount) < bias
            middle = np.array(CONCEPT_WIDTHS)[np.where(kept, motif, rng.integers(0, 3, amount))]
        width = middle + rng.integers(-WIDTH_JITTER, WIDTH_JITTER + 1, amount)
        bases = list(map(self._base, rng.integers(0, 5, amount).tolist(), width.tolist()))
        graphs = motif_graphs(bases, [(HOUSE, CYCLE, CRANE)[number] for number in motif], rng)
        return graphs.with_y(np.where(rng.random(amount) < LABEL_NOISE, rng.integers(0, 3, amount), motif))

    @staticmethod
    def _base(kind: int, width: int) -> Base:
        if kind == 1:  # about as many vertices
            return tree(max(1, int(np.log2(width)) - 1))
        return (wheel, tree, ladder, star, path)[kind](width)


MOTIF_SIZE = Task(
    name="motif-size",
    title="Which motif a graph has, 6-45 to 68-155 vertices (rule of GOOD-Motif size, covariate)",
    family=None,
    environments="median",
    vanishing=None,
    source=MotifSizes((18_000, 3_000, 3_000), "covariate"),
    label="Motif, size",
)
MOTIF_SIZE_CONCEPT = Task(
    name="motif-size-concept",
    title="Which motif a graph has, where its size misleads (rule of GOOD-Motif size, concept)",
    family=None,
    environments="median",
    vanishing=None,
    source=MotifSizes((12_600, 2_700, 6_000), "concept"),
    label="Motif, size (concept)",
)

# ---- SPMotif -------------------------------------------------------------------------------------------

NO_BIAS = 1 / 3


@dataclass(frozen=True)
class BiasedMotifs(DrawnGraphs):
    """A cycle, a house or a crane on a tree, a ladder or a wheel; the class is the motif.

    Each class prefers one base, with the probability ``bias`` in training. In validation and test, bases are
    independent of the class; in test, they are larger.
    """

    bias: float

    classes = ("cycle", "house", "crane")

    def sample(self, part: Part, amount: int, rng: np.random.Generator) -> GraphSet:
        motif = np.arange(amount) % 3
        preferred = rng.random(amount) < (self.bias if part == "train" else NO_BIAS)
        kind = (motif + np.where(preferred, 0, rng.integers(1, 3, amount))) % 3
        bases = [self._base(*pair, part == "test", rng) for pair in zip(kind.tolist(), motif.tolist(), strict=True)]
        return motif_graphs(bases, [(CYCLE, HOUSE, CRANE)[number] for number in motif], rng).with_y(motif)

    @staticmethod
    def _base(kind: int, motif: int, is_test: bool, rng: np.random.Generator) -> Base:
        if kind == 0:  # the rule has other trees for cycles than for houses and cranes in training
            return tree(int(rng.integers(3, 6) if is_test else 3 if motif == 0 else rng.integers(0, 3)))
        if kind == 1:
            return ladder(int(rng.integers(30, 50) if is_test else rng.integers(8, 12)))
        return wheel(int(rng.integers(60, 80) if is_test else rng.integers(15, 20)))


def _spmotif(percent: int, bias: float) -> Task:
    return Task(
        name=f"spmotif-{percent}",
        title=f"Which motif a graph has, {percent} % of them on the base of their class (rule of SPMotif)",
        family=None,
        environments="median",
        vanishing=None,
        source=BiasedMotifs((9_000, 3_000, 3_000), bias),
        label=f"SPMotif .{percent}",
    )


SPMOTIF_33 = _spmotif(33, NO_BIAS)
SPMOTIF_60 = _spmotif(60, 0.6)
SPMOTIF_90 = _spmotif(90, 0.9)

# ---- a counting task of our own ------------------------------------------------------------------------

SMALLEST_LEAD = 0.6  # share of the class among the planted motifs


@dataclass(frozen=True)
class MotifCounts(DrawnGraphs):
    """Which pattern occurs more often as an induced subgraph, the house or the crane.

    One motif for every ten vertices is planted on an Erdős-Rényi graph of mean degree 2, a preferential attachment tree
    or a geometric graph of mean degree 3. Both patterns are then counted exactly, and the class is the one with more
    copies. A graph in which that is not the motif that was planted more often is drawn again, so that each class has
    as many graphs on each base.
    """

    sizes: tuple[int, int]
    test_sizes: tuple[int, int]

    classes = ("house", "crane")

    def sample(self, part: Part, amount: int, rng: np.random.Generator) -> GraphSet:
        y = np.arange(amount) % 2
        pending = np.arange(amount)
        drawn, order = [], []
        while len(pending):
            graphs = self._attempt(part, y[pending], pending // 2 % 3, rng)
            right = more_copies(graphs) == np.where(y[pending] == 0, 1, -1)
            drawn.append(graphs[right])
            order.append(pending[right])
            pending = pending[~right]
        return GraphSet.concatenate(drawn)[np.argsort(np.concatenate(order))].with_y(y)

    def _attempt(self, part: Part, y: IntArray, kind: IntArray, rng: np.random.Generator) -> GraphSet:
        smallest, largest = self.test_sizes if part == "test" else self.sizes
        size = rng.integers(smallest, largest + 1, len(y))
        motifs = size // (2 * MOTIF_VERTICES)
        leading = np.ceil(rng.uniform(SMALLEST_LEAD, 1, len(y)) * motifs).astype(np.int64)
        houses = np.where(y == 0, leading, motifs - leading)
        planted = [[HOUSE] * a + [CRANE] * b for a, b in zip(houses.tolist(), (motifs - houses).tolist(), strict=True)]
        left = size - MOTIF_VERTICES * motifs
        by_kind = erdos_renyi(left, 2.0, rng), preferential(left, rng), geometric(left, 3.0, rng)
        graphs = plant([by_kind[number][graph] for graph, number in enumerate(kind.tolist())], planted, rng)
        return assemble(graphs.sizes, graphs.source, graphs.target)


def more_copies(graphs: GraphSet) -> IntArray:
    """1 where a graph has more induced houses than cranes, -1 where it has fewer, 0 where it has as many."""
    from anysize.counting.api import count  # imports numba
    from anysize.patterns.pattern import Pattern

    patterns = [Pattern.of([(int(a), int(b)) for a, b in motif]) for motif in (HOUSE, CRANE)]
    copies = count(graphs, MOTIF_VERTICES).align(patterns).matrix.toarray()
    return np.asarray(np.sign(copies[:, 0] - copies[:, 1]))


MOTIF_COUNT = Task(
    name="motif-count",
    title="Which of two patterns occurs more often, 20-60 to 400-500 vertices",
    family=None,
    environments="median",
    vanishing=None,
    source=MotifCounts((3_000, 600, 1_200), (20, 60), (400, 500)),
    label="Motif counts",
)

MOTIF_TASKS = (MOTIF_SIZE, MOTIF_SIZE_CONCEPT, SPMOTIF_33, SPMOTIF_60, SPMOTIF_90, MOTIF_COUNT)
