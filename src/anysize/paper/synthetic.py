"""The synthetic tasks: the class is the graphon, the environment gives sizes and colors.

Fresh data are drawn from the causal model (`anysize.causal.environments`). Published data are the data sets of the
published tables, reproduced to the last edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from anysize._typing import PathLike
from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import BlockModel, ErdosRenyi, Graphon
from anysize.evaluation.tasks import Data, Parts, Task
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet

Colors: TypeAlias = tuple[Mapping[ColorName, float], ...]


# ---- published data --------------------------------------------------------------------------------

# Sizes, classes and colors come from one stream of numpy's legacy generator, graph number i from networkx with the
# seed i + 1, in the order in which the methods below draw. The streams are local objects: the global ones stay
# untouched. networkx draws with Python's generator: a seed in a list gives numpy's legacy generator the same stream.

TRAIN_STATE, TEST_STATE = 42, 43  # seeds of numpy.random.RandomState
TEST_GRAPHS = 100


@dataclass(frozen=True)
class PublishedErdosRenyi:
    """Erdős–Rényi graphs of three edge probabilities: 150 drawn, 40 for validation, the next 80 for training.

    ``sizes`` are the training sizes in the order in which the stream picks them.
    """

    probabilities: tuple[float, ...]
    sizes: tuple[int, ...]
    test_sizes: tuple[int, ...]

    def draw(self) -> tuple[GraphSet, GraphSet, GraphSet]:
        """Train, validation, test."""
        pool = self._graphs(TRAIN_STATE, 150, self.sizes)
        return pool[40:120], pool[:40], self._graphs(TEST_STATE, TEST_GRAPHS, self.test_sizes)

    def _graphs(self, state: int, amount: int, sizes: Sequence[int]) -> GraphSet:
        stream = np.random.RandomState(state)
        edges, chosen, classes = [], [], []
        for number in range(amount):
            size = sizes[stream.randint(len(sizes))]
            label = int(stream.randint(len(self.probabilities)))
            pairs = np.column_stack(np.triu_indices(size, 1))  # networkx.gnp_random_graph draws one number for each
            drawn = np.random.RandomState([number + 1]).random_sample(len(pairs))
            edges.append(pairs[drawn < self.probabilities[label]])
            chosen.append(size)
            classes.append(label)
        return GraphSet.from_edges(edges, chosen, y=np.array(classes, np.int64))


@dataclass(frozen=True)
class PublishedBlocks:
    """Block models of two equal blocks and two cross densities: 100 drawn, 20 for validation, the rest for training.

    ``sizes`` are whole sizes in the order in which the stream picks them.
    """

    sizes: tuple[int, ...]

    def draw(self) -> tuple[GraphSet, GraphSet, GraphSet]:
        """Train, validation, test."""
        pool = self._graphs(TRAIN_STATE, 100, self.sizes, TRAIN_COLORS)
        return pool[20:], pool[:20], self._graphs(TEST_STATE, TEST_GRAPHS, (TEST_SIZE,), TEST_COLORS)

    @staticmethod
    def _graphs(state: int, amount: int, sizes: Sequence[int], colors: Colors) -> GraphSet:
        networkx = _networkx()
        stream = np.random.RandomState(state)
        palette = [name for block in TRAIN_COLORS for name in block]
        shares = [[block.get(name, 0.0) for name in palette] for block in colors]
        graphs, classes = [], []
        for number in range(amount):
            label = int(stream.randint(len(BETWEEN)))
            half = sizes[stream.randint(len(sizes))] // 2
            densities = [[WITHIN, BETWEEN[label]], [BETWEEN[label], WITHIN]]
            graph = networkx.stochastic_block_model([half, half], densities, seed=number + 1)
            codes = np.concatenate([stream.choice(len(palette), half, p=of_block) for of_block in shares])
            networkx.set_node_attributes(graph, {v: palette[code] for v, code in enumerate(codes)}, "color")
            graphs.append(graph)
            classes.append(label)
        colored = GraphSet.from_networkx(graphs, color="color", y=np.array(classes, np.int64))
        return colored.with_palette(palette)


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "The published data sets are made with networkx: pip install networkx, or take fresh ones (data=0)."
        ) from None
    return networkx


# ---- tasks -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Synthetic:
    """Graphs drawn from the causal model, one graphon for each class.

    ``train`` is the environment of training and validation graphs, ``test`` that of test graphs; ``graphs`` says how
    many of each are drawn (train, validation, test). The three sets have random streams of their own: tasks with
    the same classes and the same test environment have the same test graphs.
    """

    names: tuple[str, ...]
    classes: tuple[Graphon, ...]
    train: Environment
    test: Environment
    graphs: tuple[int, int, int]
    published: PublishedErdosRenyi | PublishedBlocks | None = None

    has_fresh = True

    @property
    def has_published(self) -> bool:
        return self.published is not None

    @property
    def training_environments(self) -> int:
        return len(set(self.train.sizes))

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        if data == "published":
            assert self.published is not None, "Task.splits has checked it"
            return Parts(*self.published.draw(), self.names)
        streams = np.random.SeedSequence(data).spawn(3)
        environments = (self.train, self.train, self.test)
        drawn = zip(environments, self.graphs, streams, strict=True)
        train, validation, test = (sample_graphs(self.classes, e, n, stream) for e, n, stream in drawn)
        return Parts(train, validation, test, self.names)


# ---- Erdős–Rényi: which edge probability? ----------------------------------------------------------

PROBABILITIES = (0.2, 0.5, 0.8)


def _erdos_renyi(sizes: tuple[int, ...]) -> Synthetic:
    return Synthetic(
        names=tuple(f"p = {p}" for p in PROBABILITIES),
        classes=tuple(ErdosRenyi(p) for p in PROBABILITIES),
        train=Environment(sizes=sizes),
        test=Environment(sizes=(140,)),
        graphs=(80, 40, 100),
        published=PublishedErdosRenyi(PROBABILITIES, sizes, test_sizes=(140,)),
    )


ER_SINGLE = Task(
    name="er-single",
    title="Edge probability of random graphs, 80 to 140 vertices",
    family="erdos-renyi",
    source=_erdos_renyi(sizes=(80,)),
    label="Erdős–Rényi, 80 → 140",
)
ER_MULTI = Task(
    name="er-multi",
    title="Edge probability of random graphs, 70 and 80 to 140 vertices",
    family="erdos-renyi",
    source=_erdos_renyi(sizes=(70, 80)),
    label="Erdős–Rényi, 70/80 → 140",
)

# ---- attributed block models: which cross density? -----------------------------------------------------

# Block 1 is red or blue, block 2 green or yellow; from training to test the shares of each pair are exchanged.
TRAIN_COLORS: Colors = ({"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1})
TEST_COLORS: Colors = ({"red": 0.1, "blue": 0.9}, {"green": 0.1, "yellow": 0.9})
TEST_SIZE = 40
WITHIN, BETWEEN = 0.2, (0.1, 0.3)


def _block_models(sizes: tuple[int, ...]) -> Synthetic:
    return Synthetic(
        names=tuple(f"cross density {p}" for p in BETWEEN),
        classes=tuple(BlockModel(within=(WITHIN, WITHIN), between=p) for p in BETWEEN),
        train=Environment(sizes, TRAIN_COLORS, blocks="balanced"),
        test=Environment((TEST_SIZE,), TEST_COLORS, blocks="balanced"),
        graphs=(80, 20, 100),
        published=PublishedBlocks(sizes),
    )


def _sbm(name: str, sizes: tuple[int, ...]) -> Task:
    ascending = sorted(sizes)
    return Task(
        name=name,
        title=f"Cross density of colored blocks, {' and '.join(map(str, ascending))} to {TEST_SIZE} vertices",
        family="sbm",
        source=_block_models(sizes),
        color_penalty=True,
        label=f"SBM, {'/'.join(map(str, ascending))} → {TEST_SIZE}",
    )


SBM_20 = _sbm("sbm-20", sizes=(20,))
SBM_14_20 = _sbm("sbm-14-20", sizes=(20, 14))  # the order in which the published stream picks sizes
SBM_20_30 = _sbm("sbm-20-30", sizes=(20, 30))

# ---- a task of our own, which topology alone and colors at face value both fail ---------------------------


def _within_swapped(graphs: tuple[int, int, int]) -> Synthetic:
    """Which of the two blocks is the dense one? Without colors both classes are the same distribution of graphs."""
    return Synthetic(
        names=("dense first block", "dense second block"),
        classes=(BlockModel(within=(0.3, 0.1), between=0.2), BlockModel(within=(0.1, 0.3), between=0.2)),
        train=Environment((20,), TRAIN_COLORS, blocks="balanced"),
        test=Environment((TEST_SIZE,), TEST_COLORS, blocks="balanced"),
        graphs=graphs,
    )


SBM_COLOR = Task(
    name="sbm-color",
    title="Which colored block is dense, 20 to 40 vertices",
    family="sbm",
    source=_within_swapped(graphs=(80, 20, 100)),
    color_penalty=True,
    label="SBM, colors needed, 20 → 40",
)
SBM_COLOR_400 = replace(
    SBM_COLOR,
    name="sbm-color-400",
    title="Which colored block is dense, with 400 training graphs",
    source=_within_swapped(graphs=(400, 100, 100)),
    label="SBM, colors needed, 400 training graphs",
)
