"""A hash table of the canonical patterns that a kernel meets, each with its copies and a column of its own.

A record has four fields: the packed words of the pattern (see `canonical.pack`), copies in the present graph, and
1 + column; columns are given in the order in which patterns are first met. What the table knows beside its records, how
many patterns and how many of them touched, stands in an array `state` of the kernel, so that helpers can change it.
The kernel sees to it that half of the table stays free: helpers do not check.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64, uint64

from anysize.counting.canonical import hash_words
from anysize.counting.jit import helper

HIGH, LOW, COPIES, COLUMN = range(4)  # fields of a record
PATTERNS, TOUCHED = range(2)  # places in state: records in the table, and those of the present graph


@helper
def record_of(high, low, table, state):
    """Where the record of a canonical pattern is; a new one if it is the first of its kind."""
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
    """The copies of the touched records, which go back to zero; their number."""
    for t in range(state[TOUCHED]):
        record = touched[t]
        out_column[t] = int64(table[record, COLUMN]) - 1
        out_amount[t] = int64(table[record, COPIES])
        table[record, COPIES] = 0
    return state[TOUCHED]


@helper
def grown(table, touched, state):
    """The table with as much room again; touched follows the records to their new places."""
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
