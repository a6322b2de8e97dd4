"""Launches timed on a real GPU by its own clock, beside a copy of device memory.

CUDA events stand right before and behind what is timed. The host needs longer to ask for a launch
than a fast card for a short kernel, so long copies run first: while they do, all that is timed is
asked for, and then follows without a gap. How many there are is planned from what the host took
and what a copy takes, since an H200 ends 256 MiB before Python has asked for the next. The copies
also leave nothing of the arrays in the L2.
"""

from __future__ import annotations

import math
import os
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.hardware.device_arrays import on_gpu, taken
from gpu_course.hardware.run import Launch, cuda_module, kernels_of, names_of
from gpu_course.units import MIB

SAMPLES = 15
WARM_UPS = 2
LEAST_BYTES = 256 * MIB
"""Even where the L2 is small: a launch has to take many times what its start does."""
TIMES_L2 = 4
FILLER_TIMES = 8
"""A filling copy is so many times the size of the copy that is timed."""
FILLERS, MAX_FILLERS = 2, 64
"""Copies that run before what is timed, at least and at most."""
HEAD_START = 2.0
"""They take so many times as long as the host needs to ask for all."""


@dataclass(frozen=True)
class Sample:
    """Seconds of a few runs on the GPU's own clock.

    Attributes:
        seconds: the median; `low_s` and `high_s` the least and the most.
    """

    seconds: float
    low_s: float
    high_s: float


def describe_device() -> dict[str, Any]:
    """Returns what CUDA says about the card; None for what it does not say.

    Keys: name, compute_capability, multiprocessors, l2_bytes, clock_hz, memory_clock_hz.
    """
    device = cuda_module().get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    kilohertz = {"clock_hz": "CLOCK_RATE", "memory_clock_hz": "MEMORY_CLOCK_RATE"}
    found = {key: _attribute(device, attribute) for key, attribute in kilohertz.items()}
    return {
        "name": name,
        "compute_capability": ".".join(str(part) for part in device.compute_capability),
        "multiprocessors": _attribute(device, "MULTIPROCESSOR_COUNT"),
        "l2_bytes": _attribute(device, "L2_CACHE_SIZE"),
        **{key: None if value is None else value * 1000 for key, value in found.items()},
    }


def _attribute(device: Any, name: str) -> int | None:
    try:
        return int(getattr(device, name))
    except Exception:  # each package and version has its own error for a name it does not know
        return None


def bytes_past_l2(l2_bytes: int | None) -> int:
    """Returns how many bytes a timed case has at least: several times the L2.

    >>> bytes_past_l2(4 * MIB) == LEAST_BYTES, bytes_past_l2(126 * MIB) // MIB
    (True, 504)
    """
    return max(LEAST_BYTES, TIMES_L2 * (l2_bytes or 0))


class Clock:
    """Times work on the current GPU.

    Args:
        copy_bytes: the size of the two arrays that a copy goes between.
    """

    def __init__(self, copy_bytes: int) -> None:
        self.cuda = cuda_module()
        self.copy_bytes = copy_bytes
        self._source = self.cuda.to_device(np.ones(copy_bytes, np.uint8))
        self._target = self.cuda.device_array(copy_bytes, np.uint8)
        self._filling, self._filled = (
            self.cuda.device_array(FILLER_TIMES * copy_bytes, np.uint8) for _ in range(2)
        )
        self._fill()
        self._filler_s, _ = self._once(self._fill)

    def copy(self) -> None:
        """Asks for a copy of `copy_bytes` bytes: as many are read, and as many written."""
        self._target.copy_to_device(self._source)

    def sample(self, work: Callable[[], None], before: Callable[[], None] = lambda: None) -> Sample:
        """Returns how long the GPU takes for some work.

        Args:
            work: asks for it, and does not wait.
            before: asks for what has to be done before each time, and is not timed.
        """
        found = []
        fillers = FILLERS
        for number in range(WARM_UPS + SAMPLES):
            before()
            for _ in range(fillers):
                self._fill()
            seconds, host_s = self._once(work)
            if number >= WARM_UPS:
                found.append(seconds)
            else:
                fillers = self._fillers(host_s)
        return Sample(statistics.median(found), min(found), max(found))

    def _fillers(self, host_s: float) -> int:
        wanted = math.ceil(HEAD_START * host_s / max(self._filler_s, 1e-9))
        return min(max(FILLERS, wanted), MAX_FILLERS)

    def _fill(self) -> None:
        self._filled.copy_to_device(self._filling)

    def _once(self, work: Callable[[], None]) -> tuple[float, float]:
        """Returns the card's seconds for some work, and the host's for asking."""
        start, stop = self.cuda.event(), self.cuda.event()
        began = time.perf_counter()
        start.record()
        work()
        stop.record()
        asked = time.perf_counter() - began
        stop.synchronize()
        return start.elapsed_time(stop) / 1000, asked


def time_natively(
    path: str | os.PathLike[str],
    launches: Sequence[Launch],
    values: Mapping[str, Any],
    *,
    restored: Sequence[str],
    clock: Clock,
) -> tuple[Sample, dict[str, np.ndarray]]:
    """Returns how long all launches together take on the GPU, and what one run leaves behind.

    The file is read as by `run_natively`. There are no guard zones here.

    Args:
        path: the answer file.
        launches: in order.
        values: arrays and scalars by name; those that lie on the GPU already are taken as they
            are.
        restored: arrays that are input and output at once, which every run finds as they were.
        clock: what times them.
    """
    cuda = clock.cuda
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Numba's advice about small grids
        kernels = kernels_of(path, launches, cuda)
        given = {
            name: cuda.to_device(value)
            if isinstance(value := values[name], np.ndarray)
            else taken(name, value, cuda)
            if on_gpu(name, value)
            else value
            for name in names_of(launches, values)
        }
        pristine = {name: cuda.to_device(values[name]) for name in restored if name in given}

        def restore() -> None:
            for name, array in pristine.items():
                given[name].copy_to_device(array)

        def work() -> None:
            for launch in launches:
                shape = (launch.grid, launch.block, 0, launch.shared_bytes)
                kernels[launch.function][shape](*(given[name] for name in launch.args))

        work()
        cuda.synchronize()
        left = {
            name: each.copy_to_host()
            for name, each in given.items()
            if isinstance(values[name], np.ndarray)
        }
        return clock.sample(work, restore), left
