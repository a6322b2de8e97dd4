"""Puzzle `dynamic_loss_scaler`: which step to take, and by which factor to scale the next loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

GROWTH, BACKOFF = 2.0, 0.5
LARGEST = 3.4028234663852886e38


def _case(name: str, steps: int, *, visible: bool = False, **sizes: int) -> Case:
    plain = {"steps": steps, "tensors": 3, "scale": 10, "interval": 3, "bad": 4}
    return Case(name, plain | sizes, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """Gradients as they are without a scale; where they are large, fp16 overflows under one."""
    s = case.sizes
    steps, bad = [], 0
    for step in range(s["steps"]):
        tensors = [
            rng.standard_normal(int(rng.integers(1, 5))) * 2.0 ** rng.integers(-20, 2)
            for _ in range(s["tensors"])
        ]
        if tensors and s["bad"] and step % s["bad"] == s["bad"] - 1:
            which = (len(tensors) - 1 - bad) % len(tensors)
            put = (1e30, np.nan, -1e30)[bad % 3]
            tensors[which][rng.integers(tensors[which].size)] = put
            bad += 1
        steps.append(tensors)
    return {
        "steps": steps,
        "scale": LARGEST / GROWTH if s.get("brim") else 2.0 ** s["scale"],
        "growth": GROWTH if not s.get("slow") else 1.5,
        "backoff": BACKOFF if not s.get("slow") else 0.25,
        "interval": s["interval"],
    }


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.number_formats.harness.dynamic_loss_scaler import scaled

    scale, streak = inputs["scale"], 0
    taken: list[Any] = []
    scales: list[float] = []
    for tensors in inputs["steps"]:
        gradients = [scaled(tensor, scale) for tensor in tensors]
        if all(np.isfinite(each).all() for each in gradients):
            taken.append([each.astype(np.float64) / scale for each in gradients])
            streak += 1
            if streak == inputs["interval"]:
                streak = 0
                if scale * inputs["growth"] <= LARGEST:
                    scale *= inputs["growth"]
        else:
            taken.append(None)
            scale, streak = scale * inputs["backoff"], 0
        scales.append(scale)
    return {"taken": taken, "scales": scales}


DYNAMIC_LOSS_SCALER = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 10, visible=True),
        _case("no overflow", 12, bad=0, scale=4),
        _case("an overflow at every step", 6, bad=1, scale=16),
        _case("an overflow just before it would grow", 14, bad=3, interval=3),
        _case("grows at every step", 9, interval=1, scale=8, bad=5),
        _case("other factors", 16, slow=1, interval=2, bad=7),
        _case("no tensors", 5, tensors=0),
        _case("one tensor", 11, tensors=1),
        _case("small gradients, a scale that grows far", 24, interval=1, bad=0, scale=-4),
        _case("a scale near the largest float32", 5, interval=1, bad=0, scale=126, tensors=0),
        _case("a scale that grows to the largest", 3, interval=1, bad=0, tensors=0, brim=1),
    ),
    random_case=lambda rng: _case(
        "a run drawn at random",
        int(rng.integers(10, 25)),
        scale=int(rng.integers(4, 17)),
        interval=int(rng.integers(1, 5)),
        bad=int(rng.integers(2, 7)),
        tensors=int(rng.integers(1, 5)),
    ),
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-6, 0.0),
    harness="gpu_course.lessons.number_formats.harness.dynamic_loss_scaler",
)
