"""What the ranks of the latest `%%ranks` cell called."""

from __future__ import annotations

from gpu_course.ranks.calls import Call
from gpu_course.ranks.console import console


def latest_calls() -> tuple[Call, ...]:
    """Returns the calls of all ranks in the latest cell; none before the first one."""
    last = console().last
    return () if last is None else last.calls


def times_called(kind: str) -> int:
    """Returns how often rank 0 called a collective in the latest cell.

    Args:
        kind: "all_reduce", "all_gather" ...
    """
    return sum((call.rank, call.kind) == (0, kind) for call in latest_calls())
