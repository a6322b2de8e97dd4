"""How launches and arrays are laid out on paper, against places counted by hand."""

from __future__ import annotations

import pytest

from gpu_course.draw.execution.footprint import ArrayTouches, Footprint, Outside, footprint
from gpu_course.draw.paper.layout import (
    dimensions,
    ghost_place,
    joint_label,
    rows_columns,
    thread_cell,
    thread_extent,
    thread_label,
)
from tests.gpu_course.draw.launches import launch


def of_shape(grid: tuple[int, ...], block: tuple[int, ...]) -> Footprint:
    """Returns the footprint of a launch that touches nothing."""
    return footprint(launch("idle", grid, block))


# (grid, block, axes in use, rows and columns of all threads)
SHAPES = [
    ((1,), (1,), 1, (1, 1)),
    ((3,), (4,), 1, (1, 12)),
    ((2, 2), (4, 2), 2, (4, 8)),
    ((2, 1, 3), (2, 2, 2), 3, (12, 4)),
]


@pytest.mark.parametrize(("grid", "block", "axes", "extent"), SHAPES)
def test_every_thread_has_a_cell_of_its_own(
    grid: tuple[int, ...], block: tuple[int, ...], axes: int, extent: tuple[int, int]
) -> None:
    data = of_shape(grid, block)
    assert (dimensions(data), thread_extent(data)) == (axes, extent)
    rows, columns = extent
    cells = sorted(thread_cell(data, thread) for thread in range(data.threads))
    assert cells == [(row, column) for row in range(rows) for column in range(columns)]
    assert {thread_label(data, t).count(",") for t in range(data.threads)} == {axes - 1}


def test_a_thread_is_called_by_its_place_in_the_grid() -> None:
    data = of_shape((2, 2), (4, 2))
    # Threads 0 to 7 are block (0,0), 8 to 15 block (1,0), 16 to 23 block (0,1).
    assert [thread_label(data, t) for t in (0, 5, 8, 16, 31)] == ["0,0", "1,1", "4,0", "0,2", "7,3"]
    assert thread_cell(data, 31) == (3, 7)


def test_threads_of_one_cell_share_what_they_have_in_common() -> None:
    data = of_shape((2, 2), (4, 2))
    assert joint_label(data, [5]) == "1,1"
    assert joint_label(data, [0, 4]) == "0,*"
    assert joint_label(data, [4, 5, 6]) == "*,1"
    assert joint_label(data, [0, 5]) == "*,*"


@pytest.mark.parametrize(
    ("shape", "laid_out"), [((), (1, 1)), ((5,), (1, 5)), ((3, 4), (3, 4)), ((2, 3, 4), (6, 4))]
)
def test_rows_and_columns(shape: tuple[int, ...], laid_out: tuple[int, int]) -> None:
    assert rows_columns(shape) == laid_out


@pytest.mark.parametrize(
    ("shape", "index", "place"),
    [
        ((8,), (8,), (0, 8)),
        ((8,), (9,), (0, 9)),
        ((8,), (10,), None),
        ((8,), (-1,), None),
        ((3, 4), (3, 1), (3, 1)),
        ((3, 4), (1, 5), (1, 5)),
        ((3, 4), (5, 0), None),
        ((3, 4), (3,), None),
        ((2, 3, 4), (2, 0, 0), None),
        ((8,), None, None),
    ],
)
def test_a_missed_access_stands_beside_its_array(
    shape: tuple[int, ...], index: tuple[int, ...] | None, place: tuple[int, int] | None
) -> None:
    assert ghost_place(ArrayTouches("a", shape), Outside(0, "read", index)) == place
