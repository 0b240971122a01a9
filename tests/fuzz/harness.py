"""Attack one target with one input, and say what happened."""

from __future__ import annotations

import os
import shutil
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzz.targets import Target

from anysize._errors import CountWarning, GraphWarning, RecordWarning

LONGEST_SENTENCE = 600  # characters
SECONDS = 20  # for one input


@dataclass
class Tally:
    """What became of the inputs of one target."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, problem: str | None, accepted: bool) -> None:
        self.inputs += 1
        if problem is not None:
            self.failures.append(problem)
        elif accepted:
            self.accepted += 1
        else:
            self.refused += 1


def make_input(target: Target, seed: int, number: int, folder: Path) -> Path:
    """The same input for the same seed and number."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return target.write(folder, Random(f"{seed}/{target.name}/{number}"))


def attack(target: Target, path: Path) -> tuple[str | None, bool]:
    """What is wrong with how an input was treated (None if nothing), and whether it was accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ours in (GraphWarning, CountWarning, RecordWarning):
            warnings.simplefilter("ignore", ours)
        try:
            with time_limit(SECONDS):
                target.load(path)
        except ValueError as error:
            sentence = str(error)
            if not sentence or "\n" in sentence or len(sentence) > LONGEST_SENTENCE:
                return f"not one sentence: {sentence[:300]!r}", False
            if target.names_file and str(path) not in sentence:
                return f"does not name the file: {sentence[:300]!r}", False
            return None, False
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return f"{type(error).__name__}: {str(error)[:300]!r}", False
    return None, True


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise an error after so much CPU time."""

    def expire(*_: Any) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, expire)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def written_elsewhere(watched: Path) -> list[str]:
    """Files in a folder that no input may write to: the current folder, and what names in the inputs point to."""
    found = [str(path) for path in watched.rglob("*")] + [str(path) for path in Path("/").glob("evil*")]
    return found + [str(path) for path in watched.parent.glob("evil*")]


def in_folder(folder: Path) -> None:
    """Make a folder the current one, so that files written by mistake are found."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
