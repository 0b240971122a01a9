"""The whole diagnosis: counts once, asks each question, and puts the answers together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.diagnosis.advice import Advice, advise
from anysize.diagnosis.colors import ColorShift, by_role, color_shift
from anysize.diagnosis.densities import Family, Over, Sparsity, family, sample_of, sparsity
from anysize.diagnosis.findings import SUBJECTS, Findings, Question
from anysize.diagnosis.gaps import MeasuredGap, measured_gap
from anysize.diagnosis.labels import LabelNature, label_nature
from anysize.diagnosis.pair import Pair
from anysize.diagnosis.sizes import SizeShift, size_shift
from anysize.diagnosis.testing import holm
from anysize.diagnosis.words import Section, sections


@dataclass(frozen=True)
class Diagnosis:
    """How a new set of graphs differs from the training graphs, and what to do about it.

    ``findings`` holds the numbers, ``advice`` the method to use and why. ``str(diagnosis)`` is the report in words.
    """

    findings: Findings
    advice: Advice

    @property
    def sections(self) -> tuple[Section, ...]:
        """The report: headings, answers, sentences."""
        return sections(self.findings, self.advice)

    def __str__(self) -> str:
        from anysize.diagnosis.text import as_text

        return as_text(self.findings, self.sections)

    def to_html(self) -> str:
        """The report as one page that needs nothing else."""
        from anysize.diagnosis.page import as_page

        return as_page(self.findings, self.advice, self.sections)

    def to_json(self) -> dict[str, Any]:
        """The report as a dictionary that JSON holds."""
        told = [asdict(section) for section in self.sections]
        return {**asdict(self.findings), "advice": asdict(self.advice), "report": told}


def diagnose(
    train: Any,
    new: Any,
    k: int = 4,
    y: ArrayLike | None = None,
    *,
    colors: bool = True,
    level: float = 0.05,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Diagnosis:
    """Say how new graphs differ from training graphs: sizes, colors, densities beyond what sizes explain.

    Also: what Theorem 1 promises at these sizes, whether the label of the training graphs is intensive or extensive
    in size, and which method all this speaks for. Labels of the new graphs are never looked at.

    Args:
        train: training graphs, whatever `anysize.count` takes.
        new: the graphs to predict on, likewise.
        k: patterns of up to so many vertices, 2..7.
        y: classes of the training graphs, where they do not bring their own. Without any, nothing is said about them.
        colors: look at colors, where both sets have some.
        level: the probability of any false alarm in the whole report.
        seed: of random regroupings and folds.
        progress: called with the share of the work done so far.

    Examples:
        >>> import anysize as az
        >>> classes = az.ErdosRenyi(0.3), az.ErdosRenyi(0.6)
        >>> small = az.sample_graphs(classes, az.Environment(sizes=(10, 12)), 40, seed=1)
        >>> large = az.sample_graphs(classes, az.Environment(sizes=(30,)), 30, seed=2)
        >>> found = diagnose(small, large, k=3)
        >>> found.findings.sizes.verdict, found.findings.beyond_size, found.advice.method
        ('disjoint', False, 'gamma-gin')
    """
    if not 0 < level < 1:
        raise ValueError(f"level is a probability between 0 and 1; got {level!r}")
    tell = progress or (lambda done: None)
    pair = Pair.of(train, new, k, y, colors)
    sizes = size_shift(pair.both.sizes[: pair.train], pair.both.sizes[pair.train :], level)
    plain = count(pair.kept, range(2, k + 1), colors=False, progress=lambda done: tell(0.3 * done))
    kind = _sparsity(pair, plain)
    families = _plain_families(pair, plain, kind, sizes, level)
    colored = None
    shift = None
    if pair.both.colors is not None:
        colored = count(pair.kept, sorted({1, 2, k}), progress=lambda done: tell(0.3 + 0.3 * done))
        shift = color_shift(pair.both, pair.train, pair.y, seed, level)
        families += _colored_families(pair, colored, shift, kind, sizes, level)
    tell(0.7)
    label = _label(pair, plain, colored, kind, seed, level)
    tell(0.9)
    findings = Findings(
        k=int(k),
        level=level,
        graphs=(pair.train, len(pair.both) - pair.train),
        too_small=pair.too_small,
        questions=_questions(sizes, shift, families, level),
        sizes=sizes,
        colors=shift,
        sparsity=kind,
        families=tuple(families),
        gap=_gap(pair, plain, k, seed),
        label=label,
    )
    tell(1.0)
    return Diagnosis(findings, advise(findings))


def _sparsity(pair: Pair, plain: Counts) -> Sparsity:
    edges = plain.matrix[:, [0]].toarray().ravel().astype(np.float64)  # the first pattern of the catalog of 2
    return sparsity(edges, pair.kept.sizes, pair.kept_train)


def _plain_families(pair: Pair, plain: Counts, kind: Sparsity, sizes: SizeShift, level: float) -> list[Family]:
    free = _free(kind, sizes)
    made = [family("plain densities", "subsets", sample_of(plain, pair.kept_train, "subsets"), level, free)]
    if kind.kind == "sparse":
        larger = sample_of(plain.select(plain.columns.size >= 3), pair.kept_train, "connected")  # a pair is an edge
        made.append(family("connected shares", "connected", larger, level, free))
    return made


def _colored_families(
    pair: Pair, colored: Counts, shift: ColorShift, kind: Sparsity, sizes: SizeShift, level: float
) -> list[Family]:
    over: Over = "connected" if kind.kind == "sparse" else "subsets"
    free = _free(kind, sizes)
    made = [family("colored densities", over, sample_of(colored, pair.kept_train, over), level, free)]
    if shift.roles is not None and shift.exchangeable:
        merged = count(by_role(pair.kept, shift.roles), np.unique(colored.columns.size).tolist())
        made.append(family("patterns by role", over, sample_of(merged, pair.kept_train, over), level, free))
    return made


def _free(kind: Sparsity, sizes: SizeShift) -> bool:
    """Whether nothing can be expected to be the same: sparse graphs of other sizes."""
    return kind.kind == "sparse" and sizes.verdict != "none"


def _questions(
    sizes: SizeShift, shift: ColorShift | None, families: list[Family], level: float
) -> tuple[Question, ...]:
    """Every question with its p-value, corrected for their number, the second look at roles included."""
    asked = {"sizes": sizes.p} | ({} if shift is None else {"colors": shift.p})
    asked |= {} if shift is None or shift.role_p is None else {"shares of roles": shift.role_p}
    asked |= {one.name: one.p for one in families}
    subjects = [subject for subject in SUBJECTS if subject in asked]
    p = [asked[subject] for subject in subjects]
    return tuple(
        Question(subject, value, float(adjusted), bool(adjusted <= level or _plain_to_see(subject, sizes)))
        for subject, value, adjusted in zip(subjects, p, holm(p), strict=True)
    )


def _plain_to_see(subject: str, sizes: SizeShift) -> bool:
    """Sizes without overlap and far apart need no test."""
    return subject == "sizes" and sizes.verdict == "disjoint"


def _label(
    pair: Pair, plain: Counts, colored: Counts | None, kind: Sparsity, seed: int, level: float
) -> LabelNature | None:
    if pair.kept_y is None:
        return None
    rows = slice(0, pair.kept_train)
    dressed = None if colored is None else colored[rows]
    return label_nature(pair.kept_y, plain[rows], dressed, kind.kind, seed, level)


def _gap(pair: Pair, plain: Counts, k: int, seed: int) -> MeasuredGap:
    train, new = pair.kept[: pair.kept_train], pair.kept[pair.kept_train :]
    names = [pattern.name for pattern in plain.patterns]
    return measured_gap(train, new, plain.densities().toarray(), names, k, max(len(pair.kept.palette), 1), seed)
