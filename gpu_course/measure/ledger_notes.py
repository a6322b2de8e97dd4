"""Notes taken during a training run: which address is an activation, a gradient or a state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gpu_course.measure.allocations import mark
from gpu_course.measure.saved import following, storages


class Notes:
    """What lies at which address, written down while a run goes on; marks say when.

    Args:
        model: whose modules and parameters own what is noted.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.names = {id(p): name for name, p in model.named_parameters()}
        self.entries: list[tuple[str, str, int]] = []
        """(kind, owner, address) of what the mark "note N" is about."""
        self._own = storages(model)
        self._open_marks: list[Any] = []
        self.running: list[str] = [""]

    @contextmanager
    def open(self) -> Iterator[None]:
        """Returns a context in which activations are noted, and modules leave marks."""
        with (
            following(self.model, self._enter, self._leave) as running,
            torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack),
        ):
            self.running = running
            yield

    def gradients(self) -> None:
        """Notes the gradients there are now."""
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                self._note("gradients", self.names[id(parameter)], parameter.grad)

    def states(self, optimizer: torch.optim.Optimizer) -> None:
        """Notes what an optimizer holds now."""
        for owner, tensor in states_of(optimizer, self.names):
            self._note("optimizer states", owner, tensor)

    def _note(self, kind: str, owner: str, tensor: Tensor) -> None:
        self.entries.append((kind, owner, tensor.untyped_storage().data_ptr()))
        with mark(f"note {len(self.entries) - 1}"):
            pass

    def _enter(self, name: str) -> None:
        opened = mark(f"module {name}")
        opened.__enter__()
        self._open_marks.append(opened)

    def _leave(self, name: str) -> None:
        self._open_marks.pop().__exit__(None, None, None)

    def _pack(self, tensor: Tensor) -> tuple[Tensor, str]:
        owner = self.running[-1]
        if tensor.untyped_storage()._cdata not in self._own:
            self._note("activations", owner, tensor)
        return tensor, owner

    def _unpack(self, packed: tuple[Tensor, str]) -> Tensor:
        with mark(f"reading {packed[1]}"):
            pass
        return packed[0]


def states_of(
    optimizer: torch.optim.Optimizer | None, names: dict[int, str]
) -> Iterator[tuple[str, Tensor]]:
    """Yields (owner, tensor) of all that an optimizer holds.

    Args:
        optimizer: or None, which holds nothing.
        names: {id of a parameter: its name}.
    """
    for parameter, state in (optimizer.state if optimizer is not None else {}).items():
        for value in state.values():
            if isinstance(value, Tensor):
                yield names.get(id(parameter), ""), value
