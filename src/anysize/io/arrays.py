"""Matrices and edges in binary files: .npy and .npz of numpy and scipy, .mat of MATLAB. Nothing is unpickled."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize._schema import reason_of
from anysize._unpack import Unpacker
from anysize.io.edges import likely_vertices, parse_edge_array
from anysize.io.matrices import MATRIX, Cut, parse_matrix
from anysize.io.reader import Format, ParsedSet, ReadOptions

_SPARSE_KEYS = {"format", "shape", "data"}  # of a file by scipy.sparse.save_npz


def parse_npy(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graph of a square matrix or of an array of edges (edges, 2), or the graphs of an array (graphs, n, n)."""
    array = _read_array(data, where)
    if array.ndim == 2 and array.shape[1] == 2 != len(array) and array.dtype.kind in "iu" and not options.given:
        return ParsedSet([parse_edge_array(array, 0)])
    return _convert({"": array}, where, options)


def parse_npz(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graphs of all square matrices in the file, named by their arrays, or of one matrix by scipy."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacker = Unpacker(len(data))
            members = {}
            for info in archive.infolist():
                with archive.open(info) as member:
                    members[info.filename.removesuffix(".npy")] = unpacker.read(member)
    except Exception as error:  # of many types for damaged archives
        raise GraphError(f"{where} is not a readable .npz file: {reason_of(error)}.") from None
    arrays = {name: _read_array(member, f"{where}: {name}") for name, member in members.items()}
    if not set(arrays) >= _SPARSE_KEYS:
        return _convert(arrays, where, options)
    return _convert({"": _sparse_matrix(arrays, where)}, where, options)


def parse_mat(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graphs of all square matrices in a MATLAB file, named by their variables; (n, n, graphs) is several."""
    from scipy.io import loadmat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            variables: dict[str, Any] = loadmat(io.BytesIO(data))  # type: ignore[arg-type]
    except NotImplementedError:
        raise GraphError(f"{where} is a MATLAB file of version 7.3; save it with save(..., '-v7').") from None
    except Exception as error:  # of many types for damaged files
        raise GraphError(f"{where} is not a readable .mat file: {reason_of(error)}.") from None
    held = {name: value for name, value in variables.items() if not name.startswith("__")}
    for name, value in held.items():
        shape: tuple[int, ...] = getattr(value, "shape", ())
        if len(shape) == 3 and shape[0] == shape[1]:  # matrices follow each other along the last axis in MATLAB
            held[name] = np.moveaxis(value, 2, 0)
    cells = {name: value.ravel() for name, value in held.items() if getattr(value, "dtype", np.dtype(float)).hasobject}
    for name, values in cells.items():
        held = {key: value for key, value in held.items() if key != name}
        held |= {f"{name}:{number}": value for number, value in enumerate(values)}
    return _convert(held, where, options)


def _read_array(data: bytes, where: str) -> Any:
    try:
        file = io.BytesIO(data)
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read_header(file)
        amount = int(np.prod(shape, dtype=object))
        if amount * dtype.itemsize > len(data) - file.tell():
            raise ValueError("the file ends inside the array")
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        flat = np.frombuffer(data, dtype, amount, file.tell())  # not copied: it may be most of the memory
        return flat.reshape(shape, order="F" if by_columns else "C")
    except Exception as error:  # of many types for damaged files
        raise GraphError(f"{where} is not a readable array of numpy: {reason_of(error)}.") from None


def _sparse_matrix(arrays: dict[str, Any], where: str) -> Any:
    import scipy.sparse

    kind = arrays["format"].item() if arrays["format"].ndim == 0 else None
    name = kind.decode("latin1") if isinstance(kind, bytes) else str(kind)
    parts = ("row", "col") if name == "coo" else ("offsets",) if name == "dia" else ("indices", "indptr")
    if name not in ("csr", "csc", "bsr", "coo", "dia") or not set(parts) <= set(arrays):
        raise GraphError(f"{where} is not a sparse matrix in a format of scipy.")
    shape = tuple(arrays["shape"].ravel().tolist())
    if any(not isinstance(size, int) or size > likely_vertices(len(np.atleast_1d(arrays["data"]))) for size in shape):
        raise GraphError(f"{where}: a sparse matrix of shape {shape!s:.60} does not fit its entries.")
    held = [arrays[part] for part in parts]
    content = (arrays["data"], tuple(held)) if name == "coo" else (arrays["data"], *held)
    try:
        return getattr(scipy.sparse, f"{name}_matrix")(content, shape=shape)
    except Exception as error:  # of many types for arrays that do not fit together
        raise GraphError(f"{where} is not a readable sparse matrix: {reason_of(error)}.") from None


def _convert(arrays: dict[str, Any], where: str, options: ReadOptions) -> ParsedSet:
    matrices: list[tuple[str, Any]] = []
    unused = []
    for name, array in arrays.items():
        shape = tuple(getattr(array, "shape", ()))
        if len(shape) == 2 and shape[0] == shape[1] and (MATRIX.includes(array) or array.dtype.kind in "biuf"):
            matrices.append((name, array))
        elif len(shape) == 3 and shape[1] == shape[2] and array.dtype.kind in "biuf":
            matrices += [(f"{name}:{number}" if name else str(number), matrix) for number, matrix in enumerate(array)]
        else:
            unused.append(name)
    if not matrices:
        shapes = ", ".join(f"{name} {tuple(getattr(array, 'shape', ()))}".strip() for name, array in arrays.items())
        raise GraphError(f"{where}: expected square matrices of numbers; got {shapes[:200] or 'nothing'}.")
    cut, names = Cut.of(options), [name for name, _ in matrices] if len(matrices) > 1 else None
    clauses = [f"the arrays {', '.join(unused)} in {where} are not square matrices and are not used"] if unused else []
    return ParsedSet(
        [parse_matrix(matrix, f"{where} {name}".strip(), cut) for name, matrix in matrices], None, names, clauses
    )


_OPTIONS = frozenset({"threshold", "density"})
NPY = Format("numpy array", parse_npy, _OPTIONS, (".npy",))
NPZ = Format("numpy archive", parse_npz, _OPTIONS, (".npz",))
MAT = Format("MATLAB", parse_mat, _OPTIONS, (".mat",))
