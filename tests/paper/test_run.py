"""Runs: what stands in their records, against models that are trained and scored by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import pytest
import torch

from anysize import GraphSet
from anysize.cli.shared import parse_settings
from anysize.evaluation.evaluate import EvaluationOptions, _Group, evaluate_runs, task_configuration
from anysize.evaluation.records import decode, from_line, to_line
from anysize.evaluation.tasks import Parts, Task
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.svm import KernelClassifier
from anysize.kernels.wl import WLKernel
from anysize.methods.catalog import METHODS, find_method
from anysize.methods.configuration import check_params
from anysize.methods.method import RECIPES, Examples, Run, TrainingData, class_weights
from anysize.metrics import all_metrics, roc_auc, score
from anysize.paper.plan import configurations
from anysize.paper.run import run
from anysize.paper.selection import select
from anysize.paper.tasks import TASKS
from anysize.splits import stratified_folds
from anysize.training.settings import Recipe

SMALL = {"epochs": 4, "k": 3}  # a model in no time


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def records(task, method, configurations, seeds=2, recipe="paper", data=0, points=50):
    runs = [Run(dict(own), seed) for own in configurations for seed in range(seeds)]
    splits = (TASKS[task] if isinstance(task, str) else task).splits(data)
    return evaluated(splits, method, runs, recipe, curve_points=points, epoch_rules=True)


def evaluated(splits, method, runs, recipe="paper", progress=None, **options):
    chosen = find_method(method) if isinstance(method, str) else method
    return list(evaluate_runs(chosen, splits, runs, recipe, EvaluationOptions(**options), progress))


# ---- one run, by hand ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["gamma-gin", "gin-mean"])
def test_a_record_holds_what_training_by_hand_gives(method):
    own, chosen = {"hidden": 8, "layers": 1, "lr": 0.05}, find_method(method)
    extra = {"k": 3} if method == "gamma-gin" else {}
    (record,) = records("sbm-20", method, [own | extra | {"epochs": 12}], seeds=1)

    splits = TASKS["sbm-20"].splits(0)
    sets = {name: Examples(graphs, np.asarray(graphs.y)) for name, graphs in splits.sets.items()}
    problem = TrainingData(sets["train"], sets["validation"], 2, 3)
    recipe = replace(chosen.recipe("paper", "sbm"), epochs=12)
    (fitted,) = chosen.learner.fit(problem, [Run(own, 0)], recipe)
    for split, examples in sets.items():
        chances = fitted.outputs(examples)[0]
        right = chances.argmax(axis=1) == examples.labels()
        assert record.scores.of(split) == right.mean()
        loss = -np.log(chances[np.arange(len(examples)), examples.labels()]).mean()
        assert record.chosen.losses.of(split) == pytest.approx(loss, rel=5e-6)  # records keep six digits
    trained = fitted.trained
    assert record.chosen.epoch == int(trained.epoch[0]) + 1
    assert record.epochs == 12
    assert record.tied_epochs == int(trained.ties[0])
    assert decode(record.labels).tolist() == sets["test"].labels().tolist()
    assert (decode(record.chosen.predictions) == decode(record.labels)).mean() == record.scores.test
    assert record.configuration == own | extra | {"epochs": 12}
    assert record.curves.epochs == tuple(range(1, 13))
    best = record.curves.validation_score[record.chosen.epoch - 1]
    assert best == max(record.curves.validation_score) == pytest.approx(record.scores.validation)
    assert record.device == "cpu"
    assert record.versions["torch"] == torch.__version__
    assert record.seconds > 0
    chances, true = fitted.outputs(sets["test"])[0], sets["test"].labels()
    assert record.metric == "accuracy"
    assert record.chosen.metrics == pytest.approx(all_metrics(true, chances))
    assert record.chosen.metrics["accuracy"] == record.scores.test
    assert record.chosen.ranks == ()


@pytest.mark.parametrize("method", ["wl-kernel", "size-only"])
def test_ranks_are_kept_on_request_and_give_the_roc_auc(method):
    found = evaluated(TASKS["sbm-20"].splits(0), method, [Run({}, 0)], ranks=True)
    ((ranks,), truth) = found[0].chosen.ranks, decode(found[0].labels)
    expected = roc_auc(truth, np.stack([ranks, ranks], axis=1))
    assert found[0].chosen.metrics["roc_auc"] == pytest.approx(expected)


def test_a_kernel_ranks_by_margins_and_knows_classes_without_training_graphs():
    graphs = TASKS["sbm-20"].splits(0).train
    y = 2 * np.asarray(graphs.y, np.int64)  # classes 0 and 2; nobody is in class 1
    (fitted,) = find_method("wl-kernel").learner.fit(
        TrainingData(Examples(graphs, y), None, 3), [Run({}, 0)], find_method("wl-kernel").recipe("paper")
    )
    examples = Examples(graphs)
    votes, margins = fitted.outputs(examples)[0], fitted.margins(examples)[0]
    assert set(votes.argmax(axis=1)) <= {0, 2}
    assert (votes[:, 1] == 0).all()
    assert (margins.argmax(axis=1) == votes.argmax(axis=1)).all()
    assert len(np.unique(margins[:, 2])) > 2


def test_runs_of_the_wl_kernel_refine_each_set_once_and_predict_as_if_alone(monkeypatch):
    runs = [Run({"iterations": depth, "C": C}, 0) for depth in (2, 1, 3) for C in (0.1, 10.0)]
    refined = []
    original = WLKernel.refine
    monkeypatch.setattr(WLKernel, "refine", lambda kernel, graphs: refined.append(1) or original(kernel, graphs))
    together = evaluated(TASKS["sbm-20"].splits(0), "wl-kernel", runs)
    assert len(refined) == 3  # training, validation and test graphs, by the deepest kernel
    for one, record in zip(runs, together, strict=True):
        (alone,) = evaluated(TASKS["sbm-20"].splits(0), "wl-kernel", [one])
        assert alone.chosen == record.chosen


def test_penalties_are_kept_where_there_are_some():
    penalized, plain = records("sbm-20", "gamma-gin", [{"penalty": 0.5, **SMALL}, {"penalty": 0.0, **SMALL}], seeds=1)
    assert penalized.chosen.penalty > 0
    assert len(penalized.curves.penalty) == 4
    assert plain.chosen.penalty is None
    assert plain.curves.penalty == ()


def test_curves_of_the_robust_recipe_are_at_the_epochs_that_were_looked_at():
    (record,) = records("sbm-20", "gamma-gin", [{"k": 3, "epochs": 25, "penalty": 0.1}], seeds=1, recipe="robust")
    assert record.curves.epochs == (1, 11, 21, 25)
    assert None not in record.curves.validation_score
    assert record.chosen.epoch == record.epochs == 25  # the recipe keeps the last
    assert record.tied_epochs is None
    assert record.curves.metric == "balanced_accuracy"  # classes are weighted
    assert record.outcome("last") == record.chosen


def test_scores_at_the_last_epoch_are_kept_beside_those_of_the_chosen_one():
    point = {"hidden": 8, "layers": 1, "lr": 0.1}
    for method in ("gamma-1hot", "gcn-sum"):
        own = {name: value for name, value in point.items() if name != "layers" or method == "gcn-sum"}
        kept = records("sbm-20", method, [{**own, "epochs": 40}], seeds=3)
        ends = records("sbm-20", method, [{**own, "epochs": 40, "epoch": "last"}], seeds=3)
        assert any(record.chosen.epoch < 40 for record in kept)
        for record, end in zip(kept, ends, strict=True):
            assert record.outcome("last").epoch == end.chosen.epoch == 40
            assert record.outcome("last").scores == end.scores
    (cut,) = records("sbm-20", "gamma-1hot", [{"hidden": 8, "lr": 0.1, "epochs": 40, "patience": 3}], seeds=1)
    assert cut.outcome("last") is None or cut.chosen.epoch == cut.epochs


def test_every_rule_gives_what_training_under_it_gives():
    point = {"hidden": 8, "layers": 1, "lr": 0.1, "epochs": 40}
    kept = records("sbm-20", "gcn-sum", [point], seeds=3)
    by_loss = records("sbm-20", "gcn-sum", [{**point, "tie_break": "loss"}], seeds=3)
    for first, other in zip(kept, by_loss, strict=True):
        assert first.outcome("first-best").predictions == first.chosen.predictions
        assert first.outcome("first-best").epoch == first.chosen.epoch == other.outcome("first-best").epoch
        assert first.outcome("best-lowest-loss").scores == other.chosen.scores
        assert first.outcome("best-lowest-loss").epoch == other.chosen.epoch
        assert first.outcome("lowest-loss").losses == other.outcome("lowest-loss").losses
        losses = [one.losses.validation for one in first.alternatives.values()]
        assert first.outcome("lowest-loss").losses.validation == min(losses)
        assert first.outcome("lowest-loss").predictions
        assert "best-lowest-penalty" not in first.alternatives
        assert from_line(to_line(first)) == first
    assert any(len({one.epoch for one in record.alternatives.values()}) > 2 for record in kept)
    (penalized,) = records("sbm-20", "gamma-gin", [{"penalty": 0.5, **SMALL}], seeds=1)
    among_best = penalized.outcome("best-lowest-penalty")
    assert among_best.scores.validation == penalized.chosen.scores.validation
    assert among_best.penalty <= penalized.chosen.penalty


@pytest.mark.parametrize(
    ("method", "point"),
    [
        ("gamma-gin", {"penalty": 0.5, "batch_size": 32}),
        ("gamma-rpgin", {"penalty": 0.5}),
        ("rpgin", {"hidden": 8, "layers": 1}),
        ("gin-sum", {"hidden": 8, "layers": 1, "batch_size": 32}),
    ],
)
def test_seeds_trained_together_or_alone_draw_the_same(method, point):
    own = {**point, "epochs": 4} | ({"k": 3} if method.startswith("gamma") else {})
    together = records("sbm-20", method, [own], seeds=2)
    for record in together:
        (alone,) = evaluated(TASKS["sbm-20"].splits(0), method, [Run(own, record.seed)])
        assert alone.chosen.losses.train == pytest.approx(record.chosen.losses.train, rel=1e-4)
        assert alone.chosen.predictions == record.chosen.predictions
    assert together[0].chosen.losses.train != pytest.approx(together[1].chosen.losses.train, rel=1e-4)


def test_outcomes_of_equal_epochs_are_stored_once():
    line = to_line(made_record := records("sbm-20", "gcn-sum", [{"epochs": 1}], seeds=1)[0])
    assert line.count(b'"predictions"') == 1
    assert set(json.loads(line)["alternatives"].values()) == {"chosen"}
    assert from_line(line) == made_record


def test_curves_can_be_left_out_and_thinned():
    assert records("sbm-20", "gamma-1hot", [SMALL], seeds=1, points=0)[0].curves is None
    assert records("sbm-20", "gamma-1hot", [SMALL], seeds=1, points=3)[0].curves.epochs == (1, 3, 4)


def test_runs_come_back_recipe_by_recipe_whatever_their_shape():
    asked = [{**SMALL, "hidden": 8}, {**SMALL, "epochs": 2, "hidden": 16}, {**SMALL, "hidden": 16}]
    found = records("sbm-20", "gamma-1hot", asked, seeds=2)
    assert [(record.configuration["hidden"], record.epochs, record.seed) for record in found] == [
        (8, 4, 0), (8, 4, 1), (16, 4, 0), (16, 4, 1), (16, 2, 0), (16, 2, 1),
    ]  # fmt: skip
    alone = records("sbm-20", "gamma-1hot", [asked[1]], seeds=2)
    assert [record.scores for record in found[4:]] == [record.scores for record in alone]


def test_models_that_diverge_have_a_record_all_the_same():
    (record,) = records("sbm-20", "gin-sum", [{"hidden": 4, "layers": 2, "lr": 1e30, "epochs": 5}], seeds=1)
    assert 0 <= record.scores.test <= 1
    assert record.epochs == 5


def test_sampled_densities_and_wide_identities_are_set_like_any_field_of_the_recipe():
    wide, sampled = (parse_settings([text]) for text in ("id_width=10", "samples=60"))
    found = records("sbm-20", "gamma-rpgin", [SMALL | wide, SMALL | sampled, SMALL], seeds=1)
    assert [record.configuration.get("samples") for record in found] == [None, 60, None]
    losses = [record.curves.train_loss[-1] for record in found]
    assert len(set(losses)) == 3  # other densities, other initial weights


# ---- folds -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Few:
    """Sparse and dense random graphs, larger in test."""

    has_published = False
    has_fresh = True
    training_environments = 1

    def draw(self, data, seed, data_dir):
        def made(amount, size):
            graphs = [nx.gnp_random_graph(size, (0.25, 0.4)[i % 2], seed=data + size + i) for i in range(amount)]
            return GraphSet.from_networkx(graphs, y=[i % 2 for i in range(amount)])

        return Parts(made(30, 10), None, made(12, 16), ("sparse", "dense"))


FEW = Task("few", "Sparse or dense", "brain", Few(), k=(3, 4), folds=5)


@pytest.mark.parametrize(
    ("method", "configuration"),
    [
        ("gamma-gin", {"k": 3, "hidden": 8, "lr": 0.01, "epochs": 15}),
        ("gc-kernel", {"k": 4, "C": 100.0}),
        ("gin-sum", {"hidden": 8, "layers": 1, "lr": 0.01, "batch_size": 8, "epochs": 3}),
    ],
)
def test_folds_give_the_validation_score_and_all_training_graphs_the_model(method, configuration):
    (record,) = records(FEW, method, [configuration], seeds=1, data=5)
    chosen = find_method(method)
    model = {name: value for name, value in configuration.items() if name != "epochs"}
    recipe = chosen.recipe("paper", "brain")
    recipe = replace(recipe, epochs=configuration.get("epochs", recipe.epochs))

    def trained(graphs):
        (fitted,) = chosen.learner.fit(
            TrainingData(Examples(graphs, np.asarray(graphs.y)), None, 2, FEW.k), [Run(model, 0)], recipe
        )
        return lambda other: float(
            (fitted.outputs(Examples(other, np.asarray(other.y)))[0].argmax(axis=1) == other.y).mean()
        )

    graphs = FEW.splits(5).train
    fold_of = stratified_folds(np.asarray(graphs.y), FEW.folds, seed=0)
    folds = [trained(graphs[fold_of != fold])(graphs[fold_of == fold]) for fold in range(5)]
    assert len(folds) == 5
    assert record.scores.validation == pytest.approx(np.mean(folds))
    assert record.folds == pytest.approx(folds)
    summary = select([record]).summary("validation")  # of one run: the deviation over folds
    assert (summary.mean, summary.std) == pytest.approx((np.mean(folds), np.std(folds)))
    assert summary.count == 5
    assert select([record]).summary("test").count == 1
    assert from_line(to_line(record)) == record
    twice = select([record, replace(record, seed=1)]).summary("validation")
    assert (twice.mean, twice.std, twice.count) == (record.scores.validation, 0.0, 2)  # over seeds
    whole = FEW.splits(5)
    score = trained(whole.train)
    assert record.scores.train == score(whole.train)
    assert record.scores.test == score(whole.test)
    assert record.chosen.losses.validation is None
    if record.epochs:
        assert record.chosen.epoch == record.epochs  # nothing to choose another by


def test_progress_goes_up_to_one_over_all_folds():
    seen = []
    runs = [Run({"k": 3, "hidden": 4, "epochs": 4}, 0)]
    evaluated(FEW.splits(1), "gamma-1hot", runs, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) == 6 * 4
    assert seen[-1] == 1


# ---- kernels on tasks with class weights -------------------------------------------------------------


@dataclass(frozen=True)
class Rare:
    """Many sparse and few dense random graphs."""

    has_published = True
    has_fresh = True
    training_environments = 1

    def draw(self, data, seed, data_dir):
        def made(amount, size, first):
            graphs = [nx.gnp_random_graph(size, 0.42 if i % 5 == 0 else 0.3, seed=first + i) for i in range(amount)]
            return GraphSet.from_networkx(graphs, y=[int(i % 5 == 0) for i in range(amount)])

        return Parts(made(60, 10, 0), made(30, 10, 100), made(30, 16, 200), ("common", "rare"))


RARE = Task("rare", "Common or rare", "tu", Rare(), metric="mcc", k=3, class_weights="inverse")


@pytest.mark.parametrize("recipe", RECIPES)
def test_kernels_have_class_weights_by_the_robust_recipe_only_and_are_selected_by_accuracy(recipe):
    splits = RARE.splits("published")
    (record,) = evaluated(splits, "gc-kernel", [Run({"C": 10.0}, 0)], recipe)
    weights = dict(enumerate(class_weights(np.concatenate([splits.train.y, splits.validation.y]), 2, "inverse")))
    model = KernelClassifier(GraphletKernel(k=3), C=10.0, class_weight=weights if recipe == "robust" else None)
    other = KernelClassifier(GraphletKernel(k=3), C=10.0, class_weight=None if recipe == "robust" else weights)
    predicted = model.fit(splits.train).predict(splits.test)
    assert decode(record.chosen.predictions).tolist() == predicted.tolist()
    assert predicted.tolist() != other.fit(splits.train).predict(splits.test).tolist()
    held_out = model.predict(splits.validation)
    assert record.chosen.selected_by == score("accuracy", splits.validation.y, held_out)
    assert record.scores.validation == pytest.approx(score("mcc", splits.validation.y, held_out))
    assert from_line(to_line(record)) == record


def test_other_methods_are_weighted_and_selected_by_the_metric_of_the_task():
    (record,) = evaluated(RARE.splits("published"), "gin-sum", [Run({"hidden": 4, "layers": 1, "epochs": 2}, 0)])
    assert record.chosen.selected_by is None
    assert METHODS["gin-sum"].weighted_in_paper
    (kernel,) = evaluated(TASKS["sbm-20"].splits(0), "gc-kernel", [Run({"C": 1.0}, 0)])
    assert kernel.chosen.selected_by is None  # accuracy is the metric of the task


# ---- one cell --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "train", "validation", "test"), [("wl-kernel-padded", 1.0, 0.95, 0.57), ("gc-kernel", 1.0, 0.9, 0.43)]
)
def test_kernels_choose_as_the_paper_does_and_give_its_numbers(method, train, validation, test):
    result = run("sbm-20", method, recipe="paper", seeds=10)
    for split, value in {"train": train, "validation": validation, "test": test}.items():
        assert result.summary(split).mean == pytest.approx(value)
        assert result.published(split).mean == value
    fields = result.fields()
    assert fields["configurations"] == (21 if method == "wl-kernel-padded" else 7)
    assert fields["seeds"] == 10
    assert fields["std"] == {"train": 0, "validation": 0, "test": 0}
    assert len(fields["tests"]) == 1  # no chance in it


def test_a_cell_is_the_mean_of_its_records_and_the_same_with_more_cores():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    result = run("sbm-20", "gamma-gin", data=0, seeds=3, settings={**SMALL, "hidden": 8}, recipe="paper")
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
    own = records("sbm-20", "gamma-gin", [result.selection.configuration], seeds=3)
    assert [record.scores for record in own] == [record.scores for record in result.selection.records]
    tests = [record.scores.test for record in own]
    fields = result.fields()
    assert fields["test"] == pytest.approx(np.mean(tests))
    assert fields["std"]["test"] == pytest.approx(np.std(tests))
    assert fields["tests"] == tests
    assert fields["data"] == 0
    assert fields["published"] == {}
    usual = task_configuration(find_method("gamma-gin"), TASKS["sbm-20"], "paper")
    assert usual["penalty"] > 0
    assert fields["configuration"] == usual | {"hidden": 8, "k": 3, "epochs": 4}


def test_irm_does_not_apply_where_all_graphs_have_one_size():
    result = run("er-single", "gcn-irm")
    assert result.selection is None
    assert "It compares training environments" in result.na
    fields = result.fields()
    assert (fields["train"], fields["validation"], fields["test"]) == (None, None, None)
    assert fields["std"] == {"train": None, "validation": None, "test": None}


def test_published_numbers_stand_beside_their_own_metric_only():
    own, same, other = (run("sbm-20", "majority", metric=m) for m in (None, "accuracy", "mcc"))
    assert own.task is same.task
    assert own.summary("test") == same.summary("test")
    kernel = [run("sbm-20", "gc-kernel", settings={"C": 1}, metric=m).published("test") for m in (None, "mcc")]
    assert kernel[0] is not None
    assert kernel[1] is None
    assert other.summary("test").mean == 0.0


def test_every_method_has_a_quick_and_a_default_configuration_that_it_can_take():
    for task in TASKS.values():
        for method in METHODS.values():
            for grid in ("quick", "one"):
                for recipe in RECIPES:
                    found = configurations(method, task, grid, recipe)
                    applies = task.family in method.grid or grid == "one"
                    assert (1 if applies else 0) <= len(found) <= 28, (task.name, method.name, grid)
                    for own in found:
                        assert check_params(method, own) == own
            if task.family in method.grid:
                quick = configurations(method, task, "quick", "paper")
                paper = configurations(method, task, "paper", "paper")
                assert all(own in paper for own in quick)
                assert len(quick) <= len(paper)


# ---- what may be set -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "settings", "sentence"),
    [
        ("gamma-gin", {"hiden": 3}, "gamma-gin has no parameter hiden; .* averages, batch_size"),
        ("gamma-1hot", {"layers": 2}, "gamma-1hot has no parameter layers"),
        ("gin-sum", {"penalty": 0.1}, "gin-sum has no parameter penalty"),
        ("wl-kernel", {"hidden": 3}, "wl-kernel has no parameter hidden; .* C, iterations"),
        ("random", {"k": 3}, "random has no parameter k"),
        ("gamma-gin", {"hidden": 0}, "hidden must be a whole number of at least 1"),
        ("gamma-gin", {"k": 9}, "from 1 to 7"),
        ("gamma-gin", {"patience": "abc"}, "patience='abc'"),
        ("gamma-gin", {"over": "all"}, "over must be one of"),
        ("gamma-gin", {"epoch": "first"}, "epoch must be one of"),
        ("gc-kernel", {"C": 0}, "C must be a number above 0"),
        ("wl-kernel", {"iterations": 1.5}, "iterations must be a whole number"),
        ("gamma-gin", {"dropout": [1, 2]}, "."),
    ],
)
def test_settings_that_make_no_sense_are_refused(method, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        run("sbm-20", method, data=0, settings=settings)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"seeds": 0}, "seeds must be a whole number of at least 1"),
        ({"recipe": "mine"}, "recipe must be one of robust, paper"),
        ({"device": "tpu"}, "device must be cpu"),
        ({"data": -1}, "a whole number of at least 0"),
        ({"method": "gama-gin"}, "did you mean gamma-gin"),
        ({"task": "sbm20"}, "did you mean sbm-20"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, sentence):
    given = {"task": "sbm-20", "method": "gamma-1hot", "settings": SMALL} | arguments
    with pytest.raises(ValueError, match=sentence):
        run(given.pop("task"), given.pop("method"), **given)


# ---- memory ----------------------------------------------------------------------------------------


class Greedy:
    """Trains nothing; stacks of more than two models do not fit."""

    def __init__(self, room):
        self.room, self.sizes = room, []

    def fit(self, problem, runs, recipe, progress=None, most=None):
        most = most or len(runs)
        for start in range(0, len(runs), most):
            part = runs[start : start + most]
            self.sizes.append(len(part))
            if len(part) > self.room or (start and not self.room):
                raise torch.cuda.OutOfMemoryError("out of memory")
            yield type("Fitted", (), {"runs": tuple(part)})()


def test_stacks_that_do_not_fit_are_halved():
    splits = TASKS["sbm-20"].splits(0)
    runs = [Run({"hidden": 8}, seed) for seed in range(7)]

    def trained(learner):
        group = _Group(
            replace(find_method("gamma-gin"), learner=learner), splits, "paper", Recipe(), EvaluationOptions(), runs
        )
        return [run for fitted in group._fit(None, None) for run in fitted.runs]

    learner = Greedy(2)
    assert trained(learner) == runs
    assert learner.sizes == [7, 4, 2, 2, 2, 1]
    with pytest.raises(MemoryError, match="one model of gamma-gin does not fit"):
        trained(Greedy(0))


def test_stacks_of_gnns_fit_into_memory(monkeypatch):
    examples = TASKS["sbm-20"].splits(0).examples
    data = TrainingData(examples["train"], examples["validation"], 2, 5)
    gin = find_method("gin-sum")
    recipe = replace(gin.recipe("paper", "sbm"), epochs=1)

    def sizes(method, amount, most=None, **model):
        runs = [Run({"hidden": 8, "layers": 1, **model}, seed) for seed in range(amount)]
        return [len(fitted.runs) for fitted in find_method(method).learner.fit(data, runs, recipe, None, most)]

    assert sizes("gin-sum", 5, 3) == [3, 2]
    assert sizes("pna-sum", 2, 2, hidden=256, layers=3) == [1, 1]  # one fills the caches of a CPU
    monkeypatch.setattr("anysize.methods.gnns._stack_memory", lambda device: 1.0)
    assert sizes("gin-sum", 3, 3) == [1, 1, 1]
