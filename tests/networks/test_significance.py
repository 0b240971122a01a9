"""`motifs`: z-scores, p-values, profiles."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import anysize as az
from anysize.counting.engines.threads import Threads
from anysize.networks.null_models import draw

CLUSTERED = nx.powerlaw_cluster_graph(200, 3, 0.9, seed=2)
RANDOM = nx.gnm_random_graph(60, 150, seed=5)


@pytest.fixture(scope="module")
def found() -> az.Motifs:
    return az.motifs(CLUSTERED, (3, 4), samples=60, seed=4)


def test_numbers_follow_from_counts(found):
    graph = az.GraphSet.from_networkx(CLUSTERED)
    expected = az.count(draw(graph, "degrees", 4, range(60), Threads()), (3, 4)).matrix.toarray()
    assert np.array_equal(found.null_copies, expected)
    copies = az.count(graph, (3, 4)).matrix.toarray()[0]
    assert np.array_equal(found.copies, copies)
    for at, pattern in enumerate(found.patterns):
        random = expected[:, at].tolist()
        mean = sum(random) / 60
        std = (sum((x - mean) ** 2 for x in random) / 59) ** 0.5
        assert found.z[at] == pytest.approx((copies[at] - mean) / std)
        above, below = sum(x >= copies[at] for x in random), sum(x <= copies[at] for x in random)
        assert found.p[at] == pytest.approx(min(1, 2 * (1 + min(above, below)) / 61))
        assert found.abundance[at] == pytest.approx((copies[at] - mean) / (copies[at] + mean + 4))
        assert pattern.name == [p.name for k in (3, 4) for p in az.connected_patterns(k)][at]


def test_q_is_the_step_up_procedure_of_benjamini_and_hochberg(found):
    order = np.argsort(found.p)
    smallest, expected = 1.0, np.empty(8)
    for rank in range(8, 0, -1):
        smallest = min(smallest, found.p[order[rank - 1]] * 8 / rank)
        expected[order[rank - 1]] = smallest
    assert np.allclose(found.q, expected)


def test_the_profile_of_every_size_has_length_one(found):
    sizes = np.array([pattern.size for pattern in found.patterns])
    for size in (3, 4):
        assert np.sum(found.profile[sizes == size] ** 2) == pytest.approx(1)
    assert np.array_equal(np.sign(found.profile), np.sign(found.z))


def test_a_clustered_graph_has_too_many_triangles(found):
    names = [pattern.name for pattern in found.patterns]
    assert found.z[names.index("triangle")] > 5
    assert found.q[names.index("triangle")] < 0.05


def test_a_graph_of_the_null_model_is_not_significant():
    """Of 40 graphs drawn from the null model, about one in twenty has p <= .05."""
    graphs = [nx.gnm_random_graph(40, 80, seed=seed) for seed in range(40)]
    p = [az.motifs(graph, 3, "edges", samples=99, seed=seed).p[1] for seed, graph in enumerate(graphs)]
    assert 0 <= sum(value <= 0.05 for value in p) <= 7
    assert 0.3 < np.mean(p) < 0.75


def test_patterns_without_variance_have_z_zero_or_infinite():
    found = az.motifs(nx.cycle_graph(3), 3, samples=5)
    assert found.copies.tolist() == [0, 1]
    assert found.z.tolist() == [0.0, 0.0]
    assert found.p.tolist() == [1.0, 1.0]
    star = az.motifs(nx.star_graph(4), 3, "edges", samples=5)
    assert np.isfinite(star.profile).any()
    different = az.Motifs(found.patterns, np.array([0, 2]), found.null_copies, "degrees", 0, "a graph")
    assert different.z.tolist() == [0.0, np.inf]
    assert np.isnan(different.profile[1])
    assert json.loads(json.dumps(different.to_json(), allow_nan=False))["patterns"][1]["z"] is None


def test_threads_and_batches_do_not_change_the_result(monkeypatch):
    one = az.motifs(RANDOM, 4, samples=20, threads=1)
    monkeypatch.setattr("anysize.networks.significance.SLOTS_PER_BATCH", 1000)
    shares: list[float] = []
    again = az.motifs(RANDOM, 4, samples=20, threads=3, progress=shares.append)
    assert np.array_equal(one.null_copies, again.null_copies)
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_colored_patterns_of_both_are_listed():
    graph = nx.gnm_random_graph(30, 50, seed=3)
    nx.set_node_attributes(graph, {v: "ab"[v % 2] for v in graph}, "kind")
    found = az.motifs(graph, 3, "colors", samples=10, color="kind")
    assert all(pattern.colors is not None for pattern in found.patterns)
    plain = az.motifs(graph, 3, samples=10, color="kind", colors=False)
    assert [pattern.name for pattern in plain.patterns] == ["3-path", "triangle"]
    assert found.copies.sum() == plain.copies.sum()


@pytest.fixture(scope="module")
def circuit() -> nx.DiGraph:
    """A random directed graph with twenty feed-forward loops more than by chance."""
    graph = nx.gnp_random_graph(60, 0.03, directed=True, seed=1)
    for v in range(0, 60, 3):
        graph.add_edges_from([(v, v + 1), (v + 1, v + 2), (v, v + 2)])
    return graph


def test_feed_forward_loops_are_found(circuit):
    triads = az.motifs(circuit, 3, samples=599, seed=1)
    names = [pattern.name for pattern in triads.patterns]
    census = nx.triadic_census(circuit)
    assert triads.copies.tolist() == [census[name] for name in names]
    loop = names.index("030T")
    assert triads.z.argmax() == loop
    assert triads.q[loop] <= 0.05 < triads.q[names.index("030C")]
    drawn = draw(az.GraphSet.from_networkx(circuit), "degrees", 1, range(3), Threads())
    for row in range(3):
        counted = nx.triadic_census(drawn.to_networkx()[row])
        assert triads.null_copies[row].tolist() == [counted[name] for name in names]


def test_directed_patterns_by_color_and_undirected_ones(circuit):
    circuit = circuit.copy()
    nx.set_node_attributes(circuit, {v: "ab"[v % 2] for v in circuit}, "kind")
    colored = az.motifs(circuit, 3, "colors", samples=5, color="kind")
    assert all(pattern.colors and pattern.arcs for pattern in colored.patterns)
    plain = az.motifs(circuit, 3, samples=5, color="kind", colors=False, directions=False)
    assert [pattern.name for pattern in plain.patterns] == ["3-path", "triangle"]
    assert not any(pattern.arcs for pattern in plain.patterns)
    assert plain.copies.sum() == colored.copies.sum()
    with pytest.raises(ValueError, match="Directed motifs have at most 5 vertices; got k=6"):
        az.motifs(circuit, 6, color="kind")


def test_directed_patterns_have_arrows(circuit, tmp_path):
    found = az.motifs(circuit, 3, samples=5, colors=False)
    found.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "the in- and out-degree of every vertex" in page
    drawings = page.split('<svg class="pattern"')[1:]
    assert [row.partition("</svg>")[0].count("<polygon") for row in drawings] == [len(p.arcs) for p in found.patterns]
    assert found.to_json()["patterns"][0]["arcs"] == found.patterns[0].arcs
    found.save(tmp_path / "figure.svg")


def test_text_table_and_json(found):
    text = str(found)
    assert text.startswith("200 vertices, 591 edges against 60 random graphs (null='degrees', seed 4)")
    assert len(text.splitlines()) == 11
    assert "319 or more" in text  # 2 / 320 * 8 patterns = .05
    assert "or more" not in replace(found, null_copies=np.repeat(found.null_copies, 6, axis=0)).text()
    assert "6 more patterns with a smaller abs(z)." in found.text(top=2)
    rows = found.to_json()["patterns"]
    assert rows[1]["copies"] == found.copies[1]
    frame = found.to_pandas()
    assert frame.loc["triangle", "z"] == found.z[1]


def test_page_and_figures(found, tmp_path):
    found.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count('<svg class="pattern"') == 8
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    assert "the degree of every vertex" in page
    for ending in ("png", "svg", "pdf"):
        found.save(tmp_path / f"figure.{ending}")
        assert (tmp_path / f"figure.{ending}").stat().st_size > 1000
    with pytest.raises(ValueError, match=r"expected a file that ends in .html"):
        found.save(tmp_path / "figure.doc")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"k": 2}, "Motifs have 3 to 7 vertices; got k=2."),
        ({"k": 8}, "k must be an integer from 1 to 7; got 8"),
        ({"null": "swap"}, "null must be one of degrees, stubs, edges, colors; got 'swap'."),
        ({"null": "colors"}, "this graph has no colors; use 'degrees'."),
        ({"null": "stubs"}, "too rarely to wait for; use null='degrees'"),
        ({"samples": 1}, "samples must be an integer of at least 2; got 1"),
        ({"seed": -1}, "seed must be an integer of at least 0; got -1"),
    ],
)
def test_errors_are_one_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        az.motifs(nx.complete_graph(30), **arguments)


def test_several_graphs_are_an_error():
    with pytest.raises(ValueError, match=r"one graph at a time; got 2 graphs."):
        az.motifs([RANDOM, RANDOM])
