"""A program for the tests of sweeps: sweeps that are killed at random moments, or that run two at a time.

Everything is imported once, and every sweep is a fork that shares nothing with the others but the folders.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

import torch

from anysize.evaluation.evaluate import EvaluationOptions
from anysize.evaluation.sweep import sweep
from anysize.paper.plan import make_plan


def begin(order: dict) -> int:
    """Start a sweep in a process of its own."""
    child = os.fork()
    if child == 0:
        options = EvaluationOptions("cpu", order["cache"], curve_points=50, epoch_rules=True)
        sweep(make_plan(**order["plan"]), order["records"], options=options)
        os._exit(0)
    return child


def done(child: int) -> bool:
    ended, status = os.waitpid(child, os.WNOHANG)
    assert not ended or status == 0, status
    return bool(ended)


def killed(order: dict, longest: float) -> int:
    """Kill -9 after at most so many seconds, until a sweep gets to its end; how often it was killed."""
    chance = random.Random(order["seed"])
    for kills in range(order["kills"]):
        child = begin(order)
        time.sleep(chance.uniform(0.0, longest))
        if done(child):
            return kills
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert os.waitpid(begin(order), 0)[1] == 0
    return order["kills"]


def together(order: dict) -> None:
    """Two sweeps of the same plan at the same time."""
    for child in (begin(order), begin(order)):
        assert os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    order = json.loads(sys.argv[1])
    began = time.monotonic()
    together(order | {"records": order["together"]})
    whole = time.monotonic() - began
    print(killed(order | {"records": order["killed"]}, longest=whole / 8))  # several kills, on any machine
