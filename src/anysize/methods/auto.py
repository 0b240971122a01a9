r"""`auto`: Gamma models where the training graphs look like samples of graphons, SizeMix everywhere else.

The densities of the Gamma models carry over to other sizes if graphs are samples of graphons, one per class. The
training graphs are checked for that (`anysize.causal.graphon_check`), without labels of the graphs to predict. The
check returns a regime:

- **not_graphon** (kappa below 1, or edges that grow more slowly than n^1.5): SizeMix is used, in the first case unless
  the Gamma models clearly beat it on an inner size shift.
- **graphon**: the Gamma models are used, unless SizeMix clearly beats them on an inner size shift (fitted to the
  smaller 60 % of the training graphs, judged on the larger 40 %).
- **mixed** (dense, but densities differ more between graphs than one graphon per class allows): SizeMix is used, unless
  the Gamma models clearly beat it on an inner size shift.

If all graphs have about one size, random half-size vertex samples take the place of the smaller graphs.

Gamma models see vertex features as bins of all features together (`anysize.kernels.vertex_bins`), SizeMix also each
feature by itself. What the check says of the graphs does not hold of such bins: with features, graphon is treated like
mixed.

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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anysize._progress import Progress
from anysize._schema import arrays_of, prefixed
from anysize._typing import FloatArray, IntArray
from anysize.causal.graphon_check import GraphonCheck, check_graphon
from anysize.counting.columns import Columns
from anysize.graphs.assembly import induced_subgraphs
from anysize.graphs.graphset import GraphSet
from anysize.methods.evidence import (
    balanced_error,
    balanced_mean,
    evidence_weights,
    is_clear,
    log_likelihood,
    one_against_rest,
)
from anysize.methods.gamma import GammaLearner, gamma_recipe
from anysize.methods.method import (
    NO_GRID,
    Arrays,
    Examples,
    Fitted,
    Learner,
    Method,
    Run,
    Sizes,
    TrainingData,
    class_weights,
    learn_bins,
)
from anysize.methods.sizemix import SIZEMIX, SizeMixLearner, fit_balanced_regression
from anysize.splits import parts_by_class, random_60_and_40, smaller_and_larger
from anysize.training.settings import Recipe
from anysize.training.whitening import Whitening, fit_whitening, topology_numbers

if TYPE_CHECKING:
    from anysize.kernels.vertex_bins import VertexBins

Family = Literal["gamma", "sizemix"]

SMALLEST_SIZE_RATIO = 1.05  # of geometric mean sizes: below it the larger part is no size shift
FOLDS = 3
SAMPLE_SHARE = 0.5  # of the vertices, in samples that take the place of smaller graphs
SMALLEST_SAMPLE = 4  # vertices
DENSE_MEAN_DEGREE = 10.0  # networks of bounded degree rarely have more: graphs above it count as dense at one size


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
        if not is_clear(self.gamma - self.sizemix, self.z):
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
        if check.sizes_differ or check.regime == "not_graphon":
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
class AutoLearner:
    """Decides which family to use, trains its experts and weighs them."""

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedAuto]:  # fmt: skip
        """One ensemble per run; the decision is made once, with the seed of the first run."""
        if data.class_weights is None:
            balanced = class_weights(data.train.labels(), data.classes, "balanced", data.train.weights)
            data = replace(data, class_weights=balanced)
        decision = decide(data, runs[0].seed)
        bins = learn_bins(data.train.whole("auto")) if decision.family == "gamma" else None
        colored = data.train.whole("auto").colors is not None
        data = replace(data, train=data.train.binned(bins))
        weights = _weigh(data, runs[0].seed, colored) if decision.family == "gamma" else np.ones(1)
        for number, run in enumerate(runs, 1):
            yield FittedAuto(decision, _fit_family(decision.family, data, run.seed, colored), weights, (run,), bins)
            if progress is not None:
                progress(number / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedAuto:
        """Fitted experts from what `FittedAuto.state` returned."""
        experts = {
            name: EXPERTS[name].restore(expert, arrays_of(f"{name}/", arrays))
            for name, expert in about["experts"].items()
        }
        evidence = None if about["evidence"] is None else Evidence(**about["evidence"])
        check = {name: float("nan" if value is None else value) for name, value in about["check"].items()}
        decision = Decision(GraphonCheck(**check), about["family"], evidence)
        runs, bins = tuple(Run(**run) for run in about["runs"]), None
        if about.get("bins") is not None:
            from anysize.kernels.vertex_bins import VertexBins

            bins = VertexBins.from_state(about["bins"])
        return FittedAuto(decision, experts, arrays["weights"], runs, bins)


@dataclass(frozen=True, eq=False)
class FittedAuto:
    """The experts of one family, their weights, and the decision for it.

    ``bins``: of vertex features, which Gamma models take as colors.
    """

    decision: Decision
    experts: Mapping[str, Fitted]
    weights: FloatArray
    runs: tuple[Run, ...]
    bins: VertexBins | None = None
    trained: None = None

    def outputs(self, examples: Examples) -> FloatArray:
        examples = examples.binned(self.bins)
        by_expert = np.stack([expert.outputs(examples)[0] for expert in self.experts.values()])
        return np.tensordot(self.weights, by_expert, 1)[None]

    def represent(self, examples: Examples) -> FloatArray:
        examples = examples.binned(self.bins)
        return np.concatenate([expert.represent(examples)[0] for expert in self.experts.values()], axis=1)[None]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays: Arrays = {"weights": self.weights}
        experts = {}
        for name, expert in self.experts.items():
            experts[name], learned = expert.state()
            arrays |= prefixed(f"{name}/", learned)
        check = {name: value if np.isfinite(value) else None for name, value in asdict(self.decision.check).items()}
        evidence = None if self.decision.evidence is None else asdict(self.decision.evidence)
        about = {"experts": experts, "family": self.decision.family, "check": check, "evidence": evidence}
        if self.bins is not None:
            about["bins"] = self.bins.state()
        return about | {"runs": [asdict(run) for run in self.runs]}, arrays


# ---- the decision --------------------------------------------------------------------------------------


def decide(data: TrainingData, seed: int) -> Decision:
    """Which family to use: the regime of the training graphs, overruled only by clear evidence across sizes."""
    graphs, y = data.train.whole("auto"), data.train.labels()
    check = check_graphon(graphs, y, data.train.weights)
    if check.edges_grow_slowly:
        return Decision(check, "sizemix", None)
    if not data.train.counts(data.k, data.cache, edges=True).matrix.nnz:  # graphs too small for patterns
        return Decision(check, "sizemix", None)
    small, large = smaller_and_larger(graphs.sizes, data.train.weights)
    shifted = is_size_shift(graphs.sizes, y, small, large)
    favored: Family = "gamma" if check.regime == "graphon" and graphs.features is None else "sizemix"
    if favored == "gamma" and not shifted:
        return Decision(check, "gamma", None)
    evidence = gather_evidence(data, small, large, shifted, seed)
    winner = None if evidence is None else evidence.winner
    return Decision(check, winner or favored, evidence)


def is_size_shift(sizes: IntArray, y: IntArray, small: IntArray, large: IntArray) -> bool:
    """Whether the larger graphs are clearly larger than the smaller ones, with all classes on both sides."""
    if not len(large):
        return False
    log_sizes = np.log(np.maximum(sizes, 1))
    apart = log_sizes[large].mean() - log_sizes[small].mean() >= np.log(SMALLEST_SIZE_RATIO)
    classes = len(np.unique(y))
    return bool(apart and len(np.unique(y[small])) == classes == len(np.unique(y[large])))


def gather_evidence(data: TrainingData, small: IntArray, large: IntArray, shifted: bool, seed: int) -> Evidence | None:
    """Fit both families to the smaller graphs and compare them on the larger ones.

    None for very few graphs: a part without some class, fewer than two larger graphs of a class (the variance of the
    difference is then unknown), or smaller graphs without patterns.
    """
    rng = np.random.default_rng(seed)
    y = data.train.labels()
    if shifted:
        train, test = data.train.rows(small), data.train.rows(large)
    else:
        train, test = map(data.train.rows, random_60_and_40(y, rng))
        train = Examples(_sample_vertices(train.whole("auto"), rng), train.y, weights=train.weights)
    truth, weights = test.labels(), test.graph_weights()
    classes, amounts = np.unique(truth, return_counts=True)
    complete = len(np.unique(train.labels())) == len(classes) == len(np.unique(y))
    if not complete or amounts.min() < 2 or not train.counts(data.k, data.cache, edges=True).matrix.nnz:
        return None
    likelihood = {}
    bins, colored = learn_bins(train.whole("auto")), train.whole("auto").colors is not None
    for family in FAMILIES:
        seen = bins if family == "gamma" else None
        experts = _fit_family(family, replace(data, train=train.binned(seen)), seed, colored)
        by_expert = np.stack([expert.outputs(test.binned(seen))[0] for expert in experts.values()])
        likelihood[family] = log_likelihood(_cross_weighted(by_expert, truth, weights, rng), truth)
    difference = likelihood["gamma"] - likelihood["sizemix"]
    error = balanced_error(difference, truth, weights)
    z = balanced_mean(difference, truth, weights) / max(error, 1e-9)
    gamma, sizemix = (float(balanced_mean(likelihood[family], truth, weights)) for family in FAMILIES)
    return Evidence("sizes" if shifted else "samples", gamma, sizemix, float(z))


def _fit_family(family: Family, data: TrainingData, seed: int, colored: bool) -> dict[str, Fitted]:
    """``colored``: the graphs have vertex colors, which may shift with the size; bins of features do not."""
    gamma = {"hidden": 32, "lr": 0.01, "layers": 1, **({"penalty": 0.1} if colored else {})}
    whole = replace(data, validation=None)
    recipe = gamma_recipe("robust", None, roles=colored)
    experts: dict[str, Fitted] = {}
    for name in FAMILIES[family]:
        (experts[name],) = EXPERTS[name].fit(whole, [Run(gamma if name == "gamma-gin" else {}, seed)], recipe)
    return experts


def _weigh(data: TrainingData, seed: int, colored: bool) -> FloatArray:
    """Weights of the Gamma experts by cross-validation at the training sizes; theory says that all carry over."""
    y = data.train.labels()
    part = parts_by_class(y, FOLDS, seed)
    likelihood = np.zeros((len(FAMILIES["gamma"]), len(y)))
    for fold in range(FOLDS):
        train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        if not len(test) or len(np.unique(y[train])) < 2:
            continue
        experts = _fit_family("gamma", replace(data, train=data.train.rows(train)), seed, colored)
        held_out = data.train.rows(test)
        for row, expert in enumerate(experts.values()):
            likelihood[row, test] = log_likelihood(expert.outputs(held_out)[0], y[test])
    return evidence_weights(balanced_mean(likelihood, y, data.train.graph_weights()))


def _cross_weighted(
    chances: FloatArray, y: IntArray, graph_weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Probabilities of a family: experts weighted by their likelihood on one half of the graphs, for the other half."""
    if len(chances) == 1:
        return np.asarray(chances[0])
    part = parts_by_class(y, 2, rng)
    mixed = np.zeros(chances.shape[1:])
    for half in (0, 1):
        judged, judging = part == half, part != half
        weights = np.full(len(chances), 1 / len(chances))
        if judging.any():
            likelihood = log_likelihood(chances[:, judging], y[judging])
            weights = evidence_weights(balanced_mean(likelihood, y[judging], graph_weights[judging]))
        mixed[judged] = np.tensordot(weights, chances[:, judged], 1)
    return mixed


def _sample_vertices(graphs: GraphSet, rng: np.random.Generator) -> GraphSet:
    """Induced subgraphs on a random half of the vertices, at least four."""
    keep = np.zeros(int(graphs.first[-1]), np.bool_)
    for begin, size in zip(graphs.first[:-1], graphs.sizes, strict=True):
        amount = min(int(size), max(SMALLEST_SAMPLE, round(SAMPLE_SHARE * int(size))))
        keep[begin + rng.choice(int(size), amount, replace=False)] = True
    return induced_subgraphs(graphs, keep)


# ---- an expert of topology alone ---------------------------------------------------------------------------


@dataclass(frozen=True)
class DensityRegressionLearner:
    """Logistic regression on whitened densities of uncolored patterns, class-balanced: a linear model of topology."""

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedDensityRegression]:  # fmt: skip
        """Train the runs; results do not depend on the seed."""
        y = data.train.labels()
        graph_weights = data.train.graph_weights()
        weights = graph_weights / np.bincount(y, graph_weights)[y]
        for number, run in enumerate(runs, 1):
            k = run.configuration.get("k", data.k)
            table = _densities(data.train, k, data.cache)
            whitening = fit_whitening(table, weights)
            features = whitening.apply(table)
            targets = range(data.classes) if data.classes > 2 else (1,)
            codes = [(y == target).astype(np.int64) for target in targets]
            rows = [fit_balanced_regression(features, code, graph_weights) for code in codes]
            coefficients, intercepts = np.stack([row[0] for row in rows]), np.array([row[1] for row in rows])
            yield FittedDensityRegression(whitening, coefficients, intercepts, (run,), k)
            if progress is not None:
                progress(number / len(runs))

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedDensityRegression:
        """A fitted regression from what `FittedDensityRegression.state` returned."""
        k = about["k"] if isinstance(about["k"], int) else tuple(about["k"])
        whitening = Whitening(arrays["mean"], arrays["matrix"])
        runs = tuple(Run(**run) for run in about["runs"])
        return FittedDensityRegression(whitening, arrays["coefficients"], arrays["intercepts"], runs, k)


def _densities(examples: Examples, k: Sizes, cache: Any = None) -> FloatArray:
    """(graphs, patterns) over subsets; zeros for graphs with fewer than k vertices."""
    return np.nan_to_num(examples.counts(k, cache, colors=False).densities("subsets").toarray())


@dataclass(frozen=True, eq=False)
class FittedDensityRegression:
    """One fitted regression: logits are whitened densities @ coefficients + intercepts."""

    whitening: Whitening
    coefficients: FloatArray
    intercepts: FloatArray
    runs: tuple[Run, ...]
    k: Sizes
    trained: None = None

    def represent(self, examples: Examples) -> FloatArray:
        return self.whitening.apply(_densities(examples, self.k))[None]

    def outputs(self, examples: Examples) -> FloatArray:
        chances = one_against_rest(self._scores(examples))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))[None]

    def logits(self, examples: Examples) -> FloatArray:
        """(models, graphs, classes): of a class against the rest; of two classes half of it, up and down."""
        return _by_class(self._scores(examples))[None]

    def pattern_logits(self, columns: Columns) -> FloatArray:
        """What one unit of density of each pattern, colors ignored, adds to `logits`: (models, patterns, classes)."""
        catalog = Columns.plain(*((self.k,) if isinstance(self.k, int) else self.k))
        rows = np.searchsorted(topology_numbers(catalog), topology_numbers(columns))
        return _by_class((self.whitening.matrix @ self.coefficients.T)[rows])[None]

    def _scores(self, examples: Examples) -> FloatArray:
        return np.asarray(self.represent(examples)[0] @ self.coefficients.T + self.intercepts)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {
            "mean": self.whitening.mean, "matrix": self.whitening.matrix,
            "coefficients": self.coefficients, "intercepts": self.intercepts,
        }  # fmt: skip
        return {"k": self.k, "runs": [asdict(run) for run in self.runs]}, arrays


def _by_class(scores: FloatArray) -> FloatArray:
    """(rows, classes) from the scores of one regression per class; the only one of two classes is that of the second.

    >>> _by_class(np.array([[3.0]])).tolist()
    [[-1.5, 1.5]]
    """
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[1] == 1 else scores


EXPERTS: Mapping[str, Learner] = {
    "sizemix": SizeMixLearner(),
    "gamma-gin": GammaLearner("gnn"),
    "densities": DensityRegressionLearner(),
}
FAMILIES: Mapping[Family, tuple[str, ...]] = {"gamma": ("gamma-gin", "densities"), "sizemix": ("sizemix",)}

AUTO = Method(
    name="auto",
    title="auto",
    learner=AutoLearner(),
    grid=NO_GRID,
    bootstrap=True,
    edges=SIZEMIX.edges,
    features="numbers",
)
