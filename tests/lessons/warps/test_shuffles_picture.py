"""Shuffles as a picture: what lanes hold and from whom they read, beside the same in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.warps.shuffles_picture import (
    behind,
    describe_shuffles,
    distance,
    draw_shuffles,
    shuffles_of_warp,
)
from simt.stepping import record
from tests.gpu_course.draw.readable import texts

ALL = 0xFFFFFFFF
LANES = np.arange(32)


def tree(out, a):
    i = cuda.grid(1)
    total = a[i]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    out[i] = total


def butterfly(out, a):
    i = cuda.grid(1)
    largest = a[i]
    for bit in (8, 4, 2, 1):
        other = cuda.shfl_xor_sync(ALL, largest, bit)
        largest = max(largest, other)
    out[i] = largest


def silent(out, a):
    i = cuda.grid(1)
    total = a[i]
    out[i] = total


def numbers(size: int) -> np.ndarray:
    return np.random.default_rng(3).permutation(99)[:size].astype(np.float32)


@pytest.mark.parametrize("warp", [0, 1])
def test_the_tree_is_that_of_numpy(warp: int) -> None:
    a = numbers(64)
    steps = shuffles_of_warp(record(tree, "total")[1, 64](np.zeros(64), a), "total", warp)
    held = a[32 * warp : 32 * warp + 32].copy()
    for step, delta in zip(steps, (16, 8, 4, 2, 1), strict=True):
        source = np.where(LANES + delta < 32, LANES + delta, LANES)
        assert list(step.sources.values()) == source.tolist()
        assert list(step.before.values()) == held.tolist()
        held = held + held[source]
        assert list(step.after.values()) == held.tolist()
    assert behind(steps, 0)[0] == set(range(32))
    # Lane 31 reads from itself each time.
    assert behind(steps, 31)[0] == {31}


def test_a_value_that_is_changed_in_a_later_line_is_found() -> None:
    a = numbers(16)
    steps = shuffles_of_warp(record(butterfly, "largest")[1, 16](np.zeros(16), a), "largest")
    held = a
    for step, bit in zip(steps, (8, 4, 2, 1), strict=True):
        held = np.maximum(held, held[np.arange(16) ^ bit])
        assert list(step.after.values()) == held.tolist()
    assert set(steps[-1].after.values()) == {a.max()}
    assert all(behind(steps, lane)[0] == set(range(16)) for lane in range(16))


def test_the_words_and_the_alt_text_agree() -> None:
    made = record(butterfly, "largest")[1, 16](np.zeros(16), numbers(16))
    text = describe_shuffles(made, "largest", follow=5)
    first = ", ".join(f"{number:g}" for number in numbers(16))
    assert f"At first the lanes hold {first}. Step 1, " in text
    assert "4 shuffles" in text and "bit 8 flipped" in text
    assert "all lanes hold" in text and "Lane 5 ends with the numbers of lanes 0 to 15." in text
    assert alt_text(draw_shuffles(made, "largest", follow=5)) == text


def test_values_without_room_leave_lanes_out_and_say_so() -> None:
    for a, left_out in ((numbers(32) + 100, True), (np.ones(32, np.float32), False)):
        made = record(tree, "total")[1, 32](np.zeros(32), a)
        said = [text.get_text() for text in texts(draw_shuffles(made, "total"))]
        assert any("lanes 0 to 15 of 32" in text for text in said) == left_out


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({0: 1, 1: 2, 2: 2}, "from lane+1"),
        ({0: 0, 1: 0, 2: 1}, "from lane-1"),
        ({0: 4, 1: 5, 4: 0, 5: 1}, "bit 4 flipped"),
        ({0: 3, 1: 3, 3: 3}, "from lane 3"),
        ({0: 0, 1: 1}, "from its own"),
        ({0: 2, 1: 0, 2: 1}, "from others"),
    ],
)
def test_a_distance_has_two_words(sources: dict[int, int], said: str) -> None:
    assert distance(sources) == said


def test_what_cannot_be_drawn_is_told() -> None:
    with pytest.raises(CourseError, match="did not shuffle"):
        draw_shuffles(record(silent, "total")[1, 32](np.zeros(32), np.ones(32)), "total")
    with pytest.raises(CourseError, match="delta was not recorded"):
        draw_shuffles(record(tree, "total")[1, 32](np.zeros(32), np.ones(32)), "delta")
