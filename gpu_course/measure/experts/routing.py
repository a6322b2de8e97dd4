"""Which experts a token goes to: top-k, room in buffers, balance by a bias, a limit of nodes.

Everywhere the lower index wins between equal numbers, so that there is one right answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NOWHERE = -1
"""The slot of a pair that was dropped, and the expert of a choice that is not to be sent."""


class Routes(NamedTuple):
    """Where tokens go.

    Attributes:
        experts: int64 (tokens, k), the best first.
        weights: float64 (tokens, k), 0 where a pair was dropped.
        slots: int64 (tokens, k), the place in the expert's buffer or NOWHERE.
    """

    experts: np.ndarray
    weights: np.ndarray
    slots: np.ndarray


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """Returns int64 (rows, k): where each row's k highest scores are, the highest first.

    >>> best(np.array([[1.0, 3.0, 3.0, 2.0]]), 3).tolist()
    [[1, 2, 3]]
    """
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def loads_of(experts: np.ndarray, number: int) -> np.ndarray:
    """Returns int64 (number,): how many pairs each expert gets; those that go nowhere count not.

    >>> loads_of(np.array([[0, 2], [2, -1]]), 3).tolist()
    [1, 0, 2]
    """
    return np.bincount(experts[experts >= 0], minlength=number)


def places_in_queue(experts: np.ndarray) -> np.ndarray:
    """Returns, like experts, how many tokens before this one chose the same expert.

    A token names an expert once, so it is the token's place in the expert's queue.

    >>> places_in_queue(np.array([[0, 1], [1, 0], [1, 2]])).tolist()
    [[0, 0], [1, 1], [2, 0]]
    """
    flat = experts.ravel()
    order = np.argsort(flat, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(flat.size) - np.searchsorted(flat[order], flat[order])
    return places.reshape(experts.shape)


def route(logits: np.ndarray, k: int, capacity: int) -> Routes:
    """Returns where tokens go by a softmax, and which find no room.

    Args:
        logits: float64 (tokens, experts); -inf closes an expert for a token.
        k: experts of a token.
        capacity: tokens of an expert, taken in the order of their positions.

    Raises:
        ValueError: a logit is NaN or +inf, or a token has fewer than k experts that are open.

    Source: Fedus, Zoph and Shazeer 2021, arXiv 2101.03961, section 2.2 (capacity and dropping).

    >>> found = route(np.array([[2.0, 1.0], [2.0, 1.0]]), 1, 1)
    >>> found.weights.tolist(), found.slots.tolist()
    ([[1.0], [0.0]], [[0], [-1]])
    """
    if np.isnan(logits).any() or (logits == np.inf).any():
        raise ValueError("a logit is NaN or +inf")
    if ((logits > -np.inf).sum(axis=1) < k).any():
        raise ValueError(f"a token has fewer than {k} experts that are open")
    experts = best(logits, k)
    chosen = np.take_along_axis(logits, experts, axis=1)
    powers = np.exp(chosen - chosen[:, :1])
    weights = powers / powers.sum(axis=1, keepdims=True)
    places = places_in_queue(experts)
    kept = places < capacity
    return Routes(experts, np.where(kept, weights, 0.0), np.where(kept, places, NOWHERE))


FLOOR = 1e-20
"""What DeepSeek adds to the sum that weights are divided by."""


def balanced_choice(scores: np.ndarray, bias: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (experts, weights): chosen by scores + bias, weighed by the scores alone.

    Args:
        scores: float64 (tokens, experts), not negative.
        bias: float64 (experts,).
        k: experts of a token.

    Source: DeepSeek-V3, arXiv 2412.19437, equation 16.
    """
    experts = best(scores + bias, k)
    chosen = np.take_along_axis(scores, experts, axis=1)
    return experts, chosen / (chosen.sum(axis=1, keepdims=True) + FLOOR)


def moved_bias(bias: np.ndarray, experts: np.ndarray, rate: float) -> np.ndarray:
    """Returns the bias after a batch: down by rate where an expert had more than the mean, else up.

    >>> moved_bias(np.zeros(3), np.array([[0, 1], [0, 1], [0, 2]]), 0.5).tolist()
    [-0.5, 0.0, 0.5]

    Source: Wang and others 2024, Auxiliary-Loss-Free Load Balancing, arXiv 2408.15664, algorithm 1.
    """
    loads = loads_of(experts, bias.size)
    return bias + rate * np.sign(loads.sum() - loads * bias.size)


def node_limited(scores: np.ndarray, k: int, nodes: int, limit: int) -> np.ndarray:
    """Returns int64 (tokens, k): the best experts that lie in no more than so many nodes.

    Nodes hold equally many experts, node 0 the first ones. Those nodes are taken whose k // limit
    best experts have the largest sum.

    Args:
        scores: float64 (tokens, experts), finite.
        k: experts of a token, a multiple of limit.
        nodes: how many there are.
        limit: how many a token may be sent to.

    Source: DeepSeek-V3, arXiv 2412.19437, section 2.1.2.

    >>> scores = np.array([[9.0, 0.0, 5.0, 5.0, 6.0, 1.0]])
    >>> best(scores, 2).tolist(), node_limited(scores, 2, 3, 1).tolist()
    ([[0, 4]], [[2, 3]])
    """
    tokens, experts = scores.shape
    by_node = scores.reshape(tokens, nodes, experts // nodes)
    top = -np.sort(-by_node, axis=2)[:, :, : k // limit]
    taken = best(top.sum(axis=2), limit)
    allowed = np.zeros((tokens, nodes), bool)
    np.put_along_axis(allowed, taken, True, axis=1)
    open_ = np.repeat(allowed, experts // nodes, axis=1)
    return best(np.where(open_, scores, -np.inf), k)
