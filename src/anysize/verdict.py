"""How good a fresh model is, beside two that know nothing but the shares of the classes and the sizes of the graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize.choice import Choice
from anysize.graphs import GraphSet
from anysize.methods import Examples
from anysize.methods.classical import SanityMethod
from anysize.tasks.metrics import accuracy, mcc

IntArray = NDArray[np.int64]
Remedies = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Verdict:
    """Scores of a model beside "majority" and "size-only", which were trained and are judged on the same graphs.

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
    """The sizes of graphs, their class numbers, and those that a model gave them."""

    sizes: IntArray
    y: IntArray
    chosen: IntArray

    @staticmethod
    def of(examples: Examples, chances: NDArray[np.float64]) -> Answers:
        """The answers are the classes with the largest of ``chances`` (graphs, classes)."""
        source: Any = examples.table if examples.graphs is None else examples.graphs
        return Answers(np.asarray(source.sizes), examples.labels(), chances.argmax(axis=1))


@dataclass(frozen=True, eq=False)
class Trial:
    """What a model said, kept for a verdict whenever somebody asks; ``doubtful``: whether losing to a rival is odd."""

    train: Answers
    validation: Answers | None
    metric: str
    doubtful: bool
    remedies: Remedies

    @staticmethod
    def of(choice: Choice, train: Answers, validation: Answers | None, metric: str, weighted: bool) -> Trial:
        """Of a model of this choice; ``weighted``: with class weights, which give up accuracy on purpose."""
        # Sanity rows are rivals themselves.
        doubtful = not isinstance(choice.method.learner, SanityMethod) and not (weighted and metric == "accuracy")
        return Trial(train, validation, metric, doubtful, remedies(choice))

    def verdict(self) -> Verdict:
        """Train the rivals, and compare."""
        from anysize.sanity import SizeOnly

        common = int(np.bincount(self.train.y).argmax())
        rival = SizeOnly().fit(_bare(self.train.sizes), self.train.y)

        def scores(said: Answers) -> dict[str, float]:
            measure = accuracy if self.metric == "accuracy" else mcc
            by_size = np.asarray(rival.predict(_bare(said.sizes)))
            given = {"model": said.chosen, "majority": np.full(len(said.y), common), "size-only": by_size}
            return {name: measure(said.y, answers) for name, answers in given.items()}

        seen = scores(self.train)
        held = None if self.validation is None else scores(self.validation)
        doubt = self._doubt(seen, held) if self.doubtful else None
        return Verdict(self.metric, seen, held, doubt, self.remedies if doubt else ())

    def _doubt(self, seen: Mapping[str, float], held: Mapping[str, float] | None) -> str | None:
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


def remedies(choice: Choice) -> Remedies:
    """What to try: where colours decide, the penalty forbids to look at them; kernels fail on other graphs."""
    penalised = bool(choice.runs[0].configuration.get("penalty"))
    other = "gamma-gin" if choice.method.name.endswith("kernel") else "wl-kernel"
    return (*((("penalty", 0),) if penalised else ()), ("method", other))


def _bare(sizes: IntArray) -> GraphSet:
    """Graphs of these sizes without edges: all that size-only looks at."""
    first = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return GraphSet(first, np.zeros(int(first[-1]) + 1, np.int64), np.zeros(0, np.uint32))
