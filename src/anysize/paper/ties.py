"""Published cells and the configurations that tie in validation, for the page "Why the published numbers differ".

Everything here is for study: it compares ways to choose a configuration by their distance to published test scores. No
table is made by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, inf
from statistics import fmean

from anysize.evaluation.records import Outcome, Record
from anysize.evaluation.render import markdown_row
from anysize.evaluation.tables import Published
from anysize.methods.catalog import METHODS
from anysize.paper.layout import table_of
from anysize.paper.published import published
from anysize.paper.selection import RULES, Group, Trial, candidates, grouped, tied
from anysize.training.settings import EPOCH_RULES

KINDS = ("gnn", "gamma")  # rows with a grid and several seeds
TABLES_WITH_TIES = (1, 2)  # accuracy on 20 or 40 validation graphs; in Table 3 hardly any configurations tie
SHOWN = {"GNNs": ("gnn", (1, 2)), "Γ models of Table 2": ("gamma", (2,))}  # all ties of Γ models in Table 1 have 1.00
BINS = ((1, 2), (3, 8), (9, 30), (31, 10**6))  # of the number of ties


@dataclass(frozen=True)
class TiedCell:
    """A published test cell, and the mean test scores of the configurations that tie for its validation score."""

    group: Group
    table: int | None
    kind: str
    published: Published
    tests: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The published mean."""
        assert self.published.mean is not None
        return self.published.mean

    @property
    def above_mean(self) -> float:
        """The published mean minus the mean of the ties."""
        return self.mean - fmean(self.tests)

    @property
    def above_best(self) -> float:
        """The published mean minus the best of the ties."""
        return self.mean - max(self.tests)

    @property
    def share_below(self) -> float:
        """The share of the ties with a lower test score than the published one."""
        return fmean(test < self.mean for test in self.tests)


def tied_cells(records: Iterable[Record]) -> list[TiedCell]:
    """The cells of GNNs and Gamma models in Tables 1 and 2, at the first best epoch."""
    cells = []
    for group, paper, runs in _published_groups(records):
        tests = tuple(_tests(candidates(runs, RULES["paper"])))
        cells.append(TiedCell(group, table_of(group.task), METHODS[group.method].kind, paper, tests))
    return cells


def _published_groups(records: Iterable[Record]) -> list[tuple[Group, Published, list[Record]]]:
    """The groups of records behind these cells."""
    groups = []
    for group, runs in grouped(records).items():
        method, paper = METHODS.get(group.method), published(group.task, group.method)
        if method is None or method.kind not in KINDS or (group.data, group.recipe) != ("published", "paper"):
            continue
        if paper is not None and paper.applies and table_of(group.task) in TABLES_WITH_TIES:
            groups.append((group, paper, runs))
    return groups


# ---- other ways to choose ----------------------------------------------------------------------------


def _tests(trials: Sequence[Trial]) -> list[float]:
    """The mean test scores of the ties, the one that tables show first."""
    return [_number(trial.score("test")) for trial in tied(trials)]


def _number(score: float | None) -> float:
    assert score is not None, "every run of these tasks has all scores"
    return score


def _validation(outcome: Outcome) -> float:
    return _number(outcome.scores.validation)


def _lowest_loss(trials: Sequence[Trial]) -> float:
    losses = [trial.mean(lambda outcome: outcome.losses.validation) for trial in trials]
    known = [inf if loss is None else loss for loss in losses]
    return _number(trials[known.index(min(known))].score("test"))


def _best_single_seed(trials: Sequence[Trial]) -> float:
    return _number(max(trials, key=lambda trial: max(map(_validation, trial.outcomes))).score("test"))


def _first_seed(trials: Sequence[Trial]) -> float:
    return _number(max(trials, key=lambda trial: _validation(trial.outcomes[0])).score("test"))


def _each_seed_its_own(trials: Sequence[Trial]) -> float:
    by_seed = zip(*(trial.outcomes for trial in trials), strict=True)
    return fmean(_number(max(outcomes, key=_validation).scores.test) for outcomes in by_seed)


WAYS: Mapping[str, Callable[[Sequence[Trial]], float]] = {
    "highest mean, first of the ties (the tables)": lambda trials: _tests(trials)[0],
    "highest mean, the ties on average": lambda trials: fmean(_tests(trials)),
    "highest mean of single seeds' best, first of several": _best_single_seed,
    "highest score of the first seed, first of several": _first_seed,
    "for each seed its own configuration": _each_seed_its_own,
    "lowest mean validation loss": _lowest_loss,
    "for study: highest mean, of the ties the best TEST score": lambda trials: max(_tests(trials)),
}


def distances(records: Iterable[Record]) -> dict[str, dict[str, float]]:
    """Way to choose -> epoch rule -> mean absolute difference of our test means to the published ones."""
    groups = _published_groups(records)
    by_rule = {epoch: replace(RULES["paper"], epoch=epoch) for epoch in EPOCH_RULES}
    trials = {epoch: [candidates(runs, rule) for _, _, runs in groups] for epoch, rule in by_rule.items()}
    return {
        way: {
            epoch: fmean(
                abs(choose(cell) - _number(paper.mean)) for cell, (_, paper, _) in zip(cells, groups, strict=True)
            )
            for epoch, cells in trials.items()
        }
        for way, choose in WAYS.items()
        if groups
    }


# ---- Markdown ----------------------------------------------------------------------------------------


def ties_section(records: Iterable[Record]) -> str:
    """The tables of the page, and a sentence on Table 1; empty without records of such cells."""
    records = list(records)
    cells = tied_cells(records)
    if not cells:
        return "There are no records yet."
    return "\n\n".join(filter(None, [_bins_table(cells), _table_1(cells), _ways_table(records, len(cells))]))


def _table_1(cells: Sequence[TiedCell]) -> str:
    shares = [cell.share_below for cell in cells if cell.table == 1 and cell.kind == "gnn"]
    if not shares:
        return ""
    return (
        f"In each of the {len(shares)} cells of GNNs in Table 1 the published mean lies above at least "
        f"{floor(100 * min(shares))} % of the ties."
    )


def _bins_table(cells: Sequence[TiedCell]) -> str:
    head = ["configurations that tie"]
    for name in SHOWN:
        head += [f"{name}: cells", "published minus mean", "published minus best"]
    lines = [markdown_row(head), f"| --- |{' ---: |' * (len(head) - 1)}"]
    for low, high in BINS:
        row = [f"{low} to {high}" if high < BINS[-1][1] else f"more than {low - 1}"]
        for kind, tables in SHOWN.values():
            of_kind = [cell for cell in cells if cell.kind == kind and cell.table in tables]
            of_bin = [cell for cell in of_kind if low <= len(cell.tests) <= high]
            row.append(str(len(of_bin)))
            row.append(f"{fmean(cell.above_mean for cell in of_bin):+.2f}" if of_bin else "")
            row.append(f"{fmean(cell.above_best for cell in of_bin):+.2f}" if of_bin else "")
        lines.append(markdown_row(row))
    return "\n".join(lines)


def _ways_table(records: Sequence[Record], cells: int) -> str:
    lines = [
        markdown_row([f"configuration ({cells} cells)", *(f"`{epoch}`" for epoch in EPOCH_RULES)]),
        f"| --- |{' ---: |' * len(EPOCH_RULES)}",
    ]
    for way, by_epoch in distances(records).items():
        lines.append(markdown_row([way, *(f"{by_epoch[epoch]:.3f}" for epoch in EPOCH_RULES)]))
    return "\n".join(lines)
