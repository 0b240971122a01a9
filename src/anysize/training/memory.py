"""How much memory a model of a stack takes while it is trained, so that stacks can be cut before they are built."""

from __future__ import annotations

from itertools import pairwise

from anysize.graphs.graphset import GraphSet
from anysize.nn.rows.graph_batch import fills_up
from anysize.training.fit_gnn import GNN, LIVE, GNNShape
from anysize.training.settings import Recipe, Settings

# Values that a layer keeps for the gradient, for each row and each unit of its own width and of the width below,
# and those that come and go while the gradient is formed. Counted on trained models, padded rows included.
KEPT = {"gin": (6, 0), "gcn": (3, 0), "pna": (4, 21)}
PASSING = {"gin": (4, 0), "gcn": (4, 0), "pna": (4, 26)}
COPIES_OF_PARAMETERS = 6  # value, gradient, two averages of Adam, the kept epoch, and room


def bytes_per_model(
    kind: GNN, graphs: GraphSet, settings: Settings, recipe: Recipe, *, validation: GraphSet | None = None,
    relational: bool = False, device: str = "cpu",
) -> int:  # fmt: skip
    """About the memory of one model while it is trained on these graphs; a stack of M members takes M times as much.

    The graphs themselves, which all members share, are not counted. Rows that vertices share count once: a plain
    graph costs little in the first layers, whatever its size. ``validation``: graphs that are looked at all at once
    in every epoch, with the permutations of prediction where there are any.

    Examples:
        >>> ring = GraphSet.from_edges([(i, (i + 1) % 500) for i in range(500)])
        >>> tree = GraphSet.from_edges([((i - 1) // 2, i) for i in range(1, 500)])
        >>> small, large = (bytes_per_model("gin", g, Settings(hidden=64, layers=3), Recipe()) for g in (ring, tree))
        >>> small < large
        True
    """
    inputs = max(len(graphs.palette), 1)
    shape = GNNShape(kind, "sum", relational, inputs, 2, settings.hidden, settings.layers, recipe)
    widths = [settings.hidden if relational else inputs, *[settings.hidden] * settings.layers]
    kept, passing = 0.0, 0.0
    for rows, (below, above) in zip(_rows(shape, graphs, settings, device), pairwise(widths), strict=True):
        kept += rows * (KEPT[kind][0] * above + KEPT[kind][1] * below)
        passing = max(passing, rows * (PASSING[kind][0] * above + PASSING[kind][1] * below))
    if validation is not None:
        copies = recipe.test_permutations if relational else 1
        passing = max(passing, _vertex_rows(validation, device) * copies * LIVE[kind] * max(widths))
    parameters = sum(parameter.numel() for parameter in shape.build([settings.jumping]).parameters())
    return int(4 * (kept + passing + COPIES_OF_PARAMETERS * parameters))


def _rows(shape: GNNShape, graphs: GraphSet, settings: Settings, device: str) -> list[float]:
    """Rows of every layer in a training step: of all graphs, or of a mini-batch on average."""
    palette = None if graphs.colors is None else graphs.palette
    batch_size = settings.batch_size or len(graphs)
    if shape.relational or batch_size < len(graphs):
        copies = int(shape.recipe.permutations) if shape.relational else 1
        share = min(1.0, batch_size / max(len(graphs), 1))
        return [share * _vertex_rows(graphs, device) * copies] * shape.layers
    return [float(len(level.degree)) for level in shape.structure(graphs, palette).levels]


def _vertex_rows(graphs: GraphSet, device: str) -> int:
    """Rows where every vertex has its own, those that only fill up included."""
    if fills_up(graphs, device):
        return len(graphs) * int(graphs.sizes.max(initial=1))
    return int(graphs.sizes.sum())
