"""A card that is none: device memory is main memory, kernels run in the simulator, time is counted.

It has what the course calls of `numba.cuda`. Each launch and each copy takes as many milliseconds
of the card's own clock as it is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.simulator import simulate

LAUNCH_MS, COPY_MS = 3.0, 2.0


class OnCard(np.ndarray):
    """An array in the memory of a card."""

    card: Card

    def copy_to_device(self, source: OnCard) -> None:
        self.card.log.append("copy")
        self.card.now_ms += COPY_MS
        self[...] = source

    def copy_to_host(self) -> np.ndarray:
        return np.array(self)


class Card:
    """What stands for the module `numba.cuda`."""

    __name__ = "numba.cuda"

    def __init__(self, l2_bytes: int = 1 << 20) -> None:
        self.now_ms = 0.0
        self.log: list[str] = []
        self.l2_bytes = l2_bytes

    def to_device(self, array: np.ndarray) -> OnCard:
        made = array.copy().view(OnCard)
        made.card = self
        return made

    def device_array(self, shape: int, dtype: Any) -> OnCard:
        return self.to_device(np.zeros(shape, dtype))

    def event(self) -> Event:
        return Event(self)

    def synchronize(self) -> None:
        self.log.append("synchronize")

    def get_current_device(self) -> Any:
        return Device(self.l2_bytes)

    def kernels_of(self, path: str | os.PathLike[str], launches: Sequence[Any], _: Any) -> Any:
        """In the place of `hardware.run.kernels_of`."""
        return {each.function: Kernel(self, f"{path}:{each.function}") for each in launches}


class Device:
    name = b"Card of the tests"
    compute_capability = (9, 0)
    MULTIPROCESSOR_COUNT = 132

    def __init__(self, l2_bytes: int) -> None:
        self.L2_CACHE_SIZE = l2_bytes


class Event:
    def __init__(self, card: Card) -> None:
        self.card = card
        self.at_ms = 0.0

    def record(self) -> None:
        self.at_ms = self.card.now_ms

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, stop: Event) -> float:
        return stop.at_ms - self.at_ms


class Kernel:
    def __init__(self, card: Card, kernel: str) -> None:
        self.card, self.kernel = card, kernel

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        def launch(*values: Any) -> None:
            self.card.log.append("launch")
            self.card.now_ms += LAUNCH_MS
            plain = (v.view(np.ndarray) if isinstance(v, OnCard) else v for v in values)
            simulate(self.kernel)[shape](*plain)

        return launch
