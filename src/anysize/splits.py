"""Splits: which graphs of a set are for training, validation and test, and how classes are spread over parts.

A `SplitRule` maps labeled graphs and a seed to `Positions`: `BySize` (train on small graphs, test on large ones),
`AtRandom`, or `ByLists`. The other functions divide training graphs: parts and draws with their share of every class,
and smaller against larger graphs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from anysize._schema import check_integer, parse_json
from anysize._text import csv_text
from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import Labels

SPLITS = ("train", "validation", "test")
VALIDATION_SHARE = 0.1  # of the training graphs
TEST_SHARE = 0.2  # of each class, in a random split
SMALLER_SHARE = 0.6  # of the training graphs, that models are fitted to when they are compared on the larger ones
Lists: TypeAlias = Mapping[str, Iterable[int | str]]  # train, validation, test -> graphs by position or name


class Positions(NamedTuple):
    """Which graphs of a set are for training, validation and test; validation may be empty."""

    train: IntArray
    validation: IntArray
    test: IntArray


class SplitRule(Protocol):
    """How a set of labeled graphs is split."""

    @property
    def name(self) -> str:
        """A word for names of tasks."""

    @property
    def title(self) -> str:
        """Some words for titles."""

    def positions(self, graphs: GraphSet, seed: int) -> Positions:
        """The split; the seed decides what is random in it. Graphs without labels are treated as one class."""


@dataclass(frozen=True)
class BySize:
    """Train on graphs up to one percentile of the size, test on graphs from another one on, leave out the others.

    Both comparisons include the percentile itself. The seed draws a tenth of the small graphs for validation: the test
    set is always the same. The default percentiles are those of the paper. ``down``: train on the large graphs and test
    on the small ones; percentiles are then counted from the largest graph.
    """

    train_below: float = 50
    test_above: float = 90
    down: bool = False

    @property
    def name(self) -> str:
        return "size-down" if self.down else "size"

    @property
    def title(self) -> str:
        return "split by size, large to small" if self.down else "split by size"

    def __post_init__(self) -> None:
        if not 0 <= self.train_below < self.test_above <= 100:
            raise ValueError(
                "The percentiles are 0 <= train_below < test_above <= 100; got "
                f"{self.train_below!r} and {self.test_above!r}."
            )

    def positions(self, graphs: GraphSet, seed: int) -> Positions:
        if not len(graphs):
            raise ValueError("A split by size needs graphs; this set has none.")
        sizes = -graphs.sizes if self.down else graphs.sizes
        last, first = np.percentile(sizes, [self.train_below, self.test_above])
        at_random = "; compare can also split at random: split='random' (--split random)"
        if last >= first:
            percentiles = [100 - percent if self.down else percent for percent in (self.train_below, self.test_above)]
            raise ValueError(
                f"These graphs differ too little in size: their percentiles {percentiles[0]:g} and "
                f"{percentiles[1]:g} are both {abs(last):g} vertices. Take percentiles further apart, or graphs of "
                f"more sizes{at_random}."
            )
        train, test = np.flatnonzero(sizes <= last), np.flatnonzero(sizes >= first)
        if graphs.y is not None and len(np.unique(np.asarray(graphs.y)[train])) < 2:
            limit = f"from {abs(last):g} vertices on" if self.down else f"of up to {last:g} vertices"
            raise ValueError(
                f"All {len(train)} graphs {limit} have one class and cannot be learned from; use a larger "
                f"train_below{at_random}."
            )
        return Positions(*hold_out(train, seed), test)


@dataclass(frozen=True)
class AtRandom:
    """The seed draws a fifth of each class for test, and a tenth of the others for validation."""

    name = "random"
    title = "split at random"

    def positions(self, graphs: GraphSet, seed: int) -> Positions:
        y = np.zeros(len(graphs)) if graphs.y is None else np.asarray(graphs.y)
        test = draw_by_class(y, lambda size: round(TEST_SHARE * size), seed)
        return Positions(*hold_out(np.setdiff1d(np.arange(len(y)), test), seed), test)


@dataclass(frozen=True, eq=False)
class ByLists:
    """Given positions; without any for validation, the seed draws a tenth of the training graphs."""

    given: Positions
    name = "lists"
    title = "split by lists"

    def positions(self, graphs: GraphSet, seed: int) -> Positions:
        if len(self.given.validation):
            return self.given
        return Positions(*hold_out(self.given.train, seed), self.given.test)

    @staticmethod
    def of(lists: str | Path | Lists, graphs: GraphSet) -> ByLists:
        """The lists of graphs by position or name, each graph in one list at most; or a file with them."""
        named = read_lists(lists) if isinstance(lists, str | Path) else lists
        if unknown := [name for name in named if name not in SPLITS]:
            raise ValueError(f"The lists of a split are train, validation and test; got {unknown[0]!r}.")
        by_name = {} if graphs.names is None else {name: position for position, name in enumerate(graphs.names)}
        list_of: dict[int, str] = {}
        for name, members in named.items():
            for member in members:
                position = _position(member, by_name, len(graphs))
                if position in list_of:
                    raise ValueError(
                        f"Each graph may be listed once; graph {member!r} is in {list_of[position]!r} and in {name!r}."
                    )
                list_of[position] = name
        for name in ("train", "test"):
            if name not in list_of.values():
                raise ValueError(f"A split needs graphs for {name}; the lists have none.")
        ascending = sorted(list_of)
        return ByLists(Positions(*(np.array([p for p in ascending if list_of[p] == s], np.int64) for s in SPLITS)))


@dataclass(frozen=True, eq=False)
class OfPart:
    """The split of a set by a rule, for those of its graphs that have one of several targets.

    ``rows``: their ascending positions in the whole set.
    """

    rule: SplitRule
    whole: GraphSet
    rows: IntArray

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def title(self) -> str:
        return self.rule.title

    def positions(self, graphs: GraphSet, seed: int) -> Positions:
        new_position = np.full(len(self.whole), -1)
        new_position[self.rows] = np.arange(len(self.rows))
        parts = (new_position[rows] for rows in self.rule.positions(self.whole, seed))
        return Positions(*(part[part >= 0] for part in parts))


RULES: Mapping[str, SplitRule] = {rule.name: rule for rule in (BySize(), BySize(down=True), AtRandom())}


def split_rule(split: str | Path | Lists, graphs: GraphSet) -> SplitRule:
    """The rule for ``"size"``, ``"size-down"``, ``"random"``, lists, or a file of lists."""
    return RULES[split] if isinstance(split, str) and split in RULES else ByLists.of(split, graphs)


def read_lists(path: str | Path) -> Lists:
    """The lists of a JSON file ``{"train": [...], "test": [...]}``, or of a CSV file with lines ``graph,train``."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(
            f"A split is 'size', 'size-down', 'random', or a JSON or CSV file of lists; there is no file {str(path)!r}."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"The lists of a split are a UTF-8 text file; {file} cannot be read: {error}.") from None
    try:
        lists = parse_json(text)
    except ValueError:
        return _lists_of_table(text, file)
    if not isinstance(lists, dict) or not all(isinstance(members, list) for members in lists.values()):
        raise ValueError(f'{file} must hold {{"train": [...], "validation": [...], "test": [...]}}, lists of graphs.')
    return lists


def _lists_of_table(text: str, file: Path) -> Lists:
    lists: dict[str, list[int | str]] = {name: [] for name in SPLITS}
    try:
        rows = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise ValueError(f"{file} holds neither JSON nor lines 'graph,train': {error}.") from None
    for number, row in enumerate(rows):
        cells = [csv_text(cell.strip()) for cell in row]
        if not any(cells):
            continue
        if len(cells) == 2 and cells[1] in lists:
            lists[cells[1]].append(cells[0])
        elif number > 0 or len(cells) != 2:  # the first line may be a header
            raise ValueError(
                f"Lines of {file} must be 'graph,train', 'graph,validation' or 'graph,test'; line {number + 1} is "
                f"{','.join(row)[:80]!r}."
            )
    return lists


def _position(member: Any, by_name: Mapping[str, int], count: int) -> int:
    if isinstance(member, str) and member in by_name:
        return by_name[member]
    text = str(member)
    is_number = not isinstance(member, bool) and (not isinstance(member, str) or (text.isascii() and text.isdigit()))
    if is_number and text.isdigit() and int(text) < count:
        return int(text)
    raise ValueError(
        f"The lists of a split name graphs by their names, or by positions from 0 to {count - 1}; got {member!r}."
    )


# ---- parts of the training graphs ----------------------------------------------------------------------


def hold_out(pool: IntArray, seed: int) -> tuple[IntArray, IntArray]:
    """Divide positions of training graphs: a tenth of them, drawn with the seed, is for validation."""
    drawn = np.random.default_rng(seed).permutation(len(pool))[: int(VALIDATION_SHARE * len(pool))]
    held = np.zeros(len(pool), bool)
    held[drawn] = True
    return pool[~held], pool[held]


def draw_by_class(y: Labels, amount: Callable[[int], int], seed: int | np.random.Generator) -> IntArray:
    """Ascending positions of graphs drawn at random, ``amount(size)`` of every class.

    >>> draw_by_class(np.array([0] * 10 + [1] * 20), lambda size: size // 10, seed=0).tolist()
    [4, 14, 28]
    """
    drawn = [members[: amount(len(members))] for members in _shuffled_classes(y, seed)]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *drawn]))


def hold_out_by_class(y: Labels, share: float, seed: int) -> IntArray:
    """Ascending positions of the graphs to validate on: a random share of every class, at least one of two graphs.

    >>> hold_out_by_class(np.array([0] * 10 + [1] * 20 + [2]), 0.1, seed=0).tolist()
    [4, 14, 28]
    """
    return draw_by_class(y, lambda size: min(max(round(share * size), 1), size - 1) if share > 0 else 0, seed)


def parts_by_class(y: Labels, parts: int, seed: int | np.random.Generator, even: bool = False) -> IntArray:
    """A part 0 .. parts - 1 for every graph, at random, each part with its share of every class.

    ``even``: a class starts at the part after the last one of the class before, so that parts differ by one graph at
    most.

    >>> part = parts_by_class(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2, seed=0)
    >>> part[:4].sum().item(), part[4:].sum().item()
    (2, 2)
    """
    part, dealt = np.zeros(len(y), np.int64), 0
    for members in _shuffled_classes(y, seed):
        part[members] = (dealt + np.arange(len(members))) % parts
        dealt += len(members) if even else 0
    return part


def bootstrap_by_class(y: Labels, seed: int) -> IntArray:
    """Positions drawn with replacement, of every class as many as it has graphs.

    >>> bootstrap_by_class(np.array([0, 0, 0, 1]), seed=1).tolist()
    [1, 1, 2, 3]
    """
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(np.flatnonzero(y == label), int((y == label).sum())) for label in np.unique(y)]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *drawn]))


def _shuffled_classes(y: Labels, seed: int | np.random.Generator) -> Iterator[IntArray]:
    """The positions of every class, in a random order."""
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(check_integer("seed", seed, 0))
    for label in np.unique(y):
        yield rng.permutation(np.flatnonzero(y == label))


def stratified_folds(y: IntArray, folds: int, seed: int) -> IntArray:
    """A fold for every graph (see `parts_by_class`); an error if a class has fewer graphs than there are folds."""
    amounts = np.unique(y, return_counts=True)[1]
    if not len(amounts) or amounts.min() < folds:
        raise ValueError(f"{folds} folds need at least {folds} training graphs of every class; got {amounts.tolist()}.")
    return parts_by_class(y, folds, seed, even=True)


def smaller_and_larger(sizes: FloatArray | IntArray, weights: FloatArray | None = None) -> tuple[IntArray, IntArray]:
    """Ascending positions of the smaller graphs, about 60 % (of the weights), and of the larger ones.

    Graphs of the same size are on the same side: the order of the graphs does not matter. If all have the same size,
    there are no larger ones.
    """
    values, codes = np.unique(sizes, return_inverse=True)
    amounts = np.cumsum(np.bincount(codes, weights))
    shares = amounts[:-1] / max(len(sizes) if weights is None else amounts[-1], 1)
    limit = values[np.abs(shares - SMALLER_SHARE).argmin()] if len(shares) else np.inf
    return np.flatnonzero(sizes <= limit), np.flatnonzero(sizes > limit)


def random_60_and_40(y: IntArray, seed: int | np.random.Generator) -> tuple[IntArray, IntArray]:
    """Ascending positions of a random 60 % of the graphs of every class, and of the others: no size shift."""
    part = parts_by_class(y, 5, seed)
    return np.flatnonzero(part < 3), np.flatnonzero(part >= 3)


def median_cut(sizes: IntArray) -> float:
    """The size that divides graphs into two environments: graphs up to it, and larger ones.

    This is the median, unless that is the largest size: then it is the next smaller size, so that both environments
    have graphs wherever sizes differ.

    >>> median_cut(np.array([5, 6, 7, 9])), median_cut(np.array([5, 6, 9, 9, 9, 9])), median_cut(np.array([4, 4]))
    (6.5, 6.0, 4.0)
    """
    if not len(sizes):
        return 0.0
    median, largest = float(np.median(sizes)), sizes.max()
    smaller = sizes[sizes < largest]
    return float(smaller.max()) if median == largest and len(smaller) else median
