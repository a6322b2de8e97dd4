"""What runs on each rank in the tests of experts on ranks."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from gpu_course.measure.experts.exchange import expert_parallel

WIDTH, HIDDEN, K = 5, 3, 2
NAMES = ("x", "weights", "up", "down")


def whole(tokens: list[int], held: list[int], seed: int) -> dict[str, torch.Tensor]:
    """Returns all ranks' tensors, of which some choices go nowhere."""
    made = torch.Generator().manual_seed(seed)
    draw: Any = {"generator": made, "dtype": torch.float64}
    number, experts = sum(tokens), sum(held)
    scores = torch.rand(number, experts, **draw)
    chosen = scores.topk(min(K, experts)).indices
    chosen[torch.rand(chosen.shape, **draw) < 0.2] = -1
    return {
        "x": torch.randn(number, WIDTH, **draw),
        "experts": chosen,
        "weights": torch.rand(chosen.shape, **draw),
        "up": torch.randn(experts, HIDDEN, WIDTH, **draw),
        "down": torch.randn(experts, WIDTH, HIDDEN, **draw),
        "dy": torch.randn(number, WIDTH, **draw),
    }


def run(tokens: list[int], held: list[int], seed: int, wrong: int | None = None) -> Any:
    """Returns y and the gradients of this rank, or "ValueError"."""
    rank = dist.get_rank()
    cuts = {name: held if name in ("up", "down") else tokens for name in (*NAMES, "experts", "dy")}
    all_of = whole(tokens, held, seed)
    own = {name: all_of[name].split(cuts[name])[rank].clone() for name in cuts}
    if wrong == rank:
        own["experts"][0, 0] = sum(held)
    leaves = {name: own[name].requires_grad_() for name in NAMES}
    try:
        y = expert_parallel(
            leaves["x"], own["experts"], leaves["weights"], held, leaves["up"], leaves["down"]
        )
    except ValueError:
        return "ValueError"
    y.backward(own["dy"])
    found = [y.detach()]
    found += [
        torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves.values()
    ]
    return [each.numpy() for each in found]
