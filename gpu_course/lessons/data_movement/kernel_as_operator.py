"""Puzzle `kernel_as_operator`: a kernel that autograd and torch.compile can use."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(name: str, *shape: int, turned: bool = False, visible: bool = False) -> Case:
    sizes = {f"side {number}": side for number, side in enumerate(shape)}
    return Case(name, {**sizes, "turned": int(turned)}, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    shape = tuple(side for name, side in case.sizes.items() if name != "turned")
    return {
        "x": rng.normal(size=shape).astype(np.float32),
        "bias": rng.normal(size=shape[-1]).astype(np.float32),
        "slope": rng.normal(size=shape).astype(np.float32),
        "turned": bool(case.sizes["turned"]),
    }


def _reference(inputs: Values, case: Case) -> Values:
    import torch

    x, bias = (torch.from_numpy(inputs[name].copy()).requires_grad_() for name in ("x", "bias"))
    out = torch.nn.functional.gelu(x + bias)
    out.backward(torch.from_numpy(inputs["slope"].copy()))
    assert x.grad is not None and bias.grad is not None
    return {"out": out.detach().numpy(), "dx": x.grad.numpy(), "dbias": bias.grad.numpy()}


def _random_case(rng: np.random.Generator) -> Case:
    shape = (int(rng.integers(2, 5)), int(rng.integers(2, 7)), int(rng.integers(3, 20)))
    return _case("a batch drawn at random", *shape, turned=bool(rng.integers(2)))


KERNEL_AS_OPERATOR = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.data_movement.harness.kernel_as_operator",
    torch=True,
    cases=(
        _case("visible example", 4, 6, visible=True),
        _case("three dimensions", 2, 3, 5),
        _case("rows that lie as columns", 5, 7, turned=True),
        _case("turned, in three dimensions", 2, 4, 3, turned=True),
        _case("one row without a batch", 9),
        _case("one cell", 1, 1),
        _case("no rows", 0, 6),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    call=lambda inputs: (
        f"operator(x of {inputs['x'].shape}, bias of {inputs['bias'].shape}), then backward()"
    ),
    tolerance=(1e-5, 1e-5),
)
