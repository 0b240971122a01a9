"""Model files: a zip archive of ``model.json`` and ``model.safetensors``, without pickle.

``model.json`` holds the format and its version, the versions of the packages, the classes, the parameters of the
classifier, the verdict, and the metadata of each stack of models and of the novelty detector. ``model.safetensors``
holds their arrays, named ``<number of the stack>.<name>`` and ``novelty.<name>``. Training curves and the cache folder
are not stored.
"""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from typing import Any

import numpy as np

from anysize import __version__
from anysize._files import atomic_write
from anysize.estimators.baseline_check import Verdict
from anysize.estimators.classifier import GraphClassifier
from anysize.estimators.ensemble import Ensemble
from anysize.estimators.novelty import NoveltyDetector
from anysize.graphs.labels import classes_from_json, classes_to_json
from anysize.methods.catalog import find_method
from anysize.methods.method import Arrays, Fitted, Method
from anysize.methods.neural import FittedGamma, FittedGNN
from anysize.patterns.pattern import pattern_sizes
from anysize.training.device import resolve_device

FORMAT = "anysize model"
VERSION = 2
METADATA, TENSORS = "model.json", "model.safetensors"
NOVELTY = "novelty"
PATHS = frozenset({"cache"})  # parameters that are not stored, and ignored in a file: they are the caller's alone
ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # a constant: the same model gives the same bytes


class _UnreadableModel(ValueError):
    """The file is not a model file, or one of another version."""


def save_model(model: GraphClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier; the file appears once it is complete."""
    tensors = _safetensors()
    ensemble = model.ensemble_
    states = {str(number): part.state() for number, part in enumerate(ensemble.parts)}
    states[NOVELTY] = ensemble.novelty.state()
    arrays = {
        f"{owner}.{name}": np.array(array, order="C")
        for owner, (_, held) in states.items()
        for name, array in held.items()
    }
    about = {
        "format": FORMAT,
        "version": VERSION,
        "method": ensemble.method.name,
        "k": ensemble.k,
        "classes": classes_to_json(model.classes_),
        "palette": None if ensemble.palette is None else list(ensemble.palette),
        "parameters": _parameters(model),
        "epochs": model.epochs_.tolist(),
        "verdict": asdict(model.verdict_),
        "versions": _versions(),
        NOVELTY: states.pop(NOVELTY)[0],
        "parts": [about for about, _ in states.values()],
    }
    text = json.dumps(about, ensure_ascii=False, indent=1, default=_from_numpy)
    with atomic_write(path) as part_path, zipfile.ZipFile(part_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((METADATA, text.encode()), (TENSORS, tensors.save(arrays))):
            entry = zipfile.ZipInfo(name, ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def load_model(path: str | os.PathLike[str]) -> GraphClassifier:
    """Read a classifier that `GraphClassifier.save` wrote; on the same machine its predictions are bitwise equal.

    The models are put on the device of the classifier, or on the CPU if this machine does not have it.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(
            f"{name} is a folder; expected a model file written by anysize fit or GraphClassifier.save"
        )
    if not os.path.isfile(name):
        raise FileNotFoundError(f"There is no file {name}.")
    tensors = _safetensors()
    try:
        with open(name, "rb") as file:
            about, data = _read_members(file.read(), name)
        return _restored(about, tensors.load(data), name)
    except (_UnreadableModel, OSError):
        raise
    except Exception as error:  # zip, JSON, safetensors and torch raise various types for damaged contents
        reason = f"{error} is missing" if isinstance(error, KeyError) else (str(error) or type(error).__name__)
        raise ValueError(f"{name} is a damaged model file: {reason.splitlines()[0]}") from error


def _read_members(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """The parsed metadata and the tensors; errors for other files and other versions."""
    foreign = f"{name} is not a model file of anysize; anysize fit and GraphClassifier.save write them"
    if not zipfile.is_zipfile(BytesIO(data)):
        raise _UnreadableModel(foreign)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if METADATA not in archive.namelist():
            raise _UnreadableModel(foreign)
        about = json.loads(archive.read(METADATA))
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise _UnreadableModel(foreign)
        if about.get("version") != VERSION:
            written_by = about.get("versions", {}).get("anysize", "another version")
            raise _UnreadableModel(
                f"{name} has model format {about.get('version')} (written by anysize {written_by}) and anysize "
                f"{__version__} reads format {VERSION} only; train the model again or use that version"
            )
        return about, archive.read(TENSORS)


def _restored(about: dict[str, Any], arrays: Mapping[str, Any], name: str) -> GraphClassifier:
    parameters = {name: value for name, value in about["parameters"].items() if name not in PATHS}
    if isinstance(parameters["class_weight"], list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    if isinstance(parameters["k"], list):
        parameters["k"] = tuple(parameters["k"])
    model = GraphClassifier(**parameters)
    method = _find_method(about["method"], name)
    parts = tuple(
        _on_device(method.learner.restore(part, _arrays_of(str(number), arrays)), parameters["device"])
        for number, part in enumerate(about["parts"])
    )
    if not parts:
        raise ValueError("it holds no models")
    palette = None if about["palette"] is None else tuple(about["palette"])
    novelty = NoveltyDetector.from_state(about[NOVELTY], _arrays_of(NOVELTY, arrays))
    model.classes_ = classes_from_json(about["classes"])
    model.ensemble_ = Ensemble(method, pattern_sizes(about["k"]), palette, parts, novelty)
    model.epochs_ = np.array(about["epochs"], np.int64)
    verdict = about["verdict"]
    model.verdict_ = Verdict(**verdict | {"suggestions": tuple(map(tuple, verdict["suggestions"]))})
    return model


def _find_method(method: str, name: str) -> Method:
    try:
        return find_method(method)
    except ValueError as error:
        raise _UnreadableModel(
            f"{name} holds a model of the method {method!r}, which is not registered; call "
            "anysize.methods.catalog.register first, or set ANYSIZE_METHODS"
        ) from error


def _arrays_of(owner: str, arrays: Mapping[str, Any]) -> Arrays:
    start = f"{owner}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _on_device(part: Fitted, device: str) -> Fitted:
    """The models on their device, or on the CPU if this machine does not have it."""
    if isinstance(part, (FittedGamma, FittedGNN)):
        try:
            part.stack.model.to(resolve_device(device))
        except ValueError:
            part.stack.model.to("cpu")
    return part


def _parameters(model: GraphClassifier) -> dict[str, Any]:
    """The parameters of the classifier for JSON, without paths.

    Keys of class weights may be numbers: the mapping becomes pairs.
    """
    found: dict[str, Any] = {name: value for name, value in model.get_params(deep=False).items() if name not in PATHS}
    if isinstance(found["class_weight"], Mapping):
        found["class_weight"] = [[name, weight] for name, weight in found["class_weight"].items()]
    if not isinstance(found["k"], int):
        found["k"] = pattern_sizes(found["k"])
    if found["params"] is not None:
        found["params"] = dict(found["params"])
    return found


def _from_numpy(value: Any) -> Any:
    """Numbers and arrays of numpy as Python numbers and lists."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be written to a model file")


def _versions() -> dict[str, str]:
    import torch

    return {
        "anysize": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": str(torch.__version__),
    }


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError("model files need safetensors: pip install 'anysize[learn]'") from error
    return safetensors.numpy
