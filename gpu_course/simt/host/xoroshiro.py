"""Random numbers in a kernel: xoroshiro128+, with the functions `numba.cuda.random` has.

The device functions below are kernels' code: the simulator reads them as it reads a script's own.
A generator's state is a row of two uint64, so an array of states has shape (n, 2) here, where
Numba's has n structures of two fields; the bytes are the same.

Source: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", and their
reference code of 2016: rotations 55, 14 and 36, a jump of 2^64 numbers; G. Steele and others,
"Fast Splittable Pseudorandom Number Generators" (SplitMix64), for the seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt.host.device_array import DeviceArray, host
from gpu_course.simt.host.dispatcher import jit

_MASK = (1 << 64) - 1
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_UNIT = 1.0 / (1 << 53)
_TURN32 = np.float32(2 * math.pi)
_TURN64 = 2 * math.pi

# In kernels


@jit(device=True)
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


@jit(device=True)
def xoroshiro128p_uniform_float64(states, index):  # type: ignore[no-untyped-def]
    """Gives a float64 in [0, 1)."""
    return np.float64(xoroshiro128p_next(states, index) >> np.uint64(11)) * _UNIT


@jit(device=True)
def xoroshiro128p_uniform_float32(states, index):  # type: ignore[no-untyped-def]
    """Gives a float32 in [0, 1)."""
    return np.float32(xoroshiro128p_uniform_float64(states, index))


@jit(device=True)
def xoroshiro128p_normal_float64(states, index):  # type: ignore[no-untyped-def]
    """Gives a float64 with mean 0 and variance 1, by Box and Muller's transform."""
    radius = math.sqrt(-2.0 * math.log(xoroshiro128p_uniform_float64(states, index)))
    return radius * math.cos(_TURN64 * xoroshiro128p_uniform_float64(states, index))


@jit(device=True)
def xoroshiro128p_normal_float32(states, index):  # type: ignore[no-untyped-def]
    """Gives a float32 with mean 0 and variance 1, by Box and Muller's transform."""
    one = xoroshiro128p_uniform_float32(states, index)
    other = xoroshiro128p_uniform_float32(states, index)
    radius = math.sqrt(np.float32(-2.0) * math.log(one))
    return radius * math.cos(_TURN32 * other)


# On the host


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: object = 0
) -> DeviceArray:
    """Returns n generators on the device, each 2^64 numbers ahead of the one before.

    Args:
        n: how many.
        seed: begins the first one.
        subsequence_start: jumps of 2^64 numbers that the first one is ahead of the seed.
        stream: ignored.
    """
    return DeviceArray(_states(n, seed, subsequence_start))


def init_xoroshiro128p_states(
    states: DeviceArray, seed: int, subsequence_start: int = 0, stream: object = 0
) -> None:
    """Fills generators on the device, each 2^64 numbers ahead of the one before."""
    memory = host(states)
    if memory.ndim != 2 or memory.shape[1] != 2 or memory.dtype != np.uint64:
        raise CourseError(
            "the simulator keeps generators as rows of two uint64",
            "make them with create_xoroshiro128p_states",
        )
    memory[...] = _states(len(memory), seed, subsequence_start)


def _states(n: int, seed: int, subsequence_start: int) -> np.ndarray:
    states = np.empty((n, 2), np.uint64)
    if n < 1:
        return states
    jump = _jump_map()
    states[:1] = _split_mix(seed)
    step = jump
    while subsequence_start:
        if subsequence_start & 1:
            states[:1] = _apply(step, states[:1])
        step = _apply(step, step)
        subsequence_start >>= 1
    # The states of a run of k generators, each jumped k times, are those of the next k.
    known = 1
    while known < n:
        more = min(known, n - known)
        states[known : known + more] = _apply(jump, states[:more])
        jump = _apply(jump, jump)
        known += more
    return states


def _split_mix(seed: int) -> tuple[int, int]:
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    z ^= z >> 31
    return z, z


def _jump_map() -> np.ndarray:
    """A jump as a linear map over bits: uint64 (128, 2), the image of each bit of a state."""
    bit = np.arange(128)
    state = np.zeros((128, 2), np.uint64)
    state[bit, bit // 64] = np.uint64(1) << (bit % 64).astype(np.uint64)
    low, high = state.T.copy()
    jumped = np.zeros((128, 2), np.uint64)
    for word in _JUMP:
        for place in range(64):
            if word >> place & 1:
                jumped ^= np.stack((low, high), axis=1)
            mixed = low ^ high
            low = _turn(low, 55) ^ mixed ^ (mixed << np.uint64(14))
            high = _turn(mixed, 36)
    return jumped


def _turn(x: np.ndarray, by: int) -> np.ndarray:
    turned: Any = (x << np.uint64(by)) | (x >> np.uint64(64 - by))
    return turned  # type: ignore[no-any-return]


def _apply(images: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The images of states, uint64 (n, 2), under a linear map over bits."""
    found = np.zeros_like(states)
    for bit, image in enumerate(images):
        given = (states[:, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1)
        found ^= given[:, None] * image
    return found
