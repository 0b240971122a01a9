"""Convert a table of counts to three Arrow tables (cells, graphs, patterns) and back."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.sampling.estimates import Sampling
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import connected_patterns


class ArrowTables(NamedTuple):
    """One row per non-zero cell; one row per graph; one row per pattern, with palette and log as metadata."""

    counts: Any
    graphs: Any
    patterns: Any


def pyarrow() -> Any:
    """The module pyarrow, with the submodules needed here imported."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.dataset
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("A stream of counts needs pyarrow: pip install 'anysize[table]'") from error
    return pyarrow


ESTIMATE_COLUMNS = ("standard_error", "hits")


def cell_schema(sampled: bool = False) -> Any:
    """The column types of the cells."""
    pa = pyarrow()
    text = pa.dictionary(pa.int32(), pa.string())
    types = {
        "graph": pa.int64(),
        "vertices": pa.int64(),
        "pattern": text,
        "size": pa.uint8(),
        "code": pa.uint32(),
        "colors": text,
        "copies": pa.float64() if sampled else pa.int64(),
    }
    if sampled:
        types |= {"standard_error": pa.float64(), "hits": pa.int64()}
    return pa.schema(types.items())


def to_arrow(counts: Counts, first: int) -> ArrowTables:
    """The tables of a batch; ``first`` is the number of its first graph."""
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
    matrix.sum_duplicates()  # a canonical order of cells, so that the files do not depend on the engine
    if sampling is None:
        matrix.eliminate_zeros()
    row = np.repeat(np.arange(len(counts)), np.diff(matrix.indptr))
    column = matrix.indices
    cells = {
        "graph": row + first,
        "vertices": counts.sizes[row],
        "pattern": _dictionary(patterns["pattern"], column),
        "size": patterns["size"].to_numpy()[column],
        "code": patterns["code"].to_numpy()[column],
        "colors": _dictionary(patterns["colors"], column),
        "copies": matrix.data,
    }
    if sampling is not None:  # the same cells in the same order
        cells |= {"standard_error": sampling.errors.sorted_indices().data, "hits": sampling.hits.sorted_indices().data}
    return ArrowTables(pa.table(cells, schema=cell_schema(sampling is not None)), pa.table(graphs), patterns)


def _patterns(counts: Counts) -> Any:
    pa, columns = pyarrow(), counts.columns
    table = {
        "pattern": pa.array([pattern.name for pattern in counts.patterns], pa.string()),
        "size": columns.size,
        "code": columns.codes,
        "colors": pa.array([p.colors and json.dumps(p.colors) for p in counts.patterns], pa.string()),
    }
    about: dict[str, Any] = {"colored": columns.colors is not None, "palette": counts.palette, "log": counts.log}
    if counts.sampling is not None:
        about["sampled"] = counts.sampling.k
    return pa.table(table).replace_schema_metadata({"anysize": json.dumps(about)})


def _dictionary(texts: Any, index: NDArray[Any]) -> Any:
    """texts[index] as a dictionary array.

    The entries of the dictionary must differ: Arrow writes uninitialized memory for duplicates.
    """
    pa = pyarrow()
    encoded = texts.combine_chunks().dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.take(pa.array(index)), encoded.dictionary)


def from_arrow(tables: ArrowTables, first: int) -> Counts:
    """The table of a batch; ``first`` is the number of its first graph."""
    cells, graphs, patterns = tables
    columns = columns_from_arrow(patterns)
    ends = np.cumsum(np.bincount(cells["graph"].to_numpy() - first, minlength=len(graphs)))
    column = _column_indices(cells["pattern"], patterns["pattern"].combine_chunks())

    def matrix(name: str) -> csr_array[Any]:
        parts = cells[name].to_numpy(), column.copy(), np.concatenate([[0], ends])
        return csr_array(parts, shape=(len(graphs), len(columns)))

    sampling = None
    if "samples" in graphs.column_names:
        k = _about(patterns)["sampled"]
        rates = graphs["rates"].combine_chunks().flatten().to_numpy().reshape(len(graphs), len(connected_patterns(k)))
        cliques = graphs["exact_cliques"].to_numpy()
        sampling = Sampling(k, matrix("hits"), matrix("standard_error"), rates, graphs["samples"].to_numpy(), cliques)
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
    """The columns of a table of patterns."""
    about = _about(patterns)
    size = patterns["size"].to_numpy()
    colors = None
    if about["colored"]:
        codes = {name: code for code, name in enumerate(about["palette"])}
        colors = np.zeros((len(size), MAX_SIZE), np.uint16)
        for row, names in enumerate(patterns["colors"].to_pylist()):
            colors[row, : size[row]] = [codes[name] for name in json.loads(names)]
    return Columns.from_codes(size, patterns["code"].to_numpy(), colors, tuple(about["palette"]))


def _about(patterns: Any) -> Any:
    return json.loads(patterns.schema.metadata[b"anysize"])


def _column_indices(cells: Any, names: Any) -> NDArray[np.int32]:
    """The index among names of the pattern of every cell; each chunk of the file has its own dictionary."""
    parts = [np.zeros(0, np.int32)]
    for chunk in cells.chunks:
        index = pyarrow().compute.index_in(chunk.dictionary, value_set=names).to_numpy(zero_copy_only=False)
        parts.append(index[chunk.indices.to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)
