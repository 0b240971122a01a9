"""`anysize diagnose`: compare new graphs with training graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anysize.cli.input import Reading, read_input, with_reading_options
from anysize.cli.shared import (
    MAX_SEED,
    PAGES,
    JsonOption,
    check_out,
    console,
    handle_errors,
    late_progress,
    open_output,
)

if TYPE_CHECKING:
    from anysize import GraphClassifier


def load_classifier(model: Path) -> GraphClassifier:
    """The model of a file; one of numbers is refused."""
    from anysize import GraphClassifier, load_model

    loaded = load_model(model)
    if not isinstance(loaded, GraphClassifier):
        raise ValueError(f"forecasts are of classes; {model} predicts numbers: leave out --model.")
    return loaded


@with_reading_options()
def diagnose(
    train: Annotated[Path, typer.Argument(help="Training graphs: any file that anysize count reads. Labels are used.")],
    new: Annotated[Path, typer.Argument(help="The graphs to predict on. Labels are not used.")],
    reading: Reading,
    model: Annotated[
        Path | None,
        typer.Option(help="A model file that anysize fit wrote for TRAIN: also say what scores to expect on NEW."),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Largest number of vertices of a pattern, 2..7.")] = 4,
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Compare the colors of vertices.")] = True,
    level: Annotated[float, typer.Option(help="Probability of any false alarm in the report.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of permutations and folds.", min=0, max=MAX_SEED)] = 0,
    out: Annotated[Path | None, typer.Option(help="Also write the report to this file, as an HTML page.")] = None,
    json: JsonOption = False,
) -> None:
    """Test how new graphs differ from training graphs (sizes, colors, densities), and suggest a method."""
    with handle_errors():
        from anysize.shift.diagnosis import diagnose

        check_out(out, PAGES)
        classifier = None if model is None else load_classifier(model)
        ours = read_input(train, reading)
        theirs = read_input(new, {name: value for name, value in reading.items() if name not in ("labels", "y")})
        with late_progress("diagnosing") as report:
            answer = diagnose(ours, theirs, k, model=classifier, colors=colors, level=level, seed=seed, progress=report)
        if out is not None:
            with open_output(out) as file:
                file.write(answer.to_html())
        if json:
            from json import dumps

            print(dumps(answer.to_json(), allow_nan=False))
        else:
            console.print(str(answer), soft_wrap=True)
