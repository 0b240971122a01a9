"""Properties: what is written is read back, and whatever the bytes, a reader reads or raises GraphError."""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from anysize import GraphError, GraphSet, GraphWarning, read_graphs
from anysize.io import text

NAMES = st.one_of(st.integers(-(10**20), 10**20), st.text(alphabet='ab1é"\n \x1f', max_size=3))


@st.composite
def graph_sets(draw: st.DrawFn, names: st.SearchStrategy[int | str] = NAMES) -> GraphSet:
    """Up to four graphs on up to six vertices, with or without colors, with integer or string labels."""
    colored = draw(st.booleans())
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    pairs = [[(u, v) for v in range(size) for u in range(v)] for size in sizes]
    edges = [draw(st.lists(st.sampled_from(p), unique=True)) if p else [] for p in pairs]
    colors = [draw(st.lists(names, min_size=size, max_size=size)) for size in sizes] if colored else None
    label = st.one_of(st.lists(st.integers(-(10**17), 10**17)), st.lists(st.sampled_from(["a", "é", '"', "\n"])))
    y = draw(label.map(lambda values: (values * len(sizes))[: len(sizes)]))
    several = GraphSet.concatenate(
        GraphSet.from_edges(edge, n_vertices=size, colors=None if colors is None else colors[g])
        for g, (edge, size) in enumerate(zip(edges, sizes, strict=True))
    )
    return several.with_y(y if y else list(range(len(sizes))))


@given(graph_sets())
def test_tu_round_trip(graphs: GraphSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        graphs.to_tu(folder, "SET")
        back = read_graphs(folder)
    assert back.equals(graphs)
    assert back.y is not None
    assert graphs.y is not None
    assert back.y.dtype.kind == graphs.y.dtype.kind


@given(graph_sets(names=st.integers(-5, 5)))
def test_integer_colors_are_written_as_they_are(graphs: GraphSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        graphs.to_tu(folder, "SET")
        assert not (Path(folder) / "SET" / "SET_node_label_names.txt").exists()
        labels = Path(folder) / "SET" / "SET_node_labels.txt"
        names = [name for g in range(len(graphs)) for name in graphs.color_names(g)]
        assert labels.exists() == (graphs.colors is not None)
        if labels.exists():
            assert labels.read_text().split() == [str(name) for name in names]


@given(graph_sets())
def test_networkx_round_trip(graphs: GraphSet) -> None:
    color = None if graphs.colors is None else "color"
    assert GraphSet.from_networkx(graphs.to_networkx(), color=color, y=graphs.y).equals(graphs)


@given(graph_sets(), st.randoms(use_true_random=False))
def test_networkx_graphs_come_back_isomorphic_from_any_vertex_order(graphs: GraphSet, random: object) -> None:
    for g, graph in enumerate(graphs.to_networkx()):
        order = list(graph)
        random.shuffle(order)  # type: ignore[attr-defined]
        shuffled = nx.Graph()
        shuffled.add_nodes_from(order)
        shuffled.add_edges_from(graph.edges)
        again = GraphSet.from_networkx(shuffled)
        rank = {v: place for place, v in enumerate(order)}
        expected = {tuple(sorted((rank[u], rank[v]))) for u, v in graphs.edges(g).tolist()}
        assert {tuple(edge) for edge in again.edges().tolist()} == expected


def test_empty_set_round_trip(tmp_path: Path) -> None:
    empty = GraphSet.concatenate([])
    empty.to_tu(tmp_path, "NONE")
    assert read_graphs(tmp_path).equals(empty)


# ---- garbage -------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["1", "2", "1, 2", "2,1", "3 1", "", " ", "-1", "0", "x", "1.5", "#", "%", "9" * 30]))
GARBAGE = st.one_of(
    st.binary(max_size=60),
    st.text(alphabet="0123, \t\n\r-+.#%e_\x00\x0b\x1c\x85\xa0", max_size=40).map(lambda text: text.encode("latin1")),
    LINES.map(lambda lines: "\n".join(lines).encode()),
    LINES.map(lambda lines: "\n".join(["source,target", *lines]).encode()),
    LINES.map(lambda lines: "\n".join(["1", "2 0", *lines]).encode()),
    LINES.map(lambda lines: "\n".join(["graph [", *lines, "]"]).encode()),
    st.lists(
        st.sampled_from(
            ['{"edges":', "[[0, 1]]", "[]", "[[0]]", "[0]", ', "n": 3', ', "n": -1', ', "y": "a"', "}", "\n"]
        )
    ).map(lambda parts: "".join(parts).encode()),
)


def survives(path: Path) -> None:
    """Reads a sound graph set or raises GraphError; any other exception fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        try:
            graphs = read_graphs(path)
        except GraphError:
            return
    assert len(graphs.indptr) == graphs.sizes.sum() + 1
    assert (graphs.degrees >= 0).all()
    for one in graphs:
        assert (one.indices < one.sizes[0]).all()


@pytest.mark.parametrize(
    "name",
    ["graph.txt", "graph.csv", "graph.tsv", "graph.jsonl", "graph.gml", "graph.graphml", "graph.txt.gz", "SET.zip"],
)
def test_any_bytes_as_a_file(name: str) -> None:
    @given(GARBAGE)
    def check(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            survives(path)

    check()


@given(GARBAGE)
def test_any_bytes_as_an_adjacency_matrix(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.csv").write_bytes(b"header\n" + data)
        survives(Path(folder))


ENDINGS = ("A", "graph_indicator", "graph_labels", "node_labels", "node_label_names", "graph_label_names")


@given(st.fixed_dictionaries({"A": GARBAGE, "graph_indicator": GARBAGE}, optional=dict.fromkeys(ENDINGS[2:], GARBAGE)))
def test_any_bytes_as_tu_files(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for ending, data in files.items():
            (Path(folder) / f"SET_{ending}.txt").write_bytes(data)
        survives(Path(folder))


def outcome(parse: Callable[[], NDArray[np.int64]]) -> list[list[int]] | str:
    try:
        return parse().tolist()  # type: ignore[no-any-return]
    except GraphError as error:
        return str(error)


@settings(max_examples=300)
@given(GARBAGE, st.integers(1, 3))
def test_fast_and_slow_parsing_agree(data: bytes, columns: int) -> None:
    def both() -> tuple[object, object]:
        table = outcome(lambda: text.integer_table(data, "file", columns))
        return table, outcome(lambda: text.integer_pairs(data, "file")[0])

    fast = both()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "parse_fast", lambda *_, **__: None)
        slow = both()
    assert fast == slow


def small_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("SET/SET_A.txt", "1, 2\n2, 3\n" * 5)
        file.writestr("SET/SET_graph_indicator.txt", "1\n1\n1\n")
    return buffer.getvalue()


@settings(max_examples=300)
@given(st.data())
def test_any_damage_to_a_packed_file(data: st.DataObject) -> None:
    name, sound = data.draw(
        st.sampled_from([("SET.zip", small_zip()), ("graph.txt.gz", gzip.compress(b"0 1\n1 2\n" * 9, mtime=0))])
    )
    damaged = bytearray(sound)
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(sound) - 1), st.integers(0, 255)), max_size=3)):
        damaged[place] = value
    damaged = damaged[: data.draw(st.integers(0, len(damaged)))] if data.draw(st.booleans()) else damaged
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(bytes(damaged))
        survives(path)
