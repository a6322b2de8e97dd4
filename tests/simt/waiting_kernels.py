"""Kernels whose threads wait for each other: right ones, and what breaks them.

All take `(out, data, flag)`, three int64 arrays; out and data have 1,024 cells, flag 64, all 0.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import numpy as np

HEAD = """\
from numba import cuda, int64

@cuda.jit(device=True)
def await_value(flag, k, value):
    while cuda.atomic.add(flag, k, 0) != value:
        pass
    cuda.threadfence()

@cuda.jit(device=True)
def tell(flag, k, value):
    cuda.threadfence()
    cuda.atomic.exch(flag, k, value)

@cuda.jit
def kernel(out, data, flag):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
"""


class Waiting(NamedTuple):
    """A kernel that waits.

    Attributes:
        body: its lines.
        grid, block: the launch.
        expected: what `out` begins with.
        native: True where any GPU runs it: few blocks, which are there together, and no thread
            that waits for another of its warp, since how the compiler lets these join again is its
            own affair.
    """

    body: str
    grid: int
    block: int
    expected: Any
    native: bool = True

    @property
    def text(self) -> str:
        """The file."""
        return HEAD + textwrap.indent(textwrap.dedent(self.body).strip(), "    ") + "\n"


def values() -> dict[str, np.ndarray]:
    """Returns fresh arguments."""
    sizes = {"out": 1024, "data": 1024, "flag": 64}
    return {name: np.zeros(size, np.int64) for name, size in sizes.items()}


def _digits(count: int, base: int = 2) -> int:
    """What `out[0] = out[0] * 2 + k % base` leaves in an int64."""
    found = 0
    for k in range(count):
        found = found * 2 + k % base
    return found


PING_PONG = """
    me = {me}
    if {who}:
        for k in range(6):
            await_value(flag, 0, 2 * k + me)
            out[0] = out[0] * 2 + me
            tell(flag, 0, 2 * k + me + 1)
"""
LOCK = """
    while cuda.atomic.cas(flag, 0, 0, 1) != 0:
        pass
    {acquire}
    out[0] += i
    {release}
    cuda.atomic.exch(flag, 0, 0)
"""
TICKETS = """
    if t % 32 == 0:
        mine = cuda.atomic.add(flag, 0, 1)
        while cuda.atomic.add(flag, 1, 0) != mine:
            pass
        {acquire}
        out[0] = out[0] * 2 + mine % 2
        {release}
        cuda.atomic.add(flag, 1, {step})
"""
LOOK_BACK = """
    s = cuda.shared.array(1, int64)
    data[i] = i
    cuda.syncthreads()
    if t == 0:
        total = 0
        for k in range(cuda.blockDim.x):
            total += data[b * cuda.blockDim.x + k]
        s[0] = 0
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            {acquire}
            s[0] = out[b - 1]
        out[b] = s[0] + total
        {release}
        cuda.atomic.exch(flag, b, 1)
"""
RING = """
    if t == 0 and b == 0:
        for k in range(20):
            while k - cuda.atomic.add(flag, 1, 0) >= 4:
                pass
            {fence}
            data[k % 4] = k * k
            {fence}
            cuda.atomic.add(flag, 0, 1)
    if t == 0 and b == 1:
        for k in range(20):
            while cuda.atomic.add(flag, 0, 0) <= k:
                pass
            {fence}
            out[k] = data[k % 4]
            {fence}
            cuda.atomic.add(flag, 1, {step})
"""
GRID_BARRIER = """
    data[i] = i
    cuda.syncthreads()
    if t == 0:
        {release}
        cuda.atomic.add(flag, 0, 1)
        while cuda.atomic.add(flag, 0, 0) < {blocks}:
            pass
        {acquire}
    {sync}
    out[i] = data[(i + 37) % (cuda.gridDim.x * cuda.blockDim.x)]
"""
LATER_BLOCK = """
    if t == 0:
        if b == 0:
            {wait}
            {acquire}
            out[0] = data[0]
        elif b == cuda.gridDim.x - 1:
            data[0] = 7
            {release}
            {set}
"""
WARP_FLAG = """
    if t < 32:
        data[t] = t * t
        {together}
        if t == 0:
            tell(flag, 0, 1)
    else:
        if t == 32:
            await_value(flag, 0, 1)
        {apart}
        out[t - 32] = data[63 - t]
"""
FENCE = "cuda.threadfence()"
FENCES = {"acquire": FENCE, "release": FENCE}
ATOMIC_WAIT = "while cuda.atomic.add(flag, 0, 0) == 0:\n                pass"

RIGHT = {
    "a lock for every thread": Waiting(
        LOCK.format(**FENCES), 3, 40, [sum(range(120))], native=False
    ),
    "a lock that is tried": Waiting(
        """
        done = False
        while not done:
            if cuda.atomic.cas(flag, 0, 0, 1) == 0:
                cuda.threadfence()
                out[0] += i
                cuda.threadfence()
                cuda.atomic.exch(flag, 0, 0)
                done = True
        """,
        2, 40, [sum(range(80))],
    ),
    "tickets": Waiting(TICKETS.format(**FENCES, step=1), 3, 64, [_digits(6)]),
    "tickets within a warp": Waiting(
        TICKETS.format(**FENCES, step=1).replace("t % 32 == 0", "t < 5"), 2, 32, [_digits(10)],
        native=False,
    ),
    "a later block sets the flag": Waiting(
        LATER_BLOCK.format(
            **FENCES, wait=ATOMIC_WAIT, set="cuda.atomic.exch(flag, 0, 1)"
        ),
        3, 32, [7],
    ),
    "a later thread sets the flag": Waiting(
        """
        if t == 0:
            await_value(flag, 0, 1)
            out[0] = data[0]
        if t == 63:
            data[0] = 7
            tell(flag, 0, 1)
        """,
        1, 64, [7],
    ),
    "ping-pong between blocks": Waiting(
        PING_PONG.format(me="b", who="t == 0"), 2, 32, [_digits(12)]
    ),
    "ping-pong between warps": Waiting(
        PING_PONG.format(me="t // 32", who="t % 32 == 0"), 1, 64, [_digits(12)]
    ),
    "ping-pong between lanes": Waiting(
        PING_PONG.format(me="t", who="t < 2"), 1, 32, [_digits(12)], native=False
    ),
    "lanes on both sides of a branch": Waiting(
        """
        if t == 0:
            await_value(flag, 0, 1)
            tell(flag, 1, 5)
        elif t == 1:
            tell(flag, 0, 1)
            await_value(flag, 1, 5)
            out[0] = 3
        """,
        1, 32, [3], native=False,
    ),
    "a scan that looks back": Waiting(
        LOOK_BACK.format(**FENCES), 8, 32, np.cumsum(np.arange(256).reshape(8, 32).sum(axis=1))
    ),
    "a ring of four cells": Waiting(
        RING.format(fence=FENCE, step=1), 2, 32, np.arange(20) ** 2
    ),
    "a barrier of the grid by hand": Waiting(
        GRID_BARRIER.format(**FENCES, blocks="cuda.gridDim.x", sync="cuda.syncthreads()"),
        6, 64, (np.arange(384) + 37) % 384,
    ),
    "a barrier of the grid, in warps' turn": Waiting(
        """
        data[i] = i
        for r in range(3):
            cuda.syncthreads()
            if t == 0:
                cuda.threadfence()
                come = cuda.atomic.add(flag, r, 1)
                cuda.threadfence()
                if come == cuda.gridDim.x - 1:
                    cuda.atomic.exch(flag, 8 + r, 1)
                while cuda.atomic.add(flag, 8 + r, 0) == 0:
                    pass
                cuda.threadfence()
            cuda.syncthreads()
            x = data[(i + 37) % 256]
            cuda.syncthreads()
            if t == 0:
                cuda.threadfence()
                cuda.atomic.add(flag, 16 + r, 1)
                while cuda.atomic.add(flag, 16 + r, 0) < cuda.gridDim.x:
                    pass
                cuda.threadfence()
            cuda.syncthreads()
            data[i] = x + 1
        out[i] = data[i]
        """,
        4, 64, (np.arange(256) + 111) % 256 + 3,
    ),
    "a flag in shared memory": Waiting(
        """
        go = cuda.shared.array(1, int64)
        tile = cuda.shared.array(64, int64)
        if t == 0:
            go[0] = 0
        cuda.syncthreads()
        tile[t] = t * t
        if t == 0:
            await_value(go, 0, 1)
            out[b] = tile[63]
        if t == 63:
            tell(go, 0, 1)
        """,
        2, 64, [63 * 63, 63 * 63],
    ),
    "a warp tells another": Waiting(
        WARP_FLAG.format(together="cuda.syncwarp()", apart="cuda.syncwarp()"),
        1, 64, np.arange(32)[::-1] ** 2,
    ),
    "a lock within a turn": Waiting(
        """
        if t == 0:
            for k in range(3):
                await_value(flag, 0, k * cuda.gridDim.x + cuda.gridDim.x - 1 - b)
                while cuda.atomic.cas(flag, 1, 0, 1) != 0:
                    pass
                cuda.threadfence()
                out[0] = out[0] * 3 + b
                tell(flag, 1, 0)
                cuda.atomic.add(flag, 0, 1)
        """,
        3, 32, [int("210" * 3, 3)],
    ),
    "counting the turns": Waiting(
        """
        turns = 0
        if b == 0 and t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                turns += 1
            out[0] = 1 + turns // 1_000_000_000
        if b == 1 and t == 0:
            cuda.atomic.exch(flag, 0, 1)
        """,
        2, 32, [1],
    ),
    "so many turns and no more": Waiting(
        """
        came = 0
        if b == 0 and t == 0:
            for turn in range(1_000_000_000):
                if cuda.atomic.add(flag, 0, 0) == 1:
                    came = 1
                    break
            out[0] = came
        if b == 1 and t == 0:
            cuda.atomic.exch(flag, 0, 1)
        """,
        2, 32, [1],
    ),
    "lanes in turn, and a sum by shuffles": Waiting(
        """
        while cuda.atomic.add(flag, 0, 0) != 31 - t:
            pass
        cuda.threadfence()
        x = data[0]
        data[0] = x + 1
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)
        k = 16
        while k > 0:
            x += cuda.shfl_down_sync(0xFFFFFFFF, x, k)
            k //= 2
        if t == 0:
            out[0] = x
        """,
        1, 32, [sum(range(32))], native=False,
    ),
    "lanes in turn, and a barrier": Waiting(
        """
        if t < 8:
            await_value(flag, b, 7 - t)
            data[64 * b + t] = t
            tell(flag, b, 8 - t)
        count = cuda.syncthreads_count(1 if t < 8 else 0)
        out[64 * b + t] = count + data[64 * b + (t + 1) % 8]
        """,
        2, 64, np.tile(8 + (np.arange(64) + 1) % 8, 2), native=False,
    ),
    "two locks in one order": Waiting(
        """
        if t % 32 == 0:
            while cuda.atomic.cas(flag, 0, 0, 1) != 0:
                pass
            while cuda.atomic.cas(flag, 1, 0, 1) != 0:
                pass
            cuda.threadfence()
            out[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(flag, 1, 0)
            cuda.atomic.exch(flag, 0, 0)
        """,
        3, 64, [6],
    ),
    "a grid sync after a wait": Waiting(
        """
        if i == 0:
            await_value(flag, 0, 1)
        if i == 63:
            tell(flag, 0, 1)
        data[i] = i
        cuda.cg.this_grid().sync()
        out[i] = data[63 - i]
        """,
        2, 32, np.arange(64)[::-1],
    ),
}  # fmt: skip


class Broken(NamedTuple):
    """A kernel that waits and is wrong.

    Attributes:
        body, grid, block: as of a right one.
        found: (kind, severity) of its hazards.
        line: a part of the line where the first hazard stands; "" where it may stand on several.
        words: parts of the first hazard's text.
    """

    body: str
    grid: int
    block: int
    found: set[tuple[str, str]]
    line: str = ""
    words: tuple[str, ...] = ()

    text = Waiting.text


RACE = LATE = ("race", "error")  # of a fence that is missing after the atomic, advice elsewhere
ENDLESS = ("endless-loop", "error")


def _without(body: str, what: str, **others: str) -> str:
    return body.format(**{**FENCES, **others, what: "pass"})


TWO_LOCKS = """
    if t == 0:
        while cuda.atomic.cas(flag, b, 0, 1) != 0:
            pass
        cuda.atomic.add(flag, 2, 1)
        while cuda.atomic.add(flag, 2, 0) < 2:
            pass
        while cuda.atomic.cas(flag, 1 - b, 0, 1) != 0:
            pass
        out[0] = 1
"""
BROKEN = {
    **{
        f"{name}: no {side}": Broken(
            _without(body, side, **others), grid, block, {RACE if side == "release" else LATE}
        )
        for name, body, grid, block, others in (
            ("lock", LOCK, 3, 40, {}),
            ("tickets", TICKETS, 3, 64, {"step": "1"}),
            ("look-back", LOOK_BACK, 8, 32, {}),
            (
                "later block", LATER_BLOCK, 3, 32,
                {"wait": ATOMIC_WAIT, "set": "cuda.atomic.exch(flag, 0, 1)"},
            ),
            (
                "grid barrier", GRID_BARRIER, 6, 64,
                {"blocks": "cuda.gridDim.x", "sync": "cuda.syncthreads()"},
            ),
        )
        for side in ("release", "acquire")
    },
    "grid barrier: no second syncthreads": Broken(
        GRID_BARRIER.format(**FENCES, blocks="cuda.gridDim.x", sync="pass"), 6, 64, {RACE}
    ),
    "ring: no fences": Broken(RING.format(fence="pass", step=1), 2, 32, {RACE}),
    "warp flag: no syncwarp before": Broken(
        WARP_FLAG.format(together="pass", apart="cuda.syncwarp()"), 1, 64, {RACE}
    ),
    "warp flag: no syncwarp after": Broken(
        WARP_FLAG.format(together="cuda.syncwarp()", apart="pass"), 1, 64, {RACE}
    ),
    "polling by plain loads": Broken(
        LATER_BLOCK.format(
            **FENCES, wait="while flag[0] == 0:\n                pass", set="flag[0] = 1"
        ),
        3, 32, {RACE},
    ),
    "polling what an atomic sets": Broken(
        LATER_BLOCK.format(
            **FENCES,
            wait="while flag[0] == 0:\n                pass",
            set="cuda.atomic.exch(flag, 0, 1)",
        ),
        3, 32, {RACE},
    ),
    "polling for ever": Broken(
        LATER_BLOCK.format(**FENCES, wait="while flag[0] == 0:\n                pass", set="pass"),
        3, 32, {ENDLESS}, "while flag[0] == 0:",
        ("waits for flag[0] to change", "block (0,0,0), thread 0 of 32", "flag[0] stays 0"),
    ),
    "nobody sets the flag": Broken(
        LATER_BLOCK.format(**FENCES, wait=ATOMIC_WAIT, set="pass"),
        3, 32, {ENDLESS}, "while cuda.atomic.add(flag, 0, 0) == 0:",
        ("waits for flag[0] to change", "block (0,0,0), thread 0 of 32", "flag[0] stays 0"),
    ),
    "another value than the one it waits for": Broken(
        "if t == 0:\n    await_value(flag, 3, 9)\nif t == 40:\n    tell(flag, 3, 8)",
        2, 64, {ENDLESS}, "while cuda.atomic.add(flag, k, 0) != value:",
        ("waits for flag[3] to change", "flag[3] stays 8", "and threads of 1 more block"),
    ),
    "counting, and nobody sets the flag": Broken(
        "turns = 0\nwhile cuda.atomic.add(flag, 0, 0) == 0:\n    turns += 1",
        1, 2, {ENDLESS}, "while cuda.atomic.add(flag, 0, 0) == 0:",
        ("and no thread changes it", "flag[0] stays 0, turn after turn"),
    ),
    "a lock that nobody gives back": Broken(
        "while cuda.atomic.cas(flag, 5, 0, 1) != 0:\n    pass",
        2, 32, {ENDLESS}, "while cuda.atomic.cas(flag, 5, 0, 1) != 0:",
        ("waits for flag[5] to change", "and threads of 1 more block", "flag[5] stays 1"),
    ),
    "two locks in two orders": Broken(
        TWO_LOCKS, 2, 32, {ENDLESS}, "while cuda.atomic.cas(flag, 1 - b, 0, 1) != 0:",
        ("and no thread is left", "block (0,0,0), thread 0 of 32 (warp 0), and threads of 1 more"),
    ),
    "each waits for the other's word": Broken(
        "if t == 0:\n    await_value(flag, 1 - b, 1)\n    tell(flag, b, 1)",
        2, 32, {ENDLESS}, "while cuda.atomic.add(flag, k, 0) != value:",
    ),
    "each lane waits for the other's word": Broken(
        "if t < 2:\n    await_value(flag, 1 - t, 1)\n    tell(flag, t, 1)",
        1, 32, {ENDLESS}, "while cuda.atomic.add(flag, k, 0) != value:",
        ("threads 0, 1 of 32",),
    ),
    "the word comes after the barrier": Broken(
        """
        if t == 0:
            await_value(flag, b, 1)
        cuda.syncthreads()
        if t == 40:
            tell(flag, b, 1)
        """,
        2, 64, {ENDLESS}, "while cuda.atomic.add(flag, k, 0) != value:",
        ("126 threads at a barrier (line 21)",),
    ),
    "the word comes after the warp has met": Broken(
        """
        if t == 0:
            await_value(flag, 0, 1)
        cuda.syncwarp()
        if t == 20:
            tell(flag, 0, 1)
        """,
        1, 32, {ENDLESS}, "while cuda.atomic.add(flag, k, 0) != value:",
        ("31 threads at a barrier (line 21)",),
    ),
    "tickets that are not called": Broken(
        TICKETS.format(**FENCES, step=2), 3, 64, {ENDLESS},
        "while cuda.atomic.add(flag, 1, 0) != mine:", ("flag[1] stays 6",),
    ),
    "a ring that is not emptied": Broken(
        RING.format(fence=FENCE, step=0), 2, 32, {ENDLESS},
        "while k - cuda.atomic.add(flag, 1, 0) >= 4:",
        ("flag[1] stays 0",),
    ),
    "a grid barrier for one block more": Broken(
        GRID_BARRIER.format(**FENCES, blocks="cuda.gridDim.x + 1", sync="cuda.syncthreads()"),
        6, 64, {ENDLESS}, "while cuda.atomic.add(flag, 0, 0) < cuda.gridDim.x + 1:",
        ("flag[0] stays 6", "and threads of 5 more blocks"),
    ),
    "a barrier that the waiting thread leaves out": Broken(
        """
        if t == 0:
            await_value(flag, b, 1)
        else:
            if t == 40:
                tell(flag, b, 1)
            cuda.syncthreads()
        """,
        2, 64, {("barrier-divergence", "error")}, "cuda.syncthreads()",
        ("1 of 64 threads misses this barrier", "block (0,0,0), thread 0 of 64"),
    ),
    "a barrier after a lane has waited and returned": Broken(
        """
        if t == 0:
            await_value(flag, b, 1)
            return
        if t == 1:
            tell(flag, b, 1)
        cuda.syncthreads()
        """,
        1, 64, {("barrier-divergence", "error")}, "cuda.syncthreads()",
        ("1 of 64 threads misses this barrier", "returned from the kernel before it"),
    ),
    "a shuffle that one lane never comes to": Broken(
        """
        if t == 0:
            await_value(flag, 0, 1)
        else:
            if t == 1:
                tell(flag, 0, 1)
            out[t] = cuda.shfl_sync(0xFFFFFFFF, t, 1)
        """,
        1, 32, {("inactive-lane", "error")}, "cuda.shfl_sync",
        ("waits for lanes that are not here",),
    ),
    "an endless loop that waits for nobody": Broken(
        """
        if i == 0:
            await_value(flag, 0, 1)
        if i == 40:
            k = 0
            while k < 10:
                data[0] += 1
        """,
        2, 32, {ENDLESS}, "while k < 10:", ("this loop never ends",),
    ),
    "a lock that nobody gives back, and waiters that count in memory": Broken(
        """
        while cuda.atomic.cas(flag, 0, 0, 1) != 0:
            cuda.atomic.add(data, 0, 1)
        """,
        3, 40, {ENDLESS}, "while cuda.atomic.cas(flag, 0, 0, 1) != 0:",
        ("changes memory in its turns, and no thread ever leaves it",),
    ),
    "a flag that is turned and turned back": Broken(
        """
        while cuda.atomic.xor(flag, 0, 1) != 7:
            cuda.atomic.xor(flag, 0, 1)
            cuda.atomic.add(data, 0, 1)
        """,
        3, 40, {ENDLESS}, "while cuda.atomic.xor(flag, 0, 1) != 7:",
        ("changes memory in its turns, and no thread ever leaves it",),
    ),
    "turns that count, and meet the others each time": Broken(
        """
        n = 0
        while cuda.atomic.add(flag, 0, 0) < 5:
            n += 1
            cuda.syncthreads()
        """,
        3, 40, {ENDLESS}, "while cuda.atomic.add(flag, 0, 0) < 5:", ("flag[0] stays 0",),
    ),
}  # fmt: skip
