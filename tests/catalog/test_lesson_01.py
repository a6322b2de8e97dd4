"""The puzzles of lesson 01 against loops in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.catalog.lesson_01_threads import LESSON
from tests.catalog import rules

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def zip_add(a, b):
    return {"out": [a[i] + b[i] for i in range(len(a))]}


def guard(a, size):
    return {"out": [a[i] + 10 for i in range(size)]}


def map_2d(a, rows, cols):
    return {"out": [[1 - a[row][col] for col in range(cols)] for row in range(rows)]}


def broadcast(a, b, rows, cols):
    return {"out": [[a[row][0] + b[0][col] for col in range(cols)] for row in range(rows)]}


def blocks(a, size):
    return {"out": [a[i] ** 2 for i in range(size)]}


def blocks_2d(a, bias, rows, cols):
    return {"out": [[a[row][col] + bias[col] for col in range(cols)] for row in range(rows)]}


def grid_stride(a, b, size):
    return {"out": [a[i] - b[i] for i in range(size)]}


def gather(table, index, tape, shift, size):
    moved = list(tape)
    for _ in range(abs(shift)):
        moved = [moved[-1], *moved[:-1]] if shift > 0 else [*moved[1:], moved[0]]
    back = list(tape)
    back.reverse()
    return {"gathered": [table[number] for number in index], "reversed": back, "shifted": moved}


def clip(a, low, high, size):
    out = []
    for number in a:
        if number < low:
            out.append(low)
        elif number > high:
            out.append(high)
        else:
            out.append(number)
    return {"out": out}


BY_LOOP = {
    "zip_add": zip_add,
    "guard": guard,
    "map_2d": map_2d,
    "broadcast": broadcast,
    "blocks": blocks,
    "blocks_2d": blocks_2d,
    "grid_stride": grid_stride,
    "gather": gather,
    "clip": clip,
}


def test_every_puzzle_has_its_loop():
    assert list(BY_LOOP) == list(PUZZLES)


@pytest.mark.parametrize("name", PUZZLES)
def test_the_reference_is_a_loop(name):
    puzzle = PUZZLES[name]
    for case in rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        plain = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in inputs.items()}
        expected = BY_LOOP[name](**plain)
        got = puzzle.reference(inputs, case)
        # Of large numbers NumPy keeps what float32 holds.
        for output, found in got.items():
            assert found.tolist() == np.array(expected[output], found.dtype).tolist(), case


@pytest.mark.parametrize(
    "rule",
    [
        rules.assert_solution_passes,
        rules.assert_parameters_agree,
        rules.assert_cases_tell_much,
        rules.assert_inputs_show_mistakes,
        rules.assert_outputs_fit,
        rules.assert_words_are_in_order,
        rules.assert_the_work_is_shared,
    ],
)
@pytest.mark.parametrize("name", PUZZLES)
def test_the_specification_holds_together(name, rule):
    rule(PUZZLES[name])


@pytest.mark.parametrize(
    ("name", "mistake"),
    [(name, mistake) for name, puzzle in PUZZLES.items() for mistake in puzzle.mistakes],
    ids=lambda value: value if isinstance(value, str) else value.function,
)
def test_each_mistake_is_told_apart(name, mistake):
    rules.assert_mistake_is_told_apart(PUZZLES[name], mistake)


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
