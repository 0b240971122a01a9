"""Compare new graphs with training graphs before predicting on them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ks_2samp

from anysize._errors import GraphError
from anysize.causal.graphon_check import GraphonCheck, check_graphon
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import labels_of
from anysize.io.convert import as_graphset, warn_of_complete_graphs
from anysize.methods.method import Examples, TrainingData, class_weights
from anysize.patterns.pattern import check_size
from anysize.shift.advice import Advice, advise
from anysize.shift.colors import ColorShift, compare_colors, merge_roles
from anysize.shift.densities import Over, PatternFamily, compare_family, measure_sparsity, sample_patterns
from anysize.shift.findings import SUBJECTS, Findings, Question, SizeShift
from anysize.shift.hypothesis_tests import adjust_holm
from anysize.shift.labels import analyze_label

if TYPE_CHECKING:
    from anysize.estimators.classifier import GraphClassifier
    from anysize.estimators.forecast import Forecast
    from anysize.methods.auto import Decision

FAR_RATIO = 1.5  # of the medians: disjoint sizes so far apart are a shift however few the graphs


@dataclass(frozen=True)
class Diagnosis:
    """How new graphs differ from training graphs, and which method follows from that.

    ``findings`` holds the numbers, ``check`` compares the training graphs with samples of graphons, ``advice`` is the
    suggested method, ``sizes`` the numbers of vertices of both sets, ``forecast`` what to expect of a trained model on
    the new graphs (None without a model; of several targets a dictionary). ``str(diagnosis)`` is the report as text.
    """

    findings: Findings
    check: GraphonCheck
    advice: Advice
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    forecast: Forecast | dict[str, Forecast] | None = None

    def __str__(self) -> str:
        from anysize.shift.report import to_text

        return to_text(self.findings, self.advice, self.forecast)

    def to_html(self) -> str:
        """The report as one self-contained page. Needs matplotlib."""
        from anysize.shift.report import to_page

        return to_page(self.findings, self.advice, self.sizes, self.forecast)

    def to_json(self) -> dict[str, Any]:
        """Findings and advice as a dictionary for ``json.dumps``."""
        check = {name: value if isfinite(value) else None for name, value in asdict(self.check).items()}
        advice = {**asdict(self.advice), "call": self.advice.call}
        answer: dict[str, Any] = {"check": {**check, "regime": self.check.regime}, "advice": advice, "forecast": None}
        if isinstance(self.forecast, dict):
            answer["forecast"] = {target: asdict(forecast) for target, forecast in self.forecast.items()}
        elif self.forecast is not None:
            answer["forecast"] = asdict(self.forecast)
        return {**asdict(self.findings), **answer}


def diagnose(
    train: Any,
    new: Any,
    k: int = 4,
    y: ArrayLike | None = None,
    *,
    model: GraphClassifier | None = None,
    colors: bool = True,
    level: float = 0.05,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Diagnosis:
    """Compare new graphs with training graphs: sizes, colors, densities beyond what sizes explain.

    Also tests whether the label of the training graphs follows size, and says what the default classifier would do with
    the training graphs. Labels of the new graphs are not used.

    Args:
        train: training graphs, anything that `anysize.count` takes.
        new: the graphs to predict on, likewise.
        k: largest number of vertices of a pattern, 2 to 7.
        y: classes of the training graphs, where they do not carry their own.
        model: fitted to the training graphs; the diagnosis then has a forecast of its scores on the new graphs, whose
            interval is wider where densities differ beyond what sizes explain.
        colors: compare vertex colors, where both sets have them.
        level: probability of any false alarm among the questions about the new graphs.
        seed: of permutations and folds.
        progress: called with the share of the work done so far.

    Examples:
        >>> import anysize as az
        >>> classes = az.ErdosRenyi(0.3), az.ErdosRenyi(0.6)
        >>> small = az.sample_graphs(classes, az.Environment(sizes=(10, 12)), 40, seed=1)
        >>> large = az.sample_graphs(classes, az.Environment(sizes=(30,)), 30, seed=2)
        >>> report = diagnose(small, large, k=3)
        >>> report.findings.sizes_shifted, report.findings.beyond_size, report.advice.family
        (True, False, 'gamma')
    """
    if not 0 < level < 1:
        raise ValueError(f"level is a probability between 0 and 1; got {level!r}")
    tell = progress or (lambda done: None)
    forecast = None if model is None else model.forecast(new)
    both, n_train, y = _join_sets(train, new, k, y, colors)
    warn_of_complete_graphs(both)
    large = both.sizes >= k
    kept, n_kept = both[large], int(large[:n_train].sum())
    sizes = compare_sizes(both.sizes[:n_train], both.sizes[n_train:])
    plain = count(kept, range(2, k + 1), colors=False, progress=lambda done: tell(0.3 * done))
    sparsity = measure_sparsity(plain, n_kept)
    sparse = sparsity.kind == "sparse"
    over: Over = "connected" if sparse else "subsets"

    def compare(name: str, counts: Counts, over: Over) -> PatternFamily:
        sample = sample_patterns(counts, n_kept, over)
        return compare_family(name, over, sample, level, sparse and (sizes.p <= level or sizes.far))

    families = [compare("plain densities", plain, "subsets")]
    if sparse:  # every connected pair is an edge
        families.append(compare("connected shares", plain.select(plain.columns.size >= 3), over))
    colored: Counts | None = None
    shift: ColorShift | None = None
    if both.colors is not None:
        colored = count(kept, sorted({1, 2, k}), progress=lambda done: tell(0.3 + 0.3 * done))
        shift = compare_colors(both, n_train, y, seed, level)
        families.append(compare("colored densities", colored, over))
        if shift.roles is not None and shift.exchangeable:
            merged = count(merge_roles(kept, shift.roles), np.unique(colored.columns.size).tolist())
            families.append(compare("role patterns", merged, over))
    tell(0.7)
    label = None
    if y is not None:
        kept_colors = None if colored is None else colored[:n_kept]
        label = analyze_label(y[large[:n_train]], plain[:n_kept], kept_colors, over, seed, level)
    graphs = n_train, len(both) - n_train
    findings = Findings(
        k=int(k),
        level=level,
        graphs=graphs,
        too_small=(n_train - n_kept, graphs[1] - (len(kept) - n_kept)),
        questions=_answer(sizes, shift, families, level),
        sizes=sizes,
        colors=shift,
        sparsity=sparsity,
        families=tuple(families),
        label=label,
    )
    tell(1.0)
    vertices = both.sizes.tolist()
    check, decision = _check_training(both[:n_train], y, int(k), seed)
    if sparsity.kind == ("dense" if check.edges_grow_slowly else "sparse"):  # two estimates, and they disagree
        findings = replace(findings, sparsity=replace(sparsity, kind="unknown"))
    if model is not None and findings.beyond_size:
        forecast = model.forecast(new, far=1.0)
    sets = tuple(vertices[:n_train]), tuple(vertices[n_train:])
    return Diagnosis(findings, check, advise(findings, check, decision), sets, forecast)


def _check_training(
    graphs: GraphSet, y: NDArray[Any] | None, k: int, seed: int
) -> tuple[GraphonCheck, Decision | None]:
    """The graphon check of the training graphs and, where they have classes, the decision of `auto`."""
    classes, codes = (np.zeros(1), None) if y is None else np.unique(y, return_inverse=True)
    if len(classes) < 2 or codes is None or find_spec("torch") is None or find_spec("sklearn") is None:
        return check_graphon(graphs, codes), None
    from anysize.methods.auto import decide

    codes, weights = codes.astype(np.int64), class_weights(codes, len(classes))
    decision = decide(TrainingData(Examples(graphs, codes), None, len(classes), k, class_weights=weights), seed)
    return decision.check, decision


def compare_sizes(train: NDArray[Any], new: NDArray[Any]) -> SizeShift:
    """Compare numbers of vertices by Kolmogorov-Smirnov.

    >>> compare_sizes(np.array([10, 12, 14] * 10), np.array([30, 40] * 10)).far
    True
    """
    with warnings.catch_warnings():  # scipy warns where it uses the asymptotic distribution
        warnings.simplefilter("ignore", RuntimeWarning)
        test = ks_2samp(train, new)
    ratio = float(np.median(new) / max(float(np.median(train)), 1.0))
    disjoint = bool(train.max() < new.min() or new.max() < train.min())
    return SizeShift(
        train=tuple(np.quantile(train, [0, 0.25, 0.5, 0.75, 1]).tolist()),
        new=tuple(np.quantile(new, [0, 0.25, 0.5, 0.75, 1]).tolist()),
        ratio=ratio,
        within=float(np.mean((new >= train.min()) & (new <= train.max()))),
        distance=float(test.statistic),
        p=float(test.pvalue),
        detectable=min(1.36 * sqrt(1 / len(train) + 1 / len(new)), 1.0),
        disjoint=disjoint,
        far=disjoint and not 1 / FAR_RATIO < ratio < FAR_RATIO,
    )


def _answer(
    sizes: SizeShift, colors: ColorShift | None, families: list[PatternFamily], level: float
) -> tuple[Question, ...]:
    """Every question with its p-value, corrected for their number."""
    p = {"sizes": sizes.p} | {family.name: family.p for family in families}
    if colors is not None:
        p |= {"colors": colors.test.p} | ({} if colors.role_test is None else {"role shares": colors.role_test.p})
    subjects = [subject for subject in SUBJECTS if subject in p]
    adjusted = adjust_holm([p[subject] for subject in subjects]).tolist()
    return tuple(
        Question(subject, p[subject], value, value <= level or (subject == "sizes" and sizes.far))
        for subject, value in zip(subjects, adjusted, strict=True)
    )


def _join_sets(
    train: Any, new: Any, k: int, y: ArrayLike | None, colors: bool
) -> tuple[GraphSet, int, NDArray[Any] | None]:
    """All graphs, training graphs first, the number of training graphs, and their classes; checked."""
    if check_size(k) < 2:
        raise ValueError("a diagnosis needs patterns of 2 to 7 vertices; got k = 1")
    ours, theirs = as_graphset(train), as_graphset(new)
    for graphs, name, needed in ((ours, "training", 2), (theirs, "new", 1)):
        large = int((graphs.sizes >= k).sum())
        if large < needed:
            raise GraphError(
                f"Expected {needed} or more {name} graphs with at least k = {k} vertices; got {large} (of "
                f"{len(graphs)} graphs). Use a smaller k or other graphs."
            )
    labels = labels_of(ours, y) if y is not None or ours.y is not None else None
    if not colors:
        ours, theirs = ours.without_colors(), theirs.without_colors()
    if (ours.colors is None) != (theirs.colors is None):
        colored, other = ("training", "new") if ours.colors is not None else ("new", "training")
        raise GraphError(
            f"The {colored} graphs have colors and the {other} graphs have none. Color both, or ignore colors with "
            "colors=False (--no-colors)."
        )
    return GraphSet.concatenate([ours.with_y(None), theirs.with_y(None)]), len(ours), labels
