"""Molecules: SMILES in a table, and RDKit molecules. RDKit is imported when SMILES are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import plural
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.io.objects import GraphType
from anysize.io.parsed import ParsedFile, ParsedGraph, ParsedRow, edge_array, join_graphs
from anysize.io.table import column_position, distinct_names, find_delimiter, text_rows
from anysize.io.text import decode, first_line, normalize, parse_labels

RDKIT = GraphType("an RDKit Mol", (("rdkit", "Mol"),))
ATOM_PROPERTIES = ("element", "aromatic", "hydrogens", "charge")
ATOMS = {"rich": frozenset(ATOM_PROPERTIES), "element": frozenset({"element"})}  # values of the argument ``atoms``
_ELEMENT = re.compile(r"[A-Z][a-z]?|\*")
SMILES_ENDINGS = (".smi", ".smiles")  # of files with a SMILES on every line
_MISSING_LABELS = {"", "na", "n/a", "nan", "null", "none"}
_MAX_ROWS_SHOWN = 10


def from_rdkit(
    molecules: Any,
    color: str | None = None,
    y: ArrayLike | None = None,
    *,
    atoms: Literal["rich", "element"] | None = None,
    warn: bool = True,
) -> GraphSet:
    """Convert RDKit molecules: atoms become vertices and bonds edges; colors say what an atom is.

    The color of an edge is the type of the bond: single, double, triple, aromatic, ...

    Args:
        molecules: an RDKit ``Mol``, or an iterable of them.
        color: what atoms are told apart by: ``"rich"`` (default) for all that follows, ``"element"``, or joined to it
            by + any of ``aromatic``, ``hydrogens`` (the number attached) and ``charge``. ``"element+aromatic+charge"``
            makes colors such as C, c (aromatic), N+ and O-.
        y: one label per molecule.
        atoms: "rich" or "element", in place of ``color``.
        warn: not used; nothing is dropped that depends on the molecules.

    >>> from rdkit.Chem import MolFromSmiles
    >>> from_rdkit(MolFromSmiles("c1ccccc1C(=O)[O-]"), color="element+aromatic+charge").palette
    ('C', 'O', 'O-', 'c')
    """
    properties = _atom_properties(color, atoms)
    parsed = [_parse(molecule, graph, properties) for graph, molecule in enumerate(RDKIT.as_list(molecules))]
    return join_graphs(parsed, y, f"color {color!r}")


def parse_smiles(
    data: bytes,
    where: str,
    smiles: str,
    y: str | None = None,
    color: str | None = None,
    atoms: Literal["rich", "element"] | None = None,
) -> ParsedFile:
    """The molecules in a table with a header and a column of SMILES; ``y`` names the column of labels.

    Rows whose SMILES RDKit cannot read are left out with one warning, and rows without a label with another. Graphs are
    named by their SMILES.
    """
    rows = smiles_rows(data, where, smiles, y, color, atoms)
    kept = [row for row in rows if row.graph is not None and (y is None or row.label is not None)]
    if not kept:
        raise GraphError(
            f"{where}: none of {len(rows)} rows has a readable SMILES in the column {smiles!r}"
            f"{'' if y is None else f' and a label in the column {y!r}'}."
        )
    unlabeled = [row.line for row in rows if row.label is None and y is not None]
    unread = [row.line for row in rows if row.graph is None and (y is None or row.label is not None)]
    header = " (the header is row 1)"
    _warn_left_out(unread, f"with SMILES that RDKit cannot read in the column {smiles!r} of {where}", "row", header)
    _warn_left_out(unlabeled, f"without a label in the column {y!r} of {where}", "row", header)
    labels = None if y is None else [row.label for row in kept]
    return ParsedFile([row.graph for row in kept if row.graph is not None], labels, [row.name for row in kept])


def smiles_rows(
    data: bytes,
    where: str,
    smiles: str,
    y: str | None = None,
    color: str | None = None,
    atoms: Literal["rich", "element"] | None = None,
) -> list[ParsedRow]:
    """Every row of a table of molecules, with all columns but that of the SMILES."""
    properties = _atom_properties(color, atoms)
    data = normalize(data)
    head = first_line(data)[1]
    lines = text_rows(data, where, find_delimiter(head) or (None if b" " in head else ","))
    header = next(lines, (0, []))[1]
    if not header:
        raise GraphError(f"{where} is empty: expected a table with a header and a column of SMILES.")
    at = column_position(header, smiles, where)
    label_at = None if y is None else column_position(header, y, where)
    table = [(line, [*row, *[""] * (len(header) - len(row))]) for line, row in lines]
    if not table:
        raise GraphError(f"{where} has a header and no rows.")
    names = distinct_names(header)
    graphs = _molecules([row[at] for _, row in table], properties)
    written = ["" if label_at is None else row[label_at] for _, row in table]
    labels = _labels(written, [graph is not None for graph in graphs])
    return [
        ParsedRow(
            line, row[at], graph, "" if graph is not None else _problem(row[at]), label,
            {name: cell for column, (name, cell) in enumerate(zip(names, row, strict=False)) if column != at},
        )
        for (line, row), graph, label in zip(table, graphs, labels, strict=True)
    ]  # fmt: skip


def _labels(written: list[str], readable: list[bool]) -> list[Any]:
    """The labels; None where there is none, and text beside molecules that cannot be read, which decides nothing."""
    used = [readable[row] and not is_missing_label(text) for row, text in enumerate(written)]
    parsed = iter(parse_labels([text for row, text in enumerate(written) if used[row]]))
    return [next(parsed) if used[row] else None if is_missing_label(text) else text for row, text in enumerate(written)]


def parse_smiles_lines(
    data: bytes, where: str, color: str | None = None, atoms: Literal["rich", "element"] | None = None
) -> ParsedFile:
    """The molecules of a file with a SMILES, and perhaps a name, on every line (.smi); named by their SMILES."""
    rows = smiles_line_rows(data, where, color, atoms)
    read = [row for row in rows if row.graph is not None]
    if not read:
        raise GraphError(f"{where}: none of {plural(len(rows), 'line')} begins with a readable SMILES.")
    unread = [row.line for row in rows if row.graph is None]
    _warn_left_out(unread, f"with SMILES that RDKit cannot read in {where}", "line")
    return ParsedFile([row.graph for row in read if row.graph is not None], None, [row.name for row in read])


def smiles_line_rows(
    data: bytes, where: str, color: str | None = None, atoms: Literal["rich", "element"] | None = None
) -> list[ParsedRow]:
    """Every line that is not blank, the text after its SMILES as the column "name"; a line "smiles ..." is a header."""
    properties = _atom_properties(color, atoms)
    split = [(n, line.split(None, 1)) for n, line in enumerate(decode(normalize(data), where).split("\n"), 1)]
    lines = [(number, parts[0], parts[1].strip() if parts[1:] else "") for number, parts in split if parts]
    if lines and lines[0][1].lower() == "smiles":
        del lines[0]
    if not lines:
        raise GraphError(f"{where} is empty: expected a SMILES on every line.")
    named = any(name for *_, name in lines)
    return [
        ParsedRow(
            number, text, graph, "" if graph is not None else _problem(text), columns={"name": name} if named else {}
        )
        for (number, text, name), graph in zip(
            lines, _molecules([text for _, text, _ in lines], properties), strict=True
        )
    ]


def smiles_word_rows(words: Sequence[str], color: str | None = None) -> list[ParsedRow]:
    """A row for each of these SMILES."""
    graphs = enumerate(_molecules(words, _atom_properties(color, None)))
    return [
        ParsedRow(row + 1, words[row], graph, "" if graph is not None else _problem(words[row]))
        for row, graph in graphs
    ]


def _molecules(texts: Sequence[str], properties: frozenset[str]) -> list[ParsedGraph | None]:
    """The graph of every SMILES; None for those that RDKit cannot read."""
    molecules = enumerate(read_smiles(texts))
    return [None if molecule is None else _parse(molecule, row, properties) for row, molecule in molecules]


def _problem(text: str) -> str:
    return "RDKit cannot read this SMILES" if text else "there is no SMILES"


def is_missing_label(text: str) -> bool:
    """Whether the cell of a table says that there is no label.

    >>> is_missing_label("NaN"), is_missing_label("no")
    (True, False)
    """
    return text.strip().lower() in _MISSING_LABELS


def read_smiles(texts: Sequence[str]) -> list[Any]:
    """The RDKit molecule of every SMILES; None for those that cannot be read, and for empty ones."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise ImportError("Reading SMILES needs RDKit: pip install 'anysize[chem]'.") from None
    with rdBase.BlockLogs():  # RDKit writes a line to standard error for each that it cannot read
        return [Chem.MolFromSmiles(text) if text else None for text in texts]


def are_elements(palette: Iterable[ColorName]) -> bool:
    """Whether colors are elements alone, as those of ``atoms="element"``: no molecules have such rich atoms.

    >>> are_elements(["C", "Cl", "O"]), are_elements(["C", "CH3", "Cl", "O"])
    (True, False)
    """
    return all(isinstance(name, str) and _ELEMENT.fullmatch(name) for name in palette)


def _atom_properties(color: str | None, atoms: str | None) -> frozenset[str]:
    if atoms is not None and (color is not None or atoms not in ATOMS):
        raise GraphError(
            f"atoms is 'rich' or 'element', and color is left out then; got {atoms!r} and color={color!r}."
        )
    name = str(color or atoms or "rich")
    if name in ATOMS:
        return ATOMS[name]
    properties = name.split("+")
    unknown = [name for name in properties if name not in ATOM_PROPERTIES]
    if unknown or "element" not in properties:
        raise GraphError(
            f"color={color!r}: expected 'element' and any of {', '.join(ATOM_PROPERTIES[1:])} joined by +, such as "
            "'element+charge'."
        )
    return frozenset(properties)


def _parse(molecule: Any, graph: int, properties: frozenset[str]) -> ParsedGraph:
    atoms = list(molecule.GetAtoms())
    colors = (
        [atom.GetSymbol() for atom in atoms]
        if properties == {"element"}
        else [_atom_name(atom, properties) for atom in atoms]
    )
    bonds = list(molecule.GetBonds())
    ends = edge_array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds], graph)
    types = [bond.GetBondType().name.lower() for bond in bonds]
    return ParsedGraph(len(atoms), ends[:, 0], ends[:, 1], colors, types, directed=False)


def _atom_name(atom: Any, properties: frozenset[str]) -> str:
    """The color of an atom, written as in SMILES: ``c`` for aromatic carbon, ``NH2``, ``O-``, ``Fe+2``."""
    name: str = atom.GetSymbol()
    if "aromatic" in properties and atom.GetIsAromatic():
        name = name.lower()
    hydrogens = atom.GetTotalNumHs() if "hydrogens" in properties else 0
    charge = atom.GetFormalCharge() if "charge" in properties else 0
    name += "" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}"
    return name + ("" if not charge else "+-"[charge < 0] + (str(abs(charge)) if abs(charge) > 1 else ""))


def _warn_left_out(lines: list[int], which: str, noun: str, remark: str = "") -> None:
    """Warn that these lines are left out, if there are any."""
    if not lines:
        return
    shown = ", ".join(map(str, lines[:_MAX_ROWS_SHOWN])) + (", ..." if len(lines) > _MAX_ROWS_SHOWN else "")
    left_out = plural(len(lines), noun)
    warn_user(f"Left out {left_out} {which}: {left_out.partition(' ')[2]} {shown}{remark}.", GraphWarning)
