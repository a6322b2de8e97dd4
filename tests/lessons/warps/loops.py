"""What each kernel puzzle of lesson 02 asks for, as loops in plain Python."""

from __future__ import annotations

from typing import Any

from tests.course.puzzles.loops import Numbers


def warp_and_lane(size: int) -> dict[str, Any]:
    threads = [number for _ in range(0, size, 40) for number in range(40)][:size]
    found = [divmod(number, 32) for number in threads]
    return {"warp": [warp for warp, _ in found], "lane": [lane for _, lane in found]}


def even_odd_uniform(a: Numbers, p: Numbers, q: Numbers, size: int) -> dict[str, Any]:
    out = []
    for i in range(size):
        c = q if i % 2 else p
        out.append(c[0] * a[i] ** 2 + c[1] * a[i] + c[2])
    return {"out": out}


def warps(a: Numbers) -> list[Numbers]:
    return [a[start : start + 32] for start in range(0, len(a), 32)]


def ballot_count(a: Numbers, limit: float, size: int) -> dict[str, Any]:
    return {"out": [sum(number > limit for number in warp) for warp in warps(a)]}


def warp_sum(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [sum(warp) for warp in warps(a)]}


def warp_max_all(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [max(warp) for warp in warps(a) for _ in warp]}


def warp_scan(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [sum(warp[: k + 1]) for warp in warps(a) for k in range(len(warp))]}
