"""Model files: a zip archive of ``model.json`` and ``model.safetensors``, without pickle.

``model.json`` holds the format and its version, the versions of the packages, the classes (null for a
`GraphRegressor`), the parameters of the estimator, the verdict, and the metadata of each stack of models and of the
novelty detector. ``model.safetensors`` holds their arrays, named ``<number of the stack>.<name>`` and
``novelty.<name>``. Training curves and the cache folder are not stored.

With several targets ``model.json`` holds their names and a list of such models. Names of arrays begin with the number
of the target and a slash, and arrays that are equal are stored once: ``shared`` maps the names of the others to them.
"""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from anysize import __version__
from anysize._errors import naming_extra
from anysize._files import atomic_write
from anysize._log import log
from anysize._schema import (
    Check,
    anything,
    arrays_of,
    boolean,
    check_array,
    color_name,
    edge_type,
    fields,
    integer,
    list_of,
    mapping_of,
    optional,
    parse_json,
    real,
    reason_of,
    shorten,
    text,
)
from anysize._unpack import Unpacker
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.estimators.base import GraphEstimator
from anysize.estimators.classifier import GraphClassifier
from anysize.estimators.ensemble import Ensemble
from anysize.estimators.novelty import NoveltyDetector
from anysize.estimators.regressor import GraphRegressor
from anysize.estimators.verdict import HeldOutScores, Verdict
from anysize.graphs.attributes import EdgeType, edge_type_order
from anysize.graphs.colors import ColorName, check_palette
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import classes_from_json, classes_to_json
from anysize.kernels.vertex_bins import VertexBins
from anysize.methods.catalog import find_method
from anysize.methods.method import Arrays, Examples, Fitted, Method, Sizes
from anysize.methods.neural import FittedStack
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import Pattern, connected_patterns, pattern_sizes
from anysize.training.device import resolve_device

FORMAT = "anysize model"
VERSION, READ_VERSIONS = 4, (2, 3, 4)
METADATA, TENSORS = "model.json", "model.safetensors"
NOVELTY = "novelty"
MAX_PERMUTATIONS = 10_000  # of relational pooling; 5040 = 7! are all
PATHS = frozenset({"cache"})  # parameters that are not stored, and ignored in a file: they are the caller's alone
ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # a constant: the same model gives the same bytes


class _UnreadableModel(ValueError):
    """The file is not a model file, or one of another version."""


def save_model(model: GraphEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator; the file appears once it is complete."""
    tensors = _safetensors()
    if model.targets_:
        states = [_state(each) for each in model.models_.values()]
        arrays = {f"{number}/{key}": array for number, (_, held) in enumerate(states) for key, array in held.items()}
        arrays, shared = _without_copies(arrays)
        contents = {"targets": list(model.targets_), "models": [about for about, _ in states], "shared": shared}
    else:
        contents, arrays = _state(model)
    about = {"format": FORMAT, "version": VERSION, **contents, "versions": _versions()}
    metadata = json.dumps(about, indent=1, default=_from_numpy).encode()
    with atomic_write(path) as part_path, zipfile.ZipFile(part_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((METADATA, metadata), (TENSORS, tensors.save(arrays))):
            entry = zipfile.ZipInfo(name, ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def _state(model: GraphEstimator) -> tuple[dict[str, Any], Arrays]:
    """What the models of one target are: a dictionary for JSON, and arrays."""
    ensemble = model.ensemble_
    states = {str(number): part.state() for number, part in enumerate(ensemble.parts)}
    states[NOVELTY] = ensemble.novelty.state()
    arrays = {
        f"{owner}.{name}": np.array(array, order="C")
        for owner, (_, held) in states.items()
        for name, array in held.items()
    }
    about = {
        "method": ensemble.method.name,
        "k": ensemble.k,
        "classes": classes_to_json(model.classes_) if isinstance(model, GraphClassifier) else None,
        "palette": None if ensemble.palette is None else list(ensemble.palette),
        "features": list(ensemble.features),
        "bins": None if ensemble.bins is None else ensemble.bins.state(),
        "parameters": _parameters(model),
        "epochs": model.epochs_.tolist(),
        "verdict": asdict(model.verdict_),
        NOVELTY: states.pop(NOVELTY)[0],
        "parts": [about for about, _ in states.values()],
    }
    return about, arrays


def _without_copies(arrays: Arrays) -> tuple[Arrays, dict[str, str]]:
    """The arrays that differ, and the name of an equal one for each of the others: targets share a WL kernel."""
    first: dict[tuple[Any, ...], str] = {}
    shared = {}
    for name, array in arrays.items():
        known = first.setdefault((array.dtype.str, array.shape, sha256(array.tobytes()).digest()), name)
        if known != name:
            shared[name] = known
    return {name: array for name, array in arrays.items() if name not in shared}, shared


def load_model(path: str | os.PathLike[str]) -> GraphClassifier | GraphRegressor:
    """Read what `GraphClassifier.save` or `GraphRegressor.save` wrote.

    On the same machine its predictions are bitwise equal. The models of a classifier are put on its device, or on the
    CPU if this machine does not have it.
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
        arrays = tensors.load(data)
        model = _restored(about, arrays, name)
    except (_UnreadableModel, OSError, ImportError):
        raise
    except Exception as error:  # zip, JSON, safetensors and torch raise various types for damaged contents
        raise ValueError(f"{name} is a damaged model file: {reason_of(error)}") from error
    log.info("loaded %s from %s", model.method, name)
    return model


def _read_members(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """The parsed metadata and the tensors; errors for other files and other versions."""
    foreign = f"{name} is not a model file of anysize; anysize fit and GraphClassifier.save write them"
    if not zipfile.is_zipfile(BytesIO(data)):
        raise _UnreadableModel(foreign)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if METADATA not in archive.namelist():
            raise _UnreadableModel(foreign)
        unpacker = Unpacker(len(data))

        def member(name: str) -> bytes:
            with archive.open(name) as file:
                return unpacker.read(file)

        about = parse_json(member(METADATA), constants=True)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise _UnreadableModel(foreign)
        if about.get("version") not in READ_VERSIONS or "task" in about:  # regressors of version 2 had another form
            versions = about.get("versions")
            written_by = versions.get("anysize") if isinstance(versions, dict) else None
            raise _UnreadableModel(
                f"{name} has model format {shorten(about.get('version'))} (written by anysize "
                f"{written_by if isinstance(written_by, str) else 'of another version'!s:.20}) and anysize "
                f"{__version__} reads format {VERSION}; train the model again or use that version"
            )
        return about, member(TENSORS)


_SIZES: Check = lambda value, path: pattern_sizes(value)  # noqa: E731
_RUN = fields({"configuration": mapping_of(anything), "seed": integer(0)})
_HELD_OUT = fields(
    {
        "protocol": text(),
        "graphs": integer(1),
        "classes": integer(0),
        "scores": mapping_of(real(0)),
        "errors": mapping_of(real(0)),
        "ahead": mapping_of(list_of(real(), 2)),
        "metrics": mapping_of(real()),
        "size_ratio": real(0),
    }
)
_NOVELTY = fields(
    {"colors": optional(list_of(color_name))},
    {
        "k": integer(1, MAX_SIZE),
        "median_size": real(0),
        "max_distance": real(0),
        "mean_size": real(0),
        "edge_types": list_of(edge_type),
    },
)
_CONTENTS: dict[str, Check] = {
    "method": text(),
    "k": _SIZES,
    "classes": optional(anything),  # see `classes_from_json`
    "palette": optional(list_of(color_name)),
    "parameters": fields(
        {"k": _SIZES, "device": text()},
        {
            "method": text(),
            "recipe": text(),
            "n_models": integer(1),
            "random_state": integer(0),
            "validation": optional(real(0, 1)),
            "metric": text(),
            "color": optional(text()),
            "verbose": integer(0),
            "params": optional(mapping_of(anything)),
        },
        others=True,
    ),
    "epochs": list_of(integer()),
    "verdict": fields(
        {
            "metric": text(),
            "train": mapping_of(real()),
            "validation": optional(mapping_of(real())),
            "doubt": optional(text()),
            "suggestions": list_of(list_of(anything, 2)),
        },
        {"held_out": list_of(_HELD_OUT)},
    ),
    NOVELTY: _NOVELTY,
    "parts": list_of(fields({"runs": list_of(_RUN)}, others=True)),
}
_HEAD: dict[str, Check] = {"format": text(), "version": integer(), "versions": mapping_of(text())}
_OPTIONAL: dict[str, Check] = {"features": list_of(text()), "bins": anything}  # see `VertexBins.from_state`
_SCHEMA = fields(_HEAD | _CONTENTS, _OPTIONAL)
_SEVERAL = fields(
    _HEAD | {"targets": list_of(text()), "models": list_of(fields(_CONTENTS, _OPTIONAL)), "shared": mapping_of(text())}
)
_RECIPE = fields({}, {"test_permutations": integer(1, MAX_PERMUTATIONS), "permutations": anything}, others=True)


def _check_shapes(state: Any, arrays: Mapping[str, Any]) -> None:
    """A ValueError if the announced shape of a stack is larger than its arrays: it would be allocated first."""
    if not isinstance(state, dict):
        return
    elements = sum(array.size for array in arrays.values())
    sizes = integer(1, elements)
    if "shape" in state:
        shape = fields(
            {"inputs": sizes, "hidden": sizes, "classes": sizes, "layers": integer(1, len(arrays)), "recipe": _RECIPE},
            {"k": integer(1, MAX_SIZE), "types": integer(0, elements)},
            others=True,
        )(state["shape"], "shape")
        head = shape["recipe"].get("head_hidden")
        if (shape["inputs"] + shape.get("types", 0)) * shape["hidden"] > elements or (
            head is not None and sizes(head, "head_hidden") < 1
        ):
            raise ValueError(f"shape: expected at most {elements} weights, as many as are stored")
        list_of(fields({}, {"jumping": boolean}, others=True))(state.get("members"), "members")
        if len(state["members"]) != len(state["runs"]):
            raise ValueError(f"members: expected {len(state['runs'])}, one per run; got {len(state['members'])}")
    experts = state.get("experts")
    for expert in experts.values() if isinstance(experts, dict) else ():
        _check_shapes(expert, arrays)


@dataclass(frozen=True, eq=False)
class _Probe(Examples):
    """One graph, a single copy of the first pattern: a restored model must be able to predict it.

    Counts are written down, not counted: a machine that only predicts from tables needs no compiler.
    """

    palette: tuple[ColorName, ...] | None = None
    edge_types: tuple[EdgeType, ...] | None = None

    @staticmethod
    def of(
        k: Sizes, palette: tuple[ColorName, ...] | None, features: tuple[str, ...],
        edge_types: tuple[EdgeType, ...] | None,
    ) -> _Probe:  # fmt: skip
        pattern = _first_pattern(k, palette)
        graphs = GraphSet.from_edges(
            list(pattern.edges), n_vertices=pattern.size, colors=pattern.colors,
            edge_colors=[0] * len(pattern.edges),  # models that were trained without any ignore them
            features=np.zeros((pattern.size, len(features))) if features else None,
        )  # fmt: skip
        graphs = graphs if palette is None else graphs.with_palette(palette)
        return _Probe(graphs, palette=palette, edge_types=edge_types)

    def binned(self, bins: VertexBins | None) -> _Probe:
        if bins is None:
            return self
        graphs = bins.transform(self.whole("a method on bins"))
        return _Probe(graphs, palette=graphs.palette, edge_types=self.edge_types)

    def counts(
        self, k: Sizes, cache: Any = None, colors: bool = True, edges: bool = False, progress: Any = None
    ) -> Counts:  # fmt: skip
        palette = self.palette if colors else None
        pattern = _first_pattern(k, palette)
        if edges and self.edge_types is not None:
            kinds = (min(self.edge_types, key=edge_type_order),) * len(pattern.edges)
            columns = Columns.of([replace(pattern, edge_types=kinds)])
        else:
            sizes = (k,) if isinstance(k, int) else k
            columns = Columns.plain(*sizes) if palette is None else Columns.of([pattern])
        columns = columns.recoded(palette or ())
        matrix = csr_array(([1], ([0], [0])), shape=(1, len(columns)), dtype=np.int64)
        return Counts(matrix, columns, np.array([pattern.size]))


def _first_pattern(k: Sizes, palette: tuple[ColorName, ...] | None) -> Pattern:
    pattern = connected_patterns(k if isinstance(k, int) else min(k))[0]
    return pattern.colored((palette[0],) * pattern.size) if palette else pattern


def _check_prediction(model: GraphClassifier | GraphRegressor) -> None:
    """A ValueError unless every part gives a number, or probabilities of all classes: parts depend on the method."""
    ensemble, classes = model.ensemble_, len(model.classes_) if isinstance(model, GraphClassifier) else 0
    probe = _Probe.of(ensemble.k, ensemble.palette or None, ensemble.features, ensemble.novelty.edge_types)
    probe = probe.binned(ensemble.bins)
    for part in ensemble.parts:
        outputs = part.outputs(probe)
        if outputs.shape != (len(part.runs), 1, classes or 1):
            raise ValueError(f"expected outputs for {classes or 1} classes; its models give {outputs.shape[-1]}")
        if not np.isfinite(outputs).all() or (classes and not ((outputs > -1e-6) & (outputs < 1 + 1e-6)).all()):
            raise ValueError("its models give no probabilities or numbers: their weights are not finite or do not fit")


def _restored(about: dict[str, Any], arrays: Mapping[str, Any], name: str) -> GraphClassifier | GraphRegressor:
    _check_finite(arrays)
    if "targets" not in about:
        return _restored_target(_SCHEMA(_updated(about), ""), _updated_arrays(arrays), name)
    about = _SEVERAL(about, "")
    targets, contents, shared = about["targets"], about["models"], about["shared"]
    if not 0 < len(targets) == len(set(targets)) == len(contents):
        raise ValueError("targets: expected different names, one for each of the models")
    if not shared.keys().isdisjoint(arrays) or not arrays.keys() >= set(shared.values()):
        raise ValueError("shared: expected names of arrays that are stored, for others that are not")
    arrays = {**arrays, **{copy: arrays[known] for copy, known in shared.items()}}
    models = {}
    for number, (target, each) in enumerate(zip(targets, contents, strict=True)):
        models[target] = _restored_target(each, arrays_of(f"{number}/", arrays), name)
    inputs = {
        (type(model), model.ensemble_.method.name, model.ensemble_.k, model.ensemble_.palette)
        for model in models.values()
    }
    if len(inputs) > 1:
        raise ValueError("models: expected those of one method on one kind of graphs")
    model = _unfitted(contents[0])
    model.targets_, model.models_ = tuple(targets), models
    model.verdict_ = {target: each.verdict_ for target, each in models.items()}
    if isinstance(model, GraphClassifier):
        model.classes_ = [each.classes_ for each in models.values()]
    return model


def _unfitted(about: dict[str, Any]) -> GraphClassifier | GraphRegressor:
    """An estimator with the parameters of one in a file."""
    parameters = {name: value for name, value in about["parameters"].items() if name not in PATHS}
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    return GraphRegressor(**parameters) if about["classes"] is None else GraphClassifier(**parameters)


def _restored_target(about: dict[str, Any], arrays: Mapping[str, Any], name: str) -> GraphClassifier | GraphRegressor:
    """The estimator of one target; see `_state`."""
    for part in about["parts"]:
        _check_shapes(part, arrays)
    model = _unfitted(about)
    method = _find_method(about["method"], name)
    with naming_extra(f"The method {method.name}"):
        parts = tuple(
            _on_device(method.learner.restore(part, arrays_of(f"{number}.", arrays)), model.device)
            for number, part in enumerate(about["parts"])
        )
    if not parts:
        raise ValueError("it holds no models")
    palette = _palette(about["palette"])
    novelty = NoveltyDetector.from_state(about[NOVELTY], arrays_of(f"{NOVELTY}.", arrays))
    if isinstance(model, GraphClassifier):
        model.classes_ = classes_from_json(about["classes"])
    model.targets_, model.models_ = (), {}
    features = tuple(about.get("features", ()))
    bins = None if about.get("bins") is None else VertexBins.from_state(about["bins"])
    model.ensemble_ = Ensemble(
        method, pattern_sizes(about["k"]), palette, novelty.edge_types, bins, parts, novelty, features
    )
    model.epochs_ = np.array(about["epochs"], np.int64)
    model.verdict_ = _verdict(about["verdict"])
    _check_prediction(model)
    return model


def _updated(about: dict[str, Any]) -> dict[str, Any]:
    """Metadata of version 2 in the form of this one: metrics of held-out scores had one field, ROC-AUC."""
    verdict = about.get("verdict")
    held_out = verdict.get("held_out") if isinstance(verdict, dict) else None
    for scores in held_out if about["version"] == 2 and isinstance(held_out, list) else ():
        if isinstance(scores, dict):
            area = scores.pop("auc", None)
            scores["metrics"] = {} if area is None else {"roc_auc": area}
    return about


def _updated_arrays(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arrays of version 2 by the names of this one: the last step of a pipeline was called classifier."""
    return {name.replace(".classifier.", ".model."): array for name, array in arrays.items()}


def _check_finite(arrays: Mapping[str, Any]) -> None:
    for key, array in arrays.items():
        check_array(array, f"the array {key!r:.60}", "biuf", array.shape)


def _palette(held: list[ColorName] | None) -> tuple[ColorName, ...] | None:
    palette = None if held is None else tuple(held)
    if palette is not None and check_palette(palette) != palette:
        raise ValueError("palette: expected sorted color names")
    return palette


def _verdict(about: dict[str, Any]) -> Verdict:
    scores = tuple(
        HeldOutScores(**each | {"ahead": {name: tuple(pair) for name, pair in each["ahead"].items()}})
        for each in about.get("held_out", [])
    )
    return Verdict(**about | {"suggestions": tuple(map(tuple, about["suggestions"])), "held_out": scores})


def _find_method(method: str, name: str) -> Method:
    try:
        return find_method(method)
    except ValueError as error:
        raise _UnreadableModel(
            f"{name} holds a model of the method {method!r:.60}, which is not registered; call "
            "anysize.methods.catalog.register first, or set ANYSIZE_METHODS"
        ) from error


def _on_device(part: Fitted, device: str) -> Fitted:
    """The models on their device, or on the CPU if this machine does not have it."""
    if isinstance(part, FittedStack):
        try:
            part.stack.model.to(resolve_device(device))
        except ValueError:
            part.stack.model.to("cpu")
    return part


def _parameters(model: GraphEstimator) -> dict[str, Any]:
    """The parameters of the estimator for JSON, without paths.

    Keys of class weights may be numbers: the mapping becomes pairs.
    """
    parameters: dict[str, Any] = {
        name: value for name, value in model.get_params(deep=False).items() if name not in PATHS
    }
    if isinstance(parameters.get("class_weight"), Mapping):
        parameters["class_weight"] = [[name, weight] for name, weight in parameters["class_weight"].items()]
    if not isinstance(parameters["k"], int):
        parameters["k"] = pattern_sizes(parameters["k"])
    if parameters["params"] is not None:
        parameters["params"] = dict(parameters["params"])
    return parameters


def _from_numpy(value: Any) -> Any:
    """Numbers and arrays of numpy as Python numbers and lists."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be written to a model file")


def _versions() -> dict[str, str]:
    versions = {"anysize": __version__, "python": platform.python_version(), "numpy": np.__version__}
    with suppress(PackageNotFoundError):  # SizeMix, kernels and baselines do without torch
        versions["torch"] = version("torch")
    return versions


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError("model files need safetensors: pip install 'anysize[learn]'") from error
    return safetensors.numpy
