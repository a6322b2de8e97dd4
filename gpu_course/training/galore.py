"""Adam in a small space: GaLore, whose moments are those of a projected gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from gpu_course.training.projection import grow, main_directions, shrink

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
        groups: list[dict[str, Any]] = [{"params": list(matrices), "rank": rank, "scale": scale}]
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
