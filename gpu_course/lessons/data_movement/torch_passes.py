"""What PyTorch's operations are handed and what they leave, call by call.

A tensor that an operation gets counts once as read, one that it makes or changes once as written.
What a kernel does inside may be more: log-softmax goes through a long row three times. So these are
the bytes at least, for operations that each end before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pass:
    """One call.

    Attributes:
        name: of the operation, such as "mul_".
        read_bytes, written_bytes: of the tensors it was handed, and of those it made or changed.
    """

    name: str
    read_bytes: int
    written_bytes: int


def passes_of(function: Callable[[], Any]) -> list[Pass]:
    """Returns the operations that a function calls, with the bytes of each.

    Numbers that stand alone, such as a step's count, and views, which move nothing, are left out.

    Args:
        function: takes nothing; it may run a backward pass.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    found: list[Pass] = []

    def arrays(values: Any) -> list[Any]:
        leaves = (each for each in tree_leaves(values) if isinstance(each, torch.Tensor))
        return [each for each in leaves if each.numel() > 1]

    class Watched(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = arrays((args, kwargs))
            before = [each.clone() for each in given]
            out = func(*args, **(kwargs or {}))
            known = {each.untyped_storage().data_ptr() for each in given}
            written = [
                each for each, old in zip(given, before, strict=True) if not torch.equal(each, old)
            ]
            written += [x for x in arrays(out) if x.untyped_storage().data_ptr() not in known]
            if written or (given and not arrays(out)):
                name = str(func).split(".")[1].strip("_")
                found.append(
                    Pass(name, sum(x.nbytes for x in given), sum(x.nbytes for x in written))
                )
            return out

    with Watched():
        function()
    return found


def adamw_step(fused: bool, size: int = 1024) -> list[Pass]:
    """Returns the operations of one step of torch.optim.AdamW on so many float32 parameters."""
    import torch

    torch.manual_seed(0)
    parameter = torch.nn.Parameter(torch.randn(size))
    optimizer = torch.optim.AdamW([parameter], foreach=False if not fused else None, fused=fused)
    parameter.grad = torch.randn(size)
    optimizer.step()  # The first step makes the states.
    parameter.grad = torch.randn(size)
    return passes_of(optimizer.step)


def cross_entropy(rows: int = 8, classes: int = 1024) -> list[Pass]:
    """Returns the operations of PyTorch's cross entropy, forward and backward, in float32."""
    import torch
    from torch.nn import functional

    torch.manual_seed(0)
    logits = torch.randn(rows, classes, requires_grad=True)
    target = torch.randint(0, classes, (rows,))
    return passes_of(lambda: functional.cross_entropy(logits, target).backward())


def bias_gelu(rows: int = 64, cols: int = 256) -> list[Pass]:
    """Returns the operations of gelu(x + bias) on float32 numbers."""
    import torch
    from torch.nn import functional

    torch.manual_seed(0)
    x, bias = torch.randn(rows, cols), torch.randn(cols)
    return passes_of(lambda: functional.gelu(x + bias))
