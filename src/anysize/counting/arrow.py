"""Convert a table of counts to three Arrow tables (cells, graphs, patterns) and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._errors import naming_extra
from anysize._schema import boolean, check_array, color_name, fields, integer, list_of, parse_json, text
from anysize._text import escape_surrogates
from anysize._unpack import Unpacker
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.counts_file import FORMAT, from_arrays
from anysize.counting.sampling.estimates import SAMPLED_SIZES
from anysize.graphs.ragged import offsets, owners
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import connected_patterns


class ArrowTables(NamedTuple):
    """One row per non-zero cell; one row per graph; one row per pattern, with palette and log as metadata."""

    counts: Any
    graphs: Any
    patterns: Any


@naming_extra("A stream of counts")
def pyarrow() -> Any:
    """The module pyarrow, with the submodules needed here imported."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.dataset
    import pyarrow.parquet

    return pyarrow


ESTIMATE_COLUMNS = ("standard_error", "hits")


def read_parquet(file: Path, columns: list[str] | None = None) -> Any:
    """The table in a file; a ValueError if it is much larger than the file, see `anysize._unpack`.

    Equal values take no space in a file: texts are read as dictionaries, and unfolded if they are not too large.
    """
    pa = pyarrow()
    unpacker = Unpacker(file.stat().st_size)
    with pa.parquet.ParquetFile(file) as parquet:
        about = parquet.metadata
        unpacker.add(8 * about.num_rows)
        unpacker.add(sum(max(about.row_group(at).total_byte_size, 0) for at in range(about.num_row_groups)))
        texts = [field.name for field in parquet.schema_arrow if pa.types.is_string(field.type)]
        keys = parquet.schema_arrow.metadata
    batches = []
    with pa.parquet.ParquetFile(file, read_dictionary=texts) as parquet:
        for batch in parquet.iter_batches(columns=columns):
            folded = [each.indices if pa.types.is_dictionary(each.type) else each for each in batch.columns]
            unpacker.add(sum(each.nbytes for each in folded))
            batches.append(batch)
        table = pa.Table.from_batches(batches) if batches else parquet.read(columns=columns)
    table = table.replace_schema_metadata(keys)
    for name in set(texts) & set(table.column_names):
        column = table[name]
        for chunk in column.chunks:
            lengths = pa.compute.binary_length(chunk.dictionary).to_numpy(zero_copy_only=False)
            unpacker.add(int(lengths[chunk.indices.drop_null().to_numpy()].sum()) if len(lengths) else 0)
        table = table.set_column(table.column_names.index(name), name, column.cast(pa.string()))
    return table


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
        graphs["name"] = pa.array(map(escape_surrogates, counts.names), pa.string())
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
    row = owners(matrix.indptr)
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
    if columns.edge_types is not None:
        raise ValueError("Parquet and Arrow tables hold no types of edges; write .npz, .csv or .json, or edges=False")
    table = {
        "pattern": pa.array([escape_surrogates(pattern.name) for pattern in counts.patterns], pa.string()),
        "size": columns.size,
        "code": columns.codes,
        "colors": pa.array([p.colors and json.dumps(p.colors) for p in counts.patterns], pa.string()),
    }
    about: dict[str, Any] = {
        "colored": columns.colors is not None,
        "palette": counts.palette,
        "log": list(map(str, counts.log)),
    }
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
    about, columns = _about(patterns), columns_from_arrow(patterns)
    graph = check_array(_values(cells, "graph") - first, "graph", "i", (None,), 0, len(graphs) - 1)
    if (np.diff(graph) < 0).any():
        raise ValueError("graph: expected the cells in the order of the graphs")
    arrays = {
        "data": _values(cells, "copies"),
        "indices": _column_indices(cells, patterns),
        "indptr": offsets(np.bincount(graph, minlength=len(graphs))),
        "sizes": _values(graphs, "vertices"),
        "pattern_size": columns.size,
        "pattern_code": columns.codes,
    }
    if columns.colors is not None:
        arrays["pattern_colors"] = columns.colors
    if "y" in graphs.column_names:
        labels = _values(graphs, "y")
        if labels.dtype == object:  # an array of strings takes the longest one for each
            Unpacker(graphs["y"].nbytes).add(4 * len(labels) * max(map(len, labels), default=0))
            labels = labels.astype(np.str_)
        arrays["y"] = labels
    if "samples" in graphs.column_names:
        rates = np.array(graphs["rates"].to_pylist(), np.float64).reshape(len(graphs), -1)
        arrays |= {"hits": _values(cells, "hits"), "errors": _values(cells, "standard_error"), "rates": rates}
        arrays |= {"samples": _values(graphs, "samples"), "exact_cliques": _values(graphs, "exact_cliques")}
        if not len(graphs):  # no rates, but still estimates
            arrays["rates"] = np.zeros((0, len(connected_patterns(about["sampled"]))))
    held = {
        "format": FORMAT,
        "shape": [len(graphs), len(columns)],
        "palette": about["palette"],
        "names": graphs["name"].to_pylist() if "name" in graphs.column_names else None,
        "log": about["log"],
    }
    return from_arrays(held, arrays)


def _values(table: Any, name: str) -> NDArray[Any]:
    """A column of numbers, booleans or strings as an array; a ValueError if it is missing or has missing values."""
    if name not in table.column_names:
        raise ValueError(f"the column {name} is missing")
    kind, types = table[name].type, pyarrow().types
    known = types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string
    if table[name].null_count or not any(is_kind(kind) for is_kind in known):
        raise ValueError(f"the column {name}: expected numbers or strings without missing values; got {kind}")
    return np.asarray(table[name].to_numpy())


def columns_from_arrow(patterns: Any) -> Columns:
    """The columns of a table of patterns."""
    about = _about(patterns)
    size = check_array(_values(patterns, "size"), "size", "iu", (None,), 1, MAX_SIZE)
    colors = None
    if about["colored"]:
        codes = {name: code for code, name in enumerate(about["palette"])}
        colors = np.zeros((len(size), MAX_SIZE), np.uint16)
        for row, names in enumerate(_values(patterns, "colors").tolist()):
            held = list_of(color_name, int(size[row]))(parse_json(names), f"colors[{row}]")
            if not codes.keys() >= set(held):
                raise ValueError(f"colors[{row}]: expected names of the palette; got {names!r:.60}")
            colors[row, : size[row]] = [codes[name] for name in held]
    return Columns.from_codes(size, _values(patterns, "code"), colors, tuple(about["palette"]))


_ABOUT = fields(
    {"colored": boolean, "palette": list_of(color_name), "log": list_of(text())},
    {"sampled": integer(SAMPLED_SIZES[0], SAMPLED_SIZES[-1])},
)


def _about(patterns: Any) -> Any:
    return _ABOUT(parse_json((patterns.schema.metadata or {}).get(b"anysize", b"null")), "metadata")


def _column_indices(cells: Any, patterns: Any) -> NDArray[np.int32]:
    """The number of the pattern of every cell; each chunk of the file has its own dictionary."""
    names = pyarrow().array(map(str, _values(patterns, "pattern")), pyarrow().string())
    if "pattern" not in cells.column_names or not pyarrow().types.is_dictionary(cells["pattern"].type):
        raise ValueError("the column pattern: expected a dictionary of names")
    parts = [np.zeros(0, np.int32)]
    for chunk in cells["pattern"].chunks:
        if chunk.null_count or pyarrow().compute.index_in(chunk.dictionary, value_set=names).null_count:
            raise ValueError("the column pattern: expected names of patterns of the batch")
        index = pyarrow().compute.index_in(chunk.dictionary, value_set=names).to_numpy(zero_copy_only=False)
        parts.append(index[chunk.indices.to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)
