"""A table of counts as three Arrow tables, and back: rows in tidy form, graphs, patterns."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.sampling.intervals import Sampling
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import class_table, connected_patterns, representatives


class ArrowTables(NamedTuple):
    """One row per cell that is not zero; one row per graph; one row per pattern, with palette and log as metadata."""

    counts: Any
    graphs: Any
    patterns: Any


def pyarrow() -> Any:
    """The module, with its Parquet files, compute functions and data sets."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.dataset
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("A stream of counts needs pyarrow: pip install 'anysize[table]'") from error
    return pyarrow


ESTIMATES = ("standard_error", "hits")


def cell_schema(sampled: bool = False) -> Any:
    """The types of a row: a number for each graph, its pattern by name, by code and colors, by size; the copies."""
    pa = pyarrow()
    word = pa.dictionary(pa.int32(), pa.string())
    kinds = {
        "graph": pa.int64(),
        "vertices": pa.int64(),
        "pattern": word,
        "size": pa.uint8(),
        "code": pa.uint32(),
        "colors": word,
        "copies": pa.float64() if sampled else pa.int64(),
    }
    if sampled:
        kinds |= {"standard_error": pa.float64(), "hits": pa.int64()}
    return pa.schema(kinds.items())


def to_arrow(counts: Counts, first: int) -> ArrowTables:
    """The tables of a batch whose first graph has this number."""
    pa = pyarrow()
    patterns = _patterns(counts)
    graphs: dict[str, Any] = {"graph": np.arange(first, first + len(counts)), "vertices": counts.sizes}
    if counts.names is not None:
        graphs["name"] = pa.array(counts.names, pa.string())
    if counts.y is not None:
        graphs["y"] = counts.y
    sampling = counts.sampling
    if sampling is not None:
        graphs["samples"], graphs["exact_cliques"] = sampling.samples, sampling.exact_cliques
        graphs["rates"] = pa.array(list(sampling.rates), pa.list_(pa.float64()))
    matrix = counts.matrix.copy()
    matrix.sum_duplicates()  # one order of cells, whatever engine wrote them: the files are compared bit by bit
    if sampling is None:
        matrix.eliminate_zeros()
    row = np.repeat(np.arange(len(counts)), np.diff(matrix.indptr))
    place, size, code = matrix.indices, patterns["size"].to_numpy(), patterns["code"].to_numpy()
    cells = {
        "graph": row + first,
        "vertices": counts.sizes[row],
        "pattern": _coded(patterns["pattern"], place),
        "size": size[place],
        "code": code[place],
        "colors": _coded(patterns["colors"], place),
        "copies": matrix.data,
    }
    if sampling is not None:  # the same cells in the same order
        cells |= {"standard_error": sampling.errors.sorted_indices().data, "hits": sampling.hits.sorted_indices().data}
    return ArrowTables(pa.table(cells, schema=cell_schema(sampling is not None)), pa.table(graphs), patterns)


def _patterns(counts: Counts) -> Any:
    pa, columns = pyarrow(), counts.columns
    code = np.zeros(len(columns), np.uint32)
    for k in np.unique(columns.size):
        here = columns.size == k
        code[here] = np.array(representatives(int(k)), np.uint32)[columns.place[here]]
    table = {
        "pattern": pa.array([pattern.name for pattern in counts.patterns], pa.string()),
        "size": columns.size,
        "code": code,
        "colors": pa.array([p.colors and json.dumps(p.colors) for p in counts.patterns], pa.string()),
    }
    about: dict[str, Any] = {"colored": columns.colors is not None, "palette": counts.palette, "log": counts.log}
    if counts.sampling is not None:
        about["sampled"] = counts.sampling.k
    return pa.table(table).replace_schema_metadata({"anysize": json.dumps(about)})


def _coded(words: Any, place: NDArray[Any]) -> Any:
    """words[place] without repeating a word; nulls stay.

    The words must differ: Arrow writes memory it never set where one occurs twice in a dictionary.
    """
    pa = pyarrow()
    once = words.combine_chunks().dictionary_encode()
    return pa.DictionaryArray.from_arrays(once.indices.take(pa.array(place)), once.dictionary)


def from_arrow(tables: ArrowTables, first: int) -> Counts:
    """The table of a batch whose first graph has this number."""
    cells, graphs, patterns = tables
    columns = columns_from_arrow(patterns)
    ends = np.cumsum(np.bincount(cells["graph"].to_numpy() - first, minlength=len(graphs)))
    place = _places(cells["pattern"], patterns["pattern"].combine_chunks())

    def matrix(name: str) -> csr_array[Any]:
        parts = cells[name].to_numpy(), place.copy(), np.concatenate([[0], ends])
        return csr_array(parts, shape=(len(graphs), len(columns)))

    sampling = None
    if "samples" in graphs.column_names:
        k = _about(patterns)["sampled"]
        rates = graphs["rates"].combine_chunks().flatten().to_numpy().reshape(len(graphs), len(connected_patterns(k)))
        cliques = graphs["exact_cliques"].to_numpy()
        own = matrix("hits"), matrix("standard_error"), rates, graphs["samples"].to_numpy(), cliques
        sampling = Sampling(k, *own)
    labels = graphs["y"].to_numpy() if "y" in graphs.column_names else None
    return Counts(
        matrix("copies"),
        columns,
        graphs["vertices"].to_numpy(),
        labels.astype(str) if labels is not None and labels.dtype == object else labels,
        tuple(graphs["name"].to_pylist()) if "name" in graphs.column_names else None,
        tuple(_about(patterns)["log"]),
        sampling,
    )


def columns_from_arrow(patterns: Any) -> Columns:
    """The columns that a table of patterns describes."""
    about = _about(patterns)
    size, code = patterns["size"].to_numpy(), patterns["code"].to_numpy()
    place = np.zeros(len(size), np.int16)
    for k in np.unique(size):
        place[size == k] = class_table(int(k))[code[size == k]]
    if not about["colored"]:
        return Columns(size, place)
    position = {name: code for code, name in enumerate(about["palette"])}
    colors = np.zeros((len(size), MAX_SIZE), np.uint16)
    for row, names in enumerate(patterns["colors"].to_pylist()):
        colors[row, : size[row]] = [position[name] for name in json.loads(names)]
    return Columns(size, place, colors, tuple(about["palette"]))


def _about(patterns: Any) -> Any:
    return json.loads(patterns.schema.metadata[b"anysize"])


def _places(written: Any, names: Any) -> NDArray[np.int32]:
    """For every cell the position of its pattern among names; each chunk of the file has a dictionary of its own."""
    parts = [np.zeros(0, np.int32)]
    for chunk in written.chunks:
        place = pyarrow().compute.index_in(chunk.dictionary, value_set=names).to_numpy(zero_copy_only=False)
        parts.append(place[chunk.indices.to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)
