"""Tokens and the experts that they go to, drawn at random: what is dropped, what crosses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpu_course.measure.experts.routing import best, node_limited, places_in_queue


@dataclass(frozen=True)
class Routed:
    """Where copies of tokens go.

    Attributes:
        experts: how many there are; each node has as many, node 0 the first ones.
        nodes: with as many tokens each, node 0 the first ones.
        choices: int64 (tokens, chosen), experts of each token.
        kept: bool (tokens, chosen), False where the expert is full.
        capacity: tokens that an expert has room for.
    """

    experts: int
    nodes: int
    choices: np.ndarray
    kept: np.ndarray
    capacity: int

    @property
    def per_node(self) -> int:
        """Experts of a node."""
        return self.experts // self.nodes

    @property
    def home(self) -> np.ndarray:
        """int64 (tokens,): the node that a token comes from."""
        tokens = len(self.choices)
        return np.arange(tokens) * self.nodes // max(tokens, 1)

    @property
    def sent(self) -> np.ndarray:
        """int64 (nodes, experts): kept copies from a node to an expert."""
        return self._between(self.kept)

    @property
    def dropped(self) -> np.ndarray:
        """int64 (nodes, experts): copies from a node that an expert had no room for."""
        return self._between(~self.kept)

    def _between(self, which: np.ndarray) -> np.ndarray:
        table = np.zeros((self.nodes, self.experts), np.int64)
        home = np.broadcast_to(self.home[:, None], self.choices.shape)
        np.add.at(table, (home[which], self.choices[which]), 1)
        return table

    @property
    def nodes_of_tokens(self) -> np.ndarray:
        """int64 (tokens,): on how many nodes a token's experts lie."""
        reached = np.zeros((len(self.choices), self.nodes), bool)
        np.put_along_axis(reached, self.choices // self.per_node, True, axis=1)
        return reached.sum(1)

    @property
    def leaving(self) -> int:
        """Copies that leave their node if each node gets one of a token, whatever is dropped."""
        at_home = (self.choices // self.per_node == self.home[:, None]).any(1)
        return int((self.nodes_of_tokens - at_home).sum())


def drawn_logits(tokens: int, experts: int, skew: float, seed: int = 28) -> np.ndarray:
    """Returns what a router may say: float64 (tokens, experts), some experts liked more.

    Args:
        tokens, experts: how many.
        skew: how much more some are liked; 0 for all alike.
        seed: of the draw.
    """
    draws = np.random.default_rng(seed)
    liked = skew * draws.standard_normal(experts)
    return liked + draws.standard_normal((tokens, experts))


def drawn_scores(tokens: int, experts: int, skew: float, seed: int = 28) -> np.ndarray:
    """Returns the sigmoids of `drawn_logits`, which are all above 0."""
    return 1 / (1 + np.exp(-drawn_logits(tokens, experts, skew, seed)))


def room_for(tokens: int, experts: int, chosen: int, factor: float) -> int:
    """Returns an expert's room: a multiple of what each had if all had equally many, rounded up.

    >>> room_for(64, 8, 2, 1.25)
    20
    """
    return math.ceil(factor * tokens * chosen / experts)


def route_drawn(
    tokens: int,
    experts: int,
    chosen: int,
    nodes: int,
    most: int,
    factor: float,
    skew: float = 0.6,
) -> Routed:
    """Returns where tokens go: drawn scores, the best experts on at most so many nodes, and room.

    Args:
        tokens: a multiple of nodes.
        experts, chosen: how many there are, and of a token.
        nodes, most: how many there are, and of a token: at least as many as hold its experts, and
            no more than it has.
        factor: room of an expert, as a multiple of what it had if all had equally many.
        skew: how much more some experts are liked than others.
    """
    scores = drawn_scores(tokens, experts, skew)
    limit = max(min(most, chosen), math.ceil(chosen * nodes / experts))
    free = limit == min(nodes, chosen)
    choices = best(scores, chosen) if free else node_limited(scores, chosen, nodes, limit)
    capacity = room_for(tokens, experts, chosen, factor)
    return Routed(experts, nodes, choices, places_in_queue(choices) < capacity, capacity)
