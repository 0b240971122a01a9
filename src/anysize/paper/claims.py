"""What the paper says about its three tables, asked of the published numbers and of ours, for the page of results.

A claim is a function of scores: (task, method, split) -> mean. Both sides are asked about the same cells: those that
have a published number and one of ours. There are no thresholds: the answer is a number, a count or a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from anysize.evaluation.tables import Table, format_score
from anysize.methods.catalog import METHODS
from anysize.metrics import SCORE_DIGITS

Scores: TypeAlias = Mapping[tuple[str, str, str], float]

ERDOS_RENYI, TWO_SIZES = ("er-single", "er-multi"), ("er-multi",)
BLOCKS, BLOCKS_TWO_SIZES = ("sbm-20", "sbm-14-20", "sbm-20-30"), ("sbm-14-20", "sbm-20-30")
REAL = ("NCI1", "NCI109", "PROTEINS", "DD")
GAMMA_GNNS = ("gamma-gin", "gamma-rpgin")
DENSITIES = ("gamma-1hot", *GAMMA_GNNS, "gc-kernel")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about a table, and what to read off the scores to judge it; "" if cells are missing."""

    statement: str
    answer: Callable[[Scores], str]


def claims_rows(tables: Iterable[Table]) -> list[tuple[str, str, str]]:
    """Statement, the answer of the published numbers, the answer of ours; without claims that nothing can answer."""
    published, ours = _scores(tables)
    rows = [(claim.statement, claim.answer(published), claim.answer(ours)) for claim in CLAIMS]
    return [row for row in rows if row[1]]


def _scores(tables: Iterable[Table]) -> tuple[Scores, Scores]:
    """The published means and ours, as printed, of the cells that have both."""
    published: dict[tuple[str, str, str], float] = {}
    ours: dict[tuple[str, str, str], float] = {}
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if not METHODS[row.method].in_paper or cell.difference is None or column.data != "published":
                    continue
                assert cell.summary is not None
                assert cell.published is not None
                assert cell.published.mean is not None
                cell_key = column.task, row.method, column.split
                published[cell_key], ours[cell_key] = cell.published.mean, round(cell.summary.mean, SCORE_DIGITS)
    return published, ours


# ---- answers -----------------------------------------------------------------------------------------


def _of(scores: Scores, tasks: Iterable[str], split: str = "test") -> dict[tuple[str, str], float]:
    """(task, method) -> mean on a split of these tasks."""
    return {(task, method): mean for (task, method, at), mean in scores.items() if task in tasks and at == split}


def _lowest_validation(scores: Scores) -> str:
    means = _of(scores, ERDOS_RENYI, "validation")
    return f"lowest validation mean {format_score(min(means.values()))}" if means else ""


def _densities_extrapolate(scores: Scores) -> str:
    means = _of(scores, ERDOS_RENYI)
    theirs = [mean for (_, method), mean in means.items() if method in DENSITIES]
    others = [mean for (_, method), mean in means.items() if method not in DENSITIES]
    if not theirs or not others:
        return ""
    return f"these at least {format_score(min(theirs))}, others at most {format_score(max(others))}"


def _gain_of_irm(tasks: tuple[str, ...]) -> Callable[[Scores], str]:
    def answer(scores: Scores) -> str:
        means = _of(scores, tasks)
        plain = {cell: (cell[0], cell[1].replace("-irm", "-sum")) for cell in means if cell[1].endswith("-irm")}
        gains = [means[cell] - means[other] for cell, other in plain.items() if other in means]
        return f"mean change {fmean(gains):+.{SCORE_DIGITS}f} ({len(gains)} cells)" if gains else ""

    return answer


def _gammas_on_blocks(scores: Scores) -> str:
    test, validation = _of(scores, BLOCKS), _of(scores, BLOCKS, "validation")
    places = [cell for cell in test if cell in validation]
    sides = [[cell for cell in places if (cell[1] in GAMMA_GNNS) == gamma] for gamma in (True, False)]
    if not all(sides):
        return ""
    means, gaps = (
        [format_score(fmean(value(cell) for cell in side)) for side in sides]
        for value in (test.__getitem__, lambda cell: abs(validation[cell] - test[cell]))
    )
    return f"test {means[0]}, others {means[1]}; distance to validation {gaps[0]}, others {gaps[1]}"


def _larger_training_graphs(scores: Scores) -> str:
    means, sentences = _of(scores, BLOCKS), []
    for task, sizes in (("sbm-20", "20"), ("sbm-14-20", "14 and 20")):
        methods = [method for at, method in means if at == task and ("sbm-20-30", method) in means]
        better = sum(means["sbm-20-30", method] > means[task, method] for method in methods)
        if methods:
            sentences.append(f"{better} of {len(methods)} better than with {sizes}")
    return ", ".join(sentences)


def _gammas_among_the_best(scores: Scores) -> str:
    best_tasks, tasks = [], []
    for task in REAL:
        means = {method: mean for (_, method), mean in _of(scores, (task,)).items()}
        if len(means) <= 4 or not any(method in means for method in GAMMA_GNNS):
            continue
        tasks.append(task)
        fourth = sorted(means.values())[-4]
        if any(means.get(method, -1.0) >= fourth for method in GAMMA_GNNS):
            best_tasks.append(task)
    return (", ".join(best_tasks) or "none") + f" ({len(best_tasks)} of {len(tasks)})" if tasks else ""


def _wl_kernel(scores: Scores) -> str:
    means = _of(scores, REAL)
    places = [(task, "wl-kernel-padded") for task in REAL if (task, "wl-kernel-padded") in means]
    return ", ".join(f"{task} {format_score(means[task, method])}" for task, method in places)


CLAIMS = (
    Claim("Table 1, Erdős–Rényi: all methods are good in validation", _lowest_validation),
    Claim("Table 1: only densities (Γ models, GC kernel) extrapolate to larger graphs", _densities_extrapolate),
    Claim("Table 1: IRM does not help", _gain_of_irm(TWO_SIZES)),
    Claim("Table 2: Γ GIN and Γ RPGIN extrapolate better, and as validation says", _gammas_on_blocks),
    Claim("Table 2: IRM does not help", _gain_of_irm(BLOCKS_TWO_SIZES)),
    Claim("Table 2: larger training graphs (20 and 30) help most methods", _larger_training_graphs),
    Claim("Table 3: Γ GIN or Γ RPGIN is among the four best on all sets but NCI109", _gammas_among_the_best),
    Claim("Table 3: the WL kernel is good on NCI1 and at chance on PROTEINS and DD", _wl_kernel),
)
