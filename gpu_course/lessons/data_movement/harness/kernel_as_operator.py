"""Harness of `kernel_as_operator`: uses the operator as a model, a tracer and opcheck would."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._library.custom_ops import CustomOpDef
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.testing._internal.optests import generate_tests  # noqa: F401  opcheck imports it late

from gpu_course.puzzle.harness import Unusable, name_of

OPCHECKS = ("test_schema", "test_autograd_registration", "test_faketensor")
"""Of opcheck's four tests those that need no compiler; `_traced` does what the fourth looks at."""
STOPPED = {
    "no autograd formula was registered": (
        "the operator has no gradient: backward() stops at it",
        "no-gradient",
    ),
    "may not alias any inputs": ("the operator returned its input", "returns-input"),
    "no fake impl registered": (
        "the operator has no fake: without numbers nobody knows its output",
        "no-fake",
    ),
    "returned an incorrect number of gradients": (
        "backward did not return two gradients, of x and of bias",
        "one-per-input",
    ),
    "is not compatible with input tensor's size and stride": (
        "view() cannot make rows of a tensor that is not contiguous",
        "not-contiguous",
    ),
    "expected shape compatible with": (
        "backward returned a gradient of another shape than its input",
        "gradient-shape",
    ),
    "does not require grad": ("no gradient hangs on the operator's output", "no-gradient"),
}
"""What PyTorch says where an operator has gone wrong; the line that is told, and its diagnosis."""

_erf = np.vectorize(math.erf, otypes=[np.float64])


class Launches:
    """Stands for the launch of the learner's kernel: checks what it gets, and writes the result."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, out: Tensor, x: Tensor, bias: Tensor) -> None:
        """Writes gelu(x + bias) into out.

        Raises:
            Unusable: a real launch would not get through with these.
        """
        given: dict[str, Any] = {"out": out, "x": x, "bias": bias}
        for name, tensor in given.items():
            if not isinstance(tensor, Tensor):
                kind = type(tensor).__name__
                raise Unusable(f"launch got {kind} for {name}, not a tensor", "launch-arguments")
            if isinstance(tensor, FakeTensor):
                fact = f"launch got {name} without numbers: the fake, or backward, calls it"
                raise Unusable(fact, "launched-without-numbers")
            if tensor.dtype != torch.float32:
                raise Unusable(f"launch got {name} of {_plain(tensor.dtype)}", "launch-arguments")
        cols = x.shape[-1] if x.dim() else 0
        if x.dim() != 2 or out.shape != x.shape or bias.shape != (cols,):
            shapes = ", ".join(f"{name} {_size(tensor)}" for name, tensor in given.items())
            raise Unusable(f"launch got {shapes}", "launch-shapes")
        for name, tensor in given.items():
            if not tensor.is_contiguous():
                raise Unusable(f"launch got {name}, which is not contiguous", "not-contiguous")
        if not x.numel():
            raise Unusable("launch got no cells: a grid has one block or more", "empty-launch")
        self.count += 1
        sums = (x.detach().numpy() + bias.detach().numpy()).astype(np.float64)
        out.detach().numpy()[...] = sums / 2 * (1 + _erf(sums / math.sqrt(2)))


def run(
    answer: ModuleType, x: np.ndarray, bias: np.ndarray, slope: np.ndarray, turned: bool
) -> dict[str, Any]:
    """Returns output, both gradients and launches, where PyTorch can use the operator.

    Args:
        answer: the learner's module.
        x, bias, slope: the inputs, and the gradient that comes in from behind.
        turned: True for an x whose last two dimensions are exchanged in memory, and a bias whose
            numbers don't lie side by side.
    """
    launch = Launches()
    operator = answer.kernel_as_operator(launch)
    if not isinstance(operator, CustomOpDef | torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        kind = type(operator).__name__
        raise Unusable(f"what came back is no operator of torch.library: {kind}", "no-operator")
    try:
        found = _used(operator, launch, *_laid_out(x, bias, turned), slope)
        _traced(operator, *_laid_out(x, bias, turned))
        _checked(operator, *_laid_out(x, bias, turned))
    except (RuntimeError, NotImplementedError) as error:
        told = f"{error} {error.__cause__ or ''}"
        for words, (fact, key) in STOPPED.items():
            if words in told:
                raise Unusable(fact, key) from error
        raise
    return found


def _laid_out(x: np.ndarray, bias: np.ndarray, turned: bool) -> tuple[Tensor, Tensor]:
    """Returns both as tensors that ask for a gradient."""
    both = torch.from_numpy(x.copy()), torch.from_numpy(bias.copy())
    if turned:
        rows, more = both
        apart = torch.stack([more, more + 1], 1)[:, 0]
        both = rows.transpose(-1, -2).contiguous().transpose(-1, -2), apart
    return both[0].requires_grad_(), both[1].requires_grad_()


def _used(
    operator: Callable[..., Any], launch: Launches, x: Tensor, bias: Tensor, slope: np.ndarray
) -> dict[str, Any]:
    """Returns what a model gets: another call comes between the forward and the backward pass."""
    before = x.detach().clone(), bias.detach().clone()
    out = operator(x, bias)
    if not isinstance(out, Tensor):
        raise Unusable(f"the operator returned {name_of(out)}, not a tensor", "no-tensor")
    for name, now, then in zip(("x", "bias"), (x, bias), before, strict=True):
        if not torch.equal(now, then):
            raise Unusable(f"the operator changed {name}", "changes-input")
        if out.numel() and out.untyped_storage().data_ptr() == now.untyped_storage().data_ptr():
            raise Unusable(f"the operator's output lies in the memory of {name}", "returns-input")
    if out.shape != x.shape:
        raise Unusable(f"the output is {_size(out)}, and x is {_size(x)}", "other-shape")
    if out.dtype != x.dtype:
        fact = f"the output is {_plain(out.dtype)}, and x is {_plain(x.dtype)}"
        raise Unusable(fact, "other-dtype")
    if launch.count != min(1, x.numel()):
        fact = f"the operator launched the kernel {launch.count} times, not once"
        raise Unusable(fact, "not-launched" if not launch.count else "launched-again")
    if not out.requires_grad:
        raise Unusable("no gradient hangs on the operator's output", "no-gradient")
    launches, first = launch.count, out.detach().clone()
    operator(x.detach().flip(0).requires_grad_(), bias)
    if not torch.equal(out, first):
        raise Unusable("a second call changed what the first one returned", "output-reused")
    out.backward(torch.from_numpy(slope.copy()))
    for name, tensor in (("x", x), ("bias", bias)):
        if tensor.grad is None:
            raise Unusable(f"{name} got no gradient", "no-gradient")
    assert x.grad is not None and bias.grad is not None
    return {
        "out": out.detach().numpy(),
        "dx": x.grad.numpy(),
        "dbias": bias.grad.numpy(),
        "launches": launches,
    }


def _traced(operator: Callable[..., Any], x: Tensor, bias: Tensor) -> None:
    """Runs forward and backward pass on tensors without numbers, as torch.compile traces them."""
    x, bias = x.detach(), bias.detach()
    real = operator(x, bias)
    with FakeTensorMode() as mode:
        fake_x = mode.from_tensor(x).requires_grad_()
        fake_bias = mode.from_tensor(bias).requires_grad_()
        fake = operator(fake_x, fake_bias)
        if not isinstance(fake, Tensor):
            raise Unusable(f"the fake returned {name_of(fake)}, not a tensor", "fake-differs")
        for what in ("shape", "dtype", "stride"):
            both = [_told(tensor, what) for tensor in (fake, real)]
            if both[0] != both[1]:
                fact = f"the fake's {what} is {both[0]}, and the operator's is {both[1]}"
                raise Unusable(fact, "fake-differs")
        try:
            fake.backward(torch.empty_like(fake))
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:
            fact = "backward needs numbers: only operations of PyTorch can be traced"
            raise Unusable(fact, "not-traced") from error


def _checked(operator: Any, x: Tensor, bias: Tensor) -> None:
    found = torch.library.opcheck(operator, (x, bias), test_utils=OPCHECKS, raise_exception=False)
    for name, outcome in found.items():
        if outcome != "SUCCESS":
            line = str(outcome).strip().partition("\n")[0]
            raise Unusable(f"opcheck's {name} says: {line}")


def _told(tensor: Tensor, what: str) -> str:
    if what == "shape":
        return _size(tensor)
    if what == "dtype":
        return _plain(tensor.dtype)
    # Where a side is 1, or no cell is there, any stride is as good.
    sides = tensor.shape if tensor.numel() else ()
    return str(tuple(s for s, side in zip(tensor.stride(), sides, strict=False) if side > 1))


def _size(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
