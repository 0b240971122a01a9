"""Sums over vertices, once the sums over pairs are known, and 5-cliques: kernels of `bitset`."""

# mypy: ignore-errors
from __future__ import annotations

from numba import int64, uint64

from anysize.counting.bits import lowest_bit, popcount
from anysize.counting.moebius import AT

words = 0  # in a row; a constant when the kernel is compiled, 0 where it is not known


def small_vertex_sums(n, at_vertex, out):
    """Sums for k <= 4; triangles and cycles at a vertex, which came from its pairs, are halved."""
    degree, triangles_at, cycles_at = at_vertex[0], at_vertex[1], at_vertex[2]
    wedges, triangles, claws, paws, edges = 0, 0, 0, 0, 0
    for i in range(n):
        d = degree[i]
        t = triangles_at[i] // 2
        triangles_at[i] = t
        cycles_at[i] //= 2
        edges += d
        triangles += t
        wedges += d * (d - 1) // 2
        claws += d * (d - 1) * (d - 2) // 6
        paws += t * (d - 2)
    out[AT.edges] = edges // 2
    out[AT.wedges] = wedges
    out[AT.triangles] = triangles // 3
    out[AT.claws] = claws
    out[AT.paws] = paws


def vertex_sums(n, width, bits, upper, common, reach, at_vertex, out):
    """Sums over vertices of degrees, and of the triangles, cycles and cliques that pairs gave them; 5-cycles."""
    w = words if words > 0 else width
    degree, triangles_at, cycles_at, cliques_at = at_vertex[0], at_vertex[1], at_vertex[2], at_vertex[3]
    span = 64 if words == 1 else 64 * ((n + 63) >> 6)
    stars5, forks, paths5, crickets, banners, tadpoles = 0, 0, 0, 0, 0, 0
    butterflies, lollipops, houses, walks5, tails = 0, 0, 0, 0, 0
    for i in range(n):
        d, t = degree[i], triangles_at[i]
        stars5 += d * (d - 1) * (d - 2) * (d - 3) // 24
        crickets += t * ((d - 2) * (d - 3) // 2)
        butterflies += t * (t - 1) // 2
        banners += cycles_at[i] * (d - 2)
        lollipops += (cliques_at[i] // 3) * (d - 3)
        tails += (d - 2) * t
        a, b = 0, 0
        for j in range(span):
            reach[j] = 0
        for q in range(w):
            rest = bits[i, q]
            while rest:
                x = (q << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                e = degree[x] - 1
                a += e
                b += e * e
                row = common[x]
                for j in range(span):
                    reach[j] += row[j]
        forks += a * ((d - 1) * (d - 2) // 2)
        paths5 += (a * a - b) // 2
        tadpoles += t * (a - 2 * (d - 1))
        walks = 0
        for j in range(span):
            walks += int64(reach[j]) * int64(common[i, j])
        walks5 += walks
        for q in range(i >> 6, w):
            rest = upper[i, q]
            while rest:
                x = (q << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                houses += int64(common[i, x]) * (int64(reach[x]) - d - degree[x] + 1)
    out[AT.stars5] = stars5
    out[AT.forks] = forks
    out[AT.paths5] = paths5
    out[AT.crickets] = crickets
    out[AT.banners] = banners
    out[AT.tadpoles] = tadpoles
    # closed 5-walks: cycles, triangles, and triangles with a tail
    out[AT.cycles5] = (walks5 - 30 * out[AT.triangles] - 10 * tails) // 10
    out[AT.butterflies] = butterflies
    out[AT.houses] = houses
    out[AT.lollipops] = lollipops


def count_cliques5(n, width, bits, upper, local, members, pair):
    """4-cliques among the upper neighbours of each vertex, in the graph they induce, renumbered."""
    found = uint64(0)
    for i in range(n):
        size = list_bits(upper[i], width, members)
        if size < 4:
            continue
        w = (size + 63) >> 6
        for a in range(size):
            for q in range(w):
                local[a, q] = uint64(0)
            row = members[a]
            for b in range(a + 1, size):
                x = members[b]
                local[a, b >> 6] |= ((bits[row, x >> 6] >> uint64(x & 63)) & uint64(1)) << uint64(b & 63)
        if w == 1:
            for a in range(size):
                rest = local[a, 0]
                while rest:
                    both = local[a, 0] & local[lowest_bit(rest), 0]
                    rest &= rest - uint64(1)
                    third = both
                    while third:
                        found += popcount(both & local[lowest_bit(third), 0])
                        third &= third - uint64(1)
        elif w == 2:
            for a in range(size):
                for q in range(2):
                    rest = local[a, q]
                    while rest:
                        b = (q << 6) + int64(lowest_bit(rest))
                        rest &= rest - uint64(1)
                        both, more = local[a, 0] & local[b, 0], local[a, 1] & local[b, 1]
                        third = both
                        while third:
                            c = int64(lowest_bit(third))
                            third &= third - uint64(1)
                            found += popcount(both & local[c, 0]) + popcount(more & local[c, 1])
                        third = more
                        while third:
                            found += popcount(more & local[64 + int64(lowest_bit(third)), 1])
                            third &= third - uint64(1)
        else:
            for a in range(size):
                for q in range(a >> 6, w):
                    rest = local[a, q]
                    while rest:
                        b = (q << 6) + int64(lowest_bit(rest))
                        rest &= rest - uint64(1)
                        for p in range(q, w):
                            pair[p] = local[a, p] & local[b, p]
                        for p in range(q, w):
                            third = pair[p]
                            while third:
                                c = (p << 6) + int64(lowest_bit(third))
                                third &= third - uint64(1)
                                for r in range(p, w):
                                    found += popcount(pair[r] & local[c, r])
    return int64(found)


def list_bits(set_words, width, members):
    """The members of a set of bits, ascending; how many there are."""
    w = words if words > 0 else width
    size = 0
    for q in range(w):
        rest = set_words[q]
        while rest:
            members[size] = (q << 6) + int64(lowest_bit(rest))
            size += 1
            rest &= rest - uint64(1)
    return size
