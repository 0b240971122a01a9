"""Rows of other groups' methods see types of edges, and predict numbers where their loss has a meaning for them."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from anysize import METHODS, GraphClassifier, GraphRegressor, GraphSet
from anysize.methods.configuration import resolve_configuration
from anysize.methods.peers import PEERS

NAMES = [method.name for method in PEERS]
QUICK: Any = {"epochs": 20, "batch_size": 16}


def rings(types: str = "ab", turned: bool = False, backwards: bool = False) -> GraphSet:
    """Directed rings with a chord and edges of two types, in blocks or in turn: nothing else tells classes apart."""
    rng, made = np.random.default_rng(0), []
    for n in range(8, 48):
        order = rng.permutation(n) if turned else np.arange(n)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        for v in range(n):
            is_second = v % 2 if n % 2 else v < n // 2
            graph.add_edge(int(order[v]), int(order[(v + 1) % n]), type=types[int(is_second)])
        graph.add_edge(int(order[0]), int(order[n // 2]), type=types[0])
        made.append(graph.reverse() if backwards else graph)
    return GraphSet.from_networkx(made, edge_color="type", y=["blocks", "turns"] * 20)


@pytest.mark.parametrize("name", NAMES)
def test_types_of_edges_are_seen_and_the_order_of_vertices_is_not(name: str) -> None:
    graphs = rings()
    model = GraphClassifier(name, check=False, params=QUICK).fit(graphs)
    embedded = model.representation(graphs)
    np.testing.assert_allclose(model.representation(rings(turned=True)), embedded, rtol=1e-3, atol=1e-3)
    for others in (rings("ba"), rings(backwards=True)):
        assert not np.allclose(model.representation(others), embedded, rtol=0.01, atol=0.01)


@pytest.mark.parametrize("name", [name for name in NAMES if "numbers" in METHODS[name].predicts])
def test_numbers_are_predicted_in_any_units(name: str) -> None:
    graphs = [nx.gnp_random_graph(8 + i % 5, (0.2, 0.5, 0.8)[i % 3], seed=i) for i in range(90)]
    y = np.array([nx.density(graph) for graph in graphs])
    params = {"epochs": 60, "readout": "mean"}
    model = GraphRegressor(name, check=False, params=params).fit(graphs, y)
    assert model.score(graphs, y) > 0.5
    other = GraphRegressor(name, check=False, params=params).fit(graphs, 300 * y - 7)
    np.testing.assert_allclose(other.predict(graphs), 300 * model.predict(graphs) - 7, rtol=0.02, atol=2)


def test_a_contrast_of_classes_needs_classes() -> None:
    assert [name for name in NAMES if "numbers" not in METHODS[name].predicts] == ["gin-ciga"]
    with pytest.raises(ValueError, match=r"gin-ciga does not predict numbers; methods that do are .* gin-ssr"):
        GraphRegressor("gin-ciga").fit([nx.path_graph(5)] * 8, np.arange(8.0))


@pytest.mark.parametrize(
    ("name", "configuration", "training"),
    [
        ("gin-plain", {"lr": 0.003, "batch_size": 64, "hidden": 32, "layers": 3}, (60, "last", "cosine", None)),
        ("gin-ssr", {"ssr": 0.1, "hidden": 32, "layers": 3}, (1000, "best", "constant", None)),
        ("gin-ciga", {"lr": 0.001, "batch_size": 32, "hidden": 32, "layers": 3}, (400, "best", "constant", 20)),
        (
            "gin-gsat",
            {"lr": 0.001, "batch_size": 128, "hidden": 64, "layers": 2, "final_r": 0.7, "interval": 10, "beta": 1.0},
            (100, "best", "constant", None),
        ),
        ("gin-dann", {"lr": 0.001, "layers": 3, "readout": "mean"}, (200, "best", "constant", None)),
        ("gin-crop", {"lr": 0.003, "batch_size": 64, "hidden": 32, "layers": 3}, (60, "last", "cosine", None)),
    ],
)
def test_the_recipe_paper_is_what_the_authors_published(name: str, configuration: Any, training: Any) -> None:
    """The page docs/why-these-rows.md has the sources."""
    method = METHODS[name]
    for family in (None, "tu"):
        settings, recipe = resolve_configuration(method, "paper", colored=True, family=family)
        assert {key: settings[key] for key in configuration} == configuration
        assert (recipe.epochs, recipe.epoch, recipe.schedule, recipe.patience) == training
        assert (recipe.tie_break, set(settings) & method.recipe_fields) == ("first", set())
    _, robust = resolve_configuration(method, "robust", colored=True)
    assert (robust.epochs, robust.epoch) == (60, "last")


def test_published_settings_train_and_can_be_changed() -> None:
    graphs = rings()
    params = {"epochs": 12, "ratio": 0.3, "alpha": 0.5, "readout": "max"}
    model = GraphClassifier("gin-ciga", recipe="paper", check=False, params=params).fit(graphs)
    assert len(model.held_out_) == 4
    assert len(model.curves_["validation_score"]) == 12
