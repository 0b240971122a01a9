"""The tasks of the paper by name, by table, and as they are given on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anysize.paper.tasks import PUBLISHED_KEYS, TASKS, find_task, parse_data, table_of


@pytest.mark.parametrize("text", ["-1", "seven", "1.5", "", "²", "published "])
def test_the_data_option_is_parsed_strictly(text: str) -> None:
    with pytest.raises(ValueError, match="--data takes 'published' or a seed"):
        parse_data(text)


def test_unknown_names_are_answered_with_known_ones() -> None:
    with pytest.raises(ValueError, match="no task 'nci1': did you mean NCI1"):
        find_task("nci1")
    with pytest.raises(ValueError, match=r"the tasks are .*sbm-20.*DD"):
        find_task("zzz")


def test_the_table_of_tasks_cannot_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        TASKS["mine"] = TASKS["sbm-20"]  # type: ignore[index]


def test_published_keys_are_those_of_the_published_tables() -> None:
    tables = Path(__file__).resolve().parents[3] / "shared" / "paper" / "published.json"
    if not tables.is_file():
        pytest.skip("published.json is not beside the repository")
    content = json.loads(tables.read_text())
    known = {(int(name[-1]), task): part["metric"] for name, part in content.items() for task in part["tasks"]}
    ours = {(table_of(name), key): TASKS[name].metric for name, key in PUBLISHED_KEYS.items()}
    assert ours == known
