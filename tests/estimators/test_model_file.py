"""Model files: what is in them, what survives, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learned import labeled
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as save_tensors

import anysize as az
from anysize import GraphClassifier, GraphSet, load_model
from anysize.estimators.model_file import VERSION


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return labeled(16)


@pytest.fixture
def file(graphs: GraphSet, tmp_path: Path) -> Path:
    GraphClassifier("gamma-gin", k=3, params={"epochs": 5}).fit(graphs).save(tmp_path / "model.anysize")
    return tmp_path / "model.anysize"


def rewritten(file: Path, change: Any = None, drop: str = "", tensors: Any = None) -> Path:
    """The file with other contents."""
    with zipfile.ZipFile(file) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(held["model.json"])
    if change is not None:
        change(about)
    held["model.json"] = json.dumps(about).encode()
    if callable(tensors):
        arrays = tensors_of(held["model.safetensors"])
        tensors(arrays)
        held["model.safetensors"] = save_tensors({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    elif tensors is not None:
        held["model.safetensors"] = tensors
    held.pop(drop, None)
    other = file.with_name("other.anysize")
    with zipfile.ZipFile(other, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return other


def test_the_file_is_a_zip_of_json_and_tensors(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == ["model.json", "model.safetensors"]
        about = json.loads(archive.read("model.json"))
        arrays = tensors_of(archive.read("model.safetensors"))
    assert (about["format"], about["version"]) == ("anysize model", VERSION)
    assert about["versions"]["anysize"] == az.__version__
    assert set(about["versions"]) == {"anysize", "python", "numpy", "torch"}
    assert about["classes"]["values"] == ["dense", "sparse"]
    assert about["palette"] == ["A", "B"]
    assert about["parameters"]["params"] == {"epochs": 5}
    assert arrays
    assert {name.partition(".")[0] for name in arrays} <= {"0", "novelty"}


def test_the_same_model_makes_the_same_file(graphs: GraphSet, file: Path, tmp_path: Path) -> None:
    GraphClassifier("gamma-gin", k=3, params={"epochs": 5}).fit(graphs).save(tmp_path / "again.anysize")
    assert (tmp_path / "again.anysize").read_bytes() == file.read_bytes()
    load_model(file).save(tmp_path / "third.anysize")
    assert (tmp_path / "third.anysize").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("y", [["b", "a"], [3, -1], [True, False], [0.5 * 2, 7.0]])
def test_everything_that_a_user_set_comes_back(y: list[Any], graphs: GraphSet, tmp_path: Path) -> None:
    model = GraphClassifier(
        "gamma-gin", k=[3, 2], n_models=18, random_state=2, class_weight={y[0]: 2.0}, cache=tmp_path / "cache",
        metric="mcc", validation=0.25,
        params={"top": 9, "epochs": np.int64(2), "lr": np.float64(0.02), "over": "connected"},
    )  # fmt: skip
    model.fit(graphs, [y[number % 2] for number in range(16)])
    model.save(tmp_path / "model.anysize")
    found = load_model(tmp_path / "model.anysize")
    assert found.get_params() == model.get_params() | {"cache": None, "k": (2, 3)}
    assert found.verdict_ == model.verdict_
    assert found.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(found.classes_, model.classes_)
    np.testing.assert_array_equal(found.epochs_, model.epochs_)
    assert found.ensemble_.seeds == tuple(range(2, 20))
    np.testing.assert_array_equal(found.predict_proba(graphs), model.predict_proba(graphs))
    assert found.explain(graphs[0]).margin == model.explain(graphs[0]).margin


def test_nesting_without_end_is_damage(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model.json", "[" * 100_000)
        archive.writestr("model.safetensors", b"")
    with pytest.raises(ValueError, match=f"{file.name} is a damaged model file: .*nested"):
        load_model(file)


def test_a_received_model_does_not_say_where_files_are_written(graphs: GraphSet, file: Path, tmp_path: Path) -> None:
    for name in ("cache", "store"):
        hostile = rewritten(file, lambda about, name=name: about["parameters"].update({name: str(tmp_path / "evil")}))
        if name == "cache":
            assert load_model(hostile).cache is None
            load_model(hostile).predict(graphs)
        else:
            with pytest.raises(ValueError, match="store"):
                load_model(hostile)
    assert not (tmp_path / "evil").exists()


def test_a_loaded_model_can_be_trained_again(graphs: GraphSet, file: Path) -> None:
    again = load_model(file).fit(graphs)
    np.testing.assert_array_equal(again.predict_proba(graphs), load_model(file).predict_proba(graphs))


def test_what_was_set_after_training_does_not_change_what_was_learned(graphs: GraphSet, tmp_path: Path) -> None:
    model = GraphClassifier("gamma-gin", k=3, params={"epochs": 5}).fit(graphs)
    chances = model.predict_proba(graphs)
    model.set_params(method="wl-kernel", k=5)
    np.testing.assert_array_equal(model.predict_proba(graphs), chances)
    model.save(tmp_path / "model.anysize")
    np.testing.assert_array_equal(load_model(tmp_path / "model.anysize").predict_proba(graphs), chances)


def test_another_process_without_numba_trains_and_predicts_bit_by_bit_the_same(graphs: GraphSet, file: Path) -> None:
    """Count on one machine, train and predict on another: tables need neither numba nor PyG nor networkx."""
    table = az.count(graphs, 3)
    table.save(file.parent / "counts.npz")
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in ('numba', 'llvmlite', 'torch_geometric', 'networkx', 'pandas', 'matplotlib'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import torch; torch.set_num_threads(1)\n"
        "import anysize as az\n"
        f"table = az.Counts.load({str(file.parent / 'counts.npz')!r})\n"
        f"model = az.load_model({str(file)!r})\n"
        "print(model.predict_proba(table).tobytes().hex())\n"
        "print(model.fit(table).predict_proba(table).tobytes().hex())\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    expected = load_model(file).predict_proba(table).tobytes().hex()
    assert told.stdout.split() == [expected, expected]


def test_a_file_is_there_as_a_whole_or_not_at_all(graphs: GraphSet, file: Path, monkeypatch: Any) -> None:
    before = file.read_bytes()

    def fail(*_: Any) -> bytes:
        raise OSError("no space left")

    monkeypatch.setattr("safetensors.numpy.save", fail)
    with pytest.raises(OSError, match="no space left"):
        GraphClassifier("gamma-gin", k=3, random_state=9, params={"epochs": 5}).fit(graphs).save(file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_model_of_a_gpu_is_read_without_one(file: Path, graphs: GraphSet) -> None:
    moved = rewritten(file, lambda about: about["parameters"].update(device="cuda"))
    np.testing.assert_array_equal(load_model(moved).predict_proba(graphs), load_model(file).predict_proba(graphs))


def test_files_that_are_no_models(file: Path, tmp_path: Path, graphs: GraphSet) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("something.txt", "else")
    az.count(graphs, 2).save(tmp_path / "counts.npz")
    for name in ("text", "empty", "zip", "counts.npz"):
        with pytest.raises(ValueError, match=f"{name} is not a model file"):
            load_model(tmp_path / name)
    with pytest.raises(ValueError, match="not a model file"):
        load_model(rewritten(file, lambda about: about.update(format="other")))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_model(tmp_path / "nowhere")


@pytest.mark.parametrize("version", [1, VERSION + 1])
def test_files_of_another_version_are_refused(version: int, file: Path) -> None:
    def other(about: dict[str, Any]) -> None:
        about["version"], about["versions"]["anysize"] = version, "9.1"

    with pytest.raises(ValueError, match=rf"model format {version} \(written by anysize 9\.1\)"):
        load_model(rewritten(file, other))


def test_damaged_files(file: Path) -> None:
    data = file.read_bytes()
    middle = len(data) * 3 // 4  # inside the compressed tensors
    for damaged in (data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :], data[:middle], data[middle:]):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"is a damaged model file: |is not a model file"):
            load_model(file)


def test_a_model_of_a_method_that_is_not_registered(file: Path) -> None:
    strange = rewritten(file, change=lambda about: about.update(method="gamma-unheard-of"))
    with pytest.raises(ValueError, match="'gamma-unheard-of', which is not registered"):
        load_model(strange)


@pytest.mark.parametrize(
    "change",
    [
        {"tensors": b"short"},
        {"drop": "model.safetensors"},
        {"change": lambda about: about.pop("classes")},
        {"change": lambda about: about["parts"][0]["shape"].update(hidden=7)},
        {"change": lambda about: about["parameters"].update(strange=1)},
        {"change": lambda about: about.update(parts=[])},
        {"change": lambda about: about.update(k=True)},
        {"change": lambda about: about.update(epochs=["5"])},
        {"change": lambda about: about.update(palette=["B", "A"])},
        {"change": lambda about: about["classes"].update(values=["a", "b", "c"])},
        {"change": lambda about: about["classes"].update(values=["a", "a"])},
        {"change": lambda about: about["classes"].update(dtype="O")},
        {"change": lambda about: about["classes"].update(dtype="<U999999999")},
        {"change": lambda about: about["parameters"].update(random_state=float("inf"))},
        {"change": lambda about: about["parts"][0]["runs"][0].update(seed=float("inf"))},
        {"change": lambda about: about["parts"][0]["runs"].append(about["parts"][0]["runs"][0])},
        {"change": lambda about: about["parts"][0]["shape"].update(hidden=10**9)},
        {"change": lambda about: about["parts"][0]["shape"]["recipe"].update(test_permutations=10**9)},
        {"change": lambda about: about["verdict"].update(train=[1])},
        {"change": lambda about: about["parts"].__setitem__(0, json.loads("[" * 900 + "]" * 900))},
        {"tensors": lambda arrays: arrays.update({name: array * np.nan for name, array in arrays.items()})},
        {"tensors": lambda arrays: arrays.update({name: array[..., :-1] for name, array in arrays.items()})},
    ],
)
def test_files_with_something_missing_or_odd_in_them(change: dict[str, Any], file: Path) -> None:
    with pytest.raises(ValueError, match="is a damaged model file: ") as caught:
        load_model(rewritten(file, **change))
    assert "\n" not in str(caught.value)


def test_a_prediction_that_overflows_is_an_error(file: Path, graphs: GraphSet) -> None:
    def enlarge(arrays: dict[str, Any]) -> None:
        arrays.update({name: array * np.float32(1e30) for name, array in arrays.items() if array.dtype == np.float32})

    with pytest.raises(ValueError, match=r"no probabilities|overflows"):
        load_model(rewritten(file, tensors=enlarge)).predict_proba(graphs)
