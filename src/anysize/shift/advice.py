"""From findings to one suggested method: a pure function, a few rules, one sentence each."""

from __future__ import annotations

import json
from dataclasses import dataclass

from anysize.shift.findings import Findings
from anysize.shift.hypothesis_tests import NEGLIGIBLE_DISTANCE

Setting = tuple[str, str | int]

MAX_UNDETECTED_DISTANCE = 0.3  # of the size distributions, before the advice warns of few graphs


@dataclass(frozen=True)
class Advice:
    """``method`` and its ``settings`` for `GraphClassifier` (None where no method can be suggested), the ``reasons``,
    and ``warnings`` about predictions on the new graphs."""

    method: str | None
    settings: tuple[Setting, ...]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def call(self) -> str:
        """Python code that makes the classifier; empty without a method."""
        if self.method is None:
            return ""
        params = {name: value for name, value in self.settings if name != "k"}
        arguments = [json.dumps(self.method), *(f"k={value}" for name, value in self.settings if name == "k")]
        arguments += [f"params={json.dumps(params)}"] if params else []
        return f"az.GraphClassifier({', '.join(arguments)})"


def advise(findings: Findings) -> Advice:
    """The method of the first rule that applies."""
    method, settings, reasons = _choose_method(findings)
    return Advice(method, settings, reasons, _warn(findings))


def _choose_method(findings: Findings) -> tuple[str | None, tuple[Setting, ...], tuple[str, ...]]:
    label, k = findings.label, ("k", findings.k)
    if label is not None and label.n_classes == 1:
        return None, (), ("All training graphs have one class.",)
    if not (findings.sizes_shifted or findings.colors_shifted):
        return "gin-sum", (), ("No shift of sizes or colors was found that a GNN on whole graphs would suffer from.",)
    if label is not None and label.predictable is False:
        return None, (), ("Neither size nor densities nor counts predict held-out training labels better than chance.",)
    if findings.sizes_shifted and label is not None and label.amounts is not None:
        reason = f"The label follows size in training, and densities predict it worse than {label.amounts}."
        return "size-only" if label.amounts == "size" else "wl-kernel", (), (reason,)
    if findings.within_roles is False and label is not None and label.shape_suffices:
        reason = "Colors shift beyond exchangeable ones, and densities without colors predict the label nearly as well."
        return "topology-only", (k,), (reason,)
    settings: list[Setting] = [k]
    reasons = []
    if findings.sizes_shifted:
        reasons.append("Sizes shift, and densities of patterns are comparable between sizes.")
    if findings.sizes_shifted and findings.sparsity.kind == "sparse":
        settings.append(("over", "connected"))
        reasons.append("The graphs are sparse: densities over subsets vanish, shares of connected subsets do not.")
    if findings.within_roles:
        reasons.append("Colors shift only among exchangeable ones, which the default recipe treats alike.")
    elif findings.colors_shifted:
        reasons.append("Colors shift, and the default color penalty limits their influence.")
    elif findings.colors is not None and findings.colors.test.expected < NEGLIGIBLE_DISTANCE:
        settings.append(("penalty", 0))
        reasons.append("Colors do not shift, and the color penalty is not needed.")
    return "gamma-gin", tuple(settings), tuple(reasons)


def _warn(findings: Findings) -> tuple[str, ...]:
    unseen = 0.0 if findings.colors is None else findings.colors.unseen_share
    colored_only = findings.found("colored densities") and not findings.colors_shifted
    rules = (
        (findings.beyond_size or colored_only, "Densities differ beyond what sizes explain (other graphs, or another "
         "mix of classes); check predictions on some labeled new graphs."),
        (findings.within_roles is False, "Colors shift beyond exchangeable ones, and the label may shift with them."),
        (unseen > 0, f"{unseen:.1%} of the vertices of a new graph have colors unseen in training."),
        (findings.sizes_shifted and findings.sizes.disjoint, "The ranges of sizes are disjoint, and validation scores "
         "on training sizes do not measure extrapolation."),
        (findings.sizes_shifted and findings.sparsity.kind == "sparse", "The graphs are sparse, and Theorem 1 does not "
         "apply."),
        (findings.sizes.detectable > MAX_UNDETECTED_DISTANCE, "There are few graphs, and a shift may go undetected."),
    )  # fmt: skip
    return tuple(sentence for applies, sentence in rules if applies)
