"""Tokens on nodes and the experts that they go to, drawn at random: what is dropped, what crosses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_course.errors import CourseError

Choices = NDArray[np.int64]


@dataclass(frozen=True)
class Routed:
    """Where copies of tokens go.

    Attributes:
        experts: how many there are; each node has as many.
        nodes: with as many tokens each, in turn.
        choices: (tokens, chosen), experts of each token.
        kept: (tokens, chosen), False where the expert is full.
        capacity: tokens that an expert has room for.
    """

    experts: int
    nodes: int
    choices: Choices
    kept: NDArray[np.bool_]
    capacity: int

    @property
    def per_node(self) -> int:
        """Experts of a node."""
        return self.experts // self.nodes

    @property
    def home(self) -> Choices:
        """(tokens,) the node that a token comes from."""
        tokens = len(self.choices)
        return np.arange(tokens) * self.nodes // tokens

    @property
    def sent(self) -> Choices:
        """(nodes, experts) kept copies from a node to an expert."""
        return self._between(self.kept)

    @property
    def dropped(self) -> Choices:
        """(nodes, experts) copies from a node that an expert had no room for."""
        return self._between(~self.kept)

    def _between(self, which: NDArray[np.bool_]) -> Choices:
        table = np.zeros((self.nodes, self.experts), np.int64)
        home = np.broadcast_to(self.home[:, None], self.choices.shape)
        np.add.at(table, (home[which], self.choices[which]), 1)
        return table

    @property
    def nodes_of_tokens(self) -> Choices:
        """(tokens,) how many nodes a token's experts lie on."""
        reached = np.zeros((len(self.choices), self.nodes), bool)
        np.put_along_axis(reached, self.choices // self.per_node, True, axis=1)
        return reached.sum(1)

    @property
    def other_nodes(self) -> int:
        """Messages to other nodes if each node gets one copy of a token, dropped ones too."""
        at_home = (self.choices // self.per_node == self.home[:, None]).any(1)
        return int((self.nodes_of_tokens - at_home).sum())


def drawn_scores(tokens: int, experts: int, skew: float, seed: int = 28) -> NDArray[np.float64]:
    """Returns what a router may say: (tokens, experts), some experts liked more than others.

    Args:
        tokens, experts: how many.
        skew: how much more; 0 for all alike.
        seed: of the draw.
    """
    draws = np.random.default_rng(seed)
    liked = skew * draws.standard_normal(experts)
    return liked + draws.standard_normal((tokens, experts))


def limited(scores: NDArray[np.float64], nodes: int, most: int, chosen: int) -> Choices:
    """Returns the experts of each token, on at most so many nodes.

    A node counts for what its best chosen / most experts have together, rounded up. The nodes that
    count for most stay open.

    Args:
        scores: (tokens, experts), each above 0.
        nodes: a divisor of the experts.
        most: nodes of a token.
        chosen: experts of a token.

    Source: DeepSeek-V3, arXiv 2412.19437, section 2.1.2.
    """
    tokens, experts = scores.shape
    per_node = experts // nodes
    best = math.ceil(chosen / most)
    if not 1 <= most <= nodes or not 1 <= chosen <= most * per_node or experts % nodes:
        raise CourseError(
            f"{chosen} of {experts} experts on at most {most} of {nodes} nodes",
            "let nodes divide the experts, and have as many on the open nodes as are chosen",
        )
    by_node = scores.reshape(tokens, nodes, per_node)
    counts = np.sort(by_node, axis=2)[:, :, -best:].sum(2)
    closed = np.argsort(-counts, axis=1, kind="stable")[:, most:]
    left = by_node.copy()
    np.put_along_axis(left, closed[:, :, None], -np.inf, axis=1)
    return np.argsort(-left.reshape(tokens, experts), axis=1, kind="stable")[:, :chosen]


def route(
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
        nodes, most: how many there are, and of a token.
        factor: room of an expert, as a multiple of what it had if all had equally many.
        skew: how much more some experts are liked than others.
    """
    scores = 1 / (1 + np.exp(-drawn_scores(tokens, experts, skew)))
    choices = limited(scores, nodes, most, chosen)
    capacity = math.ceil(factor * tokens * chosen / experts)
    flat = choices.ravel()
    order = np.argsort(flat, kind="stable")
    loads = np.bincount(flat, minlength=experts)
    firsts = np.cumsum(loads) - loads
    slots = np.empty_like(flat)
    slots[order] = np.arange(len(flat)) - firsts[flat[order]]
    return Routed(experts, nodes, choices, (slots < capacity).reshape(choices.shape), capacity)
