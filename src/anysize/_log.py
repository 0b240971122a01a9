"""The logger of the package, named ``anysize``: silent until a program sets up logging.

Models that are fitted or loaded are logged at INFO, the engines chosen for counting at DEBUG. What a user must know is
a warning, see `anysize._errors`; ``logging.captureWarnings(True)`` sends warnings to the log as well.
"""

from __future__ import annotations

import logging

log = logging.getLogger("anysize")
log.addHandler(logging.NullHandler())
