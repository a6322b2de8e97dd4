"""What lesson 15 tries out: small trainings, and products whose sums have few bits.

All rounding is that of `formats`; nothing here is measured on a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_course.lessons.number_formats.formats import BF16, E4M3, Format, rounded, step_at

TILE = 128
TENSOR_CORE_SUM = Format("14 bits", 8, 13, float(2.0**127))
"""What DeepSeek-V3's report says that Hopper's tensor cores keep of an fp8 sum: about 14 bits."""
_INSTRUCTION = 32
"""Products of fp8 numbers that one tensor core instruction adds up along the inner side."""


def gradients_of_a_training(steps: int = 20, seed: int = 0) -> np.ndarray:
    """Returns the gradients of a small network's activations after a few steps, by PyTorch.

    Eight layers of tanh learn to tell which of ten directions a random point is closest to. The
    loss is a mean over the batch, so each gradient is smaller by the size of the batch.

    Returns:
        float32, those of all layers in one row.
    """
    import torch
    from torch import nn

    generator = torch.Generator().manual_seed(seed)
    linears = [nn.Linear(32, 32) for _ in range(8)]
    last = nn.Linear(32, 10)
    weights = [w for layer in (*linears, last) for w in layer.parameters()]
    with torch.no_grad():
        for weight in weights:
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.09)
    directions = torch.randn(32, 10, generator=generator)
    optimizer = torch.optim.SGD(weights, lr=0.5)
    kept: list[torch.Tensor] = []
    for _ in range(steps):
        x = torch.randn(512, 32, generator=generator)
        kept, h = [], x
        for layer in linears:
            h = torch.tanh(layer(h))
            h.retain_grad()
            kept.append(h)
        loss = nn.functional.cross_entropy(last(h), (x @ directions).argmax(1))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    found = torch.cat([h.grad.reshape(-1) for h in kept if h.grad is not None])
    gradients: np.ndarray = found.numpy()
    return gradients


def stalled_training(
    form: Format = BF16, steps: int = 400, rate: float = 0.02, seed: int = 3
) -> Mapping[str, np.ndarray]:
    """Returns the loss of a linear fit, step by step, with its weights kept in four ways.

    Args:
        form: the format of the short weights.
        steps: of gradient descent on one batch.
        rate: what a gradient is multiplied by.
        seed: of data and draws.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((128, 32))
    goal = rng.standard_normal(32) * 2
    y = x @ goal
    start = rounded(rng.standard_normal(32), form)
    kept = {
        "float32": start.copy(),
        f"{form.name} alone": start.copy(),
        f"{form.name}, float32 master": start.copy(),
        f"{form.name}, drawn": start.copy(),
    }
    losses: dict[str, list[float]] = {name: [] for name in kept}
    for _ in range(steps):
        for name, weight in kept.items():
            used = rounded(weight, form) if "master" in name else weight
            error = x @ used - y
            losses[name].append(float((error**2).mean()))
            new = weight - rate * 2 * (x.T @ error) / len(x)
            if "alone" in name:
                new = rounded(new, form)
            elif "drawn" in name:
                new = rounded_by_draw(new, form, rng)
            else:
                new = new.astype(np.float32).astype(np.float64)
            kept[name] = new
    return {name: np.array(each) for name, each in losses.items()}


def rounded_by_draw(x: np.ndarray, form: Format, rng: np.random.Generator) -> np.ndarray:
    """Returns a neighbour of each number, the nearer one the more often: the mean is the number."""
    step = step_at(x, form)
    below = np.floor(x / step)
    found: np.ndarray = (below + (rng.random(x.shape) < x / step - below)) * step
    return found


def tensor_with_outliers(
    rows: int = 64, cols: int = 512, times: float = 100_000.0, seed: int = 1
) -> np.ndarray:
    """Returns activations of which a few channels are many times as large as the others."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((rows, cols))
    a[:, rng.permutation(cols)[:3]] *= times
    return a.astype(np.float32)


def lost_by_scale(a: np.ndarray, tile: int) -> float:
    """Returns the median relative error of E4M3 with a scale for each `tile` numbers of a row.

    Args:
        a: (rows, columns).
        tile: neighbours that share a scale; 0 for one scale of the whole tensor.
    """
    size = np.abs(a)
    if tile:
        parts = size.reshape(len(a), -1, tile).max(axis=2)
        scale = np.repeat(parts, tile, axis=1) / E4M3.largest
    else:
        scale = np.full(a.shape, size.max() / E4M3.largest)
    back = rounded(a / scale, E4M3, saturate=True) * scale
    return float(np.median(np.abs(back - a) / size))


def error_of_a_short_sum(
    inner: int = 4096, promote: int = 0, form: Format = TENSOR_CORE_SUM, seed: int = 0
) -> float:
    """Returns the largest relative error of a product of fp8 matrices whose sums are kept short.

    Args:
        inner: products in each sum.
        promote: after so many products the sum goes to a float32 one and begins anew; 0 for never.
        form: what a partial sum is cut to after each instruction.
        seed: of two matrices of random numbers between 0 and 1.
    """
    rng = np.random.default_rng(seed)
    a, b = (rounded(rng.random((16, inner)), E4M3) for _ in range(2))
    exact = a @ b.T
    total, short = np.zeros_like(exact), np.zeros_like(exact)
    for first in range(0, inner, _INSTRUCTION):
        part = slice(first, first + _INSTRUCTION)
        short = cut(short + a[:, part] @ b[:, part].T, form)
        if promote and (first + _INSTRUCTION) % promote == 0:
            total, short = (total + short).astype(np.float32).astype(np.float64), short * 0
    return float((np.abs(total + short - exact) / exact).max())


def cut(x: np.ndarray, form: Format) -> np.ndarray:
    """Returns the next number of a format towards 0: what hardware does that drops bits."""
    step = step_at(x, form)
    found: np.ndarray = np.trunc(x / step) * step
    return found
