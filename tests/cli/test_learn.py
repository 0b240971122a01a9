"""anysize fit, predict, explain and methods: what they print and write, and how they fail."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from click.testing import Result
from learned import labeled
from sklearn.base import clone
from typer.testing import CliRunner

import anysize.counting.api
from anysize import METHODS, GraphClassifier, GraphSet, GraphWarning, evaluate, load_model, read_graphs, size_split
from anysize.cli import learn as commands
from anysize.evaluation.records import decode
from anysize.paper.cli.app import main_app as app
from anysize.paper.cli.sweep import run as run_command
from anysize.splits import hold_out_by_class


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def numbered(graphs: GraphSet) -> GraphSet:
    """TU files hold numbers."""
    return graphs.with_y((np.asarray(graphs.y) == "sparse").astype(int))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("cli")
    numbered(labeled(20)).to_tu(where, "TRAIN")
    numbered(labeled(8, sizes=(20,), seed=3)).to_tu(where, "NEW")
    numbered(labeled(8, sizes=(20,), seed=3)).with_y(None).to_tu(where, "BARE")
    numbered(labeled(4, colors="AZ")).to_tu(where, "STRANGE")
    return where


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    torch.set_num_threads(1)
    done = run(
        "fit",
        folder / "TRAIN",
        "--method",
        "gamma-gin",
        "--k",
        3,
        "--set",
        "epochs=60",
        "--out",
        folder / "model.anysize",
    )
    assert done.exit_code == 0, done.output
    return folder / "model.anysize"


def test_fit_tells_scores_and_what_was_learned(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.anysize"
    done = run(
        "fit", folder / "TRAIN", "--method", "gamma-gin", "--k", 3, "--n-models", 2, "--recipe", "paper", "--seed", 5,
        "--set", "epochs=80", "--set", "hidden=8", "--set", "jumping=true", "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "gamma-gin, paper recipe: 2 models trained on 18 graphs of 2 classes and validated on 2 in" in done.stdout
    known = [line for line in done.stdout.splitlines() if line.startswith("class ")]
    assert len(known) == 2
    assert all(" has " in line and ("more " in line or "less " in line) for line in known)
    assert f"Wrote {out}." in done.stderr.replace("\n", "")
    made = load_model(out)
    assert (made.n_models, made.random_state, made.verbose) == (2, 5, 0)
    assert made.params == {"epochs": 80, "hidden": 8, "jumping": True}
    assert made.ensemble_.seeds == (5, 6)
    graphs = read_graphs(folder / "TRAIN")
    held = hold_out_by_class(np.asarray(graphs.y), 0.1, seed=5)
    rest = np.setdiff1d(np.arange(20), held)
    names = ("majority", "size-only", "topology-only")
    scores = {name: GraphClassifier(name, k=made.k).fit(graphs[rest]) for name in names}

    def baselines(chosen: Any) -> str:
        return ", ".join(f"{name} {baseline.score(graphs[chosen]):.3f}" for name, baseline in scores.items())

    assert f"training accuracy  {made.score(graphs[rest]):.3f}  ({baselines(rest)})\n" in done.stdout
    assert f"validation accuracy  {made.score(graphs[held]):.3f}  ({baselines(held)})\n" in done.stdout
    assert "anysize patterns 3" in done.stdout
    assert "does not beat" not in done.stderr


def test_fit_counts_the_training_graphs_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def record(plan: Any, graphs: GraphSet, *rest: Any) -> Any:
        counted.append((len(graphs), graphs.colors is not None))
        return execute_plan(plan, graphs, *rest)

    execute_plan = anysize.counting.api.execute_plan
    monkeypatch.setattr(anysize.counting.api, "execute_plan", record)
    options = ("--method", "gamma-gin", "--k", 3, "--set", "epochs=3", "--out", tmp_path / "m")
    done = run("fit", folder / "TRAIN", *options)
    assert "class 0 has " in done.stdout
    assert counted == [(20, True)]
    assert run("fit", folder / "TRAIN", *options, "--cache", tmp_path / "cache").exit_code == 0
    assert (tmp_path / "cache").is_dir()


def test_fit_for_programs(folder: Path, tmp_path: Path) -> None:
    done = run("fit", folder / "TRAIN", "--method", "wl-kernel", "--out", tmp_path / "m", "--json", "--validation", 0.2)
    told = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert (told["method"], told["graphs"], told["validation_graphs"], told["classes"]) == ("wl-kernel", 16, 4, [0, 1])
    assert told["train"] == 1.0
    assert told["epochs"] == []
    made, graphs = load_model(tmp_path / "m"), read_graphs(folder / "TRAIN")
    assert made.score(graphs) == pytest.approx((16 * told["train"] + 4 * told["validation"]) / 20)


def test_held_out_scores_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    out, wanted = tmp_path / "m", (tmp_path / "checked", "--method", "wl-kernel", "--json")
    checked = json.loads(run("fit", folder / "TRAIN", "--out", *wanted).stdout)
    done = run("fit", folder / "TRAIN", "--out", out, "--method", "wl-kernel", "--no-check", "--json")
    assert done.exit_code == 0, done.output
    assert checked["held_out"]
    assert not json.loads(done.stdout)["held_out"]
    without, with_scores = (run("predict", file, folder / "NEW") for file in (out, tmp_path / "checked"))
    assert without.stdout == with_scores.stdout
    assert "expected on these graphs" in with_scores.stderr
    assert "expected on these graphs" not in without.stderr


def test_predictions_as_csv(folder: Path, model: Path, tmp_path: Path) -> None:
    done = run("predict", model, folder / "NEW", "--out", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    assert "accuracy on these 8 labeled graphs: 1.000" in done.stderr
    rows = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    new, made = read_graphs(folder / "NEW"), load_model(model)
    assert [int(row["class"]) for row in rows] == made.predict(new).tolist()
    assert [row["graph"] for row in rows] == [str(number) for number in range(8)]
    found = [[float(row[f"probability of {name}"]) for name in (0, 1)] for row in rows]
    np.testing.assert_array_equal(found, made.predict_proba(new))  # all digits are written
    shown = run("predict", model, folder / "BARE")
    assert shown.stdout == (tmp_path / "p.csv").read_text()
    assert "accuracy on these" not in shown.stderr
    (tmp_path / "classes").write_text("\n".join(row["class"] for row in rows))
    known = run("predict", model, folder / "BARE", "--labels", tmp_path / "classes")
    assert "accuracy on these 8 labeled graphs: 1.000" in known.stderr
    (tmp_path / "classes").write_text("\n".join("00000001"))
    uneven = run("predict", model, folder / "BARE", "--labels", tmp_path / "classes")
    assert "most common class: 0.875" in " ".join(uneven.stderr.split())
    (tmp_path / "classes").write_text("\n".join("0000000x"))
    strange = run("predict", model, folder / "BARE", "--labels", tmp_path / "classes")
    assert strange.stdout == shown.stdout
    assert "no score: these graphs have the class '0'" in strange.stderr.replace("\n", " ")


def test_predictions_as_json(folder: Path, model: Path, tmp_path: Path) -> None:
    told = json.loads(run("predict", model, folder / "BARE", "--json").stdout)
    chances = load_model(model).predict_proba(read_graphs(folder / "BARE"))
    assert told["classes"] == [0, 1]
    assert [graph["probabilities"]["1"] for graph in told["graphs"]] == chances[:, 1].tolist()
    assert {graph["class"] for graph in told["graphs"]} == {0, 1}
    assert run("predict", model, folder / "BARE", "--out", tmp_path / "p.json").exit_code == 0
    assert json.loads((tmp_path / "p.json").read_text()) == told


def test_what_python_warns_of_is_a_note(folder: Path, model: Path) -> None:
    done = run("predict", model, folder / "STRANGE")
    assert done.exit_code == 0
    told = done.stderr.replace("\n", " ")
    assert "Note: 4 of 4 graphs have colors that no training graph had (Z), " in told
    with pytest.warns(GraphWarning, match="4 of 4 graphs") as found:
        load_model(model).predict(read_graphs(folder / "STRANGE"))
    assert [str(one.message) in told for one in found] == [True]
    assert told.count("Note:") == 1
    assert "Note:" not in run("predict", model, folder / "NEW").stderr


def test_fit_doubts_a_model_that_sizes_beat(tmp_path: Path) -> None:
    graphs = labeled(40, sizes=(9, 9, 15, 15))
    graphs.with_y((graphs.sizes > 10).astype(int)).to_tu(tmp_path, "SIZES")
    options = (tmp_path / "SIZES", "--method", "gamma-gin", "--k", 3, "--set", "epochs=3", "--out", tmp_path / "m")
    done = run("fit", *options)
    assert done.exit_code == 0
    told = done.stderr.replace("\n", " ")
    assert "does not beat size-only on the training graphs (balanced accuracy 0." in told
    assert "try penalty 0 or method auto" in told
    held = json.loads(run("fit", *options, "--json").stdout)
    assert "does not beat size-only" in held["doubt"]
    assert held["baselines"]["size-only"] == {"train": 1.0, "validation": None}
    assert held["baselines"]["majority"]["train"] == 0.5


def test_colors_are_left_out_in_training_and_in_use(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "plain.anysize"
    given = ("fit", folder / "TRAIN", "--method", "gamma-gin", "--k", 3, "--set", "epochs=20", "--out", out)
    done = run(*given, "--no-colors")
    assert done.exit_code == 0, done.output
    plain = GraphClassifier("gamma-gin", k=[3], params={"epochs": 20}).fit(
        read_graphs(folder / "TRAIN").without_colors()
    )
    new = read_graphs(folder / "NEW").without_colors()
    np.testing.assert_array_equal(load_model(out).predict_proba(new), plain.predict_proba(new))
    shown = run("predict", out, folder / "NEW", "--no-colors")
    assert [row["class"] for row in csv.DictReader(io.StringIO(shown.stdout))] == plain.predict(new).astype(
        str
    ).tolist()
    why = run("explain", out, folder / "NEW", "--graph", 0, "--reference", folder / "TRAIN", "--no-colors")
    assert why.exit_code == 0, why.output
    assert "3-path  " in why.stdout
    refused = run("predict", out, folder / "NEW")
    assert refused.exit_code == 1
    assert "--no-colors" in refused.stderr.replace("\n", " ")


def test_labels_from_a_file(folder: Path, tmp_path: Path) -> None:
    graphs = read_graphs(folder / "TRAIN")
    assert graphs.y is not None
    words = ["sparse" if label else "dense" for label in graphs.y]
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n")
    done = run(
        "fit", folder / "TRAIN", "--labels", tmp_path / "words.txt", "--method", "gc-kernel", "--k", 3,
        "--out", tmp_path / "m",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert load_model(tmp_path / "m").classes_.tolist() == ["dense", "sparse"]


def test_labels_by_the_names_of_graphs(tmp_path: Path) -> None:
    (tmp_path / "matrices").mkdir()
    for number, graph in enumerate(labeled(6)):
        matrix = np.zeros((int(graph.sizes[0]),) * 2, int)
        matrix[tuple(graph.edges().T)] = 1
        lines = ["," + ",".join("c" * len(matrix))] + [f"r,{','.join(map(str, row))}" for row in matrix]
        (tmp_path / "matrices" / f"g{number}.csv").write_text("\n".join(lines) + "\n")
    file = tmp_path / "labels.csv"
    file.write_text("".join(f"g{number},{number % 2}\n" for number in reversed(range(6))))
    options = ("--labels", file, "--method", "majority", "--out", tmp_path / "m", "--json")
    done = run("fit", tmp_path / "matrices", *options)
    assert json.loads(done.stdout)["classes"] == [0, 1]
    file.write_text("g0,1\ng1,0\n")
    assert "has no line for graph 'g2'" in run("fit", tmp_path / "matrices", *options).stderr.replace("\n", " ")


def test_methods_are_listed(tmp_path: Path) -> None:
    told = json.loads(run("methods", "--json").stdout)
    assert [one["method"] for one in told] == list(METHODS)
    by_name = {one["method"]: one for one in told}
    assert by_name["gamma-gin"]["input"] == "patterns"
    assert "penalty" in by_name["gamma-gin"]["params"]
    assert by_name["rpgin"]["input"] == "whole graphs"
    assert by_name["topology-only"]["input"] == "patterns without colors"
    text = run("methods").stdout
    assert all(name in text for name in METHODS)


def test_methods_are_listed_without_torch_and_scikit_learn() -> None:
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in ('torch', 'sklearn', 'torch_geometric', 'safetensors'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from anysize.cli.app import app\n"
        "app(['methods', '--json'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [one["method"] for one in json.loads(done.stdout)] == list(METHODS)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--method", "gamma-gni"), "did you mean gamma-gin?"),
        (("--set", "epochs"), "--set takes name=value"),
        (("--set", "epochz=3"), "gamma-gin has no parameter epochz"),
        (("--set", "method=gin-sum"), "write --method gin-sum"),
        (("--set", "k=4"), "write --k 4"),
        (("--set", "n_models=2"), "write --n-models 2"),
        (("--set", "random_state=2"), "write --seed 2"),
        (("--set", "lr=quick"), "lr must be a number above 0; got 'quick'"),
        (("--k", "nine"), "--k takes a pattern size"),
        (("--k", "9"), "k must be an integer from 1 to 7"),
        (("--validation", "2"), "share of the training graphs"),
        (("--device", "tpu"), "device must be"),
        (("--set", "lr=1e12", "--set", "epochs=20"), "training failed"),
    ],
)
def test_fit_fails_in_one_sentence(options: tuple[str, ...], told: str, folder: Path, tmp_path: Path) -> None:
    done = run("fit", folder / "TRAIN", "--method", "gamma-gin", "--k", 3, *options, "--out", tmp_path / "m")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert told in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.output
    assert not (tmp_path / "m").exists()


def test_files_that_are_missing_or_wrong(folder: Path, model: Path, tmp_path: Path) -> None:
    for arguments, told in (
        (("fit", folder / "BARE", "--out", tmp_path / "m"), "--labels FILE"),
        (("fit", tmp_path / "none", "--out", tmp_path / "m"), "There is no file or folder"),
        (("fit", folder / "TRAIN", "--out", tmp_path / "no" / "m"), "which does not exist"),
        (("predict", tmp_path / "none", folder / "NEW"), "There is no file"),
        (("predict", folder / "TRAIN", folder / "NEW"), "TRAIN is a folder; expected a model file"),
        (("predict", model, folder / "NEW", "--out", tmp_path / "no" / "p.csv"), "which does not exist"),
        (("explain", folder / "TRAIN", folder / "NEW"), "expected a model file"),
        (("predict", folder / "NEW" / "NEW_A.txt", folder / "NEW"), "is not a model file"),
        (("predict", model, tmp_path / "none"), "There is no file or folder"),
    ):
        done = run(*arguments)
        assert (done.exit_code, done.stdout) == (1, "")
        assert told in done.stderr.replace("\n", " ")
    short = tmp_path / "short.txt"
    short.write_text("a\nb\n")
    done = run("fit", folder / "TRAIN", "--labels", short, "--out", tmp_path / "m")
    assert "has 2 labels for 20 graphs" in done.stderr.replace("\n", " ")
    plain = tmp_path / "plain.txt"
    plain.write_text("0 1\n1 2\n")
    assert "with colors and these have none" in run("predict", model, plain).stderr.replace("\n", " ")


def test_colors_of_graphml_are_found_by_the_name_given_in_training(tmp_path: Path) -> None:
    graphs = labeled(20)
    (tmp_path / "files").mkdir()
    for number, graph in enumerate(graphs.to_networkx(color="team")):
        nx.write_graphml(graph, tmp_path / "files" / f"{number:02}.graphml")
    trained = GraphClassifier("wl-kernel", color="team").fit(tmp_path / "files", graphs.y)
    same = GraphClassifier("wl-kernel").fit(graphs)
    assert trained.ensemble_.palette == same.ensemble_.palette
    np.testing.assert_array_equal(trained.predict_proba(tmp_path / "files"), same.predict_proba(graphs))
    np.testing.assert_array_equal(trained.predict(graphs), same.predict(graphs))  # a GraphSet has its colors already
    graphs.to_tu(tmp_path, "TU")  # and so has a TU set
    np.testing.assert_array_equal(trained.predict(tmp_path / "TU"), same.predict(graphs))
    model = tmp_path / "model.anysize"
    trained.save(model)
    shown = run("predict", model, tmp_path / "files", "--json")
    assert [one["class"] for one in json.loads(shown.stdout)["graphs"]] == same.predict(graphs).tolist()
    assert run("explain", model, tmp_path / "files", "--graph", "03").exit_code == 0


def test_usage_errors_exit_with_two(folder: Path) -> None:
    assert run("fit", folder / "TRAIN").exit_code == 2
    assert run("fit", folder / "TRAIN", "--out", "m", "--recipe", "secret").exit_code == 2
    for command in ("fit", "predict", "explain", "methods"):
        assert "Example" in run(command, "--help").stdout


def test_a_csv_of_awkward_class_names(tmp_path: Path, folder: Path) -> None:
    """Commas and quotes in class names survive."""
    words = ['a, "b"' if number % 2 else "c" for number in range(20)]
    (tmp_path / "words.txt").write_text("\n".join(words))
    out = tmp_path / "m"
    run("fit", folder / "TRAIN", "--labels", tmp_path / "words.txt", "--method", "majority", "--out", out)
    rows = list(csv.reader(io.StringIO(run("predict", out, folder / "NEW").stdout)))
    assert rows[0] == ["graph", "class", 'probability of a, "b"', "probability of c"]
    assert len(rows) == 9


# ---- explain ---------------------------------------------------------------------------------------


def test_graphs_are_explained(folder: Path, model: Path) -> None:
    new, made = read_graphs(folder / "NEW"), load_model(model)
    done = run("explain", model, folder / "NEW", "--top", 2)
    assert done.exit_code == 0, done.output
    for row in range(5):
        assert f"graph {row}: {made.explain(new[row]).text(2)}\n" in done.stdout
    assert "graph 5:" not in done.stdout
    assert "first 5 of 8 graphs" in done.stderr
    assert "anysize patterns 3" in done.stdout
    one = run("explain", model, folder / "NEW", "--graph", 6, "--reference", folder / "TRAIN")
    assert one.stdout.startswith(f"graph 6: {made.explain(new[6], read_graphs(folder / 'TRAIN')).text(10)}\n")
    assert one.stderr == ""


def test_explanations_for_programs(folder: Path, model: Path) -> None:
    told = json.loads(run("explain", model, folder / "NEW", "--format", "json", "--top", 1).stdout)
    new, made = read_graphs(folder / "NEW"), load_model(model)
    assert told["graphs"] == [{"graph": str(row), **made.explain(new[row]).to_json(1)} for row in range(8)]


def test_patterns_of_the_predicted_classes_come_first(tmp_path: Path, folder: Path) -> None:
    """What they contribute to these graphs, not weights: a large weight of a rare pattern contributes little."""
    out = tmp_path / "m"
    fitted = run("fit", folder / "TRAIN", "--method", "gamma-1hot", "--k", 3, "--set", "epochs=200", "--out", out)
    made, train = load_model(out), read_graphs(folder / "TRAIN")
    shown = run("explain", out, folder / "TRAIN").stdout.splitlines()
    assert [line.split(" has ")[0] for line in shown[:2]] == ["predicted class 0", "predicted class 1"]
    if (made.predict(train) == train.y).all():
        assert all(line.removeprefix("predicted ") in fitted.stdout for line in shown[:2])
    assert shown[2].startswith("graph 0: ")
    assert run("explain", out, folder / "TRAIN", "--graph", 0).stdout.startswith("graph 0: ")


@pytest.mark.parametrize("name", ["why.png", "why.svg", "why.pdf"])
def test_explanations_are_drawn(name: str, folder: Path, model: Path, tmp_path: Path) -> None:
    done = run("explain", model, folder / "NEW", "--graph", 0, "--out", tmp_path / name)
    assert done.exit_code == 0, done.output
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[-3:]]
    assert (tmp_path / name).read_bytes().startswith(start)


def test_vertices_of_a_kernel_model_are_explained_and_drawn(folder: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "m", tmp_path / "why.svg"
    run("fit", folder / "TRAIN", "--method", "wl-kernel", "--out", out)
    done = run("explain", out, folder / "NEW", "--graph", 3, "--top", 2, "--out", picture)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"graph 3: {load_model(out).explain(read_graphs(folder / 'NEW')[3]).text(2)}\n"
    assert "strongest vertices" in done.stdout
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_what_explain_refuses(folder: Path, model: Path, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel"
    run("fit", folder / "TRAIN", "--method", "majority", "--out", kernel)
    for arguments, told in (
        ((kernel, folder / "NEW"), "this is majority"),
        ((model, folder / "NEW", "--graph", 8), "a number from 0 to 7"),
        ((model, folder / "NEW", "--graph", "x"), "has no graph 'x'"),
        ((model, folder / "NEW", "--out", tmp_path / "why.png"), "one graph of the 8 in"),
        ((model, folder / "NEW", "--graph", 0, "--out", tmp_path / "why.txt"), "ends in .png, .svg, .pdf"),
        ((model, folder / "NEW", "--graph", 0, "--out", tmp_path / "no" / "why.png"), "which does not exist"),
        ((model, tmp_path / "none"), "There is no file or folder"),
    ):
        done = run("explain", *arguments)
        assert (done.exit_code, done.stdout) == (1, ""), told
        assert told in done.stderr.replace("\n", " ")


# ---- the same defaults everywhere ------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed_sizes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A TU folder of 60 graphs of 8 to 15 vertices with noisy labels."""
    where = tmp_path_factory.mktemp("same")
    graphs = numbered(labeled(60, sizes=tuple(range(8, 16)) * 2))
    noisy = np.where(np.random.default_rng(0).random(60) < 0.2, 1 - np.asarray(graphs.y), graphs.y)
    graphs.with_y(noisy).to_tu(where, "ALL")
    return where


@pytest.mark.parametrize("method", ["gamma-gin", "gc-kernel", "gin-irm"])
def test_python_fit_and_evaluate_train_the_same_model(method: str, mixed_sizes: Path) -> None:
    epochs = {} if method == "gc-kernel" else {"epochs": 15}
    splits = size_split(mixed_sizes / "ALL").splits()
    held_out = splits.validation
    assert held_out is not None
    (record,) = evaluate(METHODS[method], [splits], [0], epochs)
    predicted = decode(record.chosen.predictions)

    model = GraphClassifier(method, params=epochs or None).fit(splits.train, validation=held_out)
    assert model.predict(splits.test).tolist() == predicted.tolist()
    assert model.score(splits.test) == record.scores.test
    if epochs:
        right = model.predict_proba(splits.train)[np.arange(len(splits.train)), splits.train.y]
        assert record.chosen.losses.train == pytest.approx(-np.log(right).mean(), rel=1e-5)

    splits.train.to_tu(mixed_sizes, f"{method}-TRAIN")
    out = mixed_sizes / f"{method}.anysize"
    options = [part for name, value in epochs.items() for part in ("--set", f"{name}={value}")]
    # Without validation graphs the last epoch is kept.
    done = run("fit", mixed_sizes / f"{method}-TRAIN", "--method", method, *options, "--out", out, "--validation", 0)
    assert done.exit_code == 0, done.output
    same = clone(model).set_params(validation=0).fit(splits.train)
    np.testing.assert_array_equal(load_model(out).predict_proba(splits.test), same.predict_proba(splits.test))


def test_python_and_the_command_line_have_the_same_defaults() -> None:
    classifier = {name: one.default for name, one in signature(GraphClassifier).parameters.items()}
    renamed = {"random_state": "seed"}
    for command in (commands.fit, run_command):
        options = {name: one.default for name, one in signature(command).parameters.items()}
        for name, value in classifier.items():
            option = renamed.get(name, name)
            if option in options and option != "metric":
                assert str(options[option]) == str(value), f"{command.__name__} --{option}"
    assert signature(commands.fit).parameters["metric"].default == classifier["metric"]
