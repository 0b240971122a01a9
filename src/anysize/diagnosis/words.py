"""The findings in words: sections with a heading and sentences, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anysize.diagnosis.advice import Advice
from anysize.diagnosis.colours import ColourShift
from anysize.diagnosis.densities import Family, PatternShift
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.gaps import MeasuredGap
from anysize.diagnosis.labels import LabelNature, RateBin
from anysize.diagnosis.sizes import SizeShift
from anysize.theory.bounds import KINDS
from anysize.theory.summary import TITLES

LISTED = 5  # names in a sentence
WIDE = 1.5  # a factor by which predictions may be off before it is worth a warning


@dataclass(frozen=True)
class Section:
    """A heading, the answer in a few words, and sentences."""

    title: str
    answer: str
    sentences: tuple[str, ...]


def sections(found: Findings, advice: Advice) -> tuple[Section, ...]:
    """The whole report."""
    made = [Section("Sizes", *_sizes(found.sizes, found.sizes_moved, found.graphs[1] == 1))]
    if found.colours is not None:
        made.append(Section("Colours", *_colours(found, found.colours)))
    made.append(Section("Densities", *_densities(found)))
    made.append(Section("Theorem 1", *_theorem(found.gap, found.sparsity.kind == "sparse", found.colours_moved)))
    if found.label is not None:
        made.append(Section("Label", f"{found.label.verdict}", tuple(_label(found.label))))
    made.append(Section("What to do", *_advice(advice)))
    return tuple(made)


def _sizes(shift: SizeShift, moved: bool, single: bool) -> tuple[str, tuple[str, ...]]:
    medians = f"median {_number(shift.new[2])} vertices, training {_number(shift.train[2])}"
    ranges = f"{_range(shift.new)}, training {_range(shift.train)}"
    test = f"The distribution functions differ by up to {shift.ks:.2f} ({_p(shift.p)})."
    if not moved:
        limit = f"With these numbers of graphs, differences below about {shift.detectable:.2f} go unseen."
        limit = limit if shift.detectable < 1 else "With so few graphs, any difference may go unseen."
        return "no shift found", (f"Sizes do not differ more than by chance: {medians}.", test, limit)
    how = "larger" if shift.ratio > 1 else "smaller"
    times = max(shift.ratio, 1 / max(shift.ratio, 1e-9))
    compared = f"{times:.1f} times {how}" if times >= 1.05 else "about as large in the middle, but spread otherwise"
    if shift.verdict == "disjoint":
        within = f"{'It does not lie' if single else 'None of them lies'} within the sizes seen in training."
    else:
        within = f"{_percent(shift.within)} of them lie within the sizes seen in training."
    whole = f"{_number(shift.new[2])} vertices; training {_range(shift.train)}, median {_number(shift.train[2])}"
    sentence = (
        f"The new graph is {compared} ({whole})."
        if single
        else (f"The new graphs are {compared} ({medians}; {ranges}).")
    )
    return f"{shift.verdict}, {compared}", (sentence, within, test)


def _colours(found: Findings, shift: ColourShift) -> tuple[str, tuple[str, ...]]:
    told = [
        f"The mean shares of colours differ by {shift.distance:.2f} in total variation; random regroupings of the same "
        f"graphs differ by {shift.expected:.2f} ({_p(shift.p)})."
    ]
    if shift.unseen:
        told.append(
            f"{_some(shift.unseen)} {_plural(len(shift.unseen), 'is a colour', 'are colours')} that no training graph "
            f"has ({_percent(shift.unseen_share)} of the vertices of a new graph)."
        )
    if shift.gone:
        told.append(f"{_some(shift.gone)} {_plural(len(shift.gone), 'does', 'do')} not occur in the new graphs.")
    if not found.found("colours"):
        return "no shift found", tuple(told)
    if shift.slight:
        return "a slight shift", (*told, "That is more than chance, but little.")
    top = [f"{s.name} ({_percent(s.train)} to {_percent(s.new)})" for s in shift.shares[:LISTED]]
    told.append(f"Strongest: {', '.join(top)}.")
    if found.colours_with_size:
        told.append("Sizes may explain it: in the training graphs, too, shares of colours move with size.")
    return _roles(found, shift, told)


def _roles(found: Findings, shift: ColourShift, told: list[str]) -> tuple[str, tuple[str, ...]]:
    if shift.role_distance is None or shift.role_p is None or (shift.roles is None and found.within_roles is None):
        return "a shift", (*told, f"Whether it stays within exchangeable colours is not known: {shift.no_roles}.")
    if shift.roles is None:
        least = f"the shares of roles differ by {shift.role_distance:.2f} or more ({_p(shift.role_p)})"
        told.append(f"Some colours are {shift.no_roles}. Whatever their roles are, {least}.")
        return "a shift beyond exchangeable colours", tuple(told)
    groups = [" and ".join(map(str, role)) for role in shift.roles if len(role) > 1]
    if not groups:
        told.append("No two colours play the same role in the training graphs, so that none can stand for another.")
        return "a shift, of colours that cannot be exchanged", tuple(told)
    told.append(
        f"In the training graphs these colours play the same role (their vertices are joined to others alike): "
        f"{'; '.join(groups[:LISTED])}."
    )
    rest = f"the shares of roles differ by {shift.role_distance:.2f} ({_p(shift.role_p)})"
    if found.within_roles:
        little = ", which is more than chance but little" if found.found("shares of roles") else ""
        told.append(f"The shift stays within these roles, as far as can be seen: {rest}{little}.")
        return "a shift within exchangeable colours", tuple(told)
    if found.role_shares_moved:
        told.append(f"The shift goes beyond these roles: {rest}.")
        told += ["A colour that training never saw counts as a role of its own."] if shift.unseen else []
    by_role = found.family("patterns by role")
    if found.found("patterns by role") and by_role is not None and not found.role_shares_moved:
        told.append(f"{rest[0].upper()}{rest[1:]}, but patterns by role differ ({_p(by_role.p)}): roles have changed.")
    return "a shift beyond exchangeable colours", tuple(told)


def _densities(found: Findings) -> tuple[str, tuple[str, ...]]:
    sparsity = found.sparsity
    told = []
    if any(found.too_small):
        train, new = (f"{few} of {all}" for few, all in zip(found.too_small, found.graphs, strict=True))
        told.append(f"Graphs of fewer than {found.k} vertices are left out here: {train} in training, {new} new ones.")
    falls = "" if sparsity.exponent is None else f" (edge density goes as N^{sparsity.exponent:.2f})"
    if sparsity.kind == "sparse":
        told.append(
            f"These graphs are sparse{falls}: densities over subsets go to 0 as graphs grow, whatever else happens, so "
            "that shares of connected subsets are judged as well."
        )
    elif sparsity.kind == "cannot tell":
        told.append(
            f"Whether these graphs become sparser as they grow cannot be told{falls}; if they do, densities fall with "
            "size by themselves, and a difference below may be no more than that."
        )
    for family in found.families:
        told += _family(family, found)
    if found.beyond_size and found.label is not None:
        other = (
            "Another mix of classes in the new graphs" if len(found.label.classes) != 1 else "Graphs of other classes"
        )
        told.append(f"{other} would look the same.")
    if found.beyond_size:
        return "a shift beyond what sizes explain", tuple(told)
    if found.found("coloured densities") and not found.colours_moved:
        return "a shift of coloured patterns", tuple(told)
    if found.shown.number("size may explain"):
        return "a shift that sizes may explain", tuple(told)
    return "no shift found", tuple(told)


def _family(family: Family, found: Findings) -> Iterator[str]:
    title = {
        "plain densities": f"plain patterns of {_upto(2, found.k)} vertices, densities over subsets",
        "connected shares": f"plain patterns of {_upto(3, found.k)} vertices, shares of connected subsets",
        "coloured densities": "coloured patterns",
        "patterns by role": "patterns coloured by role",
    }[family.name]
    beyond, may, finite = family.number("beyond size"), family.number("size may explain"), family.finite
    tested = len(family.patterns)
    if not tested:
        yield f"{title.capitalize()}: none is common enough to be tested."
        return
    parts = [f"{beyond} of {tested} differ beyond what sizes explain"]
    parts += [f"{finite} differ by no more than effects of order 1/N may bring about"] if finite else []
    parts += [f"{may - finite} differ as a trend with size would allow"] if may > finite else []
    yield f"{title[0].upper()}{title[1:]}: {'; '.join(parts)} ({_p(family.p)})."
    if finite and family is found.shown:
        most = max(item.finite / max(item.train, item.new, 1e-300) for item in family.patterns)
        yield (
            f"Groups of exactly equal size, for one, make densities differ between these sizes, by up to "
            f"{_percent(min(most, 1.0))} of the largest patterns': the same model may look so."
        )
    if may > finite and family.margin is not None and family.margin > WIDE and family is found.shown:
        yield (
            f"So far from the training sizes the trend is good to a factor of {family.margin:.2g} only, which hides "
            "much."
        )
    strongest = [item for item in family.patterns if item.judgement == "beyond size"][:3]
    if family.name == "coloured densities" and found.colours_moved and 2 * beyond > tested:
        yield "So they must, where colours shift."
    elif strongest:
        yield f"Strongest: {'; '.join(map(_pattern, strongest))}."


def _pattern(item: PatternShift) -> str:
    moved = f"{item.pattern} {item.train:.3g} to {item.new:.3g}"
    if item.over_predicted is not None and item.p_trend == item.p:
        moved += f", {item.over_predicted:.2g} times what the trend predicts"
    return f"{moved} ({abs(item.effect):.1f} deviations between graphs)"


def _theorem(gap: MeasuredGap, sparse: bool, colours_moved: bool) -> tuple[str, tuple[str, ...]]:
    told = [_promises(gap)]
    told.append(
        f"Measured: the mean densities of the sets differ by {gap.of_means:.3g} at most ({gap.worst}); two graphs, one "
        f"of each, by {gap.typical:.3g} on average."
    )
    if gap.predicted is not None and gap.unlike is not None and not sparse:
        told.append(
            f"Graphs of one graphon would differ by less than {gap.predicted:.2g} (95 %, from the jackknife); "
            f"{_percent(gap.unlike)} of the new graphs are farther than that from every training graph."
        )
    if sparse:
        told.append(
            "In sparse graphs gaps are small because densities are; the theorem says nothing about what is left."
        )
    if colours_moved:
        told.append("The theorem is about colours that do not depend on the environment; here they do.")
    paper = [promise.vacuous for promise in gap.promises if promise.kind == "paper"]
    return ("vacuous at these sizes" if all(paper) else "says something at these sizes"), tuple(told)


def _promises(gap: MeasuredGap) -> str:
    """What each of the two bounds excludes; plain patterns and coloured ones apart where they differ."""
    said = []
    for kind in KINDS:
        kept = [promise for promise in gap.promises if promise.kind == kind and not promise.vacuous]
        several = len(gap.promises) > len(KINDS)
        named = [f"gaps above {one.epsilon:.2f}" + (f" ({_kinds(one.colours)})" if several else "") for one in kept]
        said.append(f"{TITLES[kind]} " + (f"excludes {' and '.join(named)}" if named else "excludes no gap (vacuous)"))
    return f"With 95 % certainty, for graphs of {gap.sizes[0]} and {gap.sizes[1]} vertices, {' and '.join(said)}."


def _kinds(colours: int) -> str:
    return "plain patterns" if colours == 1 else f"patterns in {colours} colours"


def _label(label: LabelNature) -> Iterator[str]:
    reason = f"{label.reason[0].upper()}{label.reason[1:]}."
    yield {
        "intensive": f"As far as the training graphs tell, the label depends on composition, not on amounts. {reason}",
        "extensive": f"As far as the training graphs tell, the label depends on amounts. {reason}",
        "cannot tell": f"Whether the label depends on composition or on amounts cannot be told. {reason}",
    }[label.verdict]
    if label.moves_p is not None and len(label.rates) > 1:
        first, last = label.rates[0], label.rates[-1]
        moved = [after - before for before, after in zip(first.shares, last.shares, strict=True)]
        place = max(range(len(moved)), key=lambda c: abs(moved[c]))
        yield (
            f"From the smallest training graphs ({_span(first)} vertices) to the largest "
            f"({_span(last)}), the share of class {label.classes[place]} goes from "
            f"{_percent(first.shares[place])} to {_percent(last.shares[place])} (any dependence on size: "
            f"{_p(label.moves_p)})."
        )
    if label.probes:
        listed = ", ".join(f"{probe.name} {probe.log_loss:.3f}" for probe in label.probes)
        yield f"Log loss of logistic regressions on held-out training graphs: {listed}."


def _advice(advice: Advice) -> tuple[str, tuple[str, ...]]:
    trust = {
        "as in validation": "Nothing found speaks against trusting its validation score.",
        "with care": "Its validation score may not carry over to these graphs.",
        "do not trust": "Do not trust predictions on these graphs before some of them are checked.",
    }[advice.trust]
    told = [f"Use {advice.method}: {advice.call}.", *advice.reasons, trust, *advice.cautions]
    if advice.others:
        told.append(f"Beside it: {'; '.join(f'{name} ({why})' for name, why in advice.others)}.")
    answer = advice.method if advice.trust != "do not trust" else f"{advice.method}, but do not trust it unchecked"
    return answer, tuple(told)


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.995 else "p = 1"


def _percent(share: float) -> str:
    if 0 < share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def _number(value: float) -> str:
    return f"{value:g}" if value < 1e5 else f"{value:,.0f}"


def _range(five: tuple[float, ...]) -> str:
    return _number(five[0]) if five[0] == five[-1] else f"{_number(five[0])} to {_number(five[-1])}"


def _some(names: Iterable[object]) -> str:
    listed = list(map(str, names))
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return ", ".join(listed[:LISTED]) + more


def _span(one: RateBin) -> str:
    return f"{one.smallest}" if one.smallest == one.largest else f"{one.smallest} to {one.largest}"


def _upto(low: int, high: int) -> str:
    return f"{low} to {high}" if high > low else f"{high}"


def _plural(amount: int, one: str, many: str) -> str:
    return one if amount == 1 else many
