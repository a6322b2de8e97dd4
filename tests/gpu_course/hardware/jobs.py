"""Jobs for `gpu_course.hardware.apart`: right ones, and each way to fail."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

runs = 0


def run(job: dict[str, Any]) -> Any:
    """Does what a job says, and counts what this process has done."""
    global runs
    runs += 1
    kind = job["do"]
    if kind == "print":
        print('{"state": "done", "value": "not an answer"}')
        os.system("echo nor is this")
    if kind == "raise":
        raise ValueError("a fact\nin two lines")
    if kind == "exit":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    if kind == "hang":
        threading.Event().wait()
    return {"process": os.getpid(), "runs": runs, "given": job}
