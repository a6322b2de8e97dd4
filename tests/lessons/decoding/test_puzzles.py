"""What is particular to the puzzles of lesson 14."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.puzzle import index

SOLUTIONS = Path(__file__).parents[3] / "solutions" / "14_decoding"


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("14") is index.lesson("decoding")


@pytest.mark.parametrize(
    ("old", "new", "diagnosis"),
    [
        ("        v_cache[page, token % PAGE, head, j] = value\n", "", "unwritten"),
        ("head, j] = value", "head, j] = v_cache[page, token % PAGE, head, j]", "copied-input"),
    ],
)
def test_what_is_changed_in_place_is_no_copy_where_nobody_stored(
    tmp_path: Path, old: str, new: str, diagnosis: str
) -> None:
    text = (SOLUTIONS / "kv_append_paged.py").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "kv_append_paged.py"
    file.write_text(text.replace(old, new), encoding="utf-8")
    verdict = check("kv_append_paged", answer=file, seed=0)
    assert verdict.diagnosis == diagnosis, verdict.message
