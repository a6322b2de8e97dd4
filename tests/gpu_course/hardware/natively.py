"""Runs `run_natively` under Numba's own CUDA simulator: a process of its own, told by two pickles.

python natively.py ASKED TOLD, with NUMBA_ENABLE_CUDASIM=1: ASKED holds {name: (path, launches,
values)}, TOLD gets {name: arrays, or (kind of error, fact)}.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.hardware.run import run_natively

Told = dict[str, np.ndarray] | tuple[str, str]


class Launch(NamedTuple):
    """One launch, as plain data."""

    function: str
    args: tuple[str, ...]
    grid: int | tuple[int, ...] = 2
    block: int | tuple[int, ...] = 4
    shared_bytes: int = 0


def tell(path: str, launches: Sequence[tuple[Any, ...]], values: dict[str, Any]) -> Told:
    """Returns the arrays of a run, or the error it ended with."""
    before = {k: v.copy() for k, v in values.items() if isinstance(v, np.ndarray)}
    try:
        found = run_natively(path, [Launch(*launch) for launch in launches], values)
    except CourseError as error:
        return type(error).__name__, error.fact
    for name, array in before.items():
        np.testing.assert_array_equal(values[name], array)
    return found


if __name__ == "__main__":
    asked = pickle.loads(Path(sys.argv[1]).read_bytes())
    told = {name: tell(*request) for name, request in asked.items()}
    Path(sys.argv[2]).write_bytes(pickle.dumps(told))
