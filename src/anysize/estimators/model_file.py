"""Trained classifiers as files: a zip archive of ``model.json`` and ``model.safetensors``, without pickle.

``model.json``: the format and its version, the versions of the packages that wrote it, the classes, the parameters of
the classifier, what each stack of models says about itself, and what new graphs are compared with (``known``, which
files of early versions lack). ``model.safetensors``: the arrays, named ``part number . name`` and ``known . name``. Not
kept are training curves and scores, the folder of counts (``cache``), which belongs to a machine, and a function given
as ``environments``, which only training needs.
"""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

from anysize import __version__
from anysize._files import atomic_write
from anysize.estimators.classifier import GraphClassifier
from anysize.estimators.configuration import device_of, sizes
from anysize.estimators.ensemble import Ensemble
from anysize.estimators.novelty import NoveltyDetector
from anysize.graphs.labels import classes_from_json, classes_to_json
from anysize.methods.catalog import find_method
from anysize.methods.method import Arrays, Fitted, Method
from anysize.methods.neural import FittedGamma, FittedGNN

FORMAT = "anysize model"
VERSION = 1
ABOUT, TENSORS = "model.json", "model.safetensors"
_WHEN = (1980, 1, 1, 0, 0, 0)  # the same model makes the same file


class _NotAModel(ValueError):
    """What is wrong with a file, told in one sentence."""


def save_model(model: GraphClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier; the file appears when all of it has been written."""
    tensors = _safetensors()
    ensemble = model.ensemble_
    arrays: Arrays = {}
    parts = []
    for number, part in enumerate(ensemble.parts):
        about, own = part.state()
        parts.append(about)
        arrays |= {f"{number}.{name}": np.array(array, order="C") for name, array in own.items()}
    known = None
    if ensemble.known is not None:
        known, own = ensemble.known.state()
        arrays |= {f"known.{name}": np.array(array, order="C") for name, array in own.items()}
    told = {
        "format": FORMAT,
        "version": VERSION,
        "method": ensemble.method.name,
        "k": ensemble.k,
        "classes": classes_to_json(model.classes_),
        "palette": None if ensemble.palette is None else list(ensemble.palette),
        "parameters": _parameters(model),
        "epochs": model.epochs_.tolist(),
        "versions": _versions(),
        "parts": parts,
        "known": known,
    }
    text = json.dumps(told, ensure_ascii=False, indent=1, default=_plain)
    with atomic_write(path) as part_path, zipfile.ZipFile(part_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((ABOUT, text.encode()), (TENSORS, tensors.save(arrays))):
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def load_model(path: str | os.PathLike[str]) -> GraphClassifier:
    """Read a classifier that `GraphClassifier.save` wrote; it predicts bit by bit the same on the same machine.

    The models are put on the device of the classifier, or on the CPU where there is no such device.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(
            f"{name} is a folder; expected a model file, as anysize fit and GraphClassifier.save write"
        )
    if not os.path.isfile(name):
        raise FileNotFoundError(f"There is no file {name}.")
    tensors = _safetensors()
    try:
        with open(name, "rb") as file:
            about, data = _contents(file.read(), name)
        return _restored(about, tensors.load(data), name)
    except (_NotAModel, OSError):
        raise
    except Exception as error:  # whatever zip, JSON, safetensors or torch say of a file with the right names in it
        told = f"{error} is missing" if isinstance(error, KeyError) else (str(error) or type(error).__name__)
        raise ValueError(f"{name} is a damaged model file: {told.splitlines()[0]}") from error


def _contents(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """The two members of the archive, the first one read; errors for files that are something else."""
    foreign = f"{name} is no model file of anysize; such files are written by GraphClassifier.save and anysize fit"
    if not zipfile.is_zipfile(BytesIO(data)):
        raise _NotAModel(foreign)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if ABOUT not in archive.namelist():
            raise _NotAModel(foreign)
        about = json.loads(archive.read(ABOUT))
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise _NotAModel(foreign)
        version = about.get("version")
        if not isinstance(version, int) or version > VERSION:
            wrote = about.get("versions", {}).get("anysize", "a later version")
            raise _NotAModel(
                f"{name} has the model format {version} (written by anysize {wrote}) and this is anysize "
                f"{__version__}, which reads formats up to {VERSION}; update anysize"
            )
        return about, archive.read(TENSORS)


def _restored(about: dict[str, Any], arrays: Mapping[str, Any], name: str) -> GraphClassifier:
    parameters = dict(about["parameters"])
    if isinstance(parameters["class_weight"], list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    if isinstance(parameters["k"], list):
        parameters["k"] = tuple(parameters["k"])
    model = GraphClassifier(**parameters)
    method = _method_of(about["method"], name)
    parts = []
    for number, told in enumerate(about["parts"]):
        start = f"{number}."
        own = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
        parts.append(_placed(method.learner.restore(told, own), parameters["device"]))
    if not parts:
        raise ValueError("it holds no models")
    palette = None if about["palette"] is None else tuple(about["palette"])
    model.classes_ = classes_from_json(about["classes"])
    known = None
    if about.get("known") is not None:
        known = NoveltyDetector.from_state(about["known"], _named("known.", arrays))
    model.ensemble_ = Ensemble(method, sizes(about["k"]), palette, tuple(parts), known)
    model.epochs_ = np.array(about["epochs"], np.int64)
    return model


def _method_of(method: str, name: str) -> Method:
    try:
        return find_method(method)
    except ValueError as error:
        raise _NotAModel(
            f"{name} holds a model of the method {method!r}, which is not known here; register it first, as "
            "anysize.methods.catalog.register or the environment variable ANYSIZE_METHODS does"
        ) from error


def _named(start: str, arrays: Mapping[str, Any]) -> Arrays:
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _placed(part: Fitted, device: str) -> Fitted:
    """The models on their device, where this machine has it."""
    if isinstance(part, (FittedGamma, FittedGNN)):
        try:
            part.stack.model.to(device_of(device))
        except ValueError:  # trained on a GPU, used on a machine without one
            part.stack.model.to("cpu")
    return part


def _parameters(model: GraphClassifier) -> dict[str, Any]:
    """The classifier's parameters as JSON holds them; keys of a mapping may be numbers, so that it becomes pairs."""
    found: dict[str, Any] = model.get_params(deep=False) | {"cache": None}
    if callable(found["environments"]):
        found["environments"] = "median"
    if isinstance(found["class_weight"], Mapping):
        found["class_weight"] = [[name, weight] for name, weight in found["class_weight"].items()]
    if not isinstance(found["k"], int):
        found["k"] = sizes(found["k"])
    return found


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python has them."""
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
