"""How blocks hand work to each other in real code: what is right, and what it must not lack.

Each kernel has parts with names, and is right with those given first. What becomes of it with
others in their place is said beside them.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.machine.schedule import RoundRobin
from simt.report import Report
from simt.simulator import simulate

HEAD = """from numba import cuda, int64
@cuda.jit
def kernel(out, part, flag, a):
    s = cuda.shared.array(96, int64)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    n = cuda.gridDim.x
    w = cuda.blockDim.x
    i = cuda.grid(1)
"""
RIGHT, LOOSE, RACE = "right", "a fence after the atomic", "a race"

# name -> (body with {part}s, grid, block, part -> the right text, [part -> another, verdict])
Other = tuple[dict[str, str], str]
KERNELS: dict[str, tuple[str, int, int, dict[str, str], list[Other]]] = {
    "all fence, meet, and one counts": (
        """
        part[i] = a[i]
        {each}
        {met}
        if t == 0:
            {one}
            s[0] = cuda.atomic.add(flag, 0, 1)
        cuda.syncthreads()
        if s[0] == n - 1:
            {reader}
            for k in range(t, n * w, w):
                out[k] = part[k]
        """,
        4,
        40,
        {
            "each": "cuda.threadfence()",
            "met": "cuda.syncthreads()",
            "one": "pass",
            "reader": "cuda.threadfence()",
        },
        [
            ({"each": "pass", "one": "cuda.threadfence()"}, RIGHT),
            ({"each": "pass"}, RACE),
            ({"met": "pass"}, RACE),
            ({"each": "cuda.threadfence_block()"}, RACE),
            ({"each": "if t != 7: cuda.threadfence()"}, RACE),
            ({"each": "if t == 0: cuda.threadfence()"}, RACE),
            ({"reader": "pass"}, LOOSE),
            ({"reader": "cuda.threadfence_block()"}, LOOSE),
            ({"reader": "if t == 0: cuda.threadfence()"}, LOOSE),
        ],
    ),
    "the last block puts the counter back plainly": (
        """
        if t == 0:
            part[b] = a[b]
            cuda.threadfence()
            s[0] = cuda.atomic.add(flag, 0, 1)
        cuda.syncthreads()
        if {last}:
            cuda.threadfence()
            if t == {who}:
                out[0] = part[n - 1 - b]
                flag[0] = 0
        """,
        5,
        33,
        {"last": "s[0] == n - 1", "who": "0"},
        [
            ({"who": "32"}, RIGHT),
            ({"last": "b == n - 1"}, RACE),
            ({"last": "s[0] == n - 2"}, RACE),
            ({"last": "s[0] >= 0"}, RACE),
        ],
    ),
    "the last block puts a counter back that no fence guards": (
        """
        if t == 0:
            cuda.atomic.add(out, 0, a[i])
            if {last}:
                flag[0] = 0
        """,
        6,
        2,
        {"last": "cuda.atomic.add(flag, 0, 1) == n - 1"},
        [({"last": "cuda.atomic.add(flag, 0, 1) == n - 2"}, RACE)],
    ),
    "a count is read by whoever comes last by number": (
        """
        if t == 0:
            cuda.atomic.add(flag, 0, 1)
        {met}
        if b == n - 1 and t == 1:
            out[0] = {read}
        """,
        4,
        2,
        {"met": "cuda.cg.this_grid().sync()", "read": "flag[0]"},
        [
            ({"met": "cuda.syncthreads()"}, RACE),
            ({"met": "cuda.threadfence()"}, RACE),
            ({"met": "cuda.syncthreads()", "read": "cuda.atomic.add(flag, 0, 0)"}, RIGHT),
        ],
    ),
    "a message through a third block": (
        """
        if t == 0 and b == 0:
            part[0] = a[0]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        if t == 0 and b == 1:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            {middle}
            cuda.atomic.exch(flag, 1, 1)
        if t == 0 and b == 2:
            while cuda.atomic.add(flag, {cell}, 0) == 0:
                pass
            {reader}
            out[0] = part[0]
        """,
        3,
        1,
        {"middle": "cuda.threadfence()", "cell": "1", "reader": "cuda.threadfence()"},
        [
            ({"middle": "pass"}, RACE),
            ({"middle": "cuda.threadfence_block()"}, RACE),
            ({"reader": "pass"}, LOOSE),
            ({"cell": "0"}, RIGHT),
        ],
    ),
    "one of the third block's warps hears, another tells": (
        """
        if b == 0 and t == 0:
            part[0] = a[0]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        if b == 1:
            if t == 0:
                while cuda.atomic.add(flag, 0, 0) == 0:
                    pass
                {middle}
            {met}
            if t == 32:
                cuda.atomic.exch(flag, 1, 1)
        if b == 2 and t == 0:
            while cuda.atomic.add(flag, 1, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = part[0]
        """,
        3,
        33,
        {"middle": "cuda.threadfence()", "met": "cuda.syncthreads()"},
        [({"middle": "pass"}, RACE), ({"met": "pass"}, RACE)],
    ),
    "news heard from another block, under a fence of the own block": (
        """
        if i == 0:
            part[0] = a[0]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        if i == 2:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            {heard}
            cuda.atomic.exch(flag, 1, 1)
        if i == 3:
            while cuda.atomic.add(flag, 1, 0) == 0:
                pass
            {reader}
            out[0] = part[0]
        """,
        2,
        2,
        {"heard": "cuda.threadfence_block()", "reader": "cuda.threadfence()"},
        [
            ({"reader": "cuda.threadfence_block()"}, LOOSE),
            ({"heard": "pass"}, RACE),
            ({"heard": "cuda.threadfence()", "reader": "cuda.threadfence_block()"}, RIGHT),
        ],
    ),
    "news of the own block, under its fence, for another": (
        """
        if i == 0:
            part[0] = a[0]
            {first}
            cuda.atomic.exch(flag, 0, 1)
        if i == 1:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence_block()
            cuda.atomic.exch(flag, 1, 1)
        if i == 2:
            while cuda.atomic.add(flag, 1, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = part[0]
        """,
        2,
        2,
        {"first": "cuda.threadfence()"},
        [({"first": "cuda.threadfence_block()"}, RACE)],
    ),
    "a barrier of the grid, by hand": (
        """
        for turn in range(2):
            part[turn * n * w + i] = a[i] + turn
            {each}
            cuda.syncthreads()
            if t == 0:
                {one}
                cuda.atomic.add(flag, 0, 1)
                while cuda.atomic.add(flag, 0, 0) < n * (turn + 1):
                    pass
                {after}
            {met}
            out[i] = part[turn * n * w + (i + w) % (n * w)]
        """,
        3,
        34,
        {
            "each": "cuda.threadfence()",
            "one": "pass",
            "after": "cuda.threadfence()",
            "met": "cuda.syncthreads()",
        },
        [
            ({"each": "pass", "one": "cuda.threadfence()"}, RIGHT),
            ({"each": "pass"}, RACE),
            ({"after": "pass"}, LOOSE),
            ({"met": "pass"}, RACE),
        ],
    ),
    "halos exchanged with the neighbours": (
        """
        if t == 0:
            part[2 * b] = a[b]
        {fence}
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.add(flag, b, 1)
            while cuda.atomic.add(flag, (b + 1) % n, 0) == 0:
                pass
        cuda.syncthreads()
        {reader}
        if t == 1:
            out[b] = part[2 * ({whose} % n)]
        """,
        4,
        2,
        {
            "fence": "if t == 0: cuda.threadfence()",
            "reader": "cuda.threadfence()",
            "whose": "(b + 1)",
        },
        [
            ({"fence": "cuda.threadfence()"}, RIGHT),
            ({"fence": "pass"}, RACE),
            ({"whose": "(b + 2)"}, RACE),
            ({"reader": "pass"}, LOOSE),
        ],
    ),
    "split K, added up under a semaphore": (
        """
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) != b:
                pass
        {met}
        {reader}
        out[t] = out[t] + a[i]
        {fence}
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, b + 1)
        """,
        3,
        34,
        {
            "met": "cuda.syncthreads()",
            "reader": "cuda.threadfence()",
            "fence": "cuda.threadfence()",
        },
        [
            ({"fence": "pass"}, RACE),
            ({"met": "pass"}, RACE),
            ({"reader": "pass"}, LOOSE),
            ({"fence": "cuda.threadfence_block()"}, RACE),
        ],
    ),
    "a lock": (
        """
        if t == 0:
            while cuda.atomic.cas(flag, 0, 0, 1) != 0:
                pass
            {after}
            out[0] = out[0] + a[b]
            {before}
            {unlock}
        """,
        4,
        2,
        {
            "after": "cuda.threadfence()",
            "before": "cuda.threadfence()",
            "unlock": "cuda.atomic.exch(flag, 0, 0)",
        },
        [
            ({"after": "pass"}, LOOSE),
            ({"before": "pass"}, RACE),
            ({"unlock": "flag[0] = 0"}, RACE),
        ],
    ),
    "warps of a block as producer and consumer": (
        """
        if t == 0:
            s[0] = 0
        cuda.syncthreads()
        if t < 32:
            s[1 + t] = a[t]
            {met}
            if t == 0:
                {fence}
                cuda.atomic.exch(s, 0, 1)
        else:
            if t == 32:
                while cuda.atomic.add(s, 0, 0) == 0:
                    pass
                {reader}
            {told}
            out[t] = s[1 + t - 32]
        """,
        1,
        64,
        {
            "met": "cuda.syncwarp()",
            "fence": "cuda.threadfence_block()",
            "reader": "cuda.threadfence_block()",
            "told": "cuda.syncwarp()",
        },
        [
            ({"met": "cuda.threadfence_block(); cuda.syncwarp()", "fence": "pass"}, RIGHT),
            ({"met": "pass"}, RACE),
            ({"fence": "pass"}, RACE),
            ({"reader": "pass"}, LOOSE),
            ({"told": "pass"}, RACE),
        ],
    ),
    "look-back": (
        """
        if t == 0:
            s[0] = cuda.atomic.add(flag, 90, 1)
        cuda.syncthreads()
        me = s[0]
        if t == 0:
            before = 0
            if me > 0:
                while {asked} == 0:
                    pass
                {reader}
                before = part[me - 1]
            part[me] = before + a[me]
            {fence}
            {told}
            out[me] = before
        """,
        5,
        2,
        {
            "asked": "cuda.atomic.add(flag, me - 1, 0)",
            "reader": "cuda.threadfence()",
            "fence": "cuda.threadfence()",
            "told": "cuda.atomic.exch(flag, me, 1)",
        },
        [
            ({"reader": "pass"}, LOOSE),
            ({"fence": "pass"}, RACE),
            ({"told": "flag[me] = 1"}, RACE),
            ({"asked": "flag[me - 1]"}, RACE),
            ({"asked": "cuda.atomic.add(flag, 50, 1)"}, RACE),
        ],
    ),
    "a queue of work": (
        """
        k = cuda.atomic.add(flag, 0, 1)
        while k < n * w:
            out[k] = a[k]
            k = cuda.atomic.add(flag, 0, 1)
        cuda.syncthreads()
        if {who}:
            out[0] = {read}
        """,
        3,
        2,
        {"who": "False", "read": "0"},
        [({"who": "b == 0 and t == 0", "read": "flag[0]"}, RACE)],
    ),
}

ALL = [(name, {}, RIGHT) for name in KERNELS]
ALL += [
    (name, wrong, verdict) for name, (*_, wrongs) in KERNELS.items() for wrong, verdict in wrongs
]


# What no order but a drawn one shows: there the run itself decides what an atomic finds.
ORDERS: tuple[dict[str, Any], ...] = (
    {},
    {"order_seed": 1},
    *({"schedule": ("warps", seed)} for seed in range(3)),
)


def verdict_of(report: Report) -> str:
    assert {hazard.kind for hazard in report.hazards} <= {"race"}, report
    found = {hazard.details["loose"] for hazard in report.hazards}
    return RACE if False in found else LOOSE if found else RIGHT


def run(tmp_path: Path, name: str, changed: dict[str, str], how: dict[str, Any]) -> Report:
    body, grid, block, right, _ = KERNELS[name]
    text = textwrap.dedent(body).strip()
    for key, part in (right | changed).items():
        text = text.replace("{" + key + "}", part)
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + textwrap.indent(text, "    ") + "\n")
    if "schedule" in how:
        tasks, seed = how["schedule"]
        how = {"schedule": RoundRobin(tasks, "accesses", seed=seed)}
    arrays = [np.zeros(512, np.int64) for _ in range(3)]
    return simulate(f"{path}:kernel", **how)[grid, block](*arrays, np.arange(1, 513))


@pytest.mark.parametrize(("name", "changed", "verdict"), ALL)
def test_a_hand_over_is_judged_by_the_memory_model(
    name: str, changed: dict[str, str], verdict: str, tmp_path: Path
) -> None:
    found = {verdict_of(run(tmp_path, name, changed, how)) for how in ORDERS}
    worst = next(each for each in (RACE, LOOSE, RIGHT) if each in found)
    assert worst == verdict
