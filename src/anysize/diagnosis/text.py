"""The report as text: headings, wrapped sentences, a table of the patterns that differ most, and one of the probes."""

from __future__ import annotations

from textwrap import fill

from anysize.diagnosis.conclusions import headline, probe_rows
from anysize.diagnosis.densities import Family
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.labels import LabelNature
from anysize.diagnosis.words import Section

WIDTH, SHOWN = 100, 6


def title(found: Findings) -> str:
    """One line about what was compared."""
    train, new = found.graphs
    return (
        f"{train} training graph{'' if train == 1 else 's'} and {new} new one{'' if new == 1 else 's'}, "
        f"patterns of up to {found.k} vertices"
    )


def as_text(found: Findings, sections: tuple[Section, ...]) -> str:
    """The whole report."""
    lines = [title(found), headline(found)]
    for section in sections:
        lines += ["", f"{section.title}: {section.answer}"]
        lines += [
            fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
            for sentence in section.sentences
        ]
        if section.title == "Densities":
            lines += _table(found.shown)
        if section.title == "Label" and found.label is not None:
            lines += _probes(found.label, found.sparsity.kind == "sparse")
    return "\n".join(lines)


def _table(family: Family) -> list[str]:
    shown = family.patterns[:SHOWN]
    if not shown:
        return []
    wide = max(7, *(len(item.pattern) for item in shown))
    return [
        f"  {'pattern':{wide}} {'training':>10} {'new':>10} {'q':>8}  judgment",
        *(f"  {i.pattern:{wide}} {i.train:10.3g} {i.new:10.3g} {i.q:8.2g}  {i.judgment}" for i in shown),
    ]


def _probes(label: LabelNature, sparse: bool) -> list[str]:
    rows = probe_rows(label, sparse)
    if not rows:
        return []
    return [
        f"  {name:16} {sees:36} {loss:>8} {right:>6}"
        for name, sees, loss, right in (("probe", "sees", "log loss", "right"), *rows)
    ]
