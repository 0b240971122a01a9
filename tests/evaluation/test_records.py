"""Records and their lines: nothing is lost, nothing damaged passes, and the key names the run."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from evaluation.helpers import made, sweep
from hypothesis import given
from hypothesis import strategies as st

from anysize.evaluation.records import (
    ALPHABET,
    LINE_START,
    Curves,
    Outcome,
    Record,
    Scores,
    decode,
    encode,
    evenly_spread,
    from_line,
    key,
    key_of_line,
    may_be_of,
    now,
    round_significant,
    to_line,
    versions,
)

plain_values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
)


@pytest.fixture(scope="module")
def whole() -> Record:
    """A record with every field."""
    return sweep(("sbm-20",), ("gamma-gin",), configurations=1, runs=1)[0]


def test_a_line_holds_everything(whole):
    line = to_line(whole)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    back = from_line(line)
    assert back == whole
    assert back.alternatives["last"].predictions == whole.alternatives["last"].predictions
    assert back.curves.penalty == whole.curves.penalty
    fields = json.loads(line)
    assert fields["key"] == whole.key == key_of_line(line)
    assert fields["chosen"]["scores"]["test"] == whole.scores.test
    assert pickle.loads(pickle.dumps(whole)) == whole


@given(
    st.dictionaries(st.text(max_size=4), plain_values, max_size=4),
    st.floats(),
    st.integers(0, 2**31),
    st.text(min_size=1, max_size=8),
)
def test_any_record_survives_its_line(configuration, loss, seed, task):
    record = Record(
        task, f"seed:{seed}", "gcn-sum", "robust", configuration, seed, Outcome(Scores(test=0.5), Scores(loss), loss)
    )
    assert from_line(to_line(record)) == record
    assert (record.chosen.penalty is None) == (not math.isfinite(loss))
    assert may_be_of(to_line(record), {task, "other"})
    assert not may_be_of(to_line(record), {task + "x"})


def test_without_curves_everything_else_is_the_same(whole):
    assert from_line(to_line(whole), curves=False) == replace(whole, curves=None)
    odd = replace(whole, curves=None, alternatives={"curves": whole.chosen, "last": whole.chosen})
    assert from_line(to_line(odd), curves=False) == odd


def test_every_changed_byte_is_noticed(whole):
    line = to_line(made(hidden=32))
    rng = np.random.default_rng(0)
    for place in range(len(line) - 1):
        changed = bytearray(line)
        changed[place] ^= 1 << int(rng.integers(7))
        with pytest.raises(ValueError, match=r"checksum|does not begin"):
            from_line(bytes(changed))
    for length in range(0, len(line) - 1, 7):
        with pytest.raises(ValueError, match=r"checksum|does not begin"):
            key_of_line(line[:length])


def test_a_line_that_lies_about_its_key_or_lacks_a_field_is_refused():
    from anysize.evaluation.records import CHECK_START, _check

    def sealed(fields: dict[str, object]) -> bytes:
        body = json.dumps(fields, separators=(",", ":")).encode()
        return body[:-1] + CHECK_START + _check(body).encode() + b'"}\n'

    fields = json.loads(to_line(made(hidden=32)))
    del fields["check"]
    assert from_line(sealed(fields)) == made(hidden=32)
    with pytest.raises(ValueError, match="key does not match"):
        from_line(sealed(fields | {"seed": 1}))
    with pytest.raises(ValueError, match="missing"):
        from_line(sealed({name: value for name, value in fields.items() if name != "chosen"}))
    with pytest.raises(ValueError, match="chosen: "):
        from_line(sealed(fields | {"chosen": [1, 2]}))


def test_the_key_names_the_run_and_nothing_else():
    base = made(hidden=32, lr=0.01)
    assert base.key == key("sbm-20", "published", "gamma-gin", "paper", {"lr": 0.01, "hidden": 32.0}, np.int64(0))
    assert base.key == made(hidden=np.int64(32), lr=np.float64(0.01)).key
    assert replace(base, device="cuda", when=now(), epochs=7, seconds=3.0, chosen=Outcome(Scores())).key == base.key
    others = [
        made(hidden=32, lr=0.01, seed=1), made(hidden=32, lr=0.01, task="sbm-14-20"), made(hidden=32, lr=0.1),
        made(hidden=32, lr=0.01, data="seed:0"), made(hidden=32, lr=0.01, method="gamma-rpgin"), made(hidden=32),
        made(hidden=32, lr=0.01, recipe="robust"), made(hidden=True, lr=0.01), made(hidden="32", lr=0.01),
    ]  # fmt: skip
    assert len({record.key for record in [base, *others]}) == len(others) + 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"data": "seed:x"}, "'published', 'seed:7' or 'split:3'"),
        ({"data": "fresh"}, "'published', 'seed:7' or 'split:3'"),
        ({"task": ""}, "the task of a record must be"),
        ({"metric": "auc"}, "metric of a record must be one of accuracy, balanced_accuracy, mcc, roc_auc, macro_f1"),
        ({"configuration": {"lr": math.nan}}, "lr = nan"),
        ({"configuration": {"lr": [1]}}, r"lr = \[1\]"),
        ({"labels": "01", "chosen": Outcome(Scores(), predictions="010")}, "3 predictions and 2 labels"),
        ({"labels": "01", "alternatives": {"last": Outcome(Scores(), predictions="0")}}, "1 predictions"),
    ],
)
def test_what_is_no_record_is_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(made(), **change)


def test_a_record_names_its_metric():
    run = made(task="NCI1")
    other = replace(run, metric="balanced_accuracy")
    assert (run.metric, made(task="mine").metric) == ("mcc", "accuracy")
    for record in (run, other):
        assert json.loads(to_line(record))["metric"] == from_line(to_line(record)).metric == record.metric
    assert other.key == run.key


def test_metrics_and_ranks_survive_a_line_and_unknown_metrics_are_refused():
    outcome = Outcome(Scores(test=0.5), metrics={"accuracy": 0.5, "roc_auc": 0.75}, ranks=((0, 1, 1),))
    run = replace(made(), chosen=outcome)
    back = from_line(to_line(run)).chosen
    assert (back, back.ranks, back.metrics["roc_auc"]) == (outcome, ((0, 1, 1),), 0.75)
    assert "metrics" not in json.loads(to_line(made()))["chosen"]
    with pytest.raises(ValueError, match="a metric must be one of"):
        Outcome(Scores(), metrics={"auc": 0.5})


def test_scores_are_floats_or_not_known():
    assert Scores(np.float32(0.5), math.inf, None) == Scores(0.5, None, None)
    assert type(Scores(np.float64(0.5)).train) is float
    assert Scores(1, 2, 3).of("validation") == 2.0
    with pytest.raises(ValueError, match="got 'val'"):
        Scores().of("val")
    with pytest.raises(ValueError, match="got 'good'"):
        Scores(test="good")


def test_outcomes_by_rule():
    best, last = Outcome(Scores(test=0.6), epoch=3), Outcome(Scores(test=0.7), epoch=9)
    run = Record("t", "published", "m", "paper", {}, 0, best, epochs=9, alternatives={"last": last})
    assert [run.outcome(name) for name in ("chosen", "last", "oracle")] == [best, last, None]
    at_the_end = replace(run, chosen=last, alternatives={})
    assert at_the_end.outcome("last") == last
    assert [run.outcome(name) for name in ("first-best", "best-lowest-loss")] == [best, None]
    assert replace(run, configuration={"tie_break": "loss"}).outcome("first-best") is None
    assert replace(run, recipe="robust").outcome("first-best") is None
    assert at_the_end.outcome("lowest-loss") == last  # nothing was selected by validation
    selected = replace(at_the_end, tied_epochs=1)
    assert selected.outcome("lowest-loss") is None
    assert run.outcome("best-lowest-penalty") == best  # without a penalty
    kernel = replace(run, epochs=None, alternatives={})
    assert [kernel.outcome(name) for name in ("chosen", "last", "oracle")] == [best] * 3


@given(st.lists(st.integers(0, 61), max_size=80))
def test_classes_as_text(classes):
    assert decode(encode(classes)).tolist() == classes
    assert len(encode(classes)) == len(classes)


def test_classes_out_of_range():
    assert len(set(ALPHABET)) == 62
    with pytest.raises(ValueError, match="from 0 to 61; got 0 to 62"):
        encode([0, 62])
    with pytest.raises(ValueError, match="from 0 to 61; got -1"):
        encode([-1])
    for text in ("0-1", "0é"):
        with pytest.raises(ValueError, match="digits and letters"):
            decode(text)


@given(st.integers(0, 2000), st.integers(2, 60))
def test_thinned_places_are_few_ascending_and_keep_the_ends(length, points):
    kept = evenly_spread(length, points)
    assert len(kept) == min(length, points)
    assert kept == sorted(set(kept))
    if length:
        assert (kept[0], kept[-1]) == (0, length - 1)
        assert max(np.diff(kept), default=1) <= math.ceil((length - 1) / (points - 1)) + 1


def test_curves_name_their_metric_where_it_is_another(whole):
    other = replace(whole, curves=replace(whole.curves, metric="balanced_accuracy"))
    assert from_line(to_line(other)).curves.metric == "balanced_accuracy"
    assert "metric" not in json.loads(to_line(whole))["curves"]
    with pytest.raises(ValueError, match="metric of a curve"):
        replace(whole.curves, metric="auc")


def test_curves():
    assert [round_significant(value) for value in (1.23456, math.nan, math.inf)] == [1.235, None, None]
    curves = Curves((1, 2), (1.235, None), (0.5, 1.0))
    assert Curves.of_fields(json.loads(json.dumps(curves.fields()))) == curves
    with pytest.raises(ValueError, match="penalty has 1"):
        Curves((1, 2), penalty=(1.0,))
    with pytest.raises(ValueError, match="at least 2"):
        evenly_spread(9, 1)


def test_versions_name_what_a_result_depends_on():
    assert versions()["numpy"] == np.__version__
    assert {"python", "anysize"} <= versions().keys()
    assert now().endswith("+00:00")


def forged(record: Record, change) -> bytes:
    """The line of a record with changed fields and the checksum that belongs to them."""
    held = json.loads(to_line(record))
    del held["check"]
    change(held)
    body = json.dumps(held, separators=(",", ":")).encode()
    return body[:-1] + b',"check":"' + sha256(body).hexdigest()[:16].encode() + b'"}\n'


@pytest.mark.parametrize("curves", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        {"seed": math.inf}, {"seed": "0"}, {"seed": 1.5}, {"seed": True}, {"when": 20260101}, {"when": None},
        {"task": 3}, {"task": ""}, {"method": []}, {"configuration": []}, {"configuration": {"lr": [1]}},
        {"configuration": {"lr": math.nan}}, {"chosen": None}, {"chosen": []}, {"chosen": {"scores": {"test": "1"}}},
        {"chosen": {"scores": {"other": 1}}}, {"chosen": {"scores": {}, "epoch": 1.5}}, {"labels": 3}, {"labels": "é"},
        {"chosen": {"scores": {}, "predictions": ["0"]}}, {"epochs": "500"}, {"epochs": -1}, {"seconds": math.inf},
        {"versions": ["1"]}, {"device": 3}, {"alternatives": []}, {"alternatives": {"last": 1}}, {"metric": 3},
        {"key": 7}, {"chosen": {"scores": {}, "ranks": [[0.5]]}}, {"chosen": {"scores": {}, "metrics": {"f1": "1"}}},
    ],
)  # fmt: skip
def test_forged_lines_are_refused(change, curves):
    line = forged(made(labels="01", predictions="01"), lambda held: held.update(change))
    with pytest.raises(ValueError, match=r"."):
        from_line(line, curves)


@pytest.mark.parametrize("change", [{"epochs": "1"}, {"epochs": [1], "train_loss": [1, 2]}, {"epochs": [math.inf]}])
def test_forged_curves_are_refused(change):
    line = forged(made(), lambda held: held.update(curves=change))
    with pytest.raises(ValueError, match=r"."):
        from_line(line)
    assert from_line(line, curves=False) == made()


def test_nesting_without_end_is_refused():
    body = LINE_START + b"0" * 64 + b'","task":' + b"[" * 100_000 + b"}"
    line = body[:-1] + b',"check":"' + sha256(body).hexdigest()[:16].encode() + b'"}\n'
    for curves in (True, False):
        with pytest.raises(ValueError, match="nested"):
            from_line(line, curves)
