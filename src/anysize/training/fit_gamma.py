"""The Gamma models: from tables of counts to a trained stack, and from a trained stack to logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.nn.gamma import GammaGNN, GammaOneHot, GammaRP, GraphModel, read
from anysize.nn.layers import EPSILON, initialize
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.recolored_pairs import RecoloredPairs
from anysize.nn.rows.structure import Dense, Structure, Sums
from anysize.training.color_roles import color_roles
from anysize.training.loop import LastEpoch, Losses, Trained, train
from anysize.training.objectives import color_penalty, cross_entropy, logit_penalty
from anysize.training.settings import Recipe, Settings
from anysize.training.vocabulary import Kind, Vocabulary


@dataclass(frozen=True)
class GammaShape:
    """Everything that fixes the tensors of a stack but the number of models."""

    kind: Kind
    inputs: int
    classes: int
    hidden: int
    layers: int
    recipe: Recipe
    k: int

    def build(self, jumping: Sequence[bool]) -> GraphModel:
        """A stack of untrained models."""
        models, jumps = len(jumping), any(jumping)
        representation: GammaOneHot | GammaGNN
        if self.kind == "1hot":
            representation = GammaOneHot(models, self.inputs, self.hidden)
        elif self.kind == "gnn":
            representation = GammaGNN(models, self.inputs, self.hidden, self.layers, self.recipe.encoder, jumps)
        else:
            inputs = self.inputs + self.k
            representation = GammaRP(models, inputs, self.hidden, self.layers, self.recipe.encoder, jumps)
        recipe = self.recipe
        return GraphModel.of(
            representation, models, self.classes, jumping, recipe.head_hidden, recipe.dropout,
            corrected=recipe.averages == "corrected",
        )  # fmt: skip

    def identities(self, amount: int | None = None) -> NDArray[np.int64] | None:
        """The fixed permutations of prediction: the same for every pattern, all of them where they are few."""
        if self.kind != "rp":
            return None
        wanted = self.recipe.test_permutations if amount is None else amount
        if self.recipe.permutations == "all" or wanted >= factorial(self.k):
            return np.array(list(permutations(range(self.k))))
        source = np.random.default_rng(0)
        return np.array([source.permutation(self.k) for _ in range(wanted)])

    def structure(self, columns: Columns, palette: Any, densities: csr_array[np.float64] | None) -> Structure:
        """What the representation runs on: graphs where densities are given, otherwise patterns."""
        if self.kind == "1hot":
            full = np.eye(len(columns)) if densities is None else densities.toarray()
            nothing = torch.zeros(0, 0)
            return Structure(nothing, nothing, (), (Dense(torch.from_numpy(full.astype(np.float32))),))
        largest = int(columns.size.max(initial=1))
        if largest > self.k:
            raise ValueError(
                f"this model was trained on patterns of up to {self.k} vertices and got some of {largest}; "
                f"count with the same k"
            )
        batch, encoder = PatternBatch.of(columns, palette, self.k), self.recipe.encoder
        return batch.structure(
            self.layers, densities, self.identities(), by_degree=encoder == "gcn", neighbors=encoder == "pna"
        )


class GammaProblem:
    """Training and validation graphs of a Gamma stack, on one device: a `training.Problem`."""

    def __init__(
        self, patterns: Structure | RecoloredPairs, y: Tensor, validation: tuple[Structure, Tensor] | None,
        members: Sequence[Settings], recipe: Recipe, class_weights: Tensor | None,
    ) -> None:  # fmt: skip
        self.patterns, self.y, self._validation = patterns, y, validation
        self.class_weights, self.recipe = class_weights, recipe
        self.weights = torch.tensor([member.penalty for member in members], device=y.device)
        self.penalized = any(member.penalty > 0 for member in members)

    recordable, threads = True, 1

    @property
    def size(self) -> int:
        return len(self.y)

    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        assert isinstance(model, GraphModel)
        structure, differences = self._drawn(step)
        rows = model.representation.encode(structure)
        y = self.y if graphs is None else self.y[graphs]
        readouts = structure.readouts
        if graphs is not None:
            readouts = tuple(readout.rows(graphs) for readout in readouts)
        gamma = read(rows, readouts)
        logits, deviation = model.head(gamma)
        entropy = cross_entropy(logits, y, self.class_weights)
        if not differences:
            return Losses(entropy, entropy, torch.zeros_like(entropy))
        watched = logit_penalty(model, rows, differences, deviation)
        penalty = watched
        if self.recipe.penalty == "representation":
            penalty, watched = color_penalty(model, rows, differences), watched.detach()
        return Losses(entropy + self.weights * penalty, entropy, watched)

    def _drawn(self, step: Tensor) -> tuple[Structure, tuple[Sums, ...]]:
        if isinstance(self.patterns, Structure):
            return self.patterns, ()
        drawn = self.patterns.draw(step)
        return drawn.structure, drawn.differences

    def validation(self, model: nn.Module) -> tuple[Tensor, Tensor] | None:
        if self._validation is None:
            return None
        structure, y = self._validation
        return model(structure), y


@dataclass(frozen=True, eq=False)
class GammaStack:
    """M trained Gamma models."""

    shape: GammaShape
    vocabulary: Vocabulary
    model: GraphModel
    members: tuple[Settings, ...]
    trained: Trained | None = None

    def logits(self, counts: Counts, last: LastEpoch | None = None) -> NDArray[np.float32]:
        """(models, graphs, classes); with ``last`` of the models after their last epoch too, in (2 models, ...)."""
        return self._run(counts, self.model if last is None else last.beside(self.model))

    def represent(self, counts: Counts) -> NDArray[np.float32]:
        """Gamma(G) of every graph: (models, graphs, width)."""
        return self._run(counts, self.model.represent)

    @torch.no_grad()
    def _run(self, counts: Counts, function: Callable[[Structure], Tensor]) -> NDArray[np.float32]:
        columns, densities = self.vocabulary.densities(counts)
        structure = self.shape.structure(columns, self.vocabulary.palette, densities)
        self.model.eval()
        found: NDArray[np.float32] = function(structure.to(_device(self.model))).cpu().numpy()
        return found

    @torch.no_grad()
    def pattern_logits(self, columns: Columns) -> NDArray[np.float32]:
        """What one unit of density of each pattern adds to the logits (linear heads): (models, patterns, classes)."""
        structure = self.shape.structure(columns, self.vocabulary.palette, None).to(_device(self.model))
        self.model.eval()
        norm = self.model.head.norm
        deviation = None if norm is None else torch.sqrt(norm.running_var + EPSILON)
        rows = self.model.representation.encode(structure)
        found: NDArray[np.float32] = read(rows, structure.readouts, self.model.head.slopes(deviation)).cpu().numpy()
        return found * self.vocabulary.scale

    # ---- as plain arrays -----------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that predicting needs: a dictionary that JSON holds, and plain arrays."""
        arrays = self.model.arrays()
        known = self.vocabulary
        if known.columns is not None:
            arrays |= {"columns.size": known.columns.size, "columns.place": known.columns.place}
            if known.columns.colors is not None:
                arrays["columns.colors"] = known.columns.colors
        about = {
            "shape": asdict(self.shape),
            "members": [asdict(member) for member in self.members],
            "palette": None if known.palette is None else list(known.palette.items()),
            "column_palette": None if known.columns is None else list(known.columns.palette),
            "over": known.over,
            "scale": known.scale,
            "within": known.within,
        }
        return about, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GammaStack:
        """The stack from what `state` gave; it predicts the same."""
        shape = GammaShape(**{**about["shape"], "recipe": Recipe(**about["shape"]["recipe"])})
        members = tuple(Settings.from_state(member) for member in about["members"])
        model = shape.build([member.jumping for member in members]).take(arrays)
        columns = None
        if about["column_palette"] is not None:
            colors = arrays.get("columns.colors")
            size, place = arrays["columns.size"], arrays["columns.place"]
            columns = Columns(size, place, colors, tuple(about["column_palette"]))
        palette = None if about["palette"] is None else dict(about["palette"])
        vocabulary = Vocabulary(palette, columns, about["over"], about["scale"], about["within"])
        return GammaStack(shape, vocabulary, model, members)


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def fit_gamma(
    kind: Kind, train_counts: Counts, y: NDArray[np.int64], members: Sequence[Settings], recipe: Recipe, *,
    classes: int, validation: tuple[Counts, NDArray[np.int64]] | None = None, top: int | None = None,
    class_weights: NDArray[np.float64] | None = None, metric: str = "accuracy", device: str = "cpu",
    progress: Callable[[float], None] | None = None,
) -> GammaStack:  # fmt: skip
    """Train members of one shape as one stack. ``top`` limits the vocabulary to the most common patterns."""
    pool = train_counts if validation is None else Counts.concatenate([train_counts, validation[0]])
    learned_from = train_counts if top is None else pool
    roles = None
    if recipe.roles and kind != "1hot" and train_counts.columns.colors is not None:
        labels = y if validation is None or top is None else np.concatenate([y, validation[1]])
        roles = color_roles(learned_from, np.asarray(labels))
    vocabulary = Vocabulary.of(kind, learned_from, recipe.over, top, roles)
    columns, densities = vocabulary.densities(train_counts)
    kept = _occurring(columns, densities) if kind != "1hot" else (columns, densities)
    _check(members, kept[1], pool)
    k = int(max(columns.size.max(initial=1), pool.columns.size.max(initial=1)))
    inputs = len(columns) if kind == "1hot" else 1 + max((vocabulary.palette or {}).values(), default=0)
    shape = GammaShape(kind, inputs, classes, members[0].hidden, members[0].layers, recipe, k)
    model = shape.build([member.jumping for member in members])
    initialize(model, [member.seed for member in members])
    if isinstance(model.representation, GammaOneHot):
        seen = np.bincount(densities.indices, minlength=len(columns)) > 0
        model.representation.keep(torch.from_numpy(seen))
    model.to(device)
    patterns = _twins(shape, kept, vocabulary, members) or shape.structure(kept[0], vocabulary.palette, kept[1])
    if recipe.encoder == "pna" and isinstance(model.representation, GammaGNN):
        model.representation.encoder.learn_degrees(_mean_log_degree(kept[0]))
    checked = None
    if validation is not None:
        checked_columns, checked_densities = vocabulary.densities(validation[0])
        found = shape.structure(checked_columns, vocabulary.palette, checked_densities).to(device)
        checked = found, torch.from_numpy(np.asarray(validation[1], np.int64)).to(device)
    weights = None if class_weights is None else torch.from_numpy(class_weights.astype(np.float32)).to(device)
    problem = GammaProblem(
        patterns.to(device), torch.from_numpy(np.asarray(y, np.int64)).to(device), checked, members, recipe, weights
    )
    trained = train(model, problem, members, recipe, metric, progress)
    return GammaStack(shape, vocabulary, model, tuple(members), trained)


def _check(members: Sequence[Settings], densities: csr_array[np.float64], pool: Counts) -> None:
    shapes = sorted({member.shape for member in members})
    if len(shapes) != 1:
        raise ValueError(f"the members of a stack must have one shape, Settings.shape; got {shapes}")
    if not densities.nnz:
        sizes = ", ".join(str(k) for k in np.unique(pool.columns.size)) or "this many"
        raise ValueError(f"no training graph has a connected pattern of {sizes} vertices; count with a smaller k")


def _occurring(columns: Columns, densities: csr_array[np.float64]) -> tuple[Columns, csr_array[np.float64]]:
    """Without the patterns that no training graph has: they would count in batch norm and in the penalty."""
    there = np.flatnonzero(np.bincount(densities.indices, minlength=len(columns)))
    return columns[there], csr_array(densities[:, there])


def _twins(
    shape: GammaShape, kept: tuple[Columns, csr_array[np.float64]], vocabulary: Vocabulary, members: Sequence[Settings]
) -> RecoloredPairs | None:
    """Recolored twins where a member is penalized, and fresh permutations where identities are drawn."""
    recipe = shape.recipe
    recolor = shape.kind != "1hot" and shape.inputs > 1 and any(member.penalty > 0 for member in members)
    draws = shape.kind == "rp" and recipe.permutations != "all"
    if not recolor and not draws:
        return None
    permuted = None
    if shape.kind == "rp":
        permuted = factorial(shape.k) if recipe.permutations == "all" else int(recipe.permutations)
    batch = PatternBatch.of(kept[0], vocabulary.palette, shape.k)
    encoder = recipe.encoder
    return RecoloredPairs.of(
        batch, kept[1], shape.layers, permuted, recolor, universal=encoder == "gin", by_degree=encoder == "gcn"
    )


def _mean_log_degree(columns: Columns) -> float:
    palette = None if columns.colors is None else dict.fromkeys(columns.palette, 0)
    near, _, _ = PatternBatch.of(columns, palette).vertices
    return float(np.log((near >= 0).sum(axis=1) + 1).mean())
