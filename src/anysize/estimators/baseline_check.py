"""How good a fresh model is, beside some that know next to nothing: the shares of the classes, the sizes of the graphs,
and where patterns were counted, the densities of plain ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._typing import IntArray
from anysize.counting.counts import Counts
from anysize.estimators.configuration import ResolvedConfig
from anysize.graphs.graphset import GraphSet
from anysize.methods.method import Examples
from anysize.tasks.metrics import accuracy, mcc

Remedies = tuple[tuple[str, Any], ...]

FEW = 5  # training graphs for each pattern: with fewer, logistic regression fits whatever it is given
LONGER = 3000  # epochs


@dataclass(frozen=True)
class Verdict:
    """Scores of a model beside those of rivals that were trained and are judged on the same graphs: "majority" and
    "size-only", and "topology-only" where the model looks at patterns.

    Attributes:
        metric: what the scores are, "accuracy" or "mcc".
        train: name -> score on the training graphs, for "model" and its rivals.
        validation: the same on validation graphs; None where there are none.
        doubt: in one sentence, why not to trust the model; None where nothing here speaks against it.
        remedies: what to try then: parameters of `GraphClassifier`, with values.
    """

    metric: str
    train: Mapping[str, float]
    validation: Mapping[str, float] | None = None
    doubt: str | None = None
    remedies: Remedies = ()


@dataclass(frozen=True, eq=False)
class Answers:
    """The sizes of graphs, their class numbers, those that a model gave them, and their plain patterns if counted."""

    sizes: IntArray
    y: IntArray
    chosen: IntArray
    patterns: Counts | None = None

    @staticmethod
    def of(examples: Examples, chances: NDArray[np.float64]) -> Answers:
        """The answers are the classes with the largest of ``chances`` (graphs, classes)."""
        table = examples.table
        source: Any = examples.graphs if table is None else table
        plain = None if table is None or table.sampling is not None else table.without_colors()
        return Answers(np.asarray(source.sizes), examples.labels(), chances.argmax(axis=1), plain)


@dataclass(frozen=True, eq=False)
class BaselineTrial:
    """What a model said, kept for a verdict whenever somebody asks; ``doubtful``: whether losing to a rival is odd.

    ``remedies``: what to try where nothing was learned; ``simpler``: where plain densities alone go farther.
    """

    train: Answers
    validation: Answers | None
    metric: str
    doubtful: bool
    remedies: Remedies
    simpler: Remedies = ()

    @staticmethod
    def of(
        choice: ResolvedConfig, train: Answers, validation: Answers | None, metric: str, weighted: bool
    ) -> BaselineTrial:
        """Of a model of this choice; ``weighted``: with class weights, which give up accuracy on purpose."""
        # Baselines are rivals themselves.
        doubtful = choice.method.kind != "baseline" and not (weighted and metric == "accuracy")
        simpler: Remedies = (("method", "topology-only"), *((("epochs", LONGER),) if choice.method.trained else ()))
        return BaselineTrial(train, validation, metric, doubtful, remedies(choice), simpler)

    def verdict(self) -> Verdict:
        """Train the rivals, and compare."""
        rivals = self._rivals()
        measure = accuracy if self.metric == "accuracy" else mcc

        def scores(said: Answers) -> dict[str, float]:
            given = {"model": said.chosen, **{name: rival(said) for name, rival in rivals.items()}}
            return {name: measure(said.y, answers) for name, answers in given.items()}

        seen = scores(self.train)
        held = None if self.validation is None else scores(self.validation)
        if not self.doubtful:
            return Verdict(self.metric, seen, held)
        doubt = self._nothing_learned(seen, held)
        if doubt is not None:
            return Verdict(self.metric, seen, held, doubt, self.remedies)
        doubt = self._less_than_shapes(seen, held)
        return Verdict(self.metric, seen, held, doubt, self.simpler if doubt else ())

    def _rivals(self) -> dict[str, Callable[[Answers], IntArray]]:
        """By name, each trained: what gives classes to graphs."""
        from anysize.methods.baselines import SizeOnly, TopologyOnly

        common = int(np.bincount(self.train.y).argmax())
        by_size = SizeOnly().fit(_bare(self.train.sizes), self.train.y)
        rivals: dict[str, Callable[[Answers], IntArray]] = {
            "majority": lambda said: np.full(len(said.y), common),
            "size-only": lambda said: np.asarray(by_size.predict(_bare(said.sizes))),
        }
        shapes = self.train.patterns
        if shapes is not None and (self.validation is None or self.validation.patterns is not None):
            by_shape = TopologyOnly(np.unique(shapes.columns.size).tolist()).fit(shapes, self.train.y)
            rivals["topology-only"] = lambda said: np.asarray(by_shape.predict(_aligned(said.patterns, shapes)))
        return rivals

    def _nothing_learned(self, seen: Mapping[str, float], held: Mapping[str, float] | None) -> str | None:
        """On validation graphs chance may put a rival ahead by as much as 1 / sqrt(graphs), two standard errors."""
        for scores, said, where in ((seen, self.train, "its own training"), (held, self.validation, "the validation")):
            if scores is None or said is None or scores["model"] == 1.0:
                continue
            best = max(("size-only", "majority"), key=scores.__getitem__)
            if scores["model"] - scores[best] <= (0.0 if said is self.train else -(len(said.y) ** -0.5)):
                return (
                    f"the model does not beat {best} on {where} graphs ({self.metric} {scores['model']:.3f}, {best} "
                    f"{scores[best]:.3f}): it has learned next to nothing"
                )
        return None

    def _less_than_shapes(self, seen: Mapping[str, float], held: Mapping[str, float] | None) -> str | None:
        """Whether plain densities alone go farther: on training graphs a question only if these are many."""
        scores, said, where = (seen, self.train, "training")
        if held is not None and self.validation is not None:
            scores, said, where = held, self.validation, "validation"
        elif self.train.patterns is None or len(said.y) < FEW * len(self.train.patterns.columns):
            return None
        own, other = scores["model"], scores.get("topology-only", 0.0)
        if other - own <= len(said.y) ** -0.5:
            return None
        return (
            f"the densities of plain patterns alone go farther on the {where} graphs ({self.metric} {own:.3f}, "
            f"topology-only {other:.3f}): the model has not learned what it could"
        )


def remedies(choice: ResolvedConfig) -> Remedies:
    """What to try: where colors decide, the penalty forbids to look at them; kernels fail on other graphs."""
    penalized = bool(choice.runs[0].configuration.get("penalty"))
    other = "gamma-gin" if choice.method.kind == "kernel" else "wl-kernel"
    return (*((("penalty", 0),) if penalized else ()), ("method", other))


def _bare(sizes: IntArray) -> GraphSet:
    """Graphs of these sizes without edges: all that size-only looks at."""
    first = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return GraphSet(first, np.zeros(int(first[-1]) + 1, np.int64), np.zeros(0, np.uint32))


def _aligned(counts: Counts | None, reference: Counts) -> Counts:
    assert counts is not None
    return counts.align(reference)
