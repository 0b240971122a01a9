"""Patterns: the catalog against counts of graphs and networkx, canonical forms, names, drawings; orbits."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anysize.patterns.graph6 import from_graph6
from anysize.patterns.orbits import automorphisms, code_of, edges_of, is_connected, orbits, pair_bit, permuted
from anysize.patterns.pattern import Pattern, check_size, class_table, connected_patterns, representatives

CLASSES = {1: 1, 2: 1, 3: 2, 4: 6, 5: 21, 6: 112, 7: 853}  # connected graphs
LABELED = {1: 1, 2: 1, 3: 4, 4: 38, 5: 728, 6: 26704, 7: 1866256}  # with numbered vertices


# ---- the catalog -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", CLASSES)
def test_the_catalog_holds_every_connected_graph_once(k: int) -> None:
    patterns = connected_patterns(k)
    assert len(patterns) == CLASSES[k]
    assert sum(factorial(k) // pattern.automorphisms for pattern in patterns) == LABELED[k]
    assert (class_table(k) >= 0).sum() == LABELED[k]
    assert len({pattern.name for pattern in patterns}) == CLASSES[k]
    assert [len(p.edges) for p in patterns] == sorted(len(p.edges) for p in patterns)
    assert all(pattern.size == k and is_connected(pattern.code, k) for pattern in patterns)


@pytest.mark.parametrize("k", range(1, 7))
def test_no_two_patterns_are_isomorphic(k: int) -> None:
    graphs = [pattern.to_networkx() for pattern in connected_patterns(k)]
    by_degrees: dict[tuple[int, ...], list[nx.Graph]] = {}
    for graph in graphs:
        alike = by_degrees.setdefault(tuple(sorted(degree for _, degree in graph.degree)), [])
        assert not any(nx.is_isomorphic(graph, other) for other in alike)
        alike.append(graph)


def test_the_atlas_of_networkx_has_the_same_classes() -> None:
    found = set()
    for graph in nx.graph_atlas_g()[1:]:
        if nx.is_connected(graph):
            pattern = Pattern.of(list(graph.edges))
            assert nx.is_isomorphic(pattern.to_networkx(), graph)
            found.add((pattern.size, pattern.code))
    assert len(found) == sum(CLASSES.values())


KNOWN = {
    "vertex": nx.empty_graph(1),
    "edge": nx.path_graph(2),
    "triangle": nx.complete_graph(3),
    "claw": nx.star_graph(3),
    "paw": nx.lollipop_graph(3, 1),
    "diamond": nx.diamond_graph(),
    "bull": nx.bull_graph(),
    "house": nx.house_graph(),
    "butterfly": nx.windmill_graph(2, 3),
    "lollipop": nx.lollipop_graph(4, 1),
    "tadpole": nx.tadpole_graph(3, 2),
    "banner": nx.tadpole_graph(4, 1),
    "fork": nx.from_edgelist([(0, 1), (0, 2), (0, 3), (3, 4)]),
    "cricket": nx.from_edgelist([(0, 1), (0, 2), (1, 2), (0, 3), (0, 4)]),
    "dart": nx.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (0, 4)]),
    "kite": nx.from_edgelist([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]),
    "gem": nx.from_edgelist([(0, 1), (1, 2), (2, 3), *((4, i) for i in range(4))]),
    "K2,3": nx.complete_bipartite_graph(2, 3),
    "K3,3": nx.complete_bipartite_graph(3, 3),
    "K1,1,3": nx.complete_multipartite_graph(1, 1, 3),
    "K2,3+e": nx.complement(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))),
    "K5-P3": nx.complement(nx.disjoint_union(nx.path_graph(3), nx.empty_graph(2))),
    "K5-e": nx.complement(nx.disjoint_union(nx.path_graph(2), nx.empty_graph(3))),
    "prism": nx.circular_ladder_graph(3),
    "domino": nx.ladder_graph(3),
    "net": nx.from_edgelist([(0, 1), (0, 2), (1, 2), (0, 3), (1, 4), (2, 5)]),
    "sun": nx.from_edgelist([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (0, 5), (2, 5)]),
}
KNOWN |= {f"{k}-path": nx.path_graph(k) for k in range(3, 8)}
KNOWN |= {f"{k}-cycle": nx.cycle_graph(k) for k in range(4, 8)}
KNOWN |= {f"{k}-clique": nx.complete_graph(k) for k in range(4, 8)}
KNOWN |= {f"K1,{k - 1}": nx.star_graph(k - 1) for k in range(5, 8)}
KNOWN |= {f"{k - 1}-wheel": nx.wheel_graph(k) for k in range(5, 8)}


@pytest.mark.parametrize("name", KNOWN)
def test_named_patterns_are_what_their_names_say(name: str) -> None:
    graph = KNOWN[name]
    (pattern,) = [p for p in connected_patterns(len(graph)) if p.name == name]
    assert nx.is_isomorphic(pattern.to_networkx(), graph)


def test_every_name_up_to_five_vertices_is_checked_above() -> None:
    assert {pattern.name for k in range(1, 6) for pattern in connected_patterns(k)} <= set(KNOWN)


# ---- canonical forms -----------------------------------------------------------------------------


@st.composite
def colored_graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int | str], list[int]]:
    """A connected graph, its colors, and another numbering."""
    k = draw(st.integers(1, 6))
    tree = {(draw(st.integers(0, j - 1)), j) for j in range(1, k)}
    more = draw(st.sets(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)).filter(lambda e: e[0] < e[1])))
    colors = draw(st.lists(st.sampled_from([3, 20, "3", "N"]), min_size=k, max_size=k))
    return sorted(tree | more), colors, draw(st.permutations(range(k)))


def brute_automorphisms(edges: list[tuple[int, int]], colors: list[int | str] | None, k: int) -> int:
    links = {frozenset(edge) for edge in edges}
    return sum(
        {frozenset((image[i], image[j])) for i, j in edges} == links
        and (colors is None or all(colors[image[v]] == colors[v] for v in range(k)))
        for image in permutations(range(k))
    )


@given(colored_graphs())
def test_a_pattern_does_not_depend_on_the_numbering(
    drawn: tuple[list[tuple[int, int]], list[int | str], list[int]],
) -> None:
    edges, colors, image = drawn
    moved: list[int | str] = list(colors)
    for vertex, place in enumerate(image):
        moved[place] = colors[vertex]
    renamed = [(image[i], image[j]) for i, j in edges]
    assert Pattern.of(edges) == Pattern.of(renamed)
    pattern = Pattern.of(edges, colors)
    assert pattern == Pattern.of(renamed, moved)
    assert hash(pattern) == hash(Pattern.of(renamed, moved))
    assert pattern.automorphisms == brute_automorphisms(edges, colors, len(colors))
    assert Pattern.of(edges).automorphisms == brute_automorphisms(edges, None, len(colors))


@given(colored_graphs())
def test_the_canonical_form_is_isomorphic_colors_included(
    drawn: tuple[list[tuple[int, int]], list[int | str], list[int]],
) -> None:
    edges, colors, _ = drawn
    given_graph = nx.empty_graph(len(colors))
    given_graph.add_edges_from(edges)
    nx.set_node_attributes(given_graph, dict(enumerate(colors)), "color")
    found = Pattern.of(edges, colors).to_networkx()

    def alike(a: dict[str, object], b: dict[str, object]) -> bool:
        return a["color"] == b["color"]

    assert nx.is_isomorphic(given_graph, found, node_match=alike)


def test_different_colorings_are_different_patterns() -> None:
    path = [(0, 1), (1, 2)]
    assert Pattern.of(path, ["C", "C", "O"]) == Pattern.of(path, ["O", "C", "C"])
    assert Pattern.of(path, ["C", "C", "O"]) != Pattern.of(path, ["C", "O", "C"])
    assert Pattern.of(path, ["1", "1", "1"]) != Pattern.of(path, [1, 1, 1])
    assert Pattern.of([], [7]).name == "vertex[7]"


def test_integers_come_before_strings_in_the_canonical_order() -> None:
    assert Pattern.of([(0, 1)], ["b", 10]).colors == (10, "b")
    assert Pattern.of([(0, 1)], [10, 9]).colors == (9, 10)


# ---- names, drawings, errors ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("color", "written"),
    [
        ("C", "C"),
        (6, "6"),
        (-6, "-6"),
        ("6", '"6"'),
        ("-6", '"-6"'),
        ("", '""'),
        ("a,b", '"a,b"'),
        ("a b", '"a b"'),
        ("[x]", '"[x]"'),
        ('say "x"', '"say \\"x\\""'),
        ("é", "é"),
        ("a\nb", '"a\\nb"'),
    ],
)
def test_colors_that_could_be_misread_are_quoted(color: int | str, written: str) -> None:
    assert Pattern.of([], [color]).name == f"vertex[{written}]"


def test_names_of_colored_patterns_are_unique() -> None:
    odd: list[int | str] = [1, "1", "1,1", "", ",", '"', "a", "a,a"]
    pairs = {Pattern.of([(0, 1)], [a, b]) for a in odd for b in odd}
    assert len(pairs) == 36
    assert len({pattern.name for pattern in pairs}) == 36


@pytest.mark.parametrize("k", range(1, 8))
def test_drawings_show_every_vertex(k: int) -> None:
    for pattern in connected_patterns(k)[:: {6: 40, 7: 300}.get(k, 1)]:
        assert pattern.draw().count("●") == k
        letters = pattern.colored(tuple("ABCDEFG"[:k])).draw()
        assert all(letters.count(letter) == 1 for letter in "ABCDEFG"[:k])
        assert all(line == line.rstrip() and line for line in pattern.draw().splitlines())


@pytest.mark.parametrize("edges", [[(0, 1), (2, 3)], [(1, 2)], [(0, 2)]])
def test_patterns_are_connected(edges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="connected"):
        Pattern.of(edges)


def test_patterns_have_a_color_per_vertex_and_a_size_in_range() -> None:
    with pytest.raises(ValueError, match="expected 2 colors, one per vertex; got 3"):
        Pattern.of([(0, 1)], ["a", "b", "c"])
    with pytest.raises(ValueError, match="k must be an integer from 1 to 7; got 8"):
        Pattern.of([(i, i + 1) for i in range(7)])


@pytest.mark.parametrize("k", [0, 8, 2.0, True, "3", None])
def test_sizes_out_of_range_are_refused(k: object) -> None:
    with pytest.raises(ValueError, match="k must be an integer from 1 to 7"):
        check_size(k)  # type: ignore[arg-type]


def test_numpy_integers_are_sizes() -> None:
    assert check_size(np.int32(5)) == 5


# ---- orbits --------------------------------------------------------------------------------------


def test_codes_and_edges_are_inverse() -> None:
    assert [pair_bit(j, i) for j in range(4) for i in range(j)] == list(range(6))
    for code in range(1 << 6):
        assert code_of(edges_of(code, 4)) == code


@pytest.mark.parametrize("k", range(2, 6))
def test_connected_means_what_networkx_means(k: int) -> None:
    for code in range(1 << (k * (k - 1) // 2)):
        graph = nx.empty_graph(k)
        graph.add_edges_from(edges_of(code, k))
        assert is_connected(code, k) == nx.is_connected(graph)


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("k", range(2, 7))
def test_renamings_lead_to_the_smallest_code(k: int, marked: bool) -> None:
    own = orbits(k, marked)
    codes = np.arange(1 << (k * (k - 1) // 2))
    moved = np.zeros_like(codes)
    for image in np.unique(own.renaming, axis=0):
        here = (own.renaming == image).all(axis=1)
        moved[here] = permuted(codes[here], tuple(image.tolist()))
        assert sorted(image.tolist()) == list(range(k))
        if marked:
            assert set(image[-2:].tolist()) == {k - 2, k - 1}
    assert np.array_equal(moved, own.smallest)
    assert np.array_equal(own.smallest[own.smallest], own.smallest)
    assert (own.smallest <= codes).all()


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("k", range(2, 6))
def test_orbits_and_symmetries_make_up_the_group(k: int, marked: bool) -> None:
    own = orbits(k, marked)
    group = 2 * factorial(k - 2) if marked else factorial(k)
    for code in np.unique(own.smallest).tolist():
        symmetries = automorphisms(code, k, marked)
        assert symmetries[0].tolist() == list(range(k))
        assert len(symmetries) * own.size[code] == group
        assert (own.smallest == code).sum() == own.size[code]
        assert all(permuted(np.array([code]), tuple(image.tolist()))[0] == code for image in symmetries)


def test_representatives_are_in_the_order_of_the_catalog() -> None:
    for k in range(1, 7):
        assert representatives(k) == tuple(pattern.code for pattern in connected_patterns(k))


# ---- names to look up --------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 8))
def test_graph6_strings_are_those_of_networkx(k: int) -> None:
    for pattern in connected_patterns(k):
        assert nx.is_isomorphic(nx.from_graph6_bytes(pattern.graph6.encode()), pattern.to_networkx())
        assert from_graph6(pattern.graph6) == (k, tuple(sorted(pattern.edges, key=lambda edge: edge[::-1])))


@pytest.mark.parametrize("k", range(1, 8))
def test_atlas_numbers_are_those_of_networkx(k: int) -> None:
    numbers = [pattern.atlas for pattern in connected_patterns(k)]
    assert len(set(numbers)) == len(numbers)
    for pattern in connected_patterns(k)[:: 1 if k < 7 else 20]:
        assert nx.is_isomorphic(nx.graph_atlas(pattern.atlas), pattern.to_networkx())


def test_a_colored_pattern_has_the_numbers_of_its_plain_one() -> None:
    plain = Pattern.of([(0, 1), (1, 2), (2, 3)])
    colored = Pattern.of([(0, 1), (1, 2), (2, 3)], ["C", "N", "C", "O"])
    assert (colored.graph6, colored.atlas) == (plain.graph6, plain.atlas) == (plain.graph6, 14)


def test_patterns_are_found_by_name_number_and_graph6() -> None:
    for pattern in (*connected_patterns(5), *connected_patterns(6)[::10], *connected_patterns(7)[::200]):
        for name in (pattern.name, f"G{pattern.atlas}", pattern.graph6):
            assert Pattern.named(name) == pattern
    assert Pattern.named("Dhc").name == "5-cycle"  # any numbering of the vertices
    for wrong in ("", "bulls", "G0", "G1253", "C?", "C_", "Cl?", "I?????????", "\x00"):
        with pytest.raises(ValueError, match="expected the name of a pattern"):
            Pattern.named(wrong)
