"""Canonical coloured patterns inside kernels: raw code and colours in, catalogue place and colours out."""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from anysize.counting.jit import helper
from anysize.orbits import automorphisms, orbits
from anysize.patterns import class_table, representatives


class Tables(NamedTuple):
    """By code: class (or -1) and a renaming to its representative; by class: its symmetries."""

    class_of: np.ndarray
    renaming: np.ndarray
    group_ptr: np.ndarray
    group: np.ndarray


@cache
def pattern_tables(k: int) -> Tables:
    """For the catalogue: all permutations."""
    groups = [automorphisms(code, k) for code in representatives(k)]
    return Tables(class_table(k), orbits(k).renaming.astype(np.uint8), *_flat(groups, k))


@cache
def marked_tables(k: int) -> Tables:
    """For codes whose last two vertices are marked; classes are numbered by smallest code."""
    own = orbits(k, marked=True)
    smallest = np.unique(own.smallest)
    class_of = np.searchsorted(smallest, own.smallest).astype(np.int32)
    groups = [automorphisms(int(code), k, marked=True) for code in smallest]
    return Tables(class_of, own.renaming.astype(np.uint8), *_flat(groups, k))


def _flat(groups, k):
    ptr = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    return ptr.astype(np.int64), np.concatenate(groups).reshape(-1, k).astype(np.uint8)


@helper
def canonical(code, colours, k, class_of, renaming, group_ptr, group, best, trial):
    """The class of a code; fills best with its colours, the smallest way round. trial is scratch."""
    place = class_of[code]
    if place < 0:
        return place
    for i in range(k):
        trial[renaming[code, i]] = colours[i]
    if group_ptr[place + 1] - group_ptr[place] == 1:
        for i in range(k):
            best[i] = trial[i]
        return place
    for g in range(group_ptr[place], group_ptr[place + 1]):
        better = g == group_ptr[place]
        if not better:
            for i in range(k):
                a, b = trial[group[g, i]], best[i]
                if a != b:
                    better = a < b
                    break
        if better:
            for i in range(k):
                best[i] = trial[group[g, i]]
    return place


@helper
def pack(place, colours, k):
    """Two words that sort as (place, colours): the layout of `Columns.keys` without the size."""
    high = uint64(place) << uint64(48)
    low = uint64(0)
    for i in range(k):
        if i < 3:
            high |= uint64(colours[i]) << uint64(32 - 16 * i)
        else:
            low |= uint64(colours[i]) << uint64(48 - 16 * (i - 3))
    return high, low


@helper
def colour_at(high, low, i):
    """The colour of vertex i in packed words."""
    if i < 3:
        return int64((high >> uint64(32 - 16 * i)) & uint64(0xFFFF))
    return int64((low >> uint64(48 - 16 * (i - 3))) & uint64(0xFFFF))


@helper
def hash_words(high, low):
    """Both words, mixed; the low bits of the result are a place in a table."""
    mixed = (high ^ (low * uint64(0x9E3779B97F4A7C15))) * uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> uint64(32)
    return (mixed * uint64(0x9E3779B97F4A7C15)) >> uint64(16)


def unpack(high, low, k):
    """Places and colours (patterns, 7) of packed words."""
    colours = np.zeros((len(high), 7), np.uint16)
    for i in range(k):
        word, shift = (high, 32 - 16 * i) if i < 3 else (low, 48 - 16 * (i - 3))
        colours[:, i] = (word >> np.uint64(shift)) & np.uint64(0xFFFF)
    return (high >> np.uint64(48)).astype(np.int16), colours
