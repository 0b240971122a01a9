"""Alarm rates of the diagnosis by simulation: false alarms where only sizes (and exchangeable colors) change, true
alarms where more changes. Run as a script it prints the tables of docs/diagnose.md:

    python tests/shift/rates.py 100          # pairs of sets per situation
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

import anysize as az
from anysize.causal.graphons import Graphon, SmoothGraphon
from anysize.shift.findings import Findings

BLOCKS = tuple(az.BlockModel(within=(0.2, 0.2), between=p) for p in (0.1, 0.3))
SHARP = tuple(az.BlockModel(within=(0.6, 0.6), between=p) for p in (0.1, 0.2))
RANDOM = (az.ErdosRenyi(0.2), az.ErdosRenyi(0.4))
SLOPES = tuple(SmoothGraphon(lambda u, v, a=a: a * (u + v) / 2 + 0.05) for a in (0.4, 0.7))
ONE = ({"red": 0.7, "blue": 0.3},)
TWO, TWO_EXCHANGED = (
    ({"red": s, "blue": 1 - s}, {"green": s, "yellow": 1 - s}) for s in (0.9, 0.1)
)  # as in the paper's tasks
PLACED = ({"red": 0.8, "blue": 0.2}, {"green": 1.0})
MISPLACED = ({"red": 0.8, "green": 0.2}, {"green": 0.8, "blue": 0.2})  # the same shares of colors

FIRST_SEED = 1000  # seeds from here on were not used to develop the tests


@dataclass(frozen=True)
class Side:
    """One set of graphs, but for their number and seed."""

    graphons: tuple[Graphon, ...]
    sizes: tuple[int, ...]
    colors: tuple[dict[str, float], ...] | None = None
    balanced: bool = False
    mix: tuple[float, ...] | None = None

    def draw(self, graphs: int, seed: tuple[int, int]) -> az.GraphSet:
        environment = az.Environment(self.sizes, self.colors, blocks="balanced" if self.balanced else "iid")
        return az.sample_graphs(self.graphons, environment, graphs, seed, self.mix)


Pair = tuple[Side, Side]


def grown(side: Side, sizes: tuple[int, ...] = (40,), **changed: object) -> Pair:
    """The same model at other sizes, and with what else is said."""
    return side, replace(side, sizes=sizes, **changed)  # type: ignore[arg-type]


SMALL, LOW, HIGH, ANY = (20,), (14, 20), (20, 30), tuple(range(14, 31))
SAME: dict[str, list[Pair]] = {
    "Erdős–Rényi": [grown(Side(RANDOM, s)) for s in (SMALL, LOW, HIGH, ANY)],
    "smooth graphons": [grown(Side(SLOPES, s)) for s in (SMALL, LOW, HIGH, ANY)],
    "blocks": [grown(Side(BLOCKS, s)) for s in (SMALL, LOW, HIGH, ANY)],
    "balanced blocks": [grown(Side(BLOCKS, s, balanced=True)) for s in (SMALL, LOW, HIGH, ANY)],
    "balanced blocks, one class": [grown(Side((g,), s, balanced=True)) for g in BLOCKS for s in (SMALL, LOW)],
    "sharp balanced blocks, one class": [grown(Side((g,), s, balanced=True)) for g in SHARP for s in (SMALL, LOW)],
    "colored Erdős–Rényi": [grown(Side(RANDOM, s, ONE)) for s in (SMALL, LOW, HIGH, ANY)],
    "colored blocks": [grown(Side(BLOCKS, s, TWO)) for s in (SMALL, LOW, HIGH, ANY)],
    "colored balanced blocks": [grown(Side(BLOCKS, s, TWO, True)) for s in (SMALL, LOW, HIGH, ANY)],
    "colored blocks, colors of a role exchanged": [
        grown(Side(BLOCKS, s, TWO), colors=TWO_EXCHANGED) for s in (SMALL, LOW, HIGH, ANY)
    ],
    "colored balanced blocks, exchanged (the tasks)": [
        grown(Side(BLOCKS, s, TWO, True), colors=TWO_EXCHANGED) for s in (SMALL, LOW, HIGH, ANY)
    ],
    "the same, one class": [
        grown(Side((g,), s, TWO, True), colors=TWO_EXCHANGED) for g in BLOCKS for s in (SMALL, LOW)
    ],
    "the same sizes, colored balanced blocks": [grown(Side(BLOCKS, s, TWO, True), s) for s in (SMALL, ANY)],
}
MORE = {
    0.05: tuple(az.ErdosRenyi(p + 0.05) for p in (0.2, 0.4)),
    0.1: tuple(az.ErdosRenyi(p + 0.1) for p in (0.2, 0.4)),
}
UNEVEN = tuple(az.BlockModel(within=(0.2, 0.2), between=p, shares=(0.7, 0.3)) for p in (0.1, 0.3))
CLOSER = tuple(az.BlockModel(within=(0.2, 0.2), between=p) for p in (0.2, 0.4))
CHANGED: dict[str, list[Pair]] = {
    "Erdős–Rényi, p + .05, sizes kept": [grown(Side(RANDOM, s), s, graphons=MORE[0.05]) for s in (SMALL, ANY)],
    "Erdős–Rényi, p + .1, sizes kept": [grown(Side(RANDOM, s), s, graphons=MORE[0.1]) for s in (SMALL, ANY)],
    "Erdős–Rényi of one p = .2, + .05, 20 to 40": [grown(Side(RANDOM[:1], SMALL), graphons=MORE[0.05][:1])],
    "Erdős–Rényi, p + .05, 20 to 40": [grown(Side(RANDOM, SMALL), graphons=MORE[0.05])],
    "Erdős–Rényi, p + .1, 20 to 40": [grown(Side(RANDOM, SMALL), graphons=MORE[0.1])],
    "Erdős–Rényi, p + .1, 14-20 or 14..30 to 40": [grown(Side(RANDOM, s), graphons=MORE[0.1]) for s in (LOW, ANY)],
    "balanced blocks, between + .1, 20 to 40": [grown(Side(BLOCKS, SMALL, TWO, True), graphons=CLOSER)],
    "colors move to the other block, sizes kept": [grown(Side(SHARP, SMALL, PLACED), SMALL, colors=MISPLACED)],
    "shares of the roles .5 to .7, 20 to 40": [grown(Side(BLOCKS, SMALL, TWO), colors=TWO_EXCHANGED, graphons=UNEVEN)],
    "class mix 50 : 50 to 80 : 20, 20 to 40": [grown(Side(BLOCKS, SMALL, TWO, True), mix=(0.8, 0.2))],
    "class mix 50 : 50 to 100 : 0, 20 to 40": [grown(Side(BLOCKS, SMALL, TWO, True), mix=(1.0, 0.0))],
}


def findings(pair: Pair, graphs: int | tuple[int, int], seed: int, k: int = 4) -> Findings:
    """The findings without the label, which takes time and raises no alarm."""
    numbers = graphs if isinstance(graphs, tuple) else (graphs, graphs)
    train, new = (
        side.draw(number, (seed, place)) for place, (side, number) in enumerate(zip(pair, numbers, strict=True))
    )
    with patch("anysize.shift.diagnosis.analyze_label", return_value=None):
        return az.diagnose(train, new, k, seed=seed).findings


def alarmed(found: Findings, recolored: bool) -> bool:
    """Whether anything beyond sizes is reported, and beyond exchangeable colors where those change."""
    colored = found.found("colored densities") and not found.colors_shifted
    colors = found.found("colors") and not recolored
    return found.beyond_size or found.within_roles is False or colored or colors


def rate(pairs: list[Pair], graphs: int | tuple[int, int], seeds: range, k: int = 4) -> float:
    """The share of reports with an alarm; the situations take turns."""
    alarms = []
    for seed in seeds:
        pair = pairs[seed % len(pairs)]
        alarms.append(alarmed(findings(pair, graphs, seed, k), pair[0].colors != pair[1].colors))
    return float(np.mean(alarms))


def main(reports: int) -> None:
    for title, table in (("one model", SAME), ("a real shift", CHANGED)):
        print(f"| {title} | 30 + 30 graphs | 100 + 100 graphs |\n|---|---|---|")
        for name, pairs in table.items():
            rates = [
                f"{100 * rate(pairs, graphs, range(FIRST_SEED, FIRST_SEED + reports)):.0f} %" for graphs in (30, 100)
            ]
            print(f"| {name} | {' | '.join(rates)} |", flush=True)
        print()


if __name__ == "__main__":
    main(int(sys.argv[1]))
