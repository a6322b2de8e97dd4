"""Plans for the tests of the capstone: a sound one, worked out by hand beside the planner."""

from __future__ import annotations

import math
from typing import Any

from gpu_course.lessons.across_oceans.capstone import Read, draft
from gpu_course.units import GIB


def sound() -> dict[str, Any]:
    """Returns a plan in which everything is in order.

    Memory and step are the planner's, rounded as a person would; all else is worked out here.
    """
    plan = draft()
    plan["layout"] = {"dp": 256, "zero": 3}
    read = Read(plan)
    memory_gib, step_s = round(read.memory.bytes / GIB), round(read.step_s, 1)
    gpu_hours_each, write_s, recover_s = 50_000, 60, 900
    mtbf_s = gpu_hours_each * 3600 / 256
    interval_s = round(math.sqrt(2 * write_s * mtbf_s), -2)
    lost = write_s / interval_s + (interval_s / 2 + recover_s) / mtbf_s
    days = 2e12 / (512 * 8192) * step_s / (1 - lost) / 86_400
    hours = days * 24 * 256
    plan["run"] |= {"memory_gib": memory_gib, "step_s": step_s, "days": round(days, 1)}
    plan["failures"] = {
        "gpu_hours_each": gpu_hours_each,
        "write_s": write_s,
        "recover_s": recover_s,
        "interval_s": interval_s,
        "goodput": round(1 - lost, 3),
    }
    plan["cost"] = {
        "price": [2.0, 3.5],
        "pue": 1.2,
        "gpu_hours": round(hours, -3),
        "mwh": round(hours * 700 * 1.2 / 1e6, 1),
        "dollars": [round(2.0 * hours, -3), round(3.5 * hours, -3)],
    }
    plan["risks"] = [
        {
            "what": "the loss has a spike",
            "sign": "the norm of the gradient over ten times its mean",
            "answer": "back to the checkpoint before it, past these batches",
        },
        {
            "what": "one node is slow",
            "sign": "its ranks enter a collective last",
            "answer": "take it out and start from the last checkpoint",
        },
        {
            "what": "a bit flips in silence",
            "sign": "replicas differ after a step",
            "answer": "compare checksums once an hour",
        },
    ]
    plan["sources"] = {
        "model": "https://arxiv.org/abs/2407.21783, Table 3",
        "machine": "lesson 30",
        "run.tokens": "assumed: what the data team can clean in a year",
        "memory_gib": "puzzle ledger",
        "step_s": "puzzle days",
        "gpu_hours_each": "arXiv 2407.21783, Table 5",
        "write_s": "measured: a checkpoint of the 1B model, scaled",
        "recover_s": "assumed: fifteen minutes, as in other runs",
        "price": "https://example.org/prices",
        "pue": "assumed: a new data centre",
    }
    return plan
