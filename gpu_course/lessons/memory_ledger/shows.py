"""What lessons 16 and 17 show of memory: over time, by kind, by term; each with its alt text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture

if TYPE_CHECKING:
    from gpu_course.draw.training.memory_ledger import Ledger, Line


def show_saw_tooth(ledger: Ledger, moment: int | None = None) -> None:
    """Shows the bytes of a run over time.

    Args:
        ledger: of `training.memory.ledger.keep_ledger`.
        moment: where the cursor stands; default none.
    """
    from gpu_course.draw.training.memory_ledger import draw_saw_tooth

    show(Picture(draw_saw_tooth(ledger, moment)))


def show_live(parts: Mapping[str, float], limit_bytes: float | None = None) -> None:
    """Shows one bar of bytes by kind, and how far a GPU's memory reaches.

    Args:
        parts: {kind: bytes}, kinds as in a ledger.
        limit_bytes: of the GPU; default none.
    """
    from gpu_course.draw.training.memory_ledger import draw_live

    show(Picture(draw_live(parts, limit_bytes)))


def show_terms(lines: tuple[Line, ...]) -> None:
    """Shows what a formula counts and what a layer keeps, term by term.

    Args:
        lines: of `training.memory.gap.explain`.
    """
    from gpu_course.draw.training.memory_ledger import draw_terms

    show(Picture(draw_terms(lines)))
