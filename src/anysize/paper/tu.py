"""The four sets of the TU collection that the paper splits by size: NCI1, NCI109, PROTEINS, DD."""

from __future__ import annotations

from dataclasses import dataclass

from anysize._errors import GraphError
from anysize._typing import PathLike
from anysize.evaluation.tasks import Data, Parts, Task, split_graphs
from anysize.graphs.graphset import GraphSet
from anysize.io.download import load_tu
from anysize.splits import BySize


@dataclass(frozen=True)
class TUSplit:
    """A TU set, split by size at the paper's percentiles.

    Both comparisons include the percentile itself, which gives every count of the paper's table of statistics. Its
    wording ("smaller than", "larger than") does not.
    """

    name: str
    graphs: int  # in the whole set, to detect truncated files

    has_published = True
    has_fresh = False
    training_environments = 2

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        graphs = self.load(data_dir)
        return split_graphs(graphs, BySize().positions(graphs, seed))

    def load(self, data_dir: PathLike | None = None) -> GraphSet:
        """The whole set, from the folder with data files or by download."""
        graphs = load_tu(self.name, data_dir)
        if len(graphs) != self.graphs:
            raise GraphError(f"{self.name} has {self.graphs} graphs; the files that were found hold {len(graphs)}.")
        return graphs.without_edge_colors().without_features()  # as published: element or structure of vertices only


def _task(name: str, graphs: int, what: str, top: int | None) -> Task:
    return Task(
        name=name,
        title=f"{what}, smaller half to largest tenth",
        family="tu",
        source=TUSplit(name, graphs),
        metric="mcc",
        k=4,
        top=top,
        class_weights="inverse",
        environments="median",
        vanishing=True,
        label=name,
    )


NCI1 = _task("NCI1", 4110, "Molecules against lung cancer", top=100)
NCI109 = _task("NCI109", 4127, "Molecules against ovarian cancer", top=100)
PROTEINS = _task("PROTEINS", 1113, "Enzymes or not, secondary structure", top=None)
DD = _task("DD", 1178, "Enzymes or not, amino acids", top=30_000)
