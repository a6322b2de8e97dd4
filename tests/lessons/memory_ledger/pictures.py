"""Examples of the pictures of lesson 16."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.memory_ledger.pictures import draw_saw_tooth, draw_terms
from tests.gpu_course.draw.examples import draws
from tests.lessons.memory_ledger.test_pictures import LEDGER

MIB = 2**20


class Line:
    """A term as the lesson on the ledger has it, with a name as long as any."""

    def __init__(self, name: str, paper: int, kept: int) -> None:
        self.name, self.paper_bytes, self.kept_bytes = name, paper, kept


@draws(draw_saw_tooth)
def a_step() -> Figure:
    return draw_saw_tooth(LEDGER, 4)


@draws(draw_terms)
def of_one_layer() -> Figure:
    return draw_terms(
        [
            Line("mask of the attention's dropout", 2 * MIB, 4 * MIB),
            Line("input of the second linear layer", 8 * MIB, 8 * MIB),
            Line("statistics of the LayerNorms", 0, 12_345_678),
        ]
    )
