"""Examples of the pictures of lesson 21."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.collectives.fat_tree_picture import draw_fat_tree
from gpu_course.lessons.collectives.networks import network
from tests.gpu_course.draw.examples import draws


@draws(draw_fat_tree, 1, 7)
def to_one(rate: int) -> Figure:
    return network(98_304, 64, rate)


@draws(draw_fat_tree)
def one_switch() -> Figure:
    return network(40, 40, 7)
