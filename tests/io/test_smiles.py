"""Molecules: SMILES in tables and RDKit objects."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from anysize import GraphError, GraphSet, GraphWarning, count, read_graphs
from anysize.io.convert import as_graphset
from anysize.io.rows import read_rows

Chem = pytest.importorskip("rdkit.Chem")
TABLE = (
    "name,smiles,acid\n"
    "ethanol,CCO,0\n"
    '"acetic acid, glacial",CC(=O)O,1\n'
    "glycine zwitterion,[NH3+]CC(=O)[O-],1\n"
    "pyrrole,c1cc[nH]c1,0\n"
)


def write(where: Path, text: str, name: str = "molecules.csv") -> Path:
    path = where / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_of_smiles(tmp_path: Path) -> None:
    for text in (TABLE, TABLE.replace("\n", "\r\n"), "\ufeff" + TABLE):
        graphs = read_graphs(write(tmp_path, text), smiles="smiles", y="acid")
        assert graphs.sizes.tolist() == [3, 4, 5, 5]
        assert graphs.color_names(1) == ("CH3", "C", "O", "OH")
        assert graphs.edges(3).tolist() == [[0, 1], [0, 4], [1, 2], [2, 3], [3, 4]]
        assert graphs.y is not None
        assert graphs.y.tolist() == [0, 1, 1, 0]
        assert graphs.names is not None
        assert graphs.names[0] == "CCO"
    assert read_graphs(write(tmp_path, TABLE.replace(",", "\t"), "m.tsv"), smiles="smiles").y is None
    spaced = read_graphs(write(tmp_path, "smiles y\nC 1\nCO 0\n", "m.smi"), smiles="smiles", y="y")
    assert spaced.sizes.tolist() == [1, 2]
    named = read_graphs(write(tmp_path, "s,y\nC,yes\nCC,no\n"), smiles="s", y="y")
    assert named.y is not None
    assert named.y.tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("color", "glycine", "pyrrole"),
    [
        (None, ("NH3+", "CH2", "C", "O", "O-"), ("cH", "cH", "cH", "nH", "cH")),
        ("element", ("N", "C", "C", "O", "O"), ("C", "C", "C", "N", "C")),
        ("element+charge", ("N+", "C", "C", "O", "O-"), ("C", "C", "C", "N", "C")),
        ("element+aromatic", ("N", "C", "C", "O", "O"), ("c", "c", "c", "n", "c")),
        ("element+hydrogens+charge", ("NH3+", "CH2", "C", "O", "O-"), ("CH", "CH", "CH", "NH", "CH")),
    ],
)
def test_atoms_are_told_apart_as_asked(
    tmp_path: Path, color: str | None, glycine: tuple[str, ...], pyrrole: tuple[str, ...]
) -> None:
    graphs = read_graphs(write(tmp_path, TABLE), smiles="smiles", color=color)
    assert graphs.color_names(2) == glycine
    assert graphs.color_names(3) == pyrrole
    molecules = [Chem.MolFromSmiles(text) for text in graphs.names or ()]
    for made in (GraphSet.from_rdkit(molecules, color=color, y=[1, 2, 3, 4]), as_graphset(molecules, color=color)):
        assert made.color_names(2) == glycine
        assert made.edges(3).tolist() == graphs.edges(3).tolist()


def test_one_molecule_is_a_set_and_is_counted() -> None:
    iron = Chem.MolFromSmiles("[Fe+2]")
    assert as_graphset(iron, color="element+charge").palette == ("Fe+2",)
    assert count([Chem.MolFromSmiles("CCO")] * 2, 3).matrix.sum() == 2


def test_unreadable_smiles_and_missing_labels_are_named_and_left_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "smiles,y\nCCO,0\nnot a molecule,1\nC(C)(C)(C)(C)C,1\n,1\nCC,\nCCC,NaN\nC,1\nCCCC\n"
    with pytest.warns(GraphWarning) as caught:
        graphs = read_graphs(write(tmp_path, text), smiles="smiles", y="y")
    unreadable, unlabeled = (str(one.message) for one in caught)
    assert "3 rows" in unreadable
    assert "lines 3, 4, 5." in unreadable
    assert "3 rows" in unlabeled
    assert "lines 6, 7, 9." in unlabeled
    assert graphs.names == ("CCO", "C")
    assert capfd.readouterr().err == ""  # RDKit is silent


def test_many_rows_are_counted_and_some_named(tmp_path: Path) -> None:
    with pytest.warns(GraphWarning, match=r"50 rows .*: lines 3, 4, .*\.\.\.") as caught:
        read_graphs(write(tmp_path, "smiles\nC\n" + "xyz\n" * 50), smiles="smiles")
    assert len(caught) == 1
    assert len(str(caught[0].message)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TABLE, {"smiles": "SMILE"}, "there is no column 'SMILE'; the columns are name, smiles, acid"),
        (TABLE, {"smiles": "smiles", "y": "class"}, "there is no column 'class'"),
        (TABLE, {"smiles": "smiles", "color": "charge"}, "expected 'element' and any of aromatic"),
        (TABLE, {"smiles": "smiles", "color": "element+mass"}, "color='element+mass'"),
        ("smiles\nxyz\n", {"smiles": "smiles"}, "none of 1 row has a SMILES that RDKit can read"),
        ("smiles,y\nC,\n", {"smiles": "smiles", "y": "y"}, "none of 1 row has"),
        ("", {"smiles": "smiles"}, "is empty"),
        ("smiles,y\n", {"smiles": "smiles", "y": "y"}, "a header and no rows"),
        (TABLE, {"smiles": "smiles", "y": ["acid", "acid"]}, "y takes different names of columns"),
        (TABLE, {}, "pass smiles='smiles'"),
    ],
)
def test_refusals(tmp_path: Path, text: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        read_graphs(write(tmp_path, text), **options)  # type: ignore[arg-type]


def test_a_file_with_a_smiles_on_every_line(tmp_path: Path) -> None:
    for text in ("CCO ethanol\nCC ethane\n", "smiles name\nCCO\n\nCC\tethane\n", "CCO\r\nCC"):
        graphs = read_graphs(write(tmp_path, text, "m.smi"))
        assert graphs.names == ("CCO", "CC")
        assert graphs.sizes.tolist() == [3, 2]
    charged = read_graphs(write(tmp_path, "CC[NH3+]\n", "m.smi"), color="element+charge")
    assert charged.palette == ("C", "N+")
    assert GraphSet.concatenate([charged, charged]).palette == as_graphset(tmp_path / "m.smi", "element+charge").palette
    with pytest.warns(GraphWarning, match="Left out 1 row .*: line 2"):
        assert len(read_graphs(write(tmp_path, "CCO\nxyz\n", "m.smi"))) == 1
    with pytest.raises(GraphError, match="none of 1 row has a SMILES that RDKit can read"):
        read_graphs(write(tmp_path, "xyz\n", "m.smi"))
    with pytest.raises(GraphError, match="expected a SMILES on every line"):
        read_graphs(write(tmp_path, "smiles\n", "m.smi"))


def test_molecules_that_failed_to_parse_are_named() -> None:
    with pytest.raises(GraphError, match="Graph 1 of the list has type NoneType"):
        GraphSet.from_rdkit([Chem.MolFromSmiles("C"), None])


def test_rdkit_is_named_if_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ImportError, match=r"pip install 'anysize\[chem\]'"):
        read_graphs(write(tmp_path, TABLE), smiles="smiles")


def test_a_data_frame_of_smiles(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = write(tmp_path, TABLE)
    from_frame = read_graphs(pd.read_csv(path), smiles="smiles", y="acid", warn=False)
    from_file = read_graphs(path, smiles="smiles", y="acid", warn=False)
    assert from_frame.names == from_file.names
    assert from_frame.y is not None
    assert from_frame.y.tolist() == [0, 1, 1, 0]
    assert (from_frame.colors == from_file.colors).all()  # type: ignore[union-attr, attr-defined]


def test_strings_and_other_objects_get_a_hint() -> None:
    with pytest.raises(GraphError, match="smiles="):
        count(["CCO", "CCN"], 3)
    with pytest.raises(GraphError, match="takes a path"):
        read_graphs(["CCO"])
    frame = pytest.importorskip("pandas").DataFrame({"smiles": ["CCO"], "acid": [0]})
    with pytest.raises(GraphError, match=r"columns smiles, acid .*read_graphs\(frame, smiles="):
        count(frame, 3)
    with pytest.raises(GraphError, match="y takes the name of one column"):
        read_graphs(frame, smiles="smiles", y=frame["acid"])


SEVERAL = "smiles,A,B,C\nCCO,1,,x\nxyz,0,1,y\nCC,,NA,\nCCN,0,0.5,y\nCCC,,2,\n"


def test_several_columns_of_targets_with_gaps(tmp_path: Path) -> None:
    path = write(tmp_path, SEVERAL)
    with pytest.warns(GraphWarning) as told:
        graphs = read_graphs(path, smiles="smiles", y=["B", "A"])
    assert ["line 3" in str(each.message) or "line 4" in str(each.message) for each in told] == [True, True]
    assert "any label in the columns B, A: line 4" in str(told[1].message)
    assert (graphs.names, graphs.targets) == (("CCO", "CCN", "CCC"), ("B", "A"))
    assert str(graphs.y.tolist()) == "[[nan, 1.0], [0.5, 0.0], [2.0, nan]]"  # type: ignore[union-attr]
    with pytest.warns(GraphWarning):
        graphs = read_graphs(path, smiles="smiles", y=["A", "C"])
    assert graphs.y.tolist() == [[1, "x"], [0, "y"]]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match="there is no column 'D'; the columns are smiles, A, B, C"):
        read_graphs(path, smiles="smiles", y=["A", "D"])
    rows = read_rows(path, smiles="smiles", y=["A"])
    assert (rows.targets, rows.labels) == (("A",), [(1,), ("0",), (None,), (0,), (None,)])
