"""ZeRO's stages on real ranks: one process's numbers, the formula's bytes, the paper's volume."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from gpu_course.isolation import servers
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import Run, run_function
from tests.lessons.zero_and_fsdp import programs

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@pytest.fixture(scope="module", params=[3, 4])
def done(request: pytest.FixtureRequest) -> Run:
    return run_function(programs.all_stages, request.param, {"steps": 2})


def test_every_stage_ends_with_the_weights_of_one_process(done: Run) -> None:
    for told in done.results:
        assert len(told["off"]) == 4 and max(told["off"]) < 1e-12


def test_what_is_held_is_the_formula_with_its_filling(done: Run) -> None:
    ranks = len(done.results)
    for told in done.results:
        total = sum(told["lengths"])
        cut = sum(-(-length // ranks) for length in told["lengths"])
        for stage, held in enumerate(told["held"]):
            assert held == {
                "weights": 2 * (cut if stage >= 3 else total),
                "gradients": 2 * (cut if stage >= 2 else total),
                "states": 12 * (cut if stage >= 1 else total),
            }
    assert ranks == 4 or cut * ranks > total, "three ranks divide no layer"


def test_the_wire_carries_two_two_two_and_three_times_the_parameters(done: Run) -> None:
    ranks = len(done.results)
    lengths: list[int] = done.results[0]["lengths"]
    filled = sum(ranks * -(-length // ranks) for length in lengths)
    for rank in range(ranks):
        own = [call for call in done.calls if call.rank == rank]
        parts = _between_barriers(own)
        # For each stage: two steps, then all weights and a mixed step.
        for stage in range(4):
            for each in parts[4 * stage + 1 : 4 * stage + 3]:
                sent = sum((call.booked_bytes for call in each), Fraction(0))
                times = (2, 2, 2, 3)[stage]
                numbers = sum(lengths) if stage == 0 else filled
                assert sent == times * 8 * Fraction(numbers * (ranks - 1), ranks)


def _between_barriers(calls: list[Call]) -> list[list[Call]]:
    parts: list[list[Call]] = [[]]
    for call in calls:
        if call.kind == "barrier":
            parts.append([])
        else:
            parts[-1].append(call)
    return parts


def test_slices_saved_by_some_are_loaded_by_others(tmp_path: Path) -> None:
    given: dict[str, Any] = {"folder": str(tmp_path)}
    run_function(programs.save, 3, given)
    found = run_function(programs.load, 2, given | {"saved": 3, "right": True}).results
    assert [each["by hand"] and each["by dcp"] for each in found] == [True, True]
    assert all(each["read_bytes"] == each["slice_bytes"] > 0 for each in found)
    wrong = run_function(programs.load, 2, given | {"saved": 3, "right": False}).results
    assert [(each["by hand"], each["by dcp"]) for each in wrong] == [(False, True)] * 2
