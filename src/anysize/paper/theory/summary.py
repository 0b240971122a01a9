"""The content of `anysize paper theory`: bounds at given graph sizes, and gaps measured on example graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anysize.causal.coloring import Coloring
from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import BlockModel, ErdosRenyi, Graphon
from anysize.counting.planner import choose_engines
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.paper.theory.bounds import (
    BOUND_KINDS,
    BoundKind,
    epsilon_reached,
    number_of_patterns,
    size_needed,
    theorem_bound,
)
from anysize.paper.theory.gaps import density_gap
from anysize.paper.theory.intervals import density_intervals

EXAMPLES: tuple[tuple[str, Graphon], ...] = (
    ("Erdős–Rényi, p = 0.3", ErdosRenyi(0.3)),
    ("two unequal blocks", BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))),
)
TITLES: dict[BoundKind, str] = {"paper": "Theorem 1", "hoeffding": "Hoeffding's inequality"}
MAX_MEASURED_VERTICES = 5000  # no gaps are measured on larger graphs, to answer within seconds
JACKKNIFE_GROUPS = 40
MIN_PAIRS = 10  # fewer pairs are not worth measuring


@dataclass(frozen=True)
class BoundRow:
    """One bound, for patterns of size k or of all sizes up to k.

    ``bound`` is the bound at the epsilon of the summary, ``vacuous`` whether it is 1 or more, ``vacuous_below`` the
    epsilon below which it is 1 or more; ``epsilon_reached`` and ``size_needed`` are for the delta of the summary.
    """

    kind: BoundKind
    up_to: bool
    patterns: int
    bound: float
    vacuous: bool
    vacuous_below: float
    epsilon_reached: float
    size_needed: int


@dataclass(frozen=True)
class MeasuredGap:
    """Gaps between graphs drawn from one graphon, over all patterns up to k.

    ``quantile`` is the 1 - delta quantile of the gaps, ``predicted`` its prediction by the jackknife from the first
    training graph.
    """

    graphon: str
    pairs: int
    mean: float
    quantile: float
    largest: float
    predicted: float


@dataclass(frozen=True)
class TheorySummary:
    """Bounds and measured gaps at one pair of sizes, and sentences that interpret them."""

    k: int
    train_size: int
    test_size: int
    colors: int
    epsilon: float
    delta: float
    bounds: tuple[BoundRow, ...]
    measured: tuple[MeasuredGap, ...]
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
    """Compute both bounds at these sizes, and measure gaps on graphs drawn from two example graphons.

    Args:
        k: pattern size 1..7.
        train_size: vertices of the training graphs.
        test_size: vertices of the test graphs.
        colors: number of vertex colors, of equal shares in every environment.
        epsilon: the gap at which the bounds are evaluated.
        delta: the probability at which sizes and gaps are evaluated.
        pairs: number of pairs of independent graphs to measure gaps on; 0 for none. Fewer are used if counting is slow.
        seed: seed of the graphs.
        budget_s: seconds of counting per graphon.
        progress: called with the fraction of the work done.
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must be a probability between 0 and 1; got {delta!r}")
    if pairs < 0:
        raise ValueError(f"pairs must not be negative; got {pairs}")
    rows = []
    for kind in BOUND_KINDS:
        for up_to in (False, True):
            bound = theorem_bound(k, train_size, test_size, epsilon, colors, up_to=up_to, kind=kind)
            sizes = (k, train_size, test_size)
            rows.append(
                BoundRow(
                    kind=kind,
                    up_to=up_to,
                    patterns=number_of_patterns(k, colors, up_to),
                    bound=bound,
                    vacuous=bound >= 1,
                    vacuous_below=epsilon_reached(*sizes, 1.0, colors, up_to=up_to, kind=kind),
                    epsilon_reached=epsilon_reached(*sizes, delta, colors, up_to=up_to, kind=kind),
                    size_needed=size_needed(k, epsilon, delta, colors, up_to=up_to, kind=kind),
                )
            )
    measured = []
    for number, (name, graphon) in enumerate(EXAMPLES if pairs else ()):
        drawn = _draw_pairs(graphon, k, (train_size, test_size), colors, pairs, seed, budget_s)
        if drawn is not None:
            measured.append(_measure(name, *drawn, k, delta, seed))
        if progress is not None:
            progress((number + 1) / len(EXAMPLES))
    sentences = (*_bound_sentences(rows, epsilon, delta), *_gap_sentences(rows, measured, pairs, delta))
    return TheorySummary(k, train_size, test_size, colors, epsilon, delta, tuple(rows), tuple(measured), sentences)


def _draw_pairs(
    graphon: Graphon, k: int, sizes: tuple[int, int], colors: int, pairs: int, seed: int, budget_s: float
) -> tuple[GraphSet, GraphSet] | None:
    """As many pairs of graphs as the time budget allows; None if it does not allow `MIN_PAIRS`."""
    if max(sizes) > MAX_MEASURED_VERTICES or min(sizes) <= k:
        return None
    share: dict[ColorName, float] = dict.fromkeys(range(colors), 1 / colors)
    coloring = None if colors == 1 else Coloring.of([share] * len(graphon.shares))

    def draw(n: int) -> tuple[GraphSet, GraphSet]:
        train, test = (Environment(sizes=(size,), colors=coloring) for size in sizes)
        return sample_graphs(graphon, train, n, (seed, 0)), sample_graphs(graphon, test, n, (seed, 1))

    train, test = (
        sum(plan.seconds for size in range(1, k + 1) for plan in choose_engines(graphs, size)) for graphs in draw(1)
    )
    affordable = (budget_s - JACKKNIFE_GROUPS * train) / max(train + test, 1e-9)
    return None if affordable < min(pairs, MIN_PAIRS) else draw(min(pairs, int(affordable)))


def _measure(name: str, train: GraphSet, test: GraphSet, k: int, delta: float, seed: int) -> MeasuredGap:
    sizes = range(1, k + 1)
    gap = density_gap(train, test, sizes, paired=True)
    intervals = density_intervals(train[0], sizes, groups=JACKKNIFE_GROUPS, seed=seed)
    predicted = float(intervals.predicted_gap(int(test.sizes[0]), delta)[0])
    return MeasuredGap(name, len(train), gap.mean, gap.quantile(1 - delta), gap.largest, predicted)


def _bound_sentences(rows: list[BoundRow], epsilon: float, delta: float) -> list[str]:
    """Whether each bound, for all sizes up to k, is vacuous, and at which sizes it is not."""
    sentences = []
    for row in (row for row in rows if row.up_to):
        title = TITLES[row.kind]
        if row.vacuous_below >= 1:
            sentence = f"{title} is vacuous at these sizes: its bound exceeds 1 for every gap below 1."
        elif row.vacuous:
            sentence = (
                f"{title} is vacuous at a gap of {epsilon:g}: its bound exceeds 1 for every gap below "
                f"{row.vacuous_below:.2g}."
            )
        else:
            sentence = f"{title}: the probability of a gap above {epsilon:g} is at most {row.bound:.2g}."
        if row.vacuous:
            sentence += (
                f" Both graphs need {row.size_needed:,} vertices for a probability of at most {delta:g} of a gap above "
                f"{epsilon:g}."
            )
        sentences.append(sentence)
    return sentences


def _gap_sentences(rows: list[BoundRow], measured: list[MeasuredGap], pairs: int, delta: float) -> list[str]:
    if not measured:
        return (
            ["No gaps were measured: counting patterns in graphs of these sizes would take too long."] if pairs else []
        )
    largest = max(gap.largest for gap in measured)
    paper = next(row for row in rows if row.kind == "paper" and row.up_to)
    excluded = "none" if paper.epsilon_reached >= 1 else f"only those above {paper.epsilon_reached:.2g}"
    fewer = "" if all(gap.pairs == pairs for gap in measured) else f" (on fewer than {pairs} pairs, to save time)"
    return [
        f"The largest measured gap is {largest:.2g}{fewer}; "
        f"with probability {1 - delta:g} Theorem 1 excludes {excluded}.",
        f"The vertex jackknife predicts from one training graph that {1 - delta:.0%} of all gaps are below "
        + " and ".join(f"{gap.predicted:.2g} ({gap.graphon})" for gap in measured)
        + ".",
        "All of this assumes colors that do not depend on the environment; otherwise the gap remains at any size.",
    ]
