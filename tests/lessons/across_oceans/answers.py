"""Answers to lesson 33 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_FEWEST = "    fewest = math.ceil(goal * meeting_s / (step_s * (1 - goal)))\n"

RIGHT: dict[tuple[str, str], Changes] = {
    ("bytes_saved", "h by looking for it"): (
        (
            _FEWEST,
            (
                "    low, high = 0, 1\n"
                "    enough = lambda h: h * step_s >= goal * (h * step_s + meeting_s)\n"
                "    while not enough(high):\n"
                "        low, high = high, 2 * high\n"
                "    while high - low > 1:\n"
                "        middle = (low + high) // 2\n"
                "        low, high = (low, middle) if enough(middle) else (middle, high)\n"
                "    fewest = high\n"
            ),
        ),
    ),
    ("bytes_saved", "blocks by rounding up in whole numbers, as a list"): (
        ("math.ceil(parameters / block)", "(parameters + block - 1) // block"),
        ("return dp, sent / h, max(1, fewest)", "return [dp, sent / h, max(1, fewest)]"),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("bytes_saved", "an h that is a float"): (
        "wrong-type",
        (("max(1, fewest)", "max(1.0, float(fewest))"),),
    ),
    ("bytes_saved", "an h that nobody rounded"): (
        "wrong-type",
        (("math.ceil(goal * meeting_s / (step_s * (1 - goal)))", "goal * meeting_s / step_s"),),
    ),
    ("bytes_saved", "whole bytes"): (
        "wrong-result",
        (("return dp, sent / h,", "return dp, sent // h,"),),
    ),
    ("bytes_saved", "1,000 h and one formula"): (
        "wrong-result",
        (("max(1, fewest)", "1000"),),
    ),
}
"""The lazy and the blunt: refused."""
