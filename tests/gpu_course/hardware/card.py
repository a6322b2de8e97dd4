"""A card that is none: device memory is main memory, kernels run in the simulator, time is counted.

It has what the course calls of `numba.cuda`. Each launch and each copy takes as many milliseconds
of the card's own clock as it is told.

`plant` writes a package that stands for numba-cuda or its successor, with such a card behind it.
What that card does wrong, the answer's file says, in a comment such as `# card: hang`; so a test
needs no more than a file, and all that is between the command and the driver is the real thing.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from simt.simulator import simulate

LAUNCH_MS, COPY_MS = 3.0, 2.0


class OnCard(np.ndarray):
    """An array in the memory of a card."""

    card: Card
    unwritten = False
    """True of what the card lent out and nobody has written since: it holds nothing yet."""

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, OnCard):  # a part of it lies on the same card
            self.card = source.card

    def copy_to_device(self, source: OnCard) -> None:
        self.card.log.append("copy")
        self.card.now_ms += COPY_MS
        # A clock has hundreds of megabytes copied to and fro that nobody ever reads.
        if not source.unwritten:
            self[...] = source
            self.unwritten = False

    def copy_to_host(self) -> np.ndarray:
        return np.array(self)


class Card:
    """What stands for the module `numba.cuda`."""

    __name__ = "numba.cuda"

    def __init__(self, l2_bytes: int = 1 << 20) -> None:
        self.now_ms = 0.0
        self.log: list[str] = []
        self.l2_bytes = l2_bytes
        self.allocations: list[OnCard] = []

    def to_device(self, array: np.ndarray) -> OnCard:
        made = array.copy().view(OnCard)
        made.card = self
        self.allocations.append(made)
        return made

    def as_cuda_array(self, lent: Any) -> OnCard:
        """The same memory, by the address that the interface names."""
        told = lent.__cuda_array_interface__
        dtype = np.dtype(told["typestr"])
        cells = int(np.prod(told["shape"]))
        whole = (ctypes.c_uint8 * (cells * dtype.itemsize)).from_address(told["data"][0])
        made = np.frombuffer(whole, dtype).reshape(told["shape"]).view(OnCard)
        made.card = self
        return made

    def device_array(self, shape: int, dtype: Any) -> OnCard:
        made = np.zeros(shape, dtype).view(OnCard)
        made.card, made.unwritten = self, True
        self.allocations.append(made)
        return made

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
            for value in values:
                if isinstance(value, OnCard):
                    value.unwritten = False
            plain = (v.view(np.ndarray) if isinstance(v, OnCard) else v for v in values)
            # Nobody asks a card what it counted: what the arrays hold is all that is read.
            run = simulate(self.kernel, counters=False, detect_races=False)
            report = run[shape](*plain)
            for hazard in report.hazards:
                # The simulator passes over such a store; a GPU does it.
                if hazard.kind == "out-of-bounds":
                    write_next_to(values[0], self.card)

        return launch


def write_next_to(array: OnCard, card: Card) -> None:
    """Changes the byte that follows an array in its allocation."""
    address = array.ctypes.data
    for whole in card.allocations:
        start = whole.ctypes.data
        if start <= address < start + whole.nbytes:
            whole.view(np.ndarray).view(np.uint8)[address - start + array.nbytes] = 0


class CudaAPIError(Exception):
    """Called as the driver's error is."""


class TypingError(Exception):
    """Called as Numba's refusal is."""


class ObedientCard(Card):
    """A card behind a whole package: it does wrong what the file of a kernel tells it to."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.launches = 0

    def is_available(self) -> bool:
        return True

    def jit(self, function: Any = None, **options: Any) -> Any:
        if isinstance(function, FunctionType):
            return function if options.get("device") else ObedientKernel(self, function)
        return lambda inner: self.jit(inner, **options)

    def synchronize(self) -> None:
        if self.fails:
            raise CudaAPIError(
                "[700] Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS"
            )


class ObedientKernel(Kernel):
    def __init__(self, card: ObedientCard, function: FunctionType) -> None:
        file = function.__code__.co_filename
        super().__init__(card, f"{file}:{function.__name__}")
        told = re.search(r"# card: (.+)", Path(file).read_text(encoding="utf-8"))
        self.told = told.group(1).strip() if told else os.environ.get("CARD_OF_THE_TESTS", "")

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        usual = super().__getitem__(shape)

        def launch(*values: Any) -> None:
            card, told = self.card, self.told
            assert isinstance(card, ObedientCard)
            card.launches += 1
            if told == "hang":
                threading.Event().wait()
            if told == "die":
                os._exit(7)
            if told == "refuse":
                raise TypingError("Failed in cuda mode\nNo implementation of function sorted\n")
            if told == "write nothing":
                return
            usual(*values)
            out = values[0].reshape(-1)
            if told == "off by one":
                out[-1] += 1
            if told == "write next to it":
                write_next_to(values[0], card)
            if told == "write far away":
                given = [v for v in values if isinstance(v, OnCard)]
                for whole in card.allocations:
                    if not any(np.shares_memory(whole, each) for each in given):
                        whole.view(np.ndarray).view(np.uint8)[-1] = 0
            if told == "change the input":
                values[1][...] = 0
            if told == "other bits each time" and np.isfinite(out[0]):
                for _ in range(card.launches):
                    out[0] = np.nextafter(out[0], out.dtype.type(np.inf))
            if told == "fault":
                card.fails = True

        return launch


TYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


def plant(folder: Path, package: str) -> Path:
    """Writes a package that stands for `numba` or `numba_cuda_mlir`, and returns where it lies."""
    home = folder / package
    home.mkdir(parents=True)
    types = f"from numpy import {', '.join(TYPES)}\n"
    (home / "__init__.py").write_text(types if package == "numba" else "")
    (home / "types.py").write_text(types)
    (home / "cuda.py").write_text(
        "from tests.gpu_course.hardware.card import ObedientCard\n\n_card = ObedientCard()\n\n\n"
        "def __getattr__(name):\n    return getattr(_card, name)\n"
    )
    return folder
