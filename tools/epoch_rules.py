"""``python -m tools.epoch_rules``: which rule of epoch selection explains the published GNN rows best, from records.

The paper does not say which of several epochs with the same validation score it kept, nor which of several
configurations. For each rule and each way to break ties among configurations, the test means of all GNN cells are
compared with the published ones. Only cells whose runs kept the epochs of every rule take part.
"""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from anysize._typing import FloatArray
from anysize.experiments.record_store import RecordStore
from anysize.experiments.records import EPOCH_RULES, Record
from anysize.experiments.selection import RULES, Rule, grouped, select
from anysize.experiments.tables.cells import published
from anysize.experiments.tables.layout import table_of
from anysize.experiments.tables.render import markdown_row
from anysize.methods.catalog import METHODS

SMALLEST_DEVIATION = 0.02  # of a published mean: the paper prints two decimals, and some deviations as 0.00
TIES = {"first": "first", "loss": "lowest loss", "penalty": "lowest penalty"}


@dataclass(frozen=True)
class RuleFit:
    """How well one rule agrees with the published test means.

    Attributes:
        rule: the rule of epochs; ``tie``: how ties among configurations are broken.
        likelihood: mean over cells of log N(our mean; published mean, published deviation).
        difference: mean over cells of the absolute difference of means.
        rank: mean over cells of the rank of the absolute difference among all rules, from 1; ties share ranks.
        cells: how many took part.
    """

    rule: str
    tie: str
    likelihood: float
    difference: float
    rank: float
    cells: int


def compare_rules(records: Iterable[Record], table: int | None = None) -> list[RuleFit]:
    """All rules on the GNN cells of all tables, or of one, by descending likelihood; empty without such cells."""
    rules = [replace(RULES[name], tie=tie) for name in EPOCH_RULES for tie in ("first", "loss")]
    rules[2 * EPOCH_RULES.index("best-lowest-penalty") + 1] = RULES["best-lowest-penalty"]
    differences, deviations = _differences(records, rules, table)
    if not len(differences):
        return []
    spread = np.maximum(deviations, SMALLEST_DEVIATION)[:, None]
    likelihood = -0.5 * (differences / spread) ** 2 - np.log(spread * math.sqrt(2 * math.pi))
    size = np.abs(differences)
    ranks = rankdata(size.round(9), axis=1)
    fits = [
        RuleFit(
            rule.name,
            rule.tie,
            float(likelihood[:, place].mean()),
            float(size[:, place].mean()),
            float(ranks[:, place].mean()),
            len(size),
        )
        for place, rule in enumerate(rules)
    ]
    return sorted(fits, key=lambda fit: -fit.likelihood)


def _differences(records: Iterable[Record], rules: Sequence[Rule], table: int | None) -> tuple[FloatArray, FloatArray]:
    """Ours minus the published test mean (cells, rules), and the published deviations (cells,)."""
    differences, deviations = [], []
    for group, runs in grouped(records).items():
        method = METHODS.get(group.method)
        if method is None or method.kind != "gnn" or (group.data, group.recipe) != ("published", "paper"):
            continue
        paper = published(group.task, group.method)
        if paper is None or paper.mean is None or table not in (None, table_of(group.task)):
            continue
        selections = [select(runs, rule) for rule in rules]
        summaries = [one.summary("test") for one in selections]
        if not any(one.fallback for one in selections) and None not in summaries:
            differences.append([one.mean - paper.mean for one in summaries if one is not None])
            deviations.append(paper.std or 0.0)
    return np.array(differences), np.array(deviations)


def rules_table(records: Iterable[Record]) -> str:
    """The comparison as a table in Markdown; empty without records that kept all epochs."""
    records = list(records)
    fits = compare_rules(records)
    if not fits:
        return ""
    by_table = {
        number: {(fit.rule, fit.tie): fit for fit in found}
        for number in (1, 2, 3)
        if (found := compare_rules(records, number))
    }
    head = ["epoch", "configurations that tie", "log-likelihood", "mean rank", "mean difference"]
    head += [f"Table {number} ({next(iter(found.values())).cells} cells)" for number, found in by_table.items()]
    lines = [markdown_row(head), f"|{' --- |' * 2}{' ---: |' * (len(head) - 2)}"]
    for fit in fits:
        cells = [f"`{fit.rule}`", TIES[fit.tie], f"{fit.likelihood:.2f}", f"{fit.rank:.1f}", f"{fit.difference:.3f}"]
        cells += [f"{found[fit.rule, fit.tie].difference:.3f}" for found in by_table.values()]
        lines.append(markdown_row(cells))
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; returns the exit code."""
    parser = ArgumentParser("python -m tools.epoch_rules", description="Compare rules of epoch selection.")
    parser.add_argument("--records", type=Path, default=Path("results/records"), help="folder of records")
    options = parser.parse_args(arguments)
    table = rules_table(RecordStore(options.records).read(curves=False))
    if not table:
        print(f"Error: no run in {options.records} kept its outcomes under every rule.", file=sys.stderr)
        return 1
    print(table, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
