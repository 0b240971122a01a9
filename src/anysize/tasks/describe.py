"""Summaries of the splits of a task, and one sentence on the shift between training and test graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anysize._text import capitalized
from anysize.graphs.graphset import GraphSet
from anysize.tasks.task import Splits, labels

# Ratio of mean sizes -> name of the shift; in the paper's tasks the ratio is from 1.5 to 9.
STRENGTHS = ((1.1, "hardly any shift"), (1.3, "a weak shift"), (2.5, "a clear shift"), (np.inf, "a strong shift"))


@dataclass(frozen=True)
class SplitSummary:
    """One set of a task: how many graphs, how large, of which classes and environments."""

    name: str
    graphs: int
    smallest: int
    mean_size: float
    largest: int
    mean_edges: float
    classes: dict[str, int]
    environments: dict[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """The share of each class."""
        return {name: amount / self.graphs for name, amount in self.classes.items()}


def describe(splits: Splits) -> tuple[SplitSummary, ...]:
    """A summary of each set, in the order train, validation, test."""
    return tuple(_summary(name, graphs, splits) for name, graphs in splits.sets.items())


def shift(splits: Splits) -> str:
    """One sentence on the shift from training to test graphs: sizes, class shares, and color shares.

    The strength is that of the class whose mean size changes most. Shares are compared by total variation distance,
    half the sum of absolute differences: 0 for equal shares, 1 for shares without overlap.
    """
    train, test, count = splits.train, splits.test, len(splits.classes)
    before, after = float(train.sizes.mean()), float(test.sizes.mean())
    ratio = max((max(a / b, b / a) for b, a in _class_sizes(train, test)), default=1.0)
    strength = next(words for limit, words in STRENGTHS if ratio < limit)
    told = [
        f"{strength}: test graphs have {after / max(before, 1e-9):.1f} times as many vertices "
        f"(mean {after:.1f}, training {before:.1f})",
        _within(train, test),
        f"class shares move by {_moved(_shares(labels(train), count), _shares(labels(test), count)):.2f}",
    ]
    if train.colors is not None and test.colors is not None:
        both = GraphSet.concatenate([train, test])  # colors are compared by name
        codes, amount = np.asarray(both.colors), len(both.palette)
        at = len(train.colors)
        told.append(f"color shares by {_moved(_shares(codes[:at], amount), _shares(codes[at:], amount)):.2f}")
    told += [
        f"no {name} graph has the class {', '.join(splits.classes[code] for code in missing)}"
        for name, one, other in (("training", train, test), ("test", test, train))
        if (missing := sorted(set(labels(other).tolist()) - set(labels(one).tolist())))
    ]
    return capitalized("; ".join(told)) + "."


def _class_sizes(train: GraphSet, test: GraphSet) -> list[tuple[float, float]]:
    """Mean sizes (training, test) of the classes that both sets have; of empty graphs as if of one vertex."""
    shared = set(labels(train).tolist()) & set(labels(test).tolist())
    means = [[max(float(s.sizes[labels(s) == code].mean()), 1.0) for s in (train, test)] for code in sorted(shared)]
    return [(before, after) for before, after in means]


def _summary(name: str, graphs: GraphSet, splits: Splits) -> SplitSummary:
    environments = getattr(splits.environments, name)
    classes = np.bincount(labels(graphs), minlength=len(splits.classes)).tolist()
    counted = np.bincount(environments, minlength=len(splits.environments.names)).tolist()
    sizes = graphs.sizes
    return SplitSummary(
        name=name,
        graphs=len(graphs),
        smallest=int(sizes.min()),
        mean_size=float(sizes.mean()),
        largest=int(sizes.max()),
        mean_edges=float(graphs.edge_counts.mean()),
        classes=dict(zip(splits.classes, classes, strict=True)),
        environments={
            title: amount for title, amount in zip(splits.environments.names, counted, strict=True) if amount
        },
    )


def _within(train: GraphSet, test: GraphSet) -> str:
    seen = float(np.mean((test.sizes >= train.sizes.min()) & (test.sizes <= train.sizes.max())))
    if seen == 0:
        return "none of them lies within the sizes seen in training"
    return f"{100 * seen:.0f} % of them lie within the sizes seen in training"


def _shares(codes: NDArray[np.integer], amount: int) -> NDArray[np.float64]:
    return np.bincount(codes, minlength=amount) / max(len(codes), 1)


def _moved(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    return float(np.abs(before - after).sum() / 2)
