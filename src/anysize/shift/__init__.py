"""Compare new graphs with training graphs: sizes, colors, densities beyond size, and the method that follows."""

from anysize.shift.advice import Advice
from anysize.shift.diagnosis import Diagnosis, diagnose
from anysize.shift.findings import Findings

__all__ = ["Advice", "Diagnosis", "Findings", "diagnose"]
