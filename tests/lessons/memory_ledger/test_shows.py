"""What lesson 16 shows carries its words."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gpu_course.lessons.memory_ledger.gap import explain
from gpu_course.lessons.memory_ledger.pictures import describe_saw_tooth, describe_terms
from gpu_course.lessons.memory_ledger.shows import show_saw_tooth, show_terms
from gpu_course.measure.activation_formulas import LayerShape
from gpu_course.measure.ledger import keep_ledger
from gpu_course.measure.model import Layer


def test_the_saw_tooth_is_shown_with_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    ledger = keep_ledger(nn.Linear(4, 3), lambda y, _: y.sum(), [torch.ones(5, 4)], steps=1)
    show_saw_tooth(ledger, 2)
    assert describe_saw_tooth(ledger, 2) in capsys.readouterr().out


def test_the_terms_are_shown_with_their_words(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explain(Layer(16, 2), LayerShape(sequence=8, batch=2, hidden=16, heads=2))
    show_terms(lines)
    assert describe_terms(lines) in capsys.readouterr().out
