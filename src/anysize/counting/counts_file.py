"""File format of `Counts`: a numpy ``.npz`` archive without pickled objects, readable with numpy alone.

``data, indices, indptr`` are the CSR matrix (graphs x patterns), ``sizes`` the vertices of the graphs, ``y`` their
labels if any. ``pattern_size`` and ``pattern_code`` are the patterns (bit j (j - 1) / 2 + i for the edge i < j),
``pattern_colors`` their colors as indices into the palette, ``pattern_edge_types`` their types of edges (see
`anysize.counting.columns.Columns`). ``about`` is JSON in UTF-8: format, palette, names, log. A
table of estimates also has, cell by cell, ``hits`` and ``errors``, and by graph ``rates``, ``samples`` and
``exact_cliques``.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from io import BytesIO
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._files import atomic_write
from anysize._schema import (
    check_array,
    check_compressed_rows,
    color_name,
    edge_type,
    fields,
    integer,
    list_of,
    optional,
    parse_json,
    reason_of,
    shorten,
    text,
)
from anysize._typing import PathLike
from anysize._unpack import Unpacker
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.sampling.estimates import Sampling
from anysize.graphs.attributes import EdgeType
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import connected_patterns

FORMAT = "anysize counts 2"

Arrays = dict[str, NDArray[Any]]


_ABOUT = fields(
    {
        "format": text(),
        "shape": list_of(integer(0), 2),
        "palette": list_of(color_name),
        "names": optional(list_of(text())),
        "log": list_of(text()),
    },
    {"edge_palette": list_of(edge_type)},
)
_ARRAYS = ("data", "indices", "indptr", "sizes", "pattern_size", "pattern_code")
_MOST_COPIES = 1e100  # far above any number of 7-sets of vertices; products stay finite
_SAMPLED_ARRAYS = ("errors", "rates", "samples", "exact_cliques")


def save(counts: Counts, path: PathLike) -> None:
    """Write a table; the file appears when it is complete."""
    arrays = to_arrays(counts)
    with atomic_write(path) as part, open(part, "wb") as file:
        write_arrays(arrays, file)


def write_arrays(arrays: Arrays, file: IO[bytes]) -> None:
    """Write the arrays of `to_arrays`."""
    np.savez_compressed(file, **cast(dict[str, Any], arrays))


def load(path: PathLike) -> Counts:
    """Read a table; a ValueError says why a file is not one."""
    try:
        with open(path, "rb") as file:
            return read_table(file.read())
    except FileNotFoundError:
        raise
    except Exception as error:  # from zipfile, json or numpy: the file is damaged or something else
        raise ValueError(f"{os.fspath(path)} is not a readable table of counts: {reason_of(error)}") from error


def read_table(data: bytes) -> Counts:
    """The table in the bytes of a file."""
    if not zipfile.is_zipfile(BytesIO(data)):
        raise ValueError("it is no .npz file, or it is cut off")
    unpacker, arrays = Unpacker(len(data)), {}
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                arrays[name.removesuffix(".npy")] = _array(unpacker.read(member), name)
    if "about" not in arrays:
        raise ValueError("the array about is missing")
    about = parse_json(arrays.pop("about").tobytes())
    check_format(about.get("format") if isinstance(about, dict) else None, FORMAT)
    return from_arrays(about, arrays)


def _array(data: bytes, name: str) -> NDArray[Any]:
    """The array in a ``.npy`` file; a ValueError before anything is allocated if its header announces another size."""
    stream = BytesIO(data)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(stream)
    if version not in headers:
        raise ValueError(f"{name}: expected a .npy file of version 1 or 2; got {version}")
    shape, _, dtype = headers[version](stream)
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - stream.tell() or dtype.hasobject:
        raise ValueError(f"{name}: expected {shape} values of {dtype}; got {len(data) - stream.tell()} bytes")
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def check_format(given: Any, expected: str) -> None:
    """Raise a ValueError unless a file has the expected format, such as "anysize counts 2"."""
    if given == expected:
        return
    kind, _, number = expected.rpartition(" ")
    if given in [f"{kind} {older}" for older in range(int(number))]:
        raise ValueError(f"it was made by an older version of anysize ({given!r}, expected {expected!r}); count again")
    raise ValueError(f"expected the format {expected!r}, got {shorten(given)}")


def to_arrays(counts: Counts) -> Arrays:
    """The arrays of a file, including ``about``."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "shape": list(counts.shape),
        "palette": list(counts.palette),
        "names": None if counts.names is None else list(counts.names),
        "log": list(map(str, counts.log)),
    }
    columns, matrix = counts.columns, counts.matrix
    if columns.edge_types is not None:
        about["edge_palette"] = [list(kind) for kind in columns.edge_palette]
    arrays: Arrays = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "sizes": counts.sizes,
        "pattern_size": columns.size,
        "pattern_code": columns.codes,
    }
    if columns.colors is not None:
        arrays["pattern_colors"] = columns.colors
    if columns.edge_types is not None:
        arrays["pattern_edge_types"] = columns.edge_types
    if counts.y is not None:
        if counts.y.dtype == object:
            raise ValueError("labels must be numbers or strings to be saved; got Python objects")
        arrays["y"] = counts.y
    if counts.sampling is not None:
        sampling = counts.sampling
        arrays |= {"hits": sampling.hits.data, "errors": sampling.errors.data, "rates": sampling.rates}
        arrays |= {"samples": sampling.samples, "exact_cliques": sampling.exact_cliques}
    return arrays


def from_arrays(about: dict[str, Any], arrays: Arrays) -> Counts:
    """The table of the arrays of `to_arrays`, with ``about`` as a dictionary."""
    about = _ABOUT(about, "about")
    sampled = "hits" in arrays
    for name in (*_ARRAYS, *(_SAMPLED_ARRAYS if sampled else ())):
        if name not in arrays:
            raise ValueError(f"the array {name} is missing")
    columns = Columns.from_codes(
        arrays["pattern_size"], arrays["pattern_code"], arrays.get("pattern_colors"), tuple(about["palette"]),
        arrays.get("pattern_edge_types"), tuple(EdgeType(*kind) for kind in about.get("edge_palette", [])),
    )  # fmt: skip
    sizes = check_array(arrays["sizes"], "sizes", "iu", (None,), 0).astype(np.int64)
    shape = (len(sizes), len(columns))
    if about["shape"] != list(shape):
        raise ValueError(f"about.shape: expected {list(shape)} as in the arrays; got {about['shape']}")
    entries = len(check_array(arrays["data"], "data", "f" if sampled else "i", (None,), 0, _MOST_COPIES))
    check_compressed_rows(arrays["indptr"], arrays["indices"], entries, shape)

    def table(name: str) -> csr_array[Any]:
        return csr_array((arrays[name], arrays["indices"].copy(), arrays["indptr"].copy()), shape=shape)

    names = None if about["names"] is None else tuple(about["names"])
    y = arrays.get("y")
    for name, values in (("names", names), ("y", y)):
        if values is not None and np.shape(values) != (len(sizes),):
            raise ValueError(f"{name}: expected one for each of {len(sizes)} graphs; got the shape {np.shape(values)}")
    if y is not None and y.dtype.kind not in "biufU":
        raise ValueError(f"y: expected numbers or strings; got {y.dtype}")
    sampling = None
    if sampled:
        check_array(arrays["hits"], "hits", "i", (entries,), 0)
        check_array(arrays["errors"], "errors", "f", (entries,), 0, _MOST_COPIES)
        check_array(arrays["rates"], "rates", "f", (len(sizes), None), 0, _MOST_COPIES)
        check_array(arrays["samples"], "samples", "i", (len(sizes),), 0)
        if (arrays["hits"] > np.repeat(arrays["samples"], np.diff(arrays["indptr"]).astype(np.int64))).any():
            raise ValueError("hits: expected at most as many as samples")
        check_array(arrays["exact_cliques"], "exact_cliques", "b", (len(sizes),))
        if ((arrays["rates"] > 0) & (arrays["rates"] < 1 / _MOST_COPIES)).any():
            raise ValueError("rates: expected 0, or numbers that are not vanishing")
        width = arrays["rates"].shape[1]
        k = next((k for k in range(3, MAX_SIZE + 1) if len(connected_patterns(k)) == width), None)
        if k is None:
            raise ValueError(f"rates: expected a column for every pattern of one size; got {width}")
        sampling = Sampling(
            k, table("hits"), table("errors"), arrays["rates"], arrays["samples"], arrays["exact_cliques"]
        )
    return Counts(table("data"), columns, sizes, y, names, tuple(about["log"]), sampling)
