"""One line of a kernel beside its machine code: all of it is there, and can be read."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.under_the_hood.listings import Code, Listing, recorded
from gpu_course.lessons.under_the_hood.pictures import MAX_INSTRUCTIONS, draw_line
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

PLAIN = "matmul_register with range and signed indices"


@draws(draw_line)
def the_line_of_the_products() -> Figure:
    shown = recorded(PLAIN)
    return draw_line(shown, shown.line_of("sums[i, j] +="))


def marked(figure: Figure) -> list[Polygon]:
    faces = [each for each in figure.axes[0].findobj(Polygon) if type(each) is Polygon]
    orange = tuple(int(p.WRITE[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return [f for f in faces if f.get_facecolor()[:3] == pytest.approx(orange, abs=1e-6)]


@pytest.mark.parametrize("line", [1, 3, 18, 34, 41])
def test_a_line_can_be_read_with_its_instructions(line: int) -> None:
    shown = recorded(PLAIN)
    figure = draw_line(shown, line)
    assert_readable(figure)
    said = [text.get_text() for text in texts(figure)]
    assert f"Line {line} of {PLAIN}" in said
    assert any(shown.source in each for each in said)
    listed = [each for each in said for _, _, text in shown.under(line) if each.endswith(text)]
    assert len(set(listed)) <= MAX_INSTRUCTIONS
    assert bool(marked(figure)) == bool(shown.under(line))


def test_a_line_without_instructions_says_so() -> None:
    shown = recorded(PLAIN)
    line = shown.line_of("sums = cuda.local.array")
    figure = draw_line(shown, line)
    assert "No instruction belongs to this line." in [t.get_text() for t in texts(figure)]
    assert not marked(figure)
    assert "0 instructions of" in alt_text(figure)


def test_a_line_beyond_the_text_is_its_last_or_its_first() -> None:
    shown = recorded("fused")
    assert alt_text(draw_line(shown, 99)) == alt_text(draw_line(shown, len(shown.lines)))
    assert alt_text(draw_line(shown, -3)) == alt_text(draw_line(shown, 1))


def test_few_lines_and_long_ones_are_drawn_whole_or_cut() -> None:
    code = Code(2, 0, 0, 0, ((1, 1, "MOV " + "R1, " * 40), (1, 2, "EXIT")), ())
    figure = draw_line(Listing("k", "8.0", "nothing", False, ("x = " + "y + " * 60,), code), 1)
    assert_readable(figure)
    assert "compiled here: nothing" in alt_text(figure)
