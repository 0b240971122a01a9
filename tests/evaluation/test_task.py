"""What all tasks share: arguments, environments, folds, summaries, and the command line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import anysize as az
from anysize.evaluation.tasks import environments_of, median_cut, parse_data, stratified_folds
from anysize.paper.cli.app import main_app as app
from anysize.paper.tasks import TASKS, find_task


@pytest.mark.parametrize("data", [-1, 1.0, True, "7", "fresh"])
def test_data_is_published_or_a_seed(data: Any) -> None:
    with pytest.raises(ValueError, match="data is 'published' or a seed"):
        TASKS["sbm-20"].splits(data)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1"])
def test_seeds_are_whole_numbers(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be an integer"):
        TASKS["sbm-20"].splits(0, seed=seed)


@pytest.mark.parametrize("text", ["-1", "seven", "1.5", "", "²", "published "])
def test_the_data_option_is_parsed_strictly(text: str) -> None:
    with pytest.raises(ValueError, match="--data takes 'published' or a seed"):
        parse_data(text)


def test_without_data_the_published_ones_are_taken_where_there_are_some() -> None:
    assert TASKS["sbm-20"].splits().train.equals(TASKS["sbm-20"].splits("published").train)
    assert TASKS["sbm-color"].splits().train.equals(TASKS["sbm-color"].splits(0).train)
    assert not TASKS["sbm-20"].splits().train.equals(TASKS["sbm-20"].splits(0).train)


def test_numpy_integers_are_seeds_too() -> None:
    assert TASKS["sbm-20"].splits(np.int64(3)).train.equals(TASKS["sbm-20"].splits(3).train)


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
    ours = {(task.table, task.published): task.metric for task in TASKS.values() if task.published}
    assert ours == known


# ---- environments ---------------------------------------------------------------------------------------


def sized(sizes: list[int]) -> az.GraphSet:
    return az.GraphSet.from_edges([[]] * len(sizes), n_vertices=sizes)


def test_sizes_are_environments_numbered_from_those_of_training() -> None:
    found = environments_of(sized([20, 14, 20]), sized([14, 16]), sized([40, 5]), "size")
    assert found.train.tolist() == [1, 0, 1]
    assert found.validation.tolist() == [0, 3]  # type: ignore[union-attr]
    assert found.test.tolist() == [4, 2]
    assert found.names == tuple(f"{size} vertices" for size in (14, 20, 5, 16, 40))


def test_the_median_of_training_parts_all_sets() -> None:
    found = environments_of(sized([3, 9, 5, 5]), None, sized([5, 6]), "median")
    assert found.train.tolist() == [0, 1, 0, 0]
    assert found.validation is None
    assert found.test.tolist() == [0, 1]
    assert found.names == ("up to 5 vertices", "more than 5 vertices")


def test_both_environments_have_graphs_wherever_sizes_differ() -> None:
    """The median can be the largest size."""
    sizes = [5, 6, 9, 9, 9, 9]
    found = environments_of(sized(sizes), None, sized([6, 7, 20]), "median")
    assert found.train.tolist() == [0, 0, 1, 1, 1, 1]
    assert found.test.tolist() == [0, 1, 1]
    assert found.names == ("up to 6 vertices", "more than 6 vertices")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20))
def test_the_cut_is_the_median_or_just_below_the_largest_size(drawn: list[int]) -> None:
    sizes = np.array(drawn)
    cut = median_cut(sizes)
    assert len(set((sizes > cut).tolist())) == (1 if len(set(drawn)) == 1 else 2)
    if np.median(sizes) < sizes.max():
        assert cut == np.median(sizes)


# ---- folds ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2), min_size=15, max_size=60), st.integers(2, 5), st.integers(0, 20))
def test_folds_are_even_in_every_class(drawn: list[int], folds: int, seed: int) -> None:
    y = np.array(drawn)
    amounts = np.unique(y, return_counts=True)[1]
    if amounts.min() < folds:
        with pytest.raises(ValueError, match=f"{folds} folds need at least {folds} training graphs of every class"):
            stratified_folds(y, folds, seed)
        return
    fold = stratified_folds(y, folds, seed)
    for part in (fold, *(fold[y == value] for value in np.unique(y))):
        counted = np.bincount(part, minlength=folds)
        assert counted.max() - counted.min() <= 1


# ---- the command line ------------------------------------------------------------------------------------


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["tasks", *map(str, arguments)])


def test_the_list_names_every_task() -> None:
    result = run()
    assert result.exit_code == 0
    first = {line.split()[0] for line in result.stdout.splitlines() if line.split()}
    assert set(TASKS) <= first
    listed = json.loads(run("--json").stdout)
    assert [entry["task"] for entry in listed] == list(TASKS)
    assert {entry["task"] for entry in listed if entry["single_environment"]} == {
        "schizophrenia", "schizophrenia-like", "er-single", "sbm-20", "sbm-color", "sbm-color-400",
    }  # fmt: skip


def test_one_task_shows_sizes_classes_and_environments() -> None:
    result = run("sbm-14-20")
    assert result.exit_code == 0
    rows = {line.split("  ")[1].strip(): line.split() for line in result.stdout.splitlines() if line.startswith("  ")}
    assert rows["graphs"][-3:] == ["80", "20", "100"]
    assert rows["class cross density 0.1"][-6:] == ["0.46", "(37)", "0.70", "(14)", "0.57", "(57)"]
    assert rows["14 vertices"][-3:] == ["38", "11", "0"]
    assert "published data; patterns of 5 vertices; scored by accuracy" in " ".join(result.stdout.split())
    assert "A clear shift: test graphs have 2.3 times as many vertices" in " ".join(result.stdout.split())


def test_json_holds_the_same_numbers() -> None:
    found = json.loads(run("sbm-20", "--data", "7", "--json").stdout)
    splits = TASKS["sbm-20"].splits(7)
    assert (found["task"], found["data"], found["published"]) == ("sbm-20", 7, "sbm_20")
    assert [part["name"] for part in found["sets"]] == ["train", "validation", "test"]
    assert found["sets"][0]["classes"]["cross density 0.3"] == int(splits.train.y.sum())
    assert found["sets"][2]["shares"]["cross density 0.3"] == pytest.approx(splits.test.y.mean())
    assert found["sets"][2]["mean_edges"] == pytest.approx(splits.test.edge_counts.mean())


def test_thinned_sizes_are_summed_up() -> None:
    rows = [line.split() for line in run("schizophrenia-like").stdout.splitlines()]
    assert ["264", "vertices", "125", "10"] in rows
    assert ["other", "sizes", "0", "10"] in rows


def test_a_data_folder_can_be_named(tmp_path: Path, data_dir: Path) -> None:
    if not (data_dir / "PROTEINS.zip").is_file():
        pytest.skip("PROTEINS.zip is not among the data files")
    found = json.loads(run("PROTEINS", "--data-dir", data_dir, "--seed", 3, "--json").stdout)
    assert (found["metric"], found["data"], found["seed"], found["sets"][2]["graphs"]) == ("mcc", "published", 3, 112)
    missing = run("PROTEINS", "--data-dir", tmp_path / "absent")
    assert missing.exit_code == 1
    assert missing.stderr.startswith("Error: There is no folder")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sbm-21",), "Error: There is no task 'sbm-21': did you mean sbm-20?"),
        (("NCI1", "--data", "3"), "Error: NCI1 has one data set"),
        (("sbm-color", "--data", "published"), "Error: sbm-color is no task of the published tables"),
        (("sbm-20", "--data", "x"), "Error: --data takes 'published' or a seed"),
        (("--data", "3"), "Error: --data and --data-dir go with the name of a task"),
    ],
)
def test_bad_input_ends_in_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(sentence)
    assert len(result.stderr.splitlines()) == 1


def test_tasks_travel_to_other_processes() -> None:
    sent = pickle.loads(pickle.dumps(TASKS["sbm-20"]))
    assert sent == TASKS["sbm-20"]
    assert sent.splits(1).test.equals(TASKS["sbm-20"].splits(1).test)
