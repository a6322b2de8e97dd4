"""The simulator in one file against the whole one, on random kernels: what they compute, which
cells race, and which barriers are missed.

A kernel's conditions and indices depend on its threads alone, so that a race changes no thread's
way: then both see the same accesses, in whatever order.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from simt import tiny
from simt.simulator import simulate
from tests.sampling import examples
from tests.simt.observe.causality import Cell
from tests.simt.observe.racing_cells import RecordedRaces

IMPORTS = "from numba import cuda, int64\n"
CELLS = 5
BARRIER = "cuda.syncthreads()"


class Writer:
    """Writes a random kernel(g, h), whose shared array s is set before anything else.

    Args:
        seed: draws it, and its launch.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.block = self.rng.choice([5, 6, 8, 34])
        self.grid = self.rng.choice([1, 1, 2, 3])
        body = [line for _ in range(self.rng.randint(2, 5)) for line in self.statement(0)]
        head = ["t = cuda.threadIdx.x", "b = cuda.blockIdx.x", "i = cuda.grid(1)", "x = 1"]
        head += [f"s = cuda.shared.array({CELLS}, int64)", f"if t < {CELLS}:", "    s[t] = t"]
        lines = [*head, BARRIER, *body]
        self.text = f"CELLS = {CELLS}\n\n@cuda.jit\ndef kernel(g, h):\n"
        self.text += "".join(f"    {line}\n" for line in lines)

    def statement(self, depth: int) -> list[str]:
        kinds = ["load", "store", "atomic", "barrier", "if", "for"]
        weights = [4, 4, 2, 3 if depth == 0 else 1, 4, 1] if depth < 2 else [4, 4, 2, 0, 0, 0]
        match self.rng.choices(kinds, weights)[0]:
            case "load":
                return [f"x += {self.cell()}"]
            case "store":
                return [f"{self.cell()} = {self.rng.choice(['x', 'i', '7', 'x + t'])}"]
            case "atomic":
                array = self.rng.choice("ghs")
                kind = self.rng.choice(["add", "max", "min", "or_"])
                index, value = self.index(array), self.rng.choice(["t", "3"])
                return [f"cuda.atomic.{kind}({array}, {index}, {value})"]
            case "barrier":
                return [BARRIER]
            case "for":
                return [f"for k{depth} in range(2):", *self.deeper(depth)]
            case _:
                other = ["else:", *self.deeper(depth)] if self.rng.random() < 0.4 else []
                return [f"if {self.condition()}:", *self.deeper(depth), *other]

    def deeper(self, depth: int) -> list[str]:
        return [
            f"    {line}"
            for _ in range(self.rng.randint(1, 2))
            for line in self.statement(depth + 1)
        ]

    def cell(self) -> str:
        array = self.rng.choice("ghs")
        return f"{array}[{self.index(array)}]"

    def index(self, array: str) -> str:
        one = self.rng.randrange(CELLS)
        own = "t % CELLS" if array == "s" else "i"
        return self.rng.choice([*[own] * 8, f"(t + {one}) % CELLS", "i % CELLS", "b", str(one)])

    def condition(self) -> str:
        one = self.rng.randrange(self.block)
        return self.rng.choice(
            [f"t == {one}", f"t < {one}", f"i == {one}", "t % 2 == 0", "b == 0", "b == 0", "b < 9"]
        )


class Run:
    """The random kernel of a seed in both simulators.

    Attributes:
        missed: the lines of barriers that threads miss: in the whole simulator, in the tiny one.
        racing: the cells that race, in each.
        left: what each leaves in the arrays.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        written = Writer(seed)
        self.text = written.text
        path = folder / "kernel.py"
        path.write_text(IMPORTS + self.text)
        sizes, races = (written.grid, written.block), RecordedRaces()
        arrays, others = self.arrays(sizes), self.arrays(sizes)
        report = simulate(f"{path}:kernel", observers=(races,))[sizes](*arrays)
        code = tiny.compiled("\n" + self.text, "kernel")  # one line for the import
        gpu = tiny.Gpu(*((size, 1, 1) for size in sizes))
        found = tiny.launch(code, "kernel", gpu, *others, names={"int64": np.int64})
        hazards = [hazard for hazard in report.hazards if hazard.kind != "race"]
        assert {hazard.kind for hazard in hazards} <= {"barrier-divergence"}
        self.missed = {hazard.line for hazard in hazards}, set(found.missed)
        self.racing = races.racing, {self.cell(race) for race in found.races}
        self.left = [array.tolist() for array in arrays], [array.tolist() for array in others]

    @staticmethod
    def arrays(sizes: tuple[int, int]) -> list[np.ndarray]:
        cells = max(CELLS, sizes[0] * sizes[1])
        return [np.arange(cells), np.arange(cells) * 3]

    @staticmethod
    def cell(race: tiny.Race) -> Cell:
        return race.array, race.first.block if race.array == "s" else -1, *race.index

    def difference(self) -> str:
        """Returns where the two disagree; "" where they do not.

        After a barrier that some miss, each goes on in its own way.
        """
        if any(self.missed):
            return "" if self.missed[0] & self.missed[1] else f"missed barriers: {self.missed}"
        if self.racing[0] != self.racing[1]:
            return f"cells that race: {self.racing}"
        if not self.racing[0] and self.left[0] != self.left[1]:
            return f"results: {self.left}"
        return ""


def test_random_kernels(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(1000, few=100)):
        run = Run(seed, tmp_path)
        assert run.difference() == "", f"seed {seed}\n{run.text}"
        seen["missed" if any(run.missed) else "racing" if run.racing[0] else "clean"] += 1
    assert seen["missed"] >= 3 and min(seen["racing"], seen["clean"]) > 25, seen


@pytest.mark.parametrize("fault", ["a barrier orders nothing", "atomics take no turns"])
def test_a_race_detector_with_a_fault_would_be_told(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = tiny.Access.races_with

    def wrong(one: tiny.Access, other: tiny.Access) -> bool:
        if fault == "a barrier orders nothing":
            return right(replace(one, epoch=0), replace(other, epoch=0))
        return right(replace(one, kind="written"), replace(other, kind="written"))

    monkeypatch.setattr(tiny.Access, "races_with", wrong)
    assert any(Run(seed, tmp_path).difference() for seed in range(30))


SCALE = 2


def test_a_function_runs_with_the_names_around_it() -> None:
    offset = 10

    @cuda.jit
    def kernel(out, a):  # in two dimensions
        x, y = cuda.grid(2)
        if x < out.shape[0] and y < out.shape[1]:
            out[x, y] = SCALE * a[y, x] + offset

    a, out = np.arange(15.0).reshape(5, 3), np.zeros((3, 5))
    assert tiny.run(kernel, (2, 2), (2, 4), out, a) == tiny.Found()
    np.testing.assert_array_equal(out, 2 * a.T + 10)


def test_a_barrier_that_some_miss_ends_the_block() -> None:
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 3:
            cuda.syncthreads()
        out[cuda.grid(1)] = 1

    out = np.zeros(10)
    found = tiny.run(kernel, 2, 5, out)
    line = kernel.__code__.co_firstlineno + 3
    assert (found.missed, found.races) == ({line: 2}, [])
    assert out.tolist() == [0, 0, 0, 1, 1] * 2
