"""Puzzle `occupancy_used`: blocks on an SM from what the compiler used, and one block more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_course.hardware import occupancy as hardware
from gpu_course.hardware.compiled import record
from gpu_course.hardware.compiled.compiler import CAPABILITIES
from gpu_course.hardware.compute_capability import capability
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


@dataclass(frozen=True)
class Used:
    """A kernel of an earlier lesson, as it is launched there.

    Attributes:
        puzzle: its full name; the kernel has the name of the puzzle.
        threads: of a block.
    """

    puzzle: str
    threads: int

    def case(
        self, version: str, visible: bool = False, threads: int = 0, shared_bytes: int = 0
    ) -> Case:
        """Returns what the record says of it for a compute capability, as a case."""
        short = self.puzzle.rpartition("/")[2]
        found = record.figures(self.puzzle, short, version)
        major, minor = version.split(".")
        changed = f", {threads} threads in a block" if threads else ""
        changed += f", {shared_bytes:,} bytes shared" if shared_bytes else ""
        return sized(
            f"{short}, compute capability {version}{changed}",
            visible=visible,
            major=int(major),
            minor=int(minor),
            registers=found.registers,
            shared_bytes=shared_bytes or found.shared_bytes,
            threads=threads or self.threads,
        )


KERNELS = {
    "matmul_register": Used("06_matmul/matmul_register", 64),
    "matmul_vectorized": Used("06_matmul/matmul_vectorized", 64),
    "matmul_double_buffered": Used("06_matmul/matmul_double_buffered", 64),
    "matmul_tiled": Used("06_matmul/matmul_tiled", 256),
    "sum_columns": Used("03_coalescing/sum_columns", 64),
    "box_blur_2d": Used("04_shared_memory/box_blur_2d", 128),
    "grid_sum": Used("05_reductions_and_scans/grid_sum", 128),
}


def _random_case(rng: np.random.Generator) -> Case:
    used = list(KERNELS.values())[int(rng.integers(len(KERNELS)))]
    version = CAPABILITIES[int(rng.integers(len(CAPABILITIES)))]
    return used.case(version, threads=32 * int(rng.integers(1, 17)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    return {
        "limits": hardware.sm_limits(capability(f"{s['major']}.{s['minor']}")),
        "registers": s["registers"],
        "shared_bytes": s["shared_bytes"],
        "threads": s["threads"],
    }


def _reference(inputs: Values, case: Case) -> Values:
    limits = capability(f"{case.sizes['major']}.{case.sizes['minor']}")

    def blocks(registers: int) -> int:
        shared, threads = inputs["shared_bytes"], inputs["threads"]
        return hardware.occupancy(limits, registers, shared, threads).blocks

    now = blocks(inputs["registers"])
    fewer = range(inputs["registers"] - 1, 0, -1)
    return {"result": (now, next((each for each in fewer if blocks(each) > now), 0))}


_register, _vectorized = KERNELS["matmul_register"], KERNELS["matmul_vectorized"]

OCCUPANCY_USED = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _register.case("8.0", visible=True),
        _register.case("12.0"),
        _register.case("7.5"),
        _vectorized.case("9.0"),
        KERNELS["matmul_double_buffered"].case("10.0"),
        KERNELS["matmul_tiled"].case("7.5"),
        KERNELS["sum_columns"].case("9.0"),
        KERNELS["box_blur_2d"].case("12.0"),
        KERNELS["grid_sum"].case("12.0"),
        # As other launches would have them: three warps, seven, a part of one, and the largest.
        _register.case("8.0", threads=96),
        _register.case("9.0", threads=224),
        _vectorized.case("8.0", threads=72),
        _register.case("10.0", threads=1024),
        # And with so much shared memory that it decides as well.
        _register.case("8.0", shared_bytes=19_456),
        _register.case("7.5", shared_bytes=8_192),
        _register.case("9.0", shared_bytes=29_184),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    call=lambda inputs: (
        f"occupancy_used(limits, registers={inputs['registers']}, "
        f"shared_bytes={inputs['shared_bytes']}, threads={inputs['threads']})"
    ),
)
