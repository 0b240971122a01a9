"""The paper's theory as functions: the bound of Theorem 1, measured gaps, intervals, invariance, the posterior."""

from anysize.theory.bounds import epsilon_reached, number_of_patterns, size_needed, theorem_bound
from anysize.theory.gaps import Gap, density_gap
from anysize.theory.intervals import DensityIntervals, density_intervals
from anysize.theory.invariance import Errors, Invariance, extrapolation_errors, invariance_gap
from anysize.theory.posterior import erdos_renyi_accuracy, erdos_renyi_posterior
from anysize.theory.summary import TheorySummary, summarize

__all__ = [
    "DensityIntervals",
    "Errors",
    "Gap",
    "Invariance",
    "TheorySummary",
    "density_gap",
    "density_intervals",
    "epsilon_reached",
    "erdos_renyi_accuracy",
    "erdos_renyi_posterior",
    "extrapolation_errors",
    "invariance_gap",
    "number_of_patterns",
    "size_needed",
    "summarize",
    "theorem_bound",
]
