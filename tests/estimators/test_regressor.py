"""GraphRegressor: what it takes and refuses, held-out scores, model files."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as save_tensors
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score

from anysize import GraphClassifier, GraphRegressor, GraphSet, GraphWarning, ModelWarning, count, load_model
from anysize.methods.catalog import METHODS as ALL_METHODS
from anysize.splits import smaller_and_larger

METHODS = tuple(method.name for method in ALL_METHODS.values() if "numbers" in method.predicts)
QUICK = {"patterns-forest": {"trees": 5}, "ecfp-forest": {"trees": 5}}


def colored(sizes: tuple[int, ...] = tuple(range(8, 20)), copies: int = 4, seed: int = 0) -> GraphSet:
    """Random graphs with colors; the target is the number of vertices of color A."""
    rng = np.random.default_rng(seed)
    made = []
    for n in np.repeat(sizes, copies).tolist():
        graph = nx.gnp_random_graph(n, 3 / n, seed=int(rng.integers(1 << 30)))
        nx.set_node_attributes(graph, dict(enumerate(rng.choice(["A", "B"], n).tolist())), "atom")
        made.append(graph)
    return GraphSet.from_networkx(made, color="atom", y=[sum(c == "A" for _, c in g.nodes("atom")) for g in made])


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return colored()


@pytest.mark.parametrize("method", METHODS)
def test_a_model_file_keeps_all(method: str, graphs: GraphSet, tmp_path: Path) -> None:
    model = GraphRegressor(method, color="atom", k=3, params=QUICK.get(method)).fit(graphs)
    model.save(tmp_path / "model.anysize")
    restored = load_model(tmp_path / "model.anysize")
    large = colored((40,), 3, 1)
    assert isinstance(restored, GraphRegressor)
    np.testing.assert_array_equal(restored.predict(large), model.predict(large))
    assert restored.verdict_ == model.verdict_
    assert restored.get_params() == model.get_params()
    restored.save(tmp_path / "again.anysize")
    assert (tmp_path / "again.anysize").read_bytes() == (tmp_path / "model.anysize").read_bytes()


def test_damaged_files_are_refused(graphs: GraphSet, tmp_path: Path) -> None:
    file = tmp_path / "model.anysize"
    GraphRegressor(check=False).fit(graphs).save(file)
    with zipfile.ZipFile(file) as archive:
        about, tensors = json.loads(archive.read("model.json")), tensors_of(archive.read("model.safetensors"))

    def write(about: dict, tensors: dict) -> Path:
        other = tmp_path / "other.anysize"
        with zipfile.ZipFile(other, "w") as archive:
            archive.writestr("model.json", json.dumps(about))
            archive.writestr("model.safetensors", save_tensors(tensors))
        return other

    load_model(write(about, tensors))
    weights = tensors["0.head0.weights"]
    for changed in (
        {"0.head0.weights": weights[:-1]},
        {"0.head0.weights": np.full_like(weights, np.inf)},
        {"0.head0.columns": tensors["0.head0.columns"] + 10**6},
        {"0.betas": tensors["0.betas"][:-1]},
        {"0.betas": np.full_like(tensors["0.betas"], 1e9)},
    ):
        with pytest.raises(ValueError, match=r"is a damaged model file"):
            load_model(write(about, tensors | changed))
    for held in (about | {"method": "gin-sum"}, about | {"palette": ["B", "A"]}, about | {"more": 1}):
        with pytest.raises(ValueError, match=r"is a damaged model file"):
            load_model(write(held, tensors))


def test_held_out_scores_are_those_of_models_fitted_to_the_other_graphs(graphs: GraphSet) -> None:
    verdict = GraphRegressor("wl-kernel").fit(graphs).verdict_
    larger, same = verdict.held_out
    small, large = smaller_and_larger(graphs.sizes)
    y = np.asarray(graphs.y, float)
    for name, method in {"model": "wl-kernel", "mean": "mean", "size-only": "size-only"}.items():
        other = GraphRegressor(method, check=False).fit(graphs[small])
        errors = (other.predict(graphs[large]) - y[large]) ** 2
        assert larger.scores[name] == pytest.approx(np.sqrt(errors.mean()))
    assert (larger.protocol, larger.graphs) == ("larger graphs", len(large))
    assert (same.protocol, same.graphs) == ("same sizes", len(graphs))
    assert verdict.doubt is None
    assert set(verdict.train) == {"model", "mean", "size-only"}


def test_noise_and_a_constant_raise_doubts(graphs: GraphSet) -> None:
    noise = np.random.default_rng(0).normal(size=len(graphs))
    with pytest.warns(ModelWarning, match="not clearly below that of the (mean|size)"):
        GraphRegressor().fit(graphs, noise)
    with pytest.warns(ModelWarning, match="all 48 training graphs have the target 3"):
        model = GraphRegressor().fit(graphs, np.full(len(graphs), 3.0))
    assert model.predict(graphs) == pytest.approx(np.full(len(graphs), 3.0))


def test_bad_targets_and_methods_get_one_sentence(graphs: GraphSet) -> None:
    y = np.asarray(graphs.y, float)
    with pytest.raises(ValueError, match=r"graph 0 has nan: leave out the 1 of 48"):
        GraphRegressor().fit(graphs, np.where(np.arange(48) == 0, np.nan, y))
    with pytest.raises(ValueError, match=r"expected a number for every graph; got 'high': GraphClassifier"):
        GraphRegressor().fit(graphs, ["high"] * 48)
    with pytest.raises(ValueError, match=r"expected one label for each of the 48 graphs"):
        GraphRegressor().fit(graphs, y[:3])
    with pytest.raises(ValueError, match=r"expected training graphs; got none"):
        GraphRegressor().fit(graphs[:0], [])
    with pytest.raises(ValueError, match=r"majority does not predict numbers; methods that do are"):
        GraphRegressor("majority").fit(graphs)
    with pytest.raises(ValueError, match=r"sizemix uses whole graphs and got a table of counts"):
        GraphRegressor().fit(count(graphs, 3), y)
    with pytest.raises(ValueError, match=r"rescale them"):
        GraphRegressor(check=False).fit(graphs, y * 1e307)
    with pytest.raises(ValueError, match=r"GraphRegressor \(anysize fit --target COLUMN\) predicts numbers"):
        GraphClassifier("sizemix").fit(graphs, y + 0.5)


def test_score_is_r2_and_scikit_learn_can_use_it(graphs: GraphSet) -> None:
    model = GraphRegressor(check=False).fit(graphs)
    y = np.asarray(graphs.y, float)
    assert model.score(graphs) == pytest.approx(r2_score(y, model.predict(graphs)))
    weights = np.arange(1.0, 49.0)
    assert model.score(graphs, y, weights) == pytest.approx(r2_score(y, model.predict(graphs), sample_weight=weights))
    model = clone(model).set_params(method="wl-kernel")
    folds = list(KFold(3, shuffle=True, random_state=0).split(y))
    expected = [model.fit(graphs[rows], y[rows]).score(graphs[others], y[others]) for rows, others in folds]
    np.testing.assert_allclose(cross_val_score(model, graphs, y, cv=folds), expected)


def test_new_graphs_unlike_the_training_graphs_are_named(graphs: GraphSet) -> None:
    model = GraphRegressor(check=False).fit(graphs)
    other = nx.path_graph(9)
    nx.set_node_attributes(other, "Z", "atom")
    with pytest.warns(GraphWarning, match="colors that no training graph had"):
        model.predict(GraphSet.from_networkx([other], color="atom"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(GraphSet.from_networkx([other], color="atom"))  # said already
    with pytest.raises(ValueError, match="trained on graphs with colors and these have none"):
        model.predict([nx.path_graph(9)])
    assert model.predict(graphs[:0]).shape == (0,)


def test_a_doubt_suggests_a_method_that_predicts_numbers() -> None:
    rng = np.random.default_rng(0)
    graphs = GraphSet.from_edges([[(v, v + 1) for v in range(n)] for n in rng.integers(3, 20, 60).tolist()])
    for method in ("wl-kernel", "patterns-forest", "sizemix"):
        model = GraphRegressor(method, params=QUICK.get(method))
        with pytest.warns(ModelWarning):
            model.fit(graphs, rng.normal(size=60))
        assert model.verdict_.doubt
        assert {value for name, value in model.verdict_.suggestions if name == "method"} <= set(METHODS)
    with pytest.warns(ModelWarning, match="nothing to learn from them$"):
        GraphRegressor().fit(graphs, [2.5] * 60)


@pytest.mark.parametrize("has_features", [False, True])
def test_an_explanation_adds_up_to_the_number(has_features: bool, tmp_path: Path) -> None:
    graphs = colored()
    if has_features:
        graphs = graphs.with_features(np.random.default_rng(0).normal(size=(int(graphs.sizes.sum()), 2)))
    y = np.asarray(graphs.y, np.float64)
    model = GraphRegressor(check=False).fit(graphs, y)
    model.save(tmp_path / "model.anysize")
    for reference in (None, graphs):
        why = model.explain(graphs[7], reference)
        number = model.predict(graphs[7])[0]
        assert why.predicted == pytest.approx(number)
        assert why.base + why.contributions.sum() == pytest.approx(number)
        assert why.probability is None
        restored = load_model(tmp_path / "model.anysize")
        assert isinstance(restored, GraphRegressor)
        assert restored.explain(graphs[7], reference).text() == why.text()
    assert model.explain(graphs[7], graphs[7]).contributions.tolist() == []
    if not has_features:  # the target is the number of vertices of color A
        is_a = np.array(graphs.color_names(7)) == "A"
        vertices = model.explain(graphs[7]).vertices
        assert vertices[is_a].mean() > vertices[~is_a].mean() + 0.5


def test_explanations_of_numbers_need_sizemix() -> None:
    graphs = colored()
    model = GraphRegressor("wl-kernel", check=False).fit(graphs, graphs.y)
    with pytest.raises(ValueError, match="explanations of numbers need sizemix; this is wl-kernel"):
        model.explain(graphs[0])
    several = GraphRegressor(check=False).fit(graphs, np.stack([graphs.y, -graphs.y], axis=1))
    with pytest.raises(AttributeError, match=r"use models_\['0'\].explain"):
        several.explain(graphs[0])
    assert several.models_["1"].explain(graphs[0]).predicted < 0
