"""Coloured cliques of a large sparse graph, which the flip scheme does not give: kernels of `flip_sparse`."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from anysize.counting.jit import entry, helper


def coloured_cliques(k: int, colours: int):
    """k-cliques by colours, from their lowest edge."""

    @entry
    def kernel(
        low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, colour, start, stop, cliques
    ):  # fmt: skip
        n = len(low_ptr) - 1
        label = np.zeros(n, np.uint8)
        list3 = np.empty(n, np.uint32)
        list4 = np.empty(n, np.uint32)
        seen = np.zeros(5, np.int64)
        for u in range(start, stop):
            for e in range(high_ptr[u], high_ptr[u + 1]):
                v = high[e]
                n3 = 0
                for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                    if third[z] <= v:
                        break
                    list3[n3] = third[z]
                    label[third[z]] = 1
                    n3 += 1
                if n3 >= k - 2:
                    for i in range(n3):
                        w = list3[i]
                        n4 = 0
                        for f in range(high_ptr[w], high_ptr[w + 1]):
                            x = high[f]
                            if label[x] == 0:
                                continue
                            if k == 4:
                                _count_clique(cliques, k, colours, seen, colour, u, v, w, x, x)
                            else:
                                label[x] = 2
                                list4[n4] = x
                                n4 += 1
                        for j in range(n4):
                            x = list4[j]
                            for f in range(high_ptr[x], high_ptr[x + 1]):
                                if label[high[f]] == 2:
                                    _count_clique(cliques, k, colours, seen, colour, u, v, w, x, high[f])
                        for j in range(n4):
                            label[list4[j]] = 1
                for i in range(n3):
                    label[list3[i]] = 0

    return kernel


@helper
def _count_clique(cliques, k, colours, seen, colour, u, v, w, x, y):
    seen[0], seen[1], seen[2], seen[3], seen[4] = colour[u], colour[v], colour[w], colour[x], colour[y]
    at = 0
    for i in range(k):  # insertion sort: the table is by ascending colours
        c, j = seen[i], i
        while j > 0 and seen[j - 1] > c:
            seen[j] = seen[j - 1]
            j -= 1
        seen[j] = c
    for i in range(k):
        at = at * colours + seen[i]
    cliques[at] += 1
