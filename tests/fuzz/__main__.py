"""`make fuzz N=20000`: attack every reader and loader with so many inputs, and print a tally.

An input is determined by seed, target and number. Inputs that are not accepted or refused in one sentence that names
the file are saved in a folder. Every target is attacked in processes of its own: a crash ends one of them and is a
failure of the input it was working on.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.harness import Tally, attack, in_folder, make_input, written_elsewhere
from fuzz.targets import Target, all_targets

MEMORY = 6 << 30  # bytes of address space that a process may take in addition
INPUTS_PER_PROCESS = 500


def run_target(target: Target, inputs: int, seed: int, work: Path, saved: Path) -> Tally:
    """Attack one target; failures are saved."""
    tally = Tally()
    while tally.inputs < inputs:
        before = tally.inputs
        until = min(before + INPUTS_PER_PROCESS, inputs)
        log = work / "log.jsonl"
        log.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                _attack_all(target, range(before, until), seed, work, log)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        for number, (problem, accepted) in enumerate(lines, before):
            tally.add(problem, accepted)
            if problem is not None:
                tally.failures[-1] = f"{number}: {problem}"
                _save(target, seed, number, saved)
        if status:
            number = before + len(lines)
            tally.add(f"{number}: the process ended with {status}", False)
            _save(target, seed, number, saved)
    return tally


def _attack_all(target: Target, numbers: range, seed: int, work: Path, log: Path) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(log, "w") as file:
        for number in numbers:
            path = make_input(target, seed, number, work / "input")
            file.write(json.dumps(attack(target, path)) + "\n")
            file.flush()


def _save(target: Target, seed: int, number: int, saved: Path) -> None:
    make_input(target, seed, number, saved / f"{target.name.replace(' ', '-')}-{seed}-{number}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="inputs, divided among the targets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="targets whose names contain this")
    parser.add_argument("--saved", type=Path, default=Path("fuzz-failures"), help="where failing inputs are saved")
    options = parser.parse_args()
    saved = options.saved.resolve()
    import anysize as az

    with tempfile.TemporaryDirectory() as folder:
        made, work, elsewhere = (Path(folder) / name for name in ("made", "work", "elsewhere"))
        made.mkdir()
        work.mkdir()
        targets = [one for one in all_targets(made, tuple(az.METHODS)) if (options.only or "") in one.name]
        in_folder(elsewhere)
        began, total = time.process_time() + sum(os.times()[2:4]), Tally()
        print(f"{'target':<22}{'inputs':>8}{'accepted':>10}{'refused':>9}{'failures':>10}")
        for place, target in enumerate(targets):
            share = options.n * (place + 1) // len(targets) - options.n * place // len(targets)
            tally = run_target(target, share, options.seed, work, saved)
            print(f"{target.name:<22}{tally.inputs:>8}{tally.accepted:>10}{tally.refused:>9}{len(tally.failures):>10}")
            for failure in tally.failures[:5]:
                print(f"    {failure}")
            sys.stdout.flush()
            total.inputs += tally.inputs
            total.accepted += tally.accepted
            total.refused += tally.refused
            total.failures += tally.failures
        seconds = time.process_time() + sum(os.times()[2:4]) - began
        print(f"{'all':<22}{total.inputs:>8}{total.accepted:>10}{total.refused:>9}{len(total.failures):>10}")
        stray = written_elsewhere(elsewhere)
        print(f"seed {options.seed}, {seconds:.0f} s of CPU time; {len(stray)} files written elsewhere")
        os.chdir("/")
    if total.failures:
        print(f"The inputs that failed are in {saved}.")
    else:
        shutil.rmtree(saved, ignore_errors=True)
    return 1 if total.failures or stray else 0


if __name__ == "__main__":
    sys.exit(main())
