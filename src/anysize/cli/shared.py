"""What commands share: consoles, one-sentence errors, late progress, files written aside, options that are lists."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer
from rich.console import Console

from anysize._errors import PartialResultError
from anysize._files import aside, unwritable

if TYPE_CHECKING:
    from anysize.graphs.graphset import GraphSet

MAX_SEED = 2**32 - 1  # the largest that numpy, scikit-learn and torch all take
_ALLOCATION = re.compile(  # as torch and numpy put it
    r"(can't|unable to) allocate|not enough memory|out of memory|size calculation overflowed", re.IGNORECASE
)


class _Console(Console):
    """A console that tells the command when no one reads its output any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


console = _Console()
errors = _Console(stderr=True)


@contextmanager
def text_file(out: Path | None) -> Iterator[IO[str]]:
    """Where a command writes text: a file that appears when all has been written, or standard output."""
    if out is None:
        yield sys.stdout
        return
    with aside(out) as part, open(part, "w", encoding="utf-8") as file:
        yield file


@contextmanager
def plain_errors() -> Iterator[None]:
    """Bad input ends in one sentence on standard error and exit code 1; warnings are one line each."""

    def show(message: Any, category: type[Warning], filename: str, *_: Any, **__: Any) -> None:
        if _is_ours(category, filename):
            note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield
            sys.stdout.flush()  # a pipe that is closed is noticed here, not when Python ends
        except BrokenPipeError:
            _hang_up()
            raise typer.Exit(0) from None
        except (ValueError, OverflowError, OSError, ImportError, MemoryError, RuntimeError) as error:
            sentence = _sentence(error)
            if sentence is None:
                raise
            errors.print(f"Error: {sentence}", style="red", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            errors.print("Stopped.", style="yellow")
            raise typer.Exit(130) from None


def _is_ours(category: type[Warning], filename: str) -> bool:
    """Whether a warning is meant for the user of a command: other libraries warn those who write programs."""
    if category.__module__.partition(".")[0] == "anysize":
        return True
    return issubclass(category, UserWarning) and Path(filename).is_relative_to(Path(__file__).parents[1])


def _sentence(error: Exception) -> str | None:
    """What went wrong, for someone who does not read Python; None for a mistake of the program itself."""
    text = str(error)
    if isinstance(error, MemoryError) and not text:
        return "there is not enough memory for this."
    if isinstance(error, (MemoryError, RuntimeError)) and _ALLOCATION.search(text):
        asked = re.search(r"allocate (\d[\d.]* ?[a-zA-Z]+)", text)
        tried = "" if asked is None else f" ({asked[1]} at once)"
        return f"there is not enough memory for this{tried}; take smaller settings, or fewer graphs at a time."
    if isinstance(error, RuntimeError) and not isinstance(error, PartialResultError):
        return None
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return text or type(error).__name__


def _hang_up() -> None:
    """Point the streams that no one reads to nowhere, so that Python can flush them when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def late_progress(what: str, after: float = 2.0) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error that appears only when the work takes longer than two seconds."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    bar = Progress(*columns, console=errors, transient=True)
    task = bar.add_task(what, total=1.0)
    began = time.monotonic()

    def report(done: float) -> None:
        if not bar.live.is_started and time.monotonic() - began > after and done < 1:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()


def check_out(out: Path | None, option: str = "--out") -> None:
    """Refuse, before any work, a file that could not be written after it."""
    problem = None if out is None else unwritable(out)
    if problem is not None:
        raise ValueError(f"{option} {problem}.")


def note(sentence: str) -> None:
    errors.print(f"Note: {sentence}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def split_names(text: str | None) -> list[str] | None:
    """Names between commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse_sizes(text: str) -> list[int]:
    """5, 3,4 or 1-4 as a list."""
    sizes: list[int] = []
    try:
        for part in text.split(","):
            low, _, high = part.strip().partition("-")
            sizes += range(int(low), int(high or low) + 1)
    except ValueError:
        sizes = []
    if not sizes:
        raise ValueError(f"--k takes a pattern size from 1 to 7, or several such as 3,4 or 1-4; got {text!r}.")
    return sizes


def read_input(file: Path, colors: bool) -> GraphSet:
    """The graphs of a file, with their colors or without."""
    from anysize import read_graphs

    graphs = read_graphs(file)
    return graphs if colors else graphs.without_colors()


def read_labels(file: Path, graphs: GraphSet) -> list[Any]:
    """One class per line, or 'graph name,class' in any order; whole numbers become numbers."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"--labels takes a text file in UTF-8 with one class per line; {file} is none.") from None
    except OSError as error:
        raise ValueError(f"--labels {file} cannot be read: {error.strerror}.") from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if graphs.names is not None and lines and all("," in line for line in lines):
        split = [line.rsplit(",", 1) for line in lines]
        pairs = {name.strip(): label.strip() for name, label in split}
        missing = [name for name in graphs.names if name not in pairs]
        if missing:
            raise ValueError(f"{file} has no line for graph {missing[0]!r}; every graph needs one, 'name,class'.")
        lines = [pairs[name] for name in graphs.names]
    if len(lines) != len(graphs):
        raise ValueError(f"{file} has {len(lines)} classes and there are {len(graphs)} graphs; one line for each.")
    try:
        return [int(line) for line in lines]
    except ValueError:
        return lines
