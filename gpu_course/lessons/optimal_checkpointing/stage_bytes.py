"""What each stage of a chain costs in memory, measured on the stage alone."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gpu_course.measure.allocations import mark
from gpu_course.measure.peak import Peak, allocate_gradients, bytes_of, measure_peak


@dataclass(frozen=True)
class StageBytes:
    """The bytes of one stage of a chain, above its input, its parameters and their gradients.

    Attributes:
        input_bytes: of its input, which the stage before it left.
        output_bytes: of its output; 0 where the output is a view of the input.
        saved_bytes: what a forward pass that keeps everything leaves beside the input and the
            output.
        forward_bytes: how far a forward pass without a graph rises at most, its output included.
        forward_saving_bytes: the same for one that keeps everything, output and saved included.
        backward_bytes: how far the backward pass rises at most above what is there when it begins:
            input, output, saved and the gradient of the output. The gradient of the input, the
            gradients of parameters on their way and the buffers of operators are in it; what the
            backward pass frees early is taken off as it goes.
        input_gradient_bytes: of the gradient of its input, which it leaves; 0 for a stage that
            gets numbers nothing can be learned from, such as tokens.
    """

    input_bytes: int
    output_bytes: int
    saved_bytes: int
    forward_bytes: int
    forward_saving_bytes: int
    backward_bytes: int
    input_gradient_bytes: int


def profile_stages(stages: Sequence[nn.Module], batch: Tensor) -> tuple[StageBytes, ...]:
    """Returns the bytes of each stage of a chain, measured with the real modules on this batch.

    The stages are left as they are: copies of them run, and the random state is put back.

    Args:
        stages: modules of one input and one output, each fed by the one before.
        batch: what the first stage gets.
    """
    measured = []
    with torch.random.fork_rng(devices=[]):
        for stage in stages:
            alone = copy.deepcopy(stage)
            allocate_gradients(alone)
            x = batch.detach()
            without = measure_peak(lambda alone=alone, x=x: _forward(alone, x))  # type: ignore[misc]
            y = without.value
            measured.append(_with_graph(alone, x, torch.ones_like(y), without))
            batch = y
    return tuple(measured)


def _forward(stage: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        return stage(x)


def _with_graph(stage: nn.Module, x: Tensor, gradient: Tensor, without: Peak[Tensor]) -> StageBytes:
    x = x.detach().requires_grad_(x.is_floating_point())

    def run() -> Tensor:
        y = stage(x)
        with mark("backward"):
            if y.requires_grad:
                y.backward(gradient)
        return y

    peak = measure_peak(run)
    (begin,) = peak.moments("backward")
    before = peak.live_bytes[begin]
    output_bytes = without.left_bytes
    return StageBytes(
        input_bytes=bytes_of(x),
        output_bytes=output_bytes,
        saved_bytes=before - output_bytes,
        forward_bytes=without.peak_bytes,
        forward_saving_bytes=peak.between(0, begin),
        backward_bytes=peak.between(begin, len(peak.events) - 1) - before,
        input_gradient_bytes=bytes_of(x.grad),
    )
