"""What comes of a chain whose stages are run by a function, such as a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

from gpu_course.measure.allocations import mark
from gpu_course.measure.chains import Classify, MeanSquare, Residual, Stages
from gpu_course.measure.peak import allocate_gradients, measure_peak

Wrap = Callable[[nn.Module, Tensor], Tensor]
"""(stage, x) -> stage(x), computed and differentiated in a way of its own."""

BACKWARD = "the backward pass begins"


class RowsSeen(nn.Module):
    """Passes its input on, and counts in a buffer how many rows it has seen in training.

    The buffer is not saved with a model's state: whoever looks there does not find it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: Tensor
        self.register_buffer("rows", torch.zeros((), dtype=torch.int64), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Returns x."""
        if self.training:
            self.rows += len(x)
        return x


@dataclass(frozen=True)
class RunState:
    """What a forward and a backward pass left behind, and what they took.

    Attributes:
        loss: of the batch.
        gradients: of all parameters one behind the other.
        batch_gradient: of the batch.
        buffers: all buffers one behind the other, float64.
        next_random: three numbers drawn from PyTorch's generator afterwards.
        forward_passes: how often each stage was run forward.
        kept_bytes: alive when the backward pass begins, above parameters, gradients and batch.
        peak_bytes: the most alive at one time.
    """

    loss: float
    gradients: Tensor
    batch_gradient: Tensor
    buffers: Tensor
    next_random: Tensor
    forward_passes: tuple[int, ...]
    kept_bytes: int
    peak_bytes: int


def run_wrapped(
    stages: Sequence[nn.Module],
    batch: Tensor,
    wrap: Wrap,
    seed: int = 0,
    *,
    autocast: bool = False,
    half: bool = False,
    begun: bool = False,
) -> RunState:
    """Returns what comes of a forward and a backward pass in which `wrap` calls every stage.

    One thread runs it, so that sums are taken in the same order every time: two ways to the same
    gradient can be compared bit for bit.

    Args:
        stages: modules of one input and one output, the last of which computes the loss. One may
            stand in several places. Their gradients must be new.
        batch: what the first stage gets; it asks for a gradient.
        wrap: (stage, x) -> output.
        seed: of the random numbers that are drawn on the way.
        autocast: run the forward pass under `torch.autocast` with bfloat16; the backward pass is
            outside of it, as PyTorch advises.
        half: that autocast takes float16 instead.
        begun: the gradients already hold those of an earlier part of the batch, and not 0.
    """
    passes = [0] * len(stages)
    handles = [
        stage.register_forward_pre_hook(_counting(passes, number))
        for number, stage in enumerate(stages)
    ]
    earlier = torch.Generator().manual_seed(seed)
    for stage in stages:
        allocate_gradients(stage)
        for parameter in stage.parameters() if begun else ():
            assert parameter.grad is not None
            parameter.grad.normal_(generator=earlier)
    batch.grad = torch.zeros_like(batch)

    def run() -> float:
        value = batch
        narrow = torch.float16 if half else torch.bfloat16
        with torch.autocast("cpu", narrow, enabled=autocast):
            for stage in stages:
                value = wrap(stage, value)
        with mark(BACKWARD):
            value.backward()  # type: ignore[no-untyped-call]
        return value.item()

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            peak = measure_peak(run)
        finally:
            for handle in handles:
                handle.remove()
        next_random = torch.rand(3)
    begin = peak.moments(BACKWARD)
    return RunState(
        loss=peak.value,
        gradients=_flat(p.grad for stage in stages for p in stage.parameters()),
        batch_gradient=batch.grad.clone(),
        buffers=_flat(b.double() for stage in stages for b in stage.buffers()),
        next_random=next_random,
        forward_passes=tuple(
            # A stage in several places counts for each of them whenever it runs.
            made // stages.count(stage)
            for stage, made in zip(stages, passes, strict=True)
        ),
        kept_bytes=peak.live_bytes[begin[0]] if begin else 0,
        peak_bytes=peak.peak_bytes,
    )


def plainly(stage: nn.Module, x: Tensor) -> Tensor:
    """Returns stage(x): the wrap that is none."""
    return stage(x)


def smooth_chain(
    blocks: int, width: int, seed: int, rows: int = 32, *, again: bool = False
) -> tuple[Stages, Tensor]:
    """Returns a chain without random numbers and buffers, and a batch that asks for a gradient.

    Args:
        blocks: residual blocks of two linear layers with GELU between them, before the loss.
        width: of the batch; the blocks are four times as wide inside.
        seed: of parameters and data.
        rows: of the batch.
        again: the first block stands in the place of the last as well.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        stages: Stages = [
            Residual(
                nn.Sequential(
                    nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Tanh()
                )
            )
            for _ in range(blocks)
        ]
        stages[-1:] = stages[:1] if again else stages[-1:]
        loss = nn.Sequential(nn.Linear(width, width), MeanSquare())
        return [*stages, loss], torch.randn(rows, width).requires_grad_()


def noisy_chain(
    blocks: int,
    channels: int,
    seed: int,
    rows: int = 6,
    *,
    spectral: bool = False,
    again: bool = False,
) -> tuple[Stages, Tensor]:
    """Returns a chain with dropout and buffers, and a batch that asks for a gradient.

    Args:
        blocks: convolutions with BatchNorm, ReLU and dropout, before the loss; the first of them
            also counts the rows it has seen, so that not every buffer is a BatchNorm's.
        channels: of the images.
        seed: of parameters and data.
        rows: images in the batch.
        spectral: each convolution's weight is divided by its largest singular value, which a
            buffer brings closer with every run: here the output depends on a buffer.
        again: the first block stands in the place of the last as well.
    """
    norm = spectral_norm if spectral else _as_it_is
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        stages: Stages = [
            nn.Sequential(
                # In front: PyTorch's checkpoint runs a stage again only as far as it needs to.
                *([RowsSeen()] if block == 0 else []),
                norm(nn.Conv2d(channels, channels, 3, padding=1)),
                nn.BatchNorm2d(channels),
                nn.ReLU(),
                nn.Dropout(0.3),
            )
            for block in range(blocks)
        ]
        stages[-1:] = stages[:1] if again else stages[-1:]
        stages.append(Classify(channels, torch.randint(0, 10, (rows,))))
        return stages, torch.randn(rows, channels, 8, 8).requires_grad_()


def _as_it_is(module: nn.Module) -> nn.Module:
    return module


def _counting(passes: list[int], number: int) -> Callable[[nn.Module, object], None]:
    def count(module: nn.Module, inputs: object) -> None:
        passes[number] += 1

    return count


def _flat(tensors: Iterable[Tensor | None]) -> Tensor:
    parts = [tensor.flatten() for tensor in tensors if tensor is not None]
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64)
