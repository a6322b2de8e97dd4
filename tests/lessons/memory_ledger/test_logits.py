"""The peak of a loss: all logits, or a chunk at a time."""

from __future__ import annotations

from gpu_course.lessons.memory_ledger.logits import peak_of_loss


def test_all_logits_are_there_more_than_once_and_chunks_take_a_fraction() -> None:
    logits = 256 * 4096 * 4
    whole, chunked = (peak_of_loss(256, 32, 4096, chunked=chunked) for chunked in (False, True))
    assert whole >= 2 * logits
    assert chunked < logits / 2
