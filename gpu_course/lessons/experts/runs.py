"""What lesson 28 runs with the learner's answers: routes, a training run, a layer on ranks."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from gpu_course.lessons.experts.routing import drawn_logits, drawn_scores
from gpu_course.lessons.experts.training import train
from gpu_course.measure.experts.exchange import dense


def layer_of_experts(
    answer: ModuleType, tokens: int, experts: int, chosen: int, width: int
) -> list[list[bool] | list[int]]:
    """Returns whether an answer's layer is the dense one on this rank, and how many rows leave it.

    The first list is about the result and the gradients of x, weights, up and down. The second has
    the rows for each rank. A barrier stands between the passes.

    Args:
        answer: with `all_to_all_experts`.
        tokens: of each rank.
        experts: of all ranks, a multiple of the ranks.
        chosen: experts of a token.
        width: of a token; an expert is twice as wide inside.
    """
    ranks, rank = dist.get_world_size(), dist.get_rank()
    draws = torch.Generator().manual_seed(28)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draws, dtype=torch.float64)

    everyone = [drawn(ranks * tokens, width), drawn(ranks * tokens, experts)]
    weights_of = [drawn(experts, 2 * width, width), drawn(experts, width, 2 * width)]
    weights, choices = everyone[1].softmax(1).topk(chosen, dim=1)
    whole = [each.detach().clone().requires_grad_() for each in (everyone[0], weights, *weights_of)]
    right = dense(whole[0], choices, whole[1], whole[2], whole[3])
    right.sum().backward()  # type: ignore[no-untyped-call]

    def own(x: Tensor) -> Tensor:
        return x.tensor_split(ranks)[rank]

    mine = [own(each).detach().clone().requires_grad_() for each in whole]
    held = [experts // ranks] * ranks
    x, w, up, down = mine
    out = answer.all_to_all_experts(x, own(choices), w, held, up, down)
    dist.barrier()
    out.sum().backward()
    same = [torch.allclose(out, own(right))]
    same += [
        torch.allclose(_gradient(m), own(_gradient(a))) for m, a in zip(mine, whole, strict=True)
    ]
    at = own(choices).flatten() // (experts // ranks)
    return [same, torch.bincount(at, minlength=ranks).tolist()]


def _gradient(x: Tensor) -> Tensor:
    assert x.grad is not None
    return x.grad


def routes(
    answer: ModuleType, tokens: int, experts: int, chosen: int, capacity: int
) -> list[list[list[int]]]:
    """Returns (experts, slots) that an answer's top_k_route gives drawn tokens.

    Args:
        answer: with `top_k_route`.
        tokens, experts: how many.
        chosen: experts of a token.
        capacity: of an expert.
    """
    logits = torch.from_numpy(drawn_logits(tokens, experts, 0.6))
    found, _, slots = answer.top_k_route(logits, chosen, capacity)
    return [found.tolist(), slots.tolist()]


def balanced(answer: ModuleType) -> list[list[list[int]] | list[float]]:
    """Returns (loads, losses) of a run in which an answer's bias_balance chooses the experts.

    Args:
        answer: with `bias_balance`.
    """
    run = train(answer.bias_balance)
    return [run.loads, run.losses]


def limited(
    answer: ModuleType, tokens: int, experts: int, chosen: int, nodes: int, limits: list[int]
) -> list[list[Any]]:
    """Returns for each limit (experts, rows that cross without one, and with it) of limit_nodes.

    Args:
        answer: with `limit_nodes`.
        tokens, experts, nodes: how many; the tokens are drawn, and each node has as many.
        chosen: experts of a token.
        limits: nodes of a token.
    """
    scores = torch.from_numpy(drawn_scores(tokens, experts, 0.0))
    home = torch.arange(tokens) * nodes // tokens
    found = [answer.limit_nodes(scores, chosen, nodes, limit, home) for limit in limits]
    return [[choices.tolist(), free, left] for choices, free, left in found]
