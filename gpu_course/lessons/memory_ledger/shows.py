"""What lesson 16 shows of memory: over time and term by term, each with its alt text."""

from __future__ import annotations

from gpu_course.draw.training.memory_ledger import Ledger
from gpu_course.lessons.memory_ledger.pictures import Line, draw_saw_tooth, draw_terms
from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture


def show_saw_tooth(ledger: Ledger, moment: int | None = None) -> None:
    """Shows the bytes of a run over time.

    Args:
        ledger: of `measure.ledger.keep_ledger`.
        moment: where the cursor stands; default none.
    """
    show(Picture(draw_saw_tooth(ledger, moment)))


def show_terms(lines: tuple[Line, ...]) -> None:
    """Shows what a formula counts and what a layer keeps, term by term.

    Args:
        lines: of `gap.explain`.
    """
    show(Picture(draw_terms(lines)))
