"""Which method the findings speak for, and how far predictions can be trusted. Never more certain than the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from anysize.diagnosis.colors import SLIGHT
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.labels import LabelNature

Trust = Literal["as in validation", "with care", "do not trust"]

CLEAR = 0.5  # standard deviations between graphs: a shift beyond size that is more than slight
MANY_UNSEEN = 0.1  # share of vertices in colors that training never saw
UNLIKE = 0.5  # share of new graphs that no training graph is like
FEW_SEEN = 0.3  # a difference of distributions that would go unseen: too few graphs to be sure of anything


@dataclass(frozen=True)
class Advice:
    """What to use: ``method`` is the best bet even where predictions should not be trusted, None where there is none.

    ``call`` makes it (empty where there is none). ``reasons`` say why this method, ``cautions`` what speaks against
    trusting it, ``others`` which methods to run beside it. ``trust``: validation scores carry over, or may not, or do
    not.
    """

    method: str | None
    call: str
    trust: Trust
    reasons: tuple[str, ...]
    cautions: tuple[str, ...]
    others: tuple[tuple[str, str], ...]


def advise(found: Findings) -> Advice:
    """The method, why, and what speaks against it."""
    method, settings, reasons = _method(found)
    cautions, trust = _cautions(found)
    others = tuple(_others(found, method))
    if method is None:
        return Advice(None, "", "do not trust", tuple(reasons), tuple(cautions), others)
    arguments = [f'"{method}"', *([f"k={found.k}"] if _counts(method) else []), *settings]
    call = f"az.GraphClassifier({', '.join(arguments)})"
    return Advice(method, call, trust, tuple(reasons), tuple(cautions), others)


def _counts(method: str) -> bool:
    return method.startswith("gamma") or method in ("topology-only", "gc-kernel")


def _method(found: Findings) -> tuple[str | None, list[str], list[str]]:
    """Name, settings, reasons; no name where nothing speaks for any."""
    label = found.label
    nature = None if label is None else label.verdict
    if label is not None and len(label.classes) == 1:
        return None, [], ["All training graphs have one class, so that there is nothing to learn from them."]
    if not (found.sizes_moved or found.colors_moved):
        asked = "sizes" if found.colors is None else "sizes or colors"
        why = f"No shift of {asked} was found, so that methods made for such shifts have nothing to add."
        more = "A plain GNN on whole graphs, or the WL kernel, sees more than patterns do."
        return "gin-sum", [], [why, more, *([_nothing(found, label)] if _unpredicted(label) else [])]
    if label is not None and label.densities_learn is False:
        return _without_densities(found, label)
    if found.sizes_moved and nature == "extensive":
        return "wl-kernel", [], [
            "The sizes shift and the label is extensive on the training graphs: it depends on amounts, which densities "
            "divide out. A kernel on counts keeps them.",
        ]  # fmt: skip
    if found.colors_moved and found.within_roles is False and label is not None and label.shape_suffices:
        return "topology-only", [], [
            f"Colors shift, and not only among exchangeable ones; the bare shape cannot be misled by colors, and "
            f"nearly suffices: {_shape(label)}.",
        ]  # fmt: skip
    settings, reasons = _gamma(found)
    return "gamma-gin", settings, reasons


def _unpredicted(label: LabelNature | None) -> bool:
    """Whether nothing that was tried predicts the label."""
    return label is not None and label.densities_learn is False and label.amounts is None


def _without_densities(found: Findings, label: LabelNature) -> tuple[str | None, list[str], list[str]]:
    """What follows where methods on densities cannot learn the label."""
    if label.amounts is None:
        return None, [], [_nothing(found, label)]
    chance, density, best = (label.probe(name) for name in ("chance", label.density_probe, label.amounts))
    better = "little better" if label.comparison("chance", density.name).sure else "no better"
    reason = (
        f"Methods on densities (gamma-gin and its like) cannot learn this label: densities predict held-out training "
        f"graphs {better} than chance does (log loss {density.log_loss:.3f}, chance {chance.log_loss:.3f}), and "
        f"{label.amounts} {'does' if best.name == 'size' else 'do'} ({best.log_loss:.3f})."
    )
    if label.amounts == "size":
        return "size-only", [], [
            reason,
            "If the label is truly about size, size-only has learned it, and no method needs to know more. If sizes "
            "and classes merely go together in the training graphs, nothing can be learned from them about other "
            "sizes.",
        ]  # fmt: skip
    return "wl-kernel", [], [
        reason,
        "If the label is truly about amounts, a method on counts can learn it: a kernel on counts, or a GNN that adds "
        "up its vertices.",
    ]  # fmt: skip


def _nothing(found: Findings, label: LabelNature | None) -> str:
    assert label is not None
    known = {one.name: f"{one.log_loss:.3f}" for one in label.probes}
    losses = f"{known['size']}, {known[label.density_probe]}, {known['counts']}; chance {known['chance']}"
    return (
        f"Neither size nor densities nor counts of patterns of up to {found.k} vertices predict the labels of held-out "
        f"training graphs better than chance (log loss {losses}): there are too few graphs, or the label is about "
        "something else. First find a method that beats chance on graphs like those of training."
    )


def _shape(label: LabelNature) -> str:
    """What shape alone reaches, beside shape with colors, on the graphs of both."""
    alone, both = label.probe("shape").accuracy, label.probe("shares").accuracy
    add = label.comparison("shape", "shares", "right")
    points = f"{100 * abs(add.gain):.0f} ± {100 * add.standard_error:.0f} points {'more' if add.gain >= 0 else 'less'}"
    return f"{100 * alone:.0f} % of held-out training graphs right, with colors {100 * both:.0f} %, {points}"


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
    if found.colors is None:
        return settings, reasons
    if not found.colors_moved and found.colors.expected >= SLIGHT:
        reasons.append(
            "No shift of colors was found, but one could go unseen among so few graphs: the attribute penalty stays."
        )
    elif not found.colors_moved:
        settings.append("penalty=0")
        reasons.append("Colors hardly shift, so that they can be read at face value: no attribute penalty.")
    elif found.within_roles:
        reasons.append(
            "Colors shift among exchangeable ones only: the robust recipe reads colors by role and penalizes what "
            "recoloring changes."
        )
    elif found.within_roles is None:
        reasons.append("Colors shift: the attribute penalty of the robust recipe makes a model lean on them less.")
    else:
        reasons.append(
            "Colors shift, and not only among exchangeable ones: the attribute penalty of the robust recipe makes a "
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
    elif found.found("colored densities") and not found.colors_moved:
        doubt(1, "Colored patterns differ beyond what sizes and color shares explain; score some new graphs by hand.")
    if found.colors is not None and found.colors.unseen_share >= MANY_UNSEEN:
        share = f"{found.colors.unseen_share:.0%}"
        doubt(2, f"{share} of the vertices have colors that training never saw, about which nothing was learned.")
    if found.within_roles is False:
        doubt(1, "The mix of colors itself has changed: if the label depends on it, the rate of classes changes too.")
    elif found.colors_moved and found.within_roles is None:
        doubt(1, "Whether colors shift among exchangeable ones only is not known.")
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
    if found.label is not None and found.label.densities_learn is False and found.label.amounts is not None:
        doubt(2 if found.sizes.verdict == "disjoint" else 1,
              "Nothing extrapolates for free: beyond the sizes of training, what goes by size or amounts takes "
              "for granted that the label goes on as it did, and may give all new graphs one class.")  # fmt: skip
    elif nature == "extensive":
        doubt(1, "Counts of the new graphs lie outside what training saw; no theory covers that.")
    elif nature == "cannot tell" and not _unpredicted(found.label):
        doubt(1, "Whether the label depends on composition or on amounts decides between densities and counts, and the "
              "training graphs do not settle it.")  # fmt: skip
    elif nature is None:
        doubt(1, "Nothing is known about the label; with classes of the training graphs this would say more.")
    if found.sparsity.kind == "sparse":
        doubt(1, "Theorem 1 does not cover sparse graphs.")


def _others(found: Findings, method: str | None) -> Iterator[tuple[str, str]]:
    """What to run beside the method, and what it would show."""
    label = found.label
    if found.sizes_moved and label is not None and label.moves_p is not None and method not in (None, "size-only"):
        yield "size-only", "what size alone predicts: a method that does no better has learned no more"
    if method == "gamma-gin":
        if found.sizes_moved and label is not None and label.verdict == "cannot tell":
            yield "wl-kernel", "counts instead of densities: the better bet if the label depends on amounts"
        yield "gamma-rpgin", "the same with a more expressive GNN on the patterns"
        if found.colors is None:
            yield "topology-only", "logistic regression on the densities, which needs least"
        elif label is not None and label.shape_suffices:
            yield "topology-only", f"the bare shape, which colors cannot mislead: {_shape(label)}"
    if label is not None and label.densities_learn is False:
        yield from _beside_amounts(label, method)
    elif method == "wl-kernel":
        yield "gamma-gin", "densities: if it does as well, the label is not as extensive as it looks"
    if method == "gin-sum":
        yield "wl-kernel", "a kernel on counts, often as good and faster"
    if method == "topology-only":
        yield "gamma-gin", "with the attribute penalty: colors used with restraint"


def _beside_amounts(label: LabelNature, method: str | None) -> Iterator[tuple[str, str]]:
    """What to try where methods on densities cannot learn the label."""
    if method == "size-only":
        yield "wl-kernel", "a kernel on counts: worth it only if it beats size-only on held-out training graphs"
        if label.comparison("chance", label.density_probe).sure:
            yield "gamma-gin", "densities: they say little, but all there is if sizes and classes merely go together"
    elif method == "wl-kernel":
        yield "gin-sum", "another method on amounts"
    elif method is None:
        yield "gin-sum", "a GNN on whole graphs, which sees more than patterns; it may beat chance in validation"
