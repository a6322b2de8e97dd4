"""Loads that hit L1: the models agree with plain counting, and with what an A100 counted."""

from __future__ import annotations

import pytest

from gpu_course.claims.published import printed, rows
from gpu_course.lessons.shared_memory.claims import l1_loads

SOURCE = "gpu-benches"
A_LOAD = "for a warp's load that hits L1"
TAGS = printed(SOURCE, f"passes through the tags {A_LOAD}, A100")
PATTERNS = [(4, s, 0) for s in (0, 3, 6, 24, 33)] + [(8, s, 0) for s in (0, 1, 5, 12)]
PATTERNS += [(itemsize, 0, width) for itemsize in (4, 8) for width in (1, 2, 8, 32)]


def elements_of(stride: int, width: int, pitch: int) -> list[list[int]]:
    """The elements of each load of each warp, lane by lane, in plain Python."""
    found = []
    for warp in range(32):
        for behind in range(0, 32, 4):
            load = []
            for t in range(32 * warp, 32 * warp + 32):
                first = t % 64 * stride
                if width:
                    first = t % width % 64 + (t // width % 32) * pitch + pitch
                load.append(first + behind)
            found.append(load)
    return found


def passes_through_banks(load: list[int], itemsize: int) -> int:
    at_once = 128 // itemsize
    total = 0
    for begin in range(0, 32, at_once):
        units = set(load[begin : begin + at_once])
        total += max(sum(unit % at_once == bank for unit in units) for bank in range(at_once))
    return total


@pytest.mark.parametrize(("itemsize", "stride", "width"), PATTERNS)
def test_the_simulator_counts_what_plain_counting_gives(
    itemsize: int, stride: int, width: int
) -> None:
    loads = elements_of(stride, width, l1_loads.TILE_PITCH)
    plain = sum(passes_through_banks(load, itemsize) for load in loads) / len(loads)
    assert l1_loads.data_wavefronts(itemsize, stride, width) == plain
    # The tile has another pitch than the table that was measured; its banks are the same.
    measured = elements_of(stride, width, l1_loads.PITCH)
    assert sum(passes_through_banks(load, itemsize) for load in measured) / len(measured) == plain


@pytest.mark.parametrize(("itemsize", "stride", "width"), PATTERNS)
def test_tags_are_counted_line_by_line(
    itemsize: int, stride: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bank(line: int) -> int:
        found = 0
        for digit in range(12):
            found ^= line >> 2 * digit & 3
        return found

    monkeypatch.setattr(l1_loads, "PLACES", 3)
    total, lines = 0, 0
    loads = elements_of(stride, width, l1_loads.PITCH)
    for load in loads:
        touched = {element * itemsize // 128 for element in load}
        lines += len(touched)
        for begins in (0, 2, 4):
            banks = [bank(line + begins) for line in touched]
            total += max(banks.count(each) for each in range(4))
    assert l1_loads.tag_passes(itemsize, stride, width) == total / (3 * len(loads))
    assert l1_loads.mean_lines(itemsize, stride, width) == lines / len(loads)


def test_an_a100_counted_the_same_passes_through_the_banks() -> None:
    counted = rows("04_shared_memory", f"passes through the banks {A_LOAD}, A100")
    assert len(counted) == 16 and all(row.mine == row.published for row in counted)


def test_one_float64_for_all_lanes_takes_two_passes() -> None:
    """Half a warp is served at a time, even where both halves ask for the same eight bytes."""
    counted = rows("04_shared_memory", f"passes through the banks {A_LOAD}, A100")
    (row,) = (row for row in counted if row.what == "double, stride 0")
    assert row.printed == "2" and row.mine == 2.0


def test_four_banks_of_tags_explain_more_than_four_tags_a_pass() -> None:
    """What the rule was found for: unaligned lines cost more than their number says."""
    strides = [row for row in TAGS if "stride" in row.arguments]
    assert len(strides) == 14

    def four_a_pass(row) -> float:
        return max(1.0, l1_loads.mean_lines(**row.arguments) / l1_loads.TAG_BANKS)

    own = [abs(row.mine / row.published - 1) for row in strides]
    plain = [abs(four_a_pass(row) / row.published - 1) for row in strides]
    assert max(own) < 0.06 and max(plain) > 0.3
    assert sum(own) < sum(plain) / 5


@pytest.mark.parametrize(
    ("card", "itemsize", "stride", "slowest"),
    [
        ("A100", 4, 33, "tags"),
        ("A100", 4, 32, "banks"),
        ("A40", 4, 1, "banks"),
        ("A40", 8, 2, "multiply-adds"),
    ],
)
def test_the_slowest_pipe_sets_the_time(
    card: str, itemsize: int, stride: int, slowest: str
) -> None:
    pipes = l1_loads.pipes(l1_loads.SMS[card], itemsize, stride)
    assert max(pipes, key=lambda pipe: pipes[pipe]) == slowest
    assert l1_loads.l1_cycles(l1_loads.SMS[card], itemsize, stride) == max(pipes.values())
