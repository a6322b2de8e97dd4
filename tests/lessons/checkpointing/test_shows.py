"""What lesson 17 shows carries its words."""

from __future__ import annotations

import pytest

from gpu_course.draw.training.memory_ledger import describe_live
from gpu_course.lessons.checkpointing.shows import show_live


def test_what_is_alive_is_shown_with_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    parts = {"parameters": 3e9, "activations": 9e9}
    show_live(parts, 8e9)
    assert describe_live(parts, 8e9) in capsys.readouterr().out
