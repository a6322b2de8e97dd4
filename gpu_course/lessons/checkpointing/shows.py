"""What lesson 17 shows: the bytes of a training step by kind."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_course.draw.training.memory_ledger import draw_live
from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture


def show_live(parts: Mapping[str, float], limit_bytes: float | None = None) -> None:
    """Shows one bar of bytes by kind, and how far a GPU's memory reaches.

    Args:
        parts: {kind: bytes}, kinds as in a ledger.
        limit_bytes: of the GPU; default none.
    """
    show(Picture(draw_live(parts, limit_bytes)))
