"""What was asked and found, as plain numbers: what the words, the page and the advice are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from anysize.diagnosis.colors import ColorShift
from anysize.diagnosis.densities import Family, Sparsity
from anysize.diagnosis.gaps import MeasuredGap
from anysize.diagnosis.labels import LabelNature
from anysize.diagnosis.sizes import SizeShift

Subject = Literal[
    "sizes",
    "colors",
    "plain densities",
    "connected shares",
    "colored densities",
    "shares of roles",
    "patterns by role",
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
class Findings:
    """Everything that was measured.

    ``graphs``: numbers of training and new graphs; ``too_small``: those with fewer than k vertices, which have no
    densities. ``families``: plain densities over subsets first, then shares of connected subsets for sparse graphs,
    then colored patterns, then patterns by role where colors shift and some can be exchanged.
    """

    k: int
    level: float
    graphs: tuple[int, int]
    too_small: tuple[int, int]
    questions: tuple[Question, ...]
    sizes: SizeShift
    colors: ColorShift | None
    sparsity: Sparsity
    families: tuple[Family, ...]
    gap: MeasuredGap
    label: LabelNature | None

    def found(self, subject: Subject) -> bool:
        """Whether this question was asked and answered with yes."""
        return any(question.found for question in self.questions if question.subject == subject)

    @property
    def sizes_moved(self) -> bool:
        """Whether the new graphs differ in size."""
        return self.found("sizes")

    @property
    def colors_moved(self) -> bool:
        """Whether colors differ by more than little."""
        return self.colors is not None and self.found("colors") and not self.colors.slight

    @property
    def colors_with_size(self) -> bool:
        """Whether the training graphs' own trends with size may explain all that colors moved."""
        tested = self.family("colored densities")
        if tested is None or not (self.colors_moved and self.sizes_moved):
            return False
        judged = {item.judgment for item in tested.patterns if item.size == 1}
        return "size may explain" in judged and "beyond size" not in judged

    @property
    def shown(self) -> Family:
        """The plain patterns that say most: in sparse graphs connected shares, unless densities alone differ."""
        only_densities = self.found("plain densities") and not self.found("connected shares")
        return self.families[0 if self.sparsity.kind != "sparse" or only_densities else 1]

    @property
    def beyond_size(self) -> bool:
        """Whether plain patterns differ beyond what sizes explain, over subsets or among connected subsets."""
        return self.found("plain densities") or self.found("connected shares")

    @property
    def strongest(self) -> float:
        """The largest effect among plain patterns beyond size, in standard deviations between graphs."""
        plain = (one for one in self.families if one.name in ("plain densities", "connected shares"))
        effects = [abs(i.effect) for one in plain for i in one.patterns if i.judgment == "beyond size"]
        return max(effects, default=0.0) if self.beyond_size else 0.0

    @property
    def nothing_found(self) -> bool:
        """Whether no question was answered with yes."""
        return not any(question.found for question in self.questions)

    def family(self, name: str) -> Family | None:
        """The family of that name, if it was tested."""
        return next((one for one in self.families if one.name == name), None)

    @property
    def within_roles(self) -> bool | None:
        """Whether colors moved among exchangeable ones only; None where they did not move or roles are not known."""
        shift = self.colors
        if shift is None or not self.colors_moved or shift.role_p is None:
            return None
        if shift.roles is None:  # colors too rare for a role: the test is for the kindest roles
            return False if self.role_shares_moved else None
        return shift.exchangeable and not (self.role_shares_moved or self.found("patterns by role"))

    @property
    def role_shares_moved(self) -> bool:
        """Whether the shares of roles differ by more than little."""
        return self.colors is not None and self.found("shares of roles") and not self.colors.role_slight
