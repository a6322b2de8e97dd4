"""More lines cost as much more work: no part of a check compares each line with every other.

Work is counted in calls, Python's and C's, which no load of the machine changes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course import simulate

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n"

# What stands again and again in a kernel, with a number of its own each time.
LINES = {
    "out of bounds": "    a[i + 1000] += {0}\n",
    "a local array each": "    s{0} = cuda.local.array(4, float32)\n    s{0}[0] = 1\n",
    "a shared array each": "    s{0} = cuda.shared.array(64, float32)\n    s{0}[i] = 1\n",
    "uninitialised": "    if i < 0:\n        x{0} = 1\n    a[i] = x{0}\n",
    "a lane that is not there": "    a[i] = cuda.shfl_sync(1, i, {0} % 32)\n",
    "loops": "    for q{0} in range(2):\n        x{0} = i\n",
}


def _calls(run: Callable[[], Any]) -> int:
    """The calls that a run takes."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_three_times_the_lines_cost_three_times(line: str, tmp_path: Path) -> None:
    a = np.ones(512, np.float32)

    def run(lines: int) -> None:
        file = tmp_path / f"lines_{lines}.py"
        file.write_text(HEAD + "".join(line.format(number) for number in range(lines)))
        simulate(f"{file}:k")[1, 32](a)

    run(3)  # what is imported and worked out once
    few, many = (_calls(lambda lines=lines: run(lines)) for lines in (40, 120))
    assert many < 3.6 * few
