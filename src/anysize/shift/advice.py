"""The suggested classifier: what `auto` would do with the training graphs, and what limits trust in it.

The suggestion comes from the statistics and the evidence of `auto` alone (`anysize.methods.auto`), so that `diagnose`
and `GraphClassifier` never disagree. What was found about the new graphs becomes warnings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anysize.causal.graphon_check import GraphonCheck
from anysize.methods import defaults
from anysize.shift.findings import Findings

if TYPE_CHECKING:
    from anysize.methods.auto import Decision

MAX_UNDETECTED_DISTANCE = 0.3  # of the size distributions, before the advice warns of few graphs


@dataclass(frozen=True)
class Advice:
    """Suggested arguments of `GraphClassifier`, with the ``reasons``, and ``warnings`` about its predictions.

    ``method`` is None if all training graphs have one class. ``family``: the models that `auto` would use, "gamma" or
    "sizemix"; None if that is not known.
    """

    method: str | None
    k: int
    family: str | None
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def call(self) -> str:
        """Python code that makes the classifier; empty without a method."""
        if self.method is None:
            return ""
        return f"az.GraphClassifier({'' if self.k == defaults.K else f'k={self.k}'})"


def advise(findings: Findings, check: GraphonCheck, decision: Decision | None) -> Advice:
    """The default method with the reasons of its decision.

    Args:
        findings: how the new graphs differ.
        check: of the training graphs.
        decision: what `auto` decides on the training graphs; None where their classes are not known.
    """
    if findings.label is not None and findings.label.n_classes == 1:
        return Advice(None, findings.k, None, ("All training graphs have one class.",), _warn(findings, check, None))
    reason, family = check.summary(), None
    if decision is not None:
        reason, family = decision.summary(), decision.family
    return Advice(defaults.METHOD, findings.k, family, (reason,), _warn(findings, check, decision))


def _warn(findings: Findings, check: GraphonCheck, decision: Decision | None) -> tuple[str, ...]:
    unseen = 0.0 if findings.colors is None else findings.colors.unseen_share
    colored_only = findings.found("colored densities") and not findings.colors_shifted
    label = findings.label
    rules = (
        (decision is not None and bool(decision.doubt), "" if decision is None else decision.doubt),
        (label is not None and label.predictable is False, "Neither size nor densities nor counts predict held-out "
         "training labels better than chance."),
        (findings.beyond_size or colored_only, "Densities differ beyond what sizes explain (other graphs, or another "
         "mix of classes); check predictions on some labeled new graphs."),
        (findings.within_roles is False, "Colors shift beyond exchangeable ones, and the label may shift with them."),
        (unseen > 0, f"{100 * unseen:.2g}% of the vertices of a new graph have colors unseen in training."),
        (findings.sizes_shifted and findings.sizes.disjoint, "The ranges of sizes are disjoint, and validation scores "
         "on training sizes do not measure extrapolation."),
        (findings.sizes_shifted and check.regime == "not_graphon", "The graphs are no samples of graphons, and "
         "Theorem 1 does not apply: nothing guarantees that what was learned holds at other sizes."),
        (findings.sizes.detectable > MAX_UNDETECTED_DISTANCE, "There are few graphs, and a shift may go undetected."),
    )  # fmt: skip
    return tuple(sentence for applies, sentence in rules if applies)
