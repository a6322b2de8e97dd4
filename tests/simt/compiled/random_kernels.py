"""Random kernels that aim at what compiled code could get wrong.

A kernel is drawn by a seed. It has loops within branches and branches within loops, numbers of
many types, shared tiles that threads exchange cells of, local arrays, atomics, shuffles and votes.
Whole, it is without a race by construction. Of a part of them one line that matters is lost: a
barrier, a guard, the first writing of a cell; what is to be found then, the interpreter says.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simt.report import Report
from simt.simulator import simulate

HEAD = """\
import math
from numba import cuda
from numba import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32

"""
BLOCKS = [
    (1,), (6,), (31,), (32,), (33,), (45,), (64,), (96,), (100,), (8, 4), (5, 3), (16, 2), (33, 2),
    (4, 4, 4), (7, 5, 2), (1, 1, 9), (2, 32), (3, 1, 11),
]  # fmt: skip
GRIDS = [(1,), (1,), (2,), (3,), (5,), (2, 2), (1, 2, 2)]
INTEGERS = {"a": "int64", "b": "int32", "u": "uint32", "e": "int8", "h": "uint16"}
FLOATS = {"c": "float32", "d": "float64"}
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30, -1e30, 3e9, -3e9, 2.0**63, 1e-40, 0.5, -2.5]
PARAMETERS = "out, own, real, wide, total, a, b, u, e, h, c, d, m, none, long, table, n, scale"


@dataclass(frozen=True)
class Drawn:
    """A kernel written at random, and the launch it is for."""

    seed: int
    text: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    order_seed: int | None
    lost: str

    def arguments(self) -> list[Any]:
        """Returns fresh arguments for PARAMETERS."""
        rng = np.random.default_rng(self.seed)
        threads = int(np.prod(self.grid)) * int(np.prod(self.block))
        cells = threads - min(threads - 1, 3)
        given: list[Any] = [
            np.zeros(cells, np.int64), np.zeros(threads, np.int32),
            np.zeros(threads, np.float32), np.full((threads, 3), 7.0), np.zeros(5, np.int32),
        ]  # fmt: skip
        for name in INTEGERS.values():
            limits = np.iinfo(name)
            some = rng.integers(-30, 200, SIZE)
            far = rng.integers(limits.min, limits.max, SIZE, dtype=name)
            given.append(np.where(rng.random(SIZE) < 0.2, far, some.astype(name)).astype(name))
        for name in FLOATS.values():
            some = rng.normal(scale=20, size=SIZE)
            with np.errstate(all="ignore"):
                far = rng.choice(SPECIAL, SIZE)
                given.append(np.where(rng.random(SIZE) < 0.15, far, some).astype(name))
        matrix = rng.normal(size=(7, 9)).astype(np.float32)
        given.append(matrix[::-1] if self.seed % 31 == 0 else matrix)
        given.append(np.zeros(0, np.int64))
        given.append(rng.integers(-9, 9, LONG).astype(np.float32))
        given.append(rng.integers(-99, 99, (300, 11)))
        return [*given, int(rng.integers(0, 6)), float(rng.normal())]

    def launch(self, folder: Path) -> Report:
        """Runs it."""
        path = folder / f"random_{self.seed}.py"
        path.write_text(self.text, encoding="utf-8")
        kernel = simulate(f"{path}:kernel", order_seed=self.order_seed)
        return kernel[self.grid, self.block](*self.arguments())


SIZE = 61
"""Cells of most arrays that are only read."""
LONG = 4096
"""Cells of one in which each thread has a place of its own, and more."""


def draw(seed: int, *, broken: float = 0.4) -> Drawn:
    """Returns the random kernel of a seed; one that has lost a line, for a share of all."""
    return _Maker(random.Random(seed), seed).made(broken)


class _Maker:
    """Draws the lines of one kernel."""

    def __init__(self, rng: random.Random, seed: int) -> None:
        self.rng, self.seed = rng, seed
        self.block, self.grid = rng.choice(BLOCKS), rng.choice(GRIDS)
        self.threads = int(np.prod(self.block))
        self.lines: list[tuple[str, str]] = []
        self.arrays: list[str] = []
        self.deep = 1
        self.loops: list[str] = []
        self.integers = ["x", "y", "z", "v", "t", "i", "n"]
        self.floats = ["p", "q", "scale"]
        self.number = 0
        self.in_loop = 0
        self.in_function = False

    def say(self, text: str, instead: str = "") -> None:
        """Writes a line, and what stands there if it is lost; "" for one that is not."""
        self.lines.append(("    " * self.deep + text, instead and "    " * self.deep + instead))

    def fresh(self, name: str) -> str:
        self.number += 1
        return f"{name}{self.number}"

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    # The whole

    def made(self, broken: float) -> Drawn:
        functions = self.functions() if self.chance(0.25) else ""
        body, lost = self.body(), ""
        lines = [text for text, _ in body]
        weak = [k for k, (_, instead) in enumerate(body) if instead]
        if weak and self.chance(broken):
            # Most have a guard at their end, and few anything else.
            at = self.rng.choice(weak[:-1] if weak[1:] and self.chance(0.8) else weak)
            lost, lines[at] = lines[at].strip(), body[at][1]
        text = f"{HEAD}{functions}@cuda.jit\ndef kernel({PARAMETERS}):\n" + "\n".join(lines) + "\n"
        order = self.rng.choice([None, None, 1, 2])
        return Drawn(self.seed, text, self.grid, self.block, order, lost)

    def functions(self) -> str:
        """Two functions of a device, one of which calls the other."""
        kept = self.integers, self.floats
        self.integers, self.floats, self.in_function = ["x", "y"], ["p"], True
        text = ""
        for name in ("near", "far"):
            self.lines = []
            if self.chance(0.5):
                self.statement(2)
            if self.chance(0.4):
                self.say(f"if {self.condition()}:")
                self.say(f"    return int64({self.integer(1)})")
            self.say(f"x = int64({self.integer(2)})")
            if name == "far" and self.chance(0.5):
                self.say("x = near(x, y, p)")
            self.say("return x")
            body = "\n".join(line for line, _ in self.lines)
            text += f"@cuda.jit(device=True)\ndef {name}(x, y, p):\n{body}\n\n\n"
        self.lines, self.in_function = [], False
        self.integers, self.floats = kept
        self.arrays = ["far"]
        return text

    def body(self) -> list[tuple[str, str]]:
        sides = (*self.block, 1, 1)[:3]
        t = "cuda.threadIdx.x"
        if sides[1] > 1 or sides[2] > 1:
            t += f" + {sides[0]} * (cuda.threadIdx.y + {sides[1]} * cuda.threadIdx.z)"
        self.say(f"t = {t}")
        block = "cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y"
        self.say(f"i = t + {self.threads} * ({block} + cuda.gridDim.y * cuda.blockIdx.z))")
        self.say(
            self.rng.choice(["x = int64(1)", "x = int64(t)", f"x = int64({self.integer(1, 'ti')})"])
        )
        self.say("y = int64(i)")
        self.say(f"z = int32({self.integer(1, 'ti')})")
        self.say(f"v = uint32({self.integer(1, 'ti')})")
        self.say(f"p = float32({self.rng.choice(['i', 'c[i % 61]', '1.5'])})")
        self.say(f"q = float64({self.rng.choice(['t', '-0.0', 'scale'])})")
        if self.chance(0.4):
            self.local_array()
        for _ in range(self.rng.randint(1, 2)):
            if self.chance(0.6):
                self.together()
            else:
                self.statement(0)
        if self.chance(0.15):
            self.say(f"if {self.condition()}:")
            self.say("    return")
        self.say("if i < out.size:", "if True:")
        self.say("    out[i] = x * 2000 + y")
        ends = ["own[i] = z ^ int32(v)", "real[i] = p", f"wide[i, {self.rng.randint(0, 2)}] = q"]
        for end in self.rng.sample(ends, self.rng.choice([1, 1, 2])):
            self.say(end)
        if self.chance(0.1):
            self.say("wide[i, 1] += x")
        return self.lines

    # Statements in which lanes may part

    def statement(self, depth: int) -> None:
        kinds: list[Callable[[int], None]] = [self.assign, self.assign]
        if depth < 3:
            kinds += [self.branch, self.branch, self.counted, self.counted, self.while_]
        if not self.in_function:
            kinds += [self.update, self.own_cell]
        self.rng.choice(kinds)(depth)

    def several(self, depth: int) -> None:
        self.deep += 1
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth)
        if self.in_loop and self.chance(0.3):
            word = self.rng.choice(["break", "continue"])
            if self.chance(0.1) and not self.in_function:
                word = "return"
            self.say(f"if {self.condition()}:")
            self.say(f"    {word}")
            if self.chance(0.5):
                self.statement(3)
        self.deep -= 1

    def assign(self, _: int) -> None:
        if self.in_function:
            self.say(f"x = int64({self.integer(2)})")
            return
        kind = self.rng.choice("xxyyzvpqw")
        if kind in "xy":
            self.say(f"{kind} = int64({self.integer(2)}){self.rng.choice(['', ' % 1009'])}")
        elif kind == "z":
            self.say(f"z = int32({self.integer(2)})")
        elif kind == "v":
            self.say(self.rng.choice([f"v = uint32({self.integer(2)})", "v = v * v + uint32(3)"]))
        elif kind == "p":
            self.say(f"p = float32({self.real(2)})")
        elif kind == "q":
            self.say(f"q = float64({self.real(2)})")
        else:
            name = self.rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32"])
            self.say(f"x = int64({name}({self.rng.choice([self.integer(2), self.real(1)])}))")

    def branch(self, depth: int) -> None:
        self.say(f"if {self.condition()}:")
        self.several(depth + 1)
        if self.chance(0.3):
            self.say(f"elif {self.condition()}:")
            self.several(depth + 1)
        if self.chance(0.5):
            self.say("else:")
            self.several(depth + 1)

    def counted(self, depth: int) -> None:
        name = f"k{depth}"
        over = ["4", "n", "0", "1, n", "5, 0, -2", "0, 7, 3", "3, 3"]
        if not self.in_function:
            over += ["t % 4", "(t + 1) % 3, 4", "i % 5, 0, -1", "min(n, t)", "blk % 3"]
            over = [each.replace("blk", "cuda.blockIdx.x") for each in over]
        else:
            over += ["x % 4", "y % 3, 4"]
        self.say(f"for {name} in range({self.rng.choice(over)}):")
        self.loop(depth, name)

    def loop(self, depth: int, name: str) -> None:
        self.integers.append(name)
        self.in_loop += 1
        self.several(depth + 1)
        self.in_loop -= 1
        self.integers.remove(name)
        if self.chance(0.2):
            self.say("else:")
            self.deep += 1
            self.assign(0)
            self.deep -= 1

    def while_(self, depth: int) -> None:
        name = f"w{depth}"
        most = self.rng.choice(["3", "n", "x % 4"] + ([] if self.in_function else ["t % 5"]))
        self.say(f"{name} = {self.rng.choice(['0', '-1'])}")
        self.say(f"while {name} < {most}:")
        self.say(f"    {name} += 1")
        self.loop(depth, name)

    def update(self, _: int) -> None:
        """Cells that are touched by atomics alone."""
        if self.in_loop and self.chance(0.7):
            return self.assign(0)
        how = self.rng.choice(["add", "sub", "max", "min", "and_", "or_", "xor", "add"])
        at = {"add": 0, "sub": 0, "max": 1, "min": 2, "and_": 3, "or_": 4, "xor": 4}[how]
        at = 4 if how == "xor" else at
        if how == "or_":
            how, at = "xor", 4
        value = f"int32({self.integer(1)})"
        self.say(f"cuda.atomic.{how}(total, {at}, {value})")

    def own_cell(self, _: int) -> None:
        """A cell that only its own thread touches."""
        if "cells" in self.arrays and self.chance(0.7):
            at = f"({self.integer(1)}) % 4"
            if self.chance(0.5):
                self.say(f"cells[{at}] = float32({self.real(1)})")
            else:
                self.say(f"p = float32(p + cells[{at}])")
            return
        choice = self.rng.choice(
            ["own[i] += z", "wide[i, 1] = q", "wide[i, 2] += p", "real[i] -= 1"]
        )
        self.say(choice)

    def local_array(self) -> None:
        self.say("cells = cuda.local.array(4, float32)")
        self.say("for k in range(4):", f"for k in range({self.rng.randint(0, 3)}):")
        self.say(f"    cells[k] = {self.real(1)}")
        self.arrays.append("cells")

    # What all threads of a block do together

    def together(self) -> None:
        around = ""
        if self.chance(0.25):
            around = self.rng.choice([
                "for r in range(n):", "for r in range(3):", "if n > 2:",
                "if cuda.blockIdx.x == 0:", "for r in range(cuda.blockIdx.x, 4, 2):",
            ])  # fmt: skip
            self.say(around)
            self.deep += 1
        kinds = [self.exchange, self.exchange, self.matrix, self.histogram, self.vote]
        if self.threads % 32 == 0 or self.chance(0.1):
            kinds += [self.shuffle, self.shuffle, self.warp_exchange]
        self.rng.choice(kinds)()
        if around.startswith("for") and self.chance(0.4):
            self.say(f"if {self.rng.choice(['n > 3', 'r == 1', 'n < 2'])}:")
            self.say(f"    {self.rng.choice(['break', 'continue'])}")
            self.barrier(weak=False)
        if around:
            self.deep -= 1

    def barrier(self, *, weak: bool = True) -> None:
        size = self.threads // 2
        instead = self.rng.choice(
            ["pass", "pass", f"if t < {size}: cuda.syncthreads()", "cuda.syncwarp()"]
        )
        if self.chance(0.15):
            how = self.rng.choice(["count", "and", "or"])
            self.say(
                f"x += cuda.syncthreads_{how}(int32({self.condition()}))", instead if weak else ""
            )
        else:
            self.say("cuda.syncthreads()", instead if weak else "")

    def exchange(self) -> None:
        """Each thread writes a cell, and reads others' after a barrier."""
        tile, cells = self.fresh("tile"), self.threads + self.rng.choice([0, 0, 1, 5])
        dtype = self.rng.choice(["int64", "int32", "float32", "float64", "uint8", "int16"])
        real = dtype.startswith("f")
        last = self.threads - 1
        where = self.rng.choice([
            "t", "t", f"{last} - t", f"(t + {self.rng.randint(1, 40)}) % {self.threads}",
        ])  # fmt: skip
        value = self.real(1) if real else f"{dtype}({self.integer(1)})"
        self.say(f"{tile} = cuda.shared.array({cells}, {dtype})")
        if self.chance(0.3) or cells > self.threads:
            few = cells - self.threads
            self.say(f"if t < {max(few, 1)}:", "if t < 0:")
            self.say(f"    {tile}[{self.threads if few else 0} + {'t' if few else '0'}] = 1")
            self.barrier()
        self.say(f"{tile}[{where}] = {value}")
        self.barrier()
        read = f"{tile}[{self.index(cells)}]"
        target = ("p = float32(p + {})" if real else "x = (x + int64({})) % 1009").format(read)
        if self.chance(0.3):
            self.say(f"if {self.condition()}:")
            self.say(f"    {target}")
        elif self.chance(0.4):
            self.say(f"for k in range({self.rng.choice(['4', 'n', 't % 3'])}):")
            self.say(f"    {target}")
        else:
            self.say(target)
        if self.chance(0.6):
            self.barrier(weak=bool(self.loops))
        if self.chance(0.3) or self.deep > 1:
            self.barrier()
            self.say(f"{tile}[t] = 2")
            self.barrier()
            self.say(f"y += int64({tile}[{self.index(self.threads)}] > 1)")
            self.barrier()

    def matrix(self) -> None:
        """A tile of two dimensions, with a stride that may be odd."""
        tile, side = self.fresh("tile"), self.rng.choice([2, 3, 5, 8, 16, 32])
        rows = -(-self.threads // side)
        columns = side + self.rng.choice([0, 1, 2])
        self.say(f"{tile} = cuda.shared.array(({rows}, {columns}), float32)")
        self.say(f"{tile}[t // {side}, t % {side}] = {self.real(1)}")
        self.barrier()
        last, whole = self.threads - 1, max(self.threads // side, 1)
        way = self.rng.choice([
            f"{tile}[({last} - t) // {side}, ({last} - t) % {side}]",
            f"{tile}[0, t % {min(side, self.threads)}]",
            f"{tile}[t // {side}, (t // 2) % {min(side, self.threads)}]",
            f"{tile}[{self.integer(1)} % {whole}, t % {min(side, self.threads)}]",
        ])  # fmt: skip
        self.say(f"p = float32(p * 0.5 + {way})")
        self.barrier(weak=self.deep > 1)

    def histogram(self) -> None:
        """Counts in shared memory."""
        bins, many = self.fresh("bins"), self.rng.choice([1, 3, 8])
        self.say(f"{bins} = cuda.shared.array({many}, int32)")
        self.say(f"for k in range(t, {many}, {self.threads}):", "for k in range(0):")
        self.say(f"    {bins}[k] = {self.rng.randint(0, 3)}")
        self.barrier()
        how = self.rng.choice(["add", "max", "min", "add"])
        self.say(
            f"cuda.atomic.{how}({bins}, ({self.integer(1)}) % {many}, int32({self.integer(1)}))"
        )
        self.barrier()
        self.say(f"y += {bins}[{self.index(many)}]")
        self.barrier(weak=self.deep > 1)

    def shuffle(self) -> None:
        way = self.rng.choice(["", "_up", "_down", "_xor"])
        by = self.rng.choice(["1", "16", "5", "31", "t % 7", "n", "33" if way == "" else "3"])
        target, value = self.rng.choice([("x", "x + t"), ("p", "p"), ("z", "z"), ("q", "q * 2.0")])
        mask = self.rng.choice(["0xFFFFFFFF", "0xFFFFFFFF", "-1"])
        if self.chance(0.1):
            self.say(f"if t < {self.rng.choice([16, 32])}:")
            self.say(f"    {target} = cuda.shfl{way}_sync({mask}, {value}, {by})")
            return
        self.say(f"{target} = cuda.shfl{way}_sync({mask}, {value}, {by})")

    def vote(self) -> None:
        if self.threads % 32:
            how = self.rng.choice(["count", "and", "or"])
            self.say(f"x += cuda.syncthreads_{how}(int32({self.condition()}))")
            return
        how = self.rng.choice(["all", "any", "ballot", "eq"])
        if how == "eq":
            how = "any"
        self.say(f"y = y + int64(cuda.{how}_sync(0xFFFFFFFF, {self.condition()}))")

    def warp_exchange(self) -> None:
        tile = self.fresh("tile")
        self.say(f"{tile} = cuda.shared.array({self.threads}, int64)")
        self.say(f"{tile}[t] = {self.integer(1)}")
        self.say("cuda.syncwarp()", "pass")
        self.say(
            f"x += {tile}[(t ^ {self.rng.choice([1, 3, 16, 31])}) % {self.threads}] % 1009",
            f"x += {tile}[(t + 32) % {self.threads}] % 1009",
        )
        self.say("cuda.syncwarp()", "pass")
        self.say(f"{tile}[t] = 4")
        self.barrier(weak=False)
        self.say(f"y += {tile}[{self.index(self.threads)}]")

    # Expressions

    def index(self, size: int) -> str:
        """An index of an array, within it."""
        rng = self.rng
        of = self.integers
        if self.in_function:
            return f"({self.integer(1)}) % {size}"
        ways = [
            f"({self.integer(1)}) % {size}",
            f"({self.integer(1)}) % {size}",
            f"(t + {rng.randint(1, 90)}) % {size}",
            f"(t * {rng.choice([2, 3, 33])} + {rng.randint(0, 9)}) % {size}",
            f"({size * 9} - t * {rng.choice([1, 2, 5])}) % {size}",
            f"(t // {rng.choice([2, 3, 32])}) % {size}",
            f"(i % {rng.choice([4, 7, 32])}) % {size}",
            f"min(t, {size - 1})",
            f"max({size - 1} - t, 0)",
            f"{rng.randrange(size)}",
            f"({rng.choice(of)} + n) % {size}",
            f"uint32(t + n) % uint32({size})",
            f"(t ^ {rng.choice([1, 5])}) % {size}",
            f"cuda.blockIdx.x % {size}",
        ]
        return rng.choice(ways)

    def place(self) -> str:
        """A cell whose place each lane has by so much more than the first one."""
        rng = self.rng
        by, more = rng.choice([1, 1, 2, 3, 4, 7]), rng.randint(0, 9)
        name = rng.choice([k for k in self.integers if k.startswith("k")] or ["n"])
        small = f"({name} & 3)"
        return rng.choice([
            f"long[i * {by} + {more}]", "long[i]", f"long[{LONG - 1} - {by} * i]",
            f"long[t + {more} * n]", f"long[t * {by} + {small} * {self.threads}]",
            f"long[{small}]", f"table[{name} & 7, t % 11]", f"table[t, {more}]",
            f"table[{299} - t, {small}]", "long[cuda.threadIdx.x + cuda.blockIdx.x * 7]",
            f"long[int32(t) + int32({more})]", f"long[uint32(t) * uint32({by})]",
        ])  # fmt: skip

    def integer(self, depth: int, only: str = "") -> str:
        rng = self.rng
        if depth == 0 or self.chance(0.15):
            names = list(only) or self.integers
            if self.chance(0.25):
                return rng.choice(["3", "-2", "0", "7", "31", "-1", "1 << 20"])
            if self.chance(0.3) and not self.in_function:
                name = rng.choice(list(INTEGERS))
                if rng.random() < 0.1:
                    return "none.size"
                where = rng.choice(["i % 61", "60 - t % 61", "5"])
                return f"{name}[{self.index(SIZE) if depth else where}]"
            return rng.choice(names)
        inner = depth - 1
        one, two = self.integer(inner, only), self.integer(inner, only)
        kind = rng.random()
        if kind < 0.5:
            return f"({one} {rng.choice('+-*&|^')} {two})"
        if kind < 0.6:
            return f"({one} {rng.choice(['// 3', '% 7', '// -4', '% -5'])})"
        if kind < 0.65:
            return f"({one} {rng.choice(['//', '%'])} {two})"
        if kind < 0.72:
            by = ["1", "3"] if self.in_function else ["1", "5", "31", "33", "(t & 7)"]
            return f"(({one}) {rng.choice(['<<', '>>'])} {rng.choice(by)})"
        if kind < 0.8:
            return f"{rng.choice(['min', 'max'])}({one}, {two})"
        if kind < 0.83:
            return f"{rng.choice(['-', '~'])}({one})"
        if kind < 0.84:
            return f"(({one}) ** {rng.choice(['2', '3', '0'])})"
        if kind < 0.88:
            return f"abs(int64({one}))"
        if kind < 0.92:
            return f"({one} if {self.condition(inner)} else {two})"
        if kind < 0.95 and "far" in self.arrays and not self.in_function:
            return f"far({one}, {two}, {self.real(0)})"
        name = rng.choice(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
        return f"{name}({one})"

    def real(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or self.chance(0.2):
            if self.in_function:
                return rng.choice(["p", "1.5", "x"])
            if self.chance(0.3):
                return self.place()
            return rng.choice([
                "p", "q", "scale", "0.5", "-1.0", "x", "t", f"c[{self.index(SIZE)}]",
                f"d[{self.index(SIZE)}]", "m[t % 7, i % 9]", "m[n, t % 9]", "float32(2.5)",
            ])  # fmt: skip
        one, two = self.real(depth - 1), self.real(depth - 1)
        kind = rng.random()
        if kind < 0.5:
            return f"({one} {rng.choice('+-*/+-*')} {two})"
        if kind < 0.65:
            return f"{rng.choice(['min', 'max'])}(float32({one}), float32({two}))"
        if kind < 0.75:
            return f"({one} if {self.condition(depth - 1)} else {two})"
        if kind < 0.82:
            return f"abs({one})"
        if kind < 0.9:
            return f"math.{rng.choice(['sqrt', 'floor', 'exp', 'tanh', 'log', 'erf'])}({one})"
        if kind < 0.93:
            by = rng.choice(
                ["** 2", "** 0.5", "** -1.5", "// 2.5", "% 3.0", f"// {two}", f"% {two}"]
            )
            return f"({one} {by})"
        if kind < 0.96:
            return f"-({one})"
        return f"{rng.choice(['float32', 'float64'])}({one})"

    def condition(self, depth: int = 1) -> str:
        rng = self.rng
        compare = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        kind = rng.random()
        if kind < 0.15 and not self.in_function:
            return rng.choice(
                ["n > 2", "n == 3", "cuda.blockIdx.x > 0", "t == 0", "t < 16", "t % 2 == 0"]
            )
        if kind < 0.55 or depth <= 0:
            return f"{self.integer(max(depth, 0))} {compare} {self.integer(0)}"
        if kind < 0.7:
            return f"{self.real(1)} {compare} {self.real(0)}"
        if kind < 0.8:
            less = rng.choice(["<", "<="])
            return f"{self.integer(0)} {less} {self.integer(1)} {compare} {self.integer(0)}"
        if kind < 0.9:
            word = rng.choice(["and", "or"])
            return f"({self.condition(0)} {word} {self.condition(0)})"
        return f"not ({self.condition(0)})"
