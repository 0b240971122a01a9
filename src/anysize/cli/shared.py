"""Helpers of all commands: consoles, error messages, progress bars, output files, options that hold lists."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import partial
from io import StringIO, TextIOWrapper
from json import JSONDecodeError, loads
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from anysize._errors import PartialResultError, missing_package
from anysize._files import FIGURE_ENDINGS, PAGE_ENDINGS, atomic_write, check_ending, write_problem
from anysize._progress import Progress, progress_bars
from anysize._text import visible

if TYPE_CHECKING:
    from rich.table import Table

Format = TypeVar("Format", bound=str)
CacheOption = Annotated[
    Path | None, typer.Option("--cache", file_okay=False, help="Cache folder: counts found here are not recomputed.")
]
PAGES, FIGURES = dict.fromkeys(PAGE_ENDINGS, "HTML"), dict.fromkeys(FIGURE_ENDINGS, "figure")  # for `check_out`
ClusterOption = Annotated[
    str | None, typer.Option(help="A Ray cluster instead of processes: auto, its address, or local:2.")
]
DataDirOption = Annotated[Path | None, typer.Option(help="Folder with data files; by default ANYSIZE_DATA.")]
DeviceOption = Annotated[str, typer.Option(help="cpu, cuda or auto.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]
WorkersOption = Annotated[int, typer.Option(help="Number of processes to train in.", min=1)]


class RecipeOption(StrEnum):
    robust, paper = "robust", "paper"


class ScoreOption(StrEnum):
    accuracy, mcc = "accuracy", "mcc"


RECORDS_FOLDER = Path("results/records")
MAX_SEED = 2**32 - 1  # the largest that numpy, scikit-learn and torch all take
_OUT_OF_MEMORY = re.compile(  # messages of torch and numpy
    r"(can't|unable to) allocate|not enough memory|out of memory|size calculation overflowed", re.IGNORECASE
)


class PlainConsole(Console):
    """A console that shows text as it is (brackets are no markup, escapes of terminals are visible).

    It raises BrokenPipeError if its output is a closed pipe.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


console = PlainConsole()
errors = PlainConsole(stderr=True)


class _Screen(StringIO):
    """Standard output where it is a terminal: escapes of terminals are made visible."""

    def write(self, text: str) -> int:
        return sys.stdout.write(visible(text))


@contextmanager
def open_output(out: Path | None) -> Iterator[IO[str]]:
    """Open the file of ``--out`` for text, written atomically and then told, or standard output if it is None."""
    if out is None:
        yield _Screen() if sys.stdout.isatty() else sys.stdout
        return
    with atomic_write(out) as part, open(part, "w", encoding="utf-8", errors="backslashreplace") as file:
        yield file
    errors.print(f"Wrote {out}.")


@contextmanager
def handle_errors() -> Iterator[None]:
    """Print errors as one sentence on standard error with exit code 1, and our warnings as one line each."""

    def show(message: Any, category: type[Warning], filename: str, *_: Any, **__: Any) -> None:
        if _is_ours(category, filename):
            note(str(message))

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names of files may hold bytes that are no text
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield
            sys.stdout.flush()  # notice a closed pipe here, not when Python ends
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except (ValueError, OverflowError, OSError, ImportError, MemoryError, RuntimeError) as error:
            message = _message(error)
            if message is None:
                raise
            errors.print(f"Error: {message}", style="red", soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            errors.print("Stopped.", style="yellow")
            raise typer.Exit(130) from None


def _is_ours(category: type[Warning], filename: str) -> bool:
    """Whether a warning is for the user of a command; those of other libraries are for programmers."""
    if category.__module__.partition(".")[0] == "anysize":
        return True
    return issubclass(category, UserWarning) and Path(filename).is_relative_to(Path(__file__).parents[1])


def _message(error: Exception) -> str | None:
    """The error as one sentence for the user; None for a bug in the program."""
    text = str(error)
    if isinstance(error, ModuleNotFoundError) and (sentence := missing_package(error, "this command")):
        return sentence
    if isinstance(error, MemoryError) and not text:
        return "there is not enough memory for this."
    if isinstance(error, (MemoryError, RuntimeError)) and _OUT_OF_MEMORY.search(text):
        requested = re.search(r"allocate (\d[\d.]* ?[a-zA-Z]+)", text)
        amount = "" if requested is None else f" ({requested[1]} at once)"
        return f"there is not enough memory for this{amount}; use smaller settings, or fewer graphs at a time."
    if isinstance(error, RuntimeError) and not isinstance(error, PartialResultError):
        return None
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}" if _names_file(error) else error.strerror
    return text or type(error).__name__


def _names_file(error: OSError) -> bool:
    """Whether it is known which file failed; files that are written are named by `atomic_write`."""
    return error.filename is not None or error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _discard_output() -> None:
    """Redirect closed pipes to the null device, so that Python can flush them when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def late_progress(step: str) -> Iterator[Progress]:
    """Show the progress of work with one step; the yielded function takes the share that is done."""
    with progress_bars() as progress:
        yield partial(progress, step)


def text_table(*left: str, right: Iterable[str] = ()) -> Table:
    """An empty table with columns for words, and after them columns for numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, header_style="bold")
    for heading in left:
        table.add_column(heading, overflow="fold")  # a long name is on two lines, and never cut
    for heading in right:
        table.add_column(heading, justify="right", overflow="fold")
    return table


def score_table(first: str, headings: Sequence[str], rows: Mapping[str, Sequence[float | None]]) -> RenderableType:
    """A table of scores, and of numbers of graphs, with the means of the columns of scores as its last row."""
    table = text_table(first, right=headings)
    table.columns[0].no_wrap = True
    means: list[float | None] = []
    for column in zip(*rows.values(), strict=True):
        scores = [value for value in column if value is not None and not isinstance(value, int)]
        means.append(sum(scores) / len(scores) if scores else None)
    for name, values in {**rows, "mean": means}.items():
        cells = ("" if value is None else f"{value}" if isinstance(value, int) else f"{value:.3f}" for value in values)
        table.add_row(name, *cells, end_section=name == list(rows)[-1])
    return table


def check_out(
    out: Path | None, formats: Mapping[str, Format], requested: Format | None = None, option: str = "--out",
    ending_optional: bool = True,
) -> Format | None:  # fmt: skip
    """The format of the output file; None if neither its ending nor the user says.

    An error, before the work begins, if the file cannot be written or its ending belongs to another format. A
    requested format may go into a file with any other ending.

    Args:
        out: the file; None for the screen.
        formats: the formats of the command, by the ending of the file.
        requested: the format that another option names.
        option: the option that names the file.
        ending_optional: whether the file may have a name without an ending.
    """
    if out is None:
        return requested
    try:
        ending = check_ending(out, formats, ending_optional) if requested is None else out.suffix.lower()
    except ValueError as error:
        raise ValueError(f"{option}: {error}.") from None
    of_file = formats.get(ending)
    if requested is not None and of_file not in (None, requested):
        raise ValueError(f"{option} {out} has the ending of {of_file}, but the format is {requested}; change one.")
    problem = write_problem(out)
    if problem is not None:
        raise ValueError(f"{option} {problem}.")
    return requested or of_file


def requested_format(format: Format | None, json: bool, as_json: Format) -> Format | None:
    """The format that --format or --json asks for; an error if they differ."""
    if json and format not in (None, as_json):
        raise ValueError(f"--json is the same as --format json; drop --json or --format {format}.")
    return as_json if json else format


def check_records(records: Path) -> None:
    """Raise an error if a folder of records was named and does not exist."""
    if records != RECORDS_FOLDER and not records.is_dir():
        raise ValueError(f"--records needs a folder with the records of sweeps; there is no folder {records}.")


def note(sentence: str) -> None:
    """Print a remark on standard error."""
    errors.print(f"Note: {sentence}", style="yellow", soft_wrap=True)


def split_names(text: str | None) -> list[str] | None:
    """Split names at commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse_sizes(text: str) -> list[int]:
    """Parse 5, 3,4 or 1-4 to a list."""
    sizes: list[int] = []
    try:
        for part in text.split(","):
            low, _, high = part.strip().partition("-")
            sizes += range(int(low), int(high or low) + 1)
    except ValueError:
        sizes = []
    if not sizes:
        raise ValueError(f"--k takes a pattern size from 1 to 7, or several, such as 3,4 or 1-4; got {text!r}.")
    return sizes


def parse_settings(texts: Iterable[str] | None) -> dict[str, Any]:
    """The options ``--set name=value``; a value as JSON where it is valid JSON, otherwise as text.

    >>> parse_settings(["hidden=64", "over=maps", "jumping=True"])
    {'hidden': 64, 'over': 'maps', 'jumping': True}
    """
    settings: dict[str, Any] = {}
    words = {"True": True, "False": False, "None": None}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ValueError(f"--set takes name=value, such as --set hidden=64; got {text!r}.")
        try:
            settings[name] = words[value] if value in words else loads(value)
        except JSONDecodeError:
            settings[name] = value
    return settings
