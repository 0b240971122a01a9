"""What every command shares: the two consoles, one-sentence errors, progress that appears late, files written aside."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer
from rich.console import Console

from anysize.errors import TaskError

console = Console()
errors = Console(stderr=True)


@contextmanager
def text_file(out: Path | None) -> Iterator[IO[str]]:
    from anysize.counting.archive import aside

    if out is None:
        yield sys.stdout
        return
    with aside(str(out)) as part, open(part, "w", encoding="utf-8") as file:
        yield file


@contextmanager
def plain_errors() -> Iterator[None]:
    """Bad input ends in one sentence on standard error and exit code 1; warnings are one line each."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        errors.print(f"Note: {message}", style="yellow", highlight=False, markup=False, soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (ValueError, OverflowError, OSError, ImportError, MemoryError, TaskError) as error:
            text = str(error) or type(error).__name__
            errors.print(f"Error: {text}", style="red", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            errors.print("Stopped.", style="yellow")
            raise typer.Exit(130) from None


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
