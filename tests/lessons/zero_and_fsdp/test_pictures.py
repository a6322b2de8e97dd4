"""Pictures of lesson 23: a rank's bytes are filled, a unit comes before it is used."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.training.memory_ledger import LOOKS
from gpu_course.errors import CourseError
from gpu_course.lessons.zero_and_fsdp.claims.zero import zero_gb
from gpu_course.lessons.zero_and_fsdp.pictures import (
    UnitUse,
    draw_owners,
    draw_stages,
    draw_units,
)
from gpu_course.lessons.zero_and_fsdp.stage_bytes import bytes_of_stage
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

USES = (
    UnitUse(0, "forward", 0, 1024),
    UnitUse(1, "forward", 0, 1536),
    UnitUse(2, "forward", 1, 1536),
    UnitUse(2, "backward", None, 2048),
    UnitUse(1, "backward", 3, 2048),
    UnitUse(0, "backward", 5, 1024),
)
CURVES = {
    f"stage {stage}": [(2**k, zero_gb(7.5, 2**k, stage)) for k in range(11)] for stage in range(4)
}


@draws(draw_owners, *range(4))
def owners_of_stage(stage: int) -> Figure:
    return draw_owners(stage, 4)


@draws(draw_units)
def units() -> Figure:
    return draw_units(USES, 4096, "your zero3")


@draws(draw_stages)
def stages() -> Figure:
    return draw_stages(CURVES, 80, "7.5 billion parameters")


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("ranks", [1, 3, 8])
def test_what_is_filled_is_what_a_rank_holds(stage: int, ranks: int) -> None:
    figure = draw_owners(stage, ranks)
    assert_readable(figure)
    filled = LOOKS["optimizer states"]["facecolor"]
    boxes = [
        box
        for box in figure.findobj(Rectangle)
        if box.get_facecolor()[:3] == pytest.approx(_rgb(filled))
    ]
    assert len(boxes) == ranks
    whole = max(box.get_width() for box in figure.axes[0].findobj(Rectangle) if _white(box))
    share = bytes_of_stage(stage, ranks)["states"] / 12
    assert all(box.get_width() == pytest.approx(whole * share, rel=0.01) for box in boxes)
    if stage and ranks > 1:
        assert len({round(box.get_x(), 3) for box in boxes}) == ranks


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def _white(box: Rectangle) -> bool:
    return box.get_facecolor()[:3] == pytest.approx(_rgb(p.PAPER)) and box.get_height() < 1


def test_the_bytes_stand_in_the_words_of_a_picture() -> None:
    words = alt_text(draw_owners(2, 4))
    assert "Of the gradients, 2 bytes, each rank holds one part of 4." in words
    assert "Of the weights, 2 bytes, each rank holds all." in words
    assert "41.2 GB" in words


def test_a_unit_is_on_its_way_where_its_gather_began() -> None:
    figure = draw_units(USES, 4096, "your zero3")
    assert_readable(figure)
    assert sum(text.get_text() == "use" for text in texts(figure)) == len(USES)
    assert sum(text.get_text() == "comes" for text in texts(figure)) == 3
    words = alt_text(figure)
    assert "3 of 5 gathers began while another unit was in use" in words
    assert "Unit 2 is used backward, there since its last use" in words
    assert "Unit 0 is used backward; 1 KiB alive." in words


def test_the_line_of_each_stage_ends_where_the_formula_says() -> None:
    figure = draw_stages(CURVES, 24, "7.5 billion parameters")
    assert_readable(figure)
    assert "stage 1: 120 GB on 1, 30.1 GB on 1024." in alt_text(figure)
    assert_readable(
        draw_stages({k: [(n, 60 * y) for n, y in v] for k, v in CURVES.items()}, 141, "large")
    )


def test_what_is_too_much_for_a_picture_is_said() -> None:
    with pytest.raises(CourseError, match="stage 4"):
        draw_owners(4, 2)
    with pytest.raises(CourseError, match="9 ranks"):
        draw_owners(1, 9)
    with pytest.raises(CourseError, match="draw 1 to 8"):
        draw_units((), 0, "nothing")
