"""Gamma models: from count tables to a trained stack, and from a trained stack to logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from torch import Tensor, nn

from anysize._schema import check_array, edge_type, list_of, optional
from anysize._typing import FloatArray, IntArray
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.graphs.attributes import EdgeType
from anysize.graphs.colors import ColorName
from anysize.nn.gamma import GammaGNN, GammaOneHot, GammaRP, GraphModel, read_out
from anysize.nn.layers import EPSILON, initialize
from anysize.nn.rows.maps import Chain, Readout, Sums
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.recoloring import RecoloredPatterns, density_table
from anysize.nn.rows.structure import Structure
from anysize.training.color_roles import color_roles
from anysize.training.device import torch_defaults
from anysize.training.epoch_selection import KeptEpochs
from anysize.training.loop import Losses, Trained, TrainingProblem, train
from anysize.training.objectives import color_penalty, logit_penalty, mean_loss, target_tensor
from anysize.training.settings import Recipe, Settings
from anysize.training.vocabulary import GammaKind, MeanDensities, Vocabulary
from anysize.training.whitening import TOPOLOGIES, TopologyWhitening, Whitening, topology_numbers

MAX_PERMUTED_PATTERNS_TRAINED, MAX_PERMUTED_PATTERNS_PREDICTED = 20_000, 1_000_000  # patterns times permutations


@dataclass(frozen=True)
class GammaArchitecture:
    """Everything that determines the tensors of a stack except the number of models."""

    kind: GammaKind
    inputs: int
    classes: int
    hidden: int
    layers: int
    recipe: Recipe
    k: int
    types: int = 0

    def build(self, jumping: Sequence[bool]) -> GraphModel:
        """A stack of untrained models."""
        models, recipe = len(jumping), self.recipe
        representation: GammaOneHot | GammaGNN
        if self.kind == "1hot":
            representation = GammaOneHot(models, self.inputs, self.hidden)
        else:
            ids = recipe.id_width or self.k
            if self.kind == "rp" and ids < self.k:
                raise ValueError(f"id_width must be at least k = {self.k}, to distinguish the vertices; got {ids}")
            make, inputs = (GammaRP, self.inputs + ids) if self.kind == "rp" else (GammaGNN, self.inputs)
            representation = make(models, inputs, self.hidden, self.layers, jumping=any(jumping), types=self.types)
        return GraphModel(
            representation, models, self.classes, jumping, recipe.head_hidden, recipe.dropout,
            corrected=recipe.averages == "corrected", population=recipe.averages == "corrected",
        )  # fmt: skip

    def takes_all_permutations(self, patterns: int, max_rows: int) -> bool:
        """Whether Gamma_RPGIN averages over all k! permutations instead of random ones: where that is affordable."""
        amount = factorial(self.k)
        few = amount <= self.recipe.max_permutations and patterns * amount <= max_rows
        return few or self.recipe.permutations == "all"

    def identities(self, patterns: int, seed: int) -> IntArray:
        """The permutations of prediction, the same for every pattern: all of them if there are few."""
        amount = self.recipe.test_permutations
        if self.takes_all_permutations(patterns, MAX_PERMUTED_PATTERNS_PREDICTED) or amount >= factorial(self.k):
            return np.array(list(permutations(range(self.k))))
        rng = np.random.default_rng(seed)
        return np.array([rng.permutation(self.k) for _ in range(amount)])


class GammaProblem(TrainingProblem):
    """Training and validation graphs of a Gamma stack, on one device."""

    recordable = True

    def __init__(
        self, patterns: Structure | RecoloredPatterns, y: Tensor, held_out: tuple[Structure, Tensor] | None,
        members: Sequence[Settings], recipe: Recipe, graph_weights: FloatArray | None,
        fresh: Callable[[int], Structure | RecoloredPatterns] | None = None, held_out_weights: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """``fresh``: the patterns with the densities of one epoch, where these are drawn again in every epoch."""
        super().__init__(y, held_out, graph_weights, held_out_weights)
        self.patterns, self.recipe, self.fresh = patterns, recipe, fresh
        self.weights = torch.tensor([member.penalty for member in members], device=y.device)

    @property
    def changes(self) -> bool:
        return self.fresh is not None

    def begin_epoch(self, epoch: int) -> None:
        if self.fresh is not None:
            self.patterns = self.fresh(epoch)

    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        assert isinstance(model, GraphModel)
        readouts: Mapping[int, Readout]
        differences: Mapping[int, Sums] = {}
        if isinstance(self.patterns, Structure):
            structure, readouts = self.patterns, dict(enumerate(self.patterns.readouts))
        else:
            draw = self.patterns.draw(step)
            structure, readouts, differences = draw.structure, draw.readouts, draw.differences
        rows, (y, weights) = model.representation.encode(structure), self.labels_and_weights(graphs)
        if graphs is not None:
            readouts = {level: readouts[level].rows(graphs) for level, _ in rows}
        logits, deviation = model.head(read_out(rows, readouts))
        loss = mean_loss(logits, y, weights)
        if not differences:
            return Losses(loss, loss, torch.zeros_like(loss))
        slopes = model.head.slopes(deviation)
        if self.recipe.penalty_on == "representation":
            moved = read_out(rows, differences)
            penalty, recorded = color_penalty(model, moved), logit_penalty(model, (moved @ slopes).detach())
        else:
            penalty = recorded = logit_penalty(model, read_out(rows, differences, slopes))
        return Losses(loss + self.weights * penalty, loss, recorded)


@dataclass(frozen=True, eq=False)
class GammaStack:
    """M trained Gamma models."""

    architecture: GammaArchitecture
    vocabulary: Vocabulary
    model: GraphModel
    members: tuple[Settings, ...]
    trained: Trained | None = None

    @torch.no_grad()
    def logits(self, counts: Counts, kept: KeptEpochs | None = None) -> NDArray[np.float32]:
        """(models, graphs, classes); with ``kept``, followed by those of the states it holds."""
        function = self.model if kept is None else kept.append_to(self.model)
        return np.asarray(function(self.structure(*self.vocabulary.densities(counts))).cpu())

    @torch.no_grad()
    def represent(self, counts: Counts) -> NDArray[np.float32]:
        """Gamma(G) of every graph: (models, graphs, width)."""
        return np.asarray(self.model.represent(self.structure(*self.vocabulary.densities(counts))).cpu())

    def structure(self, columns: Columns, densities: csr_array[np.float64] | None) -> Structure:
        """The input of the model, which is put into evaluation mode: graphs if densities are given, otherwise patterns.

        It is on the device of the model.
        """
        known, vocabulary, device = self.architecture, self.vocabulary, next(self.model.eval().parameters()).device
        if known.kind == "1hot":
            full = eye_array(len(columns), format="csr") if densities is None else densities
            return Structure(torch.zeros(0, 0), (), (density_table(full),)).to(device)
        largest = int(columns.size.max(initial=1))
        if largest > known.k:
            raise ValueError(
                f"this model was trained on patterns of up to {known.k} vertices and got some of {largest}; "
                "count with the same k"
            )
        batch = PatternBatch.of(columns, vocabulary.palette, known.k, vocabulary.edge_palette)
        identities = known.identities(len(columns), self.members[0].seed) if known.kind == "rp" else None
        return batch.structure(known.layers, densities, identities, device)

    @torch.no_grad()
    def pattern_logits(self, columns: Columns) -> NDArray[np.float32]:
        """What one unit of density of each pattern adds to the logits of a linear head: (models, patterns, classes)."""
        whitening = self.vocabulary.whitening
        topologies_only = whitening is not None and not whitening.colored
        read = whitening.columns if whitening is not None and topologies_only else columns
        structure = self.structure(read, None)
        norm = self.model.head.norm
        deviation = None if norm is None else torch.sqrt(norm.running_var + EPSILON)
        rows = self.model.representation.encode(structure)
        slopes = self.model.head.slopes(deviation)
        added: NDArray[np.float32] = read_out(rows, structure.readouts, slopes).cpu().numpy()
        if whitening is not None:
            added = whitening.slopes(columns, added.astype(np.float64)).astype(np.float32)
        return added * self.vocabulary.scale

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        arrays = self.model.arrays()
        known = self.vocabulary
        if known.columns is not None:
            arrays |= _column_arrays("columns", known.columns)
        if known.mean is not None:
            arrays |= _column_arrays("mean", known.mean.columns) | {"mean.densities": known.mean.densities}
        if known.whitening is not None:
            whitening = known.whitening.whitening
            arrays |= {"whitening.mean": whitening.mean, "whitening.matrix": whitening.matrix}
            arrays["whitening.shapes"] = topology_numbers(known.whitening.columns)
        about = {
            "shape": asdict(self.architecture),
            "members": [asdict(member) for member in self.members],
            "palette": None if known.palette is None else list(known.palette.items()),
            "column_palette": None if known.columns is None else list(known.columns.palette),
            "mean_palette": None if known.mean is None else list(known.mean.columns.palette),
            "over": known.over,
            "scale": known.scale,
            "within": known.within,
            "edge_palette": None if known.edge_palette is None else [list(kind) for kind in known.edge_palette],
        }
        return about, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GammaStack:
        """Restore a stack from what `state` returned; it predicts the same."""
        architecture = GammaArchitecture(**{**about["shape"], "recipe": Recipe.from_file(about["shape"]["recipe"])})
        members = tuple(Settings(**member) for member in about["members"])
        model = architecture.build([member.jumping for member in members]).load(arrays)
        kinds = optional(list_of(edge_type))(about.get("edge_palette"), "edge_palette")
        edge_palette = None if kinds is None else tuple(EdgeType(*kind) for kind in kinds)
        columns = mean = None
        if about["column_palette"] is not None:
            columns = _restored_columns("columns", arrays, about["column_palette"], edge_palette)
        if about.get("mean_palette") is not None:
            known = _restored_columns("mean", arrays, about["mean_palette"], edge_palette)
            mean = MeanDensities(known, check_array(arrays["mean.densities"], "mean.densities", "f", (len(known),)))
        palette = None if about["palette"] is None else dict(about["palette"])
        whitening = None
        if "whitening.shapes" in arrays:
            numbers = check_array(arrays["whitening.shapes"], "whitening.shapes", "iu", (None,), 0)
            amount = len(numbers)
            linear = Whitening(
                check_array(arrays["whitening.mean"], "whitening.mean", "f", (amount,)),
                check_array(arrays["whitening.matrix"], "whitening.matrix", "f", (amount, amount)),
            )
            is_colored = palette is not None or edge_palette is not None
            read = Columns(*np.divmod(numbers, TOPOLOGIES)).checked()
            whitening = TopologyWhitening(read, linear, is_colored)
        vocabulary = Vocabulary(
            palette, columns, about["over"], about["scale"], about["within"], whitening, edge_palette, mean
        )  # fmt: skip
        return GammaStack(architecture, vocabulary, model, members)


def _column_arrays(name: str, columns: Columns) -> dict[str, NDArray[Any]]:
    """The arrays of columns, for a file."""
    arrays = {part: getattr(columns, part) for part in ("size", "pattern_index", "colors", "edge_types")}
    return {f"{name}.{part}": array for part, array in arrays.items() if array is not None}


def _restored_columns(
    name: str, arrays: Mapping[str, NDArray[Any]], palette: Sequence[ColorName],
    edge_palette: tuple[EdgeType, ...] | None,
) -> Columns:  # fmt: skip
    """Columns from what `_column_arrays` returned; checked."""
    return Columns(
        arrays[f"{name}.size"], arrays[f"{name}.pattern_index"], arrays.get(f"{name}.colors"), tuple(palette),
        arrays.get(f"{name}.edge_types"), edge_palette or (),
    ).checked()  # fmt: skip


@torch_defaults()
def fit_gamma(
    kind: GammaKind, train_counts: Counts, y: IntArray, members: Sequence[Settings], recipe: Recipe, *,
    classes: int, validation: tuple[Counts, IntArray] | None = None, top: int | None = None,
    weights: FloatArray | None = None, validation_weights: FloatArray | None = None, metric: str = "accuracy",
    device: str = "cpu", sample: Callable[[int], Counts] | None = None, progress: Callable[[float], None] | None = None,
) -> GammaStack:  # fmt: skip
    """Train members of one stack key as one stack, of one seed if they draw permutations.

    ``y``: class numbers, or numbers to predict, with ``classes`` 1.
    ``top``: limit the vocabulary to the most common patterns. ``weights``, ``validation_weights``: of the graphs, in
    the loss and in validation; vocabulary, whitening and batch norm take graphs as they are. ``sample``: the counts of
    the training graphs to train on in an epoch, such as estimates that are drawn again in every epoch. Vocabulary,
    whitening, validation and prediction have the exact counts.
    """
    if recipe.over == "auto":
        raise ValueError("over='auto' is decided by the learner of Gamma models; pass a recipe with densities")
    sizes, known, known_y = np.unique(train_counts.columns.size), train_counts, y
    if validation is not None:
        if (validation[0].sampling is None) != (train_counts.sampling is None):
            raise ValueError("counts of training and validation graphs must be all exact or all sampled; got a mixture")
        sizes = np.union1d(sizes, validation[0].columns.size)
        if top is not None:
            known, known_y = Counts.concatenate([train_counts, validation[0]]), np.concatenate([y, validation[1]])
    roles = None
    if recipe.roles and kind != "1hot" and known.columns.colors is not None and y.dtype.kind != "f":  # of classes
        roles = color_roles(known, known_y)
    vocabulary = Vocabulary.of(kind, known, recipe.over, top, roles, recipe.whiten)
    columns, densities = vocabulary.densities(train_counts)
    if not densities.nnz:
        named = ", ".join(map(str, sizes)) or "this many"
        raise ValueError(f"no training graph has a connected pattern of {named} vertices; count with a smaller k")
    k = int(max(columns.size.max(initial=1), sizes.max(initial=1)))
    inputs = len(columns) if kind == "1hot" else 1 + max((vocabulary.palette or {}).values(), default=0)
    types = 0 if kind == "1hot" else len(vocabulary.edge_palette or ())
    architecture = GammaArchitecture(kind, inputs, classes, members[0].hidden, members[0].layers, recipe, k, types)
    model = architecture.build([member.jumping for member in members])
    initialize(model, [member.seed for member in members])
    if isinstance(model.representation, GammaOneHot):
        seen = np.bincount(densities.indices, minlength=len(columns)) > 0
        model.representation.zero_unseen(torch.from_numpy(seen))
        occurring = np.arange(len(columns))
    else:
        occurring = np.flatnonzero(np.bincount(densities.indices, minlength=len(columns)))
        columns, densities = columns[occurring], csr_array(densities[:, occurring])
    model.to(device)
    stack = GammaStack(architecture, vocabulary, model, tuple(members))
    pairs = _recolored_patterns(architecture, columns, densities, vocabulary, members, device)
    patterns = stack.structure(columns, densities) if pairs is None else pairs
    held_out = None
    if validation is not None:
        held_out = stack.structure(*vocabulary.densities(validation[0])), target_tensor(validation[1], device)
    fresh = None
    if sample is not None:

        def drawn(epoch: int) -> csr_array[np.float64]:
            """Over the columns that training has: only patterns that some training graph has."""
            return csr_array(vocabulary.densities(sample(epoch).align(train_counts))[1][:, occurring])

        fresh = _fresh(drawn, patterns, partial(stack.structure, columns), kind == "1hot")
    problem = GammaProblem(
        patterns, target_tensor(y, device), held_out, members, recipe, weights, fresh,
        validation_weights,
    )  # fmt: skip
    return replace(stack, trained=train(model, problem, members, recipe, metric, progress))


def _fresh(
    densities: Callable[[int], csr_array[np.float64]],
    patterns: Structure | RecoloredPatterns,
    structure: Callable[[csr_array[np.float64] | None], Structure],
    one_hot: bool,
) -> Callable[[int], Structure | RecoloredPatterns]:
    """For every epoch the patterns, read out into graphs with the densities of this epoch."""
    if isinstance(patterns, RecoloredPatterns):
        return lambda epoch: patterns.with_densities(densities(epoch))
    if one_hot:
        return lambda epoch: structure(densities(epoch))
    inner = structure(None)

    def of_epoch(epoch: int) -> Structure:
        table = density_table(densities(epoch)).to(inner.features.device)
        return replace(inner, readouts=tuple(Chain(readout, table) for readout in inner.readouts))

    return of_epoch


def _recolored_patterns(
    architecture: GammaArchitecture, columns: Columns, densities: csr_array[np.float64], vocabulary: Vocabulary,
    members: Sequence[Settings], device: str,
) -> RecoloredPatterns | None:  # fmt: skip
    """Recolored pairs if a member is penalized, new permutations if identities are drawn; None if nothing is drawn."""
    recolor = architecture.kind != "1hot" and architecture.inputs > 1 and any(member.penalty > 0 for member in members)
    drawn = None
    if architecture.kind == "rp":
        takes_all = architecture.takes_all_permutations(len(columns), MAX_PERMUTED_PATTERNS_TRAINED)
        drawn = factorial(architecture.k) if takes_all else int(architecture.recipe.permutations)
    if not recolor and (drawn is None or takes_all):
        return None
    batch = PatternBatch.of(columns, vocabulary.palette, architecture.k, vocabulary.edge_palette)
    return RecoloredPatterns.of(
        batch, densities, architecture.layers, drawn, recolor, [member.seed for member in members],
        any(member.jumping for member in members), device=device,
    )  # fmt: skip
