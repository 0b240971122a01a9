"""Tables of counts as files: a numpy ``.npz`` archive without pickled objects, readable with numpy alone.

``data, indices, indptr`` are the CSR table (graphs x patterns), ``sizes`` the vertices of the graphs, ``y`` their
labels if any. ``pattern_size`` and ``pattern_code`` are the patterns (bit j (j - 1) / 2 + i for the edge i < j),
``pattern_colors`` their colors as positions in the palette. ``about`` is JSON in UTF-8: format, palette, names, log.
A table of estimates also has, cell by cell, ``hits`` and ``errors``, and by graph ``rates``, ``samples`` and
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
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.sampling.intervals import Sampling
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import class_table, connected_patterns, representatives

FORMAT = "anysize counts 1"

Arrays = dict[str, NDArray[Any]]


def save(counts: Counts, path: str | os.PathLike[str]) -> None:
    """Write a table; the file appears when all of it has been written."""
    arrays = to_arrays(counts)
    with atomic_write(path) as part, open(part, "wb") as file:
        write(arrays, file)


def write(arrays: Arrays, file: IO[bytes]) -> None:
    """Write what `to_arrays` gave."""
    np.savez_compressed(file, **cast(dict[str, Any], arrays))


def load(path: str | os.PathLike[str]) -> Counts:
    """Read a table; a ValueError says what is wrong with a file that is none."""
    try:
        with open(path, "rb") as file:
            if not zipfile.is_zipfile(file):  # numpy would speak of pickles, and how to trust them
                raise ValueError("it is foreign or cut off; Counts.save and anysize count --out FILE.npz write tables")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes())
                if about.get("format") != FORMAT:
                    raise ValueError(f"format {about.get('format')!r}, expected {FORMAT!r}")
                return from_arrays(about, {name: archive[name] for name in archive.files})
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{os.fspath(path)} is not a table of counts: {error}") from error
    except Exception as error:  # a zip, JSON or numpy complaint: the file is damaged or foreign
        raise ValueError(f"{os.fspath(path)} is not a table of counts: {error}") from error


def to_arrays(counts: Counts) -> Arrays:
    """The arrays of a file, ``about`` among them."""
    about = {
        "format": FORMAT,
        "shape": list(counts.shape),
        "palette": list(counts.palette),
        "names": None if counts.names is None else list(counts.names),
        "log": list(counts.log),
    }
    columns, matrix = counts.columns, counts.matrix
    codes = np.zeros(len(columns), np.uint32)
    for k in np.unique(columns.size):
        here = columns.size == k
        codes[here] = np.array(representatives(int(k)), np.uint32)[columns.place[here]]
    arrays: Arrays = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "sizes": counts.sizes,
        "pattern_size": columns.size,
        "pattern_code": codes,
    }
    if columns.colors is not None:
        arrays["pattern_colors"] = columns.colors
    if counts.y is not None:
        if counts.y.dtype == object:
            raise ValueError("labels are Python objects, which need pickle to be saved; use numbers or strings")
        arrays["y"] = counts.y
    if counts.sampling is not None:
        own = counts.sampling
        arrays |= {"hits": own.hits.data, "errors": own.errors.data, "rates": own.rates}
        arrays |= {"samples": own.samples, "exact_cliques": own.exact_cliques}
    return arrays


def from_arrays(about: dict[str, Any], arrays: Arrays) -> Counts:
    """The table from what `to_arrays` gave, ``about`` as a dictionary."""
    size = arrays["pattern_size"].astype(np.uint8)
    place = np.zeros(len(size), np.int16)
    if len(size) and not 1 <= size.min() <= size.max() <= MAX_SIZE:
        raise ValueError("pattern sizes out of range")
    for k in np.unique(size):
        place[size == k] = class_table(int(k))[arrays["pattern_code"][size == k]]
    if (place < 0).any():
        raise ValueError("codes of patterns that are not connected")
    colors = arrays.get("pattern_colors")
    if colors is not None and colors.max(initial=0) >= max(len(about["palette"]), 1):
        raise ValueError("colors that are not in the palette")
    columns = Columns(size, place, colors, tuple(about["palette"]))
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
