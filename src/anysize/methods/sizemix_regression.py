r"""SizeMix for numbers: an ensemble over hypotheses on how counts, and the target, scale with the size of a graph.

With n vertices, n0 their geometric mean over the training graphs, and c_F the number of vertices of
Weisfeiler-Lehman type F, a **head** is a ridge regression

.. math:: y \approx (n / n_0)^\beta (a + \sum_F w_F m_F + b \log(n / n_0))

under one hypothesis on the target and one on the counts:

- beta is 0 (intensive targets, such as a melting point), 1 (extensive ones, such as an energy), 1/2 (in between), or
  fitted to the absolute values of the target;
- the map m_F is counts: c, presence: log(1 + c), proportion: c n0 / n, or the share, fitted or direction of
  `anysize.methods.sizemix`.

Types have depth at most 0, 1 and 3. The penalty of a ridge regression is chosen by its leave-one-out errors, which have
a closed form.

The weight of a head is exp(10 l), where l is its mean Gaussian log-likelihood on the larger 40 % of the training graphs
when it is fitted to the smaller 60 %, with the variance that fits its residuals there best: up to a constant
l = -log(RMSE), the weight is RMSE^-10, and neither depends on the unit of the target. A common variance for all heads
would need to be known: with that of the best head the others vanish, however few graphs there are; with that of the
target all weigh the same as soon as all are good. Predictions are the weighted mean of those of the heads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from anysize._schema import arrays_of, check_array, fields, integer, list_of, one_of, prefixed, real, text
from anysize._typing import FloatArray, IntArray
from anysize.io.convert import as_graphset
from anysize.kernels.ridge import fit_ridge
from anysize.methods.evidence import evidence_weights
from anysize.methods.method import Arrays, Examples
from anysize.methods.sizemix import DEPTHS, Entries, common_columns, fit_exponents, log_numbers, map_counts
from anysize.splits import random_60_and_40, smaller_and_larger

if TYPE_CHECKING:
    from anysize.kernels.explanation import VertexExplanation
    from anysize.kernels.wl import WLKernel

MAPS = ("counts", "presence", "proportion", "share", "fitted", "direction")
EXPONENTS = {"presence": 0.0, "share": 1.0, "direction": 0.0}
TARGET_EXPONENTS = (0.0, 0.5, 1.0)  # and a fitted one
LOWEST_TARGET_EXPONENT, HIGHEST_TARGET_EXPONENT = -2.0, 3.0
LEAST_ERROR = 1e-4  # of the standard deviation of the target: smaller errors count as this one
HEAD_ARRAYS = ("columns", "exponents", "weights", "intercepts")


@dataclass(frozen=True, eq=False)
class RidgeHeads:
    """Ridge regressions on one map of the types up to one depth, one for every exponent of the target.

    Attributes:
        scaling: the name of the map. depth: types are refined at most so often.
        columns: (types,) of the Weisfeiler-Lehman features. exponents: (types,) those of the map "fitted".
        weights: (types + 1, targets), the last row for log(n / n0). intercepts: (targets,).
    """

    scaling: str
    depth: int
    columns: IntArray
    exponents: FloatArray
    weights: FloatArray
    intercepts: FloatArray

    def predict(self, counts: csr_array[np.float64], log_sizes: FloatArray, betas: FloatArray) -> FloatArray:
        """(targets, graphs)."""
        mapped = self._mapped(counts, log_sizes)
        scaled = mapped @ self.weights[:-1] + np.outer(log_sizes, self.weights[-1]) + self.intercepts
        return np.asarray((scaled * np.exp(np.outer(log_sizes, betas))).T)

    def contributions(
        self, counts: csr_array[np.float64], log_sizes: FloatArray, betas: FloatArray, shares: FloatArray
    ) -> FloatArray:
        """(graphs, types): what each type adds to the predictions of all targets, weighted by ``shares`` (targets,)."""
        by_size = np.exp(np.outer(log_sizes, betas)) * shares
        return np.asarray(self._mapped(counts, log_sizes).toarray() * (by_size @ self.weights[:-1].T))

    def _mapped(self, counts: csr_array[np.float64], log_sizes: FloatArray) -> csr_array[np.float64]:
        return map_types(csr_array(counts[:, self.columns]), log_sizes, self.scaling, self.exponents)


def map_types(
    counts: csr_array[np.float64], log_sizes: FloatArray, scaling: str, exponents: FloatArray
) -> csr_array[np.float64]:
    """Counts under one of `MAPS`; ``log_sizes`` are log(n / n0)."""
    if scaling == "counts":
        return counts
    if scaling == "proportion":
        return csr_array(counts * np.exp(-log_sizes)[:, None])
    columns = np.arange(counts.shape[1])
    entries = Entries.of(counts, columns, columns)
    values = map_counts(entries, log_sizes, scaling, exponents)
    return csr_array((values, (entries.rows, entries.columns)), shape=entries.shape)


def fit_target_exponent(y: FloatArray, log_sizes: FloatArray, weights: FloatArray) -> float:
    """The beta of |y| proportional to n^beta: Newton's method on sum |y| / mu + log mu, with the prior N(1/2, 1)."""
    values, beta = np.abs(y), 0.5
    if not values.any():
        return beta
    x = log_sizes - np.average(log_sizes, weights=weights)
    for _ in range(20):
        ratios = values * np.exp(-beta * x)
        ratios /= np.average(ratios, weights=weights)
        step = float((weights * x) @ (ratios - 1) - (beta - 0.5)) / float((weights * x**2) @ ratios + 1)
        beta = float(np.clip(beta + np.clip(step, -1, 1), LOWEST_TARGET_EXPONENT, HIGHEST_TARGET_EXPONENT))
    return beta


def target_exponents(y: FloatArray, log_sizes: FloatArray, weights: FloatArray) -> FloatArray:
    """The hypotheses on the target: `TARGET_EXPONENTS`, and the fitted one."""
    return np.array([*TARGET_EXPONENTS, fit_target_exponent(y, log_sizes, weights)])


def fit_ridge_heads(
    counts: csr_array[np.float64], offsets: IntArray, log_sizes: FloatArray, y: FloatArray, betas: FloatArray,
    graph_weights: FloatArray,
) -> Iterator[RidgeHeads]:  # fmt: skip
    """The heads, depth by depth, maps in the order of `MAPS`; ``log_sizes`` are log(n / n0)."""
    targets = y[:, None] * np.exp(-np.outer(log_sizes, betas))
    for depth in DEPTHS:
        columns = common_columns(counts, int(offsets[depth + 1]), graph_weights)
        table = csr_array(counts[:, columns])
        fitted = fit_exponents(table, log_sizes, np.zeros(len(y), np.int64), graph_weights)
        for scaling in MAPS:
            exponents = fitted if scaling == "fitted" else np.full_like(fitted, EXPONENTS.get(scaling, 0.0))
            mapped = map_types(table, log_sizes, scaling, exponents).toarray()
            centered = mapped - np.average(mapped, axis=0, weights=graph_weights)
            length = float(np.average(np.sqrt((centered**2).sum(axis=1)), weights=graph_weights)) or 1.0
            spread = float(np.average(np.abs(log_sizes), weights=graph_weights)) or 1.0
            unit = length / spread  # log n varies as much as all types together
            weights, intercepts = fit_ridge(np.column_stack([mapped, unit * log_sizes]), targets, graph_weights)
            weights[-1] *= unit
            yield RidgeHeads(scaling, depth, columns, exponents, weights, intercepts)


def inner_errors(
    counts: csr_array[np.float64], offsets: IntArray, log_sizes: FloatArray, y: FloatArray, weights: FloatArray
) -> FloatArray:
    """(heads, targets): RMSE on the larger graphs, about 40 %, relative to the deviation of the target, after fitting
    to the smaller ones.

    On a random 40 % if all graphs have the same size; nan if there are too few graphs for that.
    """
    small, large = smaller_and_larger(log_sizes, weights)
    if not len(large):
        small, large = random_60_and_40(np.zeros(len(y), np.int64), 0)
    if not len(large) or len(small) < 2:
        return np.full((len(DEPTHS) * len(MAPS), len(TARGET_EXPONENTS) + 1), np.nan)
    fitted, judged = weights[small], weights[large]
    center = np.average(log_sizes[small], weights=fitted)
    betas = target_exponents(y[small], log_sizes[small], fitted)
    heads = fit_ridge_heads(csr_array(counts[small]), offsets, log_sizes[small] - center, y[small], betas, fitted)
    predicted = [head.predict(csr_array(counts[large]), log_sizes[large] - center, betas) for head in heads]
    errors = np.sqrt(np.average((np.stack(predicted) - y[large]) ** 2, axis=-1, weights=judged))
    deviation = float(np.sqrt(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)))
    return np.asarray(errors / max(deviation, 1e-12 * float(np.abs(y).max()), 1e-300))


@dataclass(frozen=True, eq=False)
class SizeMixRegression:
    """A fitted ensemble over hypotheses on how counts of vertex types, and the target, scale (module docstring).

    Attributes:
        kernel: the Weisfeiler-Lehman features. heads: the eighteen maps, each with four exponents of the target.
        betas: (targets,) these exponents.
        head_weights: (heads, targets) weights that sum to 1. errors: (heads, targets) the inner RMSE behind them,
            relative to the standard deviation of the target; nan where there are too few graphs.
        log_size: mean log number of vertices of the training graphs.

    Examples:
        >>> import networkx as nx
        >>> small = [nx.path_graph(n) for n in range(4, 20)] + [nx.cycle_graph(n) for n in range(4, 20)]
        >>> model = SizeMixRegression.fit(small, [graph.number_of_edges() for graph in small])
        >>> model.predict([nx.path_graph(100), nx.cycle_graph(100)]).round().tolist()
        [99.0, 100.0]
    """

    kernel: WLKernel
    heads: tuple[RidgeHeads, ...]
    betas: FloatArray
    head_weights: FloatArray
    errors: FloatArray
    log_size: float

    @staticmethod
    def fit(graphs: Any, y: ArrayLike, weights: FloatArray | None = None) -> SizeMixRegression:
        """Fit the heads to all training graphs, and weigh them by an inner size shift."""
        return SizeMixRegression.learn(Examples(as_graphset(graphs), weights=weights), np.asarray(y, np.float64))

    @staticmethod
    def learn(train: Examples, y: FloatArray) -> SizeMixRegression:
        """As `fit`, for examples with their weights."""
        from threadpoolctl import threadpool_limits

        repeats, x = train.graph_weights(), log_numbers(train)
        kernel, counts = train.vertex_types(max(DEPTHS))
        mean, betas = np.average(x, weights=repeats), target_exponents(y, x, repeats)
        with threadpool_limits(1):  # products this small are slower with more threads
            heads = tuple(fit_ridge_heads(counts, kernel.offsets_, x - mean, y, betas, repeats))
            errors = inner_errors(counts, kernel.offsets_, x, y, repeats)
        evidence = -np.log(np.maximum(np.where(np.isnan(errors), 1.0, errors), LEAST_ERROR))
        return SizeMixRegression(kernel, heads, betas, evidence_weights(evidence), errors, float(mean))

    def predict(self, graphs: Any) -> FloatArray:
        """(graphs,). ``graphs``: whatever `as_graphset` takes, or examples."""
        return np.asarray(np.tensordot(self.head_weights, self.head_predictions(graphs), 2))

    def head_predictions(self, graphs: Any) -> FloatArray:
        """(heads, targets, graphs): each head by itself."""
        examples = graphs if isinstance(graphs, Examples) else Examples(as_graphset(graphs))
        counts, x = self.kernel.transform(examples.refined(self.kernel)), log_numbers(examples) - self.log_size
        return np.stack([head.predict(counts, x, self.betas) for head in self.heads])

    def explain(self, graph: Any, reference: Any = None) -> VertexExplanation:
        """What each vertex type and vertex adds to the number of one graph.

        Args:
            graph: one graph.
            reference: graphs to compare with: contributions are relative to their mean. Without it, relative to a graph
                of the same size without any of the types.
        """
        from anysize.kernels.explanation import explain_types

        graph_set = as_graphset(graph)
        terms, scalings = self._contributions(graph_set)
        terms = terms[0] if reference is None else terms[0] - self._contributions(reference)[0].mean(axis=0)
        predicted = float(self.predict(graph_set)[0])
        return explain_types(
            self.kernel, graph_set, terms, scalings, predicted=predicted, probability=None,
            score="weighted mean of the heads", base=predicted - float(terms.sum()),
            base_name="size" if reference is None else "size and mean reference",
        )  # fmt: skip

    def _contributions(self, graphs: Any) -> tuple[FloatArray, list[tuple[str, float]]]:
        """(graphs, columns): what each type adds, and map and exponent of the head in which it adds most."""
        examples = Examples(as_graphset(graphs))
        counts, x = self.kernel.transform(examples.refined(self.kernel)), log_numbers(examples) - self.log_size
        total, strongest = np.zeros(counts.shape), np.zeros(counts.shape[1])
        scalings = [("", 0.0)] * counts.shape[1]
        for head, shares in zip(self.heads, self.head_weights, strict=True):
            terms = head.contributions(counts, x, self.betas, shares)
            total[:, head.columns] += terms
            sizes = np.abs(terms).sum(axis=0)
            for column in np.flatnonzero(sizes > strongest[head.columns]):
                scalings[head.columns[column]] = head.scaling, float(head.exponents[column])
            strongest[head.columns] = np.maximum(strongest[head.columns], sizes)
        return total, scalings

    def summary(self) -> str:
        """The hypotheses with their weights and inner errors, the heaviest first."""
        lines = ["weight  depth  map          beta  inner RMSE / deviation"]
        for number in np.argsort(-self.head_weights, axis=None, kind="stable"):
            head, target = divmod(int(number), len(self.betas))
            held, error = self.heads[head], self.errors[head, target]
            lines.append(
                f"{self.head_weights[head, target]:6.3f}  {held.depth:5d}  {held.scaling:11}  {self.betas[target]:4.2f}"
                f"  {'-' if np.isnan(error) else f'{error:.3f}':>22}"
            )
        return "\n".join(lines)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What was learned, as a dictionary that JSON holds and plain arrays."""
        about, kernel_arrays = self.kernel.state()
        arrays = prefixed("kernel.", kernel_arrays)
        arrays |= {"betas": self.betas, "head_weights": self.head_weights, "errors": np.nan_to_num(self.errors, nan=-1)}
        for number, head in enumerate(self.heads):
            arrays |= prefixed(f"head{number}.", {name: getattr(head, name) for name in HEAD_ARRAYS})
        heads = [{"scaling": head.scaling, "depth": head.depth} for head in self.heads]
        return {"kernel": about, "heads": heads, "log_size": self.log_size}, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> SizeMixRegression:
        """The model from what `state` gave; it predicts the same."""
        from anysize.kernels.wl import WLKernel

        about = _STATE(about, "model")
        kernel = WLKernel.from_state(about["kernel"], arrays_of("kernel.", arrays))
        betas = check_array(
            arrays["betas"], "betas", "f", (None,), LOWEST_TARGET_EXPONENT, HIGHEST_TARGET_EXPONENT
        )  # fmt: skip
        heads = []
        for number, head in enumerate(about["heads"]):
            held = arrays_of(f"head{number}.", arrays)
            columns = check_array(held["columns"], "columns", "i", (None,), 0, int(kernel.offsets_[-1]) - 1)
            exponents = check_array(held["exponents"], "exponents", "f", (len(columns),))
            weights = check_array(held["weights"], "weights", "f", (len(columns) + 1, len(betas)))
            intercepts = check_array(held["intercepts"], "intercepts", "f", (len(betas),))
            heads.append(RidgeHeads(head["scaling"], head["depth"], columns, exponents, weights, intercepts))
        shape = (len(heads), len(betas))
        errors = check_array(arrays["errors"], "errors", "f", shape)
        return SizeMixRegression(
            kernel, tuple(heads), betas, check_array(arrays["head_weights"], "head_weights", "f", shape, 0, 1),
            np.where(errors < 0, np.nan, errors), float(about["log_size"]),
        )  # fmt: skip


_STATE = fields(
    {
        "kernel": fields({"kernel": text()}, others=True),
        "heads": list_of(fields({"scaling": one_of(*MAPS), "depth": integer(0)})),
        "log_size": real(0, 64),
    },
    others=True,
)
