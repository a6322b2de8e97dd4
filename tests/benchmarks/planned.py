"""Items of `make gpu` that do what they are told: come to a state, or fail in some way."""

from __future__ import annotations

import os
import threading
from typing import Any

from gpu_course.hardware.run import GaveUp


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Does what a job says: a state, or a way to fail."""
    what = job["do"]
    if what == "crash":
        os._exit(7)
    if what == "hang":
        threading.Event().wait()
    if what == "raise":
        raise ValueError("the reference cannot be made")
    if what == "give up":
        raise GaveUp("the GPU gave up on kernel.py: an illegal address")
    if what == "several":
        return {"state": "counted", "items": {"copy": {"state": "counted"}}}
    return {"state": what, "said": job.get("said", "")} if "said" in job else {"state": what}
