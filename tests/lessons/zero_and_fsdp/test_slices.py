"""ZeRO's stages on real ranks: one process's numbers, the formula's bytes, the paper's volume."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from gpu_course.isolation import servers
from gpu_course.ranks import runner
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import Run

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)

ALL_STAGES = """
import torch
import torch.distributed as dist


def main(steps):
    from gpu_course.lessons.zero_and_fsdp.runs import one_process
    from gpu_course.lessons.zero_and_fsdp.slices import Zero
    from gpu_course.measure.model import Shape
    from gpu_course.lessons.zero_and_fsdp.units import tiny

    ranks, rank = dist.get_world_size(), dist.get_rank()
    shape = Shape(hidden=4, heads=2, layers=2, sequence=5, vocabulary=11, dropout=0.0)
    found = {"lengths": [unit.length for unit in tiny(0, shape)[0]], "off": [], "held": [],
             "marks": [], "losses": []}
    one = one_process(ranks, steps, shape)
    for stage in range(4):
        units, weights, tokens = tiny(rank, shape)
        zero = Zero(units, weights, stage)
        for _ in range(steps):
            dist.barrier()
            zero.step(tokens)
        dist.barrier()
        after = zero.all_weights()
        found["off"].append(float((after - one).abs().max()))
        mixed = Zero(units, weights, stage, narrow=torch.bfloat16, wide=torch.float32)
        mixed.step(tokens)
        found["held"].append(mixed.held)
        dist.barrier()
    return found
"""


@pytest.fixture(scope="module", params=[3, 4])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    file = tmp_path_factory.mktemp("zero") / "stages.py"
    file.write_text(ALL_STAGES)
    return runner.run(file, request.param, "main", {"steps": 2})


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


SAVING = """
import torch.distributed as dist


def parts():
    from gpu_course.measure.model import Shape
    from gpu_course.lessons.zero_and_fsdp.units import tiny
    shape = Shape(hidden=4, heads=2, layers=1, sequence=5, vocabulary=11, dropout=0.0)
    return tiny(dist.get_rank(), shape)


def save(folder):
    from gpu_course.lessons.zero_and_fsdp.saving import save
    save(folder, *parts())


def load(folder, saved, right):
    from gpu_course.lessons.zero_and_fsdp.reshard import reads
    from gpu_course.lessons.zero_and_fsdp.saving import load
    shifted = lambda *sizes: [(f, a + 1, b) for f, a, b in reads(*sizes)]
    return load(folder, parts()[0], saved, reads if right else shifted)
"""


def test_slices_saved_by_some_are_loaded_by_others(tmp_path: Path) -> None:
    program = tmp_path / "saving.py"
    program.write_text(SAVING)
    given: dict[str, Any] = {"folder": str(tmp_path)}
    runner.run(program, 3, "save", given)
    found = runner.run(program, 2, "load", given | {"saved": 3, "right": True}).results
    assert [each["by hand"] and each["by dcp"] for each in found] == [True, True]
    assert all(each["read_bytes"] == each["slice_bytes"] > 0 for each in found)
    wrong = runner.run(program, 2, "load", given | {"saved": 3, "right": False}).results
    assert [(each["by hand"], each["by dcp"]) for each in wrong] == [(False, True)] * 2
