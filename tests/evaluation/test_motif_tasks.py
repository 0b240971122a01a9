"""The motif tasks follow their published rules: sizes, classes, noise, bias; and who can solve them."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import anysize as az
from anysize.evaluation.motif_tasks import MOTIF_TASKS, more_copies
from anysize.evaluation.tasks import Task
from anysize.paper.tasks import TASKS

MOTIFS = {"house": nx.house_graph(), "cycle": nx.cycle_graph(5), "crane": nx.complete_bipartite_graph(2, 3)}


def smaller(name: str, *graphs: int) -> Task:
    task = TASKS[name]
    return replace(task, source=replace(task.source, graphs=graphs))  # type: ignore[type-var]


def planted_motif(graph: az.GraphSet) -> str:
    """Which motif the last five vertices are; random edges never join two of them."""
    ((last,),) = ([g.subgraph(range(len(g) - 5, len(g)))] for g in graph.to_networkx())
    return next(name for name, motif in MOTIFS.items() if nx.is_isomorphic(last, motif))


def test_they_are_found_by_name() -> None:
    assert [TASKS[task.name] for task in MOTIF_TASKS] == list(MOTIF_TASKS)


def test_covariate_sizes_are_those_of_the_published_set() -> None:
    splits = TASKS["motif-size"].splits(0)
    assert [len(graphs) for graphs in splits.sets.values()] == [18_000, 3_000, 3_000]
    for graphs in (splits.train, splits.validation):
        assert graphs is not None
        assert (graphs.sizes.min(), graphs.sizes.max()) == (6, 45)
        assert graphs.sizes.mean() == pytest.approx(17, abs=0.5)
    assert (splits.test.sizes.min(), splits.test.sizes.max()) == (68, 155)
    assert splits.test.sizes.mean() == pytest.approx(88, abs=1)


def test_one_label_in_fifteen_is_wrong() -> None:
    splits = smaller("motif-size", 10, 10, 2_000).splits(3)
    true = [planted_motif(splits.test[number]) for number in range(2_000)]
    given = [splits.classes[label] for label in splits.test.y]
    wrong = np.mean([a != b for a, b in zip(true, given, strict=True)])
    assert wrong == pytest.approx(0.1 * 2 / 3, abs=0.02)


def test_concept_sizes_tell_the_class_in_training_only() -> None:
    splits = smaller("motif-size-concept", 3_000, 100, 3_000).splits(1)
    assert (splits.train.sizes.min(), splits.train.sizes.max()) == (8, 155)

    def means(graphs: az.GraphSet) -> np.ndarray:
        return np.array([graphs.sizes[graphs.y == label].mean() for label in range(3)])

    assert (np.diff(means(splits.train)) > 20).all()
    assert np.ptp(means(splits.test)) < 6


@pytest.mark.parametrize(("name", "bias"), [("spmotif-33", 1 / 3), ("spmotif-60", 0.6), ("spmotif-90", 0.9)])
def test_spmotif_bases_depend_on_the_class_in_training_only(name: str, bias: float) -> None:
    splits = smaller(name, 900, 600, 600).splits(2)

    def preferred(graphs: az.GraphSet) -> float:
        """The share of graphs on the base of their class: 0 tree, 1 ladder, 2 wheel, told by its cycles."""
        kinds = []
        for graph in graphs.to_networkx():
            base = graph.subgraph(range(len(graph) - 5))
            cycles = base.number_of_edges() - len(base) + 1
            hub = max(dict(base.degree).values())
            kinds.append(2 if hub > 10 else 1 if cycles > 5 else 0)
        return float(np.mean(np.array(kinds) == graphs.y))

    assert preferred(splits.train) == pytest.approx(bias, abs=0.05)
    assert splits.validation is not None
    assert preferred(splits.validation) == pytest.approx(1 / 3, abs=0.06)
    assert preferred(splits.test) == pytest.approx(1 / 3, abs=0.06)
    assert splits.train.sizes.max() <= 5 + 22
    assert (splits.test.sizes.min(), splits.test.sizes.max()) == (5 + 15, 5 + 98)
    for part in splits.sets.values():
        assert (np.bincount(part.y) == len(part) // 3).all()
        assert [planted_motif(part[n]) for n in range(60)] == [splits.classes[label] for label in part.y[:60]]


def test_the_counting_task_has_exact_classes_on_every_base() -> None:
    splits = smaller("motif-count", 240, 60, 60).splits(4)
    assert (splits.train.sizes.min() >= 20) & (splits.train.sizes.max() <= 60)
    assert (splits.test.sizes.min() >= 400) & (splits.test.sizes.max() <= 500)
    for part in splits.sets.values():
        assert (np.bincount(part.y) == len(part) // 2).all()
        assert (more_copies(part) == np.where(part.y == 0, 1, -1)).all()
    graph = splits.train.to_networkx()[0]
    slow = [
        sum(1 for _ in nx.algorithms.isomorphism.GraphMatcher(graph, motif).subgraph_isomorphisms_iter()) / symmetries
        for motif, symmetries in ((MOTIFS["house"], 2), (MOTIFS["crane"], 12))
    ]
    assert np.sign(slow[0] - slow[1]) == more_copies(splits.train[:1])[0] == 1


def test_presence_of_patterns_solves_motif_size_and_plain_counts_do_not() -> None:
    """The measured figures of the page: .89 and .44 for logistic regression with 18,000 graphs."""
    from sklearn.linear_model import LogisticRegression

    splits = smaller("motif-size", 3_000, 10, 1_000).splits(0)
    train, test = (az.count(graphs, 5).matrix.toarray() for graphs in (splits.train, splits.test))
    presence = LogisticRegression(max_iter=1000).fit(train > 0, splits.train.y)
    assert presence.score(test > 0, splits.test.y) > 0.86
    counts = LogisticRegression(max_iter=3000).fit(train / train.std(axis=0).clip(1e-9), splits.train.y)
    assert counts.score(test / train.std(axis=0).clip(1e-9), splits.test.y) < 0.7
