"""A small attack on every reader and loader; `make fuzz N=20000` is a large one."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.harness import attack, make_input, written_elsewhere
from fuzz.targets import TEXTS, Target, all_targets

INPUTS = 40  # of each target
NAMES = (
    *TEXTS, "json values", "gzip", "TU folder", "TU zip", "labels", "sparse matrices", "arrays", "files of matrices",
    "SMILES", "counts", "cache", "stream", "stream of estimates", "records", "models",
)  # fmt: skip


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    found = {target.name: target for target in all_targets(tmp_path_factory.mktemp("made"))}
    assert set(found) | {"SMILES"} == set(NAMES)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_odd_input_is_accepted_or_refused_in_one_sentence(
    name: str, targets: dict[str, Target], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in targets:
        pytest.skip("needs rdkit")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    refused = 0
    for number in range(INPUTS):
        problem, accepted = attack(targets[name], make_input(targets[name], 1, number, tmp_path / "input"))
        assert problem is None, f"input {number}: {problem}"
        refused += not accepted
    assert refused, "the attack reached nothing"
    assert written_elsewhere(elsewhere) == []


def test_the_harness_sees_what_is_wrong(tmp_path: Path) -> None:
    def refuse(error: Exception) -> None:
        raise error

    (tmp_path / "x").write_text("")
    for error, problem in (
        (RecursionError("deep"), "RecursionError"),
        (ValueError("two\nlines"), "not one sentence"),
        (ValueError("without a name"), "does not name the file"),
        (ValueError(f"{tmp_path / 'x'} is odd"), None),
    ):
        target = Target("x", lambda folder, chance: folder, lambda path, error=error: refuse(error))
        told, accepted = attack(target, tmp_path / "x")
        assert not accepted
        assert told is problem is None or str(problem) in str(told)
