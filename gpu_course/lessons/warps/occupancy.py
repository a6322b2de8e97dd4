"""Puzzle `occupancy`: how many blocks of a kernel an SM holds at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpu_course.hardware import occupancy as hardware
from gpu_course.hardware.compute_capability import ComputeCapability, capabilities, capability
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

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
    limits = _limits(case)
    return {
        "limits": {
            "warp_size": limits.warp_size,
            "warps": limits.max_warps_per_sm,
            "blocks": limits.max_blocks_per_sm,
            "quarters": limits.schedulers_per_sm,
            "registers": limits.registers_per_sm,
            "register_unit": limits.register_allocation_unit,
            "shared_bytes": limits.shared_bytes_per_sm,
            "shared_unit": limits.shared_allocation_bytes,
            "shared_reserved": limits.reserved_shared_bytes_per_block,
        },
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


_OTHERWISE: tuple[tuple[str, Callable[[Values], int]], ...] = (
    ("no-block-limit", lambda inputs: _count(inputs, no_block_limit=True)),
    # Several ways can give one number. Each comes before the one that it is a case of.
    ("unit-for-a-thread", lambda inputs: _count(inputs, unit_for_a_thread=True)),
    ("one-pool", lambda inputs: _count(inputs, one_pool=True)),
    ("not-rounded", lambda inputs: _count(inputs, not_rounded=True)),
    ("part-warps", lambda inputs: _count(inputs, part_warps=True)),
    ("nothing-reserved", lambda inputs: _count(inputs, nothing_reserved=True)),
    ("reserved-everywhere", lambda inputs: _count(inputs, reserved_everywhere=True)),
    ("unit-of-today", lambda inputs: _count(inputs, unit_of_today=True)),
    ("warps", lambda inputs: _count(inputs) * -(-inputs["threads"] // 32)),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    for key, count in _OTHERWISE:
        if got["result"] == count(inputs) != expected["result"]:
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "Places for warps and for blocks, registers and shared memory run out independently, and "
        "the one that runs out first decides. Each is handed out in whole units, so what counts is "
        "the rounded number, not the one you wrote."
    ),
    alternative=(
        "A count that adds one block at a time until something is full gives the same number. "
        "It is slower and harder to get wrong."
    ),
)

OCCUPANCY = PythonPuzzle(
    name="02_warps/occupancy",
    title="blocks that fit on an SM",
    difficulty="medium",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "Write a function that says how many blocks of a kernel one SM holds at the same time, "
        "from the registers of a thread, the shared memory and the threads of a block, and the "
        "limits of a GPU, for compute capabilities 7.0 to 12.0."
    ),
    parameters={"occupancy": ("limits", "registers", "shared_bytes", "threads")},
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
    diagnose=_diagnose,
    diagnoses={
        "no-block-limit": (
            "Warps, registers and shared memory would allow more blocks, but an SM also limits "
            "how many blocks it holds. Which of the limits did you not use?"
        ),
        "part-warps": (
            "You counted threads where the hardware counts warps. What does an SM set aside for a "
            "block whose last warp is not full?"
        ),
        "not-rounded": (
            "You gave each warp exactly the registers it uses. It gets them in whole units: what "
            "is the unit, and what becomes of the rest?"
        ),
        "unit-for-a-thread": (
            "Your number is what comes out where each thread gets its registers in whole units. A "
            "unit is far more than a thread can have: to whom is it given?"
        ),
        "one-pool": (
            "You counted the registers of the SM as one pool. An SM has quarters, each with its "
            "own share, and a warp stays in the quarter it was put in: it cannot use what is left "
            "over in another."
        ),
        "nothing-reserved": (
            "You counted the block's own shared memory alone. From Ampere on, CUDA reserves some "
            "more of it for each block; the limits say how much."
        ),
        "reserved-everywhere": (
            "You took 1,024 reserved bytes for each block, as CUDA keeps them from Ampere on. "
            "Earlier GPUs keep none: the limits say how many."
        ),
        "unit-of-today": (
            "You rounded shared memory to 128 bytes, as GPUs do from Ampere on. Earlier ones give "
            "it out in other units: the limits say which."
        ),
        "warps": "That is how many warps are resident. The question is how many blocks.",
        "wrong-type": (
            "A number of blocks is whole: a block that does not fit entirely does not count. Look "
            "for a / in your divisions."
        ),
    },
    hints=(
        (
            "Four things can run out: places for warps, places for blocks, registers, shared "
            "memory. Ask each on its own how many blocks it would let in. What follows for all "
            "four together?"
        ),
        (
            "Begin with how many warps a block has, the last one counted whole. Registers are "
            "given to warps in units of register_unit, shared memory to blocks in units of "
            "shared_unit, and both are rounded up before anything is divided."
        ),
        (
            "For registers: a quarter of the SM has a quarter of the registers. How many warps fit "
            "in one quarter, then in four, and how many blocks is that? For shared memory: add "
            "what is reserved, then round, then divide; if a block takes none, it sets no limit."
        ),
    ),
    mistakes=(
        Mistake("forgets_the_limit_on_blocks", "wrong-result", "no-block-limit"),
        Mistake("counts_threads_not_warps", "wrong-result", "part-warps"),
        Mistake("registers_as_they_are_used", "wrong-result", "not-rounded"),
        Mistake("a_unit_for_each_thread", "wrong-result", "unit-for-a-thread"),
        Mistake("registers_in_one_heap", "wrong-result", "one-pool"),
        Mistake("shared_memory_as_asked_for", "wrong-result", "nothing-reserved"),
        Mistake("returns_warps", "wrong-result", "warps"),
        Mistake("divides_with_a_slash", "wrong-result", "wrong-type"),
        Mistake("reserves_on_every_gpu", "wrong-result", "reserved-everywhere"),
        Mistake("the_unit_of_today", "wrong-result", "unit-of-today"),
    ),
    source="NVIDIA, CUDA Toolkit, cuda_occupancy.h; CUDA Programming Guide 13.1, Tables 30 and 31",
)
