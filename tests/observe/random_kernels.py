"""Random kernels in which some accesses race and some are ordered, in every way there is."""

from __future__ import annotations

import random
from dataclasses import dataclass

HEAD = """from numba import cuda, int64
@cuda.jit
def kernel(g, f, out):
    s = cuda.shared.array(4, int64)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    lane = t % 32
    x = 0
    v = 0
"""


@dataclass(frozen=True)
class Drawn:
    """A kernel's text and its launch."""

    text: str
    grid: int
    block: int


def draw(seed: int) -> Drawn:
    """Returns the random kernel of a seed: kernel(g int64 (4,), f int64 (5,), out int64 (1,))."""
    rng = random.Random(seed)
    block = rng.choice([1, 2, 3, 4, 5, 6, 34]) if rng.random() < 0.5 else rng.choice([1, 2, 3, 4])
    grid = rng.choice([2, 3, 4, 6] if block < 30 else [1, 2])
    maker = _Maker(rng, grid, block)
    lines = [line for _ in range(rng.randint(3, 9)) for line in maker.step()]
    return Drawn(HEAD + "".join(f"    {line}\n" for line in lines), grid, block)


class _Maker:
    """Draws the statements of one kernel."""

    def __init__(self, rng: random.Random, grid: int, block: int) -> None:
        self.rng, self.grid, self.block = rng, grid, block
        ways = ["syncthreads", "syncwarp", "part", "fence", "fence_block", "grid"]
        self.ways = rng.sample(ways, rng.randint(1, 4))
        self.shared = rng.random() < 0.4

    def step(self) -> list[str]:
        """Returns the lines of one statement."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.3:
            return self._meeting(rng.choice(self.ways))
        if roll < 0.75 and {"fence", "fence_block"} & set(self.ways):
            return rng.choice([self._release, self._acquire, self._hand_over, self._hand_over])()
        guard = self._guard()
        return [guard, *(f"    {self._touch()}" for _ in range(rng.randint(1, 2)))]

    def _meeting(self, way: str) -> list[str]:
        rng = self.rng
        if way == "syncthreads":
            return ["cuda.syncthreads()"]
        if way == "syncwarp":
            return [rng.choice(["cuda.syncwarp()", "cuda.syncwarp(0xFFFFFFFF)"])]
        if way == "part":
            wide = rng.choice([1, 2, 3, 5, 16])
            low = rng.randint(0, 2)
            return rng.choice(
                [
                    [f"if lane < {wide}:", f"    cuda.syncwarp({(1 << wide) - 1})"],
                    [f"if lane >= {low}:", f"    cuda.syncwarp({0xFFFFFFFF >> low << low})"],
                    ["cuda.syncwarp(3 << (lane // 2 * 2))"],
                    ["if lane < 3:", "    cuda.syncwarp(5 if lane % 2 == 0 else 2)"],
                ]
            )
        if way == "grid":
            return ["cuda.cg.this_grid().sync()"] if rng.random() < 0.5 else ["pass"]
        return [self._guard(), f"    {self._fence()}"]

    def _fence(self) -> str:
        known = {"fence": "cuda.threadfence()", "fence_block": "cuda.threadfence_block()"}
        return self.rng.choice([text for way, text in known.items() if way in self.ways])

    def _release(self) -> list[str]:
        lines = [self._guard(), f"    {self._touch()}"]
        if self.rng.random() < 0.8:
            lines.append(f"    {self._fence()}")
        return [*lines, f"    {self._atomic('f')}"]

    def _hand_over(self) -> list[str]:
        """Some threads touch a cell and say so, each with a flag; one waits for most of them."""
        rng, threads = self.rng, self.block * self.grid
        cell, lines = rng.randrange(4), []
        last, *others = rng.sample(range(threads), min(threads, rng.randint(2, 6)))
        for flag, thread in enumerate(others):
            lines += [f"if i == {thread}:", f"    x += g[{cell}]"]
            lines += [f"    {self._fence()}"] if rng.random() < 0.95 else []
            lines += [f"    cuda.atomic.add(f, {flag}, 1)"]
            if rng.random() < 0.1:
                lines += self._meeting(rng.choice(self.ways))
        lines += [f"if i == {last}:"]
        heard = [flag for flag in range(len(others)) if rng.random() < 0.95]
        lines += [f"    v = cuda.atomic.add(f, {flag}, 0)" for flag in heard]
        lines += [f"    {self._fence()}"] if rng.random() < 0.8 else []
        touch = f"g[{cell}] = 1"
        if rng.random() < 0.3:
            meeting = self._meeting(rng.choice(self.ways))
            return [
                *lines,
                "    pass",
                *meeting,
                f"if i == {rng.randrange(threads)}:",
                f"    {touch}",
            ]
        return [*lines, f"    {touch}"]

    def _acquire(self) -> list[str]:
        rng = self.rng
        lines = [self._guard(), f"    v = {self._atomic('f')}"]
        depth = "    "
        if rng.random() < 0.5:
            lines.append(f"    if v {rng.choice(['>', '=='])} {rng.randint(0, 2)}:")
            depth *= 2
        if rng.random() < 0.8:
            lines.append(f"{depth}{self._fence()}")
        return [*lines, f"{depth}{self._touch()}"]

    def _guard(self) -> str:
        rng = self.rng
        thread, block = rng.randrange(self.block), rng.randrange(self.grid)
        return rng.choice(
            [
                f"if t == {thread}:",
                f"if b == {block}:",
                f"if b == {block} and t == 0:",
                f"if b == {block} and t == {thread}:",
                f"if b == {block} and t == {thread}:",
                f"if b == {block} and t == {rng.randrange(self.block)}:",
                f"if i == {rng.randrange(self.block * self.grid)}:",
                f"if b != {block} and t == {thread}:",
                f"if t % 2 == {rng.randint(0, 1)}:",
                "if True:",
            ]
        )

    def _index(self, size: int) -> str:
        rng = self.rng
        number = rng.randrange(size)
        return rng.choice(
            [str(number), str(number), f"b % {size}", f"t % {size}", f"(i + {number}) % {size}"]
        )

    def _touch(self) -> str:
        array = "s" if self.shared and self.rng.random() < 0.5 else "g"
        at = self._index(4)
        kind = self.rng.random()
        if kind < 0.6:
            return f"x += {array}[{at}]"
        if kind < 0.8:
            return f"{array}[{at}] = i"
        return self._atomic(array)

    def _atomic(self, array: str) -> str:
        at = self._index(3)
        return self.rng.choice(
            [
                f"cuda.atomic.add({array}, {at}, 1)",
                f"cuda.atomic.add({array}, {at}, 0)",
                f"cuda.atomic.max({array}, {at}, i)",
                f"cuda.atomic.exch({array}, {at}, {self.rng.randint(0, 1)})",
                f"cuda.atomic.cas({array}, {at}, {self.rng.randint(0, 1)}, 1)",
            ]
        )
