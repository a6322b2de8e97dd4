"""Resident blocks and issued instructions as pictures: what stands in them is what was computed."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.hardware.compute_capability import capability
from gpu_course.hardware.occupancy import occupancy
from gpu_course.lessons.warps.issue_picture import describe_issue, draw_issue
from gpu_course.lessons.warps.latency import issue
from gpu_course.lessons.warps.residency_picture import describe_residency, draw_residency
from tests.gpu_course.draw.readable import texts


def said(figure: object) -> list[str]:
    return [text.get_text() for text in texts(figure)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("version", "registers", "shared", "threads"),
    [("8.0", 64, 16_384, 256), ("8.6", 24, 0, 32), ("9.0", 32, 40_000, 96), ("7.5", 40, 0, 1024)],
)
def test_every_warp_stands_there_with_its_block(
    version: str, registers: int, shared: int, threads: int
) -> None:
    sm = capability(version)
    found = occupancy(sm, registers, shared, threads)
    warps = -(-threads // 32)
    words = said(draw_residency(found.blocks, warps, sm.max_warps_per_sm, found.limits))
    # The bars' numbers come after the places.
    places = words[words.index("for warps") + 1 :][: found.warps]
    assert places == [str(block) for block in range(found.blocks) for _ in range(warps)]
    deciding = [word for word in words if word.endswith("decides")]
    assert len(deciding) == len(found.limited_by)
    assert all(word.startswith(f"{found.blocks} ") for word in deciding)


def test_a_block_that_does_not_fit_is_said() -> None:
    sm = capability("8.0")
    found = occupancy(sm, 255, 0, 1024)
    figure = draw_residency(found.blocks, 32, sm.max_warps_per_sm, found.limits)
    assert "no block fits" in alt_text(figure) and "decides: registers" in alt_text(figure)


def test_no_registers_set_no_limit() -> None:
    text = describe_residency(4, 2, 8, {"warps": 4, "registers": None})
    assert "registers any number" in text and "What decides: warps." in text
    assert "no limit" in said(draw_residency(4, 2, 8, {"warps": 4, "registers": None}))


def test_lost_clocks_are_counted() -> None:
    done = issue(warps=3, chains=1, latency=8, clocks=32)
    figure = draw_issue(done.slots, 3, 8)
    assert alt_text(figure) == describe_issue(done.slots, 3, 8)
    assert "an instruction in 12 of 32 clocks" in alt_text(figure)
    lost = [patch for patch in figure.axes[0].patches if patch.get_hatch()]
    drawn = [a for a in figure.axes[0].get_children() if getattr(a, "get_hatch", lambda: "")()]
    # One more stands in the legend.
    assert len(drawn or lost) == 32 - done.busy + 1
    assert np.count_nonzero([slot is None for slot in done.slots]) == 32 - done.busy
