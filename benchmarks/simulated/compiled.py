"""The kernels of kernels.py as compiled loops on one core: block by block, thread by thread.

Each function does what its kernel does, in the kernel's own order: between two barriers, all the
threads of a block in turn. That is what the machine could do at best with the same order of work;
how far the simulator stays behind it is what its detectors and counters cost.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from benchmarks.simulated.kernels import (
    BINS,
    DEPTH,
    KEYS,
    LOWEST,
    PADDED,
    QUERIES,
    RADIUS,
    THREADS,
    TILE,
    WINDOW,
)

TWO, ONE, ZERO = np.float32(2), np.float32(1), np.float32(0)


@njit
def scale(out, a):
    for block in range(-(-a.size // THREADS)):
        for t in range(THREADS):
            i = block * THREADS + t
            if i < a.size:
                out[i] = a[i] * TWO + ONE


@njit
def tree_sum(out, a):
    part = np.empty(THREADS, np.float32)
    for block in range(-(-a.size // THREADS)):
        for t in range(THREADS):
            i = block * THREADS + t
            part[t] = a[i] if i < a.size else ZERO
        stride = THREADS // 2
        while stride > 0:
            for t in range(THREADS):
                if t < stride:
                    part[t] += part[t + stride]
            stride //= 2
        out[block] = part[0]


@njit
def hillis_steele(out, a):
    part = np.empty(THREADS, np.float32)
    before = np.empty(THREADS, np.float32)
    for block in range(-(-a.size // THREADS)):
        for t in range(THREADS):
            i = block * THREADS + t
            part[t] = a[i] if i < a.size else ZERO
        offset = 1
        while offset < THREADS:
            for t in range(THREADS):
                before[t] = part[t - offset] if t >= offset else ZERO
            for t in range(THREADS):
                part[t] += before[t]
            offset *= 2
        for t in range(THREADS):
            i = block * THREADS + t
            if i < a.size:
                out[i] = part[t]


@njit
def matmul(c, a, b):
    left = np.empty((TILE, TILE), np.float32)
    right = np.empty((TILE, TILE), np.float32)
    total = np.empty((TILE, TILE), np.float32)
    for top in range(0, c.shape[0], TILE):
        for beside in range(0, c.shape[1], TILE):
            total[:] = ZERO
            for tile in range(a.shape[1] // TILE):
                for y in range(TILE):
                    for x in range(TILE):
                        left[y, x] = a[top + y, tile * TILE + x]
                        right[y, x] = b[tile * TILE + y, beside + x]
                for y in range(TILE):
                    for x in range(TILE):
                        own = total[y, x]
                        for k in range(TILE):
                            own += left[y, k] * right[k, x]
                        total[y, x] = own
            for y in range(TILE):
                for x in range(TILE):
                    c[top + y, beside + x] = total[y, x]


@njit
def transpose(out, a):
    tile = np.empty((TILE, PADDED), np.float32)
    for top in range(0, a.shape[0], TILE):
        for left in range(0, a.shape[1], TILE):
            for y in range(TILE):
                for x in range(TILE):
                    tile[y, x] = a[top + y, left + x]
            for y in range(TILE):
                for x in range(TILE):
                    out[left + y, top + x] = tile[x, y]


@njit
def histogram(counts, bins):
    for block in range(-(-bins.size // THREADS)):
        for t in range(THREADS):
            i = block * THREADS + t
            if i < bins.size and 0 <= bins[i] < BINS:
                counts[bins[i]] += 1


@njit
def conv1d(out, a, weights):
    window = np.empty(WINDOW, np.float32)
    for block in range(-(-a.size // THREADS)):
        for t in range(THREADS):
            i = block * THREADS + t
            window[t + RADIUS] = a[i] if i < a.size else ZERO
            if t < RADIUS:
                before, after = i - RADIUS, i + THREADS
                window[t] = a[before] if before >= 0 else ZERO
                window[t + THREADS + RADIUS] = a[after] if after < a.size else ZERO
        for t in range(THREADS):
            total = ZERO
            for k in range(2 * RADIUS + 1):
                total += window[t + k] * weights[k]
            i = block * THREADS + t
            if i < out.size:
                out[i] = total


@njit
def flash_attention(out, q, k, v):
    keys = np.empty((KEYS, DEPTH), np.float32)
    values = np.empty((KEYS, DEPTH), np.float32)
    own = np.empty((QUERIES, DEPTH), np.float32)
    sums = np.zeros((QUERIES, DEPTH), np.float32)
    most = np.full(QUERIES, np.float32(LOWEST))
    part = np.zeros(QUERIES, np.float32)
    for t in range(QUERIES):
        for c in range(DEPTH):
            own[t, c] = q[t, c]
    for first in range(0, k.shape[0], KEYS):
        for t in range(QUERIES):
            for row in range(t // DEPTH, KEYS, QUERIES // DEPTH):
                keys[row, t % DEPTH] = k[first + row, t % DEPTH]
                values[row, t % DEPTH] = v[first + row, t % DEPTH]
        for t in range(QUERIES):
            for j in range(KEYS):
                score = ZERO
                for c in range(DEPTH):
                    score += own[t, c] * keys[j, c]
                new = max(most[t], score)
                p = np.float32(math.exp(score - new))
                shrink = np.float32(math.exp(most[t] - new))
                part[t] = part[t] * shrink + p
                for c in range(DEPTH):
                    sums[t, c] = sums[t, c] * shrink + p * values[j, c]
                most[t] = new
    for t in range(QUERIES):
        for c in range(DEPTH):
            out[t, c] = sums[t, c] / part[t]
