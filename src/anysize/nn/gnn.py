"""GNNs on whole graphs, the baselines of the paper: message passing on all vertices, then a sum, mean or max.

Their representation grows or shifts with the size of a graph, where a Gamma representation does not.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anysize.nn.counter_rng import uniform
from anysize.nn.gamma import GammaGNN, GammaRP
from anysize.nn.rows.aggregation import Copies, CopiesOfNeighbors, Through, ThroughNeighbors
from anysize.nn.rows.graph_batch import Rows
from anysize.nn.rows.structure import Dense, Level, Structure, Sums

IDENTITIES = 10  # one-hot identities of relational pooling on whole graphs: positions modulo 10
FEW_MARKS = 128  # so many counts of marked neighbors are cheaper than sums over neighbors
TRAINING, PREDICTION = 5, 6  # streams of random numbers


class GraphGNN(GammaGNN):
    """Vertices embedded by message passing and read out by sum, mean or max, whichever the structure has.

    The computation is that of Gamma_GNN, whose readout weighs patterns by their densities: here every vertex of
    the graph is read, and nothing is divided by the number of subgraphs.
    """


class GraphRP(GammaRP):
    """Relational pooling (RPGIN): vertices also carry their position, modulo 10, in a random order of the graph.

    A small MLP without batch norm lifts [color, position] before message passing; representations are averaged
    over several orders.
    """


def structure_of(rows: Rows, layers: int, identities: Tensor | None = None) -> Structure:
    """Rows as a structure. ``identities`` (copies, rows): every copy of the graphs carries its own."""
    features, degree, mark = rows.features, rows.mark_degree, rows.mark[None]
    if identities is not None:
        one_hot = torch.eye(IDENTITIES, device=features.device)
        pairs = (features.repeat_interleave(IDENTITIES, 0), one_hot.repeat(len(features), 1))
        features, degree = torch.cat(pairs, 1), degree.repeat_interleave(IDENTITIES)
        mark = rows.mark * IDENTITIES + identities
    copies = len(mark)
    weight = None if rows.weight is None else rows.weight.repeat(copies)
    degrees, start = rows.degree.repeat(copies), mark.reshape(-1)
    near, readout, neighbors = rows.near, rows.readout, rows.neighbors
    if copies > 1:
        near, readout = Copies(copies, near), Copies(copies, readout, mean=True)
        neighbors = None if neighbors is None else CopiesOfNeighbors(copies, neighbors)
    lowest = None if neighbors is None else ThroughNeighbors(start, neighbors)
    first = Level(start, _first_sums(rows, mark, near, len(features)), weight, degrees, lowest)
    later = Level(None, near, weight, degrees, neighbors)
    readouts = (Through(start, readout), *[readout] * layers)
    return Structure(features, degree, (first, *[later] * (layers - 1)), readouts)


def _first_sums(rows: Rows, mark: Tensor, near: Sums, marks: int) -> Sums:
    """Sums over neighbors of what their marks have: how many of each there are, counted once for all models."""
    if marks > FEW_MARKS:
        return Through(mark.reshape(-1), near)
    one_hot = torch.eye(marks, device=mark.device)[mark]  # (copies, rows, marks)
    return Dense(rows.near(one_hot).reshape(-1, marks))


def drawn_identities(rows: Rows, copies: int, step: Tensor | int) -> Tensor:
    """Positions modulo 10 in random orders of every graph, others in every step: (copies, rows).

    A vertex's number among all vertices decides, so that both layouts draw alike.
    """
    seeds = torch.arange(copies, device=rows.mark.device)
    drawn = uniform(seeds, step, len(rows.mark), stream=TRAINING)
    if rows.weight is not None:
        drawn = drawn[:, rows.weight.long().cumsum(0) - rows.weight.long()]
    return _positions(rows, drawn)


def fixed_identities(rows: Rows, copies: int) -> Tensor:
    """The orders of prediction: a vertex's place in its graph decides, whatever other graphs are there."""
    place = torch.arange(len(rows.mark), device=rows.mark.device) - rows.start
    seeds = torch.arange(copies, device=rows.mark.device)
    largest = int(place.max()) + 1 if len(place) else 1
    return _positions(rows, uniform(seeds, 0, largest, stream=PREDICTION)[:, place])


def _positions(rows: Rows, drawn: Tensor) -> Tensor:
    """The rank of every row's number within its graph, modulo 10; rows that only fill up come last."""
    last = drawn.double() if rows.weight is None else drawn.double() + (1 - rows.weight)
    key = rows.start + last / 2  # graphs stay together: the fraction is below 1
    order = torch.argsort(key, dim=1, stable=True)
    everybody = torch.arange(order.shape[1], device=order.device).expand_as(order)
    rank = torch.empty_like(order).scatter_(1, order, everybody)
    return (rank - rows.start) % IDENTITIES
