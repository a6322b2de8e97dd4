"""Adam in a small space: GaLore, whose moments are those of a projected gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from gpu_course.lessons.smaller_states.projection import grow, main_directions, shrink
from gpu_course.measure.threads import one_thread

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class GaLoreAdam(torch.optim.Optimizer):
    """Adam that keeps the moments of `matrices` in their main directions, and of `others` whole.

    Args:
        matrices: parameters with two sides, the shorter one no shorter than the rank.
        others: parameters that Adam updates as ever.
        rank: how many directions are kept.
        refresh: updates between two choices of the directions. The moments stay at a change.
        rate: the learning rate.
        scale: what the update of a matrix is multiplied by.

    Source: Zhao et al. 2024, arXiv 2403.03507, algorithm 2.
    """

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        others: Iterable[nn.Parameter] = (),
        *,
        rank: int,
        refresh: int = 50,
        rate: float = 1e-2,
        scale: float = 0.25,
    ) -> None:
        groups: list[dict[str, Any]] = []
        if projected := list(matrices):
            groups.append({"params": projected, "rank": rank, "scale": scale})
        rest = list(others)
        if rest:
            groups.append({"params": rest, "rank": None, "scale": 1.0})
        super().__init__(groups, {"rate": rate, "refresh": refresh})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Updates every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)

    def _update(self, parameter: nn.Parameter, group: dict[str, Any]) -> None:
        gradient, state, rank = parameter.grad, self.state[parameter], group["rank"]
        assert gradient is not None
        step = state.get("step", 0)
        if rank is not None:
            if step % group["refresh"] == 0:
                state["basis"] = main_directions(gradient, rank)
            gradient = shrink(gradient, state["basis"])
        change = adam_direction(gradient, state)
        if rank is not None:
            change = grow(change, state["basis"], parameter.shape)
        parameter.sub_(group["rate"] * group["scale"] * change)


def adam_direction(gradient: Tensor, state: dict[str, Any]) -> Tensor:
    """Returns Adam's step for a gradient before the learning rate, and brings its state on.

    Args:
        gradient: of any shape.
        state: "step", "first" and "second", made at the first call.

    Source: Kingma and Ba 2015, arXiv 1412.6980, algorithm 1.
    """
    if "first" not in state:
        state["step"] = 0
        state["first"], state["second"] = torch.zeros_like(gradient), torch.zeros_like(gradient)
    state["step"] += 1
    state["first"].lerp_(gradient, 1 - BETAS[0])
    state["second"].lerp_(gradient.square(), 1 - BETAS[1])
    return corrected(state["first"], state["second"], state["step"])


def corrected(first: Tensor, second: Tensor, step: int) -> Tensor:
    """Returns the quotient of Adam's moments, both freed of their start at zero."""
    mean = first / (1 - BETAS[0] ** step)
    spread = (second / (1 - BETAS[1] ** step)).sqrt()
    return mean / (spread + EPSILON)


def distance_left(rank: int | None, noise: float, steps: int, *, side: int = 32) -> float:
    """Returns which share of the way to a target of one direction is left after some updates.

    The gradient is that of half the squared distance, and noise in every direction but the
    target's, as a small batch would bring it. The rate falls to 0 in a straight line.

    Args:
        rank: of GaLore; None for plain Adam.
        noise: its largest singular value is about twice this; the target's is 8.
        steps: how many updates.
        side: of the square weight.
    """
    generator = torch.Generator().manual_seed(0)
    draw = [torch.randn(side, generator=generator) for _ in range(2)]
    left, right = (vector / vector.norm() for vector in draw)
    weight = nn.Parameter(torch.zeros(side, side))
    target = 8 * torch.outer(left, right)
    optimizer = GaLoreAdam(
        *(([], [weight]) if rank is None else ([weight], [])),
        rank=rank or 1,
        refresh=20,
        scale=1.0,
    )
    with one_thread():
        for step in range(steps):
            for group in optimizer.param_groups:
                group["rate"] = 0.02 * (1 - step / steps)
            other = noise / side**0.5 * torch.randn(side, side, generator=generator)
            other -= torch.outer(left, left @ other)
            other -= torch.outer(other @ right, right)
            weight.grad = weight.detach() - target + other
            optimizer.step()
    return float(1 - left @ weight.detach() @ right / 8)
