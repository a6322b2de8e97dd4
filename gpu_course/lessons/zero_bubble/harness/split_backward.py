"""Harness of `split_backward`: a stage's F, I and W, the products of each, what is held between.

The stage is run twice: once with its matrix products counted, once with its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from gpu_course.lessons.zero_bubble.stages import at_both_ends, layers_of
from gpu_course.measure.allocations import mark
from gpu_course.measure.peak import measure_peak
from gpu_course.puzzle.harness import Unusable

AFTER_F, AFTER_I = "after F", "after I"
_PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot")
_STOPPED = {
    "backward through the graph a second time": "graph-gone",
    "have been freed": "graph-gone",
    "not have been used in the graph": "not-in-the-graph",
    "does not require grad": "not-in-the-graph",
    "modified by an inplace operation": "changed-in-place",
}
"""What autograd says where a graph is not what an answer takes it for, and the diagnosis."""


class _Products(TorchDispatchMode):
    """Counts the FLOP of matrix products, wherever they come from."""

    flop = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ in _PRODUCTS:
            first = [each for each in args if isinstance(each, Tensor)][-2]
            self.flop += 2 * made.numel() * first.shape[-1]
        return made


def run(
    answer: ModuleType,
    widths: list[int],
    rows: int,
    microbatches: int,
    seed: int,
    at_once: int = 0,
) -> dict[str, Any]:
    """Returns what came out, the gradients, the FLOP of each part, and what was held between them.

    Args:
        answer: the learner's module.
        widths, rows, microbatches, seed: of the stage and of what goes in.
        at_once: 1 where each I follows its F, as in a pipeline that is full; else all F come first.
    """
    stage = _Stage(answer, widths, rows, microbatches, seed)
    with _explained():
        if at_once:
            stage.all_at_once()
            return stage.found()
        counted = [_counted(part) for part in (stage.all_f, stage.all_i, stage.all_w)]
        found = stage.found()
        stage.clear()
        peak = measure_peak(stage.marked)
    moments = [peak.moments(each) for each in (AFTER_F, AFTER_I)]
    return found | {
        "product_flop": counted,
        "held_bytes": [peak.live_bytes[each[0]] if each else 0 for each in moments],
    }


def _counted(part: Callable[[], None]) -> int:
    with _Products() as products:
        part()
    return products.flop


@contextmanager
def _explained() -> Iterator[None]:
    """Gives what autograd refuses the diagnosis that belongs to it."""
    try:
        yield
    except RuntimeError as error:
        for words, key in _STOPPED.items():
            if words in str(error):
                first = str(error).partition(". ")[0]
                raise Unusable(f"autograd stopped: {first}", key) from error
        raise


class _Stage:
    """A stage with its microbatches, of which it keeps nothing that the answer does not."""

    def __init__(
        self, answer: ModuleType, widths: list[int], rows: int, microbatches: int, seed: int
    ) -> None:
        self.answer = answer
        self.layers = layers_of(widths, seed)
        self.parameters = [each for layer in self.layers for each in layer.parameters()]
        self.inputs, self.gradients = at_both_ends(widths, rows, microbatches, seed)
        self.outputs = torch.zeros(microbatches, rows, widths[-1], dtype=torch.float64)
        self.to_inputs = torch.zeros(microbatches, rows, widths[0], dtype=torch.float64)
        self.to_weights = [torch.zeros_like(each) for each in self.parameters]
        self.kept: list[Any] = []

    def clear(self) -> None:
        for tensor in (self.outputs, self.to_inputs, *self.to_weights):
            tensor.zero_()
        self.kept.clear()

    def all_f(self) -> None:
        for each in range(len(self.inputs)):
            self.f(each)

    def all_i(self) -> None:
        for each in range(len(self.inputs)):
            self.i(each)

    def all_w(self) -> None:
        # The last comes first: nothing may lie where another microbatch looks for its own.
        for each in reversed(range(len(self.inputs))):
            self.w(each)

    def marked(self) -> None:
        self.all_f()
        with mark(AFTER_F):
            pass
        self.all_i()
        with mark(AFTER_I):
            pass
        self.all_w()

    def all_at_once(self) -> None:
        for each in range(len(self.inputs)):
            self.f(each)
            self.i(each)
        self.all_w()

    def f(self, each: int) -> None:
        output, kept = _pair("forward", self.answer.forward(self.layers, self.inputs[each]))
        _fits("forward", output, self.outputs[each])
        self.outputs[each].copy_(output.detach())
        self.kept.append(kept)

    def i(self, each: int) -> None:
        given, self.kept[each] = self.kept[each], None
        made = self.answer.input_gradient(given, self.gradients[each])
        gradient, self.kept[each] = _pair("input_gradient", made)
        _fits("input_gradient", gradient, self.to_inputs[each])
        self.to_inputs[each].copy_(gradient.detach())

    def w(self, each: int) -> None:
        given, self.kept[each] = self.kept[each], None
        made = self.answer.weight_gradients(given)
        if not isinstance(made, list | tuple) or len(made) != len(self.parameters):
            what = f"{len(made)} gradients" if isinstance(made, list | tuple) else _named(made)
            wanted = len(self.parameters)
            fact = f"weight_gradients returned {what}; there are {wanted} parameters"
            raise Unusable(fact, "wrong-form")
        for gradient, total in zip(made, self.to_weights, strict=True):
            _fits("weight_gradients", gradient, total)
            total += gradient.detach()

    def found(self) -> dict[str, Any]:
        return {
            "outputs": self.outputs.numpy().copy(),
            "to_inputs": self.to_inputs.numpy().copy(),
            "to_weights": _flat(self.to_weights),
        }


def _pair(function: str, made: Any) -> tuple[Any, Any]:
    if not isinstance(made, list | tuple) or len(made) != 2:
        raise Unusable(f"{function} returned {_named(made)}, not two things", "wrong-form")
    return made[0], made[1]


def _fits(function: str, got: Any, wanted: Tensor) -> None:
    if not isinstance(got, Tensor):
        raise Unusable(f"{function} returned {_named(got)} where a tensor belongs", "wrong-form")
    if got.shape != wanted.shape:
        fact = f"{function} returned {tuple(got.shape)} where {tuple(wanted.shape)} belongs"
        raise Unusable(fact, "other-order" if function == "weight_gradients" else "wrong-form")


def _named(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def whole(
    layers: list[nn.Module], inputs: list[Tensor], gradients: list[Tensor]
) -> dict[str, np.ndarray]:
    """Returns the same of backward passes that nobody has cut."""
    parameters = [each for layer in layers for each in layer.parameters()]
    outputs, to_inputs = [], []
    for x, gradient in zip(inputs, gradients, strict=True):
        x = x.clone().requires_grad_()
        y = nn.Sequential(*layers)(x)
        y.backward(gradient)
        assert x.grad is not None
        outputs.append(y.detach())
        to_inputs.append(x.grad)
    return {
        "outputs": torch.stack(outputs).numpy(),
        "to_inputs": torch.stack(to_inputs).numpy(),
        "to_weights": _flat(each.grad for each in parameters),
    }


def _flat(tensors: Iterable[Tensor | None]) -> np.ndarray:
    return torch.cat([each.flatten() for each in tensors if each is not None]).numpy()
