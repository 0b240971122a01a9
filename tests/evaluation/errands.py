"""Work for the tests of worker processes. A worker imports this file, so it imports little."""

from __future__ import annotations

import os
import time

from anysize.evaluation.workers import Processes


def die(item, progress=None):
    os._exit(9)


def halve(item, progress=None):
    """Half of an even number, after a while."""
    progress(0.5)
    time.sleep(1.2)
    if item % 2:
        raise ValueError(f"{item} is odd")
    return item // 2


def stay(item, progress=None):
    """Write the number of this process into a file, and run on until it is ended."""
    with open(item, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(600)


if __name__ == "__main__":
    import sys

    from evaluation.errands import stay as errand

    list(Processes(2).completed(errand, sys.argv[1:], 2, lambda shares: None))
