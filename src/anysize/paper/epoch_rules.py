"""Which rule of epoch selection explains the published neural rows best, from records.

The paper does not say which of several epochs with the same validation score it kept, nor which of several
configurations. Under each rule for epochs, the test means of the configurations with the best validation score are
compared with the published mean, all of these on average: the rule for epochs is judged, not the order among ties. Only
cells whose runs kept the epochs of every rule take part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from anysize._typing import FloatArray
from anysize.evaluation.records import Record
from anysize.evaluation.render import markdown_row
from anysize.methods.catalog import METHODS
from anysize.paper.layout import TABLES, table_of
from anysize.paper.published import published
from anysize.paper.selection import RULES, grouped, select
from anysize.training.settings import EPOCH_RULES

SMALLEST_DEVIATION = 0.02  # of a published mean: the paper prints two decimals, and some deviations as 0.00
RESAMPLES = 2000
KINDS = {"gnn": "GNNs", "gamma": "Γ models"}  # rows whose runs have epochs


@dataclass(frozen=True)
class RuleFit:
    """How well one rule agrees with the published test means.

    Attributes:
        likelihood: mean over cells of the log of the mean over tied configurations of N(our mean; published mean,
            published deviation).
        difference: mean over cells of the mean absolute difference of tied configurations.
        rank: mean over cells of the rank of that difference among all rules, from 1; ties share ranks.
        wins: share of bootstrap resamples of the cells in which the rule has the smallest difference.
        first_likelihood, first_difference: the same with the first of the tied configurations alone.
        cells: how many took part.
    """

    rule: str
    likelihood: float
    difference: float
    rank: float
    wins: float
    first_likelihood: float
    first_difference: float
    cells: int


@dataclass(frozen=True)
class _Cell:
    """A cell of the paper; ``measures`` (4, rules): log-likelihood and difference of all tied configurations, and of
    the first.
    """

    kind: str
    table: int
    measures: FloatArray


def compare_rules(
    records: Iterable[Record], table: int | None = None, kinds: Sequence[str] = tuple(KINDS)
) -> list[RuleFit]:
    """All rules on the cells of all tables, or of one, by ascending difference; empty without such cells.

    Arguments:
        kinds: which of `KINDS` take part.
    """
    return _fits([one for one in _cells(records) if one.kind in kinds and table in (None, one.table)])


def _fits(cells: Sequence[_Cell]) -> list[RuleFit]:
    if not cells:
        return []
    stacked = np.stack([cell.measures for cell in cells], axis=1)
    likelihood, difference, first_likelihood, first_difference = stacked  # (cells, rules)
    ranks = rankdata(difference.round(9), axis=1)
    drawn = np.random.default_rng(0).integers(0, len(cells), (RESAMPLES, len(cells)))
    wins = np.bincount(difference[drawn].mean(1).argmin(1), minlength=len(EPOCH_RULES)) / RESAMPLES
    fits = [
        RuleFit(
            rule, float(likelihood[:, at].mean()), float(difference[:, at].mean()), float(ranks[:, at].mean()),
            float(wins[at]), float(first_likelihood[:, at].mean()), float(first_difference[:, at].mean()), len(cells),
        )
        for at, rule in enumerate(EPOCH_RULES)
    ]  # fmt: skip
    return sorted(fits, key=lambda fit: fit.difference)


def _cells(records: Iterable[Record]) -> list[_Cell]:
    """The cells with a published number whose runs kept the epochs of every rule."""
    found = []
    for group, runs in grouped(records).items():
        method, table = METHODS.get(group.method), table_of(group.task)
        if method is None or method.kind not in KINDS or (group.data, group.recipe) != ("published", "paper"):
            continue
        paper = published(group.task, group.method)
        if table is None or paper is None or paper.mean is None:
            continue
        kept = [run for run in runs if all(run.outcome(rule) is not None for rule in EPOCH_RULES)]
        if kept:
            selections = [select(kept, replace(RULES[rule], tie="first")) for rule in EPOCH_RULES]
            tied = [np.array(one.tied_tests) for one in selections]
            first = [np.array([one.summary("test").mean]) for one in selections]  # type: ignore[union-attr]
            measures = [
                [measure(means, paper.mean, paper.std or 0.0) for means in given]
                for given in (tied, first)
                for measure in (_log_likelihood, _difference)
            ]
            found.append(_Cell(method.kind, table, np.array(measures)))
    return found


def _difference(means: FloatArray, center: float, deviation: float) -> float:
    return float(np.abs(means - center).mean())


def _log_likelihood(means: FloatArray, center: float, deviation: float) -> float:
    """The log of the mean of N(mean; center, deviation)."""
    spread = max(deviation, SMALLEST_DEVIATION)
    return float(np.log(np.mean(np.exp(-0.5 * ((means - center) / spread) ** 2)) / (spread * math.sqrt(2 * math.pi))))


def rules_table(records: Iterable[Record]) -> str:
    """The comparison as a table in Markdown; empty without records that kept all epochs."""
    cells = _cells(records)
    fits = _fits(cells)
    if not fits:
        return ""
    parts = {name: _fits([cell for cell in cells if cell.kind == kind]) for kind, name in KINDS.items()}
    parts |= {f"Table {number}": _fits([cell for cell in cells if cell.table == number]) for number in TABLES}
    by_part = {name: {fit.rule: fit for fit in found} for name, found in parts.items() if found}
    head = [f"epoch ({fits[0].cells} cells)", "mean difference", "mean rank", "log-likelihood", "best in resamples"]
    head += ["first of tied: difference", "log-likelihood"]
    head += [f"{name} ({next(iter(found.values())).cells} cells)" for name, found in by_part.items()]
    lines = [markdown_row(head), f"| --- |{' ---: |' * (len(head) - 1)}"]
    for fit in fits:
        row = [
            f"`{fit.rule}`",
            f"{fit.difference:.3f}",
            f"{fit.rank:.1f}",
            f"{fit.likelihood:.2f}",
            f"{fit.wins:.0%}",
        ]
        row += [f"{fit.first_difference:.3f}", f"{fit.first_likelihood:.2f}"]
        row += [f"{found[fit.rule].difference:.3f}" for found in by_part.values()]
        lines.append(markdown_row(row))
    return "\n".join(lines) + "\n"
