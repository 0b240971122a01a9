"""Explanations: contributions against a slow oracle, reference graphs, text and figure."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learned import labeled
from matplotlib.collections import LineCollection

from anysize import Counts, GraphClassifier, GraphSet, GraphWarning, Pattern, count, load_model
from anysize.estimators.ensemble import Ensemble
from anysize.estimators.explain import Explanation, check_has_explanations, class_patterns, explain
from anysize.estimators.novelty import NoveltyDetector
from anysize.methods.auto import FittedDensityRegression
from anysize.methods.catalog import find_method
from anysize.methods.method import Examples, Run, TrainingData


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return labeled(20)


@pytest.fixture(scope="module", params=["gamma-gin", "gamma-rpgin", "gamma-1hot", "gamma-gin plain", "gamma-gin top"])
def fitted(request: pytest.FixtureRequest, graphs: GraphSet) -> tuple[GraphClassifier, GraphSet]:
    torch.set_num_threads(1)
    method, _, kind = request.param.partition(" ")
    own = graphs.without_colors() if kind == "plain" else graphs
    # Three classes, so that the runner-up is not simply the other one.
    y = np.array(["dense", "sparse", "third"])[np.arange(20) % 3]
    params: dict[str, Any] = {"top": 8, "over": "connected"} if kind == "top" else {}
    model = GraphClassifier(method, k=3, n_models=2, params={"epochs": 30, **params}).fit(own, y)
    model.trained_on = np.setdiff1d(np.arange(20), model.held_out_)  # type: ignore[attr-defined]
    return model, own


def logits(model: GraphClassifier, table: Counts) -> np.ndarray[Any, Any]:
    """Mean over the models, by the forward pass."""
    parts: Any = model.ensemble_.parts
    return np.concatenate([part.stack.logits(table) for part in parts]).astype(np.float64).mean(axis=0)


def name_by_role(model: GraphClassifier, pattern: Pattern) -> str:
    """The pattern with colors joined that the model does not tell apart."""
    part: Any = model.ensemble_.parts[0]
    palette = part.stack.vocabulary.palette
    if palette is None:
        return pattern.name
    alike = {name: [other for other in palette if palette[other] == palette[name]] for name in palette}
    joined = ["|".join(alike[str(name)]) for name in pattern.colors or ()]
    return Pattern.of(pattern.edges, joined).name  # type: ignore[arg-type]


def test_contributions_are_what_the_logits_lose_without_a_pattern(fitted: tuple[GraphClassifier, GraphSet]) -> None:
    model, graphs = fitted
    table = count(graphs[4], 3)
    told = model.explain(table)
    chances = model.predict_proba(table)[0]
    order = np.argsort(-chances)
    assert (told.predicted, told.runner_up) == tuple(model.classes_[order[:2]])
    assert (told.probability, told.runner_up_probability) == tuple(chances[order[:2]])
    whole = logits(model, table)[0]
    gap = whole[order[0]] - whole[order[1]]
    assert told.margin == pytest.approx(gap, abs=1e-9)
    if "top" in model.params:  # taking a pattern away would change the shares of all others
        return
    by_name = dict(zip((pattern.name for pattern in told.patterns), told.contributions, strict=True))
    seen = np.array([name_by_role(model, pattern) for pattern in table.patterns])
    full = table.matrix.toarray()
    present = set(seen[full[0] > 0])
    assert present <= set(by_name)
    assert (told.densities[[name in present for name in by_name]] > 0).all()
    for name in present:
        at = list(by_name).index(name)
        less = logits(model, replace(table, matrix=type(table.matrix)(full * (seen != name))))[0]
        lost = gap - (less[order[0]] - less[order[1]])
        share = 1 - told.reference[at] / told.densities[at]  # of what the pattern adds above the mean graph
        assert told.contributions[at] == pytest.approx(share * lost, abs=2e-5 * (1 + abs(share)))
    all_logits = logits(model, count(graphs[model.trained_on], 3))  # type: ignore[attr-defined]
    assert told.base == pytest.approx((all_logits[:, order[0]] - all_logits[:, order[1]]).mean(), abs=1e-4)


def test_patterns_are_sorted_and_densities_are_those_of_the_table(fitted: tuple[GraphClassifier, GraphSet]) -> None:
    model, graphs = fitted
    told = model.explain(graphs[7])
    assert (np.diff(told.contributions) <= 0).all()
    table = count(graphs[7], 3)
    if "top" not in model.params:
        expected: dict[str, float] = {}
        for pattern, density in zip(table.patterns, table.densities().toarray()[0], strict=True):
            name = name_by_role(model, pattern)
            expected[name] = expected.get(name, 0.0) + float(density)
        known = zip(told.patterns, told.densities, strict=True)
        found = {pattern.name: density for pattern, density in known if density}
        assert found == pytest.approx({name: density for name, density in expected.items() if density})
    else:
        assert told.densities.sum() == pytest.approx(1)
        assert told.reference.sum() == pytest.approx(1)
        assert len(told.patterns) <= 8


def test_reference_graphs_move_the_base_and_keep_the_sum(fitted: tuple[GraphClassifier, GraphSet]) -> None:
    model, graphs = fitted
    plain, compared = model.explain(graphs[5]), model.explain(graphs[5], reference=graphs)
    assert compared.margin == pytest.approx(plain.margin, abs=1e-9)
    first, second = (list(model.classes_).index(name) for name in (plain.predicted, plain.runner_up))
    all_logits = logits(model, count(graphs, 3))
    assert compared.base == pytest.approx((all_logits[:, first] - all_logits[:, second]).mean(), abs=1e-4)
    training = model.explain(graphs[5], reference=graphs[model.trained_on])  # type: ignore[attr-defined]
    np.testing.assert_allclose(training.contributions, plain.contributions, atol=1e-9)
    assert (plain.base_name, compared.base_name) == ("mean training graph", "mean reference graph")
    same = model.explain(graphs[5], reference=graphs[5])
    np.testing.assert_allclose(same.contributions, 0, atol=1e-9)


def test_class_patterns_sum_to_the_difference_from_the_mean(
    fitted: tuple[GraphClassifier, GraphSet],
) -> None:
    model, graphs = fitted
    y = np.searchsorted(model.classes_, np.array(["dense", "sparse", "third"])[np.arange(20) % 3])
    table = count(graphs, 3)
    found = class_patterns(model.ensemble_, Examples(table=table), y, top=10_000)
    all_logits = logits(model, table)
    assert len(found) == 3
    for label, own in enumerate(found):
        terms = [one.contribution for one in own]
        assert terms == sorted(terms, reverse=True)
        assert all(term > 0 for term in terms)
        # Negative terms are left out, so that the sum is an upper bound.
        assert sum(terms) >= (all_logits[y == label, label].mean() - all_logits[:, label].mean()) - 1e-4
    few = class_patterns(model.ensemble_, Examples(table=table), y, top=1)
    assert [[v.pattern for v in own] for own in few] == [[v.pattern for v in own[:1]] for own in found]


def test_it_reads_well(graphs: GraphSet) -> None:
    model = GraphClassifier("gamma-1hot", k=3, params={"epochs": 60}).fit(graphs)
    told = model.explain(graphs[0])
    lines = str(told).splitlines()
    assert lines[0].startswith("dense (probability ")
    assert "against sparse (" in lines[0]
    assert len(lines) == 1 + 8 + 1 + 1
    assert lines[-1].split("  ")[1] == "mean training graph"
    assert sum(float(line.split()[-1]) for line in lines[-2:]) + sum(
        told.contributions[place] for place in told.strongest()
    ) == pytest.approx(told.margin, abs=2e-3)
    assert ", mean 0" in lines[1]
    with pytest.raises(FrozenInstanceError):
        told.base = 0.0  # type: ignore[misc]


@pytest.mark.parametrize("reference", [False, True])
def test_the_figure_has_a_bar_and_a_drawing_for_every_pattern_shown(
    reference: bool, graphs: GraphSet, tmp_path: Path
) -> None:
    model = GraphClassifier("gamma-1hot", k=3, params={"epochs": 10}).fit(graphs)
    told = model.explain(graphs[0], graphs if reference else None)
    figure = told.figure(top=5)
    bars, *drawings = figure.axes
    assert [bar.get_width() for bar in bars.patches] == [told.contributions[place] for place in told.strongest(5)]
    assert [label.get_text() for label in bars.get_yticklabels()] == [
        told.patterns[place].plain_name for place in told.strongest(5)
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "B"]
    told.save(tmp_path / "why.svg", top=5)
    assert "<svg" in (tmp_path / "why.svg").read_text(encoding="utf-8")
    assert len(drawings) == 5
    drawn = [sum(len(c.get_segments()) for c in a.collections if isinstance(c, LineCollection)) for a in drawings]
    assert drawn == [len(told.patterns[place].edges) for place in told.strongest(5)]
    figure.canvas.draw()


def test_colors_of_one_role_are_one_color(graphs: GraphSet) -> None:
    """Colors of these graphs are drawn at random: nothing tells them apart."""
    model = GraphClassifier("gamma-gin", k=3, params={"epochs": 10}).fit(graphs)
    names = {pattern.name for pattern in model.explain(graphs[0]).patterns}
    assert names <= {"3-path[A|B,A|B,A|B]", "triangle[A|B,A|B,A|B]"}
    with pytest.warns(GraphWarning, match=r"1 of 1 graph has colors that no training graph had \(Y, Z\), 100 %"):
        strange = model.explain(labeled(1, colors="YZ"))
    known = [pattern.name for pattern, density in zip(strange.patterns, strange.densities, strict=True) if density]
    assert set(known) <= {"3-path[?,?,?]", "triangle[?,?,?]"}


def test_a_graph_without_patterns_lacks_those_of_the_mean_graph(graphs: GraphSet) -> None:
    model = GraphClassifier("gamma-gin", k=3, params={"epochs": 10}).fit(graphs)
    with pytest.warns(GraphWarning, match="1 of 1 graph has no connected subgraph on 3 vertices"):
        told = model.explain(GraphSet.from_edges([(0, 1)], colors=["A", "B"]))
    assert (told.densities == 0).all()
    assert (told.reference > 0).all()
    told.figure().canvas.draw()


def test_auto_explains_the_class_that_it_predicts(graphs: GraphSet) -> None:
    """Another of its models may overrule the Gamma model; the terms are then those of the other one."""
    model = GraphClassifier("auto", k=3).fit(graphs)
    part: Any = model.ensemble_.parts[0]
    assert part.decision.family == "gamma"
    told = model.explain(graphs[0])
    densities = part.experts["densities"]
    opposite = replace(densities, coefficients=-densities.coefficients, intercepts=-densities.intercepts)
    overruled = replace(part, experts=part.experts | {"densities": opposite}, weights=np.array([0.0, 1.0]))
    model.ensemble_ = replace(model.ensemble_, parts=(overruled,))
    again = model.explain(graphs[0])
    assert again.predicted == model.predict(graphs[0])[0] == told.runner_up
    assert again.margin == pytest.approx(np.log(again.probability / again.runner_up_probability))


def test_what_cannot_be_explained(graphs: GraphSet) -> None:
    for method in ("gin-sum", "gc-kernel", "majority"):
        model = GraphClassifier(method, params={"epochs": 2} if method == "gin-sum" else None).fit(graphs)
        with pytest.raises(ValueError, match=f"with a linear head; this is {method}$"):
            model.explain(None)  # before graphs are read or counted
    model = GraphClassifier("gamma-gin", k=3, params={"epochs": 2}).fit(graphs)
    with pytest.raises(ValueError, match="one graph; got 2"):
        model.explain(graphs[:2])
    with pytest.raises(ValueError, match="reference has no graphs"):
        model.explain(graphs[0], graphs[:0])


def test_a_head_with_a_hidden_layer_is_no_sum_over_patterns(graphs: GraphSet) -> None:
    method = find_method("gamma-gin")
    table, y = count(graphs, 3), (np.asarray(graphs.y) == "dense").astype(np.int64)
    recipe = replace(method.recipe("robust"), head_hidden=8, epochs=2)
    problem = TrainingData(Examples(table=table, y=y), None, 2, k=3)
    parts = tuple(method.learner.fit(problem, [Run({"hidden": 8, "lr": 0.01}, 0)], recipe))
    ensemble = Ensemble(method, 3, graphs.palette, None, None, parts, NoveltyDetector(None, None))
    with pytest.raises(ValueError, match="this is gamma-gin with a hidden layer in the head"):
        check_has_explanations(ensemble)
    with pytest.raises(ValueError, match="this is gamma-gin with a hidden layer in the head"):
        explain(ensemble, np.array([0, 1]), Examples(table=table[:1]))


def test_explanations_can_be_made_by_hand() -> None:
    told = Explanation("a", "b", 0.9, 0.1, (), np.zeros(0), np.zeros(0), np.zeros(0), 2.0, "mean training graph")
    assert told.margin == 2.0
    assert told.strongest() == ()


def test_text_and_json_say_the_same(graphs: GraphSet) -> None:
    model = GraphClassifier("gamma-1hot", k=3, params={"epochs": 30}).fit(graphs)
    told = model.explain(graphs[0], graphs)
    assert str(told) == told.text(8)
    assert len(told.text(3).splitlines()) == 1 + 3 + 1 + 1
    held = json.loads(json.dumps(told.to_json(3)))
    assert [one["pattern"] for one in held["patterns"]] == [told.patterns[place].name for place in told.strongest(3)]
    assert held["base"] + held["others"] + sum(one["contribution"] for one in held["patterns"]) == pytest.approx(
        held["margin"]
    )
    assert [one["reference"] for one in held["patterns"]] == [told.reference[at] for at in told.strongest(3)]


@pytest.mark.parametrize("colors", [False, True])
def test_auto_is_explained_with_all_its_models(colors: bool, graphs: GraphSet, tmp_path: Path) -> None:
    given = graphs if colors else graphs.without_colors()
    model = GraphClassifier("auto", k=3, n_models=2).fit(given)
    told = model.explain(given[0])
    first, second = (list(model.classes_).index(name) for name in (told.predicted, told.runner_up))

    def margins(some: GraphSet) -> np.ndarray[Any, Any]:
        total, examples = np.zeros(len(some)), Examples(graphs=some)
        for part in model.ensemble_.parts:
            for weight, expert in zip(part.weights, part.experts.values(), strict=True):  # type: ignore[attr-defined]
                if isinstance(expert, FittedDensityRegression):
                    chances = expert.outputs(examples)[0]
                    values = np.log(chances[:, first] / chances[:, second])
                else:
                    logit = expert.stack.logits(count(some, 3))[0].astype(np.float64)
                    values = logit[:, first] - logit[:, second]
                total += weight * values / len(model.ensemble_.parts)
        return total

    assert told.margin == pytest.approx(margins(given[:1])[0], abs=1e-5)
    compared = model.explain(given[0], reference=given)
    assert compared.base == pytest.approx(margins(given).mean(), abs=1e-5)
    model.save(tmp_path / "m.anysize")
    assert str(load_model(tmp_path / "m.anysize").explain(given[0])) == str(told)


def test_several_models_that_are_explained_by_vertices_say_which_one_it_is(graphs: GraphSet) -> None:
    model = GraphClassifier("wl-kernel", n_models=2).fit(graphs)
    assert "margin of the first of 2 models" in str(model.explain(graphs[0]))
    assert "of the first of" not in str(GraphClassifier("wl-kernel").fit(graphs).explain(graphs[0]))
