"""Every method fits a ten-graph task, can be cloned, and predicts bit by bit the same after it was saved and loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learned import labeled
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from anysize import METHODS, GraphClassifier, GraphSet, count, load_model
from anysize.methods.gamma import gamma_recipe


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Gamma experts of auto, which has no parameters, are trained as shortly as the other methods here."""
    monkeypatch.setattr(
        "anysize.methods.auto.gamma_recipe", lambda *given, **named: replace(gamma_recipe(*given, **named), epochs=5)
    )


@dataclass(frozen=True)
class Case:
    """``counts``: takes a table of counts. ``ordered``: depends on the order of vertices. ``colors``: sees them."""

    counts: bool = False
    ordered: bool = False
    colors: bool = True
    params: tuple[tuple[str, Any], ...] = (("epochs", 5),)


NO_EPOCHS: tuple[tuple[str, Any], ...] = ()
CASES = {
    **{f"{encoder}-{kind}": Case() for encoder in ("pna", "gcn", "gin") for kind in ("sum", "mean", "max", "irm")},
    "rpgin": Case(ordered=True),
    "gin-vrex": Case(),
    "wl-kernel": Case(params=NO_EPOCHS),
    "wl-kernel-padded": Case(params=NO_EPOCHS),
    "gc-kernel": Case(counts=True, params=NO_EPOCHS),
    "gamma-1hot": Case(counts=True),
    "gamma-gin": Case(counts=True),
    "gamma-rpgin": Case(counts=True),
    "gamma-gin-free": Case(counts=True),
    "sizemix": Case(params=NO_EPOCHS),
    "auto": Case(params=NO_EPOCHS),
    **{f"gin-{peer}": Case(params=(("epochs", 2),)) for peer in ("plain", "ssr", "ciga", "gsat", "dann", "crop")},
    **{f"{features}-forest": Case(params=(("trees", 5),)) for features in ("patterns", "ecfp")},
    **{name: Case(colors=False, params=NO_EPOCHS) for name in ("random", "majority", "size-only", "topology-only")},
}
NAMES = sorted(CASES)


@pytest.fixture(scope="module")
def train() -> GraphSet:
    return labeled(10, sizes=(7, 8, 9, 10, 11))


@pytest.fixture(scope="module")
def new() -> GraphSet:
    return labeled(6, sizes=(5, 20, 13), seed=1)


def made(name: str, **others: Any) -> GraphClassifier:
    return GraphClassifier(name, k=3, n_models=2, params=dict(CASES[name].params), **others)


def test_every_method_has_a_contract() -> None:
    """Methods of numbers have theirs in tests/estimators/test_regressor.py."""
    assert set(CASES) == {name for name, method in METHODS.items() if "classes" in method.predicts}


def test_metadata_and_tables_need_no_learning_library() -> None:
    """On a bare install: numpy, scipy, numba, typer and rich only."""
    code = (
        "import sys\n"
        "for name in ('torch', 'torch_geometric', 'sklearn', 'pandas', 'networkx', 'matplotlib'):\n"
        "    sys.modules[name] = None\n"
        "from anysize.methods.catalog import METHODS, find_method\n"
        "from anysize.methods.configuration import resolve_configuration\n"
        "from anysize.paper.tables import build_table\n"
        "for method in METHODS.values():\n"
        "    for recipe in ('robust', 'paper'):\n"
        "        resolve_configuration(method, recipe, colored=True, params={})\n"
        "assert len(build_table(2, []).rows) == 18\n"
        "assert 'numba' not in sys.modules\n"
        "from anysize.cli.app import app\n"
        "app(['methods', '--json'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [entry["method"] for entry in json.loads(done.stdout)] == list(METHODS)


@pytest.mark.parametrize("name", NAMES)
def test_capabilities_are_those_of_the_contract(name: str) -> None:
    method = METHODS[name]
    assert CASES[name].counts == method.takes_tables
    assert CASES[name].colors == method.colors
    assert ("epochs" in dict(CASES[name].params)) == method.has_epochs


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("recipe", ["robust", "paper"])
def test_it_fits_ten_graphs_and_survives_clone_and_file(
    name: str, recipe: Any, train: GraphSet, new: GraphSet, tmp_path: Path
) -> None:
    model = made(name, recipe=recipe).fit(train)
    chances = model.predict_proba(new)
    assert chances.shape == (6, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    each = model.predict_proba(new, per_model=True)
    assert each.shape == (2, 6, 2)
    np.testing.assert_array_equal(each.mean(axis=0), chances)
    assert set(model.predict(new)) <= {"dense", "sparse"}
    representation = model.representation(new)
    assert len(representation) == 6
    assert np.isfinite(representation).all()

    again = clone(model).fit(train)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict_proba(new), chances)

    model.save(tmp_path / "model.anysize")
    loaded = load_model(tmp_path / "model.anysize")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(new), chances)
    np.testing.assert_array_equal(loaded.representation(new), representation)
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_vertices_does_not_matter(name: str, train: GraphSet, new: GraphSet) -> None:
    model = made(name).fit(train)
    rng = np.random.default_rng(0)
    turned = []
    for graph in new:
        order = rng.permutation(int(graph.sizes[0]))
        colors = np.empty(len(order), object)
        colors[order] = graph.color_names()
        turned.append(GraphSet.from_edges(order[graph.edges()], n_vertices=len(order), colors=colors.tolist()))
    close = np.allclose(model.predict_proba(GraphSet.concatenate(turned)), model.predict_proba(new), atol=1e-5)
    assert close != CASES[name].ordered


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_taken_by_methods_that_look_at_nothing_else(name: str, train: GraphSet, new: GraphSet) -> None:
    table = count(train, 3)
    if not CASES[name].counts:
        with pytest.raises(ValueError, match=f"{name} uses .* got a table of counts"):
            made(name).fit(table)
        return
    np.testing.assert_array_equal(
        made(name).fit(table).predict_proba(count(new, 3)), made(name).fit(train).predict_proba(new)
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    """Bit by bit, on as many vertices as torch and linear algebra share among threads."""
    rng = np.random.default_rng(0)
    sizes = [20] * 150 + [300] * 2
    chains = [[(v, int(rng.integers(max(0, v - 3), v))) for v in range(1, size)] for size in sizes]
    graphs = GraphSet.from_edges(chains, sizes, y=np.arange(len(sizes)) % 2)
    chances = []
    for threads in (1, 2, 4):
        torch.set_num_threads(threads)
        with threadpool_limits(threads, user_api="blas"):
            chances.append(made(name, check=False, device="cpu").fit(graphs).predict_proba(graphs))
    for others in chances[1:]:
        np.testing.assert_array_equal(others, chances[0])


@pytest.mark.filterwarnings("ignore::anysize.GraphWarning")  # that it is not to be trusted: tests/test_familiar.py
@pytest.mark.parametrize("name", NAMES)
def test_graphs_that_training_could_not_foresee(name: str, train: GraphSet) -> None:
    """Colors never seen, graphs without patterns, without vertices, and no graphs at all: numbers, no nan."""
    model = made(name).fit(train)
    strange = labeled(4, colors="AZ")
    foreign = labeled(4, colors="YZ")
    tiny = GraphSet.from_edges([[], [], [(0, 1)]], n_vertices=[0, 1, 2], colors=[[], ["A"], ["A", "Z"]])
    for graphs in (strange, foreign, tiny):
        assert np.isfinite(model.predict_proba(graphs)).all()
        assert np.isfinite(model.representation(graphs)).all()
    if name != "random":  # which draws by position
        alone = np.concatenate([model.predict_proba(tiny[graph]) for graph in range(len(tiny))])
        np.testing.assert_allclose(alone, model.predict_proba(tiny), atol=1e-6)  # a stream of graphs, one at a time
    for nothing in (train[:0], GraphSet.from_networkx([])):
        assert model.predict(nothing).shape == (0,)
        assert model.predict_proba(nothing).shape == (0, 2)
        assert model.representation(nothing).shape == (0, model.representation(train).shape[1])


@pytest.mark.parametrize("name", NAMES)
def test_colors_in_training_or_in_use_but_not_in_both(name: str, train: GraphSet) -> None:
    plain = train.without_colors()
    models = {"with": made(name).fit(train), "without": made(name).fit(plain)}
    for kind, graphs in (("with", plain), ("without", train)):
        if CASES[name].colors:
            with pytest.raises(ValueError, match=f"trained on graphs {kind} colors"):
                models[kind].predict(graphs)
        else:  # colors are nothing to it
            np.testing.assert_array_equal(models[kind].predict_proba(graphs), models["with"].predict_proba(train))
