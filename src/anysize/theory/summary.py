"""What the theory says at given sizes, beside what is measured there: the content of `anysize theory`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anysize.causal.coloring import Coloring
from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import BlockModel, ErdosRenyi, Graphon
from anysize.counting.planner import choose_engines
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.theory.bounds import KINDS, Kind, epsilon_reached, number_of_patterns, size_needed, theorem_bound
from anysize.theory.gaps import density_gap
from anysize.theory.intervals import density_intervals

EXAMPLES: tuple[tuple[str, Graphon], ...] = (
    ("Erdos-Renyi, p = 0.3", ErdosRenyi(0.3)),
    ("two unequal blocks", BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))),
)
TITLES: dict[Kind, str] = {"paper": "Theorem 1", "hoeffding": "Hoeffding's inequality"}
LARGEST_DRAWN = 5000  # vertices; a graph of more takes too long for a table that should come at once
GROUPS, FEWEST_PAIRS = 40, 10


@dataclass(frozen=True)
class BoundRow:
    """One bound for patterns of size k exactly, or of all sizes up to k.

    ``bound`` is for the epsilon of the summary; ``silent_below`` is the epsilon up to which the bound is 1 or
    more; ``epsilon_reached`` and ``size_needed`` are for its delta. The bound is vacuous where it is 1 or more.
    """

    kind: Kind
    up_to: bool
    patterns: int
    bound: float
    vacuous: bool
    silent_below: float
    epsilon_reached: float
    size_needed: int


@dataclass(frozen=True)
class Measured:
    """Gaps between graphs drawn from one graphon, over all patterns up to k, and what one graph predicts for them.

    ``quantile`` is the gap that a share 1 - delta of the pairs does not exceed, ``predicted`` the same from the
    jackknife of the first training graph.
    """

    graphon: str
    pairs: int
    mean: float
    quantile: float
    largest: float
    predicted: float


@dataclass(frozen=True)
class TheorySummary:
    """Bounds and measurements at one pair of sizes, and what they mean in words."""

    k: int
    train_size: int
    test_size: int
    colors: int
    epsilon: float
    delta: float
    bounds: tuple[BoundRow, ...]
    measured: tuple[Measured, ...]
    sentences: tuple[str, ...]


def summarize(
    k: int,
    train_size: int,
    test_size: int,
    colors: int = 1,
    *,
    epsilon: float = 0.5,
    delta: float = 0.05,
    pairs: int = 50,
    seed: int = 0,
    budget_s: float = 10.0,
    progress: Callable[[float], None] | None = None,
) -> TheorySummary:
    """Both bounds at these sizes, gaps measured on pairs of graphs from two example graphons, and a few sentences.

    Args:
        k: pattern size 1..7.
        train_size: vertices of the training graphs.
        test_size: vertices of the test graphs.
        colors: how many colors vertices have, in equal shares in every environment.
        epsilon: the gap for which the bounds are shown.
        delta: the probability for which sizes and gaps are shown.
        pairs: how many pairs of a training and a test graph to measure, drawn independently; 0 for none. Fewer
            are taken where counting would be slow.
        seed: of the graphs.
        budget_s: how many seconds of counting per graphon are acceptable.
        progress: called with the share of the work done so far.
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta is a probability between 0 and 1; got {delta!r}")
    if pairs < 0:
        raise ValueError(f"the number of pairs cannot be negative; got {pairs}")
    rows = []
    for kind in KINDS:
        for up_to in (False, True):
            bound = theorem_bound(k, train_size, test_size, epsilon, colors, up_to=up_to, kind=kind)
            sizes = (k, train_size, test_size)
            silent = epsilon_reached(*sizes, 1.0, colors, up_to=up_to, kind=kind)
            reached = epsilon_reached(*sizes, delta, colors, up_to=up_to, kind=kind)
            needed = size_needed(k, epsilon, delta, colors, up_to=up_to, kind=kind)
            many = number_of_patterns(k, colors, up_to)
            rows.append(BoundRow(kind, up_to, many, bound, bound >= 1, silent, reached, needed))
    measured = []
    for number, (name, graphon) in enumerate(EXAMPLES if pairs else ()):
        drawn = _drawn(graphon, k, (train_size, test_size), colors, pairs, seed, budget_s)
        if drawn is not None:
            measured.append(_measured(name, *drawn, k, delta, seed))
        if progress is not None:
            progress((number + 1) / len(EXAMPLES))
    told = (*_words(rows, epsilon, delta), *_measured_words(rows, measured, pairs, delta))
    return TheorySummary(k, train_size, test_size, colors, epsilon, delta, tuple(rows), tuple(measured), told)


def _drawn(
    graphon: Graphon, k: int, sizes: tuple[int, int], colors: int, wanted: int, seed: int, budget_s: float
) -> tuple[GraphSet, GraphSet] | None:
    """As many pairs as the budget allows, or None where it does not allow a few."""
    if max(sizes) > LARGEST_DRAWN or min(sizes) <= k:
        return None
    share: dict[ColorName, float] = dict.fromkeys(range(colors), 1 / colors)
    coloring = None if colors == 1 else Coloring.of([share] * len(graphon.shares))

    def draw(n: int) -> tuple[GraphSet, GraphSet]:
        train, test = (Environment(sizes=(size,), colors=coloring) for size in sizes)
        return sample_graphs(graphon, train, n, (seed, 0)), sample_graphs(graphon, test, n, (seed, 1))

    train, test = (
        sum(choice.seconds for size in range(1, k + 1) for choice in choose_engines(graphs, size)) for graphs in draw(1)
    )
    affordable = (budget_s - GROUPS * train) / max(train + test, 1e-9)
    return None if affordable < min(wanted, FEWEST_PAIRS) else draw(min(wanted, int(affordable)))


def _measured(name: str, train: GraphSet, test: GraphSet, k: int, delta: float, seed: int) -> Measured:
    sizes = range(1, k + 1)
    gap = density_gap(train, test, sizes, paired=True)
    intervals = density_intervals(train[0], sizes, groups=GROUPS, seed=seed)
    predicted = float(intervals.predicted_gap(int(test.sizes[0]), delta)[0])
    return Measured(name, len(train), gap.mean, gap.quantile(1 - delta), gap.largest, predicted)


def _words(rows: list[BoundRow], epsilon: float, delta: float) -> list[str]:
    """For each kind, in words, where the bound for all sizes up to k says something."""
    sentences = []
    for row in (row for row in rows if row.up_to):
        title = TITLES[row.kind]
        if row.silent_below >= 1:
            sentence = f"{title} is vacuous here: for every gap below 1 its bound is above 1."
        elif row.vacuous:
            sentence = (
                f"{title} is vacuous at a gap of {epsilon:g}: its bound exceeds 1 for every gap below "
                f"{row.silent_below:.2g}."
            )
        else:
            sentence = f"{title} says something here: gaps above {epsilon:g} have a probability below {row.bound:.2g}."
        if row.vacuous:
            sentence += (
                f" Both graphs need {row.size_needed:,} vertices before it says that gaps above {epsilon:g} have a "
                f"probability of at most {delta:g}."
            )
        sentences.append(sentence)
    return sentences


def _measured_words(rows: list[BoundRow], measured: list[Measured], wanted: int, delta: float) -> list[str]:
    if not measured:
        return ["No gaps were measured: counting graphs of these sizes would take too long."] if wanted else []
    largest = max(one.largest for one in measured)
    paper = next(row for row in rows if row.kind == "paper" and row.up_to)
    excluded = "none" if paper.epsilon_reached >= 1 else f"only those above {paper.epsilon_reached:.2g}"
    fewer = "" if all(one.pairs == wanted for one in measured) else f" (fewer pairs than {wanted}, to save time)"
    return [
        f"The largest gap measured is {largest:.2g}{fewer}; "
        f"with probability {1 - delta:g} Theorem 1 excludes {excluded}.",
        f"From one training graph, the vertex jackknife predicts that {1 - delta:.0%} of all gaps lie below "
        + " and ".join(f"{one.predicted:.2g} ({one.graphon})" for one in measured)
        + ".",
        "All of this is for colors that do not depend on the environment; where they do, the gap stays at any size.",
    ]
