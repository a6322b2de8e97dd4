"""What a module keeps from its forward pass for its backward pass, each storage counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Saved:
    """One storage that backward needs.

    Attributes:
        owner: the innermost module that was running when it was first saved; "" is the outermost.
        shape, dtype: of the tensor as it was saved first.
        bytes: of the whole storage, which may be more than the tensor shows.
        times: how often it was saved; a second time costs nothing.
    """

    owner: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    times: int = 1


def saved_by(module: nn.Module, *inputs: Any) -> tuple[Saved, ...]:
    """Returns the storages that `module(*inputs)` keeps, in the order in which it saves them.

    Parameters and buffers are left out, since they are there anyway; a view is its storage; a
    storage that is saved twice is one. What a module hides from the hooks, as selective
    checkpointing hides its cache, isn't seen.

    Args:
        module: run once, in the mode it is in.
        inputs: what it is called with.

    >>> layer = nn.Linear(3, 5)
    >>> saved_by(layer, torch.zeros(2, 3))  # its input; the weight is there anyway
    (Saved(owner='', shape=(2, 3), dtype='float32', bytes=24, times=1),)
    """
    own = storages(module)
    # Each storage is held, so that no other can take its place under the same number.
    found: dict[int, tuple[torch.UntypedStorage, Saved]] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in own or not storage.nbytes():
            return tensor
        if key in found:
            first = found[key][1]
            new = Saved(first.owner, first.shape, first.dtype, first.bytes, first.times + 1)
        else:
            dtype = str(tensor.dtype).removeprefix("torch.")
            new = Saved(running[-1], tuple(tensor.shape), dtype, storage.nbytes())
        found[key] = (storage, new)
        return tensor

    with (
        torch.enable_grad(),
        following(module) as running,
        torch.autograd.graph.saved_tensors_hooks(pack, _as_it_is),
    ):
        module(*inputs)
    return tuple(saved for _, saved in found.values())


def saved_bytes(module: nn.Module, *inputs: Any) -> int:
    """Returns the bytes of all that `saved_by` lists."""
    return sum(saved.bytes for saved in saved_by(module, *inputs))


def storages(module: nn.Module) -> set[int]:
    """Returns the identities of the storages behind a module's parameters and buffers."""
    return {tensor.untyped_storage()._cdata for tensor in (*module.parameters(), *module.buffers())}


@contextmanager
def following(
    module: nn.Module,
    enter: Callable[[str], None] | None = None,
    leave: Callable[[str], None] | None = None,
) -> Iterator[list[str]]:
    """Returns a context whose list holds the modules that are running, the innermost last.

    Args:
        module: it and all below it are followed; its own name is "".
        enter, leave: called with a module's name when its forward pass begins and ends.
    """
    running: list[str] = [""]
    handles = []

    def before(name: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            running.append(name)
            if enter is not None:
                enter(name)

        return hook

    def after(*_: Any) -> None:
        name = running.pop()
        if leave is not None:
            leave(name)

    for name, each in module.named_modules():
        handles.append(each.register_forward_pre_hook(before(name)))
        # always_call: a forward pass that raises is left as well.
        handles.append(each.register_forward_hook(after, always_call=True))
    try:
        yield running
    finally:
        for handle in handles:
            handle.remove()


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor
