"""Answers to lesson 29 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import Row


def _first(*lines: str) -> tuple[tuple[str, str], ...]:
    """Lines that run before all others of summed_over, once torch is there."""
    head = "def summed_over(name, config):\n"
    before = "".join(f"    {line}\n" for line in ("import torch.distributed as dist", *lines))
    return ((head, f"{head}{before}"),)


ROWS = {
    "axes in a set, those of one rank as well": Row(
        "one_model_every_axis",
        (
            ('axes = ["dp", "cp"]\n', 'axes = ["cp", "dp"]\n'),
            ("    return axes", "    return set(axes)"),
        ),
        ("dp=2 zero3 tp=2",),
    ),
    "the axis of another name": Row(
        "one_model_every_axis",
        (('axes = ["dp", "cp"]\n', 'axes = ["fsdp", "cp"]\n'),),
        verdict="wrong-result: no-axes",
    ),
    "a sum of its own on the way": Row(
        "one_model_every_axis",
        _first("dist.all_reduce(__import__('torch').ones(9))"),
        verdict="wrong-result: wire-differs",
    ),
    "other axes on rank 0 than on the rest": Row(
        "one_model_every_axis",
        _first("if dist.get_rank() == 0:", "    return []"),
        verdict="hazard: new-group",
    ),
    "a rank that never comes back": Row(
        "one_model_every_axis",
        _first("while dist.get_rank() == 1:", "    __import__('time').sleep(1)"),
        verdict="deadline: deadline",
    ),
    "a rank that ends": Row(
        "one_model_every_axis",
        _first("if dist.get_rank() == 1:", "    __import__('os')._exit(0)"),
        verdict="crash: crash",
    ),
}
"""What each does, and what becomes of it."""
