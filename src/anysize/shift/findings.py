"""What was tested and found, as plain numbers: the input of the advice and of the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from anysize.shift.colors import ColorShift
from anysize.shift.densities import PatternFamily, Sparsity
from anysize.shift.labels import LabelDependence

Subject = Literal[
    "sizes", "colors", "role shares", "plain densities", "connected shares", "colored densities", "role patterns"
]
SUBJECTS: tuple[Subject, ...] = get_args(Subject)


@dataclass(frozen=True)
class Question:
    """Does the new set differ in this? ``adjusted`` is the p-value corrected for the number of questions (Holm)."""

    subject: Subject
    p: float
    adjusted: float
    found: bool


@dataclass(frozen=True)
class SizeShift:
    """Numbers of vertices: ``train`` and ``new`` are the minimum, the quartiles and the maximum.

    ``ratio``: new over training median. ``within``: share of new graphs inside the range of training sizes.
    ``distance`` and ``p``: Kolmogorov-Smirnov. ``detectable``: the distance that would be found at 5 %. ``disjoint``:
    the ranges do not overlap. ``far``: they are disjoint and the medians differ by a factor of 1.5 or more, which
    counts as found however few graphs there are.
    """

    train: tuple[float, ...]
    new: tuple[float, ...]
    ratio: float
    within: float
    distance: float
    p: float
    detectable: float
    disjoint: bool
    far: bool


@dataclass(frozen=True)
class Findings:
    """How the new graphs differ from the training graphs: test results and estimates.

    ``graphs``: numbers of training and new graphs; ``too_small``: those with fewer than k vertices, which have no
    densities. ``families``: the tested patterns, plain ones first.
    """

    k: int
    level: float
    graphs: tuple[int, int]
    too_small: tuple[int, int]
    questions: tuple[Question, ...]
    sizes: SizeShift
    colors: ColorShift | None
    sparsity: Sparsity
    families: tuple[PatternFamily, ...]
    label: LabelDependence | None

    def found(self, *subjects: Subject) -> bool:
        """Whether a difference in any of these was found."""
        return any(question.found for question in self.questions if question.subject in subjects)

    @property
    def sizes_shifted(self) -> bool:
        return self.found("sizes")

    @property
    def colors_shifted(self) -> bool:
        """Whether colors differ by more than a negligible distance."""
        return self.colors is not None and self.found("colors") and not self.colors.test.negligible

    @property
    def beyond_size(self) -> bool:
        """Whether plain patterns differ beyond what sizes explain."""
        return self.found("plain densities", "connected shares")

    @property
    def within_roles(self) -> bool | None:
        """Whether colors shifted among exchangeable ones only; None without a shift or where roles are not known."""
        colors = self.colors
        if colors is None or not self.colors_shifted or colors.role_test is None:
            return None
        shares_shifted = self.found("role shares") and not colors.role_test.negligible
        if colors.roles is None:  # the role test is that of the roles that explain most
            return False if shares_shifted else None
        return colors.exchangeable and not (shares_shifted or self.found("role patterns"))
