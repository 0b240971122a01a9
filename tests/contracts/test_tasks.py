"""Every task is reproducible from its seeds, and keeps the promises that methods build on."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anysize.evaluation.tasks import Splits
from anysize.paper.tasks import TASKS

# task -> (data set, whether it needs files, and another data set or None where there is one only): a name in TASKS
# without a line here fails
CONTRACTS = {
    "er-single": ("published", False, 1),
    "er-multi": (0, False, 1),
    "sbm-20": ("published", False, 1),
    "sbm-14-20": (0, False, 1),
    "sbm-20-30": (0, False, "published"),
    "sbm-color": (0, False, 1),
    "sbm-color-400": (0, False, 1),
    "schizophrenia": ("published", True, 1),
    "schizophrenia-like": (0, False, 1),
    "NCI1": ("published", True, None),
    "NCI109": ("published", True, None),
    "PROTEINS": ("published", True, None),
    "DD": ("published", True, None),
    "motif-size": (0, False, 1),
    "motif-size-concept": (0, False, 1),
    "spmotif-33": (0, False, 1),
    "spmotif-60": (0, False, 1),
    "spmotif-90": (0, False, 1),
    "motif-count": (0, False, 1),
}


@pytest.fixture(scope="session")
def brains(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty small brains in the authors' format."""
    folder = tmp_path_factory.mktemp("brains")
    rng = np.random.default_rng(1)
    for number in range(40):
        half = np.triu(rng.random((16, 16)) < 0.5, 1)
        rows = [f"{i}," + ",".join(map(str, row)) for i, row in enumerate((half + half.T).astype(int).tolist())]
        name = f"typical_{'Schizophrenia' if number < 20 else 'Control'}{number}.csv"
        (folder / name).write_text("\n".join(["index", *rows]))
    return folder


@pytest.fixture
def folder(name: str, request: pytest.FixtureRequest) -> Path | None:
    if name == "schizophrenia":
        return request.getfixturevalue("brains")  # type: ignore[no-any-return]
    if not CONTRACTS[name][1]:
        return None
    files: Path = request.getfixturevalue("data_dir")
    if not (files / f"{name}.zip").is_file():
        pytest.skip(f"{name}.zip is not among the data files")
    return files


def same(one: Splits, two: Splits) -> bool:
    pairs = zip(one.sets.values(), two.sets.values(), strict=True)
    return one.classes == two.classes and all(a.equals(b) for a, b in pairs)


def digest(splits: Splits) -> str:
    """A number that stands for every array of the splits."""
    found = hashlib.sha256()
    for graphs in splits.sets.values():
        for array in (graphs.first, graphs.indptr, graphs.indices, graphs.colors, graphs.y):
            found.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        found.update(json.dumps(graphs.palette).encode())
    return found.hexdigest()


def test_every_task_has_a_contract() -> None:
    assert set(CONTRACTS) == set(TASKS)
    assert all(task.name == name for name, task in TASKS.items())


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_same_seeds_give_the_same_graphs(name: str, folder: Path | None) -> None:
    task, (data, _, other) = TASKS[name], CONTRACTS[name]
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = task.splits(data, seed=0, data_dir=folder)
    assert same(first, task.splits(data, seed=0, data_dir=folder))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    if other is not None:
        assert not same(first, task.splits(other, seed=0, data_dir=folder))
    elif first.validation is not None:
        assert not same(first, task.splits(data, seed=1, data_dir=folder))


@pytest.mark.parametrize("name", CONTRACTS)
def test_splits_are_what_methods_expect(name: str, folder: Path | None) -> None:
    task, (data, _, _) = TASKS[name], CONTRACTS[name]
    splits = task.splits(data, data_dir=folder)
    assert (splits.validation is None) == bool(task.folds)
    for graphs in splits.sets.values():
        assert graphs.y.dtype == np.int64
        assert set(graphs.y.tolist()) == set(range(len(splits.classes)))
        assert graphs.palette == splits.train.palette
        assert (graphs.colors is None) == (splits.train.colors is None)
        environments = splits.environments(graphs)
        assert environments.dtype == np.int64
        assert environments.shape == (len(graphs),)
    assert (len(np.unique(splits.environments(splits.train))) == 1) == task.single_environment
    assert splits.train.sizes.mean() != splits.test.sizes.mean()


def test_another_process_draws_the_same_graphs() -> None:
    """With another hash seed and another number of threads."""
    wanted = {name: data for name, (data, files, _) in CONTRACTS.items() if not files and name != "er-single"}
    code = (
        "import json, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_tasks import digest\n"
        "from anysize.paper.tasks import TASKS\n"
        f"print(json.dumps({{name: digest(TASKS[name].splits(data)) for name, data in {wanted!r}.items()}}))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "4711", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == {name: digest(TASKS[name].splits(data)) for name, data in wanted.items()}


def test_tasks_import_neither_torch_nor_networkx() -> None:
    heavy = ("torch", "networkx", "numba", "sklearn")
    code = f"import sys, anysize.paper.tasks; print([name for name in {heavy} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
