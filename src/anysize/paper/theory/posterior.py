"""The exact posterior P(Y | G) of the Erdős–Rényi task, and the accuracy of the Bayes classifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from anysize._schema import check_integer
from anysize._typing import FloatArray
from anysize.causal.coloring import check_shares
from anysize.causal.environments import label_probabilities
from anysize.causal.graphons import ErdosRenyi
from anysize.graphs.graphset import GraphSet


def erdos_renyi_posterior(
    graphs: GraphSet,
    graphons: Sequence[ErdosRenyi],
    prior: Sequence[float] | None = None,
    label_noise: float | ArrayLike | None = None,
) -> FloatArray:
    r"""P(Y = c | G) for graphs whose class is their edge probability; it depends on the number of edges only.

    .. math:: P(c \mid G) \propto \pi_c\, p_c^m (1 - p_c)^{N (N - 1) / 2 - m}

    Args:
        graphs: graphs of any sizes; colors are ignored.
        graphons: one per class.
        prior: the probability of each class. Default: equal.
        label_noise: as in `sample_graphs`; the result is then P(Y = y | G) = sum_c P(y | c) P(c | G).

    Returns:
        Probabilities (graphs, classes); rows sum to 1. The Bayes classifier takes the largest.

    Examples:
        >>> path = GraphSet.from_edges([(0, 1), (1, 2)])
        >>> erdos_renyi_posterior(path, [ErdosRenyi(0.2), ErdosRenyi(0.5), ErdosRenyi(0.8)]).round(3).tolist()
        [[0.112, 0.439, 0.449]]
    """
    from scipy.special import logsumexp, xlogy

    p, log_prior = _classes(graphons, prior)
    edges = graphs.edge_counts[:, None]
    missing = (graphs.sizes * (graphs.sizes - 1) // 2)[:, None] - edges
    joint = np.asarray(xlogy(edges, p) + xlogy(missing, 1 - p) + log_prior)
    impossible = np.flatnonzero(np.isneginf(joint).all(axis=1))
    if impossible.size:
        raise ValueError(f"graph {impossible[0]} has probability 0 under all of these graphons")
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    return np.asarray(posterior if label_noise is None else posterior @ label_probabilities(label_noise, len(p)))


def erdos_renyi_accuracy(
    graphons: Sequence[ErdosRenyi],
    n_vertices: int,
    prior: Sequence[float] | None = None,
    label_noise: float | ArrayLike | None = None,
) -> float:
    """The expected accuracy of the Bayes classifier on graphs of n vertices, which no classifier exceeds.

    It is the sum over m of max_y sum_c P(y | c) prior_c Binomial(m; n (n - 1) / 2, p_c), where P(y | c) is 1 for y = c
    unless there is label noise.

    Examples:
        >>> round(erdos_renyi_accuracy([ErdosRenyi(0.2), ErdosRenyi(0.5), ErdosRenyi(0.8)], 5), 3)
        0.805
    """
    from scipy.stats import binom

    p, log_prior = _classes(graphons, prior)
    n = check_integer("n_vertices", n_vertices, 1)
    pairs = n * (n - 1) // 2
    edges = np.arange(pairs + 1)[:, None]
    joint = np.exp(log_prior) * binom.pmf(edges, pairs, p) @ label_probabilities(label_noise, len(p))
    return min(float(joint.max(axis=1).sum()), 1.0)  # rounding


def _classes(graphons: Sequence[ErdosRenyi], prior: Sequence[float] | None) -> tuple[FloatArray, FloatArray]:
    """Edge probabilities, and logarithms of the prior."""
    if not graphons or not all(isinstance(graphon, ErdosRenyi) for graphon in graphons):
        raise ValueError(f"expected ErdosRenyi graphons, one per class; got {graphons!r}")
    given = [1 / len(graphons)] * len(graphons) if prior is None else prior
    shares = check_shares(given, "the classes", zero=True)
    if len(shares) != len(graphons):
        raise ValueError(f"expected {len(graphons)} prior probabilities, one per class; got {len(shares)}")
    with np.errstate(divide="ignore"):  # a class of share 0 has the logarithm -inf
        return np.array([graphon.p for graphon in graphons]), np.log(shares)
