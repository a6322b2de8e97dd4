"""A model's letters with their launches, by kernels of a learner's and by one that is mistaken."""

from __future__ import annotations

import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.decoding.character_gpt import CharacterGPT, Sizes
from gpu_course.lessons.decoding.speaks import (
    first_difference,
    mistaken,
    speak,
    speak_in_torch,
    tokens_with_launches,
    where_it_changes,
)
from tests.course.puzzles.by_hand import SOLUTIONS


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> CharacterGPT:
    """A model of one layer that nobody has trained; its letters are as good as any."""
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(SOLUTIONS))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return CharacterGPT(Sizes(layers=1, inner=128)).eval()


def test_every_letter_is_drawn_with_all_its_launches(model: CharacterGPT) -> None:
    said = speak(model, "ab", 2)
    shown = repr(tokens_with_launches(model, "ab", 2))
    assert said.launches_per_token == 9 + 3
    for letter in said.text:
        assert f"{letter!r}: 12 launches" in shown
    assert "by matvec" in shown
    narrow = repr(tokens_with_launches(model, "ab", 1, weights="int4"))
    assert "12 launches" in narrow and "by int4_matvec" in narrow


def test_a_known_mistake_speaks_and_is_told_by_its_first_letter(model: CharacterGPT) -> None:
    kernel = mistaken("rope", "queries_alone")
    wrong = speak(model, "abcdefgh", 6, kernels={"rope": kernel})
    plain = speak_in_torch(model, "abcdefgh", 6)
    assert first_difference(plain, speak(model, "abcdefgh", 6)) is None
    assert any(abs(a - b).max() > 1e-4 for a, b in zip(plain.logits, wrong.logits, strict=True))
    with pytest.raises(CourseError, match="no mistake 'none'"):
        mistaken("rope", "none")


def test_wide_numbers_change_nothing_and_so_none_is_found(model: CharacterGPT) -> None:
    assert where_it_changes(model, "ab", 3, texts=2) is None
