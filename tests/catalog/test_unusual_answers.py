"""Answers to lessons 00 to 04 that are rarely given: right ones that pass, wrong and lazy ones not.

Each is the solution with a change. The wrong ones are right for ordinary numbers: they leave a
number out by multiplying with 0, begin with a number that is not the smallest, or skip zeros.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.catalog import KernelPuzzle, index
from tests.catalog.rules import SOLUTIONS

Changes = tuple[tuple[str, str], ...]

RIGHT: dict[tuple[str, str], Changes] = {
    ("warp_max_all", "a clamped load: the last number twice changes no maximum"): (
        ("a[i] if i < size else float32(-math.inf)", "a[min(i, size - 1)]"),
    ),
    ("warp_max_all", "from the first number of the warp"): (
        ("a[i] if i < size else float32(-math.inf)", "a[i if i < size else size - 1]"),
    ),
    ("warp_sum", "a clamped load, and then a choice"): (
        ("total = a[i] if i < size else float32(0)", "total = a[min(i, size - 1)]"),
        ("    for delta", "    if i >= size:\n        total = float32(0)\n    for delta"),
    ),
    ("warp_scan", "a clamped load: no lane fetches from a later one"): (
        ("a[i] if i < size else float32(0)", "a[min(i, size - 1)]"),
    ),
    ("ballot_count", "a clamped load, voted on with a guard"): (
        ("above = i < size and a[i] > limit", "x = a[min(i, size - 1)]"),
        ("ballot_sync(ALL, above)", "ballot_sync(ALL, x > limit and i < size)"),
    ),
    ("stencil_halo", "clamped loads, and then a choice"): (
        (
            "tile[k] = a[cell] if 0 <= cell < size else float32(0)",
            (
                "x = a[max(min(cell, size - 1), 0)]\n"
                "        tile[k] = x if 0 <= cell < size else float32(0)"
            ),
        ),
    ),
    ("conv1d", "clamped loads, and then a choice"): (
        (
            "tile[k] = a[start + k] if start + k < size else float32(0)",
            (
                "x = a[min(start + k, size - 1)]\n"
                "        tile[k] = x if start + k < size else float32(0)"
            ),
        ),
    ),
    ("pooling", "a clamped load"): (
        (
            "    if col < cols:\n        tile[col] = a[row, col]\n",
            "    tile[col] = a[row, min(col, cols - 1)]\n",
        ),
    ),
    ("even_odd_uniform", "a clamped load by every thread"): (
        ("        x = a[i]\n", ""),
        ("    if i < size:\n", "    x = a[min(i, size - 1)]\n    if i < size:\n"),
    ),
    ("sum_rows", "every lane has the sum"): (("shfl_down_sync", "shfl_xor_sync"),),
}

WRONG: dict[tuple[str, str], tuple[str, Changes]] = {
    ("warp_sum", "times nothing"): (
        "wrong-result",
        (("a[i] if i < size else float32(0)", "a[min(i, size - 1)] * float32(i < size)"),),
    ),
    ("warp_scan", "adds times nothing"): (
        "wrong-result",
        (
            (
                "if cuda.laneid >= delta:\n            total += before",
                "total += before * float32(cuda.laneid >= delta)",
            ),
        ),
    ),
    ("sum_rows", "times nothing"): (
        "wrong-result",
        (
            (
                "for col in range(lane, cols, WARP):\n            total += a[row, col]",
                (
                    "for first in range(0, cols, WARP):\n            col = first + lane\n"
                    "            total += a[row, min(col, cols - 1)] * float32(col < cols)"
                ),
            ),
        ),
    ),
    ("warp_max_all", "the lowest finite number"): (
        "wrong-result",
        (("-math.inf", "-3.4028234663852886e38"),),
    ),
    ("ballot_count", "NaN is kept"): (
        "wrong-result",
        (("i < size and a[i] > limit", "i < size and not (a[i] <= limit)"),),
    ),
    ("stencil_halo", "times nothing"): (
        "wrong-result",
        (
            (
                "a[cell] if 0 <= cell < size else float32(0)",
                "a[max(min(cell, size - 1), 0)] * float32(0 <= cell < size)",
            ),
        ),
    ),
    ("conv1d", "times nothing"): (
        "wrong-result",
        (
            (
                "a[start + k] if start + k < size else float32(0)",
                "a[min(start + k, size - 1)] * float32(start + k < size)",
            ),
        ),
    ),
    ("pooling", "the lowest finite number"): (
        "wrong-result",
        (
            ("largest = tile[col]", "largest = float32(-3.4028234663852886e38)"),
            ("range(1, min", "range(0, min"),
        ),
    ),
    ("gather", "times one, and less itself"): (
        "wrong-result",
        (("a[index[i]]", "a[index[i]] + (a[i % 2] - a[i % 2])"),),
    ),
    ("grid_stride", "skips what is the same"): (
        "wrong-result",
        (("out[i] = a[i] - b[i]", "out[i] = 0 if a[i] == b[i] else a[i] - b[i]"),),
    ),
}


def verdict_on(name: str, changes: Changes, tmp_path: Path):
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    answer = tmp_path / f"{name}.py"
    answer.write_text(text, encoding="utf-8")
    return check(puzzle, answer=answer, seed=0)


@pytest.mark.parametrize(("name", "way"), RIGHT, ids=str)
def test_an_unusual_right_answer_passes(name: str, way: str, tmp_path: Path) -> None:
    verdict = verdict_on(name, RIGHT[name, way], tmp_path)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("name", "way"), WRONG, ids=str)
def test_an_answer_that_is_right_for_ordinary_numbers_alone_is_refused(
    name: str, way: str, tmp_path: Path
) -> None:
    reason, changes = WRONG[name, way]
    verdict = verdict_on(name, changes, tmp_path)
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
    assert "infinities" in verdict.message, verdict.message  # the name of the case
