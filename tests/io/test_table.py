"""Edge tables: CSV files with a header and pandas frames."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anysize import GraphError, GraphSet, GraphWarning, count, read_graphs
from anysize.io.convert import as_graphset

SEVERAL = "graph,source,target,label\nb,x,y,1\na,p,q,0\nb,y,z,1\na,q,p,0\nb,z,x,1\n"


def write(where: Path, text: str, name: str = "edges.csv") -> Path:
    path = where / name
    path.write_text(text, encoding="utf-8")
    return path


def check(graphs: GraphSet) -> None:
    """The graphs of SEVERAL: a triangle named b and an edge named a, in order of appearance."""
    assert graphs.names == ("b", "a")
    assert graphs.sizes.tolist() == [3, 2]
    assert graphs.edge_counts.tolist() == [3, 1]
    assert graphs.y is not None
    assert graphs.y.tolist() == [1, 0]


def test_several_graphs_with_labels_in_one_table(tmp_path: Path) -> None:
    path = write(tmp_path, SEVERAL)
    check(read_graphs(path, y="label"))
    check(GraphSet.from_pandas(pd.read_csv(path), y="label"))
    with pytest.warns(GraphWarning, match="column 'label'"):
        assert read_graphs(path).y is None


def test_numbers_of_vertices_start_again_in_every_graph(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target,graph\n10,11,0\n11,12,0\n10,11,7\n")
    for graphs in (read_graphs(path), as_graphset(pd.read_csv(path))):
        assert graphs.sizes.tolist() == [3, 2]
        assert graphs.names == ("0", "7")


def test_names_are_numbered_as_they_appear(tmp_path: Path) -> None:
    path = write(tmp_path, "from,to\nzoe,ann\nann,bob\n")
    for graphs in (read_graphs(path), as_graphset(pd.read_csv(path))):
        assert graphs.edges().tolist() == [[0, 1], [1, 2]]


def test_frames_keep_digits_as_names_if_they_are_strings() -> None:
    frame = pd.DataFrame({"source": ["2", "x"], "target": ["1", "2"]})
    assert GraphSet.from_pandas(frame).edges().tolist() == [[0, 1], [0, 2]]
    assert GraphSet.from_pandas(pd.DataFrame({"u": [2.0, 5.0], "v": [5.0, 9.0]})).sizes.tolist() == [3]
    assert GraphSet.from_pandas(frame.astype("category")).sizes.tolist() == [3]


def test_frames_are_counted_and_say_what_they_drop() -> None:
    frame = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "weight": [1.0, 2.0, 3.0], "same": 1})
    with pytest.warns(GraphWarning, match="column 'weight'") as caught:
        assert count(frame, 3).matrix.sum() == 1  # the triangle
    assert len(caught) == 1


def test_several_frames_are_several_graphs() -> None:
    one, two = pd.DataFrame({"u": [0, 1], "v": [1, 2]}), pd.DataFrame({"u": ["a"], "v": ["b"], "y": ["x"]})
    assert as_graphset([one, one]).sizes.tolist() == [3, 3]
    assert GraphSet.from_pandas([one, two]).sizes.tolist() == [3, 2]
    assert GraphSet.from_pandas([two, two], y="y").y.tolist() == ["x", "x"]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match="no column 'y'"):
        GraphSet.from_pandas([two, one], y="y")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"source": [0, 1], "target": [1.0, np.nan]}), "'target' has no value in row 1"),
        (pd.DataFrame({"source": [], "target": []}), "holds no edges"),
        (pd.DataFrame({"source": [1.5, 2], "target": [1, 2]}), "vertex numbers from 0 or names"),
        (pd.DataFrame({"source": [-1, 2], "target": [1, 2]}), "vertex numbers from 0 or names"),
        (pd.DataFrame({"source": [[1], "a"], "target": [1, 2]}), "vertex numbers from 0 or names"),
        (pd.DataFrame({"a": [0], "b": [1]}), "the columns source and target; got a, b"),
    ],
)
def test_frame_refusals(frame: Any, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        GraphSet.from_pandas(frame)


@pytest.mark.parametrize(
    ("text", "y", "message"),
    [
        (SEVERAL, "class", "there is no column 'class'; the columns are graph, source, target, label"),
        (SEVERAL.replace("z,x,1", "z,x,0"), "label", "expected one label per graph"),
        (SEVERAL.replace("z,x,1", "z,x,"), "label", "has no label"),
        ("source,target\n0,1\n", "label", "there is no column 'label'"),
        ('source,target\n"1","2\n', None, "not a table"),
        ("0,1\n1,2\n", "label", "no header line with a column 'label'"),
        ("source,target\n0,1\n\xff,2\n", None, "line 3: expected a vertex number"),
    ],
)
def test_table_refusals(tmp_path: Path, text: str, y: str | None, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        read_graphs(write(tmp_path, text), y=y)


def test_text_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_bytes(b"source,target\nann,bob\nbob,ren\xe9\n")
    with pytest.raises(GraphError, match="line 3: expected text in UTF-8"):
        read_graphs(tmp_path / "edges.csv")
