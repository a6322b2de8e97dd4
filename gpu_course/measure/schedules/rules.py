"""What a stage may do if it is to be run more than once: run it here, and be told where it may not.

A schedule runs a stage by itself, from its input alone, as often as it likes. So a stage takes one
tensor and gives one, leaves its input as it was, and hands nothing to another stage on the side.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gpu_course.errors import CourseError

_OF_EVERY_MODULE = frozenset(vars(nn.Module()))
"""What PyTorch keeps in any module: its parameters, buffers and hooks among them."""
IN_PLACE = "in-place operation"
"""What PyTorch says of a leaf that is changed in place."""


def run_stage(number: int, stage: nn.Module, x: Tensor) -> Tensor:
    """Returns stage(x).

    Args:
        number: of the stage, for messages.
        stage: the module.
        x: its input.

    Raises:
        CourseError: it returned no tensor, changed its input in place, or left a tensor in an
            attribute, where another stage may find it.
    """
    # A change by way of x.data moves no version counter, so the bits themselves are looked at.
    version, bits, before = x._version, fingerprint(x), _on_the_side(stage)
    try:
        y = stage(x)
    except RuntimeError as error:
        if IN_PLACE in str(error):
            raise in_place(number, stage) from error
        raise
    if not isinstance(y, Tensor):
        raise CourseError(
            f"{named(number, stage)} returned {'None' if y is None else type(y).__name__}, "
            "not one tensor",
            "wrap it in a module that returns the one tensor the next stage takes",
        )
    if y.layout is not torch.strided:
        raise CourseError(
            f"{named(number, stage)} returned a tensor of layout {y.layout}, whose memory is in "
            "several pieces",
            "return a dense tensor: y.to_dense()",
        )
    if x._version != version or fingerprint(x) != bits:
        raise in_place(number, stage)
    for name, tensor in _on_the_side(stage).items():
        if before.get(name) is not tensor:
            raise CourseError(
                f"{named(number, stage)} leaves a tensor in its attribute {name}; a stage that is "
                "run by itself, or again, cannot hand anything on that way",
                "put both ends of the skip into one stage",
            )
    return y


def check_loss(stages: Sequence[nn.Module], y: Tensor, *, graph: bool = True) -> None:
    """Raises where the output of the last stage is no loss to go back from.

    Args:
        stages: of the chain.
        y: what came out of it.
        graph: False where it was computed without one.

    Raises:
        CourseError: it is not one number, or no parameter before it asks for a gradient.
    """
    last = named(len(stages) - 1, stages[-1])
    if y.numel() != 1:
        raise CourseError(
            f"{last} returned {y.numel()} numbers of shape {tuple(y.shape)}; the last stage "
            "returns the loss, which is one number",
            "end it with a mean, or with a loss of torch.nn.functional",
        )
    if graph and not y.requires_grad:
        raise CourseError(
            f"no gradient can go back from {last}: nothing before it asks for one",
            "train a parameter of some stage: parameter.requires_grad_()",
        )


def in_place(number: int, stage: nn.Module) -> CourseError:
    """Returns the error of a stage that changed its input in place."""
    return CourseError(
        f"{named(number, stage)} changed its input in place, so it cannot be run again",
        "use the form that makes a new tensor: nn.ReLU() for nn.ReLU(inplace=True)",
    )


def other_bits(number: int, stage: nn.Module, place: str) -> CourseError:
    """Returns the error of a stage that gave another output from the same input.

    Args:
        number: of the stage.
        stage: the module.
        place: how it was run when that was seen, such as "with a graph".
    """
    return CourseError(
        f"{named(number, stage)} gives other bits when it is run again {place}, from the same "
        "input, buffers and random state: a schedule cannot be exact",
        "look for random numbers from elsewhere, such as a generator of its own; for state outside "
        "its buffers, such as a counter; and for modules with another kernel where no gradient is "
        "wanted, as nn.LSTM",
    )


def fingerprint(x: Tensor) -> int:
    """Returns a checksum of a tensor's bits; it takes nothing from PyTorch's allocator.

    >>> x = torch.ones(2, 3)
    >>> before = fingerprint(x)
    >>> fingerprint(x.clone()) == before, fingerprint(x * 2) == before
    (True, False)
    """
    seen = torch.view_as_real(x.detach()) if x.is_complex() else x.detach()
    plain = seen.view(_WHOLE[seen.element_size()]).numpy()
    return zlib.crc32(np.ascontiguousarray(plain).data)


_WHOLE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""A type that NumPy knows for each size of a number: it has no bfloat16."""


def named(number: int, stage: nn.Module) -> str:
    """Returns what messages call a stage: "stage 3 (ReLU)"."""
    return f"stage {number} ({type(stage).__name__})"


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Returns True where two tensors hold the same numbers, not-a-numbers included."""
    return torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))


def refuse_shared_gradients(stages: Sequence[nn.Module]) -> None:
    """Raises where two stages share a parameter whose gradient is there already, and not zero.

    The plain run adds up what the stages give and then adds that to the gradient; one stage at a
    time adds to it one by one. Floating-point sums in another order have other bits.

    Raises:
        CourseError: names the stages.
    """
    owners: dict[nn.Parameter, int] = {}
    for number, stage in enumerate(stages):
        for parameter in stage.parameters():
            first = owners.setdefault(parameter, number)
            if first != number and parameter.grad is not None and parameter.grad.any():
                raise CourseError(
                    f"stages {first} and {number} share a parameter that has a gradient already: "
                    "adding to it stage by stage gives other bits than the plain run",
                    "begin with zero_grad(), and add the gradient of before afterwards",
                )


def _on_the_side(stage: nn.Module) -> dict[str, Tensor]:
    """The tensors in attributes of a stage's modules, parameters and buffers left out."""
    found = {}
    for path, module in stage.named_modules():
        for name, value in vars(module).items():
            if name in _OF_EVERY_MODULE:
                continue
            for place, tensor in _tensors(name, value):
                found[f"{path}.{place}".lstrip(".")] = tensor
    return found


def _tensors(name: str, value: Any) -> Iterable[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        return [(name, value)]
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, (list, tuple))
        else ()
    )
    return [found for key, each in items for found in _tensors(f"{name}[{key!r}]", each)]
