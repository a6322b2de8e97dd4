"""A small training loop with at most one fault planted in it, for a profiler to find.

The loop trains a transformer of a layer or two on random sequences. What is planted costs time on
any machine, and is told by counts alone: how often an operator is called, where, and on what.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.profiler import record_function
from torch.utils.data import DataLoader, Dataset

from gpu_course.lessons.profiling.plants import STEP, Loop

CHANGES = 8
"""What a slow DataLoader does to each row, one after the other."""


class _Sequences(Dataset[Any]):
    """Sequences of which a whole batch is cut out in one go, or row by row."""

    def __init__(self, loop: Loop) -> None:
        rows = loop.rows * loop.steps
        self.x = torch.randint(0, 255, (rows, loop.sequence, loop.width), dtype=torch.uint8)
        self.y = torch.randn(rows, loop.width, loop.sequence)
        self.loop = loop

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        x, kind = self.x[index], self.loop.kind
        for _ in range(CHANGES):
            x = x.roll(1, 0) if kind == 0 else x.flip(0) if kind == 1 else x.bitwise_not()
        return x, self.y[index]

    def __getitems__(self, indices: list[int]) -> list[tuple[Tensor, Tensor]]:
        if self.loop.plant == "loader":
            return [self[index] for index in indices]
        chosen = torch.tensor(indices)
        return [(self.x[chosen], self.y[chosen])]


class _Layer(nn.Module):
    """Attention with a causal mask, and a feed-forward part behind it."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop
        self.qkv = nn.Linear(loop.width, 3 * loop.width)
        self.out = nn.Linear(loop.width, loop.width)
        self.up = nn.Linear(loop.width, 2 * loop.width)
        self.down = nn.Linear(2 * loop.width, loop.width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns (rows, sequence, width) for as many."""
        x = x + self.out(self._attention(self._planted(x), mask))
        return x + self.down(getattr(torch, self.loop.activation)(self.up(self._planted(x))))

    def _planted(self, x: Tensor) -> Tensor:
        """Returns the same numbers, having gone somewhere and back where that is planted."""
        kind = self.loop.kind
        if self.loop.plant == "dtypes":
            return x.to((torch.bfloat16, torch.float64, torch.float16)[kind]).to(torch.float32)
        if self.loop.plant == "contiguous":
            sides = ((0, 1), (1, 2), (0, 2))[kind]
            return x.transpose(*sides).contiguous().transpose(*sides).contiguous()
        return x

    def _attention(self, x: Tensor, mask: Tensor) -> Tensor:
        b, s, d = x.shape
        heads = self.loop.heads
        q, k, v = self.qkv(x).view(b, s, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)).masked_fill(mask, float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, d)


def _mask(sequence: int, kind: int) -> Tensor:
    """Returns what is True where a position lies ahead: (sequence, sequence)."""
    if kind == 2:
        place = torch.arange(sequence)
        return place[None, :] > place[:, None]
    ones = torch.ones(sequence, sequence, dtype=torch.bool)
    return ones.triu(1) if kind == 0 else ones.tril().logical_not()


def _by_rows(loop: Loop, out: Tensor, y: Tensor) -> Tensor:
    """Returns the loss, summed up by a Python loop over rows and positions."""
    total = out.new_zeros(())
    for row in range(loop.rows):
        for place in range(loop.sequence):
            one, other = out[row, place], y[row, place]
            if loop.kind == 0:
                total = total + (one - other).abs().sum()
            elif loop.kind == 1:
                total = total + functional.l1_loss(one, other, reduction="sum")
            else:
                total = total - torch.dot(one, other)
    return total


def _optimizer(loop: Loop, model: nn.Module) -> torch.optim.Optimizer:
    if loop.plant == "optimizer":
        how = {"foreach": False}
    else:
        how = {"fused": True} if loop.fused else {"foreach": True}
    made: torch.optim.Optimizer = getattr(torch.optim, loop.optimizer)(
        model.parameters(), lr=1e-3, **how
    )
    return made


def train(loop: Loop) -> float:
    """Returns the last loss, after all steps."""
    torch.manual_seed(1)
    model = nn.ModuleList(_Layer(loop) for _ in range(loop.layers))
    optimizer = _optimizer(loop, model)
    loader = DataLoader(
        _Sequences(loop),
        batch_size=loop.rows,
        collate_fn=None if loop.plant == "loader" else lambda batch: batch[0],
    )
    mask = _mask(loop.sequence, loop.kind)
    loss = torch.zeros(())
    batches = iter(loader)
    for step in range(loop.steps):
        with record_function(f"{STEP}{step}"):
            x, y = next(batches)
            # What every step needs once: a batch of floats, and targets in the model's order.
            x, y = x.float(), y.transpose(1, 2).contiguous()
            if loop.plant == "mask":
                mask = _mask(loop.sequence, loop.kind)
            for layer in model:
                x = layer(x, mask)
            loss = (
                _by_rows(loop, x, y)
                if loop.plant == "small operations"
                else functional.l1_loss(x, y)
            )
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            optimizer.zero_grad()
            if loop.plant == "item":
                _read(loss, loop.kind)
    return loss.item()


def _read(loss: Tensor, kind: int) -> None:
    """Gets a number to the host, in one of three ways that all wait for it."""
    if kind == 0:
        loss.item()
    elif kind == 1:
        float(loss.detach())
    elif loss > 1e9:
        raise ArithmeticError("the loss is past all bounds")
