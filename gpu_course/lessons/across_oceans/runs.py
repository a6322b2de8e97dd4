"""What lesson 33 runs on ranks: an answer's rounds, and the course's own, also with 8 bits.

One run of the group trains several models, one behind the other. A barrier stands behind each, so
that the calls on the wire can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gpu_course.lessons.across_oceans import letters

EVERY = 32
"""Steps between two looks at the loss."""
Setting = tuple[int, float, float]
"""Steps of a round, and rate and momentum of the outer optimizer."""


class Watched:
    """A loss that looks, where a round begins, at the weights that all islands share.

    Args:
        h: steps of a round.

    Attributes:
        losses: (step, loss of what is tested), on rank 0.
        moved: how far the shared weights went in each round.
    """

    def __init__(self, h: int) -> None:
        self.h = h
        self.step = 0
        self.losses: list[tuple[int, float]] = []
        self.moved: list[float] = []
        self._before: Tensor | None = None

    def __call__(self, model: nn.Module, batch: Tensor) -> Tensor:
        """Returns the loss of a batch."""
        if self.step % self.h == 0:
            self.look(model)
        self.step += 1
        return letters.loss_of(model, batch)

    def look(self, model: nn.Module) -> None:
        """Notes where the shared weights are, and from time to time their loss."""
        weights = parameters_to_vector(model.parameters()).detach().clone()
        if self._before is not None:
            self.moved.append(float((weights - self._before).norm()))
        self._before = weights
        if self.step % max(EVERY, self.h) == 0 and dist.get_rank() == 0:
            self.losses.append((self.step, letters.tested_loss(model)))


def _trained(diloco: Callable[..., Any], setting: Setting, steps: int) -> dict[str, list[Any]]:
    h, rate, momentum = setting
    model, watched = letters.tiny_gpt(), Watched(h)
    batches = letters.own_batches(dist.get_rank(), steps)
    diloco(model, batches, watched, h, dict(letters.INNER), rate, momentum)
    watched.look(model)
    dist.barrier()
    return {"losses": watched.losses, "moved": watched.moved}


def own_rounds(
    answer: ModuleType, settings: Sequence[Setting], steps: int
) -> list[dict[str, list[Any]]]:
    """Returns the losses and ways of an answer's runs.

    Args:
        answer: with `diloco`.
        settings: of each run.
        steps: of each run.
    """
    return [_trained(answer.diloco, tuple(each), steps) for each in settings]  # type: ignore[arg-type]


def course_rounds(
    settings: Sequence[Setting], steps: int, bits: int = 64
) -> list[dict[str, list[Any]]]:
    """Returns the same of the course's own rounds.

    Args:
        settings, steps: as in `own_rounds`.
        bits: of a number that is sent, 64 or 8.
    """
    mean = {64: mean_of, 8: mean_of_int8}[bits]

    def diloco(
        model: nn.Module,
        batches: Sequence[Tensor],
        loss_of: Callable[[nn.Module, Tensor], Tensor],
        h: int,
        inner: dict[str, Any],
        rate: float,
        momentum: float,
    ) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), **inner)
        shared = parameters_to_vector(model.parameters()).detach().clone()
        velocity = torch.zeros_like(shared)
        for first in range(0, len(batches), h):
            for batch in batches[first : first + h]:
                optimizer.zero_grad()
                loss_of(model, batch).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            gradient = mean(shared - parameters_to_vector(model.parameters()).detach())
            velocity = momentum * velocity + gradient
            shared = shared - rate * (gradient + momentum * velocity)
            vector_to_parameters(shared.clone(), model.parameters())

    return [_trained(diloco, tuple(each), steps) for each in settings]  # type: ignore[arg-type]


def mean_of(numbers: Tensor) -> Tensor:
    """Returns the mean over all ranks."""
    dist.all_reduce(numbers)
    return numbers / dist.get_world_size()


BLOCK = 64
"""Numbers that share a scale in 8 bits."""


def mean_of_int8(numbers: Tensor) -> Tensor:
    """Returns the mean over all ranks of what each rounds to 8 bits, with a scale for each BLOCK.

    Args:
        numbers: (n,).
    """
    ranks, many = dist.get_world_size(), len(numbers)
    blocks = nn.functional.pad(numbers, (0, -many % BLOCK)).view(-1, BLOCK)
    scales = (blocks.abs().amax(1, keepdim=True) / 127).float().clamp(min=1e-30)
    rounded = (blocks / scales).round().to(torch.int8)
    all_rounded = [torch.empty_like(rounded) for _ in range(ranks)]
    all_scales = [torch.empty_like(scales) for _ in range(ranks)]
    dist.all_gather(all_rounded, rounded)
    dist.all_gather(all_scales, scales)
    pairs = zip(all_rounded, all_scales, strict=True)
    read = [one.double() * scale.double() for one, scale in pairs]
    return (sum(read) / ranks).flatten()[:many]  # type: ignore[union-attr, operator]


def links(answer: ModuleType, given: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Returns what an answer's bytes_saved says for each set of arguments."""
    return [list(answer.bytes_saved(**each)) for each in given]


def shares(answer: ModuleType, given: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Returns what an answer's attention_share says for each set of arguments."""
    return [list(answer.attention_share(**each)) for each in given]


def cost(answer: ModuleType, given: dict[str, Any]) -> list[list[float]]:
    """Returns what an answer's run_cost says: GPU-hours, days, kWh and dollars."""
    return [list(each) for each in answer.run_cost(**given)]


def exponents(
    answer: ModuleType, law: dict[str, float], flop: float, wanted: Sequence[float], step: float
) -> list[list[float]]:
    """Returns every pair (alpha, beta) of a grid with which an answer gives two printed numbers.

    Args:
        answer: with `model_size_overhead`.
        law: E, A and B.
        flop: of the table's row.
        wanted: billions of parameters of the best model and one unit in their last place, then
            billions of tokens at half the size and one unit of theirs.
        step: of the grid, from 0.25 to 0.45 in both directions.
    """
    grid = [round(0.25 + step * place, 6) for place in range(round(0.2 / step) + 1)]
    size, unit, tokens, token_unit = wanted
    found = []
    for alpha in grid:
        for beta in grid:
            own = law | {"alpha": alpha, "beta": beta}
            best, _, _ = answer.model_size_overhead(own, flop, 1.0, None)
            if abs(best / 1e9 - size) >= unit:
                continue
            _, half, _ = answer.model_size_overhead(own, flop, 0.5, None)
            if abs(half / 1e9 - tokens) < token_unit:
                found.append([alpha, beta])
    return found
