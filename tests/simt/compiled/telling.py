"""Small kernels each of which tells one thing that compiled code could get wrong.

All have the same parameters: out int64, o int32, f float32, g float64 (256 cells each, to be
written), a int64, b int32, u uint32, c float32, d float64 (256 each, with values at the limits), m
float32 (12, 20), cnt int32 (8), part float32 (64, of which the first 40 are written) and n = 3.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simt.machine import unwritten
from simt.simulator import simulate

HEAD = """\
import math
from numba import cuda
from numba import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32


@cuda.jit(device=True)
def halved(x, y):
    if y > 2:
        return x - y
    while x > 9:
        x = x // 2
        if x == 7:
            break
    return x + y


@cuda.jit(device=True)
def filled(tile, t, x):
    tile[t] = x


@cuda.jit(device=True)
def sometimes(x):
    if x > 0:
        y = 1
    return y


@cuda.jit
def kernel(out, o, f, g, a, b, u, c, d, m, cnt, part, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
"""
TILE = "tile = cuda.shared.array(64, int64)\n"
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 0.5, -2.5, 1e-42]


@dataclass(frozen=True)
class Telling:
    """A kernel and its launch.

    Attributes:
        body: its statements, after `t` and `i`.
        block, grid: of the launch.
        budget: steps that it may take; None for the usual ones.
    """

    body: str
    block: Any = 64
    grid: Any = 1
    budget: int | None = None

    def launch(self, folder: Path, name: str) -> Any:
        """Runs it; returns the report."""
        path = folder / f"{name.replace(' ', '_')}.py"
        lines = textwrap.indent(textwrap.dedent(self.body).strip(), "    ")
        path.write_text(f"{HEAD}{lines}\n", encoding="utf-8")
        options = {} if self.budget is None else {"step_budget": self.budget}
        return simulate(f"{path}:kernel", **options)[self.grid, self.block](*arguments())


def arguments() -> list[Any]:
    """Returns fresh arguments."""
    rng = np.random.default_rng(5)
    integers = []
    for dtype in (np.int64, np.int32, np.uint32):
        limits = np.iinfo(dtype)
        some = rng.integers(-40, 90, 256).astype(dtype)
        some[::7] = rng.integers(limits.min, limits.max, some[::7].size, dtype=dtype)
        some[5], some[6], some[12] = limits.min, limits.max, 0
        some[13] = limits.max if limits.min == 0 else -1
        integers.append(some)
    reals = []
    for dtype in (np.float32, np.float64):
        some = rng.normal(scale=50, size=256)
        some[: len(SPECIAL)] = SPECIAL
        some[20:80:3] = rng.choice(SPECIAL, 20)
        with np.errstate(all="ignore"):
            reals.append(some.astype(dtype))
    part = np.empty(64, np.float32)
    unwritten.begin(part)
    part[:40] = 1.5
    unwritten.wrote(part[:40])
    return [
        np.zeros(256, np.int64), np.zeros(256, np.int32), np.zeros(256, np.float32),
        np.zeros(256), *integers, *reals, rng.normal(size=(12, 20)).astype(np.float32),
        np.zeros(8, np.int32), part, 3,
    ]  # fmt: skip


def _of(bodies: dict[str, str], **how: Any) -> Iterator[tuple[str, Telling]]:
    for name, body in bodies.items():
        yield name, Telling(body, **how)


TELLING: dict[str, Telling] = dict(
    [
        *_of({
            "one cell beyond": "out[i + 193] = 1",
            "one row beyond": "g[i] = m[t // 5, t % 20]",
            "one column beyond": "g[i] = m[t // 6, t % 21]",
            "one cell before": "out[i - 1] = 1",
            "far before": "out[int32(t) - 70] = 1",
            "an index of few bits that turns over": "out[uint8(t * 5) * 1] = 1",
            "an index that is unsigned": "g[i] = c[uint32(b[t]) & uint32(127)]",
            "outside only where nobody is": "if t < 10:\n    out[t * 20] = 1",
            "outside where a lane is": "if t < 14:\n    out[t * 20] = 1",
            "all in one cell": "out[7] = 1",
            "two in each cell": "out[t // 2] = t",
            "others read what is written": "out[t] = 1\ng[t] = out[63 - t]",
            "others write what was read": "x = out[63 - t]\nout[t] = x + 1",
            "its own cell again": "out[t] = t\nout[t] += out[t]\ng[t] = out[t]",
            "atomics beside stores": "cuda.atomic.add(cnt, 3, 1)\nif t == 9:\n    cnt[3] = 1",
            "atomics beside loads": "x = cnt[3]\ncuda.atomic.add(cnt, 3, 1)\no[t] = x",
            "loads beside atomics": "cuda.atomic.add(cnt, 3, 1)\no[t] = cnt[3]",
            "updates of one cell": "cuda.atomic.add(cnt, t % 3, t)\ncuda.atomic.max(cnt, 4, b[t])",
            "updates downwards": "cuda.atomic.min(cnt, 4, b[t])\ncuda.atomic.sub(cnt, 5, t)",
            "updates of bits": "cuda.atomic.xor(cnt, t % 3, 1 << (t % 31))",
        }),
        *_of({
            "blocks write one cell": "if t == 0:\n    out[5] = 1",
            "blocks read what one wrote": "x = out[3]\nif i == 40:\n    out[3] = x",
            "blocks read, and the last writes": "g[i] = out[3]\nif cuda.blockIdx.x == 3 and t == 0:\n    out[3] = 1",
            "blocks and their numbers": "out[i] = cuda.blockIdx.x * 100 + cuda.gridDim.x * 10 + cuda.blockDim.x",
            "a read by several and a write in a block": "g[i] = out[200]\ncuda.syncthreads()\nif i == 3:\n    out[200] = 1",
            "each block its own cells twice": "for k in range(2):\n    out[i] = k\n    cuda.syncthreads()\n    g[i] = out[cuda.blockIdx.x * 32 + 31 - t]\n    cuda.syncthreads()",
        }, block=32, grid=4),
        *_of({
            "a tile turned round": TILE + "tile[t] = a[t]\ncuda.syncthreads()\nout[t] = tile[63 - t]",
            "a tile without a barrier": TILE + "tile[t] = a[t]\nout[t] = tile[63 - t]",
            "a tile written again too soon": TILE + "for k in range(n):\n    tile[t] = a[t]\n    cuda.syncthreads()\n    out[t] += tile[63 - t]",
            "a tile written again in time": TILE + "for k in range(n):\n    tile[t] = a[t]\n    cuda.syncthreads()\n    out[t] += tile[63 - t]\n    cuda.syncthreads()",
            "a tile nobody wrote": TILE + "out[t] = tile[t]",
            "a tile of which half is written": TILE + "if t < 32:\n    tile[t] = 1\ncuda.syncthreads()\nout[t] = tile[t % 33]",
            "a tile of which all is written": TILE + "tile[t] = 1\ncuda.syncthreads()\ntile[t] = 2\ncuda.syncthreads()\nout[t] = tile[t % 33]",
            "a tile that the block before has written": TILE + "if cuda.blockIdx.x == 0:\n    tile[t] = 1\ncuda.syncthreads()\nout[i] = tile[t]",
            "a tile of two writers": TILE + "tile[t // 2] = t\ncuda.syncthreads()\nout[t] = tile[t // 2]",
            "a tile read by two, then written": TILE + "tile[t] = 1\ncuda.syncthreads()\nx = tile[t // 2] + tile[0]\nif t == 5:\n    tile[0] = x\nout[t] = x",
            "a tile read by itself, then written": TILE + "tile[t] = 1\ncuda.syncthreads()\nx = tile[t]\ntile[t] = x + 1\nout[t] = tile[t]",
            "read by one, then by its writer": TILE + "tile[t] = 1\ncuda.syncthreads()\nx = tile[(t + 1) % 64]\nx += tile[t]\ntile[t] = x\nout[t] = x",
            "updates beside a store": TILE + "tile[t] = 0\ncuda.syncthreads()\ncuda.atomic.add(tile, 3, 1)\nif t == 3:\n    tile[3] = 1\nout[t] = 1",
            "updates beside a load": TILE + "tile[t] = 0\ncuda.syncthreads()\ncuda.atomic.add(tile, 3, 1)\nout[t] = tile[3]",
            "updates of what nobody wrote": TILE + "cuda.atomic.add(tile, t % 3, 1)\ncuda.syncthreads()\nout[t] = 1",
            "updates and a barrier": TILE + "tile[t] = 0\ncuda.syncthreads()\ncuda.atomic.add(tile, t % 5, t)\ncuda.atomic.max(tile, 6, t)\ncuda.syncthreads()\nout[t] = tile[t]",
            "a barrier that half comes to": TILE + "if t < 32:\n    cuda.syncthreads()\nout[t] = 1",
            "a barrier that one has left": "if t == 63:\n    return\ncuda.syncthreads()\nout[t] = 1",
            "a barrier in a loop that lanes leave apart": "for k in range(t % 2 + 1):\n    cuda.syncthreads()\nout[t] = 1",
            "a barrier that counts": "out[t] = cuda.syncthreads_count(t % 3) * 100 + cuda.syncthreads_and(t + 1) * 10 + cuda.syncthreads_or(int32(t == 5))",
            "a barrier that counts none": "out[t] = cuda.syncthreads_and(t) * 10 + cuda.syncthreads_or(int32(t > 99))",
            "a warp by itself": TILE + "tile[t] = t\ncuda.syncwarp()\nout[t] = tile[t ^ 5]",
            "a warp by itself, and another's cell": TILE + "tile[t] = t\ncuda.syncwarp()\nout[t] = tile[(t + 32) % 64]",
            "a warp reads together, then one writes": TILE + "tile[t] = t\ncuda.syncwarp()\nx = tile[t // 32 * 32]\ncuda.syncwarp()\ntile[t] = x\nout[t] = x",
            "a warp reads together, then another writes": TILE + "tile[t] = t\ncuda.syncthreads()\nx = tile[t // 32 * 32]\ncuda.syncwarp()\nif t == 40:\n    tile[0] = x\nout[t] = x",
            "a warp without its barrier": TILE + "tile[t] = t\ncuda.syncwarp()\nx = tile[t ^ 5]\ntile[t] = x\nout[t] = x",
            "a break past the barrier": TILE + "tile[t] = t\ncuda.syncthreads()\nx = 0\nfor k in range(4):\n    x += tile[63 - t]\n    if n > 2:\n        break\n    cuda.syncthreads()\ntile[t] = x\nout[t] = x",
            "a continue past the barrier": TILE + "x = 0\nfor k in range(3):\n    tile[t] = k + t\n    cuda.syncthreads()\n    x += tile[63 - t]\n    if n > 2:\n        continue\n    cuda.syncthreads()\nout[t] = x",
            "a barrier in an arm": TILE + "tile[t] = a[t]\ny = cuda.syncthreads_count(1) if n > 5 else 0\nout[t] = tile[63 - t] + y",
            "a function stores to a tile": TILE + "filled(tile, t, 4)\nout[t] = tile[63 - t]",
            "a function stores to an array": "filled(out, t, 4)\ng[t] = out[63 - t]",
            "wide loads again": TILE + "tile[t] = t\ncuda.syncthreads()\nx = tile[t] + tile[t]\nx += tile[t ^ 1] + tile[(t + 2) % 64]\ncuda.syncthreads()\nout[t] = x + tile[t] + tile[t // 4 * 4]",
            "wide loads after a store": TILE + "tile[t] = t\ncuda.syncthreads()\nx = tile[t]\nfor k in range(3):\n    tile[t] = x\n    x += tile[t]\nout[t] = x",
            "loads on their way": TILE + "x = a[t]\ny = a[t + 64] + 1\ntile[t] = x\ncuda.syncthreads()\nout[t] = tile[63 - t] + y\nfor k in range(n):\n    x = a[t + k]\n    cuda.syncthreads()\n    tile[t] = x",
        }),
        *_of({
            "a tile that the block before wrote": TILE + "if cuda.blockIdx.x == 0:\n    tile[t] = 1\ncuda.syncthreads()\nout[i] = tile[t]",
        }, block=64, grid=2),
        *_of({
            "a guard, and lanes that are no threads": "out[i] = 1\nif t < 40:\n    g[i] = a[i] + cuda.threadIdx.x",
            "no thread beyond the last": TILE + "tile[t] = t\ncuda.syncthreads()\nout[i] = tile[44 - t]\ng[i] = tile[t * 1]",
            "a barrier of part of a warp": "out[i] = cuda.syncthreads_count(1) + cuda.syncthreads_and(int32(t < 45))",
            "a shuffle from a lane that is not there": "out[t] = cuda.shfl_down_sync(0xFFFFFFFF, t, 4)",
            "who is here": "out[t] = cuda.activemask()",
        }, block=45),
        *_of({
            "shuffles": "out[t] = cuda.shfl_sync(0xFFFFFFFF, t, 35) + 1000 * cuda.shfl_up_sync(0xFFFFFFFF, t, 3)",
            "more shuffles": "out[t] = cuda.shfl_down_sync(0xFFFFFFFF, t, 5) + 1000 * cuda.shfl_xor_sync(0xFFFFFFFF, t, 6)",
            "a shuffle by another number each": "f[t] = cuda.shfl_sync(0xFFFFFFFF, c[t], t * 7)\ng[t] = cuda.shfl_up_sync(0xFFFFFFFF, d[t], 31)",
            "a shuffle of half a warp": "if t < 48:\n    out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)",
            "a shuffle of one warp": "if t < 32:\n    out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)",
            "a shuffle with a mask of half": "out[t] = cuda.shfl_xor_sync(0xFFFF, t, 1)",
            "votes": "out[t] = cuda.ballot_sync(0xFFFFFFFF, t % 3 == 0)\no[t] = cuda.any_sync(0xFFFFFFFF, t > 40) + 2 * cuda.all_sync(0xFFFFFFFF, t < 40)",
            "a vote of one warp": "if t >= 32:\n    out[t] = cuda.all_sync(0xFFFFFFFF, t > 31) + 2 * cuda.any_sync(0xFFFFFFFF, t > 99)",
            "lanes": "out[t] = cuda.laneid * 100 + cuda.threadIdx.x // 32",
        }),
        *_of({
            "three axes": "x, y, z = cuda.grid(3)\nout[x + 8 * y + 24 * z] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z",
            "a block of three axes": "k = t + 4 * (cuda.threadIdx.y + 3 * cuda.threadIdx.z)\nout[k + 60 * cuda.blockIdx.x] = cuda.threadIdx.y * 10 + cuda.threadIdx.z",
        }, block=(4, 3, 5), grid=(2, 1, 1)),
        *_of({
            "division": "out[t] = a[t] // 7 + a[t] % 7\no[t] = b[t] // -4 + b[t] % -5",
            "division by what is drawn": "out[t] = a[t] // a[t + 64] - a[t] % a[t + 64]\no[t] = b[t] // b[t + 7] + b[t] % b[t + 7]",
            "unsigned division": "out[t] = int64(u[t] // u[t + 64]) + int64(u[t] % uint32(7))",
            "the least by minus one": "o[t] = b[5] // b[13] + (b[5] % b[13])\nout[t] = a[5] // a[13]",
            "shifts": "out[t] = (a[t] << (t % 70)) ^ (a[t] >> (t % 70))\no[t] = (b[t] >> 3) + (b[t] << 5)",
            "unsigned shifts": "out[t] = int64(u[t] >> uint32(t % 40)) + int64(u[t] << uint32(3))",
            "comparisons of what is unsigned": "out[t] = (u[t] < u[t + 64]) + 2 * (u[t] >= uint32(40)) + 4 * (b[t] < b[t + 64])",
            "comparisons with what is not a number": "out[t] = (c[t] < c[2]) + 2 * (c[t] != c[t]) + 4 * (c[t] >= c[2]) + 8 * (c[t] == c[1])",
            "comparisons in a chain": "out[t] = (b[t] < n < b[t + 1]) + 2 * (0 <= t < 40 <= n * 14)",
            "least and greatest": "f[t] = min(c[t], c[t + 30])\ng[t] = max(d[t], d[t + 30])\nout[t] = min(a[t], n)\no[t] = max(b[t], b[t + 9])",
            "zeros with a sign": "f[t] = min(c[t % 2], c[1 - t % 2])\ng[t] = max(d[t % 2], d[1 - t % 2])",
            "the least of what is not a number": "f[t] = min(c[2], c[t])\ng[t] = max(d[t], d[2])",
            "a real number cut off": "out[t] = int64(d[t])\no[t] = int32(c[t])",
            "a real number cut off to few bits": "out[t] = int64(int8(c[t])) + 1000 * int64(uint8(d[t])) + int64(int16(d[t]))",
            "a real number cut off unsigned": "out[t] = int64(uint32(d[t])) + int64(uint16(c[t]))",
            "few bits": "out[t] = int64(int8(a[t])) + int64(uint16(b[t])) + int64(uint8(u[t]))",
            "more bits": "out[t] = int64(b[t]) + int64(u[t])\ng[t] = float64(u[t]) + float64(b[t])",
            "real numbers of few bits": "f[t] = float32(d[t]) * float32(0.1)\ng[t] = float64(c[t]) / d[t]",
            "real numbers": "f[t] = c[t] * c[t + 1] - c[t + 2]\ng[t] = d[t] / d[t + 1] + d[t + 2]",
            "signs": "f[t] = -c[t]\ng[t] = abs(d[t])\nout[t] = abs(a[t]) - (-a[t])\no[t] = ~b[t]",
            "functions": "g[t] = math.exp(d[t] * 0.01) + math.tanh(d[t])\nf[t] = math.sqrt(abs(c[t])) + math.floor(c[t])",
            "whole numbers that turn over": "o[t] = b[t] * b[t + 1]\nout[t] = a[t] * a[t + 1] + b[t]\nx = u[t] * u[t + 1] - uint32(5)\ng[t] = x",
            "a truth as a number": "out[t] = (t > 5) + (b[t] == n)\nf[t] = float32(c[t] > 0)",
        }),
        *_of({
            "a function": "out[t] = halved(t, 1) + halved(n, t)",
            "a function again and again": "for k in range(n):\n    out[t] += halved(t + k, k)",
            "a variable of an earlier call": "for k in range(2):\n    out[t] = sometimes(1 - k)",
            "a variable that some have not": "if t > 3:\n    x = 1\nout[t] = x",
            "a variable that all have": "if t > 3:\n    x = 1\nelse:\n    x = 2\nout[t] = x",
            "a loop that some never enter": "for k in range(t % 3):\n    s = k\nout[t] = s",
            "loops that lanes leave apart": "s = 0\nfor k in range(t % 7):\n    if k == 4:\n        continue\n    for j in range(k):\n        if j * 2 > t:\n            break\n        s += j\n    else:\n        s += 100\n    s += 1\nout[t] = s",
            "a break that all take": "s = 0\nfor k in range(9):\n    if k == n:\n        break\n    s += k\nelse:\n    s = 77\nout[t] = s",
            "an else after no break": "s = 0\nfor k in range(n):\n    if k == 8 + t:\n        break\n    s += k\nelse:\n    s += 70\nout[t] = s",
            "a return in a loop": "for k in range(9):\n    if k == t % 12:\n        out[t] = k\n        return\n    g[t] += 1\nout[t] = -1",
            "a loop backwards": "s = 0\nfor k in range(9, t % 4, -2):\n    s = s * 3 + k\nout[t] = s",
            "a loop over nothing": "s = t\nfor k in range(5, n):\n    s = 0\nout[t] = s",
            "a while of each lane": "x = t\ns = 0\nwhile x > 1:\n    if x % 2 == 0:\n        x = x // 2\n    else:\n        x = 3 * x + 1\n    s += 1\nout[t] = s",
            "what all share in a part": "s = 0\nfor k in range(4):\n    if t % 2 == 0:\n        y = k * 2\n        s += y\n    else:\n        y = k * 3\n        s += y\nout[t] = s",
            "what was shared until lanes parted": "last = 7\nfor k in range(t % 5):\n    last = k\nout[t] = last",
            "what is shared past a break": "last = 0\nfor k in range(9):\n    last = k\n    if k == t % 6:\n        break\nout[t] = last",
            "what is shared past a continue": "s = 0\nfor k in range(5):\n    y = k\n    if t % 2 == k % 2:\n        continue\n    y = k + 10\n    s += y\nout[t] = s",
            "and that guards a load": "if t > 0 and a[t - 1] > 0:\n    out[t] = 1\nif t == 63 or a[i + 1] > 3:\n    out[t] += 2",
            "an arm that guards a load": "out[t] = a[t - 40] if t >= 40 else -1",
            "an arm that guards nothing": "out[t] = a[t + 193] if t >= 63 else -1",
            "arms that branch": "x = b[t] if t % 3 == 0 else t\nout[t] = x if x > 5 and t > 2 else n",
            "local memory": "loc = cuda.local.array(4, float32)\nfor k in range(4):\n    loc[k] = c[t + k] * float32(k)\nf[t] = loc[t % 4] + loc[3 - t % 4]",
            "local memory nobody wrote": "loc = cuda.local.array(4, int64)\nloc[t % 4] = 1\nout[t] = loc[(t + (t == 50)) % 4]",
            "memory that nobody wrote": "if t < 41:\n    f[t] = part[t]",
            "memory that has been written": "if t < 40:\n    f[t] = part[t]",
            "memory that is written first": "part[t] = c[t]\nf[t] = part[t]",
            "memory of which a part is written": "if t < 20:\n    part[t + 42] = 1.0",
            "strides and misses": "f[t] = c[t * 3]\ng[t] = c[t + 1] + d[255 - t] + m[t % 12, t // 12]\nx = a[t // 32] + a[t * 2 + 5]\nout[t] = x",
            "the pattern before, and another": "s = 0\nfor k in range(4):\n    s += a[t * k + 3]\nout[t] = s",
            "the pattern before, moved": "s = 0\nfor k in range(9):\n    s += b[t + k] + b[k]\nout[t] = s",
            "the pattern of fewer lanes": "s = 0\nfor k in range(4):\n    if t > k * 9:\n        s += b[t + 8] + b[t * 2]\nout[t] = s",
            "banks": "tile = cuda.shared.array((64, 33), float32)\ntile[t, 0] = 1\ntile[t, 1] = c[t]\nwide = cuda.shared.array(128, float64)\nwide[t * 2] = 1\nsmall = cuda.shared.array(256, int8)\nsmall[t * 3] = 1\ncuda.syncthreads()\nf[t] = tile[t, t % 2] + tile[t // 2, 1]\ng[t] = wide[126 - t * 2]",
            "more steps than there may be": "out[t] = n",
        }),
        ("steps of a loop", Telling("s = 0\nfor k in range(400):\n    s += k\nout[t] = s", budget=500)),
        ("steps without a loop", Telling("out[t] = n\n" * 9, budget=12)),
        ("steps of blocks apart", Telling(
            "s = 0\nif cuda.blockIdx.x % 2 == 0:\n    for k in range(100):\n        s += k\nelse:\n"
            "    for k in range(100):\n        s += 2\nout[i] = s", block=1, grid=8, budget=400,
        )),
        ("steps of blocks together", Telling(
            "s = 0\nfor k in range(100):\n    s += k\nout[i] = s", block=1, grid=8, budget=400,
        )),
    ]
)  # fmt: skip
