"""The half of vTrain's measurements that is open, and how far off the planner is on it.

Source: VIA-Research/vTrain f8dda84, data/ground_truth_multi.csv and ground_truth_single.csv (MIT):
A100, Megatron-DeepSpeed, full recomputation, 1F1B.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.planner import known_runs

FILES = {kind: Path(__file__).with_name(f"vtrain_{kind}_open.csv") for kind in ("single", "multi")}
"""Runs on one node, and on several."""
NAMES = (
    "gpus", "global_batch", "micro_batch", "hidden", "heads", "layers", "sequence", "tp", "dp",
    "pp",
)  # fmt: skip
"""The columns that say what ran."""


@lru_cache(maxsize=2)
def open_rows(kind: str) -> dict[str, np.ndarray]:
    """Returns the columns of a file as arrays, `iteration_ms` among them.

    >>> len(open_rows("multi")["tp"])
    54
    """
    with FILES[kind].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@lru_cache(maxsize=2)
def reached(kind: str) -> np.ndarray:
    """Returns the measured time of each open row over the planner's."""
    rows = open_rows(kind)
    run: dict[str, Any] = {name: rows[name] for name in NAMES}
    found: np.ndarray = rows["iteration_ms"] / 1e3 / known_runs.vtrain_run(**run).step_s
    return found
