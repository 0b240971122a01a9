r"""SizeMix: an ensemble over hypotheses on how counts scale with the size of a graph.

Let c_F(G) be the number of vertices of Weisfeiler-Lehman type F (colors refined 0 to 3 times), n the number of
vertices and n0 the geometric mean of n over the training graphs. If c_F grows as n^alpha within a class,
c_F (n0 / n)^alpha is the count that the graph would have at size n0, and can be compared across sizes. alpha is
unknown, so four maps are combined:

========== =========================== ====================================================================
presence   log(1 + c)                  alpha = 0: having the type at all matters (a toxic group)
share      sqrt(c n0 / n)              alpha = 1: the share of vertices matters (composition)
fitted     sqrt(c (n0 / n)^alpha_F)    alpha fitted type by type from the training graphs
direction  c / |c|                     only the direction of the count vector matters
========== =========================== ====================================================================

The square root stabilizes the variance of counts. alpha_F maximizes the Poisson likelihood of the counts given class
and log n (one intercept per class, classes weighted alike) under the prior N(1, 1/2^2), and is clipped to [0, 2].

Each map with types of depth at most 0, 1 and 3 is a **head**: a class-balanced L2 logistic regression. The weight of
a head is exp(10 l), where l is its mean log-likelihood (classes weighted alike) on the larger 40 % of the training
graphs when it is fitted to the smaller 60 %. Probabilities are the weighted mean of those of the heads; with several
classes each head is one logistic regression per class against the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import State, classes_from_json, classes_to_json, distinct_classes, labels_of
from anysize.graphs.ragged import owners
from anysize.io.convert import as_graphset
from anysize.kernels.explanation import VertexExplanation, explain_types
from anysize.kernels.wl import WLKernel
from anysize.methods.evidence import (
    balanced_mean,
    evidence_weights,
    log_likelihood,
    one_against_rest,
    smaller_and_larger,
    stratified_split,
)

DEPTHS = (0, 1, 3)
MAPS = ("presence", "share", "fitted", "direction")
INVERSE_REGULARIZATION = 10.0
LOWEST_TYPE_SHARE = 0.01  # of the training graphs that have a type at least once
MAX_TYPES = 1000  # per depth: the most common ones
EXPONENT_PRIOR_MEAN, EXPONENT_PRIOR_DEVIATION, HIGHEST_EXPONENT = 1.0, 0.5, 2.0
HEAD_ARRAYS = ("columns", "exponents", "weights", "intercepts", "center")


@dataclass(frozen=True, eq=False)
class Head:
    """One logistic regression per class (one in all for two classes) on one map of the types up to one depth.

    Attributes:
        scaling: the name of the map. depth: types are refined at most so often.
        columns: (types,) of the Weisfeiler-Lehman features.
        exponents: (regressions, types); 0 for presence and direction, 1 for share.
        weights: (regressions, types), intercepts: (regressions,): logits are mapped counts @ weights + intercept.
        center: (regressions, types) mean mapped counts of the training graphs, classes weighted alike.
    """

    scaling: str
    depth: int
    columns: IntArray
    exponents: FloatArray
    weights: FloatArray
    intercepts: FloatArray
    center: FloatArray

    def mapped(self, counts: csr_array[np.float64], log_sizes: FloatArray, regression: int) -> FloatArray:
        """(graphs, types): the input of one regression."""
        own = csr_array(counts[:, self.columns])
        return map_counts(own, log_sizes, self.scaling, self.exponents[regression]).toarray()

    def logits(self, counts: csr_array[np.float64], log_sizes: FloatArray) -> FloatArray:
        """(graphs, regressions)."""
        own = csr_array(counts[:, self.columns])
        columns = [
            map_counts(own, log_sizes, self.scaling, exponents) @ weights + intercept
            for exponents, weights, intercept in zip(self.exponents, self.weights, self.intercepts, strict=True)
        ]
        return np.stack(columns, axis=1)


def map_counts(
    counts: csr_array[np.float64], log_sizes: FloatArray, scaling: str, exponents: FloatArray
) -> csr_array[np.float64]:
    """Counts under one hypothesis on how they scale; ``log_sizes`` are log(n / n0). Zeros stay zeros."""
    mapped = counts.copy()
    rows = owners(counts.indptr)
    if scaling == "presence":
        mapped.data = np.log1p(counts.data)
    elif scaling == "direction":
        lengths = np.sqrt(np.bincount(rows, counts.data**2, minlength=counts.shape[0]))
        mapped.data = counts.data / np.maximum(lengths, 1e-9)[rows]
    else:
        mapped.data = np.sqrt(counts.data * np.exp(-log_sizes[rows] * exponents[counts.indices]))
    return mapped


def fit_exponents(counts: FloatArray, log_sizes: FloatArray, y: IntArray) -> FloatArray:
    """alpha_F for every column: Newton's method on the penalized Poisson likelihood, class intercepts profiled out."""
    alpha = np.full(counts.shape[1], EXPONENT_PRIOR_MEAN)
    prior = EXPONENT_PRIOR_DEVIATION**-2
    for _ in range(8):
        gradient, curvature = -(alpha - EXPONENT_PRIOR_MEAN) * prior, np.full(counts.shape[1], prior)
        for each in np.unique(y):
            rows = y == each
            weight, x = len(y) / (2 * rows.sum()), log_sizes[rows]
            shares = np.exp(np.outer(x, alpha))
            shares /= shares.sum(axis=0)
            mean, square, total = x @ shares, x**2 @ shares, counts[rows].sum(axis=0)
            gradient += weight * (x @ counts[rows] - total * mean)
            curvature += weight * total * (square - mean**2)
        alpha = np.clip(alpha + gradient / curvature, -1, 3)
    return np.asarray(np.clip(alpha, 0, HIGHEST_EXPONENT))


class SizeMixClassifier(ClassifierMixin, BaseEstimator):
    """Classify graphs of other sizes by averaging hypotheses on how counts of vertex types scale (module docstring).

    Attributes (after `fit`):
        kernel_: the Weisfeiler-Lehman features. heads_: the twelve heads.
        head_weights_: (heads,) their weights. evidence_: (heads,) the inner log-likelihoods behind them; nan where the
            larger or the smaller part of the training graphs lacks a class, and all heads weigh the same.
        log_size_: mean log number of vertices of the training graphs.

    Examples:
        >>> import networkx as nx
        >>> small = [nx.cycle_graph(n) for n in range(6, 26)] + [nx.path_graph(n) for n in range(6, 26)]
        >>> model = SizeMixClassifier().fit(small, ["ring"] * 20 + ["path"] * 20)
        >>> model.predict([nx.cycle_graph(100), nx.path_graph(100)]).tolist()
        ['ring', 'path']
    """

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> SizeMixClassifier:
        """Fit the heads to all training graphs, and weigh them by an inner size shift."""
        sets = as_graphset(graphs)
        labels = labels_of(sets, y)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        distinct_classes(self.classes_)
        codes = codes.astype(np.int64)
        self.kernel_ = WLKernel(iterations=max(DEPTHS))
        counts = self.kernel_.fit_transform(sets)
        log_sizes = np.log(np.maximum(sets.sizes, 1).astype(np.float64))
        self.log_size_ = float(log_sizes.mean())
        with threadpool_limits(1):  # products this small are slower with more threads
            self.heads_ = tuple(fit_heads(counts, self.kernel_.offsets_, log_sizes, codes, len(self.classes_)))
            self.evidence_ = inner_evidence(counts, self.kernel_.offsets_, log_sizes, codes, len(self.classes_))
        self.head_weights_ = evidence_weights(np.where(np.isnan(self.evidence_), 0.0, self.evidence_))
        return self

    def predict_proba(self, graphs: Any) -> FloatArray:
        """(graphs, classes)."""
        mean = np.tensordot(self.head_weights_, self.head_probabilities(graphs), 1)
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))

    def head_probabilities(self, graphs: Any) -> FloatArray:
        """(heads, graphs, classes): each head by itself; rows of several classes need not sum to 1."""
        check_is_fitted(self, "heads_")
        own = self._input(as_graphset(graphs))
        return np.stack([one_against_rest(head.logits(*own)) for head in self.heads_])

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most probable class of every graph."""
        return np.asarray(self.classes_[self.predict_proba(graphs).argmax(axis=1)])

    def summary(self) -> str:
        """The heads with their weights and evidence, and the fitted exponents."""
        check_is_fitted(self, "heads_")
        lines = ["weight  depth  scaling    inner log-likelihood  exponents (10 %, median, 90 %)"]
        for place in np.argsort(-self.head_weights_, kind="stable"):
            head, found = self.heads_[place], self.evidence_[place]
            spread = ""
            if head.scaling == "fitted" and head.exponents.size:
                spread = "  ".join(f"{value:.2f}" for value in np.quantile(head.exponents, [0.1, 0.5, 0.9]))
            evidence = "-" if np.isnan(found) else f"{found:.3f}"
            weight = self.head_weights_[place]
            lines.append(f"{weight:6.3f}  {head.depth:5d}  {head.scaling:9}  {evidence:>20}  {spread}".rstrip())
        return "\n".join(lines)

    def explain(self, graph: Any, reference: Any = None) -> VertexExplanation:
        """What each vertex type, and each vertex, adds to the logit of the predicted class of one graph.

        The logit is the weighted mean over the heads, of which each is a sum over types. With more than two classes it
        is that of the predicted class against the rest.

        Args:
            graph: one graph.
            reference: graphs to compare with. Contributions are relative to their mean, or without them to the mean
                training graph (classes weighted alike).
        """
        sets = as_graphset(graph)
        if len(sets) != 1:
            raise ValueError(f"explain takes one graph; got {len(sets)}")
        chances = self.predict_proba(sets)[0]
        predicted = int(chances.argmax())
        regression, sign = (predicted, 1.0) if len(self.classes_) > 2 else (0, 1.0 if predicted == 1 else -1.0)
        own, others = self._input(sets), None if reference is None else self._input(as_graphset(reference))
        width, base = own[0].shape[1], 0.0
        total, strongest, scalings = np.zeros(width), np.zeros(width), [("", 0.0)] * width
        for head, weight in zip(self.heads_, sign * self.head_weights_, strict=True):
            center = head.center[regression] if others is None else head.mapped(*others, regression).mean(axis=0)
            terms = weight * (head.mapped(*own, regression)[0] - center) * head.weights[regression]
            base += weight * float(head.intercepts[regression] + center @ head.weights[regression])
            total[head.columns] += terms
            for place in np.flatnonzero(np.abs(terms) > strongest[head.columns]):
                scalings[head.columns[place]] = head.scaling, float(head.exponents[regression, place])
            strongest[head.columns] = np.maximum(strongest[head.columns], np.abs(terms))
        return explain_types(
            self.kernel_, sets, total, scalings,
            predicted=self.classes_[[predicted]].tolist()[0], probability=float(chances[predicted]),
            score="mean logit of the heads", base=base,
            base_name="mean training graph" if reference is None else "mean reference graph",
        )  # fmt: skip

    def _input(self, graphs: GraphSet) -> tuple[csr_array[np.float64], FloatArray]:
        """Counts of all types, and log(n / n0)."""
        log_sizes = np.log(np.maximum(graphs.sizes, 1).astype(np.float64)) - self.log_size_
        return self.kernel_.transform(graphs), log_sizes

    def state(self) -> State:
        """What was learned, as a dictionary that JSON holds and plain arrays."""
        check_is_fitted(self, "heads_")
        about, kernel_arrays = self.kernel_.state()
        arrays: dict[str, NDArray[Any]] = {f"kernel.{name}": array for name, array in kernel_arrays.items()}
        arrays |= {"head_weights": self.head_weights_, "evidence": self.evidence_}
        for place, head in enumerate(self.heads_):
            arrays |= {f"head{place}.{name}": getattr(head, name) for name in HEAD_ARRAYS}
        heads = [{"scaling": head.scaling, "depth": head.depth} for head in self.heads_]
        classes = classes_to_json(self.classes_)
        return {"classes": classes, "kernel": about, "heads": heads, "log_size": self.log_size_}, arrays

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SizeMixClassifier:
        """The classifier from what `state` gave; it predicts the same."""
        made = cls()
        held = {name.removeprefix("kernel."): array for name, array in arrays.items() if name.startswith("kernel.")}
        made.kernel_ = WLKernel.from_state(about["kernel"], held)
        made.classes_ = classes_from_json(about["classes"])
        made.log_size_ = float(about["log_size"])
        made.head_weights_, made.evidence_ = arrays["head_weights"], arrays["evidence"]
        made.heads_ = tuple(
            Head(head["scaling"], head["depth"], *(arrays[f"head{place}.{name}"] for name in HEAD_ARRAYS))
            for place, head in enumerate(about["heads"])
        )
        return made


def inner_evidence(
    counts: csr_array[np.float64], offsets: IntArray, log_sizes: FloatArray, y: IntArray, classes: int
) -> FloatArray:
    """Mean log-likelihood of every head on the larger graphs, about 40 %, fitted to the smaller ones.

    On a random 40 % of every class if all graphs have the same size; nan if there are too few graphs for that. If the
    smaller graphs have one class, all heads are alike: nothing shows which scaling holds.
    """
    small, large = smaller_and_larger(log_sizes)
    if not len(large):
        small, large = stratified_split(y, np.random.default_rng(0))
    found = np.full(len(DEPTHS) * len(MAPS), np.nan)
    if not len(large):
        return found
    center = log_sizes[small].mean()
    for place, head in enumerate(fit_heads(csr_array(counts[small]), offsets, log_sizes[small], y[small], classes)):
        logits = head.logits(csr_array(counts[large]), log_sizes[large] - center)
        found[place] = balanced_mean(log_likelihood(one_against_rest(logits), y[large]), y[large])
    return found


def fit_heads(
    counts: csr_array[np.float64], offsets: IntArray, log_sizes: FloatArray, y: IntArray, classes: int
) -> Iterator[Head]:
    """The heads, depth by depth, maps in the order of `MAPS`."""
    relative = log_sizes - log_sizes.mean()
    targets = [(y == each).astype(np.int64) for each in (range(classes) if classes > 2 else (1,))]
    for depth in DEPTHS:
        columns = common_types(counts, offsets, depth)
        table = csr_array(counts[:, columns])
        dense = table.toarray()
        alphas = np.stack([fit_exponents(dense, relative, target) for target in targets])
        for scaling in MAPS:
            exponents = alphas if scaling == "fitted" else np.full_like(alphas, float(scaling == "share"))
            rows = []
            for target, own in zip(targets, exponents, strict=True):
                rows.append(fit_balanced_regression(map_counts(table, relative, scaling, own).toarray(), target))
            weights, intercepts, centers = map(np.stack, zip(*rows, strict=True))
            yield Head(scaling, depth, columns, exponents, weights, intercepts, centers)


def common_types(counts: csr_array[np.float64], offsets: IntArray, depth: int) -> IntArray:
    """Columns of the types up to this depth in at least 1 % of the graphs (and in two), the most common ones."""
    graphs = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
    known = np.arange(counts.shape[1]) < offsets[depth + 1]
    columns = np.flatnonzero(known & (graphs >= max(2, np.ceil(LOWEST_TYPE_SHARE * counts.shape[0]))))
    if len(columns) > MAX_TYPES:
        columns = np.sort(columns[np.argsort(-graphs[columns], kind="stable")[:MAX_TYPES]])
    return columns


def fit_balanced_regression(table: FloatArray, target: IntArray) -> tuple[FloatArray, float, FloatArray]:
    """Weights, intercept and center of one class-balanced logistic regression; features have mean length 1."""
    if len(np.unique(target)) < 2:
        return np.zeros(table.shape[1]), 0.0, np.zeros(table.shape[1])
    balance = 1 / np.bincount(target)[target] / 2
    center = balance @ table
    table = table - center
    scale = float(np.sqrt((table**2).sum(axis=1)).mean())
    if scale <= 1e-9 * float(np.linalg.norm(center)):  # all graphs are alike, up to rounding
        return np.zeros(table.shape[1]), 0.0, center
    table /= scale
    model = LogisticRegression(C=INVERSE_REGULARIZATION, max_iter=300, tol=1e-4)
    model.fit(table, target, sample_weight=balance * len(target))
    weights = model.coef_[0] / scale
    return weights, float(model.intercept_[0] - weights @ center), center
