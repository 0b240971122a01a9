"""What is attacked: every reader of graphs and every loader of files, each with valid inputs to start from."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from fuzz.mutations import damaged_bytes, damaged_text, forged_array, forged_json, json_bytes

import anysize as az
from anysize.counting.cache import CountCache, _seal
from anysize.counting.counts import Counts
from anysize.counting.stream import count_stream, open_stream
from anysize.evaluation.records import CHECK_START, Curves, Outcome, Record, Scores, to_line
from anysize.evaluation.store import RecordStore
from anysize.io.labels import read_labels
from anysize.kernels.wl import WLKernel

Write = Callable[[Path, Random], Path]  # (empty folder, chance) -> the attacked file or folder

FAST_METHODS = ("gamma-1hot", "wl-kernel", "gc-kernel", "sizemix", "size-only")


@dataclass(frozen=True)
class Target:
    """A reader or loader.

    Attributes:
        write: makes an input, valid or not.
        load: reads it, and uses what it has read; a ValueError is a refusal.
        names_file: whether errors name the file.
    """

    name: str
    write: Write
    load: Callable[[Path], Any]
    names_file: bool = True


# ---- graphs ------------------------------------------------------------------------------------------

MOLECULE = {
    "edges": [[0, 1], [1, 2], [2, 3], [0, 3]], "colors": ["C", "N", "C", "O"], "y": 1, "name": "a", "n": 4,
    "edge_colors": ["single", "double", 1, "single"], "features": [[0.5, 1], [1, 2], [0, 0], [1, 1]],
    "feature_names": ["charge", "mass"], "directed": True,
}  # fmt: skip
TEXTS = {
    "graph.txt": b"# a comment\n0 1\n1 2\n2 0\n3 4 0.5\n",
    "header.edges": b"5 3\n1 2\n2 3\n4 5\n",
    "names.txt": b"ann bob\nbob cat\ncat ann\n",
    "table.csv": b"graph,source,target,weight\na,0,1,0.5\na,1,2,1\nb,0,1,0.25\n",
    "typed.csv": b"graph,source,target,type\na,0,1,single\na,1,0,double\nb,0,1,1\n",
    "matrix.csv": b"0,1,0\n1,0,2.5\n0,2.5,0\n",
    "indexed.csv": b",a,b\na,0,1\nb,1,0\n",
    "graph.gml": (
        b'graph [\n directed 1\n node [ id 0 color "C" ]\n node [ id 1 color "N" ]\n edge [ source 0 target 1 ]\n]\n'
    ),
    "graph.graphml": (
        b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="c" for="node" attr.name="color" '
        b'attr.type="string"/><graph edgedefault="undirected"><node id="a"><data key="c">C</data></node><node id="b"/>'
        b'<edge source="a" target="b"/></graph></graphml>'
    ),
    "lists.txt": b"2\n3 0\n1 1 1\n0 2 0 2\n1 1 1\n2 1\n0 1 1\n0 1 0\n",
    "graphs.jsonl": json.dumps(MOLECULE).encode() + b"\n" + json.dumps(MOLECULE | {"y": 2}).encode() + b"\n",
}
TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n", "graph_labels": "0\n1\n",
    "node_labels": "0\n1\n0\n1\n1\n", "node_label_names": '"C"\n"N"\n', "graph_label_names": '"a"\n"b"\n',
    "edge_labels": "0\n0\n1\n1\n1\n0\n", "edge_label_names": '"x"\n"y"\n', "edge_directions": "0\n0\n1\n2\n0\n0\n",
    "node_attributes": "1.5, 2\n1, -3e-2\n0, 0\n1, 1\n2, 2\n", "node_attribute_names": '"f"\n"g"\n',
}  # fmt: skip
SMILES = b"smiles,activity\nCCO,1\nc1ccccc1,0\nCC(=O)O,1\n"
SMALL = az.GraphSet.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]], y=["a", "b"])


FULL = az.GraphSet.from_edges(
    [[(0, 1), (1, 0), (2, 0)], [(0, 1), (1, 2), (2, 3)]], y=["a", "b"], directed=True,
    edge_colors=[["x", "y", "x"], ["x", "y", "y"]], features=[[1, 2, 3], [1, 2, 3, 4]],
)  # fmt: skip


def use_graphs(graphs: az.GraphSet) -> None:
    """Whatever was read is a set of simple graphs that can be counted."""
    graphs.check()
    if graphs.first[-1] < 200:
        az.count(graphs, 3, threads=1)
    repr(graphs)
    (graphs + graphs)[::-1].check()
    WLKernel(2).fit(graphs)


def write_text(name: str, data: bytes, folder: Path, chance: Random) -> Path:
    (folder / name).write_bytes(damaged_text(data, chance))
    return folder / name


def write_gzip(folder: Path, chance: Random) -> Path:
    data = gzip.compress(TEXTS["graph.txt"] * chance.choice((1, 1000)), mtime=0)
    (folder / "graph.txt.gz").write_bytes(damaged_bytes(data, chance))
    return folder / "graph.txt.gz"


def write_tu(folder: Path, chance: Random) -> Path:
    struck = chance.choice(list(TU))
    for ending, text in TU.items():
        data = damaged_text(text.encode(), chance) if ending == struck else text.encode()
        if ending != struck or chance.random() < 0.9:
            (folder / f"SET_{ending}.txt").write_bytes(data)
    return folder


def write_tu_zip(folder: Path, chance: Random) -> Path:
    path = folder / "SET.zip"
    struck, method = chance.choice([*TU, None]), chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(path, "w", method) as archive:
        for ending, text in TU.items():
            data = text.encode()
            archive.writestr(f"SET/SET_{ending}.txt", damaged_text(data, chance) if ending == struck else data)
    if struck is None:
        path.write_bytes(damaged_bytes(path.read_bytes(), chance))
    return path


def write_json_lines(folder: Path, chance: Random) -> Path:
    lines = [json_bytes(forged_json(MOLECULE, chance)), json_bytes(MOLECULE)]
    (folder / "graphs.jsonl").write_bytes(b"\n".join(lines[: chance.choice((1, 2))]))
    return folder / "graphs.jsonl"


WEIGHTS = np.array([[1, 0.5, -0.2], [0.5, 1, 0.7], [-0.2, 0.7, 1]])


def some_array_files() -> dict[str, bytes]:
    """Matrices as .npy, .npz (also of scipy) and .mat."""
    files = {name: io.BytesIO() for name in ("m.npy", "m.npz", "sparse.npz", "m.mat", "small.mat")}
    np.save(files["m.npy"], np.stack([WEIGHTS, WEIGHTS]))
    np.savez(files["m.npz"], a=WEIGHTS, b=WEIGHTS[:2, :2])
    sp.save_npz(files["sparse.npz"], sp.csr_matrix(WEIGHTS))
    scipy.io.savemat(files["m.mat"], {"a": WEIGHTS, "b": sp.csc_matrix(WEIGHTS)})
    scipy.io.savemat(files["small.mat"], {"a": WEIGHTS}, do_compression=True)
    return {name: file.getvalue() for name, file in files.items()}


def write_arrays(files: dict[str, bytes], folder: Path, chance: Random) -> Path:
    """A file of matrices with a forged array, or with damaged bytes."""
    name = chance.choice(list(files))
    data = files[name]
    if name.endswith(".npz") and chance.random() < 0.6:
        with np.load(io.BytesIO(data)) as archive:
            arrays = dict(archive)
        struck = chance.choice(list(arrays))
        arrays[struck] = forged_array(arrays[struck], chance)
        written = io.BytesIO()
        np.savez(written, **arrays)
        data = written.getvalue()
    else:
        data = damaged_bytes(data, chance)
    (folder / name).write_bytes(data)
    return folder / name


def read_own_labels(path: Path) -> None:
    read_labels(path, ("a", "b"))
    read_labels(path, ("a", "b"), "label")


# ---- arrays in memory --------------------------------------------------------------------------------


def write_seed(folder: Path, chance: Random) -> Path:
    """Arrays in memory are drawn by the loader; the file holds the seed."""
    (folder / "seed.txt").write_text(str(chance.getrandbits(60)))
    return folder / "seed.txt"


def load_sparse(path: Path) -> None:
    chance = Random(path.read_text())
    kind = chance.choice((sp.csr_array, sp.csc_array, sp.bsr_array, sp.coo_array, sp.dia_array, sp.csr_matrix))
    matrix = kind(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], np.float64))
    parts = {"coo": ("data", "row", "col"), "dia": ("data", "offsets")}
    names = parts.get(matrix.format, ("data", "indices", "indptr"))
    for name in chance.sample(names, chance.choice((1, 1, 2))):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                setattr(matrix, name, forged_array(getattr(matrix, name), chance))
        except (AttributeError, TypeError, ValueError):  # scipy refuses it itself
            return
    use_graphs(az.GraphSet.from_scipy(matrix))


def load_arrays(path: Path) -> None:
    chance = Random(path.read_text())
    match chance.randrange(3):
        case 0:
            use_graphs(az.GraphSet.from_edges(forged_array(np.array([[0, 1], [1, 2], [2, 3]]), chance)))
        case 1:
            colors = forged_array(np.array([0, 1, 1, 2]), chance)
            use_graphs(az.GraphSet.from_edges([(0, 1), (1, 2), (2, 3)], colors=colors))
        case _:
            names = ("first", "indptr", "indices", "edge_colors", "directions", "features")
            struck = chance.choice(names)
            held = getattr(FULL, struck)
            changed = forged_array(held, chance)
            with np.errstate(all="ignore"):
                changed = changed.astype(held.dtype) if changed.dtype.kind in "biuf" else changed
            use_graphs(replace(FULL, **{struck: changed}))


# ---- tables, streams, caches -------------------------------------------------------------------------


def some_tables() -> list[Counts]:
    colored = az.GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1)]], colors=[["C", "N", "C"], [1, "C"]], y=[0.5, 1])
    return [
        az.count(SMALL, (2, 3), threads=1),
        az.count(colored, 2, threads=1),
        az.count(FULL, 3, threads=1, edges=True),
        az.count(SMALL, 3, engine="sample", samples=50, threads=1),
    ]


def forged_npz(data: bytes, chance: Random) -> bytes:
    """A table with a forged description or array, or with damaged bytes."""
    if chance.random() < 0.25:
        return damaged_bytes(data, chance)
    with np.load(io.BytesIO(data)) as archive:
        arrays = dict(archive)
    struck = chance.choice([*arrays, "about", "about", "about"])
    if struck == "about":
        about = json_bytes(forged_json(json.loads(arrays["about"].tobytes()), chance))
        arrays["about"] = np.frombuffer(about, np.uint8)
    elif chance.random() < 0.1:
        del arrays[struck]
    else:
        arrays[struck] = forged_array(arrays[struck], chance)
    written = io.BytesIO()
    np.savez_compressed(written, **arrays)
    return written.getvalue()


def use_counts(counts: Counts) -> None:
    for over in ("subsets", "maps", "connected"):
        if not np.isfinite(counts.densities(over).toarray()).all():  # type: ignore[arg-type]
            raise AssertionError("densities that are not finite")
    Counts.concatenate([counts, counts]).align(counts)
    counts.to_pandas()
    counts.interval()
    repr(counts)
    counts[:1].totals()


def write_counts(tables: Sequence[bytes], folder: Path, chance: Random) -> Path:
    (folder / "counts.npz").write_bytes(forged_npz(chance.choice(tables), chance))
    return folder / "counts.npz"


def write_cache(entry: bytes, key: str, folder: Path, chance: Random) -> Path:
    """An entry with a forged table and the seal that belongs to it."""
    length = len(_seal(key, b""))
    body = forged_npz(entry[:-length][:-2] + b"\0\0", chance)
    sealed = body[:-2] + length.to_bytes(2, "little")
    path = folder / key[:2] / f"{key}.npz"
    path.parent.mkdir()
    path.write_bytes(sealed + _seal(key, sealed))
    return folder


def load_cache(path: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = CountCache(path).get(SMALL, {"k": [2, 3]})
    if found is None:
        raise ValueError(str(told[0].message))
    use_counts(found)


def write_stream(stream: Path, folder: Path, chance: Random) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = folder / "stream"
    shutil.copytree(stream, copy)
    struck = chance.choice(["stream.json", "stream.json", "counts", "graphs", "patterns"])
    if struck == "stream.json":
        file = copy / struck
        file.write_bytes(json_bytes(forged_json(json.loads(file.read_text()), chance)))
        return copy
    file = copy / struck / chance.choice(("000000.parquet", "000001.parquet"))
    if chance.random() < 0.4:
        file.write_bytes(damaged_bytes(file.read_bytes(), chance))
        return copy
    table = pq.read_table(file)
    name = chance.choice(table.column_names)
    place = table.column_names.index(name)
    try:
        values = pa.array(forged_array(table[name].to_numpy(), chance))
        table = table.set_column(place, name, values) if chance.random() < 0.9 else table.remove_column(place)
    except (pa.ArrowException, ValueError, TypeError, IndexError):  # Arrow has no such array
        table = table.slice(1)
    if struck == "patterns" and chance.random() < 0.5:
        about = forged_json(json.loads(table.schema.metadata[b"anysize"]), chance)
        table = table.replace_schema_metadata({"anysize": json_bytes(about)})
    pq.write_table(table, file)
    return copy


def load_stream(path: Path) -> None:
    stream = open_stream(path)
    repr(stream)
    use_counts(stream.counts())
    stream.patterns()


# ---- records and models ------------------------------------------------------------------------------


def some_records() -> list[Record]:
    reached = Outcome(Scores(1.0, 0.9, 0.8), Scores(0.1), 0.5, 3, "0110", {"accuracy": 0.8}, ((0, 1, 2, 3),))
    return [
        Record("sbm-20", "published", "gamma-gin", "paper", {"lr": 0.01, "hidden": 32}, 0, reached, epochs=9,
               alternatives={"last": Outcome(Scores(test=0.5), predictions="0000")}, labels="0111",
               curves=Curves((1, 2), (0.5, None), (1.0, 0.5)), versions={"numpy": "2"}, device="cpu", seconds=1.5,
               when="2026-01-01T00:00:00+00:00"),
        Record("NCI1", "seed:7", "wl-kernel", "robust", {"C": 1, "x": None, "name": "é"}, 3, Outcome(Scores(test=0.5))),
    ]  # fmt: skip


def write_records(folder: Path, chance: Random) -> Path:
    """Lines with forged fields and the checksum that belongs to them, or damaged bytes, beside a good line."""
    good, bad = (to_line(record) for record in chance.sample(some_records(), 2))
    if chance.random() < 0.75:
        held = json.loads(bad)
        del held["check"]
        first = {name: held.pop(name) for name in ("format", "key")}  # a line must begin with them
        forged = forged_json(held, chance)
        body = json_bytes(first | (forged if isinstance(forged, dict) else {"task": forged}))
        bad = body[:-1] + CHECK_START + sha256(body).hexdigest()[:16].encode() + b'"}\n'
    else:
        bad = damaged_bytes(bad, chance)
    content = bad + good if bad.endswith(b"\n") else good + bad
    if chance.random() < 0.3:
        (folder / "a.jsonl.gz").write_bytes(damaged_bytes(gzip.compress(content, mtime=0), chance))
    else:
        (folder / "a.jsonl").write_bytes(content)
    return folder


def load_records(path: Path) -> None:
    refused = []
    for curves in (True, False):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = RecordStore(path).read(curves=curves)
        refused += [str(one.message) for one in told]
        for record in found:
            to_line(record)
            record.outcome("last")
        if not found and (path / "a.jsonl").exists():
            raise AssertionError("a damaged line made the good one unreadable")
    if refused:
        raise ValueError(refused[0])


def some_models(methods: Sequence[str]) -> list[bytes]:
    import torch

    torch.set_num_threads(1)
    edges = [[(v, v + 1) for v in range(4 + n % 3)] + [(0, 2)] * (n % 2) for n in range(24)]
    colors = [["C" if v % 3 else "N" for v in range(5 + n % 3)] for n in range(24)]
    y = np.array(["a", "b", "c"])[np.arange(24) % 3]
    types = [[chr(97 + (v + n) % 2) for v in range(len(one))] for n, one in enumerate(edges)]
    graphs = az.GraphSet.from_edges(edges, colors=colors, y=y, edge_colors=types, directed=True)
    file = Path(shutil.os.environ.get("TMPDIR", "/tmp")) / f"anysize-fuzz-{shutil.os.getpid()}.model"
    saved = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for regression in ("sizemix", "wl-kernel", "size-only"):
            az.GraphRegressor(regression).fit(graphs, np.sqrt(np.arange(24))).save(file)
            saved.append(file.read_bytes())
        several = np.where(np.arange(72).reshape(24, 3) % 7, np.arange(72).reshape(24, 3) % 2, np.nan)
        az.GraphClassifier("sizemix", k=3).fit(graphs, several).save(file)
        saved.append(file.read_bytes())
        graphs = graphs.with_features(np.arange(2 * len(graphs.degrees)).reshape(-1, 2) % 7)
        for method in methods:
            params = {"epochs": 2, "hidden": 4} if az.METHODS[method].has_epochs else None
            row = az.METHODS[method]
            if "classes" not in row.predicts or row.compares_environments(row.default("robust")):
                continue
            model = az.GraphClassifier(method, k=3, params=params)
            model.fit(graphs)
            model.save(file)
            saved.append(file.read_bytes())
    file.unlink()
    return saved


def write_model(models: Sequence[bytes], folder: Path, chance: Random) -> Path:
    from safetensors.numpy import load, save

    path, data = folder / "model.anysize", chance.choice(models)
    kind = chance.random()
    if kind < 0.15:
        path.write_bytes(damaged_bytes(data, chance))
        return path
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if kind < 0.65:
        members["model.json"] = json_bytes(forged_json(json.loads(members["model.json"]), chance))
    elif kind < 0.75:
        members["model.safetensors"] = damaged_bytes(members["model.safetensors"], chance)
    else:
        arrays = load(members["model.safetensors"])
        name = chance.choice([*arrays, "0.extra"])
        forged = forged_array(arrays.get(name, np.ones(3)), chance)
        if forged.dtype.kind in "biuf":
            members["model.safetensors"] = save(arrays | {name: forged})
    with zipfile.ZipFile(path, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return path


PROBED = az.GraphSet.from_edges(
    [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]], colors=[["C", "N", "C"], ["C", "O", "N"]], directed=True,
    edge_colors=[["a", "b", "c"], ["a", "b"]], features=[[[0, 1], [5, 2], [3, 3]], [[6, 0], [1, 1], [2, 9]]],
)  # fmt: skip


def load_model(path: Path) -> None:
    model = az.load_model(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if isinstance(model, az.GraphRegressor):
                model.predict(PROBED)  # an error unless all are finite
                return
            chances = model.predict_proba(PROBED)
        except ValueError as error:  # such as a model of graphs without colors: a sentence about the graphs
            raise ValueError(f"{path}: {error}") from error
    tables = list(zip(chances, model.classes_, strict=True)) if model.targets_ else [(chances, model.classes_)]
    for table, classes in tables:
        if table.shape != (2, len(classes)) or not np.isfinite(table).all():
            raise AssertionError(f"probabilities of shape {table.shape}")


# ---- all ---------------------------------------------------------------------------------------------


def all_targets(folder: Path, methods: Sequence[str] = FAST_METHODS) -> list[Target]:
    """Every target; valid inputs that take time to make are made here."""

    def graphs(path: Path) -> None:
        use_graphs(az.read_graphs(path, warn=False))

    def matrices(path: Path) -> None:
        use_graphs(az.read_graphs(path, threshold=0.3, warn=False))

    found = [Target(name, partial(write_text, name, data), graphs) for name, data in TEXTS.items()]
    found += [
        Target("json values", write_json_lines, graphs),
        Target("gzip", write_gzip, graphs),
        Target("TU folder", write_tu, graphs),
        Target("TU zip", write_tu_zip, graphs),
        Target("labels", partial(write_text, "labels.csv", b"name,label\na,1\nb,2\n"), read_own_labels),
        Target("sparse matrices", write_seed, load_sparse, names_file=False),
        Target("arrays", write_seed, load_arrays, names_file=False),
        Target("files of matrices", partial(write_arrays, some_array_files()), matrices),
    ]
    try:
        import rdkit  # noqa: F401

        def molecules(path: Path) -> None:
            use_graphs(az.read_graphs(path, smiles="smiles", y="activity", warn=False))

        found.append(Target("SMILES", partial(write_text, "m.csv", SMILES), molecules))
    except ImportError:
        pass
    tables = []
    for number, table in enumerate(some_tables()):
        table.save(folder / f"{number}.npz")
        tables.append((folder / f"{number}.npz").read_bytes())
    found.append(Target("counts", partial(write_counts, tables), lambda path: use_counts(Counts.load(path))))
    cache = CountCache(folder / "cache")
    cache.put(SMALL, {"k": [2, 3]}, some_tables()[0])
    key = cache.key(SMALL, {"k": [2, 3]})
    found.append(Target("cache", partial(write_cache, cache._path(key).read_bytes(), key), load_cache))
    for name, options in (("stream", {}), ("stream of estimates", {"engine": "sample", "samples": 50})):
        batches = [SMALL, PROBED.without_colors().with_y(["a", "b"])]
        count_stream(batches, 3, folder / name, threads=1, **options)
        found.append(Target(name, partial(write_stream, folder / name), load_stream))
    found.append(Target("records", write_records, load_records))
    found.append(Target("models", partial(write_model, some_models(methods)), load_model))
    return found
