"""`numba.cuda.random` on the host: generators of xoroshiro128+, made and filled.

Source: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", and their
reference code of 2016: a jump of 2^64 numbers; G. Steele and others, "Fast Splittable Pseudorandom
Number Generators" (SplitMix64), for the seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simt.errors import UserError
from simt.foreign.device_array import DeviceArray, host
from simt.foreign.dispatcher import jit
from simt.vocabulary import xoroshiro as kernels

_MASK = (1 << 64) - 1
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)

# In kernels

xoroshiro128p_next = jit(device=True)(kernels.xoroshiro128p_next.py_func)
xoroshiro128p_uniform_float64 = jit(device=True)(kernels.xoroshiro128p_uniform_float64.py_func)
xoroshiro128p_uniform_float32 = jit(device=True)(kernels.xoroshiro128p_uniform_float32.py_func)
xoroshiro128p_normal_float64 = jit(device=True)(kernels.xoroshiro128p_normal_float64.py_func)
xoroshiro128p_normal_float32 = jit(device=True)(kernels.xoroshiro128p_normal_float32.py_func)

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
        raise UserError(
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
