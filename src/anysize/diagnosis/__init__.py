"""Is my shift one that this package can handle? Compare new graphs with training graphs before predicting."""

from anysize.diagnosis.advice import Advice
from anysize.diagnosis.findings import Findings
from anysize.diagnosis.whole import Diagnosis, diagnose

__all__ = ["Advice", "Diagnosis", "Findings", "diagnose"]
