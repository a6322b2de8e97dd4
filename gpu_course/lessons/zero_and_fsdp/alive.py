"""Bytes of tensors that are alive at a moment, whichever thread lets go of them.

The allocator's own record (`allocations`) sees one thread. A collective that has been begun holds
its tensors in a thread of the backend, and that thread lets go of them a moment after the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

PATIENCE_S, POLL_S = 0.5, 0.002


class Alive(TorchDispatchMode):
    """A context that knows which tensors were made in it and are still there.

    Views are no tensors of their own, and neither is what was there before. What PyTorch's
    operators did not make is not seen: arrays of NumPy, and memory of a backend's own.

    >>> with Alive() as alive:
    ...     x = torch.ones(100)
    ...     y, z = 2 * x, x[:50]
    ...     held = alive.bytes()
    ...     del x, z
    ...     held, alive.bytes()
    (800, 400)
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[int, tuple[StorageWeakRef, int]] = {}
        self._older: set[int] = set()
        self._patience_s = PATIENCE_S

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        for each in tree_leaves((args, kwargs)):
            if isinstance(each, torch.Tensor) and _key(each) not in self._made:
                self._older.add(_key(each))
        result = func(*args, **(kwargs or {}))
        for each in tree_leaves(result):
            if isinstance(each, torch.Tensor) and (key := _key(each)) not in self._older:
                storage = each.untyped_storage()
                self._made[key] = StorageWeakRef(storage), storage.nbytes()
        return result

    def bytes(self) -> int:
        """Returns the bytes of what is alive now."""
        gone = [key for key, (reference, _) in self._made.items() if reference.expired()]
        for key in gone:
            del self._made[key]
        return sum(size for _, size in self._made.values())

    def bytes_settled(self, room: int) -> int:
        """Returns the bytes alive, once they are no more than `room` or patience has run out.

        What is held for a moment longer by a backend's thread goes by itself. All calls together
        wait half a second at most.

        Args:
            room: bytes; a number below this is told at once.
        """
        held = self.bytes()
        while held > room and self._patience_s > 0:
            time.sleep(POLL_S)
            self._patience_s -= POLL_S
            held = self.bytes()
        return held


def _key(tensor: torch.Tensor) -> int:
    key: int = tensor.untyped_storage()._cdata
    return key
