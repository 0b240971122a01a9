"""The two sets that are compared, checked and side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import labels_of
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import check_size

FEWEST = 2  # training graphs, for a variance


@dataclass(frozen=True, eq=False)
class Pair:
    """Training graphs and new graphs in one set each way.

    ``both``: all graphs, the first ``train`` for training. ``kept``: those with at least k vertices, the first
    ``kept_train`` for training. ``y``: classes of all training graphs, ``kept_y`` of the kept ones; None if not known.
    """

    both: GraphSet
    train: int
    kept: GraphSet
    kept_train: int
    y: NDArray[Any] | None
    kept_y: NDArray[Any] | None

    @property
    def too_small(self) -> tuple[int, int]:
        """How many training and new graphs are not kept."""
        return self.train - self.kept_train, len(self.both) - self.train - (len(self.kept) - self.kept_train)

    @staticmethod
    def of(train: Any, new: Any, k: int, y: ArrayLike | None, colors: bool) -> Pair:
        """The two sets, or an error that says what is missing."""
        if check_size(k) < 2:
            raise ValueError("a diagnosis needs patterns of 2 to 7 vertices; got k = 1")
        ours, theirs = as_graphset(train), as_graphset(new)
        for graphs, name in ((ours, "training"), (theirs, "new")):
            if not len(graphs):
                raise GraphError(f"Expected graphs in both sets; the {name} set has none.")
        labels = labels_of(ours, y) if y is not None or ours.y is not None else None
        if not colors:
            ours, theirs = ours.without_colors(), theirs.without_colors()
        if (ours.colors is None) != (theirs.colors is None):
            named = ("training", "new") if ours.colors is not None else ("new", "training")
            raise GraphError(
                f"The {named[0]} graphs have colors and the {named[1]} graphs have none: color both, or leave "
                "colors out (colors=False, on the command line --no-colors)."
            )
        both = GraphSet.concatenate([ours.with_y(None), theirs.with_y(None)])
        able = both.sizes >= k
        first = int(able[: len(ours)].sum())
        _enough(first, len(ours), FEWEST, "training", k)
        _enough(int(able.sum()) - first, len(theirs), 1, "new", k)
        kept_y = None if labels is None else labels[able[: len(ours)]]
        return Pair(both, len(ours), both[able], first, labels, kept_y)


def _enough(able: int, graphs: int, needed: int, name: str, k: int) -> None:
    if able < needed:
        raise GraphError(
            f"Patterns of {k} vertices need graphs of at least so many: {able} of {graphs} {name} "
            f"graph{'' if graphs == 1 else 's'} {'is' if able == 1 else 'are'} large enough and {needed} "
            f"{'is' if needed == 1 else 'are'} needed; take a smaller k or other graphs."
        )
