"""Which method the findings speak for, and how far predictions can be trusted. Never more certain than the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from anysize.diagnosis.colours import SLIGHT
from anysize.diagnosis.findings import Findings

Trust = Literal["as in validation", "with care", "do not trust"]

CLEAR = 0.5  # standard deviations between graphs: a shift beyond size that is more than slight
MANY_UNSEEN = 0.1  # share of vertices in colours that training never saw
UNLIKE = 0.5  # share of new graphs that no training graph is like
FEW_SEEN = 0.3  # a difference of distributions that would go unseen: too few graphs to be sure of anything


@dataclass(frozen=True)
class Advice:
    """What to use: ``method`` is the best bet even where predictions should not be trusted.

    ``call`` makes it. ``reasons`` say why this method, ``cautions`` what speaks against trusting it, ``others`` which
    methods to run beside it. ``trust``: validation scores carry over, or may not, or do not.
    """

    method: str
    call: str
    trust: Trust
    reasons: tuple[str, ...]
    cautions: tuple[str, ...]
    others: tuple[tuple[str, str], ...]


def advise(found: Findings) -> Advice:
    """The method, why, and what speaks against it."""
    method, settings, reasons = _method(found)
    cautions, trust = _cautions(found)
    arguments = [f'"{method}"', *([f"k={found.k}"] if _counts(method) else []), *settings]
    call = f"az.GraphClassifier({', '.join(arguments)})"
    return Advice(method, call, trust, tuple(reasons), tuple(cautions), tuple(_others(found, method)))


def _counts(method: str) -> bool:
    return method.startswith("gamma") or method in ("topology-only", "gc-kernel")


def _method(found: Findings) -> tuple[str, list[str], list[str]]:
    """Name, settings, reasons."""
    nature = None if found.label is None else found.label.verdict
    if not (found.sizes_moved or found.colours_moved):
        asked = "sizes" if found.colours is None else "sizes or colours"
        why = f"No shift of {asked} was found, so that methods made for such shifts have nothing to add."
        return "gin-sum", [], [why, "A plain GNN on whole graphs, or the WL kernel, sees more than patterns do."]
    if found.sizes_moved and nature == "extensive":
        return "wl-kernel", [], [
            "The sizes shift and the label is extensive on the training graphs: it depends on amounts, which densities "
            "divide out. A kernel on counts keeps them.",
        ]  # fmt: skip
    if found.colours_moved and found.within_roles is False and found.label is not None and found.label.shape_suffices:
        return "topology-only", [], [
            "Colours shift, and not only among exchangeable ones; the bare shape predicts the training labels as well "
            "as shape and colours together, and cannot be misled by colours.",
        ]  # fmt: skip
    settings, reasons = _gamma(found)
    return "gamma-gin", settings, reasons


def _gamma(found: Findings) -> tuple[list[str], list[str]]:
    settings: list[str] = []
    reasons: list[str] = []
    nature = None if found.label is None else found.label.verdict
    if found.sizes_moved:
        known = {
            "intensive": "The sizes shift and the label is intensive on the training graphs:",
            "cannot tell": "The sizes shift; if the label depends on composition and not on amounts (which cannot be "
            "told here),",
        }.get(nature or "", "The sizes shift; if the label depends on composition and not on amounts,")
        reasons.append(f"{known} densities of patterns carry over to other sizes and counts do not.")
        if found.sparsity.kind == "sparse":
            settings.append('over="connected"')
            reasons.append("These graphs are sparse: shares of connected subsets stay comparable, densities do not.")
    if found.colours is None:
        return settings, reasons
    if not found.colours_moved and found.colours.expected >= SLIGHT:
        reasons.append(
            "No shift of colours was found, but one could go unseen among so few graphs: the attribute penalty stays."
        )
    elif not found.colours_moved:
        settings.append("penalty=0")
        reasons.append("Colours hardly shift, so that they can be read at face value: no attribute penalty.")
    elif found.within_roles:
        reasons.append(
            "Colours shift among exchangeable ones only: the robust recipe reads colours by role and penalises what "
            "recolouring changes."
        )
    elif found.within_roles is None:
        reasons.append("Colours shift: the attribute penalty of the robust recipe makes a model lean on them less.")
    else:
        reasons.append(
            "Colours shift, and not only among exchangeable ones: the attribute penalty of the robust recipe makes a "
            "model lean on them less, but nothing here makes it immune."
        )
    return settings, reasons


def _cautions(found: Findings) -> tuple[list[str], Trust]:
    cautions: list[str] = []
    doubts = 0  # 1: with care; 2: do not trust

    def doubt(weight: int, sentence: str) -> None:
        nonlocal doubts
        doubts = max(doubts, weight)
        cautions.append(sentence)

    if found.beyond_size:
        slight = found.strongest < CLEAR
        doubt(
            1 if slight else 2,
            "Densities differ beyond what sizes explain"
            + (", though slightly: " if slight else ": ")
            + "the graphs are made differently, or their classes are mixed differently, and no method here promises "
            "anything about that. Label some of the new graphs and score predictions on them.",
        )
    elif found.found("coloured densities") and not found.colours_moved:
        doubt(1, "Coloured patterns differ beyond what sizes and colour shares explain; score some new graphs by hand.")
    if found.colours is not None and found.colours.unseen_share >= MANY_UNSEEN:
        share = f"{found.colours.unseen_share:.0%}"
        doubt(2, f"{share} of the vertices have colours that training never saw, about which nothing was learned.")
    if found.within_roles is False:
        doubt(1, "The mix of colours itself has changed: if the label depends on it, the rate of classes changes too.")
    elif found.colours_moved and found.within_roles is None:
        doubt(1, "Whether colours shift among exchangeable ones only is not known.")
    if found.gap.unlike is not None and found.gap.unlike > UNLIKE and found.sparsity.kind == "dense":
        doubt(2, f"{found.gap.unlike:.0%} of the new graphs have densities unlike those of any training graph.")
    if found.sizes_moved:
        _size_cautions(found, doubt)
    if not found.beyond_size and found.sizes.detectable > FEW_SEEN:
        doubt(1, "There are few graphs: a shift that matters could go unseen.")
    levels: tuple[Trust, ...] = ("as in validation", "with care", "do not trust")
    return cautions, levels[doubts]


def _size_cautions(found: Findings, doubt: Callable[[int, str], None]) -> None:
    nature = None if found.label is None else found.label.verdict
    if found.sizes.verdict == "disjoint":
        doubt(1, "No training graph is as " + ("large" if found.sizes.ratio > 1 else "small") + " as the new ones: "
              "validation on training sizes cannot show whether a method carries over.")  # fmt: skip
    if nature == "extensive":
        doubt(1, "Counts of the new graphs lie outside what training saw; no theory covers that.")
    elif nature == "cannot tell":
        doubt(1, "Whether the label depends on composition or on amounts decides between densities and counts, and the "
              "training graphs do not settle it.")  # fmt: skip
    elif nature is None:
        doubt(1, "Nothing is known about the label; with classes of the training graphs this would say more.")
    if found.sparsity.kind == "sparse":
        doubt(1, "Theorem 1 does not cover sparse graphs.")


def _others(found: Findings, method: str) -> Iterator[tuple[str, str]]:
    """What to run beside the method, and what it would show."""
    label = found.label
    if found.sizes_moved and label is not None and label.moves_p is not None:
        yield "size-only", "what size alone predicts: a method that does no better has learned no more"
    if method == "gamma-gin":
        if found.sizes_moved and label is not None and label.verdict == "cannot tell":
            yield "wl-kernel", "counts instead of densities: the better bet if the label depends on amounts"
        yield "gamma-rpgin", "the same with a more expressive GNN on the patterns"
        if found.colours is None:
            yield "topology-only", "logistic regression on the densities, which needs least"
        elif label is not None and label.shape_suffices:
            yield "topology-only", "the bare shape, which colours cannot mislead and which does as well in training"
    if method == "wl-kernel":
        yield "gamma-gin", "densities: if it does as well, the label is not as extensive as it looks"
    if method == "gin-sum":
        yield "wl-kernel", "a kernel on counts, often as good and faster"
    if method == "topology-only":
        yield "gamma-gin", "with the attribute penalty: colours used with restraint"
