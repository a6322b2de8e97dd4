"""Random numbers in a kernel: xoroshiro128+, as the device functions of `numba.cuda.random`.

They are code of kernels: the simulator reads them as it reads a script's own. A generator's state
is a row of two uint64, so an array of states has shape (n, 2) here, where Numba's has n structures
of two fields; the bytes are the same. `foreign.xoroshiro` makes the states.

Source: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", and their
reference code of 2016: rotations 55, 14 and 36.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from simt.errors import UserError

_UNIT = 1.0 / (1 << 53)
_TURN32 = np.float32(2 * math.pi)
_TURN64 = 2 * math.pi


class device:  # noqa: N801 - a decorator
    """A function that kernels call, marked as `cuda.jit(device=True)` marks one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        raise UserError(f"{self.__name__} is for kernels", "call it in a kernel that is launched")


@device
def xoroshiro128p_next(states, index):  # type: ignore[no-untyped-def]
    """Advances one generator and gives its next 64 bits."""
    low = states[index, 0]
    high = states[index, 1]
    drawn = low + high
    mixed = low ^ high
    turned = (low << np.uint64(55)) | (low >> np.uint64(9))
    states[index, 0] = turned ^ mixed ^ (mixed << np.uint64(14))
    states[index, 1] = (mixed << np.uint64(36)) | (mixed >> np.uint64(28))
    return drawn


@device
def xoroshiro128p_uniform_float64(states, index):  # type: ignore[no-untyped-def]
    """Gives a float64 in [0, 1)."""
    return np.float64(xoroshiro128p_next(states, index) >> np.uint64(11)) * _UNIT


@device
def xoroshiro128p_uniform_float32(states, index):  # type: ignore[no-untyped-def]
    """Gives a float32 in [0, 1)."""
    return np.float32(xoroshiro128p_uniform_float64(states, index))


@device
def xoroshiro128p_normal_float64(states, index):  # type: ignore[no-untyped-def]
    """Gives a float64 with mean 0 and variance 1, by Box and Muller's transform."""
    radius = math.sqrt(-2.0 * math.log(xoroshiro128p_uniform_float64(states, index)))
    return radius * math.cos(_TURN64 * xoroshiro128p_uniform_float64(states, index))


@device
def xoroshiro128p_normal_float32(states, index):  # type: ignore[no-untyped-def]
    """Gives a float32 with mean 0 and variance 1, by Box and Muller's transform."""
    one = xoroshiro128p_uniform_float32(states, index)
    other = xoroshiro128p_uniform_float32(states, index)
    radius = math.sqrt(np.float32(-2.0) * math.log(one))
    return radius * math.cos(_TURN32 * other)
