"""Brain networks: patients and controls, with test controls that lost vertices; from files, or simulated."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize.causal.environments import Environment, sample_graphs
from anysize.causal.graphons import BlockModel, Graphon
from anysize.graphs.assembly import induced_subgraphs
from anysize.graphs.graphset import GraphSet
from anysize.io.adjacency import read_adjacency_csv
from anysize.tasks.task import FOLDER_HINT, FOLDS, Data, DataDir, Parts, Task, data_folder, labels

CLASSES = ("control", "schizophrenia")
PATTERN, PATIENT = "typical_*.csv", "Schizophrenia"
TEST_PER_CLASS = 10
THINNED = 0.4


@dataclass(frozen=True)
class BrainFolder:
    """One adjacency matrix a subject, in files ``typical_*.csv``; patients have "Schizophrenia" in the file name.

    Which graphs the authors tested on is not known: ``data="published"`` is the draw number 0 of ours, other
    integers draw other test graphs.
    """

    has_published = True
    has_fresh = True
    training_environments = 1

    def draw(self, data: Data, seed: int, data_dir: DataDir) -> Parts:
        return hold_out(load_brains(data_dir), 0 if data == "published" else data)


def load_brains(data_dir: DataDir = None) -> GraphSet:
    """All subjects of a folder of adjacency matrices (or of the folder ``schizophrenia`` in it)."""
    folder = data_folder(data_dir)
    places = [] if folder is None else [folder, folder / "schizophrenia"]
    found = next((place for place in places if any(place.glob(PATTERN))), None)
    if found is None:
        looked = "no folder was named" if folder is None else f"{folder} holds none"
        raise GraphError(
            f"The brain networks cannot be downloaded, and {looked}: put one CSV adjacency matrix a subject, "
            f"{PATTERN} with {PATIENT!r} in the names of patients, into a folder, and {FOLDER_HINT}."
        )
    graphs = read_adjacency_csv(found, PATTERN, warn=False)
    return graphs.with_y(np.array([int(PATIENT in name) for name in graphs.names or ()], np.int64))


def hold_out(graphs: GraphSet, seed: int) -> Parts:
    """Ten test graphs of each class, the controls among them thinned; the others are for training.

    Args:
        graphs: all subjects, y = 0 for controls and 1 for patients.
        seed: decides which graphs are tested on and which vertices they lose.
    """
    y = labels(graphs)
    amounts = np.bincount(y, minlength=2)
    if amounts.min() < TEST_PER_CLASS + FOLDS:
        raise GraphError(
            f"Expected at least {TEST_PER_CLASS + FOLDS} controls and as many patients, {TEST_PER_CLASS} of each for "
            f"the test; got {amounts[0]} and {amounts[1]}."
        )
    rng = np.random.default_rng(seed)
    test = np.sort(np.concatenate([rng.permutation(np.flatnonzero(y == c))[:TEST_PER_CLASS] for c in (0, 1)]))
    rest = np.setdiff1d(np.arange(len(graphs)), test)
    shares = np.where(y[test] == 0, THINNED, 0.0)
    return Parts(graphs[rest], None, thin(graphs[test], shares, rng), CLASSES)


def thin(graphs: GraphSet, share: float | NDArray[np.float64], rng: np.random.Generator) -> GraphSet:
    """Remove vertices: floor(share * N) draws with replacement, and then those left without neighbors.

    A graph of N vertices keeps N (1 - 1/N)^floor(share N) of them on average before isolated ones go: 177.3 of 264
    for a share of .4. Graphs with share 0 stay as they are.

    Args:
        graphs: the graphs.
        share: from 0 to 1, one for all graphs or one for each.
        rng: where the draws come from.
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
    """As many simulated controls and patients as the paper has, from two graphons, with the same split."""

    control: Graphon
    patient: Graphon

    has_published = False
    has_fresh = True
    training_environments = 1

    def draw(self, data: Data, seed: int, data_dir: DataDir) -> Parts:
        assert data != "published", "Task.splits has checked it"
        environment = Environment((REGIONS,), blocks="balanced")
        streams = np.random.SeedSequence(data).spawn(2)
        controls = sample_graphs(self.control, environment, CONTROLS, streams[0])
        patients = sample_graphs(self.patient, environment, PATIENTS, streams[1])
        y = np.repeat(np.array([0, 1], np.int64), [CONTROLS, PATIENTS])
        return hold_out(GraphSet.concatenate([controls, patients]).with_y(y), data)


def _modular(within: float, between: float) -> BlockModel:
    """Four systems of regions, linked more inside than across."""
    shares = (0.3, 0.25, 0.25, 0.2)
    return BlockModel(within=(within,) * len(shares), between=between, shares=shares)


SCHIZOPHRENIA = Task(
    name="schizophrenia",
    title="Brain networks, controls thinned in test",
    family="brain",
    source=BrainFolder(),
    k=(4, 5),
    protocol="folds",
    label="Schizophrenia",
    table=1,
    published="schizophrenia",
)
# Patients are less modular, with as many edges (.1212 and .1213 of all pairs): in training the number of edges tells
# nothing, and thinning then takes edges from the test controls alone.
SCHIZOPHRENIA_LIKE = Task(
    name="schizophrenia-like",
    title="Simulated brain networks, controls thinned in test",
    family="brain",
    source=BrainLike(control=_modular(0.30, 0.06), patient=_modular(0.28, 0.067)),
    k=(4, 5),
    protocol="folds",
    label="Schizophrenia-like",
    table=1,
)
