"""TU folders and zip files: what is read, and every way in which they can be broken."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from anysize import GraphError, GraphSet, GraphWarning, _unpack, read_graphs

# Two graphs: a path on three vertices and an edge beside an isolated vertex.
FILES = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "6\n8\n6\n6\n7\n7\n",
}


def folder_of(where: Path, files: Mapping[str, str | bytes | None], name: str = "SET") -> Path:
    folder = where / name
    folder.mkdir(parents=True)
    for ending, text in files.items():
        if text is not None:
            (folder / f"{name}_{ending}.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def zip_of(where: Path, files: Mapping[str, str], prefix: str = "SET/SET_") -> Path:
    with zipfile.ZipFile(where / "SET.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for ending, text in files.items():
            file.writestr(f"{prefix}{ending}.txt", text)
    return where / "SET.zip"


def check(graphs: GraphSet) -> None:
    assert graphs.sizes.tolist() == [3, 3]
    assert graphs.edges(0).tolist() == [[0, 1], [1, 2]]
    assert graphs.edges(1).tolist() == [[0, 1]]
    assert graphs.palette == (6, 7, 8)
    assert graphs.color_names(0) == (6, 8, 6)
    assert graphs.color_names(1) == (6, 7, 7)
    assert graphs.y is not None
    assert graphs.y.dtype == np.int64
    assert graphs.y.tolist() == [-1, 1]
    assert graphs.names is None


def test_folder_parent_and_zip(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "sets", FILES)
    check(read_graphs(folder))
    check(read_graphs(str(folder)))
    check(read_graphs(tmp_path / "sets"))
    check(read_graphs(zip_of(tmp_path, FILES)))
    check(read_graphs(zip_of(tmp_path, FILES, prefix="SET_")))
    check(read_graphs(zip_of(tmp_path, FILES, prefix="a/b/SET_")))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(", ", ","),
        lambda text: text.replace(", ", " "),
        lambda text: text.replace(", ", " ,\t"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n",
        lambda text: text.replace("\n", " \n"),
        lambda text: "\ufeff" + text,
        lambda text: re.sub(r"(?<![-\d])(\d)", r"+\1", text),
    ],
    ids=["comma", "blank", "mixed", "crlf", "cr", "no last newline", "blank end", "trailing", "bom", "plus"],
)
def test_separators_and_line_ends(tmp_path: Path, change: object) -> None:
    check(read_graphs(folder_of(tmp_path, {ending: change(text) for ending, text in FILES.items()})))  # type: ignore[operator]


def test_several_sets_need_a_name(tmp_path: Path) -> None:
    folder_of(tmp_path, FILES)
    folder_of(tmp_path, FILES | {"node_labels": None}, name="BARE")
    with pytest.raises(GraphError, match="several TU sets: BARE, SET"):
        read_graphs(tmp_path)
    check(read_graphs(tmp_path, name="SET"))
    assert read_graphs(tmp_path, name="BARE").colors is None
    with pytest.raises(GraphError, match=r"OTHER_A\.txt"):
        read_graphs(tmp_path, name="OTHER")


def test_optional_files_may_be_missing(tmp_path: Path) -> None:
    graphs = read_graphs(folder_of(tmp_path, FILES | {"graph_labels": None, "node_labels": None}))
    assert graphs.y is None
    assert graphs.colors is None
    assert len(graphs) == 2


def test_attributes_of_edges_and_graphs_are_not_read(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, FILES | {"edge_attributes": "x", "graph_attributes": "y"})
    with pytest.warns(GraphWarning, match=r"SET_edge_attributes\.txt, SET_graph_attributes\.txt") as caught:
        check(read_graphs(folder))
    assert len(caught) == 1
    check(read_graphs(folder, warn=False))


def test_attributes_of_graphs_without_labels_are_targets(tmp_path: Path) -> None:
    unlabeled = FILES | {"graph_labels": None}
    for part in ("two", "three", "both"):
        (tmp_path / part).mkdir()
    graphs = read_graphs(folder_of(tmp_path, unlabeled | {"graph_attributes": "1.5\n-2e-1\n"}))
    assert graphs.targets == ()
    assert graphs.y is not None
    assert graphs.y.tolist() == [1.5, -0.2]
    graphs.to_tu(tmp_path, "again")
    assert read_graphs(tmp_path / "again").y.tolist() == [1.5, -0.2]
    folder = folder_of(tmp_path / "both", FILES | {"graph_attributes": "1.5\n-2e-1\n"})
    assert read_graphs(folder, y="graph_attributes").y.tolist() == [1.5, -0.2]
    check(read_graphs(folder, y="graph_labels"))
    with pytest.raises(GraphError, match=r"graph_labels or graph_attributes; got 'energy'"):
        read_graphs(folder, y="energy")
    with pytest.raises(GraphError, match=r"lacks the file SET_graph_labels.txt"):
        read_graphs(tmp_path / "SET", y="graph_labels")
    several = read_graphs(folder_of(tmp_path / "two", unlabeled | {"graph_attributes": "1.5, 2\n-2e-1, nan\n"}))
    assert len(several.targets) == 2
    np.testing.assert_array_equal(np.asarray(several.y, float), [[1.5, 2], [-0.2, np.nan]])
    with pytest.raises(GraphError):
        read_graphs(folder_of(tmp_path / "three", unlabeled | {"graph_attributes": "x\n2\n"}))


def test_labels_of_edges_and_attributes_of_vertices_are_kept(tmp_path: Path) -> None:
    edges, vertices = FILES["A"].count("\n"), FILES["graph_indicator"].count("\n")
    labels = "".join(f"{number % 2}\n" for number in range(edges))
    attributes = "".join(f"{number}.5, -1e-2\n" for number in range(vertices))
    graphs = read_graphs(folder_of(tmp_path, FILES | {"edge_labels": labels, "node_attributes": attributes}))
    check(graphs.without_edge_colors().without_features())
    assert graphs.features is not None
    assert graphs.features.tolist() == [[number + 0.5, np.float32(-0.01)] for number in range(vertices)]
    color_of = {}  # the first label of an ordered pair
    for line, pair in enumerate(FILES["A"].splitlines()):
        u, v = (int(end) - 1 for end in pair.split(","))
        color_of.setdefault((u, v), line % 2)
    source = np.repeat(np.arange(vertices), graphs.degrees)
    assert graphs.edge_colors is not None
    for u, v, code in zip(source.tolist(), graphs.neighbors.tolist(), graphs.edge_colors.tolist(), strict=True):
        assert graphs.edge_palette[code] == color_of.get((u, v), color_of.get((v, u)))


def test_attributes_that_are_not_finite_are_named(tmp_path: Path) -> None:
    vertices = FILES["graph_indicator"].count("\n")
    with pytest.warns(GraphWarning, match=r"SET_node_attributes\.txt, which has values that are not finite"):
        assert read_graphs(folder_of(tmp_path, FILES | {"node_attributes": "nan\n" * vertices})).features is None


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("edge_labels", "1\n", r"SET_edge_labels\.txt has 1 lines; expected \d+, one for each edge"),
        ("node_attributes", "1.5\n", r"SET_node_attributes\.txt has 1 lines; expected \d+, one for each vertex"),
        ("node_attributes", "1.5\nx\n", r"SET_node_attributes\.txt, line 2: expected one number; got 'x'"),
        ("node_attributes", "1, 2\n1\n", r"SET_node_attributes\.txt, line 2: expected 2 numbers; got '1'"),
        ("edge_directions", "0\n", r"SET_edge_directions\.txt has 1 lines; expected \d+"),
    ],
)
def test_lines_that_do_not_fit_are_refused(tmp_path: Path, file: str, text: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        read_graphs(folder_of(tmp_path, FILES | {file: text}))


def test_vertices_that_lie_apart_are_gathered(tmp_path: Path) -> None:
    scattered = {
        "A": "4, 1\n1, 4\n6, 4\n2, 3\n",
        "graph_indicator": "1\n2\n2\n1\n2\n1\n",
        "graph_labels": "-1\n1\n",
        "node_labels": "6\n6\n7\n8\n7\n6\n",
    }
    check(read_graphs(folder_of(tmp_path, scattered)))


def test_labeled_graphs_without_vertices_are_empty_graphs(tmp_path: Path) -> None:
    graphs = read_graphs(folder_of(tmp_path, {"A": "", "graph_indicator": "2\n", "graph_labels": "1\n2\n3\n"}))
    assert graphs.sizes.tolist() == [0, 1, 0]


def test_labels_of_several_columns_become_one_color(tmp_path: Path) -> None:
    graphs = read_graphs(folder_of(tmp_path, FILES | {"node_labels": "1, 2\n1, 10\n1, 2\n0, 0\n0, 0\n1,2\n"}))
    assert graphs.palette == ("0,0", "1,10", "1,2")
    assert graphs.color_names(0) == ("1,2", "1,10", "1,2")


def test_repetitions_and_loops_give_one_warning(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, FILES | {"A": "1, 2\n" + FILES["A"] + "6, 6\n"})
    with pytest.warns(GraphWarning, match="Dropped 1 self loop and 1 repeated edge while reading 2") as caught:
        check(read_graphs(folder))
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph_indicator": None}, "the TU set SET lacks the file SET_graph_indicator.txt"),
        ({"A": None}, "holds no graphs"),
        ({"A": "1, 2\n2, x\n"}, "SET_A.txt, line 2: expected 2 integers; got '2, x'"),
        ({"A": "1, 2\n\n2, 1\n"}, "SET_A.txt, line 2: expected 2 integers; got ''"),
        ({"A": "1, 2\n2\n"}, "SET_A.txt, line 2: expected 2 integers; got '2'"),
        ({"A": "1\n2\n"}, "SET_A.txt, line 1: expected 2 integers; got '1'"),
        ({"A": "1, 2, 3\n"}, "SET_A.txt, line 1: expected 2 integers"),
        ({"A": "1,,2\n"}, "SET_A.txt, line 1: expected 2 integers; got '1,,2'"),
        ({"A": "1, 2.0\n"}, "SET_A.txt, line 1: expected 2 integers"),
        ({"A": b"1, \xb2\n"}, r"SET_A.txt, line 1: expected 2 integers; got '1, \xb2'"),
        ({"A": "1, 2\n0, 1\n"}, "SET_A.txt, line 2: expected vertices from 1 to 6; got 0 and 1"),
        ({"A": "1, 2\n7, 1\n"}, "SET_A.txt, line 2: expected vertices from 1 to 6; got 7 and 1"),
        ({"A": "1, 2147483648\n"}, "SET_A.txt, line 1: expected vertices from 1 to 6; got 1 and 2147483648"),
        ({"A": f"1, {10**19}\n"}, "SET_A.txt, line 1: the number '10000000000000000000' is too large"),
        ({"A": "1, 2\n2, 3\n3, 4\n"}, "SET_A.txt, line 3: an edge joins graph 1 to graph 2"),
        (
            {"graph_indicator": "1\n1\n1\n2\n2\n0\n"},
            "SET_graph_indicator.txt, line 6: expected a graph number",
        ),
        ({"graph_indicator": "1\n1\n1\n2\n2\n3\n"}, "from 1 to 2, the number of graph labels; got 3"),
        ({"graph_indicator": "1\n1\n1\n2\n2\n"}, "SET_node_labels.txt has 6 lines; expected 5"),
        (
            {"graph_indicator": "1\n1\none\n"},
            "SET_graph_indicator.txt, line 3: expected one integer; got 'one'",
        ),
        ({"graph_labels": None, "graph_indicator": "1\n1\n1\n3\n3\n3\n"}, "no vertex belongs to graph 2"),
        ({"graph_labels": "0.5\n1\n"}, "SET_graph_labels.txt, line 1: expected one integer; got '0.5'"),
        (
            {"node_labels": "6\n8\n6\n6\n7\n"},
            "SET_node_labels.txt has 5 lines; expected 6, one for each vertex",
        ),
        ({"node_labels": "6\n8\n6\n6\n7\n7.5\n"}, "SET_node_labels.txt, line 6: expected one integer"),
        ({"node_labels": "1,1\n8\n6\n6\n7\n7\n"}, "SET_node_labels.txt, line 2: expected 2 integers"),
        ({"node_label_names": '"C"\n'}, "SET_node_labels.txt, line 1: the label 6 has no name"),
        ({"node_label_names": "C\n"}, "SET_node_label_names.txt, line 1: expected a JSON string or integer"),
        ({"node_label_names": '"C"\n' * 9}, "repeats a name"),
        ({"graph_label_names": "1\n2\n"}, "SET_graph_label_names.txt: expected a JSON string on every line"),
    ],
)
def test_broken_files_are_named_with_their_line(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)) as caught:
        read_graphs(folder_of(tmp_path, FILES | changes))
    assert "\n" not in str(caught.value)


def test_names_may_come_in_any_order(tmp_path: Path) -> None:
    changes = {"node_labels": "1\n0\n1\n1\n2\n2\n", "node_label_names": '"O"\n"C"\n7\n'}
    graphs = read_graphs(folder_of(tmp_path, FILES | changes))
    assert graphs.palette == (7, "C", "O")
    assert graphs.color_names(0) == ("C", "O", "C")
    assert graphs.color_names(1) == ("C", 7, 7)


# ---- zip files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("member", ["../x.txt", "SET/../../x.txt", "/x.txt", "..\\x.txt", "C:/x.txt"])
def test_members_outside_the_folder_are_refused(tmp_path: Path, member: str) -> None:
    path = zip_of(tmp_path, FILES)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(member, "1\n")
    with pytest.raises(GraphError, match="lies outside the archive's folder"):
        read_graphs(path)


def test_missing_and_repeated_members_are_named(tmp_path: Path) -> None:
    path = zip_of(tmp_path, {"A": FILES["A"]})
    with pytest.raises(GraphError, match=r"lacks the file SET/SET_graph_indicator\.txt"):
        read_graphs(path)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr("SET/SET_A.txt", "1, 2\n")
    with pytest.raises(GraphError, match=re.escape("'SET/SET_A.txt' occurs twice")):
        read_graphs(path)


def test_zip_errors_name_archive_and_member(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"SET\.zip: SET/SET_A\.txt, line 1: expected 2 integers"):
        read_graphs(zip_of(tmp_path, FILES | {"A": "a\n"}))
    with pytest.raises(GraphError, match=r"SET\.zip: SET/SET_other\.txt is empty"):
        read_graphs(zip_of(tmp_path, {"other": ""}))


def test_truncated_and_false_zip_files(tmp_path: Path) -> None:
    path = zip_of(tmp_path, FILES)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(GraphError, match="is not a readable zip file"):
        read_graphs(path)
    path.write_bytes(b"0 1\n")
    with pytest.raises(GraphError, match="is not a readable zip file"):
        read_graphs(path)


def test_damaged_member_fails_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "SET.zip"
    with zipfile.ZipFile(path, "w") as file:  # stored, so that the text can be changed in place
        for ending, text in FILES.items():
            file.writestr(f"SET/SET_{ending}.txt", text)
    path.write_bytes(path.read_bytes().replace(b"4, 5\n5, 4", b"4, 5\n5, 6"))
    with pytest.raises(GraphError, match=r"Cannot unpack .*SET_A\.txt: Bad CRC-32"):
        read_graphs(path)


def test_bombs_are_refused_while_they_are_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit holds for all members together."""
    monkeypatch.setattr(_unpack, "ANY_RATIO_BYTES", 1 << 16)
    zeros = {"graph_indicator": "1\n" * 20_000, "node_labels": "0\n" * 20_000}
    path = zip_of(tmp_path, {"A": "1, 2\n", "graph_labels": "1\n"} | zeros)
    with pytest.raises(GraphError, match=r"SET_node_labels\.txt: it has \d+ bytes and unpacks to more than 65536"):
        read_graphs(path)
    monkeypatch.setenv(_unpack.VARIABLE, "1M")
    assert read_graphs(path).sizes.tolist() == [20_000]


# ---- writing -------------------------------------------------------------------------------------


def test_written_files_have_the_published_layout(tmp_path: Path) -> None:
    read_graphs(folder_of(tmp_path / "in", FILES)).to_tu(tmp_path / "out", "SET")
    written = {file.name: file.read_text() for file in (tmp_path / "out" / "SET").iterdir()}
    assert written == {f"SET_{ending}.txt": text for ending, text in FILES.items()}
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["SET"]


def test_strings_and_unused_colors_are_written_with_their_names(tmp_path: Path) -> None:
    graphs = GraphSet.from_edges([[(0, 1)], [(0, 1)]], colors=[["C", 1], ["1", 'a\n"b" é']], y=["no", "yes"])
    graphs.to_tu(tmp_path, "SET")
    assert read_graphs(tmp_path).equals(graphs)
    graphs[0].to_tu(tmp_path, "FIRST")
    assert read_graphs(tmp_path, name="FIRST").equals(graphs[0])
    integers = GraphSet.from_edges([[(0, 1)], []], colors=[[5, 3], [9]])[0]
    integers.to_tu(tmp_path, "INTEGERS")
    assert read_graphs(tmp_path, name="INTEGERS").equals(integers)
    assert integers.palette == (3, 5, 9)


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "/a", "a\nb"])
def test_names_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(GraphError, match="file name"):
        GraphSet.from_edges([(0, 1)]).to_tu(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_and_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_edges([(0, 1)], y=[1])
    graphs.to_tu(tmp_path, "SET")
    with pytest.raises(GraphError, match="already exists"):
        graphs.to_tu(tmp_path, "SET")

    def fail(self: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="disk full"):
        graphs.to_tu(tmp_path, "OTHER")
    assert [path.name for path in tmp_path.iterdir()] == ["SET"]


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (GraphSet.from_edges([(0, 1)]).with_y([[0.5, 1.0]]), "holds one label per graph"),
        (GraphSet.from_edges([(0, 1)], y=[10**18]), "at most 18 digits"),
        (GraphSet.from_edges([[(0, 1)], []]), "Graph 1 has no vertices"),
    ],
)
def test_sets_a_tu_folder_cannot_hold(tmp_path: Path, graphs: GraphSet, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        graphs.to_tu(tmp_path, "SET")
    assert list(tmp_path.iterdir()) == []
