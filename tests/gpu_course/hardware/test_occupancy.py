"""Occupancy beside NVIDIA's own calculator, and beside examples NVIDIA has published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_course.hardware.compute_capability import capabilities, capability
from gpu_course.hardware.occupancy import occupancy

RECORD = Path(__file__).parent / "records" / "occupancy.json"
ROWS = json.loads(RECORD.read_text(encoding="utf-8"))["rows"]


def test_the_record_knows_nearly_every_capability() -> None:
    # Whether a capability is in it depends on the age of the header it was made with.
    assert len({row[0] for row in ROWS}) >= len(capabilities()) - 1
    assert len({row[-1] for row in ROWS}) > 10


@pytest.mark.parametrize(("version", "registers", "shared", "threads", "blocks"), ROWS)
def test_blocks_are_those_of_nvidias_calculator(
    version: str, registers: int, shared: int, threads: int, blocks: int
) -> None:
    assert occupancy(capability(version), registers, shared, threads).blocks == blocks


# CUDA C++ Best Practices Guide, section 11.1.1, Calculating Occupancy: on compute capability 7.0,
# 37 registers per thread give 75 % with blocks of 128 threads, and 63 % (62.5) with 320.
@pytest.mark.parametrize(("threads", "percent", "blocks"), [(128, 75, 12), (320, 63, 4)])
def test_the_best_practices_guide(threads: int, percent: int, blocks: int) -> None:
    found = occupancy(capability("7.0"), 37, 0, threads)
    assert (found.blocks, round(100 * found.fraction + 0.01)) == (blocks, percent)
    assert found.limited_by == ("registers",)


# Work by hand: what each resource alone would let in.
@pytest.mark.parametrize(
    ("version", "registers", "shared", "threads", "limits"),
    [
        # 64 warps / 8; 65,536 / (64 * 32) = 32 warps / 8; 167,936 / (16,384 + 1,024) = 9
        ("8.0", 64, 16_384, 256, (8, 32, 4, 9)),
        # no shared memory and nothing reserved before Ampere: no limit
        ("7.5", 32, 0, 64, (16, 16, 32, None)),
        # 1,024 bytes reserved of each block: 102,400 / 1,024
        ("8.6", 16, 0, 32, (48, 16, 128, 100)),
        # a block of 33 threads is two warps
        ("9.0", 32, 0, 33, (32, 32, 32, 228)),
    ],
)
def test_limits_by_hand(
    version: str, registers: int, shared: int, threads: int, limits: tuple[int | None, ...]
) -> None:
    assert (
        tuple(occupancy(capability(version), registers, shared, threads).limits.values()) == limits
    )


@pytest.mark.parametrize(
    ("registers", "shared", "threads", "short_of"),
    [
        (256, 0, 32, "registers"),
        (255, 0, 1024, "registers"),
        (32, 228 * 1024, 32, "shared memory"),
        (32, 0, 1025, "warps"),
    ],
)
def test_a_block_that_does_not_fit(
    registers: int, shared: int, threads: int, short_of: str
) -> None:
    found = occupancy(capability("9.0"), registers, shared, threads)
    assert (found.blocks, found.warps, found.fraction) == (0, 0, 0.0)
    assert found.limited_by == (short_of,)
