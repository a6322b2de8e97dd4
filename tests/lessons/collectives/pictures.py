"""Examples of the pictures of lesson 21."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.collectives.fat_tree_picture import draw_fat_tree
from gpu_course.lessons.collectives.networks import network
from gpu_course.lessons.collectives.pictures import draw_chunks, draw_timeline, draw_times
from tests.gpu_course.draw.examples import draws
from tests.lessons.collectives.test_pictures import CURVES, FRAMES, RING


@draws(draw_fat_tree, 1, 7)
def to_one(rate: int) -> Figure:
    return network(98_304, 64, rate)


@draws(draw_fat_tree)
def one_switch() -> Figure:
    return network(40, 40, 7)


@draws(draw_chunks, *FRAMES)
def held(name: str) -> Figure:
    return draw_chunks(FRAMES[name])


@draws(draw_timeline)
def ring() -> Figure:
    return draw_timeline(RING, 8, "ring")


@draws(draw_times)
def ring_and_tree() -> Figure:
    return draw_times(CURVES, "Ring and tree", "alpha 20 µs")
