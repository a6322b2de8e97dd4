"""All experts of a rank in one product, beside a loop over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode


def looped(rows: Tensor, weights: Tensor, sizes: Sequence[int]) -> Tensor:
    """Returns each expert's rows times its weights, one product after the other.

    Args:
        rows: (rows, width), those of an expert side by side.
        weights: (experts, width, out).
        sizes: rows of each expert.
    """
    parts = rows.split(list(sizes))
    return torch.cat([part @ weight for part, weight in zip(parts, weights, strict=True)])


def grouped(rows: Tensor, weights: Tensor, sizes: Sequence[int]) -> Tensor:
    """Returns the same by one call of PyTorch, which is told where each expert's rows end."""
    ends = torch.tensor(sizes, dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return functional.grouped_mm(rows, weights, offs=ends)


class _Products(TorchDispatchMode):
    """Counts products of matrices, each of which is a launch on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("mm", "addmm", "bmm", "baddbmm", "_grouped_mm"):
            self.counted[name] += 1
        return func(*args, **(kwargs or {}))


def products(call: Callable[[], Any]) -> int:
    """Returns how many products of matrices PyTorch is asked for in a call.

    Args:
        call: takes no argument.
    """
    with torch.no_grad(), _Products() as counting:
        call()
    return sum(counting.counted.values())


def example(experts: int, tokens: int, width: int = 64) -> tuple[Tensor, Tensor, list[int]]:
    """Returns (rows, weights, sizes) of uneven experts in float32, drawn from a seed.

    Args:
        experts, tokens: how many.
        width: of a row, before and after.
    """
    draws = torch.Generator().manual_seed(28)
    liked = torch.rand(experts, generator=draws)
    owners = torch.multinomial(liked, tokens, replacement=True, generator=draws)
    sizes = torch.bincount(owners, minlength=experts).tolist()
    rows = torch.randn(tokens, width, generator=draws)
    weights = torch.randn(experts, width, width, generator=draws) / width**0.5
    return rows, weights, sizes
