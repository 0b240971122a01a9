"""Prototypes of the engines, if ANYSIZE_PROTOTYPES names their folder.

Each function prepares one job and gives (what is timed, how to read plain class sums off its result). The
prototypes leave out what a user needs around a kernel: set-up of bit rows, and in the large sparse colored
case the decoding of sums into counts. So equal times are a win for the package.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize import GraphSet
from anysize.patterns.pattern import class_table, connected_patterns

Answer = NDArray[np.int64]
Job = tuple[Callable[[], Any], Callable[[Any], Answer]]


@lru_cache(maxsize=1)
def available() -> bool:
    """Put the folder on the import path; a copy of it where numba could not write its cache."""
    folder = os.environ.get("ANYSIZE_PROTOTYPES")
    if not folder:
        return False
    if not os.access(folder, os.W_OK):
        copy = os.path.join(tempfile.mkdtemp(prefix="prototypes-"), "counting")
        shutil.copytree(folder, copy, copy_function=shutil.copyfile)
        os.chmod(copy, 0o700)
        folder = copy
    sys.path.append(folder)  # last, so that none of its module names hides another
    return True


def _arrays(graphs: GraphSet) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return graphs.indptr, graphs.indices.astype(np.int32)


def _codes(graphs: GraphSet) -> NDArray[np.int32]:
    if graphs.colors is None:
        return np.zeros(int(graphs.first[-1]), np.int32)
    return graphs.colors.astype(np.int32)


def _summed(places: NDArray[Any], copies: NDArray[Any], k: int) -> Answer:
    sums = np.zeros(len(connected_patterns(k)), np.int64)
    np.add.at(sums, places, copies)
    return sums


def _by_pattern(found: dict[Any, int], k: int) -> Answer:
    """From {(class, colors): copies}."""
    return _summed(np.array([key[0] for key in found], np.int64), np.array(list(found.values()), np.int64), k)


def bitset(graphs: GraphSet, k: int) -> Job:
    """Plain k = 4, 5 on bit rows."""
    module = import_module("unattr_bitset")
    packed = (graphs.first, *_arrays(graphs))
    return lambda: module.count_batch(packed, k == 5), lambda result: result[k - 4].sum(axis=0)


def sparse(graphs: GraphSet, k: int) -> Job:
    """Plain k = 4, 5 on large sparse graphs."""
    module = import_module("sparse_escape")
    arrays = _arrays(graphs)
    return lambda: module.escape(*arrays, k == 5), lambda result: np.array(result[k - 4], np.int64)


def flip(graphs: GraphSet, k: int) -> Job:
    """Colored k = 5 on small graphs; bit rows and decode map are made beforehand."""
    decoding, kernels = import_module("flip_map"), import_module("attr_flip2")
    state = kernels.setup(_arrays(graphs), _codes(graphs))
    n, words, places, rows, word_color, triple, _, _, colors, _ = state
    decode = decoding.build_map(colors)
    unused = np.zeros((1, 1, 1), np.int64), np.zeros((1, 1), np.int64)

    def call() -> Any:
        sums, single = kernels.kernel(state)
        cliques = np.zeros((colors**4, colors), np.int64)
        decoding.flip5(n, words, colors, places, rows, word_color, triple, *unused, cliques, 2)
        return decoding.apply(decode, sums, single, cliques)

    return call, lambda x: _by_pattern({key: int(x[i]) for key, i in decode["ids"].items()}, k)


def flip_sparse(graphs: GraphSet, k: int) -> Job:
    """Colored k = 5 on large sparse graphs; sums only, decoding is not timed."""
    module = import_module("attr_flip_sparse2")
    arrays, codes, colors = _arrays(graphs), _codes(graphs), len(graphs.palette)
    return lambda: module.run(arrays, codes, colors), lambda sums: _by_pattern(module.decode(*sums), k)


def flip6(graphs: GraphSet, k: int) -> Job:
    """Plain k = 6 on small graphs."""
    module = import_module("flip6")
    module.plan()
    arrays = _arrays(graphs)
    places = class_table(6)[module.reps6]  # its representatives are not ours
    return lambda: module.count6(arrays), lambda result: _summed(places, np.array(result[0], np.int64), 6)


def batch(graphs: GraphSet, k: int) -> Job:
    """Colored batches of small graphs by enumeration."""
    module = import_module("batch_esu")
    bits = 7  # per color
    memo = 24 if len(graphs.palette) > 64 else 20  # log2 of the memo's size, which does not grow
    tables = module.canon_tables(k)
    inputs = (graphs.first, *_arrays(graphs), _codes(graphs), 0, len(graphs), k, bits, *tables, memo, memo)

    def answer(result: Any) -> Answer:
        keys, _, column, copies, *_ = result
        return _summed((keys >> np.uint64(bits * k)).astype(np.int64)[column], copies, k)

    return lambda: module.batch_count(*inputs), answer


def esu_hash(graphs: GraphSet, k: int) -> Job:
    """Enumeration into a hash of raw codes; canonical names are not timed."""
    module = import_module("attr_esu")
    arrays, codes = _arrays(graphs), _codes(graphs)

    def answer(result: Any) -> Answer:
        keys, copies = result[0], result[1]
        used = copies > 0
        raw = (keys[used] & np.uint64((1 << (k * (k - 1) // 2)) - 1)).astype(np.int64)
        return _summed(class_table(k)[raw], copies[used], k)

    return lambda: module.run_hash(arrays, codes, k), answer


def esu_direct(graphs: GraphSet, k: int) -> Job:
    """Enumeration into a table of all raw codes; canonical names are not timed."""
    module = import_module("attr_esu")
    arrays, codes, colors = _arrays(graphs), _codes(graphs), len(graphs.palette)
    low = (k - 1) * (k - 2) // 2

    def answer(result: Any) -> Answer:
        used = np.flatnonzero(result[0])
        last = used // colors % (1 << (k - 1))
        prefix = (used // colors >> (k - 1)) & ((1 << low) - 1)
        return _summed(class_table(k)[prefix | last << low], result[0][used], k)

    return lambda: module.run_direct(arrays, codes, k, colors), answer


def sampler(graph: GraphSet, k: int, samples: int) -> tuple[Callable[[], Any], Callable[[Any], tuple[Any, Any]]]:
    """Estimates of plain counts and their standard errors, in our order; tables are made beforehand."""
    module = import_module("sampler")
    arrays = _arrays(graph)
    prepared = module.prepare(*arrays, k)
    places = class_table(k)[module.class_table(k)[1]]  # its representatives are not ours
    module.estimate(arrays, k, 1000, 0, prepared)

    def ordered(values: NDArray[np.float64]) -> NDArray[np.float64]:
        result = np.zeros(len(connected_patterns(k)))
        result[places] = values
        return result

    def answer(result: Any) -> tuple[Any, Any]:
        return ordered(result[0]), ordered(result[1])

    return lambda: module.estimate(arrays, k, samples, 1, prepared), answer


JOBS: dict[str, Callable[[GraphSet, int], Job]] = {
    job.__name__: job for job in (bitset, sparse, flip, flip_sparse, flip6, batch, esu_hash, esu_direct)
}
