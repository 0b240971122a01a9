"""A task of somebody else, by docs/add-a-task.md: one constant, and nothing of the package touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import anysize as az
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import sweep
from anysize.evaluation.tasks import Parts
from anysize.paper.cli.app import main_app as app
from anysize.paper.plan import make_plan
from anysize.paper.synthetic import Synthetic
from anysize.paper.tasks import find_task, register, unregister

CORES = az.Task(
    name="cores",
    title="One dense core or two",
    family="sbm",
    source=Synthetic(
        names=("one core", "two cores"),
        classes=(az.BlockModel(within=(0.6, 0.1), between=0.1), az.BlockModel(within=(0.35, 0.35), between=0.1)),
        train=az.Environment(sizes=(10,), blocks="balanced"),
        test=az.Environment(sizes=(20,), blocks="balanced"),
        graphs=(20, 10, 10),
    ),
    k=3,
)


@pytest.fixture
def registered() -> Iterator[None]:
    register(CORES)
    yield
    unregister("cores")


@pytest.mark.usefixtures("registered")
def test_a_registered_task_is_swept_by_name_or_as_it_is(tmp_path: Path) -> None:
    plan = make_plan("cores", "topology-only", data="fresh:2")
    assert plan == make_plan([CORES], ["topology-only"], data="fresh:2")
    assert sweep(plan, tmp_path).made == 2
    assert {(record.task, record.data) for record in RecordStore(tmp_path).read()} == {
        ("cores", "seed:0"),
        ("cores", "seed:1"),
    }


def test_other_processes_are_told_by_an_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path(__file__)
    records, page = tmp_path / "records", tmp_path / "report.html"
    monkeypatch.setenv("ANYSIZE_TASKS", f"{here.stem}:CORES")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(here.parent), os.environ.get("PYTHONPATH", "")]))
    words = ["paper", "sweep", "cores", "--methods", "topology-only", "--data", "fresh:2", "--workers", "2"]
    command = [sys.executable, "-m", "anysize", *words, "--records", str(records)]
    subprocess.run(command, capture_output=True, check=True)
    assert len(RecordStore(records).read()) == 2
    monkeypatch.syspath_prepend(here.parent)
    told = json.loads(CliRunner().invoke(app, ["paper", "tasks", "--json"]).stdout)
    try:
        assert "cores" in [task["task"] for task in told]
        CliRunner().invoke(app, ["paper", "report", "--records", str(records), "--out", str(page)])
    finally:
        unregister("cores")
    assert "cores" in page.read_text(encoding="utf-8")
    assert "is no task of this package" not in page.read_text(encoding="utf-8")


def test_a_variable_that_names_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("nowhere_at_all:CORES", "json:CORES", "json"):
        monkeypatch.setenv("ANYSIZE_TASKS", wrong)
        with pytest.raises(ValueError, match=f"module:NAME.*'{wrong}'"):
            find_task("cores")
    monkeypatch.setenv("ANYSIZE_TASKS", "json:dumps")
    with pytest.raises(ValueError, match="register takes a Task; got a function"):
        find_task("cores")


@pytest.mark.usefixtures("registered")
def test_a_name_is_taken_once() -> None:
    register(CORES)
    for taken in (replace(CORES, k=4), replace(CORES, name="sbm-20")):
        with pytest.raises(ValueError, match=f"already a task '{taken.name}'"):
            register(taken)
    for name in ("", "a b", "a/b"):
        with pytest.raises(ValueError, match="the name of a task has letters"):
            register(replace(CORES, name=name))
    with pytest.raises(ValueError, match="'table4' is reserved"):
        register(replace(CORES, name="table4"))


class Drawn:
    """A source that returns what it was given."""

    has_published, has_fresh, training_environments = False, True, 1

    def __init__(self, parts: object) -> None:
        self.parts = parts

    def draw(self, data: object, seed: int, data_dir: object) -> Parts:
        return self.parts  # type: ignore[return-value]


def test_what_a_source_returns_is_checked() -> None:
    parts = CORES.source.draw(0, 0, None)
    train, validation, test, classes, *_ = parts
    assert replace(CORES, source=Drawn(Parts(train, None, test, classes))).splits(0).validation is None
    for wrong, told in (
        ((train, validation, test), "must return Parts.* got a tuple"),
        (parts._replace(test=test.to_networkx()), "test graphs must be a GraphSet; got a list"),
        (parts._replace(train=train.with_y(["one", "two"] * 10)), "class numbers from 0 to 1.* got 'one'"),
        (parts._replace(validation=replace(train, y=None)), "y of the validation graphs.* got 'None'"),
        (parts._replace(classes=("only",)), "class numbers from 0 to 0.* got 1"),
    ):
        with pytest.raises(ValueError, match=f"cores: .*{told}"):
            replace(CORES, source=Drawn(wrong)).splits(0)


@pytest.mark.parametrize("field", ["family", "metric", "environments"])
def test_the_fields_of_a_task_are_checked(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} of a task must be one of .* got 'mine'"):
        replace(CORES, **{field: "mine"})  # type: ignore[arg-type]


def test_what_was_not_registered(tmp_path: Path) -> None:
    for name in ("cores", "sbm-20"):
        with pytest.raises(ValueError, match="is not a registered task"):
            unregister(name)
    with pytest.raises(ValueError, match="There is no task 'cores'"):
        make_plan("cores", ["majority"], data=0)
    assert sweep(make_plan([CORES], ["majority"], data=0), tmp_path, workers=2).made == 1  # an object needs no name
