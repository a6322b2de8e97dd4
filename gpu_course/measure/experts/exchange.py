"""Experts on ranks: rows go to the ranks of their experts and come back, gradients the other way.

`dense` is the same layer in one place, to hold it to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

Expert = Callable[[Tensor, Tensor, Tensor], Tensor]


def mlp(rows: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """Returns (rows, width): gelu(rows @ up.T) @ down.T.

    Args:
        rows: (rows, width).
        up: (hidden, width).
        down: (width, hidden).
    """
    return functional.gelu(rows @ up.T) @ down.T


def dense(
    x: Tensor,
    experts: Tensor,
    weights: Tensor,
    up: Tensor,
    down: Tensor,
    expert: Expert = mlp,
) -> Tensor:
    """Returns what all experts in one place make of tokens: (tokens, width).

    Args:
        x: (tokens, width).
        experts: int64 (tokens, k); -1 goes nowhere.
        weights: (tokens, k).
        up, down: (experts, ...), the weights of each.
        expert: what an expert does to rows.
    """
    out = torch.zeros_like(x)
    for at in range(len(up)):
        tokens, choices = torch.nonzero(experts == at, as_tuple=True)
        made = expert(x[tokens], up[at], down[at])
        out = out.index_add(0, tokens, made * weights[tokens, choices, None])
    return out


class _Exchange(torch.autograd.Function):
    """An all-to-all of rows, and of their gradients the other way."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, leave: list[int], arrive: list[int], group: Any) -> Tensor:
        ctx.back = arrive, leave, group
        return exchanged(rows, leave, arrive, group)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        return exchanged(gradients[0], *ctx.back), None, None, None


def exchanged(
    rows: Tensor, leave: Sequence[int], arrive: Sequence[int], group: Any = None
) -> Tensor:
    """Returns the rows that arrive, rank by rank.

    Args:
        rows: those that leave, rank by rank.
        leave, arrive: how many go to each rank of the group, and come from each.
        group: the process group; the whole world by default.
    """
    found = rows.new_empty(sum(arrive), *rows.shape[1:])
    dist.all_to_all_single(found, rows.contiguous(), list(arrive), list(leave), group=group)
    return found


def expert_parallel(
    x: Tensor,
    experts: Tensor,
    weights: Tensor,
    held: Sequence[int],
    up: Tensor,
    down: Tensor,
    expert: Expert = mlp,
    group: Any = None,
) -> Tensor:
    """Returns what the experts of all ranks of a group make of this rank's tokens.

    Rows cross once per pair of a token and an expert, there and back, in each pass. Every rank of
    the group has to call it, with tokens or without, and run the backward pass too.

    Args:
        x: (tokens of this rank, width).
        experts: int64 (tokens, k), numbered over all ranks; -1 goes nowhere.
        weights: (tokens, k), what each expert's row is multiplied by at the end.
        held: how many experts each rank of the group holds, its first rank the first ones.
        up, down: (experts of this rank, ...).
        expert: what an expert does to rows.
        group: the process group; the whole world by default.

    Raises:
        ValueError: on all ranks, where any of them has a token for an expert that does not exist.

    Source: Lepikhin and others 2020, GShard, arXiv 2006.16668, section 3.2.
    """
    total, own = sum(held), len(up)
    chosen = experts.flatten()
    wrong = ((chosen < -1) | (chosen >= total)).any().to(torch.int64)
    dist.all_reduce(wrong, op=dist.ReduceOp.MAX, group=group)
    if wrong:
        raise ValueError(f"a token is for an expert that is none of the {total}")
    pairs = chosen.argsort(stable=True)[int((chosen < 0).sum()) :]
    tokens = pairs // max(1, experts.shape[1])
    loads = torch.bincount(chosen[pairs], minlength=total)
    coming = exchanged(loads, held, [own] * len(held), group).view(len(held), own)
    leave = [int(part.sum()) for part in loads.split(list(held))]
    arrive = coming.sum(1).tolist()
    rows = _Exchange.apply(x[tokens], leave, arrive, group)
    # They come rank by rank; an expert wants its own together.
    order = torch.arange(own, device=x.device).repeat(len(held)).repeat_interleave(coming.flatten())
    order = order.argsort(stable=True)
    parts = rows[order].split(coming.sum(0).tolist())
    made = [expert(part, up[at], down[at]) for at, part in enumerate(parts[:own])]
    made_rows = torch.cat([rows[:0], *made])[order.argsort()]
    back = _Exchange.apply(made_rows, arrive, leave, group)
    return torch.zeros_like(x).index_add(0, tokens, back * weights.flatten()[pairs, None])
