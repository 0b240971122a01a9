r"""`auto`: Gamma models where the training graphs look like samples of graphons, SizeMix everywhere else.

The densities of the Gamma models carry over to other sizes if graphs are samples of graphons, one per class. The
training graphs are checked for that (`anysize.theory.graphon_check`), without labels of the graphs to predict. The
check returns a regime:

- **sparse** (kappa below 1, or edges that grow more slowly than n^1.5): no graphon. SizeMix is used.
- **graphon**: the Gamma models are used, unless SizeMix clearly beats them on an inner size shift (fitted to the
  smaller 60 % of the training graphs, judged on the larger 40 %).
- **mixed** (dense, but densities differ more between graphs than one graphon per class allows): SizeMix is used, unless
  the Gamma models clearly beat it on an inner size shift. If all graphs have about one size, random half-size vertex
  samples take the place of the smaller graphs.

*Clearly* means that the difference d of the mean log-likelihoods is above two standard errors, and that 10 d is above
2: an inner shift only resembles the shift to come, and is worth ten graphs, as in the weights of all experts
(`anysize.methods.evidence.STRENGTH`). A likelihood ratio of less than e^2 does not overrule the regime.

Models are grouped into two families, "gamma" and "sizemix", and the models of a family are its experts. The Gamma
experts are `gamma-gin` under the robust recipe and a class-balanced logistic regression on whitened densities of
uncolored patterns, weighted by exp(10 l), l the cross-validated mean log-likelihood (classes weighted alike).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from anysize._progress import Progress
from anysize._typing import FloatArray, IntArray
from anysize.graphs.assembly import induced_subgraphs
from anysize.methods.classical import SizeMixMethod
from anysize.methods.density_regression import DensityRegressionMethod
from anysize.methods.evidence import (
    STRENGTH,
    balanced_mean,
    evidence_weights,
    log_likelihood,
    smaller_and_larger,
    stratified_parts,
    stratified_split,
)
from anysize.methods.method import Arrays, Examples, Fitted, Learner, LearningTask, Run, class_weights
from anysize.methods.neural import GammaMethod
from anysize.methods.recipes import gamma_recipe
from anysize.theory.graphon_check import GraphonCheck, check_graphon
from anysize.training.settings import Recipe

Family = Literal["gamma", "sizemix"]

SMALLEST_SIZE_RATIO = 1.05  # of geometric mean sizes: below it the larger part is no size shift
STANDARD_ERRORS = 2.0  # by which one family must beat the other to overrule the regime
MIN_LOG_RATIO = 2.0  # of the likelihoods of `STRENGTH` graphs, to overrule the regime
FOLDS = 3
SAMPLE_SHARE = 0.5  # of the vertices, in samples that take the place of smaller graphs
SMALLEST_SAMPLE = 4  # vertices
DENSE_MEAN_DEGREE = 10.0  # networks of bounded degree rarely have more: graphs above it count as dense at one size

EXPERTS: Mapping[str, Learner] = {
    "sizemix": SizeMixMethod(),
    "gamma-gin": GammaMethod("gnn"),
    "densities": DensityRegressionMethod(),
}
FAMILIES: Mapping[Family, tuple[str, ...]] = {"gamma": ("gamma-gin", "densities"), "sizemix": ("sizemix",)}


@dataclass(frozen=True)
class Evidence:
    """How both families predict the larger training graphs from the smaller ones.

    Attributes:
        shift: "sizes" (smaller graphs -> larger graphs) or "samples" (vertex samples -> whole graphs).
        gamma, sizemix: mean log-likelihoods, classes weighted alike.
        z: their difference in standard errors, positive where the Gamma experts are better.
    """

    shift: Literal["sizes", "samples"]
    gamma: float
    sizemix: float
    z: float

    @property
    def winner(self) -> Family | None:
        """The family that is clearly better; None if neither is."""
        log_ratio = STRENGTH * abs(self.gamma - self.sizemix)
        if abs(self.z) <= STANDARD_ERRORS or log_ratio <= MIN_LOG_RATIO:
            return None
        return "gamma" if self.z > 0 else "sizemix"


@dataclass(frozen=True)
class Decision:
    """Which family of models `auto` uses, and why.

    Attributes:
        check: the statistics of the training graphs.
        family: "gamma" or "sizemix".
        evidence: how both families predict larger training graphs; None if they were not compared.
    """

    check: GraphonCheck
    family: Family
    evidence: Evidence | None

    @property
    def doubt(self) -> str:
        """A sentence if the training graphs do not determine the family; empty otherwise."""
        check = self.check
        if check.decisive or (self.evidence is not None and self.evidence.winner is not None):
            return ""
        if check.sizes_differ or check.regime == "sparse":
            used, other = ("Gamma models", "sizemix") if self.family == "gamma" else ("SizeMix", "gamma-gin")
            return (
                "It is unclear whether the training graphs are samples of graphons: their statistics lie within "
                f"two standard errors of the other answer. auto uses {used}; compare with method={other!r}."
            )
        if self.family != "gamma" or check.mean_degree >= DENSE_MEAN_DEGREE:
            return ""
        return (
            f"The training graphs, with a mean degree of {check.mean_degree:.1f}, do not show whether edges grow with "
            "the number of vertices or with its square: within each class their sizes differ too little. That edges "
            "grow with its square is an assumption; train on graphs of several sizes, or compare with method='sizemix'."
        )

    def summary(self) -> str:
        """The regime with its statistics, and the family that is used, in two sentences."""
        answer = "Gamma models are used" if self.family == "gamma" else "SizeMix is used"
        if self.evidence is not None:
            how = "larger training graphs" if self.evidence.shift == "sizes" else "whole graphs from vertex samples"
            answer += (
                f": predicting {how}, Gamma reached a log-likelihood of {self.evidence.gamma:.2f} and SizeMix "
                f"{self.evidence.sizemix:.2f} (z = {self.evidence.z:+.1f})"
            )
        return f"{self.check.summary()} {answer}."


@dataclass(frozen=True)
class AutoMethod:
    """Decides which family to use, trains its experts and weighs them."""

    def fit(
        self, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        most: int | None = None,
    ) -> Iterator[FittedAuto]:  # fmt: skip
        """One ensemble per run; the decision is made once, with the seed of the first run."""
        problem = _balanced(problem)
        decision = decide(problem, runs[0].seed)
        weights = np.ones(1)
        if decision.family == "gamma":
            weights = _weigh(problem, runs[0].seed)
        for done, run in enumerate(runs, 1):
            experts = _fit_family(decision.family, problem, run.seed)
            yield FittedAuto(decision, experts, weights, (run,))
            if progress is not None:
                progress(done / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedAuto:
        """Fitted experts from what `FittedAuto.state` returned."""
        experts = {}
        for name, own in about["experts"].items():
            prefix = f"{name}/"
            held = {key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)}
            experts[name] = EXPERTS[name].restore(own, held)
        evidence = None if about["evidence"] is None else Evidence(**about["evidence"])
        check = {name: float("nan" if value is None else value) for name, value in about["check"].items()}
        decision = Decision(GraphonCheck(**check), about["family"], evidence)
        runs = tuple(Run(**run) for run in about["runs"])
        return FittedAuto(decision, experts, arrays["weights"], runs)


@dataclass(frozen=True, eq=False)
class FittedAuto:
    """The experts of one family, their weights, and the decision for it."""

    decision: Decision
    experts: Mapping[str, Fitted]
    weights: FloatArray
    runs: tuple[Run, ...]
    trained: None = None

    def probabilities(self, examples: Examples) -> FloatArray:
        found = np.stack([expert.probabilities(examples)[0] for expert in self.experts.values()])
        return np.tensordot(self.weights, found, 1)[None]

    def represent(self, examples: Examples) -> FloatArray:
        return np.concatenate([expert.represent(examples)[0] for expert in self.experts.values()], axis=1)[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays: Arrays = {"weights": self.weights}
        experts = {}
        for name, expert in self.experts.items():
            experts[name], own = expert.state()
            arrays |= {f"{name}/{key}": value for key, value in own.items()}
        check = {name: value if np.isfinite(value) else None for name, value in asdict(self.decision.check).items()}
        evidence = None if self.decision.evidence is None else asdict(self.decision.evidence)
        about = {"experts": experts, "family": self.decision.family, "check": check, "evidence": evidence}
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


# ---- the decision --------------------------------------------------------------------------------------


def decide(problem: LearningTask, seed: int) -> Decision:
    """Which family to use: the regime of the training graphs, overruled only by clear evidence across sizes."""
    problem = _balanced(problem)
    graphs, y = problem.train.whole("auto"), problem.train.labels()
    check = check_graphon(graphs, y)
    if check.regime == "sparse":
        return Decision(check, "sizemix", None)
    if not problem.train.counts(problem.k, problem.cache).matrix.nnz:  # graphs too small for patterns
        return Decision(check, "sizemix", None)
    small, large, shifted = split_by_size(graphs.sizes, y)
    if check.regime == "graphon" and not shifted:
        return Decision(check, "gamma", None)
    evidence = gather_evidence(problem, small, large, shifted, seed)
    winner = None if evidence is None else evidence.winner
    return Decision(check, winner or ("gamma" if check.regime == "graphon" else "sizemix"), evidence)


def _balanced(problem: LearningTask) -> LearningTask:
    """The problem with weights that balance its classes, unless it has weights."""
    if problem.class_weights is not None:
        return problem
    return replace(problem, class_weights=class_weights(problem.train.labels(), problem.classes, "balanced"))


def split_by_size(sizes: IntArray, y: IntArray) -> tuple[IntArray, IntArray, bool]:
    """The smaller graphs, about 60 %, the others, and whether that is a size shift with all classes on both sides."""
    small, large = smaller_and_larger(sizes)
    if not len(large):
        return small, large, False
    log_sizes = np.log(np.maximum(sizes, 1))
    apart = log_sizes[large].mean() - log_sizes[small].mean() >= np.log(SMALLEST_SIZE_RATIO)
    classes = len(np.unique(y))
    return small, large, bool(apart and len(np.unique(y[small])) == classes == len(np.unique(y[large])))


def gather_evidence(
    problem: LearningTask, small: IntArray, large: IntArray, shifted: bool, seed: int
) -> Evidence | None:
    """Fit both families to the smaller graphs and compare them on the larger ones.

    None for very few graphs: a part without some class, fewer than two larger graphs of a class (the variance of the
    difference is then unknown), or smaller graphs without patterns.
    """
    rng = np.random.default_rng(seed)
    y = problem.train.labels()
    if shifted:
        train, test = problem.train.rows(small), problem.train.rows(large)
    else:
        train, test = map(problem.train.rows, stratified_split(y, rng))
        train = Examples(_sample_vertices(train.whole("auto"), rng), train.y)
    truth = test.labels()
    classes, amounts = np.unique(truth, return_counts=True)
    complete = len(np.unique(train.labels())) == len(classes) == len(np.unique(y))
    if not complete or amounts.min() < 2 or not train.counts(problem.k, problem.cache).matrix.nnz:
        return None
    likelihood = {}
    for family in FAMILIES:
        experts = _fit_family(family, replace(problem, train=train), seed)
        found = np.stack([expert.probabilities(test)[0] for expert in experts.values()])
        likelihood[family] = log_likelihood(_cross_weighted(found, truth, rng), truth)
    difference = likelihood["gamma"] - likelihood["sizemix"]
    variance = sum(difference[truth == each].var() / amount for each, amount in zip(classes, amounts, strict=True))
    z = balanced_mean(difference, truth) / max(float(np.sqrt(variance)) / len(classes), 1e-9)
    means = {family: float(balanced_mean(values, truth)) for family, values in likelihood.items()}
    return Evidence("sizes" if shifted else "samples", means["gamma"], means["sizemix"], float(z))


def _fit_family(family: Family, problem: LearningTask, seed: int) -> dict[str, Fitted]:
    colored = problem.train.whole("auto").colors is not None
    gamma = {"hidden": 32, "lr": 0.01, "layers": 1, **({"penalty": 0.1} if colored else {})}
    own = replace(problem, validation=None)
    recipe = gamma_recipe("robust", None)
    fitted: dict[str, Fitted] = {}
    for name in FAMILIES[family]:
        (fitted[name],) = EXPERTS[name].fit(own, [Run(gamma if name == "gamma-gin" else {}, seed)], recipe)
    return fitted


def _weigh(problem: LearningTask, seed: int) -> FloatArray:
    """Weights of the Gamma experts by cross-validation at the training sizes: across sizes theory vouches for all."""
    y = problem.train.labels()
    part = stratified_parts(y, FOLDS, np.random.default_rng(seed))
    likelihood = np.zeros((len(FAMILIES["gamma"]), len(y)))
    for fold in range(FOLDS):
        train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        if not len(test) or len(np.unique(y[train])) < 2:
            continue
        experts = _fit_family("gamma", replace(problem, train=problem.train.rows(train)), seed)
        held_out = problem.train.rows(test)
        for row, expert in enumerate(experts.values()):
            likelihood[row, test] = log_likelihood(expert.probabilities(held_out)[0], y[test])
    return evidence_weights(balanced_mean(likelihood, y))


def _cross_weighted(chances: FloatArray, y: IntArray, rng: np.random.Generator) -> FloatArray:
    """Probabilities of a family: experts weighted by their likelihood on one half of the graphs, for the other half."""
    if len(chances) == 1:
        return np.asarray(chances[0])
    part = stratified_parts(y, 2, rng)
    found = np.zeros(chances.shape[1:])
    for half in (0, 1):
        judged, judging = part == half, part != half
        weights = np.full(len(chances), 1 / len(chances))
        if judging.any():
            weights = evidence_weights(balanced_mean(log_likelihood(chances[:, judging], y[judging]), y[judging]))
        found[judged] = np.tensordot(weights, chances[:, judged], 1)
    return found


def _sample_vertices(graphs: Any, rng: np.random.Generator) -> Any:
    """Induced subgraphs on a random half of the vertices, at least four."""
    keep = np.zeros(int(graphs.first[-1]), np.bool_)
    for begin, size in zip(graphs.first[:-1], graphs.sizes, strict=True):
        amount = min(int(size), max(SMALLEST_SAMPLE, round(SAMPLE_SHARE * int(size))))
        keep[begin + rng.choice(int(size), amount, replace=False)] = True
    return induced_subgraphs(graphs, keep)
