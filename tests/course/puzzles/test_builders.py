"""The makers shared by kernel puzzles."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.puzzle.builders import (
    arrays,
    began_too_high,
    blocks_to_cover,
    drawn_case,
    eighths,
    enough_blocks,
    gives,
    one_block,
    sized,
    special,
)


@pytest.mark.parametrize("size", range(1, 40))
@pytest.mark.parametrize("block", [1, 3, 4, 32])
def test_blocks_cover_and_none_is_idle(size, block):
    blocks = blocks_to_cover(size, block)
    assert blocks * block >= size > (blocks - 1) * block


@pytest.mark.parametrize("shape", [1, 2, 3, 40, (3, 5), (1, 7)])
def test_numbers_are_exact_different_and_in_no_order(shape):
    for seed in range(200):
        values = eighths(np.random.default_rng(seed), shape)
        flat = values.ravel()
        assert values.dtype == np.float32 and values.shape == np.zeros(shape).shape
        assert np.all(flat != 0) and len(np.unique(flat)) == flat.size
        assert np.array_equal(flat * 8, np.round(flat * 8))
        if flat.size > 2:
            assert (np.diff(flat) > 0).any() and (np.diff(flat) < 0).any()


def test_squares_of_a_thousand_numbers_are_exact():
    values = eighths(np.random.default_rng(0), 1000)
    assert np.array_equal((values * values).astype(np.float64), values.astype(np.float64) ** 2)


def test_launches_take_their_sides_from_the_case():
    case = sized("x", size=10, block=4, width=6, height=5)
    assert enough_blocks("k", "out")(case)[0].grid == 3
    (launch,) = one_block("k", "out", threads=("width", "height"))(case)
    assert (launch.grid, launch.block, launch.args) == (1, (6, 5), ("out",))


@pytest.mark.parametrize(("rows", "cols"), [(8, 16), (9, 16), (1, 17), (30, 5)])
def test_a_grid_of_two_axes_covers_the_table_and_no_block_is_idle(rows, cols):
    (launch,) = enough_blocks("k", "out", block=(16, "height"))(
        sized("x", rows=rows, cols=cols, height=8)
    )
    assert launch.block == (16, 8)
    for side, grid, block in zip((cols, rows), launch.grid, launch.block, strict=True):
        assert grid * block >= side > (grid - 1) * block


def test_inputs_have_the_shapes_and_sizes_that_are_named():
    case = sized("x", rows=2, cols=3, doublings=4)
    made = arrays("cols", a="rows cols", b="rows 1")(np.random.default_rng(0), case)
    assert list(made) == ["a", "b", "cols"]
    assert made["a"].shape == (2, 3) and made["b"].shape == (2, 1) and made["cols"] == 3
    assert np.all(made["a"] % 2 == 0)  # doubled four times


def test_sizes_are_drawn_from_their_ranges_and_lists():
    rng = np.random.default_rng(0)
    cases = [drawn_case(size=(3, 6), block=[16, 24])(rng) for _ in range(60)]
    assert {case.sizes["size"] for case in cases} == {3, 4, 5}
    assert {case.sizes["block"] for case in cases} == {16, 24}
    assert drawn_case(size=(1, 2))(rng).name == "a size drawn at random"


def test_an_idea_is_given_what_its_parameters_name():
    inputs, case = {"a": np.arange(3), "size": 3}, sized("x", size=3, block=4)
    assert gives(lambda a, block: a + block)(inputs, case)["out"].tolist() == [4, 5, 6]
    both = gives(lambda inputs, case: {"b": inputs["a"], "c": case.sizes["size"]})(inputs, case)
    assert both["b"] is inputs["a"] and both["c"] == 3


class TestBeganTooHigh:
    def found(self, *out):
        given, expected = ({"out": np.array(each, np.float32)} for each in (out, (-9, -5, 3)))
        return began_too_high({}, sized("x", size=3), expected, given)

    def test_one_number_in_all_wrong_cells_that_is_larger_is_where_it_began(self):
        assert self.found(-4, -4, 3) == self.found(-9, 0, 3) == "began-too-high"

    def test_several_numbers_and_a_smaller_one_are_not(self):
        assert self.found(-4, -3, 3) is self.found(-6, -6, 3) is self.found(-9, -5, 3) is None


class TestSpecialNumbers:
    case = special("NaN and infinities", rows=4, cols=5)

    def test_the_first_and_the_last_cell_hold_what_is_no_number(self):
        for seed in range(20):
            flat = eighths(np.random.default_rng(seed), 20, self.case)
            assert np.isnan(flat[0]) and np.isposinf(flat[-1])
            assert np.isneginf(flat).sum() == 1 and (flat == 0).sum() == 1
            assert len(np.unique(flat)) == 20

    def test_fewer_cells_take_the_first_of_them(self):
        assert np.isnan(eighths(np.random.default_rng(0), 1, self.case)).tolist() == [True]
        assert np.isnan(eighths(np.random.default_rng(0), 2, self.case)).tolist() == [True, False]

    def test_an_ordinary_array_beside_a_special_one_has_none(self):
        made = arrays("cols", ordinary=("b",), a="rows cols", b="cols")
        values = made(np.random.default_rng(0), self.case)
        assert not np.isfinite(values["a"]).all() and np.isfinite(values["b"]).all()

    def test_an_idea_that_takes_infinity_from_infinity_does_not_warn(self):
        case = special("x", size=3)
        inputs = {"a": eighths(np.random.default_rng(0), 3, case)}
        assert np.isnan(gives(lambda a: a - a)(inputs, case)["out"]).all()
