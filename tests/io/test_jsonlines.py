"""JSON lines, one graph per line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from anysize import GraphError, GraphSet, GraphWarning, read_graphs


def write(where: Path, text: str, name: str = "graphs.jsonl") -> Path:
    path = where / name
    path.write_text(text)
    return path


def test_all_keys(tmp_path: Path) -> None:
    text = (
        '{"n": 4, "edges": [[0, 1], [1, 2]], "colors": ["C", "C", "O", "N"], "y": "a", "name": "one"}\n\n'
        '{"edges": [], "colors": ["C"], "y": "b", "name": 2}\n'
    )
    for name in ("graphs.jsonl", "graphs.ndjson", "graphs.txt"):
        graphs = read_graphs(write(tmp_path, text, name))
        assert graphs.sizes.tolist() == [4, 1]
        assert graphs.color_names(0) == ("C", "C", "O", "N")
        assert graphs.y is not None
        assert graphs.y.tolist() == ["a", "b"]
        assert graphs.names == ("one", "2")


def test_edges_are_enough(tmp_path: Path) -> None:
    graphs = read_graphs(write(tmp_path, '{"edges": [[0, 1], [1, 2]]}'))
    assert graphs.equals(replace(GraphSet.from_edges([(0, 1), (1, 2)]), names=("graphs",)))


def test_other_keys_are_named_once(tmp_path: Path) -> None:
    line = '{"edges": [[0, 1]], "weights": [3]}\n'
    with pytest.warns(GraphWarning, match="weights") as caught:
        read_graphs(write(tmp_path, line * 5))
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ('{"edges": [[0, 1]]}\n{"edges": [[0, 1]\n', "line 2: expected one JSON object per line"),
        ("[[0, 1]]\n", 'line 1: expected an object with "edges"'),
        ('{"n": 3}\n', 'line 1: expected an object with "edges"'),
        ('{"edges": [[0, 1, 2]]}\n', "line 1: expected edges as an (m, 2) array"),
        ('{"edges": [[0, 1], [1]]}\n', "line 1: expected edges as pairs"),
        ('{"n": 2, "edges": [[0, 2]]}\n', "vertices 0 and 2"),
        ('{"n": "x", "edges": []}\n', "line 1: n_vertices: expected an integer"),
        ('{"n": 3, "edges": [], "colors": ["C"]}\n', "3 vertices but 1 colors"),
        ('{"edges": [[0, 1]], "y": 1}\n{"edges": [[0, 1]]}\n', "line 2: expected a label for every graph or for none"),
        (
            '{"edges": [[0, 1]], "y": 1}\n{"edges": [[0, 1]], "y": "b"}\n',
            "line 2: expected a label for every graph or for none, all numbers or all strings; got 'b'",
        ),
        ('{"edges": [[0, 1]], "y": [1, 2]}\n', "line 1: expected a label for every graph or for none"),
        ('{"edges": [[0, 1]], "colors": [1.5, 2]}\n', "graphs.jsonl: graph 0, colors: vertex 0"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        read_graphs(write(tmp_path, text))


def test_several_targets_are_an_object(tmp_path: Path) -> None:
    lines = ['{"edges": [[0, 1]], "y": {"A": 1, "B": null}}', '{"edges": []}', '{"edges": [[0, 1]], "y": {"B": 0.5}}']
    (tmp_path / "g.jsonl").write_text("\n".join(lines))
    graphs = read_graphs(tmp_path / "g.jsonl")
    assert graphs.targets == ("A", "B")
    assert str(graphs.y.tolist()) == "[[1.0, nan], [nan, nan], [nan, 0.5]]"  # type: ignore[union-attr]


def test_labels_are_chosen_by_name(tmp_path: Path) -> None:
    lines = [
        '{"edges": [[0, 1]], "y": {"A": 1, "B": "x"}}',
        '{"edges": [[0, 1]], "y": {"B": "z"}}',
        '{"edges": [[0, 1]]}',
    ]
    (tmp_path / "g.jsonl").write_text("\n".join(lines))
    with pytest.warns(GraphWarning, match="2 rows of .* without a label in 'A': lines 2, 3"):
        graphs = read_graphs(tmp_path / "g.jsonl", y="A")
    assert graphs.y is not None
    assert graphs.y.tolist() == [1]
    with pytest.warns(GraphWarning, match="1 row of .* without any label in the columns B, A: line 3"):
        graphs = read_graphs(tmp_path / "g.jsonl", y=["B", "A"])
    assert graphs.targets == ("B", "A")
    with pytest.raises(GraphError, match=r"no label 'C'; the labels are .*A, B"):
        read_graphs(tmp_path / "g.jsonl", y="C")
    (tmp_path / "keys.jsonl").write_text('{"edges": [[0, 1]], "A": null, "mass": 0.5}')
    with pytest.raises(GraphError, match="none of 1 row has a label in 'A'; the first is in line 1"):
        read_graphs(tmp_path / "keys.jsonl", y="A")
    with pytest.warns(GraphWarning, match="keys A are not used"):
        graphs = read_graphs(tmp_path / "keys.jsonl", y="mass")
    assert graphs.y is not None
    assert graphs.y.tolist() == [0.5]


def test_an_object_holds_no_colors_of_edges(tmp_path: Path) -> None:
    path = write(tmp_path, '{"n": 2, "edges": [[0, 1]], "edge_colors": {"a": 1}}')
    with pytest.raises(GraphError, match="Expected a list or an array of colors"):
        read_graphs(path)
