"""What the first lesson shows of GPUs: numbers with their sources, and rates as bars."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.hardware.datasheet import device, devices
from gpu_course.lessons.start_here.pictures import draw_cards
from gpu_course.lessons.start_here.shows import DataSheet, show_cards, show_data_sheet
from tests.gpu_course.draw.readable import assert_readable


@dataclass(frozen=True)
class Card:
    name: str
    bandwidth_bytes_per_s: float | None
    fp32_flop_per_s: float | None
    tensor_flop_per_s: float | None


CARDS = (Card("one", 9e11, 1.5e13, 1.25e14), Card("another", 2e12, None, 3.12e14))


def test_cards_are_drawn_with_what_is_known_of_them() -> None:
    figure = draw_cards(CARDS)
    for words in ("one: memory bandwidth 900 GB/s", "another", "2 TB/s", "312 TFLOP/s"):
        assert words in alt_text(figure)
    assert_readable(figure)


def test_cards_draw_the_devices_of_the_course(capsys: pytest.CaptureFixture[str]) -> None:
    show_cards()
    words = capsys.readouterr().out
    assert all(card.name in words for card in devices())
    show_cards("H999")
    assert "H999" in capsys.readouterr().out


def test_a_data_sheet_has_a_source_beside_every_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = device("H100").rows()
    lines = _shown(capsys, "H100").splitlines()
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert all(part in line for part in row)
    page = DataSheet((("memory", "1 <2>", "a & b"),))._repr_html_()
    assert "1 &lt;2&gt;</td>" in page and "white-space:normal" in page and "a &amp; b" in page
    assert "H999" in _shown(capsys, "H999")


def _shown(capsys: pytest.CaptureFixture[str], name: str) -> str:
    show_data_sheet(name)
    return capsys.readouterr().out
