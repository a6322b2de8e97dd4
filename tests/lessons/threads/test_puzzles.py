"""What is particular to the puzzles of lessons 00 and 01: their launches, the inputs that tell."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course.lessons.start_here.add_ten import ADD_TEN
from gpu_course.puzzle import index
from simt.simulator import simulate
from tests.course.puzzles import rules

LESSON = index.lesson("threads")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def test_there_are_exactly_as_many_threads_as_cells():
    for case in rules.cases_and_random(ADD_TEN):
        (launch,) = ADD_TEN.launches(case)
        assert (launch.grid, launch.block) == (1, case.sizes["size"])
        assert launch.block <= 1024


@pytest.mark.parametrize("name", ["guard", "map_2d", "broadcast"])
def test_one_block_has_threads_enough_and_at_most_1024(name):
    for case in rules.cases_and_random(PUZZLES[name], draws=30):
        (launch,) = PUZZLES[name].launches(case)
        assert launch.grid == 1
        if name == "guard":
            assert case.sizes["size"] <= launch.block <= 1024
        else:
            width, height = launch.block
            assert width >= case.sizes["cols"] and height >= case.sizes["rows"]
            assert width * height <= 1024


def test_the_grid_covers_the_array_and_no_block_is_idle():
    for case in rules.cases_and_random(PUZZLES["blocks_2d"], draws=20):
        (launch,) = PUZZLES["blocks_2d"].launches(case)
        sides = (case.sizes["cols"], case.sizes["rows"])
        for side, grid, block in zip(sides, launch.grid, launch.block, strict=True):
            assert grid * block >= side > (grid - 1) * block
    for name in ("blocks", "gather", "clip"):
        for case in rules.cases_and_random(PUZZLES[name], draws=20):
            for launch in PUZZLES[name].launches(case):
                threads = launch.grid * launch.block
                assert threads >= case.sizes["size"] > threads - launch.block


def test_a_fixed_grid_meets_more_and_fewer_cells_than_it_has_threads():
    cases = PUZZLES["grid_stride"].cases
    ratios = [c.sizes["size"] / (c.sizes["grid"] * c.sizes["block"]) for c in cases]
    assert min(ratios) < 1 < max(ratios)
    assert any(ratio > 1 and ratio == int(ratio) for ratio in ratios)
    assert any(case.sizes["grid"] == 1 for case in cases)


def test_the_index_asks_twice_for_one_cell_and_is_in_no_order():
    for case in rules.cases_and_random(PUZZLES["gather"], draws=20):
        inputs = PUZZLES["gather"].inputs(np.random.default_rng(5), case)
        index, length = inputs["index"], case.sizes["length"]
        assert index.dtype == np.int32 and len(index) == case.sizes["size"]
        assert index.min() >= 0 and index.max() < length
        if len(index) > 2:
            assert len(set(index.tolist())) < len(index)
            assert len(set(index.tolist())) > 1
            assert not np.array_equal(index, np.sort(index))


def test_shifts_go_both_ways_and_past_the_end():
    sizes = [case.sizes for case in PUZZLES["gather"].cases]
    assert any(s["shift"] < 0 for s in sizes)
    assert any(s["shift"] > s["size"] for s in sizes)
    assert any(s["length"] < s["size"] for s in sizes)
    assert any(s["length"] > s["size"] for s in sizes)


def test_clip_meets_numbers_below_between_above_and_at_its_limits():
    for case in rules.cases_and_random(PUZZLES["clip"]):
        inputs = PUZZLES["clip"].inputs(np.random.default_rng(6), case)
        a, low, high = inputs["a"], inputs["low"], inputs["high"]
        # A Python float would make every comparison a float64 one.
        assert isinstance(low, np.float32) and isinstance(high, np.float32) and low < high
        assert (a < low).any()
        if len(a) >= 4:
            assert (a > high).any() and ((a > low) & (a < high)).any()
            assert low in a and high in a


def by_two_ifs(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        if x < low:
            x = low
        if x > high:
            x = high
        out[i] = x


def by_three_values(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        if a[i] < low:
            x = low
        elif a[i] > high:
            x = high
        else:
            x = a[i]
        out[i] = x


def by_stores(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        if a[i] < low:
            out[i] = low
        elif a[i] > high:
            out[i] = high
        else:
            out[i] = a[i]


def by_stores_of_a_number_read_once(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        if x < low:
            out[i] = low
        elif x > high:
            out[i] = high
        else:
            out[i] = x


def by_an_elif(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        if x < low:
            x = low
        elif x > high:
            x = high
        out[i] = x


def by_a_load_in_an_arm(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        x = low
        if a[i] > low:
            x = a[i]
        if x > high:
            x = high
        out[i] = x


def by_another_load_in_an_arm(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        x = min(a[i], high)
        if x < low:
            x = max(a[i], low)
        out[i] = x


WAYS_TO_CLIP = [
    (by_two_ifs, True),
    (by_stores, False),
    (by_stores_of_a_number_read_once, False),
    (by_three_values, False),
    (by_an_elif, False),
    (by_a_load_in_an_arm, True),
    (by_another_load_in_an_arm, False),
]
"""What the debrief of clip says of each: a select, or a branch that is kept."""


@pytest.mark.parametrize(("kernel", "reached"), WAYS_TO_CLIP)
def test_the_bonus_of_clip_is_for_what_compiles_to_selects(kernel, reached):
    clip = PUZZLES["clip"]
    for case in clip.cases:
        given = clip.inputs(np.random.default_rng(3), case)
        (launch,) = clip.launches(case)
        out = np.zeros(case.sizes["size"], np.float32)
        report = simulate(kernel)[launch.grid, launch.block](out, *given.values())
        assert report.ok and (out == clip.reference(given, case)["out"]).all()
        limit = clip.bonus.limit(case)
        assert (report.counters.branches <= limit) is reached
