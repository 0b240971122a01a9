"""A method of somebody else, by docs/add-a-method.md: one class, one entry, and nothing of the package touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learned import labeled
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from anysize import METHODS, GraphClassifier, GraphSet, load_model
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import sweep
from anysize.methods.catalog import find_method, register, unregister
from anysize.methods.configuration import weight
from anysize.methods.gnns import GNNLearner, gnn_method
from anysize.methods.method import FAMILIES, Examples, Method, Run, TrainingData
from anysize.methods.own import FeatureLearner
from anysize.paper.cli.app import main_app as app
from anysize.paper.plan import make_plan, method_groups
from anysize.paper.run import run as cell
from anysize.paper.tables import build_table
from anysize.training.objectives import EnvironmentBatch, Objective, variance_of_risks


@dataclass(frozen=True)
class EdgeRule:
    """Thresholds on the share of edges, halfway between the class means, each mean taken over environments.

    ``lift`` moves the threshold, so that a test can see whether it arrives.
    """

    def fit(
        self, problem: TrainingData, runs: Any, recipe: Any, progress: Any = None, most: Any = None
    ) -> Iterator[Fitted]:
        assert problem.train.environments is not None, "the entry says environments=True"
        shares, y, places = (
            shares_of(problem.train.whole("edge-rule")),
            problem.train.labels(),
            problem.train.environments,
        )
        means = [
            np.mean([shares[(y == label) & (places == place)].mean() for place in np.unique(places[y == label])])
            for label in (0, 1)
        ]
        for run in runs:
            yield Fitted(np.array(means), len(np.unique(places)), (run,))

    def restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fitted:
        return Fitted(arrays["means"], about["environments"], tuple(Run(**run) for run in about["runs"]))


@dataclass(frozen=True, eq=False)
class Fitted:
    means: np.ndarray
    environments: int
    runs: tuple[Run, ...]
    trained: None = None

    def outputs(self, examples: Examples) -> np.ndarray:
        lift = self.runs[0].configuration["lift"]
        upper = self.represent(examples)[0, :, 0] > self.means.mean() + lift
        second = upper == (self.means[1] > self.means[0])
        return np.stack([1.0 - second, 1.0 * second], axis=-1)[None]

    def represent(self, examples: Examples) -> np.ndarray:
        return shares_of(examples.whole("edge-rule"))[None, :, None]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        about = {"environments": self.environments, "runs": [asdict(run) for run in self.runs]}
        return about, {"means": self.means}


def shares_of(graphs: GraphSet) -> np.ndarray:
    return graphs.edge_counts / np.maximum(graphs.sizes * (graphs.sizes - 1) / 2, 1)


METHOD = Method(
    name="edge-rule",
    title="Edge rule",
    learner=EdgeRule(),
    grid={family: {"lift": (0.0, 9.0)} for family in FAMILIES},
    defaults={"lift": 0.0},
    parameters={"lift": weight},
    seeded=False,
    environments=True,
)


@pytest.fixture
def registered() -> Iterator[None]:
    before = dict(METHODS)
    register(METHOD)
    yield
    unregister("edge-rule")
    assert dict(METHODS) == before


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return labeled(24, sizes=(7, 9, 11, 13))


# ---- the classifier ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("registered")
def test_it_is_a_classifier_with_a_hyper_parameter_and_environments(graphs: GraphSet, tmp_path: Path) -> None:
    model = GraphClassifier("edge-rule").fit(graphs)
    assert model.score(graphs) > 0.9
    assert model.ensemble_.parts[0].environments == 2  # type: ignore[attr-defined]  # up to the median size, and above
    assert GraphClassifier("edge-rule").fit(graphs, environments="size").ensemble_.parts[0].environments == 4  # type: ignore[attr-defined]
    mostly_large = graphs[np.flatnonzero((graphs.sizes == 13) | (np.arange(24) < 4))]  # the median is the largest size
    assert GraphClassifier("edge-rule").fit(mostly_large).ensemble_.parts[0].environments == 2  # type: ignore[attr-defined]
    given = model.fit(graphs, environments=np.arange(24) % 3)
    assert given.ensemble_.parts[0].environments == 3  # type: ignore[attr-defined]

    lifted = GraphClassifier("edge-rule", params={"lift": 9}).fit(graphs)
    assert len(set(lifted.predict(graphs))) == 1
    assert clone(lifted).params == {"lift": 9}
    lifted.save(tmp_path / "model.anysize")
    again = load_model(tmp_path / "model.anysize")
    assert again.get_params() == lifted.get_params()
    np.testing.assert_array_equal(again.predict(graphs), lifted.predict(graphs))

    search = GridSearchCV(GraphClassifier("edge-rule"), {"params": [{"lift": 9.0}, {"lift": 0.0}]}, cv=2)
    assert search.fit(graphs, graphs.y).best_params_ == {"params": {"lift": 0.0}}


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lift": -1}, "lift must be a number of at least 0; got -1"),
        ({"lft": 1}, "edge-rule has no parameter lft"),
        ({"hidden": 3}, "edge-rule has no parameter hidden"),
        ([("lift", 1)], "params must be a mapping"),
    ],
)
def test_wrong_params_are_named(params: Any, message: str, graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match=message):
        GraphClassifier("edge-rule", params=params).fit(graphs)


@pytest.mark.usefixtures("registered")
def test_one_environment_is_an_error_and_not_none(graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match="edge-rule compares environments, and all 24 training graphs are in one"):
        GraphClassifier("edge-rule").fit(graphs, environments=np.zeros(24))


def test_a_model_is_not_read_where_its_method_is_unknown(graphs: GraphSet, tmp_path: Path) -> None:
    register(METHOD)
    GraphClassifier("edge-rule").fit(graphs).save(tmp_path / "model.anysize")
    unregister("edge-rule")
    with pytest.raises(ValueError, match="'edge-rule', which is not registered"):
        load_model(tmp_path / "model.anysize")


# ---- sweeps and tables -------------------------------------------------------------------------------


@pytest.mark.usefixtures("registered")
def test_it_is_swept_and_has_a_row(tmp_path: Path) -> None:
    plan = make_plan(["sbm-14-20", "sbm-20"], ["edge-rule"], grid="paper", data="0")
    assert [run.configuration for piece in plan.batches for run in piece.runs] == [{"lift": 0.0}, {"lift": 9.0}]
    assert plan.left_out[0].startswith("edge-rule on sbm-20: NA. It compares training environments")
    swept = sweep(plan, tmp_path / "records")
    assert (swept.made, swept.left) == (2, 0)
    table = build_table(2, RecordStore(tmp_path / "records").read(), data="seed:0", tasks=["sbm-14-20"])
    (row,) = [row for row in table.rows if row.method == "edge-rule"]
    assert row.label == "Edge rule"
    assert row.cells[2].summary is not None
    assert [other.method for other in table.rows][-2:] == ["gamma-rpgin", "edge-rule"]  # after the paper's rows

    given = ["paper", "table", "2", "--records", str(tmp_path / "records"), "--data", "seed:0", "--tasks", "sbm-14-20"]
    assert "Edge rule" in CliRunner().invoke(app, given).output
    result = CliRunner().invoke(
        app, ["paper", "run", "sbm-14-20", "--method", "edge-rule", "--data", "0", "--set", "lift=9"]
    )
    assert "lift=9" in result.output


@pytest.mark.usefixtures("registered")
def test_it_is_listed_and_fitted_on_the_command_line(graphs: GraphSet, tmp_path: Path) -> None:
    listed = {one["method"]: one for one in json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)}
    assert listed["edge-rule"]["params"] == ["lift"]
    graphs.without_colors().with_y(np.arange(24) % 2).to_tu(tmp_path, "SMALL")
    given = ["fit", str(tmp_path / "SMALL"), "--method", "edge-rule", "--set", "lift=9", "--out", str(tmp_path / "m")]
    assert CliRunner().invoke(app, given).exit_code == 0
    assert load_model(tmp_path / "m").params == {"lift": 9}
    wrong = CliRunner().invoke(app, [*given[:5], "lft=9", *given[6:]])
    assert wrong.exit_code == 1
    assert "edge-rule has no parameter lft" in " ".join(wrong.output.split())


def test_other_processes_are_told_by_an_environment_variable(tmp_path: Path) -> None:
    """The command line, and the workers it starts, neither of which this process has registered anything in."""
    here = Path(__file__)
    environment = {**os.environ, "ANYSIZE_METHODS": f"{here.stem}:METHOD", "PYTHONPATH": os.pathsep.join(
        [str(here.parent), str(here.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    )}  # fmt: skip
    words = [
        "paper",
        "sweep",
        "sbm-14-20",
        "--methods",
        "edge-rule",
        "--data",
        "0",
        "--grid",
        "paper",
        "--workers",
        "2",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "anysize", *words, "--records", str(tmp_path), "--json"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(RecordStore(tmp_path).read()) == 2
    words = [
        "paper",
        "table",
        "2",
        "--records",
        str(tmp_path),
        "--data",
        "0",
        "--tasks",
        "sbm-14-20",
        "--format",
        "markdown",
    ]
    table = subprocess.run([sys.executable, "-m", "anysize", *words], env=environment, capture_output=True, text=True)
    assert "Edge rule" in table.stdout  # its title, not its name


def test_the_variable_is_read_once_and_may_name_a_module_that_looks_names_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looks_up.py").write_text(
        "from dataclasses import replace\n"
        "from anysize.methods.catalog import METHODS\n"
        "from anysize.paper.plan import method_groups\n"
        "METHOD = replace(METHODS['majority'], name=f'own-{len(METHODS)}', is_baseline=False)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ANYSIZE_METHODS", "looks_up:METHOD")
    name = f"own-{len(METHODS) - 1}"
    assert list(METHODS)[-1] == name
    assert name in method_groups()["all"]
    unregister(name)
    assert name not in METHODS


def test_a_script_may_be_the_file_that_the_variable_names(tmp_path: Path) -> None:
    """It is then imported a second time, with other classes of the same names."""
    (tmp_path / "script.py").write_text(
        "from dataclasses import dataclass, replace\n"
        "from anysize.methods.catalog import METHODS, register\n"
        "@dataclass(frozen=True)\n"
        "class Learner: pass\n"
        "METHOD = replace(METHODS['majority'], name='own', learner=Learner())\n"
        "register(METHOD)\n"
        "if __name__ == '__main__': print(list(METHODS)[-1], METHODS['own'] is METHOD)\n"
    )
    environment = {**os.environ, "ANYSIZE_METHODS": "script:METHOD"}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "own True\n", done.stderr


def test_a_variable_that_names_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("nowhere_at_all:METHOD", "json:METHOD", "json", ":METHOD"):
        monkeypatch.setenv("ANYSIZE_METHODS", wrong)
        with pytest.raises(ValueError, match=f"module:NAME.*'{wrong}'"):
            find_method("edge-rule")
    monkeypatch.setenv("ANYSIZE_METHODS", "json:dumps")
    with pytest.raises(ValueError, match="register takes a Method; got a function"):
        find_method("edge-rule")


# ---- the registry ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("registered")
def test_a_name_is_taken_once() -> None:
    register(METHOD)  # the same again is nothing new
    with pytest.raises(ValueError, match="already a method 'edge-rule'"):
        register(replace(METHOD, title="Another"))
    with pytest.raises(ValueError, match="already a method 'gin-sum'"):
        register(replace(METHOD, name="gin-sum"))
    assert METHODS["gin-sum"].title == "GIN"
    for name in ("", "a,b", "a b", "-a"):
        with pytest.raises(ValueError, match="the name of a method has letters"):
            register(replace(METHOD, name=name))
    for name in method_groups():
        with pytest.raises(ValueError, match=f"'{name}' is reserved"):
            register(replace(METHOD, name=name))
    for name in ("gin-sum", "nobody"):
        with pytest.raises(ValueError, match=f"'{name}' is not a registered method"):
            unregister(name)
    with pytest.raises(ValueError, match="by its name; got a Method"):
        GraphClassifier(METHOD).fit(labeled(4))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by its name; got a Method"):
        make_plan("sbm-20", [METHOD])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gin", "did you mean gin-sum, gin-mean, gin-max, gin-irm, gin-vrex, gin-plain,"),
        ("GCN-s", "did you mean gcn-sum?"),
        ("gamm-gin", "did you mean gamma-gin?"),
        ("", "the methods are pna-sum,"),
        ("svm", "the methods are pna-sum,"),
    ],
)
def test_names_that_begin_like_this_are_suggested_first(name: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"There is no method {name!r}: ") as caught:
        find_method(name)
    assert told in str(caught.value)


# ---- objectives --------------------------------------------------------------------------------------


def test_an_objective_of_ones_own_is_one_function_and_one_entry(graphs: GraphSet, tmp_path: Path) -> None:
    seen = []

    def penalty(environments: EnvironmentBatch) -> torch.Tensor:
        seen.append(len(environments.risks))
        return variance_of_risks(environments)

    learner = GNNLearner("gin", objective=Objective("strength", penalty))
    grid = {"sbm": {"strength": (1, 10)}}
    register(gnn_method(name="gin-own", title="GIN + own", learner=learner, grid=grid, defaults={"strength": 10}))
    try:
        own = GraphClassifier("gin-own", n_models=2, params={"strength": 100, "epochs": 8}).fit(graphs)
        assert set(seen) == {2}
        ours = GraphClassifier("gin-vrex", n_models=2, params={"beta": 100, "epochs": 8}).fit(graphs)
        np.testing.assert_array_equal(own.predict_proba(graphs), ours.predict_proba(graphs))
        assert not np.array_equal(ours.curves_["penalty"], np.zeros_like(ours.curves_["penalty"]))
        own.save(tmp_path / "model.anysize")
        np.testing.assert_array_equal(
            load_model(tmp_path / "model.anysize").predict_proba(graphs), own.predict_proba(graphs)
        )
        seen.clear()
        GraphClassifier("gin-own", params={"strength": 0, "epochs": 2}).fit(graphs)
        assert not seen  # without weight nothing is compared
        with pytest.raises(ValueError, match="gin-own has no parameter irm"):
            GraphClassifier("gin-own", params={"irm": 1.0}).fit(graphs)
    finally:
        unregister("gin-own")


def test_the_quick_grid_has_the_weight_of_the_configuration() -> None:
    plan = make_plan(["er-multi"], ["gin-irm", "gin-vrex"], grid="quick", seeds=1)
    found = [run.configuration for piece in plan.batches for run in piece.runs]
    assert [one["irm"] for one in found if "irm" in one] == [8, 8]
    assert [one["beta"] for one in found if "beta" in one] == [10, 10]


# ---- features ----------------------------------------------------------------------------------------


def test_features_of_ones_own_are_one_function_and_one_entry(graphs: GraphSet, tmp_path: Path) -> None:
    def powers(some: GraphSet, degree: int) -> np.ndarray:
        return shares_of(some)[:, None] ** np.arange(1, degree + 1)

    register(Method(name="powers", title="Powers", learner=FeatureLearner(powers), defaults={"degree": 2, "C": 1.0}))
    try:
        model = GraphClassifier("powers", params={"degree": 3, "C": 0.5}, class_weight=None).fit(graphs)
        plain = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=10_000)).fit(
            powers(graphs, 3), graphs.y
        )
        np.testing.assert_allclose(model.predict_proba(graphs), plain.predict_proba(powers(graphs, 3)), atol=1e-8)
        model.save(tmp_path / "model.anysize")
        again = load_model(tmp_path / "model.anysize")
        np.testing.assert_array_equal(again.predict_proba(graphs), model.predict_proba(graphs))
        summary = cell("sbm-20", "powers", data=0, seeds=1).summary("test")
        assert summary is not None
        assert summary.mean > 0.9
    finally:
        unregister("powers")


# ---- what is left out, and what goes wrong -------------------------------------------------------------


@dataclass(frozen=True)
class Recorder:
    """`EdgeRule`, which keeps the configurations that it was given; ``wrong`` says what it does wrong."""

    given: list[dict[str, Any]]
    wrong: str = ""

    def fit(self, problem: TrainingData, runs: Any, *others: Any) -> Iterator[Fitted]:
        self.given.extend(run.configuration for run in runs)
        for run in runs[1:] if self.wrong == "runs" else runs:
            yield (Flat if self.wrong == "shape" else Fitted)(np.array([0.2, 0.5]), 1, (run,))

    def restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fitted:
        raise NotImplementedError


class Flat(Fitted):
    def outputs(self, examples: Examples) -> np.ndarray:
        return super().outputs(examples)[0]


def recorded(wrong: str = "", **fields: Any) -> tuple[Method, list[dict[str, Any]]]:
    given: list[dict[str, Any]] = []
    own = {"name": "own", "title": "Own", "learner": Recorder(given, wrong), "environments": False, **fields}
    return replace(METHOD, **{"defaults": DEFAULTS, "parameters": {}, **own}), given


DEFAULTS = {"lift": 0.0, "epochs": 7}  # epochs is also a field of the recipe, which this method has not


@pytest.mark.parametrize(
    ("grid", "kept"),
    [
        ({}, [DEFAULTS]),
        ({"sbm": {"lift": (0.0, 1.0)}}, [{"lift": 0.0}, {"lift": 1.0}]),
        ({"tu": {"lift": (1.0,)}}, None),
    ],
)
def test_what_a_grid_leaves_out_has_its_default(grid: Any, kept: Any, tmp_path: Path) -> None:
    method, given = recorded(grid=grid, seeded=False)
    register(method)
    try:
        cell(task="sbm-20", method="own", data=0)
        assert given == [{**DEFAULTS, **point} for point in kept or [DEFAULTS]]
        if kept is not None:
            given.clear()
            sweep(make_plan("sbm-20", ["own"], grid="paper", data="0"), tmp_path)
            assert given == [{**DEFAULTS, **point} for point in kept]
            found = [record.configuration for record in RecordStore(tmp_path).read()]
            assert sorted(found, key=lambda one: one["lift"]) == kept
        given.clear()
        GraphClassifier("own", params={"epochs": 9}, check=False).fit(labeled(12))
        assert given == [{"lift": 0.0, "epochs": 9}]
    finally:
        unregister("own")


@pytest.mark.parametrize(("wrong", "told"), [("runs", "fitted model for every run"), ("shape", "graphs x classes")])
def test_a_fit_that_breaks_the_contract_is_told_what_is_expected(wrong: str, told: str) -> None:
    register(recorded(wrong)[0])
    try:
        with pytest.raises(ValueError, match=told):
            GraphClassifier("own").fit(labeled(12))
        with pytest.raises(ValueError, match=told):
            cell("sbm-20", "own", data=0, seeds=1)
    finally:
        unregister("own")
