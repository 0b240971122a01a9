"""`motifs`: the counts of a graph against those of random graphs of a null model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite
from typing import Any

import numpy as np

from anysize._files import FIGURE_ENDINGS, PAGE_ENDINGS, atomic_write, check_ending
from anysize._memory import check_table
from anysize._progress import Progress
from anysize._schema import check_integer
from anysize._text import aligned
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.counting.api import count
from anysize.counting.columns import MAX_TYPED_SIZE, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.threads import Threads, available_cores
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.networks.null_models import check_null, draw
from anysize.patterns.pattern import Pattern, list_sizes
from anysize.shift.hypothesis_tests import adjust_benjamini_hochberg

SLOTS_PER_BATCH = 1 << 23  # neighbors in the random graphs that are in memory at the same time
LEVEL = 0.05  # of q
TEXT_COLUMNS = ("pattern", "copies", "null mean", "null sd", "z", "p", "q", "profile")


@dataclass(frozen=True, eq=False, repr=False)
class Motifs:
    """Copies of the patterns in one graph, and in random graphs of a null model; print it for a table.

    Attributes:
        patterns: all patterns that occur in the graph or in a random graph; without colors all of the catalog.
        copies: (patterns,), induced copies in the graph.
        null_copies: (samples, patterns), those in the random graphs.
        null: the name of the null model.
        seed: of the random graphs.
        graph: the graph in words.

    Where the graph has directions, patterns are directed.
    """

    patterns: tuple[Pattern, ...]
    copies: IntArray
    null_copies: IntArray
    null: str
    seed: int
    graph: str

    @cached_property
    def mean(self) -> FloatArray:
        """(patterns,): mean over the random graphs."""
        return np.asarray(self.null_copies.mean(axis=0), np.float64)

    @cached_property
    def std(self) -> FloatArray:
        """(patterns,): standard deviation over the random graphs."""
        return np.asarray(self.null_copies.std(axis=0, ddof=1), np.float64)

    @cached_property
    def z(self) -> FloatArray:
        """(patterns,): (copies - mean) / std; where all random graphs agree, 0 for the same number, else infinite."""
        difference = self.copies - self.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(difference == 0, 0.0, difference / self.std)

    @cached_property
    def p(self) -> FloatArray:
        """(patterns,): two-sided empirical p-values, twice the share of graphs (with this one) at least as extreme."""
        above = 1 + (self.null_copies >= self.copies).sum(axis=0)
        below = 1 + (self.null_copies <= self.copies).sum(axis=0)
        return np.asarray(np.minimum(2 * np.minimum(above, below) / (len(self.null_copies) + 1), 1.0), np.float64)

    @cached_property
    def q(self) -> FloatArray:
        """(patterns,): p-values adjusted for the false discovery rate (Benjamini and Hochberg 1995)."""
        return adjust_benjamini_hochberg(self.p) if len(self.p) else self.p

    @cached_property
    def profile(self) -> FloatArray:
        """(patterns,): the significance profile (Milo et al. 2004), z of every size divided by its length.

        Patterns with an infinite z are left out (nan).
        """
        profile = np.where(np.isfinite(self.z), self.z, np.nan)
        sizes = np.array([pattern.size for pattern in self.patterns])
        for size in set(sizes.tolist()):
            length = float(np.sqrt(np.nansum(profile[sizes == size] ** 2)))
            profile[sizes == size] /= length or 1.0
        return profile

    @property
    def abundance(self) -> FloatArray:
        """(patterns,): (copies - mean) / (copies + mean + 4), which depends less on the size of the graph than z."""
        return (self.copies - self.mean) / (self.copies + self.mean + 4)

    def __len__(self) -> int:
        return len(self.patterns)

    def __repr__(self) -> str:
        samples, significant = len(self.null_copies), int((self.q <= LEVEL).sum())
        return f"Motifs({len(self)} patterns, {significant} with q <= .05, null={self.null!r}, {samples} samples)"

    def __str__(self) -> str:
        return self.text()

    def order(self, top: int | None = None) -> IntArray:
        """The numbers of the patterns, or of the ``top`` ones with the largest abs(z), in the order of the catalog."""
        largest = np.argsort(-np.abs(self.z), kind="stable")[:top]
        return np.sort(largest)

    def text(self, top: int | None = 30) -> str:
        """The table as text, of all patterns or of those with the largest abs(z)."""
        rows = [TEXT_COLUMNS, *(self.row(number) for number in self.order(top))]
        left_out = len(self) - (len(rows) - 1)
        more = [f"{left_out} more patterns with a smaller abs(z)."] if left_out else []
        samples, enough = len(self.null_copies), round(2 / LEVEL * len(self)) - 1
        if samples < enough:
            more.append(
                f"With {samples} samples q <= {LEVEL} takes several extreme patterns; for a single one of {len(self)} "
                f"take {enough} or more."
            )
        return "\n".join([self.title, *aligned(rows), *more])

    @property
    def title(self) -> str:
        """One line: the graph, and what it is compared with."""
        return f"{self.graph} against {len(self.null_copies)} random graphs (null={self.null!r}, seed {self.seed})"

    def row(self, number: int) -> tuple[str, ...]:
        """The cells of one pattern as text, in the order of ``TEXT_COLUMNS``."""
        numbers = f"{self.copies[number]:,}", f"{self.mean[number]:,.6g}", f"{self.std[number]:,.3g}"
        judged = f"{self.z[number]:+.2f}", f"{self.p[number]:.3g}", f"{self.q[number]:.3g}"
        profile = self.profile[number]
        return (self.patterns[number].name, *numbers, *judged, "" if np.isnan(profile) else f"{profile:+.3f}")

    def to_pandas(self) -> Any:
        """A table with one row per pattern. Needs pandas."""
        import pandas as pd

        columns = {
            name: getattr(self, name) for name in ("copies", "mean", "std", "z", "p", "q", "profile", "abundance")
        }
        index = pd.Index([pattern.name for pattern in self.patterns], name="pattern")
        return pd.DataFrame(columns, index=index)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; numbers that are not finite are None."""
        names = ("copies", "mean", "std", "z", "p", "q", "profile", "abundance")
        rows = [
            {"pattern": pattern.name, "edges": pattern.edges, "colors": pattern.colors}
            | ({"arcs": pattern.arcs} if pattern.arcs else {})
            | {name: value if isfinite(value := getattr(self, name)[number].item()) else None for name in names}
            for number, pattern in enumerate(self.patterns)
        ]
        samples = len(self.null_copies)
        return {"graph": self.graph, "null": self.null, "samples": samples, "seed": self.seed, "patterns": rows}

    def to_html(self) -> str:
        """The result as one self-contained page with the patterns drawn. Needs matplotlib."""
        from anysize.networks.page import to_page

        return to_page(self)

    def save(self, path: PathLike) -> None:
        """Write a page (.html) or a figure (.png, .svg, .pdf). Needs matplotlib."""
        if check_ending(path, (*PAGE_ENDINGS, *FIGURE_ENDINGS), optional=False) in PAGE_ENDINGS:
            page = self.to_html()
            with atomic_write(path) as part:
                part.write_text(page, encoding="utf-8")
            return
        from anysize.plots import save_figure
        from anysize.plots.motifs import motif_profile

        save_figure(motif_profile(self), path)


def motifs(
    graph: Any,
    k: int | Iterable[int] = 4,
    null: str = "degrees",
    samples: int = 100,
    *,
    colors: bool = True,
    directions: bool = True,
    color: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Motifs:
    """Find the patterns that a graph has more or less often than random graphs of a null model.

    Args:
        graph: one graph, anything that `count` takes.
        k: pattern size 3..7, or several sizes; up to 5 for directed patterns.
        null: what random graphs share with the graph: "degrees" (the degree of every vertex, by swaps of edges),
            "stubs" (the same, by matching stubs; for small degrees), "edges" (the number of edges) or "colors" (the
            number of neighbors of every color of every vertex, by swaps of edges). In a directed graph these are in-
            and out-degrees, and neighbors each way.
        samples: the number of random graphs. No p-value is below 2 / (samples + 1).
        colors: distinguish patterns by the colors of their vertices, where the graph has colors. In random graphs every
            vertex keeps its color.
        directions: distinguish patterns by the directions of their edges, where the graph has directions. Those on
            three vertices have the usual names of triads, such as 030T. With False, both the graph and the random
            graphs are undirected.
        color: for networkx, PyG and igraph graphs: the vertex attribute that holds the color.
        seed: of the random graphs, which do not depend on the number of threads.
        threads: number of threads; all cores if None.
        progress: called with the share of the work done so far, from 0 to 1.

    Examples:
        >>> import networkx as nx
        >>> found = motifs(nx.ring_of_cliques(6, 4), 3, samples=50)
        >>> [pattern.name for pattern in found.patterns], found.copies.tolist()
        (['3-path', 'triangle'], [36, 24])
        >>> bool(found.z[1] > 3), found.p.round(3).tolist()
        (True, [0.039, 0.039])
        >>> loops = nx.DiGraph([(3 * i + j, 3 * i + k) for i in range(5) for j, k in [(0, 1), (1, 2), (2, 0)]])
        >>> triads = motifs(loops, 3, samples=50)
        >>> triads.to_pandas().copies["030C"].item()
        5
    """
    sizes = list_sizes(k)
    if sizes[0] < 3:
        raise ValueError(f"Motifs have 3 to 7 vertices; got k={sizes[0]}.")
    samples = check_integer("samples", samples, 2)
    seed = check_integer("seed", seed, 0)
    n_threads = available_cores() if threads is None else check_integer("threads", threads, 1)
    graphs = as_graphset(graph, color=color)
    if len(graphs) != 1:
        raise ValueError(f"Motifs are found in one graph at a time; got {len(graphs)} graphs.")
    graphs.check()
    graphs = graphs.without_edge_colors().without_features().with_y(None)
    graphs = replace(graphs if directions else graphs.without_directions(), names=None)
    check_null(graphs, null)
    directed = graphs.directions is not None
    if directed and sizes[-1] > MAX_TYPED_SIZE:
        raise ValueError(
            f"Directed motifs have at most {MAX_TYPED_SIZE} vertices; got k={sizes[-1]}. With directions=False (on the "
            "command line --undirected) the underlying undirected graph is counted."
        )
    batch = max(min(SLOTS_PER_BATCH // max(len(graphs.indices), 1), samples), min(n_threads, samples))

    def counted(part: GraphSet, done: int) -> Counts:
        share = None if progress is None else lambda share: progress((done + share * len(part)) / (samples + 1))
        return count(part, sizes, colors, threads=n_threads, edges=directed, progress=share)

    tables = [counted(graphs, 0)]
    for start in range(0, samples, batch):
        numbers = range(start, min(start + batch, samples))
        tables.append(counted(_draw(graphs, null, seed, numbers, n_threads), 1 + start))
    if progress is not None:
        progress(1.0)
    title = repr(graphs)[len("GraphSet(1 graph, ") : -1]
    patterns, copies = _side_by_side(tables)
    return Motifs(patterns, copies[0], copies[1:], null, seed, title)


def _draw(graph: GraphSet, null: str, seed: int, numbers: range, threads: int) -> GraphSet:
    workers = Threads(threads)
    drawn: GraphSet = workers.interruptible(partial(draw, graph, null, seed, numbers, workers))
    return drawn


def _side_by_side(tables: list[Counts]) -> tuple[tuple[Pattern, ...], IntArray]:
    """All patterns, and the copies (graphs, patterns) of tables one below the other."""
    columns, places = unite([table.columns for table in tables])
    rows = sum(len(table) for table in tables)
    check_table((rows, len(columns)), "the table of copies in random graphs", "use fewer samples or colors=False")
    copies, start = np.zeros((rows, len(columns)), np.int64), 0
    for table, positions in zip(tables, places, strict=True):
        copies[start : start + len(table), positions] = table.matrix.toarray()
        start += len(table)
    return columns.patterns, copies
