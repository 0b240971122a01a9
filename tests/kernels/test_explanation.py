"""Explanations by vertices: against the dual form of the SVM, what they say, and what they draw."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from sklearn.svm import SVC

import anysize
from anysize import GraphClassifier, GraphSet, GraphWarning, load_model
from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.svm import KernelClassifier
from anysize.kernels.wl import WLKernel

Type = tuple[Any, ...]
DEPTH = 2


def made(classes: int, amount: int = 24, seed: int = 0) -> list[nx.Graph]:
    """Random graphs whose density and colors depend on the class, which is the number of the graph modulo classes."""
    rng = np.random.default_rng(seed)
    graphs = []
    for number in range(amount):
        label = number % classes
        graph = nx.gnp_random_graph(int(rng.integers(6, 11)), 0.2 + 0.2 * label, seed=int(rng.integers(1 << 30)))
        colors = rng.choice(["C", "N", "O"], len(graph), p=np.roll([0.6, 0.3, 0.1], label))
        nx.set_node_attributes(graph, dict(enumerate(colors.tolist())), "atom")
        graphs.append(graph)
    return graphs


def slow_types(graph: nx.Graph) -> list[dict[Any, Type]]:
    """The Weisfeiler-Lehman type of every vertex, depth by depth, as nested tuples."""
    found: list[dict[Any, Type]] = [{v: (graph.nodes[v]["atom"],) for v in graph}]
    for _ in range(DEPTH):
        last = found[-1]
        found.append({v: (last[v], tuple(sorted((last[u] for u in graph[v]), key=repr))) for v in graph})
    return found


def shared(one: list[dict[Any, Type]], other: list[dict[Any, Type]]) -> np.ndarray:
    """(vertices of one,): the vertices of the other graph with the same type, over all depths."""
    return np.array(
        [
            sum(own[v] == theirs for own, near in zip(one, other, strict=True) for theirs in near.values())
            for v in one[0]
        ]
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("normalize", [False, True])
def test_vertices_and_intercept_are_the_decision_function(classes: int, normalize: bool) -> None:
    """A vertex adds dual coefficients times the vertices of its types in the support vectors; slow and by hand."""
    train, new = made(classes), made(classes, 12, seed=1)
    types = [[slow_types(graph) for graph in part] for part in (train, new)]
    lengths = [np.sqrt([shared(own, own).sum() if normalize else 1.0 for own in part]) for part in types]
    slow = [
        np.array([[shared(a, b).sum() / lengths[part][i] / lengths[0][j] for j, b in enumerate(types[0])]
                  for i, a in enumerate(types[part])])
        for part in (0, 1)
    ]  # fmt: skip
    y = np.arange(len(train)) % classes
    kernel = WLKernel(DEPTH, normalize)
    fast = gram(kernel.fit_transform(GraphSet.from_networkx(train, color="atom")))
    np.testing.assert_allclose(fast, slow[0], atol=1e-12)  # rounding alone would stop the solver elsewhere
    machine = SVC(kernel="precomputed", C=10.0, decision_function_shape="ovo").fit(fast, y)
    margins = machine.decision_function(slow[1]).reshape(len(new), -1)
    margins = -margins if classes == 2 else margins
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]

    model = KernelClassifier(kernel, C=10.0)
    model.fit(GraphSet.from_networkx(train, color="atom"), np.array(["a", "b", "c"])[y])
    for row, graph in enumerate(new):
        one = GraphSet.from_networkx(graph, color="atom")
        found = model.explain(one)
        predicted = "abc".index(found.predicted)
        assert found.predicted == model.predict(one)[0]
        signs = [(a == predicted) - (b == predicted) for a, b in pairs]
        assert found.margin == pytest.approx(np.dot(signs, margins[row]) / (classes - 1), abs=1e-9)
        assert found.base + found.vertices.sum() == pytest.approx(found.margin, abs=1e-9)
        if classes == 2:
            duals = machine.dual_coef_[0] * (1 if predicted == 1 else -1)
            expected = sum(
                dual * shared(types[1][row], types[0][at]) / lengths[1][row] / lengths[0][at]
                for dual, at in zip(duals, machine.support_, strict=True)
            )
            np.testing.assert_allclose(found.vertices, expected, atol=1e-9)


def test_types_name_their_vertices() -> None:
    graphs = GraphSet.from_networkx(made(2), color="atom")
    model = KernelClassifier(WLKernel(DEPTH), C=1.0).fit(graphs, np.arange(24) % 2)
    path = nx.path_graph(4)
    nx.set_node_attributes(path, dict(enumerate("NCCO")), "atom")
    found = model.explain(GraphSet.from_networkx(path, color="atom"))
    by_name = {(one.depth, one.name): one for one in found.types}
    assert by_name[0, "C"].vertices == (1, 2)
    assert by_name[1, "C(C,N)"].vertices == (1,)
    assert by_name[1, "O(C)"].vertices == (3,)
    assert found.vertices[3] == pytest.approx(
        sum(one.contribution / len(one.vertices) for one in found.types if 3 in one.vertices)
    )
    strengths = [abs(one.contribution) for one in found.types]
    assert strengths == sorted(strengths, reverse=True)
    assert found.types[:3] == found.strongest(3)
    assert "'C'" in repr(by_name[0, "C"])
    assert repr(by_name[0, "C"]).endswith("at vertices (1, 2))")


def test_types_of_one_name_are_told_apart_by_their_depth() -> None:
    graphs = [nx.empty_graph(6) if number % 2 else nx.path_graph(6) for number in range(24)]
    model = GraphClassifier("wl-kernel", params={"iterations": DEPTH}).fit(graphs, [number % 2 for number in range(24)])
    why = model.explain(nx.empty_graph(4))
    lines = [line.split("  ")[1] for line in str(why).splitlines() if line.startswith("  *")]
    assert {"*(), depth 1", "*(), depth 2"} <= set(lines)
    assert len(set(lines)) == len(lines)


def test_reference_graphs_move_the_base_and_keep_the_margin() -> None:
    graphs = GraphSet.from_networkx(made(3), color="atom")
    model = KernelClassifier(WLKernel(1), C=1.0).fit(graphs, np.arange(24) % 3)
    plain, compared = model.explain(graphs[0]), model.explain(graphs[0], graphs)
    assert compared.margin == pytest.approx(plain.margin, abs=1e-9)
    assert any(not one.vertices for one in compared.types)  # types that the graph lacks
    assert all(one.vertices for one in plain.types)
    np.testing.assert_allclose(model.explain(graphs[0], graphs[0]).contributions, 0, atol=1e-12)


def test_unknown_types_add_nothing() -> None:
    graphs = GraphSet.from_networkx(made(2), color="atom")
    model = KernelClassifier(WLKernel(1), C=1.0).fit(graphs, np.arange(24) % 2)
    strange = nx.path_graph(3)
    nx.set_node_attributes(strange, "Xe", "atom")
    found = model.explain(GraphSet.from_networkx(strange, color="atom"))
    assert found.types == ()
    assert found.vertices.tolist() == [0, 0, 0]
    assert found.margin == found.base
    found.figure().draw_without_rendering()


@pytest.mark.parametrize("method", ["wl-kernel", "sizemix", "auto"])
def test_classifiers_are_explained_by_vertices(method: str, tmp_path: Path) -> None:
    graphs = GraphSet.from_networkx([nx.random_labeled_tree(n, seed=n) for n in range(6, 30)])
    rings = GraphSet.from_networkx([nx.cycle_graph(n) for n in range(6, 30)])
    train = (graphs + rings).with_y(["tree"] * 24 + ["ring"] * 24)
    model = GraphClassifier(method).fit(train)
    new = nx.cycle_graph(40)
    found = model.explain(new)
    assert found.predicted == model.predict([new])[0] == "ring"
    assert found.probability == pytest.approx(model.predict_proba([new])[0].max())
    assert np.ptp(found.vertices) == pytest.approx(0, abs=1e-12)  # all alike
    told = json.loads(json.dumps(found.to_json(2)))
    assert len(told["types"]) == 2
    assert told["margin"] == pytest.approx(
        told["base"] + told["others"] + sum(t["contribution"] for t in told["types"])
    )
    assert len(told["vertices"]) == 40
    lines = found.text(2).splitlines()
    assert lines[0].startswith("ring (probability ")
    assert "vertices 0, 1, 2" in str(found)
    assert lines[-1].startswith("  strongest vertices: ")
    model.save(tmp_path / "model.anysize")
    again = load_model(tmp_path / "model.anysize").explain(new)
    np.testing.assert_array_equal(again.vertices, found.vertices)
    assert again.text() == found.text()
    compared = model.explain(new, reference=train)
    assert compared.margin == pytest.approx(found.margin)


def test_what_is_refused() -> None:
    graphs = GraphSet.from_networkx(made(2), color="atom")
    model = KernelClassifier(WLKernel(1), C=1.0).fit(graphs, np.arange(24) % 2)
    with pytest.raises(ValueError, match="one graph; got 2"):
        model.explain(graphs[:2])
    graphlets = KernelClassifier(GraphletKernel(3), C=1.0).fit(graphs, np.arange(24) % 2)
    with pytest.raises(ValueError, match="needs a WLKernel; this is a GraphletKernel"):
        graphlets.explain(graphs[0])
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg, \.pdf; got why\.txt"):
        model.explain(graphs[0]).save("why.txt")


def test_odd_colors_are_quoted_in_text() -> None:
    graph = GraphSet.from_edges([[(0, 1)], [(0, 1)]], colors=[["a,b", "c\n"], ["a,b", "a,b"]], y=[0, 1])
    found = KernelClassifier(WLKernel(1), C=1.0).fit(graph).explain(graph[0])
    assert '"a,b"("c\\n")' in {one.name for one in found.types}
    assert len(str(found).splitlines()) == 1 + len(found.types) + 2


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_networkx(made(2), color="atom")
    found = KernelClassifier(WLKernel(1), C=1.0).fit(graphs, np.arange(24) % 2).explain(graphs[0])
    monkeypatch.delattr(anysize, "plots", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib" or "anysize.plots" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for ask in (found.plot, found.figure, lambda: found.save("why.svg")):
        with pytest.raises(ImportError, match=r"anysize\[plot\]"):
            ask()


def test_names_of_types_stay_short_next_to_hubs() -> None:
    """The neighbors of a hub are counted, and of many different ones the most common are named."""
    star = nx.star_graph(30)
    nx.set_node_attributes(star, {v: "hub" if v == 0 else f"leaf{v % 10}" for v in star}, "atom")
    kernel = WLKernel(3).fit(GraphSet.from_networkx([star], color="atom"))
    name = kernel.type_name(1, 0)
    assert name.startswith("hub(3\N{MULTIPLICATION SIGN}leaf")
    assert name.endswith("\N{HORIZONTAL ELLIPSIS})")
    assert max(len(kernel.type_name(3, number)) for number in range(11)) < 2000


@pytest.mark.parametrize("name", ["why.png", "why.svg", "why.pdf"])
def test_figures_are_saved(name: str, tmp_path: Path) -> None:
    graphs = GraphSet.from_networkx(made(2), color="atom")
    model = KernelClassifier(WLKernel(1), C=1.0).fit(graphs, np.arange(24) % 2)
    found = model.explain(graphs[0])
    found.save(tmp_path / name)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[-3:]]
    assert (tmp_path / name).read_bytes().startswith(start)
    drawn, bars = found.figure(top=5).axes
    assert [bar.get_width() for bar in bars.patches] == [one.contribution for one in found.strongest(5)]
    assert drawn.collections


def test_a_stranger_to_training_is_still_explained_with_a_warning() -> None:
    graphs = GraphSet.from_networkx(made(2), color="atom")
    model = GraphClassifier("sizemix").fit(graphs, np.arange(24) % 2)
    strange = nx.path_graph(3)
    nx.set_node_attributes(strange, "Xe", "atom")
    with pytest.warns(GraphWarning, match="Xe"):
        found = model.explain(GraphSet.from_networkx(strange, color="atom"))
    assert all(not one.vertices for one in found.types)


@pytest.mark.parametrize("method", ["wl-kernel", "sizemix"])
def test_only_bonds_that_the_model_sees_are_drawn(method: str) -> None:
    bonds = [["double" if number % 2 and edge == 0 else "single" for edge in range(5)] for number in range(20)]
    graphs = GraphSet.from_edges([[(v, v + 1) for v in range(5)]] * 20, colors=[["C"] * 6] * 20, edge_colors=bonds)
    y = np.arange(20) % 2
    lines = []
    for trained in (graphs, graphs.without_edge_colors()):
        axes = GraphClassifier(method, check=False).fit(trained, y).explain(graphs[1]).plot()
        (edges,) = (each for each in axes.collections if isinstance(each, LineCollection))
        lines.append(len(edges.get_segments()))
    assert lines == [6, 5]
