"""The league for readers: a page that begins with what it concludes, tables as LaTeX, lines of CSV, and figures."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np

from anysize._text import capitalized, csv_cell, plural
from anysize._typing import TargetKind
from anysize.evaluation.intervals import LEVEL, Interval
from anysize.evaluation.standings import RESAMPLES, SCORE_NAMES, League, LeagueRow, left_out_sentence
from anysize.evaluation.tables import Cell, Column, Row, ScoreSummary, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHER_METRICS: Mapping[TargetKind, tuple[str, ...]] = {
    "classes": ("balanced_accuracy", "roc_auc", "accuracy"), "numbers": ("r2", "rank_correlation"),
}  # fmt: skip
# sets whose test labels were looked at while `auto` and SizeMix were designed
DESIGN_FAMILIES = frozenset(
    {"NCI1", "NCI109", "PROTEINS", "DD", "IMDB-BINARY", "COLLAB", "DHFR", "PTC", "bbbp", "tox21", "sider"}
    | {"BZR", "MSRC", "Mutagenicity", "motif-size", "motif-size-concept", "spmotif-33", "spmotif-60", "spmotif-90"}
    | {"esol", "freesolv"}
)
METHOD_NOTE = (
    "All methods have the defaults of `GraphClassifier` (robust recipe, classes balanced, patterns of 4 vertices; of 5 "
    "for planted motifs). No label of a test graph is used in training. *Runs*: each is trained on another random 90 % "
    "of the training graphs, of planted motifs on another draw; scores are means over runs. A family counts once, its "
    "sets are averaged."
)
NUMBERS_NOTE = (
    "Numbers are predicted with the defaults of `GraphRegressor`, by SizeMix in place of `auto`. Their scores are no "
    "part of the means and ranks of classes. The RMSE reduction counts errors of the level, which moves with the size "
    "and which a rank correlation does not see; one bad set moves its mean less than that of R2, which is squared."
)
INTERVAL_NOTE = (
    f"*Interval*: {LEVEL:.0%} bootstrap ({RESAMPLES} resamples) over families and test graphs, the same for all "
    "methods. *To the first*: the same interval of the difference to the highest mean, paired; where it contains 0, "
    "the two are not told apart (≈). *Rank*: mean over families; by the test of Nemenyi, two ranks must differ by the "
    "critical difference, which allows for the number of methods. *One class*: sets of which all test graphs get one "
    "class in every run."
)


# ---- the page ----------------------------------------------------------------------------------------


def to_markdown(leagues: Sequence[League], means: str | None = None, ranks: str | None = None) -> str:
    """The league as a page; ``means`` and ``ranks`` are the paths of the figures of its first part."""
    lines = ["# League: which methods carry over to graphs of other sizes", ""]
    lines += ["<!-- made by `anysize league`; do not edit -->", ""]
    lines += [f"- **{league.part.title}** ({_amount(league)}): {_conclusion(league)}" for league in leagues]
    metric = SCORE_NAMES[leagues[0].metric]
    pictures = [(f"Mean {metric} of every method", means), ("Mean ranks, joined where not told apart", ranks)]
    lines += ["", *(f"![{text}]({path})" for text, path in pictures if path), ""]
    for league in leagues:
        lines += [f"## {league.part.title}", "", league.part.about, "", *_main_table(league), ""]
    numbers = [NUMBERS_NOTE, ""] * any(league.part.predicts == "numbers" for league in leagues)
    lines += ["## How to read it", "", METHOD_NOTE, "", *numbers, INTERVAL_NOTE, ""]
    tried = {row.method: row.tried for league in leagues for row in league.rows if row.tried > 1}
    if tried:
        amounts = ", ".join(f"{method} {number}" for method, number in tried.items())
        lines += [
            f"Tuned: on every set one of so many configurations was chosen inside the training graphs, by the balanced "
            f"accuracy of a model of the nearer training graphs on those whose sizes are farther: {amounts}.", "",
        ]  # fmt: skip
    lines += [
        "[Why these rows](why-these-rows.md), and what was left out. [Contribute](contribute-to-the-league.md) a "
        "method or a set; every number can be recomputed.", "",
    ]  # fmt: skip
    for league in leagues:
        lines += _details(league)
    return "\n".join(lines).rstrip() + "\n"


def _amount(league: League) -> str:
    sets = sum(map(len, league.families.values()))
    return f"{plural(sets, 'set')} in {plural(len(league.families), 'family', 'families')}"


def _conclusion(league: League) -> str:
    """The statement in numbers: who is first, who cannot be told from it."""
    first = league.first
    if first is None or first.low is None or first.high is None:
        return league.statement
    near = [row.method for row in league.rows if row.ahead_high is not None and not row.told_apart]
    below = sum(row.told_apart for row in league.rows)
    interval = f"{_number(_mean(first))} ({_number(first.low)} to {_number(first.high)})"
    tied = f"Not told apart from it: {', '.join(near)}. " if near else ""
    complete = sum(row.low is not None for row in league.rows)
    partial = len(league.rows) - complete
    missing = f" {plural(partial, 'method')} without records on all families cannot be compared." if partial else ""
    return (
        f"{first.method} has the highest mean {SCORE_NAMES[league.metric]}, {interval}. {tied}"
        f"{below} of {complete - 1} others are clearly below.{missing}"
    )


def _main_table(league: League) -> list[str]:
    lines = [
        f"| method | {SCORE_NAMES[league.metric]} | interval | to the first | rank | runs |",
        "|---|---|---|---|---|---|",
    ]
    for row in league.rows:
        mean = _number(_mean(row)) if row.low is not None or row.metrics[league.metric] is not None else ""
        missing = len(league.families) - len(row.families)
        ahead = "" if row.ahead_high is None or row.told_apart else " ≈"
        cells = [
            mean, _range(row.low, row.high), f"{_range(row.ahead_low, row.ahead_high)}{ahead}",
            "" if row.rank is None else f"{row.rank:.1f}", _runs(row),
        ]  # fmt: skip
        if missing:
            cells[1] = f"{plural(missing, 'family', 'families')} missing"
        lines.append(f"| {row.method} | {' | '.join(cells)} |")
    return lines


def _details(league: League) -> list[str]:
    part, names = league.part, list(league.families)
    metrics = [name for name in OTHER_METRICS[part.predicts] if name != league.metric]
    headings = [SCORE_NAMES[name] for name in metrics] + ["one class"] * (part.predicts == "classes")
    lines = [f"## {part.title}: details", ""]
    if league.critical_difference is not None:
        lines += [f"Critical difference of mean ranks: {league.critical_difference:.1f}.", ""]
    lines += [f"| method | {' | '.join(headings)} |", "|---|" + "---|" * len(headings)]
    for row in league.rows:
        cells = [_number(row.metrics[name]) for name in metrics]
        cells += [f"{len(row.one_class)} of {len(row.runs)}"] * (part.predicts == "classes")
        lines.append(f"| {row.method} | {' | '.join(cells)} |")
    lines += ["", f"{capitalized(SCORE_NAMES[league.metric])} by family:", ""]
    lines += [f"| method | {' | '.join(_family(name, league) for name in names)} |", "|---|" + "---|" * len(names)]
    for row in league.rows:
        lines.append(f"| {row.method} | {' | '.join(_number(row.families.get(name)) for name in names)} |")
    marked = [name for name in names if name in DESIGN_FAMILIES or name.partition("_")[0] in DESIGN_FAMILIES]
    if marked:
        lines += [
            "",
            f"Test labels of {', '.join(marked)} were looked at while `auto` and SizeMix were designed ([how it "
            "decides](auto.md)): their scores there are no test on unseen sets.",
        ]
    lines += ["", f"Splits, each with the hash of its graphs, labels and rule: {_splits(league)}."]
    if league.left_out:
        lines += ["", left_out_sentence(league.left_out, part)]
    return [*lines, ""]


def _splits(league: League) -> str:
    return ", ".join(f"{name} {league.splits[name]}" for sets in league.families.values() for name in sets)


def _mean(row: LeagueRow) -> float:
    return float(np.mean(list(row.families.values())))


def _runs(row: LeagueRow) -> str:
    fewest, most = min(row.runs.values()), max(row.runs.values())
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"


def _family(name: str, league: League) -> str:
    return name if len(league.families[name]) == 1 else f"{name} ({len(league.families[name])} sets)"


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{_number(low)} to {_number(high)}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("0.", ".", 1)


# ---- LaTeX and CSV -----------------------------------------------------------------------------------


def to_latex(leagues: Sequence[League]) -> str:
    """One table for each part: the mean with its interval, then families; names are short."""
    from anysize.evaluation.render import render

    return "\n".join(render(table(league), "latex") for league in leagues)


def table(league: League) -> Table:
    """A part of the league as a table: a column for the mean, and one for each family."""
    columns = [Column("mean", "mean", "published", "test")]
    columns += [Column(name, _family(name, league), "published", "test") for name in league.families]
    rows = []
    for row in league.rows:
        mean = Cell("not run")
        if row.low is not None and row.high is not None:
            mean = Cell(
                "run", ScoreSummary(_mean(row), 0.0, 1), interval=Interval(row.low, row.high, LEVEL, RESAMPLES),
                best=row is league.first, tied=row.ahead_high is not None and not row.told_apart,
            )  # fmt: skip
        scores = [row.families.get(name) for name in league.families]
        cells = [Cell("not run") if score is None else Cell("run", ScoreSummary(score, 0.0, 1)) for score in scores]
        rows.append(Row(row.method, "robust", row.method, row.is_baseline, (mean, *cells)))
    metric = SCORE_NAMES[league.metric]
    notes = (
        f"{league.part.title}, {metric}: {league.part.about.partition(' ([')[0].rstrip('.')}. A family counts once.",
        f"Below means: {LEVEL:.0%} bootstrap over families and test graphs; ≈: not told apart from the highest mean.",
        f"Runs of a set: {', '.join(f'{row.method} {_runs(row)}' for row in league.rows)}.",
        f"Splits: {_splits(league)}.",
    )
    return Table(f"League, {league.part.title.lower()}: {metric}", metric, "", tuple(columns), tuple(rows), notes)


def to_csv(leagues: Sequence[League]) -> str:
    """One line for every method and set: family, split, number of test graphs and runs, score."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["part", "family", "set", "split", "test_graphs", "method", "runs", "metric", "score"])
    for league in leagues:
        writer.writerows(_csv_lines(league))
    return file.getvalue()


def _csv_lines(league: League) -> Iterator[list[object]]:
    for family, sets in league.families.items():
        for name in sets:
            about = [league.part.name, csv_cell(family), csv_cell(name), league.splits[name], league.test_graphs[name]]
            for row in league.rows:
                if name in row.sets:
                    yield [*about, row.method, row.runs[name], league.metric, round(row.sets[name], 6)]


# ---- figures -----------------------------------------------------------------------------------------


def plot_means(league: League) -> Figure:
    """Every method: its mean, the interval, and a tick for each family."""
    from anysize.plots import MethodScores, method_scores

    first = league.rows[0].method
    rows = [
        MethodScores(
            row.method, _mean(row), row.low, row.high, tuple(row.families.values()), row.method == first,
            row.is_baseline,
        )
        for row in league.rows
        if len(row.families) == len(league.families)
    ]  # fmt: skip
    return method_scores(rows, SCORE_NAMES[league.metric])


def plot_ranks(league: League) -> Figure:
    """Mean ranks of methods, joined where they differ by less than the critical difference."""
    from anysize.plots import critical_differences

    if league.critical_difference is None:
        raise ValueError("Ranks need two methods and two families at least.")
    return critical_differences({row.method: row.rank or 0.0 for row in league.ranked}, league.critical_difference)
