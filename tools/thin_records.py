"""``python -m tools.thin_records FOLDER ... --out results/records``: merge records, and keep what tables show of them.

Every run keeps its scores, validation losses and penalties under every rule, by which configurations are selected.
Runs of a configuration that some rule selects also keep labels, test predictions and all losses; these make intervals
and figures. Training curves are dropped. The folder ``--out``, if it exists, is read, too, and its files are replaced.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from anysize.evaluation.records import Outcome, Record, Scores
from anysize.evaluation.store import RecordStore
from anysize.paper.selection import RULES, grouped, select


def thin(records: Iterable[Record]) -> list[Record]:
    """The records without what no table or figure shows."""
    found = []
    for runs in grouped(records).values():
        shown = {record.key for rule in RULES.values() for record in select(runs, rule).records}
        for run in runs:
            if run.key in shown:
                found.append(replace(run, curves=None))
            else:
                others = {name: _scores(outcome) for name, outcome in run.alternatives.items()}
                found.append(replace(run, curves=None, labels="", chosen=_scores(run.chosen), alternatives=others))
    return found


def _scores(outcome: Outcome) -> Outcome:
    """What selection needs."""
    losses = Scores(validation=outcome.losses.validation)
    return Outcome(outcome.scores, losses, outcome.penalty, outcome.epoch, selected_by=outcome.selected_by)


def main(arguments: Sequence[str] | None = None) -> int:
    """Merge and thin records; returns the exit code."""
    parser = ArgumentParser("python -m tools.thin_records", description="Merge records and thin them.")
    parser.add_argument("folders", type=Path, nargs="*", help="folders of records to add")
    parser.add_argument("--out", type=Path, required=True, help="folder of thinned records")
    options = parser.parse_args(arguments)
    store = RecordStore(options.out)
    old = store.files()
    newest: dict[str, Record] = {}
    for folder in (*options.folders, options.out):
        if folder in options.folders and not folder.is_dir():
            print(f"Error: there is no folder {folder}.", file=sys.stderr)
            return 1
        for record in RecordStore(folder).read(curves=False):
            other = newest.get(record.key)
            if other is None or other.when <= record.when:
                newest[record.key] = record
    kept = store.write(thin(newest.values()))
    for path in old:
        if path != kept:
            path.unlink()
    written = store.compact()
    size = sum(path.stat().st_size for path in written)
    print(f"Wrote {len(newest):,} records, {size / 1e6:.1f} MB, to {options.out}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
