"""The findings in words: sections with a heading and sentences, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anysize.diagnosis.advice import Advice
from anysize.diagnosis.colors import ColorShift
from anysize.diagnosis.conclusions import advice_section, label_section
from anysize.diagnosis.densities import Family, PatternShift
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.gaps import MeasuredGap
from anysize.diagnosis.phrases import LISTED, number, p_value, percent, plural, some, span, upto
from anysize.diagnosis.sizes import SizeShift
from anysize.theory.bounds import KINDS
from anysize.theory.summary import TITLES

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
    if found.colors is not None:
        made.append(Section("Colors", *_colors(found, found.colors)))
    made.append(Section("Densities", *_densities(found)))
    made.append(Section("Theorem 1", *_theorem(found.gap, found.sparsity.kind == "sparse", found.colors_moved)))
    if found.label is not None:
        made.append(Section("Label", *label_section(found.label)))
    made.append(Section("What to do", *advice_section(advice)))
    return tuple(made)


def _sizes(shift: SizeShift, moved: bool, single: bool) -> tuple[str, tuple[str, ...]]:
    medians = f"median {number(shift.new[2])} vertices, training {number(shift.train[2])}"
    ranges = f"{span(shift.new)}, training {span(shift.train)}"
    test = f"The distribution functions differ by up to {shift.ks:.2f} ({p_value(shift.p)})."
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
        within = f"{percent(shift.within)} of them lie within the sizes seen in training."
    whole = f"{number(shift.new[2])} vertices; training {span(shift.train)}, median {number(shift.train[2])}"
    sentence = (
        f"The new graph is {compared} ({whole})."
        if single
        else (f"The new graphs are {compared} ({medians}; {ranges}).")
    )
    return f"{shift.verdict}, {compared}", (sentence, within, test)


def _colors(found: Findings, shift: ColorShift) -> tuple[str, tuple[str, ...]]:
    told = [
        f"The mean shares of colors differ by {shift.distance:.2f} in total variation; random regroupings of the same "
        f"graphs differ by {shift.expected:.2f} ({p_value(shift.p)})."
    ]
    if shift.unseen:
        told.append(
            f"{some(shift.unseen)} {plural(len(shift.unseen), 'is a color', 'are colors')} that no training graph "
            f"has ({percent(shift.unseen_share)} of the vertices of a new graph)."
        )
    if shift.gone:
        told.append(f"{some(shift.gone)} {plural(len(shift.gone), 'does', 'do')} not occur in the new graphs.")
    if not found.found("colors"):
        return "no shift found", tuple(told)
    if shift.slight:
        return "a slight shift", (*told, "That is more than chance, but little.")
    top = [f"{s.name} ({percent(s.train)} to {percent(s.new)})" for s in shift.shares[:LISTED]]
    told.append(f"Strongest: {', '.join(top)}.")
    if found.colors_with_size:
        told.append("Sizes may explain it: in the training graphs, too, shares of colors move with size.")
    return _roles(found, shift, told)


def _roles(found: Findings, shift: ColorShift, told: list[str]) -> tuple[str, tuple[str, ...]]:
    if shift.role_distance is None or shift.role_p is None or (shift.roles is None and found.within_roles is None):
        return "a shift", (*told, f"Whether it stays within exchangeable colors is not known: {shift.no_roles}.")
    if shift.roles is None:
        least = f"the shares of roles differ by {shift.role_distance:.2f} or more ({p_value(shift.role_p)})"
        told.append(f"Some colors are {shift.no_roles}. Whatever their roles are, {least}.")
        return "a shift beyond exchangeable colors", tuple(told)
    groups = [" and ".join(map(str, role)) for role in shift.roles if len(role) > 1]
    if not groups:
        told.append("No two colors play the same role in the training graphs, so that none can stand for another.")
        return "a shift, of colors that cannot be exchanged", tuple(told)
    told.append(
        f"In the training graphs these colors play the same role (their vertices are joined to others alike): "
        f"{'; '.join(groups[:LISTED])}."
    )
    rest = f"the shares of roles differ by {shift.role_distance:.2f} ({p_value(shift.role_p)})"
    if found.within_roles:
        little = ", which is more than chance but little" if found.found("shares of roles") else ""
        told.append(f"The shift stays within these roles, as far as can be seen: {rest}{little}.")
        return "a shift within exchangeable colors", tuple(told)
    if found.role_shares_moved:
        told.append(f"The shift goes beyond these roles: {rest}.")
        told += ["A color that training never saw counts as a role of its own."] if shift.unseen else []
    by_role = found.family("patterns by role")
    if found.found("patterns by role") and by_role is not None and not found.role_shares_moved:
        told.append(
            f"{rest[0].upper()}{rest[1:]}, but patterns by role differ ({p_value(by_role.p)}): roles have changed."
        )
    return "a shift beyond exchangeable colors", tuple(told)


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
    if found.found("colored densities") and not found.colors_moved:
        return "a shift of colored patterns", tuple(told)
    if found.shown.number("size may explain"):
        return "a shift that sizes may explain", tuple(told)
    return "no shift found", tuple(told)


def _family(family: Family, found: Findings) -> Iterator[str]:
    title = {
        "plain densities": f"plain patterns of {upto(2, found.k)} vertices, densities over subsets",
        "connected shares": f"plain patterns of {upto(3, found.k)} vertices, shares of connected subsets",
        "colored densities": "colored patterns",
        "patterns by role": "patterns colored by role",
    }[family.name]
    beyond, may, finite = family.number("beyond size"), family.number("size may explain"), family.finite
    tested = len(family.patterns)
    if not tested:
        yield f"{title.capitalize()}: none is common enough to be tested."
        return
    parts = [f"{beyond} of {tested} differ beyond what sizes explain"]
    parts += [f"{finite} differ by no more than effects of order 1/N may bring about"] if finite else []
    parts += [f"{may - finite} differ as a trend with size would allow"] if may > finite else []
    yield f"{title[0].upper()}{title[1:]}: {'; '.join(parts)} ({p_value(family.p)})."
    if finite and family is found.shown:
        most = max(item.finite / max(item.train, item.new, 1e-300) for item in family.patterns)
        yield (
            f"Groups of exactly equal size, for one, make densities differ between these sizes, by up to "
            f"{percent(min(most, 1.0))} of the largest patterns': the same model may look so."
        )
    if may > finite and family.margin is not None and family.margin > WIDE and family is found.shown:
        yield (
            f"So far from the training sizes the trend is good to a factor of {family.margin:.2g} only, which hides "
            "much."
        )
    strongest = [item for item in family.patterns if item.judgment == "beyond size"][:3]
    if family.name == "colored densities" and found.colors_moved and 2 * beyond > tested:
        yield "So they must, where colors shift."
    elif strongest:
        yield f"Strongest: {'; '.join(map(_pattern, strongest))}."


def _pattern(item: PatternShift) -> str:
    moved = f"{item.pattern} {item.train:.3g} to {item.new:.3g}"
    if item.over_predicted is not None and item.p_trend == item.p:
        moved += f", {item.over_predicted:.2g} times what the trend predicts"
    return f"{moved} ({abs(item.effect):.1f} deviations between graphs)"


def _theorem(gap: MeasuredGap, sparse: bool, colors_moved: bool) -> tuple[str, tuple[str, ...]]:
    told = [_promises(gap)]
    told.append(
        f"Measured: the mean densities of the sets differ by {gap.of_means:.3g} at most ({gap.worst}); two graphs, one "
        f"of each, by {gap.typical:.3g} on average."
    )
    if gap.predicted is not None and gap.unlike is not None and not sparse:
        told.append(
            f"Graphs of one graphon would differ by less than {gap.predicted:.2g} (95 %, from the jackknife); "
            f"{percent(gap.unlike)} of the new graphs are farther than that from every training graph."
        )
    if sparse:
        told.append(
            "In sparse graphs gaps are small because densities are; the theorem says nothing about what is left."
        )
    if colors_moved:
        told.append("The theorem is about colors that do not depend on the environment; here they do.")
    paper = [promise.vacuous for promise in gap.promises if promise.kind == "paper"]
    return ("vacuous at these sizes" if all(paper) else "says something at these sizes"), tuple(told)


def _promises(gap: MeasuredGap) -> str:
    """What each of the two bounds excludes; plain patterns and colored ones apart where they differ."""
    said = []
    for kind in KINDS:
        kept = [promise for promise in gap.promises if promise.kind == kind and not promise.vacuous]
        several = len(gap.promises) > len(KINDS)
        named = [f"gaps above {one.epsilon:.2f}" + (f" ({_kinds(one.colors)})" if several else "") for one in kept]
        said.append(f"{TITLES[kind]} " + (f"excludes {' and '.join(named)}" if named else "excludes no gap (vacuous)"))
    return f"With 95 % certainty, for graphs of {gap.sizes[0]} and {gap.sizes[1]} vertices, {' and '.join(said)}."


def _kinds(colors: int) -> str:
    return "plain patterns" if colors == 1 else f"patterns in {colors} colors"
