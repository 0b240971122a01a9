"""Brain networks of patients and controls, from files or simulated; vertices are removed from the test controls."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import PathLike
from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import BlockModel, Graphon
from anysize.evaluation.tasks import Data, Parts, Task
from anysize.graphs.assembly import induced_subgraphs
from anysize.graphs.graphset import GraphSet
from anysize.io.adjacency import parse_matrix_text
from anysize.io.download import FOLDER_HINT, data_folder
from anysize.io.join import join_graphs
from anysize.io.reader import ParsedSet, ReadOptions
from anysize.splits import draw_by_class

CLASSES = ("control", "schizophrenia")
PATTERN, PATIENT = "typical_*.csv", "Schizophrenia"
TEST_PER_CLASS = 10
FOLDS = 5
THINNED_SHARE = 0.4  # of the vertices of a test control: draws with replacement


@dataclass(frozen=True)
class BrainFolder:
    """A folder of adjacency matrices, ``typical_*.csv``, one per subject; names of patients contain "Schizophrenia".

    The authors' test graphs are not known: ``data="published"`` draws test graphs with seed 0, an integer with that
    seed.
    """

    has_published = True
    has_fresh = True
    training_environments = 1

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        return hold_out(load_brains(data_dir), 0 if data == "published" else data)


def load_brains(data_dir: PathLike | None = None) -> GraphSet:
    """All subjects of a folder of adjacency matrices (or of the folder ``schizophrenia`` in it)."""
    folder = data_folder(data_dir)
    folders = [] if folder is None else [folder, folder / "schizophrenia"]
    matrices = next((candidate for candidate in folders if any(candidate.glob(PATTERN))), None)
    if matrices is None:
        looked = "no folder was named" if folder is None else f"{folder} holds none"
        raise GraphError(
            f"The brain networks cannot be downloaded, and {looked}: put one CSV adjacency matrix a subject, "
            f"{PATTERN} with {PATIENT!r} in the names of patients, into a folder, and {FOLDER_HINT}."
        )
    files = sorted(matrices.glob(PATTERN))
    parsed = [parse_matrix_text(file.read_bytes(), str(file), ReadOptions()).graphs[0] for file in files]
    graphs = join_graphs(ParsedSet(parsed, names=[file.stem for file in files]), warn=False)
    return graphs.with_y(np.array([int(PATIENT in name) for name in graphs.names or ()], np.int64))


def hold_out(graphs: GraphSet, seed: int) -> Parts:
    """Draw ten test graphs of each class and remove vertices from the controls among them; train on the rest.

    Args:
        graphs: all subjects, y = 0 for controls and 1 for patients.
        seed: of the test graphs and of the removed vertices.
    """
    y = np.asarray(graphs.y, np.int64)
    amounts = np.bincount(y, minlength=2)
    if amounts.min() < TEST_PER_CLASS + FOLDS:
        raise GraphError(
            f"Expected at least {TEST_PER_CLASS + FOLDS} controls and as many patients, {TEST_PER_CLASS} of each for "
            f"the test; got {amounts[0]} and {amounts[1]}."
        )
    rng = np.random.default_rng(seed)
    test = draw_by_class(y, lambda size: TEST_PER_CLASS, rng)
    rest = np.setdiff1d(np.arange(len(graphs)), test)
    shares = np.where(y[test] == 0, THINNED_SHARE, 0.0)
    return Parts(graphs[rest], None, thin(graphs[test], shares, rng), CLASSES)


def thin(graphs: GraphSet, share: float | NDArray[np.float64], rng: np.random.Generator) -> GraphSet:
    """Remove floor(share * N) vertices drawn with replacement, then vertices without neighbors.

    Before the second step a graph of N vertices keeps N (1 - 1/N)^floor(share N) of them on average: 177.3 of 264 for
    a share of 0.4. Graphs with share 0 are unchanged.

    Args:
        graphs: the graphs.
        share: from 0 to 1, one for all graphs or one for each.
        rng: the random generator.
    """
    shares = np.broadcast_to(np.asarray(share, np.float64), (len(graphs),))
    if not ((shares >= 0) & (shares <= 1)).all():  # written so that NaN is refused too
        raise ValueError(f"The share of vertices to remove lies between 0 and 1; got {share}.")
    keep = np.ones(int(graphs.first[-1]), bool)
    for start, size, part in zip(graphs.first[:-1], graphs.sizes, shares, strict=True):
        if part > 0 and size:
            keep[start + rng.integers(size, size=floor(part * size))] = False
    left = induced_subgraphs(graphs, keep)
    touched = np.repeat(shares > 0, left.sizes)
    return induced_subgraphs(left, (left.degrees > 0) | ~touched)


# ---- simulated brains ------------------------------------------------------------------------------

REGIONS = 264
CONTROLS, PATIENTS = 74, 71


@dataclass(frozen=True)
class BrainLike:
    """Simulated controls and patients from two graphons, as many as in the paper, split in the same way."""

    control: Graphon
    patient: Graphon

    has_published = False
    has_fresh = True
    training_environments = 1

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        assert data != "published", "Task.splits has checked it"
        environment = Environment((REGIONS,), blocks="balanced")
        streams = np.random.SeedSequence(data).spawn(2)
        controls = sample_graphs(self.control, environment, CONTROLS, streams[0])
        patients = sample_graphs(self.patient, environment, PATIENTS, streams[1])
        y = np.repeat(np.array([0, 1], np.int64), [CONTROLS, PATIENTS])
        return hold_out(GraphSet.concatenate([controls, patients]).with_y(y), data)


def _modular(within: float, between: float) -> BlockModel:
    """Four blocks of regions with more edges within blocks than between them."""
    shares = (0.3, 0.25, 0.25, 0.2)
    return BlockModel(within=(within,) * len(shares), between=between, shares=shares)


SCHIZOPHRENIA = Task(
    name="schizophrenia",
    title="Brain networks, controls thinned in test",
    family="brain",
    source=BrainFolder(),
    k=(4, 5),
    folds=FOLDS,
    label="Schizophrenia",
)
# Patients are less modular but have as many edges (.1212 and .1213 of all pairs): the number of edges does not tell the
# classes apart in training, and in test it does, since only controls lose vertices.
SCHIZOPHRENIA_LIKE = Task(
    name="schizophrenia-like",
    title="Simulated brain networks, controls thinned in test",
    family="brain",
    source=BrainLike(control=_modular(0.30, 0.06), patient=_modular(0.28, 0.067)),
    k=(4, 5),
    folds=FOLDS,
    label="Schizophrenia-like",
)
