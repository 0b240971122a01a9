r"""SizeMix: an ensemble over hypotheses on how counts scale with the size of a graph.

Let c_F(G) be the number of vertices of Weisfeiler-Lehman type F (colors refined 0 to 3 times), n the number of
vertices and n0 the geometric mean of n over the training graphs. If c_F grows as n^alpha within a class,
c_F (n0 / n)^alpha is the count that the graph would have at size n0, and can be compared across sizes. alpha is
unknown, so four maps are combined:

=========== =========================== ===================================================================
presence    log(1 + c)                  alpha = 0: having the type at all matters (a toxic group)
share       sqrt(c n0 / n)              alpha = 1: the share of vertices matters (composition)
fitted      sqrt(c (n0 / n)^alpha_F)    alpha fitted type by type from the training graphs
direction   c / |c|                     only the direction of the count vector matters
=========== =========================== ===================================================================

The square root stabilizes the variance of counts. alpha_F maximizes the Poisson likelihood of the counts given class
and log n (one intercept per class, classes weighted alike) under the prior N(1, 1/2^2), and is clipped to [0, 2].

Types tell trees of neighbors apart, not cycles. So F is also an induced pattern of 3 to 5 vertices, without colors, and
c_F the number of its copies; these have the maps *presence* and *fitted*, and two others:

=========== =========================== ===================================================================
occurrence  1 if c > 0                  alpha = 0, and one copy is as good as many
composition sqrt(c / copies)            the share among all patterns of as many vertices
=========== =========================== ===================================================================

Vertex features make further counts: of types whose colors are bins of the features (`VertexBins`), with the maps of
types, and of the vertices and edges in the quartiles of each feature by itself (`FeatureCounts`), with the maps of
patterns: a feature that varies smoothly over edges, one of many, is seen there.

Each map, with types of depth at most 0, 1 and 3 or with the patterns, is a **head**: a class-balanced L2 logistic
regression. The heads are fitted to the smaller 60 % of the training graphs and judged on the larger 40 %, and their
weights are those of which the weighted mean of probabilities has the highest likelihood there
(`anysize.methods.evidence.stacked_weights`). Then all heads are fitted to all training graphs. Probabilities are the
weighted mean of those of the heads; with several classes each head is one logistic regression per class against the
rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from anysize._progress import Progress
from anysize._schema import arrays_of, prefixed
from anysize._typing import FloatArray, IntArray
from anysize.graphs.labels import (
    Labels,
    classes_from_json,
    classes_to_json,
    distinct_classes,
    labels_of,
    training_weights,
)
from anysize.graphs.ragged import offsets, owners
from anysize.io.convert import as_graphset
from anysize.methods.evidence import balanced_mean, log_likelihood, one_against_rest, stacked_weights
from anysize.methods.method import EDGE_TYPES, NO_GRID, Arrays, Examples, Method, Run, TrainingData, learn_bins
from anysize.splits import random_60_and_40, smaller_and_larger
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.counting.columns import Columns
    from anysize.graphs.graphset import GraphSet
    from anysize.kernels.explanation import VertexExplanation
    from anysize.kernels.vertex_bins import FeatureCounts, VertexBins
    from anysize.kernels.wl import WLKernel
    from anysize.methods.sizemix_regression import SizeMixRegression

Source = Literal["types", "patterns", "bins", "features"]
DEPTHS = (0, 1, 3)
MAPS = ("presence", "share", "fitted", "direction")
PATTERN_SIZES = (3, 4, 5)
PATTERN_MAPS = ("occurrence", "presence", "fitted", "composition")
HEADS: tuple[tuple[Source, int | None, tuple[str, ...]], ...] = (  # what is counted, to which depth, and its maps
    *(("types", depth, MAPS) for depth in DEPTHS),
    ("patterns", None, PATTERN_MAPS),
    *(("bins", depth, MAPS) for depth in DEPTHS),
    ("features", None, PATTERN_MAPS),
)
INVERSE_REGULARIZATION = 10.0
LBFGS: Any = {"maxiter": 300, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(np.float64).eps}
ROUNDING = 1e-7  # of the lengths of centered rows, relative to that of the center
LOWEST_TYPE_SHARE = 0.01  # of the training graphs that have a type at least once
MAX_TYPES = 1000  # per depth: the most common ones
EXPONENT_PRIOR_MEAN, EXPONENT_PRIOR_DEVIATION, HIGHEST_EXPONENT = 1.0, 0.5, 2.0
HEAD_ARRAYS = ("columns", "exponents", "weights", "intercepts", "center")


class TypeName(NamedTuple):
    """What is counted, in explanations: its name is made when it is shown."""

    make: Callable[[], str]

    @property
    def name(self) -> str:
        return self.make()


class Tables(NamedTuple):
    """Counts in graphs, by what is counted (`Source`), log(n / n0), and how often each graph counts."""

    counts: Mapping[Source, csr_array[Any]]
    log_sizes: FloatArray
    weights: FloatArray

    def rows(self, chosen: IntArray) -> Tables:
        """Those of some of the graphs."""
        counts = {source: csr_array(table[chosen]) for source, table in self.counts.items()}
        return Tables(counts, self.log_sizes[chosen], self.weights[chosen])

    @property
    def mean_log_size(self) -> float:
        """The mean of log(n / n0)."""
        return float(np.average(self.log_sizes, weights=self.weights))


class Entries(NamedTuple):
    """The nonzero entries of some columns of a table, which have the numbers 0, 1, ... here.

    Plain arrays: with one small graph most time would go into making sparse matrices. ``groups``: of the columns, for
    the map *composition*.
    """

    rows: IntArray
    columns: IntArray
    values: FloatArray
    shape: tuple[int, int]
    groups: IntArray

    @staticmethod
    def of(table: csr_array[Any], columns: IntArray, groups: IntArray) -> Entries:
        """Those of the columns with these numbers, in ascending order."""
        shape = table.shape[0], len(columns)
        numbers = np.full(table.shape[1], -1)
        numbers[columns] = np.arange(len(columns))
        number = numbers[table.indices]
        kept = (number >= 0) & (table.data != 0)
        values = table.data[kept].astype(np.float64, copy=False)
        return Entries(owners(table.indptr)[kept], number[kept], values, shape, groups)

    def table(self, values: FloatArray) -> csr_array[np.float64]:
        """The table with other values at these entries."""
        return csr_array((values, self.columns, offsets(np.bincount(self.rows, minlength=self.shape[0]))), self.shape)


@dataclass(frozen=True, eq=False)
class Head:
    """One logistic regression per class (one in all for two classes) on one map of types up to one depth, or patterns.

    Attributes:
        scaling: the name of the map. source: what is counted.
        depth: types are refined at most so often; None for what is not refined.
        columns: (features,) of what is counted.
        exponents: (regressions, features); 1 for share, and 0 for other maps that are not fitted.
        weights: (regressions, features), intercepts: (regressions,): logits are mapped counts @ weights + intercept.
        center: (regressions, features) mean mapped counts of the training graphs, classes weighted alike.
    """

    scaling: str
    source: Source
    depth: int | None
    columns: IntArray
    exponents: FloatArray
    weights: FloatArray
    intercepts: FloatArray
    center: FloatArray

    def counts(self, tables: Tables) -> Entries:
        """The counts of this head; heads of one source and depth have the same."""
        return Entries.of(tables.counts[self.source], self.columns, groups_of(self.source, self.columns))

    def mapped(self, tables: Tables, regression: int) -> FloatArray:
        """(graphs, features): the input of one regression."""
        counts = self.counts(tables)
        values = map_counts(counts, tables.log_sizes, self.scaling, self.exponents[regression])
        return np.asarray(counts.table(values).toarray())

    def logits(self, counts: Entries, log_sizes: FloatArray) -> FloatArray:
        """(graphs, regressions)."""
        graphs = counts.shape[0]
        logits = np.empty((graphs, len(self.intercepts)))
        for number, (exponents, weights) in enumerate(zip(self.exponents, self.weights, strict=True)):
            terms = map_counts(counts, log_sizes, self.scaling, exponents) * weights[counts.columns]
            logits[:, number] = np.bincount(counts.rows, terms, graphs)
        return logits + self.intercepts


def all_logits(heads: Sequence[Head], tables: Tables) -> Iterator[FloatArray]:
    """(graphs, regressions) of every head; columns are selected once per source and depth."""
    known: dict[tuple[Source, int | None, bytes], Entries] = {}
    for head in heads:
        key = head.source, head.depth, head.columns.tobytes()
        if key not in known:
            known[key] = head.counts(tables)
        yield head.logits(known[key], tables.log_sizes)


def map_counts(counts: Entries, log_sizes: FloatArray, scaling: str, exponents: FloatArray) -> FloatArray:
    """Nonzero counts under one hypothesis on how they scale; ``log_sizes`` are log(n / n0). Zeros stay zeros."""
    values, rows = counts.values, counts.rows
    if scaling == "presence":
        return np.log1p(values)
    if scaling == "occurrence":
        return (values > 0).astype(np.float64)
    if scaling == "direction":
        return values / np.sqrt(np.bincount(rows, values**2))[rows]
    if scaling == "composition":
        groups = counts.groups
        same = rows * (int(groups.max(initial=0)) + 1) + groups[counts.columns]  # in the same graph
        return np.asarray(np.sqrt(values / np.bincount(same, values)[same]))
    return np.sqrt(values * np.exp(-log_sizes[rows] * exponents[counts.columns]))


def plain_patterns() -> Columns:
    """The patterns, in the order of their columns."""
    from anysize.counting.columns import Columns

    return Columns.plain(*PATTERN_SIZES)


def groups_of(source: Source, columns: IntArray) -> IntArray:
    """What is compared by *composition*: patterns of as many vertices; vertices, or edges, by the bins of a feature."""
    if source == "features":
        from anysize.kernels.vertex_bins import count_groups

        return count_groups(columns)
    if source == "patterns":
        return np.searchsorted(PATTERN_SIZES, plain_patterns().size[columns])
    return np.zeros(len(columns), np.int64)


def log_numbers(examples: Examples) -> FloatArray:
    """log n of every graph; an empty graph counts as one vertex."""
    return np.log(np.maximum(examples.sizes, 1).astype(np.float64))


def fit_exponents(
    counts: csr_array[np.float64], log_sizes: FloatArray, y: IntArray, graph_weights: FloatArray
) -> FloatArray:
    """alpha_F for every column: Newton's method on the penalized Poisson likelihood, class intercepts profiled out."""
    alpha = np.full(counts.shape[1], EXPONENT_PRIOR_MEAN)
    prior = EXPONENT_PRIOR_DEVIATION**-2
    # of each class: its weight, the sizes that occur and their numbers, sums of its counts and of counts * log size
    classes: list[Any] = []
    for each in np.unique(y):
        rows = np.flatnonzero(y == each)
        graphs, x, table = graph_weights[rows], log_sizes[rows], counts[rows]
        sizes, codes = np.unique(x, return_inverse=True)
        share = graph_weights.sum() / (2 * graphs.sum())
        classes.append((share, sizes, np.bincount(codes, graphs), graphs @ table, (graphs * x) @ table))
    for _ in range(8):
        gradient, curvature = -(alpha - EXPONENT_PRIOR_MEAN) * prior, np.full(counts.shape[1], prior)
        for weight, x, amounts, total, moment in classes:
            shares = amounts[:, None] * np.exp(np.outer(x, alpha))
            shares /= shares.sum(axis=0)
            mean, square = x @ shares, x**2 @ shares
            gradient += weight * (moment - total * mean)
            curvature += weight * total * (square - mean**2)
        alpha = np.clip(alpha + gradient / curvature, -1, 3)
    return np.asarray(np.clip(alpha, 0, HIGHEST_EXPONENT))


@dataclass(frozen=True, eq=False)
class SizeMix:
    """A fitted ensemble over hypotheses on how counts of vertex types and patterns scale (module docstring).

    Attributes:
        classes: the classes in ascending order.
        kernel: the Weisfeiler-Lehman features. heads: twelve of types, four of patterns; with vertex features twelve of
            types of bins and four of each feature by itself.
        head_weights: (heads,) their weights. evidence: (heads,) the mean log-likelihood of each by itself on the larger
            training graphs; nan with too few graphs for that, when all heads weigh the same.
        log_size: mean log number of vertices of the training graphs.
        bins: of vertex features. bin_kernel: the Weisfeiler-Lehman features of graphs that they color. feature_counts:
            counts by each feature by itself. None if the training graphs have no features.

    Examples:
        >>> import networkx as nx
        >>> small = [nx.cycle_graph(n) for n in range(6, 26)] + [nx.path_graph(n) for n in range(6, 26)]
        >>> model = SizeMix.fit(small, ["ring"] * 20 + ["path"] * 20)
        >>> model.predict([nx.cycle_graph(100), nx.path_graph(100)]).tolist()
        ['ring', 'path']
    """

    classes: Labels
    kernel: WLKernel
    heads: tuple[Head, ...]
    head_weights: FloatArray
    evidence: FloatArray
    log_size: float
    bins: VertexBins | None = None
    bin_kernel: WLKernel | None = None
    feature_counts: FeatureCounts | None = None

    @staticmethod
    def fit(graphs: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> SizeMix:
        """Fit the heads to all training graphs, and weigh them by an inner size shift.

        ``sample_weight``: how often each graph counts; once if None.
        """
        graph_set = as_graphset(graphs)
        labels = labels_of(graph_set, y)
        rows, weights = training_weights(sample_weight, len(graph_set))
        return SizeMix.learn(Examples(graph_set[rows], weights=weights), labels[rows])

    @staticmethod
    def learn(train: Examples, labels: Labels) -> SizeMix:
        """As `fit`, for examples with their weights; their counts and types are kept in them."""
        from threadpoolctl import threadpool_limits

        classes = distinct_classes(labels)
        codes, graph_weights = np.searchsorted(classes, labels).astype(np.int64), train.graph_weights()
        kernel, types = train.vertex_types(max(DEPTHS))
        patterns = train.counts(PATTERN_SIZES, colors=False).matrix
        counts: dict[Source, csr_array[Any]] = {"types": types, "patterns": patterns}
        offsets: dict[Source, IntArray] = {"types": kernel.offsets_}
        known: dict[str, Any] = {}
        bins = learn_bins(train.whole("sizemix"))
        if bins is not None:
            from anysize.kernels.vertex_bins import FeatureCounts

            by_feature = FeatureCounts.of(train.whole("sizemix"))
            assert by_feature is not None
            bin_kernel, counts["bins"] = train.binned(bins).vertex_types(max(DEPTHS))
            counts["features"], offsets["bins"] = by_feature.counts(train.whole("sizemix")), bin_kernel.offsets_
            known = {"bins": bins, "bin_kernel": bin_kernel, "feature_counts": by_feature}
        tables = Tables(counts, log_numbers(train), graph_weights)
        with threadpool_limits(1):  # products this small are slower with more threads
            heads = tuple(fit_heads(tables, offsets, codes, len(classes)))
            likelihood, judged = inner_likelihood(tables, offsets, codes, len(classes), len(heads))
        head_weights = stacked_weights(likelihood, codes[judged], graph_weights[judged])
        evidence = np.full(len(heads), np.nan)
        if len(judged):
            evidence = balanced_mean(likelihood, codes[judged], graph_weights[judged])
        return SizeMix(classes, kernel, heads, head_weights, evidence, tables.mean_log_size, **known)

    def predict_proba(self, graphs: Any) -> FloatArray:
        """(graphs, classes). ``graphs``: whatever `as_graphset` takes, or examples."""
        mean = np.tensordot(self.head_weights, self.head_probabilities(graphs), 1)
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))

    def head_probabilities(self, graphs: Any) -> FloatArray:
        """(heads, graphs, classes): each head by itself; rows of several classes need not sum to 1."""
        tables = self._input(graphs if isinstance(graphs, Examples) else Examples(as_graphset(graphs)))
        logits = np.concatenate(list(all_logits(self.heads, tables)))
        return one_against_rest(logits).reshape(len(self.heads), len(tables.log_sizes), len(self.classes))

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most probable class of every graph."""
        return np.asarray(self.classes[self.predict_proba(graphs).argmax(axis=1)])

    def summary(self) -> str:
        """The heads with their weights and evidence, and the fitted exponents."""
        width = 8 if self.bins is None else 15
        title = f"weight  {'counts':{width}}"
        lines = [f"{title}  scaling      inner log-likelihood  exponents (10 %, median, 90 %)"]
        for number in np.argsort(-self.head_weights, kind="stable"):
            head, likelihood = self.heads[number], self.evidence[number]
            spread = ""
            if head.scaling == "fitted" and head.exponents.size:
                spread = "  ".join(f"{value:.2f}" for value in np.quantile(head.exponents, [0.1, 0.5, 0.9]))
            evidence = "-" if np.isnan(likelihood) else f"{likelihood:.3f}"
            counts = head.source if head.depth is None else f"depth {head.depth}"
            counts += " of bins" if head.source == "bins" else ""
            weight = self.head_weights[number]
            lines.append(f"{weight:6.3f}  {counts:{width}}  {head.scaling:11}  {evidence:>20}  {spread}".rstrip())
        return "\n".join(lines)

    def explain(self, graph: Any, reference: Any = None) -> VertexExplanation:
        """What each vertex type, pattern and vertex adds to the logit of the predicted class of one graph.

        The logit is the weighted mean over the heads, of which each is a sum over types or patterns. With more than two
        classes it is that of the predicted class against the rest.

        Args:
            graph: one graph.
            reference: graphs to compare with. Contributions are relative to their mean, or without them to the mean
                training graph (classes weighted alike).
        """
        from anysize.kernels.explanation import explain_types

        graph_set = as_graphset(graph)
        if len(graph_set) != 1:
            raise ValueError(f"explain takes one graph; got {len(graph_set)}")
        chances = self.predict_proba(graph_set)[0]
        predicted = int(chances.argmax())
        regression, sign = (predicted, 1.0) if len(self.classes) > 2 else (0, 1.0 if predicted == 1 else -1.0)
        tables = self._input(Examples(graph_set))
        others = None if reference is None else self._input(Examples(as_graphset(reference)))
        starts, width = {}, 0
        for source, table in tables.counts.items():
            starts[source], width = width, width + table.shape[1]
        base, total, strongest, scalings = 0.0, np.zeros(width), np.zeros(width), [("", 0.0)] * width
        for head, weight in zip(self.heads, sign * self.head_weights, strict=True):
            center = head.center[regression] if others is None else head.mapped(others, regression).mean(axis=0)
            mapped = head.mapped(tables, regression)[0]
            terms = weight * (mapped - center) * head.weights[regression]
            base += weight * float(head.intercepts[regression] + center @ head.weights[regression])
            columns = head.columns + starts[head.source]
            total[columns] += terms
            for column in np.flatnonzero(np.abs(terms) > strongest[columns]):
                scalings[columns[column]] = head.scaling, float(head.exponents[regression, column])
            strongest[columns] = np.maximum(strongest[columns], np.abs(terms))
        types = tables.counts["types"].shape[1]
        return explain_types(
            self.kernel, graph_set, total[:types], scalings, pattern_terms=total[types:],
            patterns=(*plain_patterns().patterns, *self._bin_types(), *self._feature_names()),
            copies=np.concatenate([table.toarray()[0] for table in tables.counts.values()])[types:],
            predicted=self.classes[[predicted]].tolist()[0], probability=float(chances[predicted]),
            score="mean logit of the heads", base=base,
            base_name="mean training graph" if reference is None else "mean reference graph",
        )  # fmt: skip

    def _bin_types(self) -> list[TypeName]:
        """Names of the columns of the types of bins."""
        if self.bin_kernel is None:
            return []
        limits = self.bin_kernel.offsets_.tolist()
        return [
            TypeName(partial(self.bin_kernel.type_name, depth, number))
            for depth, (begin, end) in enumerate(pairwise(limits))
            for number in range(end - begin)
        ]

    def _feature_names(self) -> list[TypeName]:
        """Names of the columns of each feature by itself."""
        counts = self.feature_counts
        return [] if counts is None else [TypeName(partial(counts.name, column)) for column in range(counts.width)]

    def _input(self, examples: Examples) -> Tables:
        """All counts, and log(n / n0); none of patterns where no head is of them."""
        if any(head.source == "patterns" for head in self.heads):
            patterns = examples.counts(PATTERN_SIZES, colors=False).matrix
        else:
            patterns = csr_array((len(examples), len(plain_patterns())), dtype=np.int64)
        types = self.kernel.transform(examples.refined(self.kernel))
        counts: dict[Source, csr_array[Any]] = {"types": types, "patterns": patterns}
        if self.bins is not None and self.bin_kernel is not None and self.feature_counts is not None:
            counts["bins"] = self.bin_kernel.transform(examples.binned(self.bins).refined(self.bin_kernel))
            counts["features"] = self.feature_counts.counts(examples.whole("sizemix"))
        return Tables(counts, log_numbers(examples) - self.log_size, np.ones(len(examples)))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What was learned, as a dictionary that JSON holds and plain arrays."""
        about, kernel_arrays = self.kernel.state()
        arrays = prefixed("kernel.", kernel_arrays) | {"head_weights": self.head_weights, "evidence": self.evidence}
        for number, head in enumerate(self.heads):
            arrays |= prefixed(f"head{number}.", {name: getattr(head, name) for name in HEAD_ARRAYS})
        heads = [{"scaling": head.scaling, "source": head.source, "depth": head.depth} for head in self.heads]
        classes = classes_to_json(self.classes)
        whole = {"classes": classes, "kernel": about, "heads": heads, "log_size": self.log_size}
        if self.bins is not None and self.bin_kernel is not None and self.feature_counts is not None:
            whole["bins"], whole["feature_counts"] = self.bins.state(), self.feature_counts.state()
            whole["bin_kernel"], kernel_arrays = self.bin_kernel.state()
            arrays |= prefixed("bin_kernel.", kernel_arrays)
        return whole, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: Arrays) -> SizeMix:
        """The model from what `state` gave; it predicts the same."""
        from anysize.kernels.wl import WLKernel

        kernel = WLKernel.from_state(about["kernel"], arrays_of("kernel.", arrays))
        known: dict[str, Any] = {}
        if "bins" in about:
            from anysize.kernels.vertex_bins import FeatureCounts, VertexBins

            bin_kernel = WLKernel.from_state(about["bin_kernel"], arrays_of("bin_kernel.", arrays))
            known = {"bins": VertexBins.from_state(about["bins"]), "bin_kernel": bin_kernel}
            known["feature_counts"] = FeatureCounts.from_state(about["feature_counts"])
        heads = []
        for number, head in enumerate(about["heads"]):
            source = head.get("source", "types" if head["depth"] is not None else "patterns")
            held = (arrays[f"head{number}.{name}"] for name in HEAD_ARRAYS)
            heads.append(Head(head["scaling"], source, head["depth"], *held))
        return SizeMix(
            classes_from_json(about["classes"]), kernel, tuple(heads), arrays["head_weights"],
            arrays["evidence"], float(about["log_size"]), **known,
        )  # fmt: skip


def inner_likelihood(
    tables: Tables, offsets: Mapping[Source, IntArray], y: IntArray, classes: int, heads: int
) -> tuple[FloatArray, IntArray]:
    """Log-likelihoods (heads, graphs) of the larger graphs, about 40 %, by heads of the smaller ones; their positions.

    Of a random 40 % of every class if all graphs have the same size; of none if there are too few graphs for that. If
    the smaller graphs have one class, all heads are alike: nothing shows which scaling holds.
    """
    small, large = smaller_and_larger(tables.log_sizes, tables.weights)
    if not len(large):
        small, large = random_60_and_40(y, 0)
    if not len(large):
        return np.zeros((heads, 0)), large
    fitted, judged = tables.rows(small), tables.rows(large)
    judged = judged._replace(log_sizes=judged.log_sizes - fitted.mean_log_size)
    logits_by_head = all_logits(tuple(fit_heads(fitted, offsets, y[small], classes)), judged)
    return np.stack([log_likelihood(one_against_rest(logits), y[large]) for logits in logits_by_head]), large


def fit_heads(tables: Tables, offsets: Mapping[Source, IntArray], y: IntArray, classes: int) -> Iterator[Head]:
    """The heads of what is counted, in the order of `HEADS`; ``offsets``: of the columns of every depth, for types."""
    relative = tables.log_sizes - tables.mean_log_size
    targets = [(y == each).astype(np.int64) for each in (range(classes) if classes > 2 else (1,))]
    for source, depth, maps in HEADS:
        counts = tables.counts.get(source)
        if counts is None:
            continue
        limit = counts.shape[1] if depth is None else int(offsets[source][depth + 1])
        columns = common_columns(counts, limit, tables.weights)
        entries = Entries.of(counts, columns, groups_of(source, columns))
        chosen = entries.table(entries.values)
        alphas = np.stack([fit_exponents(chosen, relative, target, tables.weights) for target in targets])
        for scaling in maps:
            exponents = alphas if scaling == "fitted" else np.full_like(alphas, float(scaling == "share"))
            rows = []
            for target, alpha in zip(targets, exponents, strict=True):
                mapped = map_counts(entries, relative, scaling, alpha)
                rows.append(fit_balanced_regression(entries.table(mapped), target, tables.weights))
            weights, intercepts, centers = map(np.stack, zip(*rows, strict=True))
            yield Head(scaling, source, depth, columns, exponents, weights, intercepts, centers)


def common_columns(counts: csr_array[Any], limit: int, weights: FloatArray) -> IntArray:
    """Columns below the limit that at least 1 % of the graphs have (and two), the most common ones."""
    occurs = counts.data > 0
    graphs = np.bincount(counts.indices[occurs], weights[owners(counts.indptr)[occurs]], counts.shape[1])
    known = np.arange(counts.shape[1]) < limit
    columns = np.flatnonzero(known & (graphs >= max(2, np.ceil(LOWEST_TYPE_SHARE * weights.sum()))))
    if len(columns) > MAX_TYPES:
        columns = np.sort(columns[np.argsort(-graphs[columns], kind="stable")[:MAX_TYPES]])
    return columns


def fit_balanced_regression(
    table: csr_array[np.float64] | FloatArray, target: IntArray, graph_weights: FloatArray
) -> tuple[FloatArray, float, FloatArray]:
    """Weights, intercept and center of one class-balanced L2 logistic regression.

    It is that of scikit-learn on centered features that are scaled to the mean length 1, but a sparse table stays
    sparse: the center is subtracted from products.
    """
    features = table.shape[1]
    from scipy.optimize import minimize

    if len(np.unique(target)) < 2:
        return np.zeros(features), 0.0, np.zeros(features)
    balance = graph_weights / np.bincount(target, graph_weights)[target] / 2
    center: FloatArray = np.asarray(balance @ table)
    scale = float(np.average(_lengths(table, center), weights=graph_weights))
    if scale <= ROUNDING * float(np.linalg.norm(center)):  # all graphs are alike, up to rounding
        return np.zeros(features), 0.0, center
    signs, penalty = 2.0 * target - 1, 1 / (INVERSE_REGULARIZATION * graph_weights.sum())

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        """The objective and its gradient at the weights of scaled features and the intercept."""
        weights = parameters[:-1] / scale
        margins = signs * (table @ weights - center @ weights + parameters[-1])
        slopes = -balance * signs * expit(-margins)
        gradient = np.append((slopes @ table - slopes.sum() * center) / scale, slopes.sum())
        gradient[:-1] += penalty * parameters[:-1]
        value = balance @ np.logaddexp(0, -margins) + penalty / 2 * (parameters[:-1] @ parameters[:-1])
        return float(value), gradient

    solved = minimize(loss, np.zeros(features + 1), jac=True, method="L-BFGS-B", options=LBFGS)
    weights = solved.x[:-1] / scale
    return weights, float(solved.x[-1] - weights @ center), center


def _lengths(table: csr_array[np.float64] | FloatArray, center: FloatArray) -> FloatArray:
    """(graphs,): the lengths of the rows of the centered table."""
    if isinstance(table, np.ndarray):
        return np.asarray(np.sqrt(((table - center) ** 2).sum(axis=1)))
    rows, centers = owners(table.indptr), center[table.indices]
    of_zeros = center @ center - np.bincount(rows, centers**2, table.shape[0])
    squares = np.bincount(rows, (table.data - centers) ** 2, table.shape[0])
    return np.asarray(np.sqrt(squares + np.maximum(of_zeros, 0)))


# ---- the method ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SizeMixLearner:
    """Fits the ensemble; it always weighs classes alike, and seeds do not matter."""

    def fit(
        self, data: TrainingData, runs: Sequence[Run], recipe: Recipe, progress: Progress | None = None,
        max_stack: int | None = None,
    ) -> Iterator[FittedSizeMix]:  # fmt: skip
        """Fit one ensemble for all runs."""
        from anysize.methods.sizemix_regression import SizeMixRegression

        model: SizeMix | SizeMixRegression
        bins = None
        if data.classes:
            model = SizeMix.learn(data.train, data.train.labels())
        else:
            bins = learn_bins(data.train.whole("sizemix"))
            model = SizeMixRegression.learn(data.train.binned(bins), data.train.numbers())
        for run in runs:
            yield FittedSizeMix(model, (run,), data.classes, bins)

    def restore(self, about: dict[str, Any], arrays: Arrays) -> FittedSizeMix:
        """A fitted ensemble from what `FittedSizeMix.state` returned."""
        from anysize.methods.sizemix_regression import SizeMixRegression

        runs, classes = tuple(Run(**run) for run in about["runs"]), about["class_count"]
        if classes:
            return FittedSizeMix(SizeMix.from_state(about, arrays), runs, classes)
        bins = None
        if "bins" in about:
            from anysize.kernels.vertex_bins import VertexBins

            bins = VertexBins.from_state(about["bins"])
        return FittedSizeMix(SizeMixRegression.from_state(about, arrays), runs, classes, bins)


@dataclass(frozen=True, eq=False)
class FittedSizeMix:
    """One fitted ensemble; ``classes``: all of the task, of which training may have had fewer; 0 for numbers.

    ``bins``: of vertex features, which a regression takes as colors.
    """

    model: SizeMix | SizeMixRegression
    runs: tuple[Run, ...]
    classes: int
    bins: VertexBins | None = None
    trained: None = None

    def outputs(self, examples: Examples) -> FloatArray:
        if not isinstance(self.model, SizeMix):
            return self.model.predict(examples.binned(self.bins))[None, :, None]
        full = np.zeros((1, len(examples), self.classes))
        full[0][:, np.asarray(self.model.classes, np.int64)] = self.model.predict_proba(examples)
        return full

    def represent(self, examples: Examples) -> FloatArray:
        """The probabilities, or numbers, of the heads, side by side."""
        if not isinstance(self.model, SizeMix):
            return self.model.head_predictions(examples.binned(self.bins)).reshape(-1, len(examples)).T[None]
        return np.concatenate(list(self.model.head_probabilities(examples)), axis=1)[None]

    def explain(self, examples: Examples, reference: Examples | None = None) -> VertexExplanation:
        """What vertex types and vertices add to the logit of the predicted class of one graph, or to its number."""
        shown, others = (None if each is None else self._explained(each) for each in (examples, reference))
        return self.model.explain(shown, others)

    def _explained(self, examples: Examples) -> GraphSet:
        return (examples if isinstance(self.model, SizeMix) else examples.binned(self.bins)).whole("sizemix")

    def state(self) -> tuple[dict[str, Any], Arrays]:
        about, arrays = self.model.state()
        if self.bins is not None:
            about["bins"] = self.bins.state()
        return about | {"runs": [asdict(run) for run in self.runs], "class_count": self.classes}, arrays


SIZEMIX = Method(
    name="sizemix", title="SizeMix", learner=SizeMixLearner(), predicts=frozenset({"classes", "numbers"}), grid=NO_GRID,
    seeded=False,
    edges=EDGE_TYPES, features="numbers",
)  # fmt: skip
