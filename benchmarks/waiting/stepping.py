"""How long a step's picture takes from the slider to the page: part of `make bench`.

A launch is recorded, and its widget dragged from end to end: each position is drawn anew, as it is
the first time a hand comes past. What the browser adds is not in these figures.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from gpu_course.notebook import step_through

KERNELS = Path(__file__).parent / "stepping_kernels.py"
MAX_MS = 200
"""From drag to picture: what still feels like one movement."""


def cases() -> list[tuple[str, tuple[str, ...], tuple[int, int], tuple[object, ...]]]:
    """Returns (kernel, watch, [grid, block], arguments): small, as large as is kept, looping."""
    tile = np.zeros(1024, np.float32), np.arange(1024, dtype=np.float32)
    return [
        ("tile", ("t", "total", "s"), (2, 64), (*tile, 128)),
        ("tile", ("t", "total", "s"), (4, 256), (*tile, 1024)),
        ("loop", ("i", "k", "total"), (1, 64), (*tile, 40)),
    ]


def measure() -> list[tuple[str, int, float, float, float]]:
    """Returns (launch, steps, milliseconds to record, median and worst milliseconds a step)."""
    rows = []
    for kernel, watch, (grid, block), arguments in cases():
        start = time.perf_counter()
        panel = step_through(f"{KERNELS}:{kernel}", watch)[grid, block](*arguments)
        made = time.perf_counter() - start
        panel._picture.cache_clear()
        taken = []
        for step in [*range(1, panel.slider.max + 1), 0]:
            start = time.perf_counter()
            panel.slider.value = step
            taken.append(time.perf_counter() - start)
        name = f"{kernel}[{grid}, {block}]"
        rows.append(
            (name, len(taken), made * 1e3, statistics.median(taken) * 1e3, max(taken) * 1e3)
        )
    return rows


def main() -> None:
    """Prints the table."""
    table = Table(title=f"stepping through a launch (a step should take under {MAX_MS} ms)")
    for column in ("launch", "steps", "recorded in ms", "a step, median ms", "worst ms"):
        table.add_column(column, justify="left" if column == "launch" else "right")
    for name, steps, made, median, worst in measure():
        table.add_row(name, str(steps), f"{made:.0f}", f"{median:.1f}", f"{worst:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
