"""Puzzle `decode_time`: how long a step takes that makes one token for each sequence."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.decoding.costs import Cache, step_of
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_PEAK, _BANDWIDTH = 3e9, 2e8
"""A tiny card with a ridge of 15 FLOP for each byte."""
_VISIBLE: Values = {
    "matrices": [(64, 96, 8), (64, 64, 4.25), (48, 256, 16), (40, 30, 32)],
    "cache": {"layers": 3, "heads": 8, "kv_heads": 2, "head_size": 16, "bits": 8},
    "lengths": [9, 3, 30, 1] * 6,
    "peak": _PEAK,
    "bandwidth": _BANDWIDTH,
    "small": 5,
    "gap_s": 2e-5,
}
"""Here every way of the diagnoses comes to times of its own: the last matrix and the attentions
wait for memory, the other matrices for arithmetic."""


def _case(name: str, batch: int, visible: bool = False, **sizes: int) -> Case:
    return sized(name, visible=visible, batch=batch, **sizes)


def _random_case(rng: np.random.Generator) -> Case:
    return _case("a step drawn at random", int(rng.integers(2, 70)), longest=400)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {name: list(each) if isinstance(each, list) else each
                for name, each in _VISIBLE.items()}  # fmt: skip
    s = case.sizes
    kv_heads = 1 if s.get("one_kv_head") else int(rng.integers(1, 5))
    matrices = [
        (int(rng.integers(8, 200)), int(rng.integers(8, 200)), _bits(rng))
        for _ in range(s.get("matrices", int(rng.integers(2, 9))))
    ]
    longest = s.get("longest", 0)
    return {
        "matrices": matrices,
        "cache": {
            "layers": int(rng.integers(1, 6)),
            "heads": kv_heads * (48 if s.get("one_kv_head") else int(rng.integers(2, 6))),
            "kv_heads": kv_heads,
            "head_size": int(rng.integers(8, 40)),
            "bits": int(rng.choice([4, 8, 16])),
        },
        "lengths": [int(rng.integers(0, longest + 1)) for _ in range(s["batch"])],
        "peak": _PEAK * float(rng.uniform(0.5, 2)),
        "bandwidth": _BANDWIDTH * float(rng.uniform(0.5, 2)),
        "small": s.get("small", int(rng.integers(1, 20))),
        "gap_s": 0.0 if s.get("free") else float(rng.uniform(1e-6, 1e-4)),
    }


def _bits(rng: np.random.Generator) -> float:
    found = float(rng.choice([4, 4.25, 4.5, 5, 8, 16]))
    return int(found) if found.is_integer() else found


def counted(
    matrices: list[tuple[int, int, float]],
    cache: dict[str, int],
    lengths: list[int],
    peak: float,
    bandwidth: float,
    small: int,
    gap_s: float,
) -> tuple[float, float]:
    """Returns the seconds of a step, and the tokens/s of its batch."""
    step = step_of(matrices, Cache.of(cache), lengths, peak, bandwidth, small, gap_s)
    return step.seconds, step.tokens_per_s


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": counted(**inputs)}


DECODE_TIME = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 24, visible=True),
        _case("one sequence, an empty cache", 1),
        _case("one sequence, a long one", 1, longest=4000),
        _case("a batch past the ridge", 200, longest=20),
        _case("long sequences, free gaps", 12, longest=3000, free=1),
        _case("attention that waits for arithmetic", 30, longest=900, one_kv_head=1),
        _case("no matrix", 5, longest=100, matrices=0, small=0),
        _case("no sequence", 0),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 0.0),
)
