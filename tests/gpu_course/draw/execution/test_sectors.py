"""The sectors of a request: drawn and told as the simulator counts them."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

from gpu_course import simulate
from gpu_course.draw.execution.sectors import Request, draw_sectors, request_of_warp
from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.errors import CourseError
from simt.observe.transactions import count_request
from tests.gpu_course.draw.readable import assert_readable


def strided(stride: int, offset: int = 0, itemsize: int = 4) -> Request:
    return Request(
        tuple((offset + lane * stride) * itemsize for lane in range(32)), itemsize, "strided"
    )


REQUESTS = {
    "neighbours": (strided(1), "touch 4 sectors, 128 bytes for 128 asked for"),
    "one cell late": (strided(1, 1), "touch 5 sectors, 160 bytes for 128"),
    "stride 2": (strided(2), "touch 8 sectors, 256 bytes for 128"),
    "one each": (strided(9), "touch 32 sectors, 1,024 bytes for 128"),
    "one for all": (strided(0, 5), "at byte 0 serves lanes 0 to 31."),
    "bytes": (strided(1, 0, 1), "touch 1 sector, 32 bytes for 32"),
    "sixteen bytes": (strided(1, 0, 16), "touch 16 sectors, 512 bytes for 512"),
    "half a warp": (Request((*[None] * 16, *range(64, 128, 4))), "16 lanes of a warp touch 2"),
    "nobody": (Request((None,) * 32), "0 lanes of a warp touch 0 sectors, 0 bytes for 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_words_and_text_sizes(name: str) -> None:
    request, said = REQUESTS[name]
    figure = draw_sectors(request)
    assert said in alt_text(figure)
    assert_readable(figure)
    assert figure_png(figure) == figure_png(draw_sectors(request))


def test_a_part_that_was_asked_for_carries_its_lane_and_the_rest_is_hatched() -> None:
    figure = draw_sectors(strided(2))
    texts = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
    # Once in the row of lanes, once in a sector.
    assert all(texts.count(str(lane)) == 2 for lane in range(32))
    assert [text for text in texts if text.startswith("byte ")] == [
        f"byte {first}" for first in range(0, 256, 32)
    ]
    hatched = [shape for shape in figure.findobj(matplotlib.patches.Rectangle) if shape.get_hatch()]
    # Half of the 64 words, and the sample in the legend.
    assert len(hatched) == 32 + 1


@given(
    st.lists(st.none() | st.integers(0, 300), min_size=32, max_size=32),
    st.sampled_from((1, 2, 4, 8, 16)),
)
def test_sectors_and_bytes_are_what_the_simulator_counts(
    cells: list[int | None], itemsize: int
) -> None:
    request = Request(tuple(None if cell is None else cell * itemsize for cell in cells), itemsize)
    asked = np.array([each for each in request.addresses if each is not None], np.int64)
    if not asked.size:
        assert request.sectors == () and request.bytes_moved == 0
        return
    counted = count_request(asked, np.zeros(asked.size, np.int64), itemsize)
    assert len(request.sectors) == counted.sectors
    assert request.bytes_asked == counted.bytes


@cuda.jit
def turn(out, a):
    x, y = cuda.grid(2)
    out[x, y] = a[y, x]


def test_a_request_is_taken_from_the_record_of_a_launch() -> None:
    a = np.zeros((16, 32), np.float32)
    report = simulate(turn)[1, (32, 16)](np.zeros((32, 16), np.float32), a)
    load = request_of_warp(report, "a", warp=1)
    store = request_of_warp(report, "out", "write", warp=1)
    assert load.addresses == tuple(range(128, 256, 4))
    assert store.addresses == tuple(range(4, 4 + 32 * 64, 64))
    assert (load.name, store.kind) == ("read of a", "write")
    assert (len(load.sectors), len(store.sectors)) == (4, 32)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Request((0, 2)),
        lambda: Request((0,), 12),
        lambda: Request((-4,)),
        lambda: Request((0,) * 33),
    ],
)
def test_what_cannot_be_drawn_is_said(wrong) -> None:
    with pytest.raises(CourseError):
        wrong()
