"""What is particular to the puzzles of lesson 15."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.puzzle import index

SOLUTIONS = Path(__file__).parents[3] / "solutions" / "15_number_formats"


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("15") is index.lesson("number_formats")


@pytest.mark.parametrize(
    ("puzzle", "old", "new", "said"),
    [
        ("to_bf16", "uint32(0x7FFF) + odd", "uint32(0)", "is 0x387F, expected 0x3880"),
        ("to_bf16", "if i < size:", "if i < 0:", "nothing wrote out[0], expected 0xCA43"),
        ("quantise_fp8_tiles", "uint32(960)", "uint32(952)", "is 0xDC, expected 0xD4"),
    ],
)
def test_bits_are_told_in_hexadecimal(
    tmp_path: Path, puzzle: str, old: str, new: str, said: str
) -> None:
    """Whether a number lies in the middle between two others is seen in 0x8000, not in 32768."""
    text = (SOLUTIONS / f"{puzzle}.py").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / f"{puzzle}.py"
    file.write_text(text.replace(old, new), encoding="utf-8")
    message = check(puzzle, answer=file, seed=0).message
    assert said in message.splitlines()[0], message
    rows = [line.split() for line in message.splitlines() if line.split()[:1] == ["expected"]]
    assert rows and all(cell.startswith("0x") for cell in rows[0][1:])
    assert max(map(len, message.splitlines())) <= 70
