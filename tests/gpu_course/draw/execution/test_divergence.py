"""A warp's walk: the lines it carries out, and its lanes, as each thread alone would go."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course.draw.execution.divergence import (
    MAX_ROWS,
    Walked,
    describe_divergence,
    draw_divergence,
    lanes_at_work,
    walk_of_warp,
)
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from simt.stepping import record


def two_ways(out, modulus):
    i = cuda.grid(1)
    if i % modulus == 0:
        out[i] = 1
    else:
        out[i] = 2


def some_turns(out):
    i = cuda.grid(1)
    for k in range(i % 4):
        out[i] = k  # the last one stays


def walk(threads: int, modulus: int, warp: int = 0) -> tuple[Walked, ...]:
    return walk_of_warp(record(two_ways)[1, threads](np.zeros(threads), modulus), warp)


@pytest.mark.parametrize("modulus", [1, 2, 3, 7, 32, 33])
@pytest.mark.parametrize("warp", [0, 1])
def test_each_arm_is_walked_by_the_lanes_that_want_it(modulus: int, warp: int) -> None:
    found = walk(64, modulus, warp)
    yes = tuple(lane for lane in range(32) if (32 * warp + lane) % modulus == 0)
    no = tuple(lane for lane in range(32) if lane not in yes)
    asked = found[1]
    assert (asked.active, asked.taken) == (tuple(range(32)), yes)
    assert asked.parted == bool(yes and no)
    arms = {each.code.strip(): each.active for each in found[2:]}
    assert arms == {
        code: lanes for code, lanes in (("out[i] = 1", yes), ("out[i] = 2", no)) if lanes
    }


def test_a_loop_is_asked_until_its_last_lane_has_left() -> None:
    found = walk_of_warp(record(some_turns)[1, 32](np.zeros(32)))
    turns = [each.active for each in found if each.taken is None][1:]
    assert turns == [tuple(lane for lane in range(32) if lane % 4 > k) for k in range(3)]
    assert all("#" not in each.code for each in found)


def test_the_text_keeps_its_own_indentation_and_loses_that_of_the_body() -> None:
    codes = [each.code for each in walk(32, 2)]
    assert codes == [
        "i = cuda.grid(1)", "if i % modulus == 0:", "    out[i] = 1", "    out[i] = 2",
    ]  # fmt: skip


def test_lanes_at_work_are_counted_of_a_whole_warp() -> None:
    assert lanes_at_work(walk(32, 1)) == (96, 96)
    assert lanes_at_work(walk(32, 2)) == (96, 128)
    assert lanes_at_work(walk(20, 1)) == (60, 96)


def test_the_words_say_who_parted_where() -> None:
    made = record(two_ways)[1, 64](np.zeros(64), 16)
    text = describe_divergence(made, (0, 1))
    assert "two_ways, warp 0: 4 lines, 1 split, lanes at work 96 of 128 times." in text
    assert "true in lanes 0, 16, false in lanes 1 to 15, 17 to 31" in text
    assert "warp 1" in text
    assert alt_text(draw_divergence(made, (0, 1))) == text
    whole = describe_divergence(record(two_ways)[1, 32](np.zeros(32), 1))
    assert "no split" in whole and "false" not in whole


def long_loop(out):
    for k in range(100):
        out[0] = k


def test_a_long_walk_is_cut_and_counted() -> None:
    made = record(long_loop)[1, 1](np.zeros(1))
    figure = draw_divergence(made)
    words = [text.get_text() for text in figure.axes[0].texts]
    more = len(walk_of_warp(made)) - MAX_ROWS
    assert more > 0 and any(f"and {more} more lines" in word for word in words)


def test_an_unknown_warp_is_told() -> None:
    with pytest.raises(CourseError, match="no warp 5"):
        draw_divergence(record(two_ways)[1, 64](np.zeros(64), 2), (5,))
