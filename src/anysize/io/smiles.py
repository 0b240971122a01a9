"""Molecules: SMILES in a table, and RDKit molecules. RDKit is imported when SMILES are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.io.objects import GraphType
from anysize.io.parsed import ParsedFile, ParsedGraph, edge_array, join_graphs
from anysize.io.table import column_position, find_delimiter, text_rows
from anysize.io.text import first_line, normalize, parse_labels

RDKIT = GraphType("an RDKit Mol", (("rdkit", "Mol"),))
ATOM_PROPERTIES = ("element", "aromatic", "hydrogens", "charge")
ATOMS = {"rich": frozenset(ATOM_PROPERTIES), "element": frozenset({"element"})}  # values of the argument ``atoms``
_ELEMENT = re.compile(r"[A-Z][a-z]?|\*")
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
    properties = _atom_properties(color, atoms)
    data = normalize(data)
    head = first_line(data)[1]
    rows = text_rows(data, where, find_delimiter(head) or (None if b" " in head else ","))
    header = next(rows, (0, []))[1]
    if not header:
        raise GraphError(f"{where} is empty: expected a table with a header and a column of SMILES.")
    at = column_position(header, smiles, where)
    label_at = None if y is None else column_position(header, y, where)
    kept: list[tuple[int, str, str]] = []
    unlabeled = []
    for line, row in rows:
        label = "" if label_at is None or label_at >= len(row) else row[label_at]
        if label_at is not None and label.lower() in _MISSING_LABELS:
            unlabeled.append(line)
        else:
            kept.append((line, row[at] if at < len(row) else "", label))
    molecules = read_smiles([text for _, text, _ in kept])
    unreadable = [line for (line, _, _), molecule in zip(kept, molecules, strict=True) if molecule is None]
    read = [(row, molecule) for row, molecule in zip(kept, molecules, strict=True) if molecule is not None]
    if not kept and not unlabeled:
        raise GraphError(f"{where} has a header and no rows.")
    if not read:
        raise GraphError(
            f"{where}: none of {len(kept) + len(unlabeled)} rows has a readable SMILES in the column {smiles!r}"
            f"{'' if y is None else f' and a label in the column {y!r}'}."
        )
    if unreadable:
        _warn_left_out(unreadable, f"with SMILES that RDKit cannot read in the column {smiles!r}", where)
    if unlabeled:
        _warn_left_out(unlabeled, f"without a label in the column {y!r}", where)
    graphs = [_parse(molecule, graph, properties) for graph, (_, molecule) in enumerate(read)]
    labels = None if y is None else parse_labels([label for (_, _, label), _ in read])
    return ParsedFile(graphs, labels, [text for (_, text, _), _ in read])


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


def _warn_left_out(lines: list[int], reason: str, where: str) -> None:
    shown = ", ".join(map(str, lines[:_MAX_ROWS_SHOWN])) + (", ..." if len(lines) > _MAX_ROWS_SHOWN else "")
    one = len(lines) == 1
    warn_user(
        f"Left out {len(lines)} {'row' if one else 'rows'} {reason} of {where}: {'row' if one else 'rows'} {shown} "
        "(the header is row 1).",
        GraphWarning,
    )
