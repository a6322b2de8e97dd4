"""Puzzle `occupancy`: how many blocks of a kernel an SM holds at the same time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.hardware import occupancy as hardware
from gpu_course.hardware.compute_capability import ComputeCapability, capabilities, capability
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

OLDEST, NEWEST = (7, 0), (12, 0)


def _case(
    name: str,
    version: str,
    registers: int,
    shared_bytes: int,
    threads: int,
    visible: bool = False,
    **left: int,
) -> Case:
    major, minor = version.split(".")
    return sized(
        f"{name}, compute capability {version}",
        visible=visible,
        major=int(major),
        minor=int(minor),
        registers=registers,
        shared_bytes=shared_bytes,
        threads=threads,
        **left,
    )


def _limits(case: Case) -> ComputeCapability:
    """The limits of a case; `left_bytes` is the shared memory that caches leave to the blocks."""
    limits = capability(f"{case.sizes['major']}.{case.sizes['minor']}")
    left = case.sizes.get("left_bytes", limits.shared_bytes_per_sm)
    return replace(limits, shared_bytes_per_sm=left)


def _random_case(rng: np.random.Generator) -> Case:
    known = [each for each in capabilities() if OLDEST <= each.number <= NEWEST]
    one = known[int(rng.integers(len(known)))]
    return _case(
        "drawn at random",
        one.version,
        int(rng.integers(24, 129)),
        int(rng.integers(1_000, 40_000)),
        int(rng.integers(33, 600)),
    )


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {
        "limits": hardware.sm_limits(_limits(case)),
        "registers": case.sizes["registers"],
        "shared_bytes": case.sizes["shared_bytes"],
        "threads": case.sizes["threads"],
    }


def _reference(inputs: Values, case: Case) -> Values:
    limits = _limits(case)
    found = hardware.occupancy(
        limits, inputs["registers"], inputs["shared_bytes"], inputs["threads"]
    )
    return {"result": found.blocks}


def _count(inputs: Values, **otherwise: bool) -> int:
    """Returns the blocks, or what a person gets who thinks otherwise on the points named."""
    limits, registers, threads = inputs["limits"], inputs["registers"], inputs["threads"]
    warps = -(-threads // limits["warp_size"])
    per_warp = _up(registers * limits["warp_size"], limits["register_unit"])
    resident = limits["registers"] // limits["quarters"] // per_warp * limits["quarters"]
    shared = _up(inputs["shared_bytes"] + limits["shared_reserved"], limits["shared_unit"])
    most = [limits["warps"] // warps, limits["blocks"], resident // warps]
    if otherwise.get("part_warps"):
        most[0] = limits["warps"] * limits["warp_size"] // threads
        most[2] = limits["registers"] // (registers * threads)
    if otherwise.get("not_rounded"):
        most[2] = limits["registers"] // (registers * limits["warp_size"] * warps)
    if otherwise.get("unit_for_a_thread"):
        of_a_warp = _up(registers, limits["register_unit"]) * limits["warp_size"]
        quarter = limits["registers"] // limits["quarters"]
        most[2] = quarter // of_a_warp * limits["quarters"] // warps
    if otherwise.get("one_pool"):
        most[2] = limits["registers"] // (per_warp * warps)
    if otherwise.get("no_block_limit"):
        del most[1]
    if otherwise.get("unit_of_today"):
        shared = _up(inputs["shared_bytes"] + limits["shared_reserved"], 128)
    if otherwise.get("nothing_reserved"):
        shared = _up(inputs["shared_bytes"], limits["shared_unit"])
    if otherwise.get("reserved_everywhere"):
        shared = _up(inputs["shared_bytes"] + 1024, limits["shared_unit"])
    return min([*most, limits["shared_bytes"] // shared] if shared else most)


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


OCCUPANCY = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", "8.0", 64, 16_384, 256, visible=True),
        _case("small blocks", "9.0", 32, 0, 32),
        _case("a warp that is not full", "8.6", 32, 1_024, 136),
        _case("an odd number of registers", "7.0", 41, 0, 256),
        _case("quarters", "8.0", 96, 0, 224),
        _case("shared memory, and what is kept of it", "8.6", 32, 33_900, 96),
        _case("shared memory before Ampere", "7.5", 32, 10_800, 64),
        _case("nothing reserved before Ampere", "7.5", 32, 6_400, 64),
        _case("one block is too much", "9.0", 168, 0, 512),
        _case("none of its own, little left", "8.0", 32, 0, 64, left_bytes=8192),
        _case("the newest", "12.0", 80, 20_000, 192),
        _case("as little as may be", "9.0", 1, 0, 1),
        _case("as much as may be", "7.5", 255, 0, 1024),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    call=lambda inputs: (
        f"occupancy(limits, registers={inputs['registers']}, "
        f"shared_bytes={inputs['shared_bytes']}, threads={inputs['threads']})"
    ),
)
