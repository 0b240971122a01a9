"""Canonical colored patterns in kernels: from code and colors to pattern index and canonical colors."""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64

from anysize.counting.engines.jit import helper
from anysize.patterns.orbits import automorphisms, orbits
from anysize.patterns.pattern import class_table, representatives


class Tables(NamedTuple):
    """By code: class (or -1) and a renaming to its representative; by class: its automorphisms."""

    class_of: np.ndarray
    renaming: np.ndarray
    group_ptr: np.ndarray
    group: np.ndarray


@cache
def pattern_tables(k: int) -> Tables:
    """The tables of the connected patterns on k vertices."""
    groups = [automorphisms(code, k) for code in representatives(k)]
    return Tables(class_table(k), orbits(k).renaming.astype(np.uint8), *_flat(groups, k))


@cache
def marked_tables(k: int) -> Tables:
    """The tables of codes whose last two vertices are marked; classes are numbered by smallest code."""
    classes = orbits(k, marked=True)
    smallest = np.unique(classes.smallest)
    class_of = np.searchsorted(smallest, classes.smallest).astype(np.int32)
    groups = [automorphisms(int(code), k, marked=True) for code in smallest]
    return Tables(class_of, classes.renaming.astype(np.uint8), *_flat(groups, k))


def _flat(groups, k):
    ptr = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    return ptr.astype(np.int64), np.concatenate(groups).reshape(-1, k).astype(np.uint8)


@helper
def canonical(code, colors, k, tables, best, trial):
    """The class of a code; fills best with the smallest colors over its automorphisms. trial is scratch."""
    class_of, renaming, group_ptr, group = tables
    kind = class_of[code]
    if kind < 0:
        return kind
    for i in range(k):
        trial[renaming[code, i]] = colors[i]
    if group_ptr[kind + 1] - group_ptr[kind] == 1:
        for i in range(k):
            best[i] = trial[i]
        return kind
    for g in range(group_ptr[kind], group_ptr[kind + 1]):
        better = g == group_ptr[kind]
        if not better:
            for i in range(k):
                a, b = trial[group[g, i]], best[i]
                if a != b:
                    better = a < b
                    break
        if better:
            for i in range(k):
                best[i] = trial[group[g, i]]
    return kind


@helper
def pack(kind, colors, k):
    """Two words that sort as (class, colors): the layout of `Columns.keys` without the size."""
    high = uint64(kind) << uint64(48)
    low = uint64(0)
    for i in range(k):
        if i < 3:
            high |= uint64(colors[i]) << uint64(32 - 16 * i)
        else:
            low |= uint64(colors[i]) << uint64(48 - 16 * (i - 3))
    return high, low


@helper
def color_at(high, low, i):
    """The color of vertex i in packed words."""
    if i < 3:
        return int64((high >> uint64(32 - 16 * i)) & uint64(0xFFFF))
    return int64((low >> uint64(48 - 16 * (i - 3))) & uint64(0xFFFF))


@helper
def hash_words(high, low):
    """Hash of two words; use its low bits."""
    mixed = (high ^ (low * uint64(0x9E3779B97F4A7C15))) * uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> uint64(32)
    return (mixed * uint64(0x9E3779B97F4A7C15)) >> uint64(16)


def unpack(high: Any, low: Any, k: int) -> tuple[Any, Any]:
    """Classes and colors (patterns, 7) of packed words."""
    colors = np.zeros((len(high), 7), np.uint16)
    for i in range(k):
        word, shift = (high, 32 - 16 * i) if i < 3 else (low, 48 - 16 * (i - 3))
        colors[:, i] = (word >> np.uint64(shift)) & np.uint64(0xFFFF)
    return (high >> np.uint64(48)).astype(np.int16), colors


# ---- hash table of canonical patterns, each with its copies and its column ---------------------------------


HIGH, LOW, COPIES, COLUMN = range(4)  # fields of a record
PATTERNS, TOUCHED = range(2)  # fields of the state: the number of records, and of those of the current graph


@helper
def record_of(high, low, table, state):
    """The position of the record of a canonical pattern; inserts it if it is new."""
    mask = uint64(len(table) - 1)
    at = hash_words(high, low) & mask
    while table[at, COLUMN] != 0:
        if table[at, HIGH] == high and table[at, LOW] == low:
            return int64(at)
        at = (at + uint64(1)) & mask
    state[PATTERNS] += 1
    table[at, HIGH], table[at, LOW], table[at, COLUMN] = high, low, uint64(state[PATTERNS])
    return int64(at)


@helper
def packed_patterns(table, state):
    """The packed words of all patterns, by column."""
    high, low = np.empty(state[PATTERNS], np.uint64), np.empty(state[PATTERNS], np.uint64)
    for at in range(len(table)):
        if table[at, COLUMN]:
            column = int64(table[at, COLUMN]) - 1
            high[column], low[column] = table[at, HIGH], table[at, LOW]
    return high, low


@helper
def write_out(state, table, touched, out_column, out_amount):
    """Write the copies of the touched records, and reset them to zero; return their number."""
    for t in range(state[TOUCHED]):
        record = touched[t]
        out_column[t] = int64(table[record, COLUMN]) - 1
        out_amount[t] = int64(table[record, COPIES])
        table[record, COPIES] = 0
    return state[TOUCHED]


@helper
def grown(table, touched, state):
    """A table of twice the size; touched is updated to the new positions of the records."""
    new = np.zeros((2 * len(table), 4), np.uint64)
    mask = uint64(len(new) - 1)
    for old in range(len(table)):
        if table[old, COLUMN]:
            at = hash_words(table[old, HIGH], table[old, LOW]) & mask
            while new[at, COLUMN]:
                at = (at + uint64(1)) & mask
            for field in range(4):
                new[at, field] = table[old, field]
            table[old, HIGH] = at
    for t in range(min(len(touched), state[TOUCHED])):
        touched[t] = int64(table[touched[t], HIGH])
    return new
