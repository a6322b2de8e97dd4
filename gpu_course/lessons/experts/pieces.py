"""What the puzzles of lesson 28 share: a verdict on what operations, reads and bytes cost."""

from __future__ import annotations

from gpu_course.puzzle.specification import Judgement, Values

TOLERANCE = (1e-12, 1e-14)


def within_operations(got: Values, most: int, peak_bytes: int | None = None) -> Judgement | None:
    """Returns what is wrong where a result took too many operations, was read out, or is too large.

    Args:
        got: what came back, counted by `harness.on_tensors`.
        most: PyTorch operations.
        peak_bytes: alive at one time; None where that is not asked for.
    """
    if got.get("read"):
        fact = f"{got['read']:,} numbers are read out of tensors"
        return Judgement("read-out", fact, "over-budget")
    if got.get("operations", 0) > most:
        fact = f"{got['operations']:,} PyTorch operations run; {most:,} will do"
        return Judgement("one-by-one", fact, "over-budget")
    if peak_bytes is not None and got.get("peak_bytes", 0) > peak_bytes:
        fact = f"{got['peak_bytes']:,} bytes are alive at one time; {peak_bytes:,} will do"
        return Judgement("too-much-memory", fact, "over-budget")
    return None
