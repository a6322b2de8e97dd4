"""What attention moves: the formula beside a loop over tiles, and the solutions' own launches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.softmax_to_flash.key_loads import (
    FLOAT32,
    planned_loads,
    standard_bytes,
    tile_rows,
    tiled_bytes,
)
from gpu_course.lessons.softmax_to_flash.online import online_steps, rescalings
from gpu_course.lessons.softmax_to_flash.own_loads import SIDE, own_loads
from gpu_course.lessons.softmax_to_flash.pictures import draw_online, draw_traffic
from tests.course.puzzles.by_hand import SOLUTIONS

D = 32


def _counted(n: int, d: int, rows: int) -> int:
    """The bytes of every tile, added up."""
    numbers = 0
    for first in range(0, n, rows):
        own = min(rows, n - first)
        numbers += own * d + n * d + n * d + own * d + own
    return FLOAT32 * numbers


@given(st.integers(1, 300), st.integers(1, 80), st.integers(1, 300))
def test_tiles_move_what_a_loop_over_them_counts(n: int, d: int, rows: int) -> None:
    assert tiled_bytes(n, d, rows) == _counted(n, d, rows)


@given(st.integers(1, 500), st.integers(1, 64), st.integers(0, 60_000))
def test_one_row_more_would_not_fit(n: int, d: int, on_chip: int) -> None:
    def held(rows: int) -> int:
        return FLOAT32 * (rows * (2 * d + 2) + 2 * d)

    rows = tile_rows(n, d, on_chip)
    assert rows == 0 or held(rows) <= on_chip
    assert rows == n or held(rows + 1) > on_chip


def test_with_a_chip_of_more_than_d_squared_tiles_move_less_and_it_grows_as_the_paper_says() -> (
    None
):
    n, d = 1 << 20, 64
    small, large = (tiled_bytes(n, d, tile_rows(n, d, chip)) for chip in (1 << 17, 1 << 18))
    assert small / large == pytest.approx(2, rel=0.02)
    assert tiled_bytes(n, d, tile_rows(n, d, 4 * 16 * d * d)) < standard_bytes(n, d)
    assert tiled_bytes(n, d, tile_rows(n, d, 4 * d * d // 2)) > standard_bytes(n, d)


@pytest.mark.parametrize(
    ("name", "times", "bands"),
    [
        ("attention_naive", SIDE, SIDE // 4), ("flash_attention", 3, 3),
        ("flash_attention_causal", 2, 3),
    ],
)  # fmt: skip
def test_a_solution_loads_what_its_puzzle_allows(name: str, times: float, bands: int) -> None:
    loads = own_loads(name, SOLUTIONS / "13_softmax_to_flash" / f"{name}.py")
    assert loads.times == times and len(loads.bands) == bands
    assert [band.first for band in loads.bands] == sorted({band.first for band in loads.bands})
    assert sum(band.queries for band in loads.bands) == SIDE
    if name == "flash_attention":
        assert loads.loaded_bytes == tiled_bytes(SIDE, D, 32) - FLOAT32 * SIDE * (D + 1)
    assert f"{times} times" in alt_text(draw_traffic(loads))


def test_only_attention_has_keys_to_draw() -> None:
    with pytest.raises(CourseError, match="none of the kernels"):
        own_loads("softmax")


def test_a_part_of_a_launch_keeps_its_scale() -> None:
    whole = planned_loads(96, D, 32)
    part = whole.until(5)
    assert part.last == whole.last == 11 and part.times == pytest.approx(whole.times / 2)
    assert "so far" in alt_text(draw_traffic(part))


@pytest.mark.parametrize("many", [0, 3])
def test_one_square_or_two_are_drawn(many: int) -> None:
    with pytest.raises(CourseError):
        draw_traffic(*[planned_loads(8, 4, 2)] * many)


def test_more_than_a_square_has_room_for_is_said() -> None:
    with pytest.raises(CourseError, match="16,384 queries or keys"):
        draw_traffic(planned_loads(16_384, D, 4096, tile=1024))


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=30))
def test_an_online_softmax_ends_with_the_sum_of_exponentials(scores: list[float]) -> None:
    last = online_steps(scores)[-1]
    most = max(scores)
    assert last.largest == most
    assert last.total == pytest.approx(math.fsum(math.exp(x - most) for x in scores))
    assert rescalings(scores) == len(set(np.maximum.accumulate(scores))) - 1


def test_what_a_film_has_no_room_for_is_said() -> None:
    with pytest.raises(CourseError, match="25 scores"):
        draw_online(online_steps(range(25)), 0)
    with pytest.raises(CourseError, match="no step 3"):
        draw_online(online_steps([1.0, 2.0, 3.0]), 3)
