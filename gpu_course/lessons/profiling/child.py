"""The process that is profiled: `python -m gpu_course.lessons.profiling.child FOLDER < WHAT`.

It writes a Chrome trace for each thing that it is asked for: 0.json, 1.json and so on.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from gpu_course.hardware import nvml
from gpu_course.lessons.profiling.loops import train
from gpu_course.lessons.profiling.plants import Loop


def program(asked: dict[str, Any]) -> Callable[[], object]:
    """Returns what is to run: a loop, or a function whose text was sent."""
    if "loop" in asked:
        loop = Loop(**asked["loop"])
        return lambda: train(loop)
    scope: dict[str, Any] = {"__name__": "profiled"}
    exec(compile(asked["text"], "<the profiled function>", "exec"), scope)
    found: Callable[[], object] = scope[asked["name"]]
    return found


def record(run: Callable[[], object], path: Path, stacks: bool = False) -> None:
    """Writes the trace of one call."""
    activities = [ProfilerActivity.CPU]
    if not nvml.gpu_switched_off() and torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    gc.collect()
    with profile(
        activities=activities, record_shapes=True, profile_memory=True, with_stack=stacks
    ) as profiler:
        run()
    profiler.export_chrome_trace(str(path))


def main() -> None:
    """Records what stdin asks for."""
    folder = Path(sys.argv[1])
    for number, asked in enumerate(json.load(sys.stdin)):
        record(program(asked), folder / f"{number}.json", asked.get("stacks", False))


if __name__ == "__main__":
    # One thread is enough for sizes like these, and leaves the rest of the machine alone.
    torch.set_num_threads(1)
    main()
