"""Estimates pi with one random number generator for each thread, and looks at normal numbers."""

import numpy as np
from numba import cuda
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
)


@cuda.jit
def estimate(states, turns, out):
    i = cuda.grid(1)
    inside = 0
    for _ in range(turns):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1:
            inside += 1
    out[i] = 4.0 * inside / turns


@cuda.jit
def draw(states, out):
    i = cuda.grid(1)
    for k in range(out.shape[1]):
        out[i, k] = xoroshiro128p_normal_float64(states, i)


states = create_xoroshiro128p_states(8 * 64, seed=1)
out = np.zeros(8 * 64, dtype=np.float32)
estimate[8, 64](states, 200, out)
print("near pi:", abs(out.mean() - np.pi) < 0.02)
normal = np.zeros((8 * 64, 40))
draw[8, 64](states, normal)
print("mean and deviation:", abs(normal.mean()) < 0.03, abs(normal.std() - 1) < 0.03)
print("all differ:", np.unique(normal).size == normal.size)
