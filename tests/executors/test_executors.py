"""Executors: the same results in the same order from threads, processes and a Ray cluster, also if workers die."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import workers as work

import anysize as az
from anysize.executors import LocalExecutor, cluster
from anysize.executors.executor import ACTIVE, ITEMS_PER_WORKER, Executor, Failure


@pytest.fixture(scope="module", params=["threads", "processes", "ray"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "ray":
        yield request.getfixturevalue("two_workers")
        return
    with LocalExecutor(2, processes=request.param == "processes") as made:
        yield made


def test_results_come_in_order(executor: Executor) -> None:
    reported: list[int] = []
    squares = executor.map(work.slow_square, iter(range(20)), progress=reported.append)
    assert list(squares) == [n * n for n in range(20)]
    assert reported == list(range(1, 21))
    assert sorted(executor.completed(work.slow_square, range(5))) == [(n, n * n) for n in range(5)]
    assert list(executor.map(work.slow_square, [])) == []


def test_items_are_taken_as_they_are_needed(executor: Executor) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = executor.completed(work.slow_square, items())
    for _ in range(3):
        next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 3 + ITEMS_PER_WORKER * executor.workers + 1


def test_errors_are_raised_or_returned(executor: Executor) -> None:
    names = [f"item-{n}" for n in range(6)]
    with pytest.raises(az.PartialResultError, match=r"^item-3: three is not taken$") as caught:
        list(executor.map(work.refuse_three, range(6), names=names))
    assert isinstance(caught.value.__cause__, ValueError)
    results = list(executor.map(work.refuse_three, range(6), names=names, errors="return"))
    assert results[:3] + results[4:] == [0, 1, 2, 4, 5]
    failure = results[3]
    assert isinstance(failure, Failure)
    assert (failure.name, failure.died, str(failure.error)) == ("item-3", False, "three is not taken")
    with pytest.raises(ValueError, match="errors must be 'raise' or 'return'; got 'skip'"):
        list(executor.map(work.refuse_three, range(6), errors="skip"))


def test_an_item_whose_worker_died_is_tried_again(executor: Executor, tmp_path: Path) -> None:
    if isinstance(executor, LocalExecutor) and not executor.processes:
        pytest.skip("threads do not die alone")
    marker = tmp_path / "died"
    items = [(number, str(marker)) for number in range(12)]
    assert list(executor.map(work.die_once, items)) == list(range(12))
    assert marker.exists()


def test_only_the_item_that_kills_its_workers_fails(executor: Executor) -> None:
    if isinstance(executor, LocalExecutor) and not executor.processes:
        pytest.skip("threads do not die alone")
    results = list(executor.map(work.die_always, range(12), retries=1, errors="return"))
    assert [r for r in results if not isinstance(r, Failure)] == [n for n in range(12) if n != 5]
    assert isinstance(results[5], Failure)
    assert results[5].died
    with pytest.raises(az.PartialResultError, match=r"^5: .*died"):
        list(executor.map(work.die_always, [5], names=["5"], retries=0))


def test_cluster_sets_the_active_executor() -> None:
    assert ACTIVE.get() is None
    with LocalExecutor(1) as one, cluster(one) as inside:
        assert ACTIVE.get() is inside is one
        with LocalExecutor(2) as two, cluster(two):
            assert ACTIVE.get() is two
        assert ACTIVE.get() is one
    assert ACTIVE.get() is None


NOWHERE = """
from anysize.executors import RayExecutor
for address in ("127.0.0.1:1", "somewhere", "local:0"):
    try:
        RayExecutor(address)
    except (ConnectionError, ValueError) as error:
        print(type(error).__name__, error)
"""


def test_unreachable_clusters() -> None:
    pytest.importorskip("ray")
    reported = subprocess.run(
        [sys.executable, "-W", "error", "-c", NOWHERE], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert reported[0].startswith("ConnectionError")
    assert "'127.0.0.1:1'" in reported[0]
    assert "got 'somewhere'" in reported[1]
    assert reported[2].startswith("ValueError workers must be")


class RayWithoutCluster:
    @staticmethod
    def is_initialized() -> bool:
        return False

    @staticmethod
    def init(address: str, **_: object) -> None:
        raise ConnectionError(f"nothing for {address}")


def test_no_running_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", RayWithoutCluster)
    with pytest.raises(ConnectionError, match=r"ray start --head.*\(nothing for auto\)"), cluster("auto"):
        pass


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'anysize\[cluster\]'"), cluster("auto"):
        pass


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_wrong_numbers_of_workers_are_refused(workers: int) -> None:
    with pytest.raises(ValueError, match="workers must be"):
        LocalExecutor(workers)


def test_all_cores_by_default() -> None:
    with LocalExecutor() as executor:
        assert executor.workers == len(os.sched_getaffinity(0))
