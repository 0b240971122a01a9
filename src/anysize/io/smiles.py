"""Molecules: SMILES in a table, and RDKit molecules. RDKit is imported when SMILES are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize.graphs.colors import ColorName
from anysize.io.labels import known_labels
from anysize.io.reader import Format, Library, ParsedGraph, ParsedSet, ReadOptions
from anysize.io.table import column_position, distinct_names, find_delimiter, text_rows
from anysize.io.text import first_line, normalize, numbered_lines

ATOM_PROPERTIES = ("element", "aromatic", "hydrogens", "charge", "ring")
BOND_PROPERTIES = ("type", "ring")
ATOMS = {"rich": ("element", "aromatic", "hydrogens", "charge"), "element": ("element",)}  # of the option ``atoms``
SMILES_ENDINGS = (".smi", ".smiles")  # of files with a SMILES on every line
_ELEMENT = re.compile(r"[A-Z][a-z]?|\*")


def parse_rdkit(molecules: Sequence[Any], options: ReadOptions) -> ParsedSet:
    """Atoms become vertices and bonds edges."""
    atoms, bonds = _properties(options)
    graphs = [_parse(molecule, atoms, bonds) for molecule in molecules]
    return ParsedSet(graphs, color_title=f"color {options.color!r}")


RDKIT = Library("an RDKit Mol", frozenset({("rdkit", "Mol")}), parse_rdkit)


def parse_smiles_table(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """Every row of a table with a header and a column of SMILES; all other columns are kept."""
    data = normalize(data)
    head = first_line(data)[1]
    lines = text_rows(data, where, find_delimiter(head) or (None if b" " in head else ","))
    header = next(lines, (0, []))[1]
    if not header:
        raise GraphError(f"{where} is empty: expected a table with a header and a column of SMILES.")
    at = column_position(header, str(options.smiles), where)
    named = options.targets or (() if options.y is None else (str(options.y),))
    labels_at = [column_position(header, name, where) for name in named]
    table = [(line, [*row, *[""] * (len(header) - len(row))]) for line, row in lines]
    if not table:
        raise GraphError(f"{where} has a header and no rows.")
    parsed = parse_smiles([row[at] for _, row in table], options, [line for line, _ in table])
    columns = {name: [row[n] for _, row in table] for n, name in enumerate(distinct_names(header)) if n != at}
    readable = [graph is not None for graph in parsed.graphs]  # the text beside other rows decides nothing
    labels = [known_labels([row[n] for _, row in table], readable) for n in labels_at]
    y = list(zip(*labels, strict=True)) if options.targets else labels[0] if labels else None
    return replace(parsed, y=y, targets=options.targets, columns=columns)


def parse_smiles_lines(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """Every line that is not blank, the text after its SMILES as the column "name"; a line "smiles ..." is a header."""
    rows = [(number, line.split(None, 1)) for number, line in numbered_lines(data, where)]
    if rows and rows[0][1][0].lower() == "smiles":
        del rows[0]
    if not rows:
        raise GraphError(f"{where} is empty: expected a SMILES on every line.")
    names = ["".join(words[1:]).strip() for _, words in rows]
    parsed = parse_smiles([words[0] for _, words in rows], options, [number for number, _ in rows])
    return replace(parsed, columns={"name": names} if any(names) else {})


_OPTIONS = frozenset({"color", "atoms", "edge_color"})
MOLECULES = Format("SMILES", parse_smiles_table, _OPTIONS | {"smiles", "y"}, has_rows=True, leaves_out=True)
SMILES_LINES = Format("SMILES lines", parse_smiles_lines, _OPTIONS, SMILES_ENDINGS, has_rows=True, leaves_out=True)


def parse_smiles(texts: Sequence[str], options: ReadOptions, lines: Sequence[int] = ()) -> ParsedSet:
    """The molecule of every SMILES, which is its name, and the reason for those that RDKit cannot read."""
    atoms, bonds = _properties(options)
    graphs = [None if molecule is None else _parse(molecule, atoms, bonds) for molecule in read_smiles(texts)]
    problems = [
        "" if graph is not None else "RDKit cannot read this SMILES" if text else "there is no SMILES"
        for text, graph in zip(texts, graphs, strict=True)
    ]
    return ParsedSet(graphs, None, list(texts), problems=problems, lines=lines or range(1, len(texts) + 1))


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


def _properties(options: ReadOptions) -> tuple[frozenset[str], frozenset[str]]:
    """The properties that tell atoms apart, and those that tell bonds apart."""
    if options.atoms is not None and (options.color is not None or options.atoms not in ATOMS):
        raise GraphError(
            f"atoms is 'rich' or 'element', and color is left out then; got {options.atoms!r} and "
            f"color={options.color!r}."
        )
    atoms = options.color or options.atoms or "rich"
    return (
        frozenset(ATOMS[atoms]) if atoms in ATOMS else _named("color", atoms, ATOM_PROPERTIES),
        _named("edge_color", options.edge_color or "type", BOND_PROPERTIES),
    )


def _named(option: str, value: str, properties: Sequence[str]) -> frozenset[str]:
    """The properties in a value such as "element+charge"; the first one must be among them."""
    names = str(value).split("+")
    if properties[0] not in names or not set(names) <= set(properties):
        raise GraphError(
            f"{option}={value!r}: expected {properties[0]!r} and any of {', '.join(properties[1:])} joined by +, such "
            f"as '{properties[0]}+{properties[-1]}'."
        )
    return frozenset(names)


def _parse(molecule: Any, atom_properties: frozenset[str], bond_properties: frozenset[str]) -> ParsedGraph:
    # by index: RDKit's own iterators ask for the length at every step
    atoms = [molecule.GetAtomWithIdx(index) for index in range(molecule.GetNumAtoms())]
    bonds = [molecule.GetBondWithIdx(index) for index in range(molecule.GetNumBonds())]
    colors = (
        [atom.GetSymbol() for atom in atoms]
        if atom_properties == {"element"}
        else [_atom_name(atom, atom_properties) for atom in atoms]
    )
    types = [bond.GetBondType().name.lower() for bond in bonds]
    if "ring" in bond_properties:
        types = [f"{name} in ring" if bond.IsInRing() else name for name, bond in zip(types, bonds, strict=True)]
    ends = np.array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds], np.int64).reshape(-1, 2)
    return ParsedGraph(len(atoms), ends[:, 0], ends[:, 1], colors, types, directed=False)


def _atom_name(atom: Any, properties: frozenset[str]) -> str:
    """The color of an atom, written as in SMILES: ``c`` for aromatic carbon, ``NH2``, ``O-``, ``Fe+2``."""
    name: str = atom.GetSymbol()
    if "aromatic" in properties and atom.GetIsAromatic():
        name = name.lower()
    hydrogens = atom.GetTotalNumHs() if "hydrogens" in properties else 0
    charge = atom.GetFormalCharge() if "charge" in properties else 0
    name += "" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}"
    name += "" if not charge else "+-"[charge < 0] + (str(abs(charge)) if abs(charge) > 1 else "")
    return f"{name} in ring" if "ring" in properties and atom.IsInRing() else name
