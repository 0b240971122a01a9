"""`read_graphs`: read the graphs in a file, a folder or a zip file. ``readers.py`` lists the formats."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import plural
from anysize._typing import PathLike
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import target_table
from anysize.io.adjacency import MATRIX_TEXT, MOLECULES_HINT
from anysize.io.archive import FileTree, Folder, open_tree, read_file, unpacked
from anysize.io.edgelist import EDGE_LIST
from anysize.io.join import join_graphs
from anysize.io.labels import read_labels
from anysize.io.matrices import Cut
from anysize.io.reader import Format, ParsedSet, ReadOptions
from anysize.io.readers import ENDINGS, FORMATS
from anysize.io.smiles import MOLECULES
from anysize.io.tu import check_not_tu_part, find_sets, read_tu

_MAX_ROWS_SHOWN, _MAX_FILES_SHOWN = 10, 3


def read_graphs(
    path: PathLike | Any,
    name: str | None = None,
    *,
    smiles: str | None = None,
    y: str | Sequence[str] | None = None,
    color: str | None = None,
    atoms: Literal["rich", "element"] | None = None,
    edge_color: str | None = None,
    features: str | Sequence[str] | None = None,
    directed: bool | None = None,
    threshold: float | Sequence[float] | None = None,
    density: float | Sequence[float] | None = None,
    labels: PathLike | None = None,
    warn: bool = True,
) -> GraphSet:
    """Read the graphs in a file, a folder or a zip file; the format is recognized by name and content.

    - a TU folder (or its parent), or a zip file of one
    - a table of molecules in SMILES: pass ``smiles``; a file with a SMILES on every line (.smi)
    - neighbor lists (the text format of isomorphism benchmarks)
    - an edge list (.txt, .edges, .edgelist, .csv, .tsv): two vertex numbers or names per line, or a table with a header
      such as ``source,target,weight`` and perhaps ``graph``
    - an adjacency matrix (.csv), or several (.npy, .npz, .mat)
    - GraphML and GML (needs networkx), JSON lines (.jsonl)
    - a folder or a zip file of such files: graphs are ordered and named by file name (so is the graph of a file with
      one graph)

    Files may be gzipped. One warning names what is ignored (attributes, weights and columns that no
    argument names).

    Args:
        path: the file or folder; with ``smiles`` also a pandas data frame.
        name: which TU set to read, if the folder or zip file holds several.
        smiles: the column with the SMILES of molecules (needs RDKit).
        y: the column (tables), key (JSON lines) or graph attribute (GraphML, GML) with the label of a graph;
            or a list of them, for several targets. Graphs may lack some of these. For a TU set "graph_labels" or
            "graph_attributes", where it has both.
        color: the vertex attribute that holds the color (GraphML, GML), or the properties that
            distinguish atoms, see `GraphSet.from_rdkit`.
        atoms: what distinguishes atoms: "rich" (the default) for element, aromaticity, hydrogens and charge, or
            "element".
        edge_color: the column (edge tables) or edge attribute (GraphML, GML) with the color of an edge, or "type+ring"
            for bonds. Default for tables: a column such as ``type`` or ``relation``.
        features: the vertex attribute, or several, with numbers (GraphML, GML).
        directed: whether edges of an edge list without their reverse point from source to target. Default: only if
            some edges of a graph are given in both directions and others are not.
        threshold: for matrices: pairs with a larger weight, without its sign, are edges; see `GraphSet.from_scipy`.
        density: for matrices: the share of pairs that are edges, those with the largest weights.
        labels: a text file with the labels, one per line, or lines 'graph name,label'; or a table with the names of
            the graphs in one column and the labels in the column ``y``. Graphs without a label are left out.
        warn: whether to warn about what is ignored.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> GraphSet.from_edges([(0, 1), (1, 2)], y=[1]).to_tu(folder.name, "PATHS")
        >>> read_graphs(folder.name)
        GraphSet(1 graph, 3 vertices, 2 edges, 1 class)
        >>> folder.cleanup()
    """
    column = y if labels is None else None
    options = ReadOptions(smiles, column, color, atoms, edge_color, features, directed, threshold, density, labels)
    parsed = parse_source(path, options, name, warn=warn)
    try:
        graphs = parsed if isinstance(parsed, GraphSet) else join_graphs(parsed, warn)
    except ValueError as error:
        raise GraphError(f"{path if isinstance(path, str | os.PathLike) else 'the data frame'}: {error}") from None
    return graphs if labels is None else _with_labels(graphs, labels, y)


def _with_labels(graphs: GraphSet, labels: PathLike, column: str | Sequence[str] | None) -> GraphSet:
    """The graphs with the labels of a file, without those that have none."""
    names = graphs.names or list(map(str, range(len(graphs))))
    y = read_labels(labels, names, column)
    unlabeled = [names[row] for row, label in enumerate(y) if label is None]
    if unlabeled:
        shown = ", ".join(unlabeled[:_MAX_ROWS_SHOWN]) + (", ..." if len(unlabeled) > _MAX_ROWS_SHOWN else "")
        warn_user(f"Left out {plural(len(unlabeled), 'graph')} without a label in {labels}: {shown}.", GraphWarning)
        graphs = graphs[[row for row, label in enumerate(y) if label is not None]]
    known = [label for label in y if label is not None]
    if column is None or isinstance(column, str):
        return graphs.with_y(known)
    table, targets = target_table(known, column)
    return replace(graphs, y=table, targets=targets)


def parse_source(
    source: PathLike | Any, options: ReadOptions, name: str | None = None, *, rows: bool = False, warn: bool = True
) -> ParsedSet | GraphSet:
    """The graphs of a file, a folder, a zip file or a data frame; a set if that is how they are read.

    Args:
        source: what to read.
        options: which of its parts become attributes.
        name: which TU set to read.
        rows: whether rows without a graph are kept; otherwise they are left out or an error, as their format says.
        warn: whether to warn about files that are not read.
    """
    if options.smiles is not None and hasattr(source, "to_csv"):  # a data frame
        return _parse(source.to_csv(index=False).encode(), "the data frame", "the data frame", options, rows)
    if not isinstance(source, str | os.PathLike):
        raise GraphError(
            f"read_graphs takes a path, or with smiles= a data frame; got {type(source).__name__}. Graphs of libraries "
            "need no reading: pass them as they are, or use GraphSet.from_networkx, from_rdkit, ..."
        )
    Cut.of(options)  # an error of the options is not one of a file
    path = Path(source)
    if not path.is_dir() and not path.is_file():
        raise GraphError(f"There is no file or folder {path}.")
    if path.is_file() and (path.suffix == ".npz" or not (path.suffix == ".zip" or zipfile.is_zipfile(path))):
        if name is not None:
            raise GraphError(f"name= chooses a set in a TU folder or zip file; {path} is neither.")
        check_not_tu_part(path)
        return _with_stem(_parse(read_file(path), path.name, str(path), options, rows), path.name)
    with open_tree(path) as tree:
        if name is not None or find_sets(tree.names):
            _check_options(options, frozenset({"y"}), f"the TU set in {path}")
            return read_tu(tree, str(path), name, warn, None if options.y is None else str(options.y))
        files = _graph_files(tree, path, options.labels, warn)
        try:
            parts = [_parse(tree.read(file), file, tree.describe(file), options, rows) for file in files]
        except GraphError as error:
            raise GraphError(f"{error} All files of graphs are read: if this one holds no graph, move it.") from None
    return _with_stem(parts[0], files[0]) if len(parts) == 1 else _combine(list(map(_stem, files)), parts, path)


def has_named_colors(path: PathLike) -> bool:
    """Whether the colors of a file or folder are found by a name, ``color=``: GraphML, GML, lines of SMILES."""
    path = Path(path)
    names = Folder(path).names if path.is_dir() else (path.name,)
    endings = tuple(ending for form in FORMATS if "color" in form.options for ending in form.endings)
    return any(_ending(name) in endings for name in names) and not find_sets(names)


def recognize(data: bytes, name: str, where: str, options: ReadOptions) -> Format:
    """The format of a file; an error for options that it does not take."""
    plain = name.removesuffix(".gz").lower()
    form = MOLECULES if options.smiles is not None else next(form for form in FORMATS if form.matches(data, plain))
    or_else = f", or {MOLECULES_HINT}" if form is MATRIX_TEXT else ""
    _check_options(options, form.options, f"{where}, which is read as {form.title}", or_else)
    return form


def _check_options(options: ReadOptions, accepted: frozenset[str], what: str, or_else: str = "") -> None:
    for key in options.given:
        if key not in accepted:
            titles = [form.title for form in (*FORMATS, MOLECULES) if key in form.options]
            raise GraphError(f"{key}= is for {', '.join(titles)} files, not for {what}; leave it out{or_else}.")


def _parse(data: bytes, name: str, where: str, options: ReadOptions, rows: bool) -> ParsedSet:
    """The graphs of one file."""
    data = unpacked(data, where)
    form = recognize(data, name, where, options)
    parsed = form.parse(data, where, options)
    if rows and form.columns is not None:
        return replace(parsed, columns=form.columns(data, where))
    if rows or not form.has_rows:
        return parsed
    if form.leaves_out:
        return _leave_out_rows(parsed, where, options, "a SMILES that RDKit can read")
    return _check_rows(parsed, where, options)


def _check_rows(parsed: ParsedSet, where: str, options: ReadOptions) -> ParsedSet:
    """The rows; an error unless all have a graph, and all of them labels of one kind or none.

    If labels are named, rows without any are left out.
    """
    for line, problem in zip(parsed.lines, parsed.problems, strict=True):
        if problem:
            raise GraphError(f"{where}, line {line}: {problem}.")
    if options.y is not None:
        parsed = _leave_out_rows(parsed, where, options)
    if parsed.targets:
        return parsed
    if parsed.y is None or all(label is None for label in parsed.y):
        return replace(parsed, y=None)
    for line, label in zip(parsed.lines, parsed.y, strict=True):
        if not isinstance(label, str | int | float) or isinstance(label, str) != isinstance(parsed.y[0], str):
            raise GraphError(
                f"{where}, line {line}: expected a label for every graph or for none, all numbers or all strings; got "
                f"{label!r:.40}."
            )
    return parsed


def _leave_out_rows(parsed: ParsedSet, where: str, options: ReadOptions, graph: str = "") -> ParsedSet:
    """The rows that have a graph, and a label if a column of labels is named; warnings name the others."""
    y = [None] * len(parsed.graphs) if parsed.y is None else parsed.y
    labeled = [options.y is None or label not in (None, (None,) * len(parsed.targets)) for label in y]
    unlabeled = [row for row, has_label in enumerate(labeled) if not has_label]
    unread = [row for row, problem in enumerate(parsed.problems) if problem and labeled[row]]
    kept = sorted(set(range(len(labeled))).difference(unlabeled, unread))
    if not kept:
        needed = " and ".join(filter(None, (graph, "" if options.y is None else _label_in(options))))
        raise GraphError(
            f"{where}: none of {plural(len(labeled), 'row')} has {needed}; the first is in line {parsed.lines[0]}."
        )
    for rows, what in ((unread, graph), (unlabeled, _label_in(options))):
        if rows:
            lines = ", ".join(str(parsed.lines[row]) for row in rows[:_MAX_ROWS_SHOWN])
            more = ", ..." if len(rows) > _MAX_ROWS_SHOWN else ""
            left_out = f"{plural(len(rows), 'row')} of {where} without {what}"
            warn_user(f"Left out {left_out}: line{'s' if len(rows) > 1 else ''} {lines}{more}.", GraphWarning)
    return ParsedSet(
        [parsed.graphs[row] for row in kept], None if options.y is None else [parsed.y[row] for row in kept],
        [parsed.names[row] for row in kept] if parsed.names is not None else None, parsed.unused,
        color_title=parsed.color_title, lines=[parsed.lines[row] for row in kept], targets=parsed.targets,
    )  # fmt: skip


def _label_in(options: ReadOptions) -> str:
    """What rows need, in words."""
    return f"any label in the columns {', '.join(options.targets)}" if options.targets else f"a label in {options.y!r}"


def _with_stem(parsed: ParsedSet, file: str) -> ParsedSet:
    """The only graph of a file has its name, unless it has one of its own."""
    return parsed if parsed.names is not None or len(parsed.graphs) > 1 else replace(parsed, names=[_stem(file)])


def _combine(stems: Sequence[str], parts: Sequence[ParsedSet], path: Path) -> ParsedSet:
    """The graphs of several files; names are those of the files, and of the graphs inside files with several."""
    labeled = [part.y is not None for part in parts]
    if any(labeled) and not all(labeled):
        raise GraphError(f"{path}: some files have labels of their graphs and others have none; read them separately.")
    targets = {tuple(part.targets) for part in parts}
    if len(targets) > 1:
        raise GraphError(f"{path}: the graphs of its files have different targets; read them separately.")
    names: list[str] = []
    for stem, part in zip(stems, parts, strict=True):
        inside = part.names or [str(number) for number in range(len(part.graphs))]
        names += [stem] if len(part.graphs) == 1 else [f"{stem}:{name}" for name in inside]
    amounts = [len(part.graphs) for part in parts]
    columns = dict.fromkeys(name for part in parts for name in part.columns)
    absent = [([None] * amount, [""] * amount, range(1, amount + 1)) for amount in amounts]  # what other files lack
    pairs = list(zip(parts, absent, strict=True))
    has_rows = any(part.problems for part in parts)
    return ParsedSet(
        [graph for part in parts for graph in part.graphs],
        [label for part in parts for label in _labels_of(part)] if all(labeled) else None,
        names,
        chain.from_iterable(part.unused for part in parts),
        problems=[problem for part, (_, none, _) in pairs for problem in part.problems or none] if has_rows else (),
        lines=[line for part, (_, _, counted) in pairs for line in part.lines or counted] if has_rows else (),
        columns={key: [v for part, (none, *_) in pairs for v in part.columns.get(key, none)] for key in columns},
        targets=targets.pop() if len(targets) == 1 else (),
    )  # fmt: skip


def _labels_of(part: ParsedSet) -> Sequence[Any]:
    """The labels of the graphs of a file, or their rows of targets."""
    return part.y if part.targets else np.asarray(part.y).tolist()  # type: ignore[no-any-return]


def _graph_files(tree: FileTree, path: Path, labels: PathLike | None, warn: bool) -> list[str]:
    """The files that hold graphs by their names, sorted: of a folder, or of the first level of a zip file with any.

    Text files beside graphs of other formats may be notes, and are not read.
    """
    files = [name for name in tree.names if _ending(name) and not re.search(r"(^|/)(\.|__MACOSX/)", name)]
    depth = 0 if path.is_dir() else min((name.count("/") for name in files), default=0)
    files = sorted(name for name in files if name.count("/") == depth and not _is_same_file(path / name, labels))
    if not files or any(name.endswith("_graph_indicator.txt") for name in files):
        raise GraphError(
            f"{path} holds no graphs; expected a TU set (NAME_A.txt, NAME/NAME_A.txt) or files that end in "
            f"{', '.join(dict.fromkeys(ENDINGS))}."
        )
    folders = sorted({name.rpartition("/")[0] for name in files})
    if len(folders) > 1:
        raise GraphError(f"{path} holds graphs in several folders: {folders[0]}, {folders[1]}; unpack it to read one.")
    notes = [name for name in files if _ending(name) == ".txt"]
    if notes and not all(_ending(name) in EDGE_LIST.endings[:3] for name in files):
        if warn:
            shown = ", ".join(notes[:_MAX_FILES_SHOWN]) + (", ..." if len(notes) > _MAX_FILES_SHOWN else "")
            warn_user(f"Text files beside graphs of other formats are not read: {shown} in {path}.", GraphWarning)
        return [name for name in files if name not in set(notes)]
    return files


def _is_same_file(path: Path, other: PathLike | None) -> bool:
    return other is not None and path.resolve() == Path(other).resolve()


def _stem(name: str) -> str:
    """The name of a file without its folder and its ending.

    >>> _stem("ego.12.edges.gz"), _stem("ego.12.dat")
    ('ego.12', 'ego.12')
    """
    name = PurePosixPath(name).name
    plain, ending = name.removesuffix(".gz"), _ending(name)
    return plain[: -len(ending)] if ending else PurePosixPath(plain).stem


def _ending(name: str) -> str:
    """The ending of a file of graphs; nothing if it has none of them.

    >>> _ending("ego.12.edges.gz"), _ending("notes.md")
    ('.edges', '')
    """
    plain = name.removesuffix(".gz").lower()
    return next((ending for ending in ENDINGS if plain.endswith(ending)), "")
