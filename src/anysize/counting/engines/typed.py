"""Counts of patterns with types of edges by enumeration, k = 1..5: colors and directions of edges tell them apart.

Every connected k-set is visited once (ESU, Wernicke 2006), as in the engine `enumerate`. A raw pattern, the types of
edges and the colors in the order of the visit, is a number of at most 128 bits; a hash table counts raw patterns, and
each of them is brought into canonical form once. For counts of every vertex or edge, all sets are visited again: a raw
pattern is looked up, and the hash table counts (vertex, orbit) or (edge, orbit).
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from anysize._typing import FloatArray
from anysize.counting.columns import (
    MAX_PAIRS,
    MAX_TYPED_SIZE,
    Columns,
    CountTable,
    merged,
    permuted_types,
    reverse_codes,
    smallest,
)
from anysize.counting.engines.bits import fetch_add, is_set
from anysize.counting.engines.engine import CELL_BYTES, Engine, MemoryNeed
from anysize.counting.engines.jit import entry, helper
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.attributes import BOTH_WAYS, EdgeType, edge_type_order, edge_types
from anysize.graphs.graphset import GraphSet
from anysize.patterns.orbits import MAX_SIZE, automorphisms, orbits, pair_bit
from anysize.patterns.pattern import class_table, connected_patterns

MAX_BITS = 128  # of a raw pattern


@dataclass(frozen=True)
class Alphabet:
    """The colors of vertices and the types of edges of a set as codes, and the bits that one of them takes."""

    graphs: GraphSet
    colors: np.ndarray
    entry_types: np.ndarray
    palette: tuple[EdgeType, ...]  # of types; empty if edges are not told apart
    color_bits: int
    type_bits: int

    @staticmethod
    def of(graphs: GraphSet) -> Alphabet:
        """Edges are told apart by their colors and directions, if they have any."""
        found = edge_types(graphs)
        codes, types = found or (np.zeros(len(graphs.indices), np.int64), [EdgeType(None, None, BOTH_WAYS)])
        palette = tuple(sorted({*types, *(kind.reverse for kind in types)}, key=edge_type_order))
        position = {kind: code for code, kind in enumerate(palette, 1)}
        entry_types = np.array([0, *(position[kind] for kind in types)], np.uint16)[codes + 1]
        colors = graphs.colors if graphs.colors is not None else np.zeros(int(graphs.first[-1]), np.uint16)
        color_bits = max(len(graphs.palette) - 1, 0).bit_length() if graphs.colors is not None else 0
        return Alphabet(
            graphs, colors, entry_types, palette if found else (), color_bits, len(palette).bit_length()
        )  # fmt: skip

    def check(self, k: int) -> None:
        """Raise a ValueError if raw patterns of k vertices are too long."""
        bits = self.color_bits * k + self.type_bits * (k * (k - 1) // 2)
        if bits > MAX_BITS:
            colors, types = len(self.graphs.palette), len(self.palette)
            raise ValueError(
                f"patterns on {k} vertices with {colors} colors and {types} types of edges take {bits} bits, more than "
                f"{MAX_BITS}; use a smaller k, or fewer colors or types"
            )

    def visit(self, k: int, threads: Threads, tick: Tick, positions: Positions) -> list:
        """(graph, first word, second word, copies) parts of the kernel, one of every thread."""
        graphs, counter = self.graphs, np.zeros(1, np.int64)
        arrays = (graphs.first, graphs.indptr, graphs.indices, self.entry_types, self.colors)

        def run():
            return kernel(*arrays, counter, threads.flag, k, self.color_bits, self.type_bits, *positions)

        return threads.pull(run, counter, len(graphs), tick)


class Positions(NamedTuple):
    """Where the kernel adds a raw pattern: its row in a hash table, and by row the orbit of every visited vertex.

    ``edge`` is empty, or numbers the edges by entry of ``indices``; then there is an orbit for every pair of vertices.
    """

    keys: np.ndarray
    rows: np.ndarray
    orbits: np.ndarray
    edge: np.ndarray


NO_POSITIONS = Positions(
    np.zeros((1, 2), np.uint64), np.zeros(1, np.int64), np.zeros((0, 1), np.int32), np.zeros(0, np.int64)
)


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur, told apart by colors of vertices and types of edges."""
    alphabet = Alphabet.of(graphs)
    alphabet.check(k)
    parts = []
    for row, high, low, copies in alphabet.visit(k, threads, tick, NO_POSITIONS):
        raw, inverse = np.unique(np.stack([high, low], axis=1), axis=0, return_inverse=True)
        parts.append((canonical_columns(raw, k, alphabet)[0], row, inverse.ravel(), copies))
    return merged(parts, graphs, k)


def seconds(f: Features, k: int) -> FloatArray:
    """A lookup for every connected set, and for each graph the table of its raw patterns."""
    sets = f.sets(k) if k > 2 else f.n + f.edges
    return np.asarray(1e-9 * (2000 + 40 * f.edges + 30 * sets))


def memory(f: Features, k: int) -> MemoryNeed:
    """For each thread what a graph is next to, and a table of raw patterns; the counts of all graphs."""
    patterns = f.max_patterns(k)
    return MemoryNeed(0.0, 1e6 + 30 * f.n + 100 * patterns, CELL_BYTES * patterns)


TYPED = Engine(
    "typed", "every connected set once, with types of edges", count, tuple(range(1, MAX_TYPED_SIZE + 1)), True, seconds,
    memory, splits_graphs=False,
)  # fmt: skip


def canonical_columns(raw, k: int, alphabet: Alphabet):
    """The columns of raw patterns, which may be equal, and the place in the visit of each of their vertices."""
    colors, types = np.zeros((len(raw), k), np.uint16), np.zeros((len(raw), MAX_PAIRS), np.uint16)
    high, low = raw[:, 0].copy(), raw[:, 1].copy()

    def take(bits: int):
        """The last bits of the raw patterns, which lose them."""
        nonlocal high, low
        if not bits:
            return np.zeros(len(low), np.uint16)
        taken = (low & np.uint64((1 << bits) - 1)).astype(np.uint16)
        low = (low >> np.uint64(bits)) | (high << np.uint64(64 - bits))
        high = high >> np.uint64(bits)
        return taken

    for j in range(k - 1, -1, -1):
        colors[:, j] = take(alphabet.color_bits)
        for i in range(j - 1, -1, -1):
            types[:, pair_bit(i, j)] = take(alphabet.type_bits)
    codes = ((types[:, : k * (k - 1) // 2] > 0) << np.arange(k * (k - 1) // 2)).sum(axis=1, dtype=np.int64)
    graphs, palette = alphabet.graphs, alphabet.palette
    index, reverse = class_table(k)[codes], reverse_codes(palette or (EdgeType(None, None, BOTH_WAYS),))
    visited = np.zeros((len(raw), k), np.int64)
    for code in np.unique(codes):
        here = np.flatnonzero(codes == code)
        order = np.argsort(orbits(k).renaming[code])  # the vertex that comes to each position
        group = automorphisms(connected_patterns(k)[int(index[here[0]])].code, k)
        colors[here], types[here], chosen = _smallest(
            colors[here][:, order], permuted_types(types[here], order, reverse), group, reverse
        )
        visited[here] = order[group[chosen]]
    wide = np.zeros((len(raw), MAX_SIZE), np.uint16)
    wide[:, :k] = colors
    columns = Columns(
        np.full(len(raw), k, np.uint8), index.astype(np.int16), None if graphs.colors is None else wide, graphs.palette,
        types if palette else None, palette,
    )  # fmt: skip
    return columns, visited


def _smallest(colors, types, group, reverse):
    """The smallest (colors, types) over a group of renamings, row by row, and the number of the renaming."""
    best, chosen = smallest(
        np.concatenate([colors[:, row], permuted_types(types, row, reverse)], axis=1) for row in group
    )
    return best[:, : colors.shape[1]], best[:, colors.shape[1] :], chosen


# ---- kernels ---------------------------------------------------------------------------------------------


@entry
def kernel(
    first, indptr, indices, entry_types, colors, counter, halt, k, color_bits, type_bits, known, rows, positions, edge
):
    """Take graphs from the counter until there are none; return the graph, words and copies of raw patterns.

    With orbits in ``positions`` (see `Positions`), the words are the vertex or edge and the orbit.
    """
    biggest, per_edge, per_vertex = 1, len(edge) > 0, len(edge) == 0 and len(positions) > 0
    at_most = max(positions.shape[1], 1)  # entries of the table for one set
    for g in range(len(first) - 1):
        biggest = max(biggest, first[g + 1] - first[g])
    mark = np.zeros(biggest, np.uint8)  # bit s: adjacent to member s
    near = np.zeros((biggest, MAX_TYPED_SIZE), np.uint16)  # type of the edge from member s
    link = np.zeros((biggest if per_edge else 1, MAX_TYPED_SIZE), np.int64)  # number of that edge
    queue = np.empty(biggest + 1, np.int64)
    place, length, member = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    highs, lows = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    keys, amounts = np.zeros((1 << 8, 2), np.uint64), np.zeros(1 << 8, np.int64)
    n_out = 0
    out_row, out_copies = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64)
    out_keys = np.empty((1 << 10, 2), np.uint64)
    while True:
        g = fetch_add(counter, 1)
        if g >= len(first) - 1 or is_set(halt):
            break
        start, n, used = first[g], first[g + 1] - first[g], 0
        for root in range(n):
            highs[1], lows[1] = appended(
                uint64(0), uint64(0), near, root, 0, colors[start + root], color_bits, type_bits
            )
            if k == 1:
                used += add(keys, amounts, highs[1], lows[1])
                continue
            if is_set(halt):
                break
            size = 0
            for e in range(indptr[start + root], indptr[start + root + 1]):
                u = int64(indices[e])
                near[u, 0] = entry_types[e]
                mark[u] = 1
                if per_edge:
                    link[u, 0] = edge[e]
                if u > root:
                    queue[size] = u
                    size += 1
            s, length[1], place[1], member[0] = 1, size, 0, root
            while s > 0:
                if s == k - 1:
                    if is_set(halt):
                        break
                    while 2 * (used + at_most * (length[s] - place[s])) >= len(amounts):
                        keys, amounts = doubled_table(keys, amounts)
                    for q in range(place[s], length[s]):
                        u = queue[q]
                        high, low = appended(highs[s], lows[s], near, u, s, colors[start + u], color_bits, type_bits)
                        if per_vertex or per_edge:
                            member[s] = u
                            kinds = positions[rows[slot_of(known, rows, high, low)] - 1]
                            if per_vertex:
                                for i in range(k):
                                    used += add(keys, amounts, uint64(start + member[i]), uint64(kinds[i]))
                            else:
                                used += add_edges(keys, amounts, kinds, member, link, k)
                        else:
                            used += add(keys, amounts, high, low)
                    place[s] = length[s]
                if place[s] >= length[s]:  # one vertex back
                    s -= 1
                    if s > 0:
                        clear(member[s], s, start, indptr, indices, mark, near)
                    continue
                w = queue[place[s]]
                place[s] += 1
                member[s] = w
                highs[s + 1], lows[s + 1] = appended(
                    highs[s], lows[s], near, w, s, colors[start + w], color_bits, type_bits
                )
                size = length[s]
                for e in range(indptr[start + w], indptr[start + w + 1]):
                    u = int64(indices[e])
                    if u > root and mark[u] == 0:
                        queue[size] = u
                        size += 1
                    near[u, s] = entry_types[e]
                    mark[u] |= np.uint8(1 << s)
                    if per_edge:
                        link[u, s] = edge[e]
                length[s + 1], place[s + 1] = size, place[s]
                s += 1
            clear(root, 0, start, indptr, indices, mark, near)
        while len(out_row) < n_out + used:
            out_row, out_copies = np.append(out_row, out_row), np.append(out_copies, out_copies)
            out_keys = np.concatenate((out_keys, out_keys))
        for at in range(len(amounts)):
            if amounts[at]:
                out_row[n_out], out_copies[n_out] = g, amounts[at]
                out_keys[n_out, 0], out_keys[n_out, 1] = keys[at, 0], keys[at, 1]
                n_out += 1
                amounts[at] = 0
    return out_row[:n_out], out_keys[:n_out, 0], out_keys[:n_out, 1], out_copies[:n_out]


@helper
def appended(high, low, near, vertex, s, color, color_bits, type_bits):
    """The words of a raw pattern after the types of a vertex to s members, and its color, were appended."""
    for i in range(s):
        high = (high << uint64(type_bits)) | (low >> uint64(64 - type_bits))
        low = (low << uint64(type_bits)) | uint64(near[vertex, i])
    if color_bits:
        high = (high << uint64(color_bits)) | (low >> uint64(64 - color_bits))
        low = (low << uint64(color_bits)) | uint64(color)
    return high, low


@helper
def clear(vertex, s, start, indptr, indices, mark, near):
    """Remove member s."""
    for e in range(indptr[start + vertex], indptr[start + vertex + 1]):
        u = int64(indices[e])
        near[u, s] = 0
        mark[u] &= np.uint8(255 - (1 << s))


@helper
def slot_of(keys, amounts, high, low):
    """Where a raw pattern is in the table, or an empty place for it."""
    mask = uint64(len(amounts) - 1)
    mixed = (low ^ (high * uint64(0x9E3779B97F4A7C15))) * uint64(0xBF58476D1CE4E5B9)
    at = (mixed ^ (mixed >> uint64(29))) & mask
    while amounts[at] and (keys[at, 0] != high or keys[at, 1] != low):
        at = (at + uint64(1)) & mask
    return at


@helper
def add(keys, amounts, high, low):
    """Count a raw pattern; returns 1 if it is new."""
    at = slot_of(keys, amounts, high, low)
    amounts[at] += 1
    if amounts[at] > 1:
        return 0
    keys[at, 0], keys[at, 1] = high, low
    return 1


@helper
def add_edges(keys, amounts, kinds, member, link, k):
    """Count every edge of a set in its orbit; returns how many of these are new."""
    new, pair = 0, 0
    for j in range(1, k):
        for i in range(j):
            if kinds[pair] >= 0:
                new += add(keys, amounts, uint64(link[member[j], i]), uint64(kinds[pair]))
            pair += 1
    return new


@entry
def index_of(raw):
    """A hash table of distinct raw patterns: their words, and 1 + the row of each (0 where the table is empty)."""
    size = 2
    while size < 2 * len(raw) + 2:
        size *= 2
    keys, rows = np.zeros((size, 2), np.uint64), np.zeros(size, np.int64)
    for row in range(len(raw)):
        at = slot_of(keys, rows, raw[row, 0], raw[row, 1])
        keys[at, 0], keys[at, 1], rows[at] = raw[row, 0], raw[row, 1], row + 1
    return keys, rows


@helper
def doubled_table(keys, amounts):
    """The same counts in a table of twice the size."""
    more_keys, more = np.zeros((2 * len(amounts), 2), np.uint64), np.zeros(2 * len(amounts), np.int64)
    for old in range(len(amounts)):
        if amounts[old]:
            at = slot_of(more_keys, more, keys[old, 0], keys[old, 1])
            more_keys[at, 0], more_keys[at, 1], more[at] = keys[old, 0], keys[old, 1], amounts[old]
    return more_keys, more
