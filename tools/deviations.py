"""Where our test scores differ from the published ones, and what the records say about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anysize._json import Plain, compact_json
from anysize.experiments.records import Record
from anysize.experiments.selection import RULES, Group, Selection, grouped, select
from anysize.experiments.selection import _grid_place as grid_place
from anysize.experiments.tables.cells import DIGITS, Cell, Table, printed
from anysize.experiments.tables.layout import TABLES
from anysize.experiments.tables.notes import GridSize
from anysize.methods.catalog import penalty_names

NEAR = 0.15  # a test mean this close to the published one is called near
REAL = frozenset(task.name for task in TABLES[3].tasks)  # whose validation graphs the paper drew at random


@dataclass(frozen=True)
class Compared:
    """A test cell that has a number of ours and a published one.

    Attributes:
        chosen: the configuration behind our number. ``grid``: how many configurations the paper tried, if known.
        all_test: lowest and highest test mean of everything that was tried with as many seeds.
        otherwise: the test mean under another choice among configurations that tie, by the name of the choice.
    """

    task: str
    title: str
    label: str
    cell: Cell
    chosen: Selection
    grid: int | None
    all_test: tuple[float, float] | None
    otherwise: Mapping[str, float]

    @property
    def method(self) -> str:
        """Its name, as on the command line."""
        return self.chosen.group.method

    @property
    def difference(self) -> float:
        """Ours minus the published mean, as printed."""
        assert self.cell.difference is not None
        return round(self.cell.difference, DIGITS)

    @property
    def deviates(self) -> bool:
        """Whether it differs, as printed, by more than the published deviation over seeds."""
        return abs(self.difference) > self._allowed

    @property
    def near(self) -> bool:
        """Whether it is near the published mean, as printed."""
        return abs(self.difference) <= NEAR

    @property
    def near_a_tie(self) -> bool:
        """Whether the lowest or the highest of the configurations that tie on validation is near the published mean."""
        assert self.cell.published is not None
        assert self.cell.published.mean is not None
        ends = self.chosen.tied_test or ()
        return any(round(abs(end - self.cell.published.mean), DIGITS) <= NEAR for end in ends)

    @property
    def reduced(self) -> bool:
        """Whether less was tried than the paper's grid has."""
        return self.grid is not None and self.chosen.configurations < self.grid

    @property
    def open(self) -> bool:
        """Whether the choice among tied configurations moves it by more than the published deviation over seeds."""
        spread = self.chosen.tied_test
        return spread is not None and round(spread[1] - spread[0], DIGITS) > self._allowed

    @property
    def _allowed(self) -> float:
        assert self.cell.published is not None
        return round(self.cell.published.std or 0.0, DIGITS)


def compare(table: Table, records: Iterable[Record], grid_size: GridSize | None = None) -> list[Compared]:
    """Every test cell of a table on published data with both numbers, checks left out, column by column."""
    runs = grouped(records)
    found = []
    for place, column in enumerate(table.columns):
        if column.split != "test" or column.data != "published":
            continue
        for row in table.rows:
            if row.check or row.cells[place].difference is None:
                continue
            own = runs[Group(column.task, column.data, row.method, row.recipe)]
            chosen = select(own)
            assert chosen is not None, "a cell with a number has runs"
            size = None if grid_size is None else grid_size(column.task, row.method)
            found.append(
                Compared(
                    column.task, column.heading, row.label, row.cells[place], chosen, size,
                    _test_means(own, len(chosen.records)), _otherwise(own),
                )
            )  # fmt: skip
    return found


def reasons(own: Compared) -> list[str]:
    """What may be behind a difference: facts of the records, and where the procedures are known to part."""
    told = []
    tried, tied = own.chosen.configurations, own.chosen.tied
    if own.reduced:
        told.append(f"{tried} of {own.grid} configurations tried")
    if tied > 1 and own.chosen.tied_test is not None:
        told.append(f"{tied} of {tried} configurations tie, with test means {_among(own, own.chosen.tied_test)}")
    elif tried > 1 and own.all_test is not None:
        told.append(f"no tie; test means of all configurations tried {_among(own, own.all_test)}")
    scores = [outcome.scores.test for outcome in own.chosen.outcomes if outcome.scores.test is not None]
    if len(scores) > 1 and max(scores) - min(scores) > NEAR:
        told.append(f"single runs of the chosen one {_among(own, (min(scores), max(scores)))}")
    if own.method.endswith("-irm"):
        told.append("our IRM penalty has a gradient, the published one had none")
    if own.task in REAL:
        told.append("which validation graphs the paper drew is not known")
        if own.method.endswith("kernel"):
            told.append("class weights are used here: kernels.md has both ways")
    interval, beside = own.cell.interval, own.cell.published
    if interval is not None and beside is not None and beside.mean is not None:
        inside = interval.low <= beside.mean <= interval.high
        told.append(f"the published mean lies {'inside' if inside else 'outside'} the interval over test graphs")
    return told or ["nothing in the records explains it"]


def _among(own: Compared, limits: tuple[float, float]) -> str:
    """A range of test means, and whether the published one is in it, as printed."""
    assert own.cell.published is not None
    assert own.cell.published.mean is not None
    low, high = (round(limit, DIGITS) for limit in limits)
    inside = low <= own.cell.published.mean <= high
    span = f"{printed(low)} throughout" if low == high else f"from {printed(low)} to {printed(high)}"
    return f"{span}, the published one {'among' if inside else 'not among'} them"


def _test_means(runs: Sequence[Record], seeds: int) -> tuple[float, float] | None:
    """Lowest and highest test mean of the configurations that have so many seeds."""
    scores: dict[str, list[float]] = {}
    for run in runs:
        if run.scores.test is not None:
            scores.setdefault(compact_json(run.configuration), []).append(run.scores.test)
    means = [sum(own) / len(own) for own in scores.values() if len(own) == seeds]
    return (min(means), max(means)) if means else None


def _otherwise(runs: Sequence[Record]) -> dict[str, float]:
    """Test means under other choices among equals."""
    found = {"lowest validation loss": select(runs, RULES["loss"]), "last epoch": select(runs, RULES["last"])}
    if any("penalty" in run.configuration for run in runs[:1]):
        found["lowest penalty"] = select(runs, RULES["penalty"])
        found["weaker penalty first"] = select(runs, order=_weaker_first(runs))
    means = {name: chosen.summary("test") for name, chosen in found.items() if chosen is not None}
    return {name: summary.mean for name, summary in means.items() if summary is not None}


def _weaker_first(runs: Sequence[Record]) -> list[Mapping[str, Plain]]:
    """Configurations in the order of `select`, but for the penalties: those ascend here."""
    known = {compact_json(run.configuration): run.configuration for run in runs}

    def turned(configuration: Mapping[str, Plain]) -> dict[str, Plain]:
        return {
            name: -value if name in penalty_names() and isinstance(value, (int, float)) else value
            for name, value in configuration.items()
        }

    return sorted(known.values(), key=lambda own: grid_place(turned(own), ()))
