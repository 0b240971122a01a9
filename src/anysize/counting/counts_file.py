"""File format of `Counts`: a numpy ``.npz`` archive without pickled objects, readable with numpy alone.

``data, indices, indptr`` are the CSR matrix (graphs x patterns), ``sizes`` the vertices of the graphs, ``y`` their
labels if any. ``pattern_size`` and ``pattern_code`` are the patterns (bit j (j - 1) / 2 + i for the edge i < j),
``pattern_colors`` their colors as indices into the palette. ``about`` is JSON in UTF-8: format, palette, names, log. A
table of estimates also has, cell by cell, ``hits`` and ``errors``, and by graph ``rates``, ``samples`` and
``exact_cliques``.
"""

from __future__ import annotations

import json
import os
import zipfile
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._files import atomic_write
from anysize._typing import PathLike
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.sampling.estimates import Sampling
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import connected_patterns

FORMAT = "anysize counts 2"

Arrays = dict[str, NDArray[Any]]


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
            if not zipfile.is_zipfile(file):  # numpy's own error would be about pickles
                raise ValueError("it is no .npz file, or it is cut off")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes())
                check_format(about.get("format"), FORMAT)
                return from_arrays(about, {name: archive[name] for name in archive.files})
    except FileNotFoundError:
        raise
    except Exception as error:  # from zipfile, json or numpy: the file is damaged or something else
        raise ValueError(f"{os.fspath(path)} is not a readable table of counts: {error}") from error


def check_format(found: Any, expected: str) -> None:
    """Raise a ValueError unless a file has the expected format, such as "anysize counts 2"."""
    if found == expected:
        return
    kind, _, number = expected.rpartition(" ")
    if found in [f"{kind} {older}" for older in range(int(number))]:
        raise ValueError(f"it was made by an older version of anysize ({found!r}, expected {expected!r}); count again")
    raise ValueError(f"expected the format {expected!r}, got {found!r}")


def to_arrays(counts: Counts) -> Arrays:
    """The arrays of a file, including ``about``."""
    about = {
        "format": FORMAT,
        "shape": list(counts.shape),
        "palette": list(counts.palette),
        "names": None if counts.names is None else list(counts.names),
        "log": list(counts.log),
    }
    columns, matrix = counts.columns, counts.matrix
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
    columns = Columns.from_codes(
        arrays["pattern_size"], arrays["pattern_code"], arrays.get("pattern_colors"), tuple(about["palette"])
    )
    shape = (len(arrays["sizes"]), len(columns))

    def table(data: str) -> csr_array[Any]:
        matrix = csr_array((arrays[data], arrays["indices"].copy(), arrays["indptr"].copy()), shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    names = None if about["names"] is None else tuple(about["names"])
    sampling = None
    if "hits" in arrays:
        k = next((k for k in range(3, MAX_SIZE + 1) if len(connected_patterns(k)) == arrays["rates"].shape[1]), 0)
        sampling = Sampling(
            k, table("hits"), table("errors"), arrays["rates"], arrays["samples"], arrays["exact_cliques"]
        )
    return Counts(table("data"), columns, arrays["sizes"], arrays.get("y"), names, tuple(about["log"]), sampling)
