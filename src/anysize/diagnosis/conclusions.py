"""The conclusions in words: what it comes to, what the label is about, what to do."""

from __future__ import annotations

from collections.abc import Iterator

from anysize.diagnosis.advice import Advice
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.labels import LabelNature, RateBin
from anysize.diagnosis.phrases import p_value, percent

SEES = {
    "chance": "nothing but the rates of the classes",
    "size": "the number of vertices",
    "shares": "densities of patterns",
    "shares and size": "both",
    "counts": "numbers of patterns",
    "shape": "densities, colors ignored",
    "connected shares": "shares of connected subsets",
}
ANSWERS = {
    "intensive": "intensive, about composition",
    "extensive": "extensive, about size or amounts",
    "cannot tell": "cannot tell whether it is about composition or amounts",
}
PER_VERTEX = {"shares": "numbers of patterns per vertex", "shape": "the same, colors ignored"}


def headline(found: Findings) -> str:
    """What differs, in one sentence."""
    alike = "the graphs are like those of training" if found.graphs[1] > 1 else "the graph is like those of training"
    if not (found.sizes_moved or found.colors_moved or found.beyond_size or found.found("colored densities")):
        return f"No shift found: as far as can be seen, {alike}."
    parts = ["in size"] if found.sizes_moved else []
    if found.colors_moved:
        parts.append("in the mix of colors" + (", among exchangeable ones" if found.within_roles else ""))
    if found.beyond_size:
        parts.append("in densities beyond what sizes explain" if found.sizes_moved else "in densities")
    elif found.found("colored densities") and not found.colors_moved:
        parts.append("in colored patterns")
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"The new graph{' differs' if found.graphs[1] == 1 else 's differ'} {listed}."


def label_section(label: LabelNature) -> tuple[str, tuple[str, ...]]:
    """Answer and sentences about the label."""
    return ANSWERS[label.verdict], tuple(_label(label))


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
            f"From the smallest training graphs ({_sizes(first)} vertices) to the largest "
            f"({_sizes(last)}), the share of class {label.classes[place]} goes from "
            f"{percent(first.shares[place])} to {percent(last.shares[place])} (any dependence on size: "
            f"{p_value(label.moves_p)})."
        )
    if label.shape_suffices is not None:
        add = label.comparison("shape", "shares", "right")
        alone, both = label.probe("shape").accuracy, label.probe("shares").accuracy
        points = f"{100 * abs(add.gain):.0f} ± {100 * add.standard_error:.0f} points"
        yield (
            f"Shape alone has {100 * alone:.0f} % of the held-out graphs right, shape and colors {100 * both:.0f} %: "
            f"{points} {'more' if add.gain >= 0 else 'less'} (graph by graph, ± one standard error). Shape alone "
            f"{'nearly suffices' if label.shape_suffices else 'cannot be said to suffice'}."
        )
    if label.probes:
        yield (
            "The probes: logistic regressions that predict held-out training graphs from a few numbers each. The lower "
            "the log loss the better; right is the share of graphs classified right."
        )


def probe_rows(label: LabelNature, sparse: bool) -> list[tuple[str, str, str, str]]:
    """The probes as a table: name, what it sees, log loss, right."""
    sees = SEES | (PER_VERTEX if sparse else {})
    return [(one.name, sees[one.name], f"{one.log_loss:.3f}", f"{100 * one.accuracy:.0f} %") for one in label.probes]


def trust_sentence(advice: Advice) -> str:
    """How far predictions can be trusted."""
    if advice.method is None:
        return "There is nothing to trust yet."
    return {
        "as in validation": "Nothing found speaks against trusting its validation score.",
        "with care": "Its validation score may not carry over to these graphs.",
        "do not trust": "Do not trust predictions on these graphs before some of them are checked.",
    }[advice.trust]


def advice_section(advice: Advice) -> tuple[str, tuple[str, ...]]:
    """Answer and sentences about what to do."""
    told = [f"Use {advice.method}: {advice.call}."] if advice.method else ["No method is advised."]
    told += [*advice.reasons, trust_sentence(advice), *advice.cautions]
    if advice.others:
        beside = "Beside it" if advice.method else "To try"
        told.append(f"{beside}: {'; '.join(f'{name} ({why})' for name, why in advice.others)}.")
    return answer(advice), tuple(told)


def answer(advice: Advice) -> str:
    """What to do, in a few words."""
    if advice.method is None:
        return "no method can be advised yet"
    return advice.method if advice.trust != "do not trust" else f"{advice.method}, but do not trust it unchecked"


def _sizes(one: RateBin) -> str:
    return f"{one.smallest}" if one.smallest == one.largest else f"{one.smallest} to {one.largest}"
