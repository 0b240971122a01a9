"""Processes in which packages cannot be imported, as on an install without the extras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BLOCK = """
import json, sys
from importlib.machinery import PathFinder

blocked = json.loads({blocked!r})
find = PathFinder.find_spec


class WithoutExtras(PathFinder):
    @classmethod
    def find_spec(cls, name, *rest):
        return None if name.partition(".")[0] in blocked else find(name, *rest)


sys.meta_path[:] = [WithoutExtras if finder is PathFinder else finder for finder in sys.meta_path]
"""


def run_without(packages: Sequence[str], code: str, folder: Path, given: str = "") -> str:
    """What the code prints in a new process in which these packages cannot be imported; ``given`` is its input."""
    script = BLOCK.format(blocked=json.dumps([*packages])) + code
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, input=given, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
