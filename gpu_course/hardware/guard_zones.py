"""Arrays on the GPU between two guard zones, which show a write outside the array; and a canary."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from gpu_course.errors import CourseError

ZONE_BYTES = 64 * 1024
"""Least size of a zone; a multiple of 256, so that an array is aligned as if allocated alone."""

CANARY_BYTES = 256 * 1024
PATTERN = 0xC3


class WriteOutside(CourseError):
    """A kernel wrote to a guard zone.

    Attributes:
        array: the name of the array.
        side: "before" or "after".
        bytes_off: how far outside the nearest byte written is; 1 touches the array.
    """

    def __init__(self, array: str, side: str, bytes_off: int, itemsize: int) -> None:
        self.array = array
        self.side = side
        self.bytes_off = bytes_off
        cells = -(-bytes_off // itemsize)
        where = f"{cells} cell{'s' * (cells > 1)} {side} its {_EDGE[side]}"
        super().__init__(
            f"a kernel wrote outside {array}: {where}, on the GPU",
            "guard the store with the array's size; simulate the kernel to see line and threads",
        )


class WriteFarOutside(CourseError):
    """A kernel wrote to memory that no launch was given."""

    def __init__(self) -> None:
        super().__init__(
            "a kernel wrote to memory of the GPU that is none of its arrays",
            "simulate the kernel: it names the line and the index",
        )


class Canary:
    """Memory of the GPU that no kernel is given: where it changes, a kernel wrote at random.

    Guard zones see writes next to an array; this sees some of those that miss them.

    Args:
        cuda: the module that stands for `numba.cuda`.
    """

    def __init__(self, cuda: Any) -> None:
        self._whole = cuda.to_device(np.full(CANARY_BYTES, PATTERN, np.uint8))

    def look(self) -> None:
        """Raises WriteFarOutside where a byte has changed."""
        if (self._whole.copy_to_host() != PATTERN).any():
            raise WriteFarOutside


_EDGE = {"before": "first", "after": "last"}


class GuardedArray:
    """A copy of a NumPy array on the GPU, with a zone of a known pattern on either side.

    The zones find writes that land in them. Reads outside, and writes that go past a zone, stay
    unseen here; the simulator finds both.

    Args:
        name: how errors call the array.
        array: what to copy. A strided array becomes contiguous on the GPU, and two arrays that
            share memory become two copies.
        cuda: the module that stands for `numba.cuda`.

    Attributes:
        device: the array on the GPU, without its zones: what a kernel is given.
    """

    def __init__(self, name: str, array: np.ndarray, cuda: Any) -> None:
        self.name = name
        self.shape = array.shape
        self.order: Literal["C", "F"] = (
            "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        )
        self.zone = math.lcm(ZONE_BYTES, array.itemsize) // array.itemsize
        self.size = array.size
        whole = np.empty(self.size + 2 * self.zone, array.dtype)
        whole.view(np.uint8)[:] = PATTERN
        whole[self._inside()] = array.reshape(-1, order=self.order)
        self.whole = cuda.to_device(whole)
        device = self.whole[self._inside()]
        self.device = device if array.ndim == 1 else device.reshape(array.shape, order=self.order)

    def copy_back(self) -> np.ndarray:
        """Returns the array as it is on the GPU now.

        Raises:
            WriteOutside: a zone no longer holds its pattern.
        """
        whole = self.whole.copy_to_host()
        before, after = whole[: self.zone], whole[self.zone + self.size :]
        for side, zone in (("before", before), ("after", after)):
            touched = np.flatnonzero(zone.view(np.uint8) != PATTERN)
            if touched.size:
                off = zone.nbytes - int(touched[-1]) if side == "before" else int(touched[0]) + 1
                raise WriteOutside(self.name, side, off, zone.itemsize)
        return whole[self._inside()].reshape(self.shape, order=self.order)

    def _inside(self) -> slice:
        return slice(self.zone, self.zone + self.size)
