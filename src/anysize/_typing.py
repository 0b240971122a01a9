"""Type aliases, shared by all packages."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PathLike = str | os.PathLike[str]
TargetKind = Literal["classes", "numbers"]  # what a method predicts
