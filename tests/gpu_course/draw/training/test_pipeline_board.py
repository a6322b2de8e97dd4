"""The board's SVG: every action is there and can be found, nothing is cut, and words tell it."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from gpu_course.draw.training.pipeline_board import (
    WIDE,
    Cell,
    board_svg,
    describe_board,
    way_words,
    ways_json,
)

SVG = "{http://www.w3.org/2000/svg}"
CELLS = [
    Cell(0, 0, 0, "F", 0, 0, 0, 1),
    Cell(0, 1, 0, "B", 0, 0, 5, 7),
    Cell(1, 0, 1, "F", 0, 0, 1, 2),
    Cell(1, 1, 1, "B", 0, 0, 3, 5),
]
STUCK = [
    Cell(0, 0, 0, "F", 0, 0, 0, 1),
    Cell(0, 1, 0, "I", 0, 0, 1, 2, ran=False, guilty=True),
    Cell(1, 0, 1, "F", 1, 1, 0, 1, ran=False, guilty=True),
    Cell(1, 1, 1, "W", 1, 0, 1, 2, ran=False),
]
MEMORY = [[(0.0, 1.0), (7.0, 0.0)], [(1.0, 1.0), (5.0, 0.0)]]


def tree(cells: list[Cell], **more: object) -> ElementTree.Element:
    given = {"ranks": 2, "memory": MEMORY} | more
    return ElementTree.fromstring(board_svg(cells, "a schedule", "its words", **given))


def acts(svg: ElementTree.Element) -> list[ElementTree.Element]:
    return [g for g in svg.iter(f"{SVG}g") if g.get("class") == "board-act"]


@pytest.mark.parametrize("cells", [CELLS, STUCK])
def test_each_action_is_found_by_rank_and_step_and_says_what_it_is(cells: list[Cell]) -> None:
    found = {(g.get("data-rank"), g.get("data-step")): g for g in acts(tree(cells))}
    assert set(found) == {(str(c.rank), str(c.step)) for c in cells}
    for cell in cells:
        words = found[str(cell.rank), str(cell.step)].get("aria-label")
        assert words == cell.words and cell.label in words
        assert ("never runs" in words) == (not cell.ran)


def test_a_cell_lies_from_its_start_to_its_end_in_the_row_of_its_rank() -> None:
    boxes = [g.find(f"{SVG}rect") for g in acts(tree(CELLS))]
    x = [float(box.get("x")) for box in boxes]
    wide = [float(box.get("width")) for box in boxes]
    scale = wide[0]
    for cell, left, width in zip(CELLS, x, wide, strict=True):
        assert left - x[0] == pytest.approx(cell.start * scale, abs=0.2)
        assert width == pytest.approx((cell.end - cell.start) * scale, abs=0.2)
    assert boxes[0].get("y") == boxes[1].get("y") != boxes[2].get("y")


def test_a_bubble_is_hatched_where_a_rank_waits() -> None:
    waits = [r for r in tree(CELLS).iter(f"{SVG}rect") if r.get("class") == "board-wait"]
    assert len(waits) == 2
    assert "dots-" in board_svg(CELLS, "", "", ranks=2)


def test_what_cannot_run_is_outlined_and_the_circle_has_an_arrow_for_each_wait() -> None:
    svg = tree(STUCK, memory=(), waits=[("0I0", "1F1"), ("1F1", "0I0")])
    arrows = [each for each in svg.iter(f"{SVG}path") if each.get("class") == "board-waits"]
    assert len(arrows) == 2
    said = {text.text for text in svg.iter(f"{SVG}text")}
    assert {"at fault", "never runs"} <= said and "held" not in said


@pytest.mark.parametrize(("cells", "limit"), [(CELLS, None), (STUCK, 2.0), ([], None)])
def test_no_text_is_small_or_past_the_edge(cells: list[Cell], limit: float | None) -> None:
    svg = tree(cells, limit=limit, ranks=2)
    assert float(svg.get("width")) == WIDE <= 700
    for text in svg.iter(f"{SVG}text"):
        size = float(text.get("font-size"))
        assert size >= 11.9
        start = float(text.get("x")) - (
            len(text.text or "") * size * 0.3 if text.get("text-anchor") == "middle" else 0
        )
        assert start >= 0 and start + len(text.text or "") * size * 0.55 <= WIDE


def test_all_kinds_in_two_chunks_leave_the_key_inside() -> None:
    kinds = [Cell(0, k, k % 2, kind, k % 2, 0, k, k + 1) for k, kind in enumerate("FBIW")]
    lost = [Cell(1, 0, 1, "F", 1, 0, 0, 1, ran=False, guilty=True)]
    svg = tree([*kinds, *lost], limit=1.0)
    key = [text for text in svg.iter(f"{SVG}text") if float(text.get("x")) > 10]
    assert len({text.text for text in key}) >= 9
    for text in key:
        assert float(text.get("x")) + len(text.text or "") * 12 * 0.55 <= WIDE, text.text
        assert float(text.get("y")) < float(svg.get("height")) - 4


def test_the_same_data_give_the_same_text() -> None:
    assert board_svg(CELLS, "a", "b", ranks=2) == board_svg(list(CELLS), "a", "b", ranks=2)


def test_a_way_is_told_in_a_sentence() -> None:
    assert way_words(CELLS, 0) == (
        "Microbatch 0: down stages 0 to 1 from 0 to 2, back from 3 to 7, it lies still for 1 of 7."
    )
    assert way_words(STUCK, 0).endswith("The rest never runs.")
    assert way_words(STUCK, 1) == "Microbatch 1 never begins."
    assert set(json.loads(ways_json(STUCK))) == {"0", "1"}


def test_the_alt_text_has_each_order_and_where_it_stands() -> None:
    assert describe_board(STUCK, "name", "words", 3).split("\n") == [
        "name: words.",
        "rank 0: 0F0 0I0; stands at 0I0.",
        "rank 1: 1F1 1W0; stands at 1F1.",
        "rank 2: nothing.",
    ]
    assert not re.search("stands", describe_board(CELLS, "name", "words", 2))
