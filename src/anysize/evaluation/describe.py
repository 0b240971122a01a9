"""Summaries of the splits of a task, and one sentence on the shift between training and test graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anysize._text import capitalized
from anysize._typing import IntArray
from anysize.evaluation.tasks import Splits
from anysize.graphs.graphset import GraphSet
from anysize.splits import median_cut

# Ratio of mean sizes -> name of the shift; in the paper's tasks the ratio is from 1.5 to 9.
STRENGTHS = ((1.1, "hardly any shift"), (1.3, "a weak shift"), (2.5, "a clear shift"), (np.inf, "a strong shift"))


@dataclass(frozen=True)
class SplitSummary:
    """One set of a task: how many graphs, how large, of which classes, or numbers, and environments."""

    name: str
    graphs: int
    smallest: int
    mean_size: float
    largest: int
    mean_edges: float
    classes: dict[str, int]
    environments: dict[str, int]
    numbers: str = ""

    @property
    def shares(self) -> dict[str, float]:
        """The share of each class."""
        return {name: amount / self.graphs for name, amount in self.classes.items()}


def describe(splits: Splits) -> tuple[SplitSummary, ...]:
    """A summary of each set, in the order train, validation, test."""
    return tuple(_summary(name, graphs, splits) for name, graphs in splits.sets.items())


def shift(splits: Splits) -> str:
    """One sentence on the shift from training to test graphs: sizes, class shares, and color shares.

    The strength is that of the class whose mean size changes most; of all graphs if no class is in both. Shares are
    compared by total variation distance, half the sum of absolute differences: 0 for equal shares, 1 for shares
    without overlap.
    """
    train, test, count = splits.train, splits.test, len(splits.classes)
    before, after = float(train.sizes.mean()), float(test.sizes.mean())
    pairs = (_class_sizes(train, test) if count else []) or [(max(before, 1.0), max(after, 1.0))]
    ratio = max(max(a / b, b / a) for b, a in pairs)
    strength = next(words for limit, words in STRENGTHS if ratio < limit)
    parts = [
        f"{strength}: test graphs have {after / max(before, 1e-9):.1f} times as many vertices "
        f"(mean {after:.1f}, training {before:.1f})",
        _within(train, test),
    ]
    if count:
        moved = _moved(_shares(_labels(train), count), _shares(_labels(test), count))
        parts.append(f"class shares move by {moved:.2f}")
    elif not train.targets:
        means = [float(np.asarray(graphs.y).mean()) for graphs in (train, test)]
        parts.append(f"the mean number is {means[1]:.3g} (training {means[0]:.3g})")
    if train.colors is not None and test.colors is not None:
        both = GraphSet.concatenate([train, test])  # colors are compared by name
        codes, amount = np.asarray(both.colors), len(both.palette)
        cut = len(train.colors)
        parts.append(f"color shares by {_moved(_shares(codes[:cut], amount), _shares(codes[cut:], amount)):.2f}")
    parts += [
        f"no {name} graph has the class {', '.join(splits.classes[code] for code in missing)}"
        for name, graphs, others in (("training", train, test), ("test", test, train))
        if count and (missing := sorted(set(_labels(others).tolist()) - set(_labels(graphs).tolist())))
    ]
    return capitalized("; ".join(parts)) + "."


def _class_sizes(train: GraphSet, test: GraphSet) -> list[tuple[float, float]]:
    """Mean sizes (training, test) of the classes that both sets have; of empty graphs as if of one vertex."""
    shared = set(_labels(train).tolist()) & set(_labels(test).tolist())
    means = [[max(float(s.sizes[_labels(s) == code].mean()), 1.0) for s in (train, test)] for code in sorted(shared)]
    return [(before, after) for before, after in means]


def _summary(name: str, graphs: GraphSet, splits: Splits) -> SplitSummary:
    y = np.asarray(graphs.y)
    classes = np.bincount(_labels(graphs), minlength=len(splits.classes)).tolist() if splits.classes else []
    numbers, amounts = np.unique(splits.environments(graphs), return_counts=True)
    cut = median_cut(splits.train.sizes)
    halves = (f"up to {cut:g} vertices", f"more than {cut:g} vertices")
    by_size = splits.task.environments == "size"
    names = [f"{number} vertices" if by_size else halves[number] for number in numbers.tolist()]
    sizes = graphs.sizes
    return SplitSummary(
        name=name,
        graphs=len(graphs),
        smallest=int(sizes.min()),
        mean_size=float(sizes.mean()),
        largest=int(sizes.max()),
        mean_edges=float(graphs.edge_counts.mean()),
        classes=dict(zip(splits.classes, classes, strict=True)),
        environments=dict(zip(names, amounts.tolist(), strict=True)),
        numbers="" if splits.classes or graphs.targets else f"{y.min():.3g} to {y.max():.3g}, mean {y.mean():.3g}",
    )


def _labels(graphs: GraphSet) -> IntArray:
    return np.asarray(graphs.y, np.int64)


def _within(train: GraphSet, test: GraphSet) -> str:
    seen = float(np.mean((test.sizes >= train.sizes.min()) & (test.sizes <= train.sizes.max())))
    if seen == 0:
        return "none of them lies within the sizes seen in training"
    return f"{100 * seen:.0f} % of them lie within the sizes seen in training"


def _shares(codes: NDArray[np.integer], amount: int) -> NDArray[np.float64]:
    return np.bincount(codes, minlength=amount) / max(len(codes), 1)


def _moved(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    return float(np.abs(before - after).sum() / 2)
