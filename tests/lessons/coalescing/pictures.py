"""Examples of the pictures of lesson 03."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.coalescing.pictures import Request, draw_sectors, draw_sides
from tests.gpu_course.draw.examples import draws


@draws(draw_sectors)
def stride_2() -> Figure:
    return draw_sectors(Request(tuple(range(12, 12 + 256, 8))))


@draws(draw_sectors)
def one_each() -> Figure:
    return draw_sectors(Request(tuple(range(0, 32 * 40, 40)), name="a[i * 10]"))


@draws(draw_sectors)
def two_requests() -> Figure:
    return draw_sectors(
        Request(tuple(range(32)), 1, "bytes"),
        Request((*[None] * 8, *[64] * 24), 16, "one for all", "write"),
    )


@draws(draw_sides)
def both_sides() -> Figure:
    read = Request(tuple(range(0, 128, 4)))
    return draw_sides(read, Request(tuple(range(0, 32 * 96, 96)), kind="write"), (24, 32))
