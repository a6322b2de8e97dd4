"""The Python puzzle of lesson 02 beside NVIDIA's own calculator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpu_course.catalog.builders import sized
from gpu_course.catalog.warps.occupancy import NEWEST, OCCUPANCY, OLDEST, _count
from tests.catalog.python_rules import solution_of

RECORD = Path(__file__).parents[1] / "hardware" / "records" / "occupancy.json"
ROWS = [
    row
    for row in json.loads(RECORD.read_text(encoding="utf-8"))["rows"]
    if OLDEST <= tuple(map(int, row[0].split("."))) <= NEWEST
]


@pytest.mark.parametrize(("version", "registers", "shared", "threads", "blocks"), ROWS)
def test_the_solution_is_nvidias_calculator(
    version: str, registers: int, shared: int, threads: int, blocks: int
) -> None:
    major, minor = map(int, version.split("."))
    sizes = {"major": major, "minor": minor, "registers": registers}
    case = sized("x", **sizes, shared_bytes=shared, threads=threads)
    limits = OCCUPANCY.inputs(np.random.default_rng(0), case)["limits"]
    if registers <= 255 and shared <= limits["shared_bytes"] - limits["shared_reserved"]:
        assert solution_of(OCCUPANCY)["occupancy"](limits, registers, shared, threads) == blocks


def test_the_ways_to_go_wrong_start_from_the_right_one() -> None:
    rng = np.random.default_rng(5)
    for case in [*OCCUPANCY.cases, *(OCCUPANCY.random_case(rng) for _ in range(40))]:
        inputs = OCCUPANCY.inputs(rng, case)
        assert _count(inputs) == OCCUPANCY.reference(inputs, case)["result"]


def test_the_cases_are_limited_by_each_resource_and_reach_zero() -> None:
    from gpu_course.hardware.compute_capability import capability
    from gpu_course.hardware.occupancy import occupancy

    limited, blocks = set(), set()
    for case in OCCUPANCY.cases:
        s = case.sizes
        found = occupancy(
            capability(f"{s['major']}.{s['minor']}"),
            s["registers"], s["shared_bytes"], s["threads"],
        )  # fmt: skip
        blocks.add(found.blocks)
        if len(found.limited_by) == 1:
            limited |= set(found.limited_by)
    assert limited == {"warps", "blocks", "registers", "shared memory"}
    assert 0 in blocks and len(blocks) > 4
