"""Counts: densities, rows and columns, tables of other palettes, files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, perm
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from counting.helpers import colored, gnp, identical, same
from scipy.sparse import csr_array

from anysize.counting.api import count
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.counting.counts_file import FORMAT
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import Pattern, connected_patterns


def slow_densities(counts: Counts, over: str) -> list[list[float]]:
    """The definitions, in fractions, rounded once."""
    patterns, table = counts.patterns, counts.matrix.toarray().tolist()
    rows = []
    for n, copies in zip(counts.sizes.tolist(), table, strict=True):
        row = []
        for amount, pattern in zip(copies, patterns, strict=True):
            k = pattern.size
            whole = {"subsets": comb(n, k), "maps": perm(n, k), "connected": sum(copies)}[over]
            ways = pattern.automorphisms if over == "maps" else 1
            row.append(float(Fraction(amount * ways, whole)) if whole else 0.0)
        rows.append(row)
    return rows


def some_graphs() -> GraphSet:
    graphs = GraphSet.concatenate(
        [gnp(9, 0.5, seed=1), GraphSet.from_networkx(nx.empty_graph(2)), gnp(14, 0.3, seed=2)]
    )
    return replace(graphs, y=np.array([3, 1, 2]), names=("a", "b", "c"))


def handmade(copies: list[list[int]], sizes: list[int], k: int = 5) -> Counts:
    """A plain table with these copies of the first patterns of the catalog."""
    table = np.zeros((len(copies), len(connected_patterns(k))), np.int64)
    for row, values in enumerate(copies):
        table[row, : len(values)] = values
    return Counts(csr_array(table), Columns.plain(k), np.array(sizes, np.int64))


# ---- densities -------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
@pytest.mark.parametrize("palette", [None, ("C", "N")])
def test_densities_follow_their_definitions(over: str, palette: tuple[str, str] | None) -> None:
    graphs = some_graphs() if palette is None else colored(some_graphs(), 2, palette=palette)
    counts = count(graphs, (1, 2, 3, 4))
    densities = counts.densities(over).toarray()
    assert densities.tolist() == slow_densities(counts, over)
    assert all((densities[[0, 2]][:, counts.columns.size == k].sum(axis=1) > 0).all() for k in (1, 2, 3, 4))


@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
def test_densities_are_correctly_rounded_beyond_floats(over: str) -> None:
    largest = 2**63 - 1
    copies = [[2**53 + 1, 3, 7], [largest - 10, 7, 3], [2**62 + 1, 2**62 - 1], [3, 5, 7]]
    counts = handmade(copies, [10_000, 40_000, 100_000, 13])
    assert comb(40_000, 5) > 2**64
    assert counts.densities(over).toarray().tolist() == slow_densities(counts, over)


def test_quotients_are_rounded_once() -> None:
    """(2^53 + 1) copies as a float are 2^53 already."""
    n = 10_000
    spoiled = [c for c in range(2**53 + 1, 2**53 + 2001, 2) if float(c) / comb(n, 5) != c / comb(n, 5)]
    counts = handmade([spoiled[:21]], [n])
    assert counts.densities().toarray()[0].tolist() == [c / comb(n, 5) for c in spoiled[:21]]


@pytest.mark.parametrize("over", ["subsets", "maps", "connected"])
def test_graphs_without_copies_have_zero_rows(over: str) -> None:
    graphs = GraphSet.from_networkx([nx.empty_graph(n) for n in (0, 1, 3, 9)])
    densities = count(graphs, (2, 3, 4), colors=False).densities(over)
    assert densities.shape == (4, 9)
    assert densities.toarray().tolist() == np.zeros((4, 9)).tolist()


def test_shares_of_connected_subsets_sum_to_one_over_all_sizes() -> None:
    """As in the paper's appendix: omega has the copies of all patterns of up to k vertices in its denominator."""
    graphs = some_graphs()
    counts = count(graphs, (2, 3, 4))
    assert counts.densities("connected").toarray().sum(axis=1) == pytest.approx([1.0, 0.0, 1.0])
    sets = [nx.Graph(graph) for graph in graphs.to_networkx()]
    for row, graph in zip(counts.densities("connected").toarray(), sets, strict=True):
        induced = [graph.subgraph(nodes) for k in (2, 3, 4) for nodes in combinations(graph, k)]
        connected = [part for part in induced if nx.is_connected(part)]
        edges = sum(len(part) == 2 for part in connected)
        assert row[0] == (edges / len(connected) if connected else 0)


def test_automorphisms_preserve_colors() -> None:
    counts = count(colored(gnp(12, 0.5, seed=4), 2, palette=("x", "y")), (3, 4))
    assert len(counts.patterns) > 10
    for pattern, symmetries in zip(counts.patterns, counts.columns.automorphisms, strict=True):
        assert pattern.colors is not None
        kept = sum(
            all(pattern.colors[image[v]] == pattern.colors[v] for v in range(pattern.size))
            and {tuple(sorted((image[i], image[j]))) for i, j in pattern.edges} == set(pattern.edges)
            for image in permutations(range(pattern.size))
        )
        assert symmetries == pattern.automorphisms == kept


def test_an_unknown_kind_of_density_is_refused() -> None:
    with pytest.raises(ValueError, match="over must be one of subsets, maps, connected; got 'omega'"):
        count(some_graphs(), 3).densities("omega")  # type: ignore[arg-type]


# ---- rows and columns ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        (1, [1]),
        (-1, [2]),
        (np.int64(2), [2]),
        (np.array(1), [1]),
        (slice(0, 2), [0, 1]),
        (slice(None, None, -1), [2, 1, 0]),
        ([2, 0, 2], [2, 0, 2]),
        ([], []),
        ([True, False, True], [0, 2]),
        (np.array([False, False, False]), []),
    ],
)
def test_rows_are_taken_as_from_an_array(key: object, rows: list[int]) -> None:
    counts = count(some_graphs(), 3)
    part = counts[key]  # type: ignore[index]
    assert part.matrix.toarray().tolist() == counts.matrix.toarray()[rows].tolist()
    assert part.sizes.tolist() == counts.sizes[rows].tolist()
    assert part.y is not None
    assert part.y.tolist() == np.array([3, 1, 2])[rows].tolist()
    assert part.names == tuple("abc"[row] for row in rows)
    assert len(part) == part.shape[0] == len(rows)


def test_rows_that_do_not_exist_are_refused() -> None:
    with pytest.raises(IndexError):
        count(some_graphs(), 3)[3]
    with pytest.raises(IndexError):
        count(some_graphs(), 3)[[True, False]]


def test_columns_are_selected_by_number_or_mask() -> None:
    counts = count(some_graphs(), 4)
    chosen = counts.select([4, 0])
    assert [p.name for p in chosen.patterns] == ["diamond", "claw"]
    assert chosen.matrix.toarray().tolist() == counts.matrix.toarray()[:, [4, 0]].tolist()
    same(counts.select(counts.columns.pattern_index < 2), counts.select([0, 1]))
    assert counts.select([]).shape == (3, 0)


def named(counts: Counts) -> list[dict[str, int]]:
    """Every row as a dictionary."""
    names = [pattern.name for pattern in counts.patterns]
    rows = counts.matrix.toarray().tolist()
    return [{n: c for n, c in zip(names, row, strict=True) if c} for row in rows]


def test_align_matches_by_names_of_colors() -> None:
    ours = count(GraphSet.from_edges([(0, 1), (1, 2), (2, 3)], colors=["N", "O", "C", "N"]), 2)
    theirs = count(GraphSet.from_edges([(0, 1), (1, 2), (2, 3)], colors=["A", "C", "N", "N"]), 2)
    assert ours.palette != theirs.palette
    aligned = ours.align(theirs)
    assert [p.name for p in aligned.patterns] == [p.name for p in theirs.patterns]
    assert aligned.palette == theirs.palette
    assert named(ours) == [{"edge[C,N]": 1, "edge[C,O]": 1, "edge[N,O]": 1}]
    assert aligned.matrix.toarray().tolist() == [[0, 1, 0]]  # A-C, C-N, N-N
    assert named(ours.align(ours)) == named(ours)


def test_align_takes_patterns_in_any_order() -> None:
    counts = count(some_graphs(), (3, 4))
    order = [connected_patterns(4)[5], connected_patterns(3)[0], connected_patterns(5)[0]]
    aligned = counts.align(order)
    assert aligned.patterns == tuple(order)
    expected = counts.matrix.toarray()[:, [7, 0]]
    assert aligned.matrix.toarray()[:, :2].tolist() == expected.tolist()
    assert not aligned.matrix.toarray()[:, 2].any()
    edge = Pattern.of([(0, 1)], ["N", "C"])
    bonds = count(GraphSet.from_edges([(0, 1), (1, 2)], colors=["N", "C", "N"]), 2)
    assert bonds.align([edge]).matrix.toarray().tolist() == [[2]]


def test_plain_and_colored_tables_do_not_mix() -> None:
    plain, wild = count(some_graphs(), 3), count(colored(some_graphs(), 2), 3)
    with pytest.raises(ValueError, match="all plain or all colored"):
        plain.align(wild)
    with pytest.raises(ValueError, match="all plain or all colored"):
        Counts.concatenate([plain, wild])


def test_top_breaks_ties_by_canonical_order() -> None:
    counts = handmade([[5, 0, 9, 2], [0, 5, 0, 3]], [20, 20])
    assert np.flatnonzero(counts.top(3).matrix.sum(axis=0)).tolist() == [0, 1, 2]
    assert counts.top(1).patterns == (connected_patterns(5)[2],)
    assert counts.top(2).patterns == (connected_patterns(5)[0], connected_patterns(5)[2])  # 5 and 5: the earlier one
    identical(counts.top(100), counts)
    assert counts.top(0).shape == (2, 0)


def test_concatenate_unites_columns_and_keeps_what_all_tables_have() -> None:
    one = count(GraphSet.from_edges([(0, 1)], colors=["N", "O"], y=[1]), 2)
    two = count(GraphSet.from_edges([(0, 1)], colors=["C", "N"], y=[2]), 2)
    both = Counts.concatenate([one, two, one])
    assert both.palette == ("C", "N", "O")
    assert [p.name for p in both.patterns] == ["edge[C,N]", "edge[N,O]"]
    assert both.matrix.toarray().tolist() == [[0, 1], [1, 0], [0, 1]]
    assert both.y is not None
    assert both.y.tolist() == [1, 2, 1]
    assert both.log == one.log  # said once
    assert Counts.concatenate([one, replace(two, y=None)]).y is None
    with pytest.raises(ValueError, match="at least one table"):
        Counts.concatenate([])


def test_to_pandas_names_rows_and_columns() -> None:
    table = count(some_graphs(), 3).to_pandas()
    assert table.index.tolist() == ["a", "b", "c"]
    assert table.columns.tolist() == ["3-path", "triangle"]
    assert table.to_numpy().tolist() == count(some_graphs(), 3).matrix.toarray().tolist()
    shares = count(some_graphs().without_colors()[:2], 3).to_pandas(over="connected")
    assert shares.loc["a"].sum() == pytest.approx(1)


def test_to_pandas_is_sparse_where_a_table_is_wide() -> None:
    counts = count(colored(gnp(40, 0.3, seed=1), 40), 4)
    assert counts.shape[1] > 2000
    table = counts.to_pandas()
    assert all(kind.name.startswith("Sparse") for kind in table.dtypes[:5])
    assert table.index.tolist() == [0]
    assert table.to_numpy().sum() == counts.matrix.sum()


def test_repr() -> None:
    counts = count(some_graphs(), (3, 4))
    assert repr(counts) == "Counts(3 graphs x 8 plain patterns, k = 3, 4)"
    assert repr(count(colored(some_graphs(), 2)[1], 3)) == "Counts(1 graph x 0 colored patterns, k = -)"


def printed(counts: Counts) -> list[list[str]]:
    """The cells of the printed lines; cells are apart by two spaces or more."""
    return [re.split(r"  +", line.strip()) for line in str(counts).splitlines()]


def test_a_printed_table_has_the_numbers() -> None:
    graphs = replace(some_graphs(), names=("first", "second", "a very long name"))
    counts = count(graphs, 4)
    title, header, *lines = printed(counts)
    assert title == [repr(counts)]
    assert header == ["pattern", "first", "second", "a very long…", "all 3"]
    numbers = np.array([[int(cell.replace(",", "")) for cell in line[1:]] for line in lines])
    assert [line[0] for line in lines] == [pattern.name for pattern in counts.patterns]
    assert np.array_equal(numbers[:, :3].T, counts.matrix.toarray())
    assert np.array_equal(numbers[:, 3], counts.totals())


def test_a_large_printed_table_says_what_it_leaves_out() -> None:
    counts = count([nx.gnp_random_graph(12, 0.5, seed=seed) for seed in range(9)], 6)
    *lines, note = printed(counts)
    assert note == ["(87 more patterns; 4 more graphs)"]
    assert len(lines) == 2 + 25
    assert max(map(len, str(counts).splitlines())) < 90
    smallest = min(int(line[-1].replace(",", "")) for line in lines[2:])
    assert (counts.totals() > smallest).sum() < 25


def test_printed_estimates_have_their_errors() -> None:
    counts = count(nx.gnp_random_graph(60, 0.3, seed=1), 4, engine="sample", samples=5000)
    title, _, *lines, note = printed(counts)
    assert title == ["Counts(1 graph x 6 estimated plain patterns, k = 4)"]
    assert note == ["(estimates ± standard errors)"]
    copies, errors = counts.matrix.toarray()[0], counts.standard_errors.toarray()[0]
    assert lines[0][1] == f"{copies[0]:,.0f} ±{errors[0]:,.0f}"


def test_printed_names_show_control_characters() -> None:
    path = GraphSet.from_edges([(0, 1)], colors=["\x1b[2J", "C"])
    assert "\x1b" not in str(count(path, 2))
    assert str(count([], 3)) == repr(count([], 3))


# ---- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "colored", "empty"])
def test_a_saved_table_comes_back(kind: str, tmp_path: Path) -> None:
    graphs = some_graphs() if kind == "plain" else colored(some_graphs(), 3, palette=(-7, "C", "é\n,"))
    counts = count(graphs if kind != "empty" else graphs[:0], (2, 4))
    counts.save(tmp_path / "table.npz")
    back = Counts.load(tmp_path / "table.npz")
    identical(back, counts)
    assert (back.names, back.explain(), back.patterns) == (counts.names, counts.explain(), counts.patterns)
    assert back.y is not None
    assert back.y.tolist() == graphs[: len(counts)].with_y(counts.y).y.tolist()  # type: ignore[union-attr]
    assert [file.name for file in tmp_path.iterdir()] == ["table.npz"]


def test_a_saved_table_is_read_with_numpy_alone(tmp_path: Path) -> None:
    counts = count(GraphSet.from_edges([(0, 1), (1, 2)], colors=["N", "C", "O"]), (2, 3))
    counts.save(tmp_path / "table.npz")
    with np.load(tmp_path / "table.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(arrays["about"].tobytes().decode())
    assert about["format"] == FORMAT
    assert about["palette"] == ["C", "N", "O"]
    assert about["names"] is None
    assert arrays["data"].tolist() == [1, 1, 1]
    assert arrays["indptr"].tolist() == [0, 3]
    assert arrays["indices"].tolist() == [0, 1, 2]
    assert arrays["sizes"].tolist() == [3]
    assert arrays["pattern_size"].tolist() == [2, 2, 3]
    path = connected_patterns(3)[0]
    assert arrays["pattern_code"].tolist() == [1, 1, path.code]
    words = [[about["palette"][c] for c in row] for row in arrays["pattern_colors"].tolist()]
    assert [word[:2] for word in words[:2]] == [["C", "N"], ["C", "O"]]
    assert sorted(words[2][:3]) == ["C", "N", "O"]


def test_labels_that_are_objects_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    counts = replace(count(some_graphs(), 3), y=np.array([None, "x", 2], object))
    with pytest.raises(ValueError, match="labels must be numbers or strings"):
        counts.save(tmp_path / "table.npz")
    assert list(tmp_path.iterdir()) == []


def test_string_labels_are_kept(tmp_path: Path) -> None:
    replace(count(some_graphs(), 3), y=np.array(["ill", "well", "ill"])).save(tmp_path / "t.npz")
    labels = Counts.load(tmp_path / "t.npz").y
    assert labels is not None
    assert labels.tolist() == ["ill", "well", "ill"]


DAMAGES = ("text", "empty", "half", "array", "pickle", "other", "format", "json", "size", "code")
DAMAGES += ("unconnected", "palette", "index", "length")


def foreign_files(folder: Path) -> dict[str, Path]:
    """Files that are no tables of counts."""
    count(some_graphs(), 3).save(folder / "good.npz")
    with np.load(folder / "good.npz") as file:
        arrays = {name: file[name] for name in file.files}
    files = {name: folder / f"{name}.npz" for name in ("text", "empty", "half", "array", "pickle", "other")}
    files["text"].write_text("0 1\n1 2\n")
    files["empty"].write_bytes(b"")
    files["half"].write_bytes((folder / "good.npz").read_bytes()[:700])
    with files["array"].open("wb") as out:
        np.save(out, np.arange(3))
    with files["pickle"].open("wb") as out:
        np.save(out, np.array([{}], object), allow_pickle=True)
    np.savez(files["other"], data=np.arange(3))
    damages: dict[str, dict[str, object]] = {
        "format": {"about": np.frombuffer(b'{"format": "anysize counts 99"}', np.uint8)},
        "json": {"about": np.frombuffer(b"{", np.uint8)},
        "size": {"pattern_size": np.array([9, 9], np.uint8)},
        "code": {"pattern_code": np.array([2**20, 7], np.uint32)},
        "unconnected": {"pattern_code": np.array([1, 7], np.uint32)},
        "palette": {"pattern_colors": np.full((2, 7), 3, np.uint16)},
        "index": {"indices": arrays["indices"] + 7},
        "length": {"data": arrays["data"][:-1]},
    }
    for name, damage in damages.items():
        files[name] = folder / f"{name}.npz"
        np.savez(files[name], **(arrays | damage))
    return files


@pytest.mark.parametrize("name", DAMAGES)
def test_foreign_and_damaged_files_are_refused(name: str, tmp_path: Path) -> None:
    file = foreign_files(tmp_path)[name]
    with pytest.raises(ValueError, match=rf"{name}\.npz is not a readable table of counts: .") as caught:
        Counts.load(file)
    assert "unsafely" not in str(caught.value)  # as numpy advises to load what is no archive


def test_a_table_of_an_older_version_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "old.npz", about=np.frombuffer(b'{"format": "anysize counts 1"}', np.uint8))
    with pytest.raises(ValueError, match="older version of anysize"):
        Counts.load(tmp_path / "old.npz")


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Counts.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("k", [3, (1, 4)])
def test_without_colors_copies_are_summed(k: int | tuple[int, ...]) -> None:
    graphs = GraphSet.concatenate([colored(gnp(12, 0.3, seed), 3, seed) for seed in range(5)])
    found = count(graphs, k).without_colors()
    same(found, count(graphs, k, colors=False))
    assert found.matrix.dtype == np.int64
    assert found.without_colors() is found
    assert count(graphs[:0], k).without_colors().matrix.nnz == 0


def test_without_colors_refuses_estimates_and_overflow() -> None:
    graphs = colored(gnp(12, 0.3, 0), 2, 0)
    with pytest.raises(ValueError, match="sample again with colors=False"):
        count(graphs, 3, engine="sample", samples=100, seed=0).without_colors()
    counts = count(graphs, 3)
    huge = replace(counts, matrix=counts.matrix * (2**62 // counts.matrix.max()))
    with pytest.raises(OverflowError, match="exceed a 64-bit integer"):
        huge.without_colors()


def forged(folder: Path, kind: str, **changes: object) -> Path:
    """A saved table with some arrays, or fields of its description, replaced; None removes them."""
    graphs = replace(gnp(9, 0.5, seed=1) + gnp(7, 0.5, seed=2), names=("a", "b"), y=np.array([1, 2]))
    options = {"engine": "sample", "samples": 100} if kind == "sampled" else {}
    count(colored(graphs, 2) if kind == "colored" else graphs, 3, **options).save(folder / "table.npz")
    with np.load(folder / "table.npz") as archive:
        arrays = dict(archive)
    about = json.loads(arrays["about"].tobytes())
    for name, value in changes.items():
        held = about if name in about else arrays
        held[name] = value(held[name]) if callable(value) else value
        if held[name] is None and name != "names":
            del held[name]
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(folder / "forged.npz", **arrays)
    return folder / "forged.npz"


@pytest.mark.parametrize("kind", ["plain", "colored", "sampled"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("y", lambda y: y[:1]), ("y", lambda y: y[None]), ("y", lambda y: y[0]), ("names", ["a"]), ("names", [1, 2]),
        ("names", "ab"), ("log", [None]), ("palette", [True]), ("palette", {}), ("shape", [2, 3]), ("shape", [2]),
        ("data", lambda data: -data), ("data", lambda data: data > 0), ("data", lambda data: data[:-1]),
        ("data", lambda data: data * np.nan), ("data", lambda data: data.astype(str)), ("data", None),
        ("sizes", lambda sizes: -sizes), ("sizes", lambda sizes: sizes[:1]), ("sizes", lambda sizes: sizes / 2),
        ("indptr", lambda indptr: indptr[::-1]), ("indptr", lambda ends: ends * 1000), ("indices", lambda i: i + 99),
        ("pattern_size", lambda sizes: sizes + 5), ("pattern_size", lambda sizes: sizes * 0),
        ("pattern_code", lambda codes: codes * 0), ("pattern_code", lambda codes: codes * 10**6),
        ("pattern_code", lambda codes: codes[::-1][:1].repeat(len(codes))), ("format", "other"),
    ],
)  # fmt: skip
def test_forged_tables_are_refused(kind: str, name: str, value: object, tmp_path: Path) -> None:
    if (kind, name) == ("colored", "pattern_code") and callable(value) and value(np.arange(2)).tolist() == [1, 1]:
        pytest.skip("colors make these patterns different")
    with pytest.raises(ValueError, match=r"forged\.npz is not a readable table of counts: ") as caught:
        Counts.load(forged(tmp_path, kind, **{name: value}))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("colored", "pattern_colors", lambda colors: colors + 2),
        ("colored", "pattern_colors", lambda colors: colors[:, :3]),
        ("colored", "pattern_colors", lambda colors: colors[:1].repeat(len(colors), 0)),
        ("colored", "palette", ["B", "A"]),
        ("colored", "palette", ["A", "A"]),
        ("sampled", "hits", lambda hits: -hits),
        ("sampled", "errors", lambda errors: errors + np.inf),
        ("sampled", "rates", lambda rates: rates[:, :1]),
        ("sampled", "rates", None),
        ("sampled", "samples", lambda samples: samples[:1]),
        ("sampled", "exact_cliques", lambda cliques: cliques.astype(int)),
    ],
)
def test_forged_colors_and_estimates_are_refused(kind: str, name: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"forged\.npz is not a readable table of counts: "):
        Counts.load(forged(tmp_path, kind, **{name: value}))


@pytest.mark.parametrize("kind", ["plain", "colored", "sampled"])
def test_a_table_with_nothing_forged_is_read(kind: str, tmp_path: Path) -> None:
    assert Counts.load(forged(tmp_path, kind)).shape[0] == 2
