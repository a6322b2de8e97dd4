"""A kernel that is right: what it leaves shows whether a card computes, whoever asks next."""

from __future__ import annotations

from numba import cuda


@cuda.jit
def known(out, a):
    """out = 2 a + 1"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * a[i] + 1
