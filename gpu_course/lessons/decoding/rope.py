"""Puzzle `rope`: queries and keys turned by their position."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.decoding.numbers import within
from gpu_course.puzzle.builders import blocks_to_cover, gives, sized, special
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_FLOAT64, bytes_loaded, bytes_stored
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

TPB = 64
BASE = 10_000.0
ARGUMENTS = ("q", "k", "position", "cos", "sin", "heads", "kv_heads", "half")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    tokens, half, positions = s["tokens"], s["half"], s["positions"]
    place = rng.integers(0, positions, tokens)
    place[-1] = positions - 1
    cos, sin = _turns(positions, half)
    return {
        "q": within(rng, 4, (tokens, s["heads"], 2 * half), case),
        "k": within(rng, 4, (tokens, s["kv_heads"], 2 * half), case),
        "position": place.astype(np.int32),
        "cos": cos,
        "sin": sin,
        "heads": s["heads"],
        "kv_heads": s["kv_heads"],
        "half": half,
    }


def _turns(positions: int, half: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of position * BASE ** (-pair / half), float32 (positions, half)."""
    speed = BASE ** (-np.arange(half) / half)
    angle = np.arange(positions)[:, None] * speed
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def _turned(inputs: Values) -> Values:
    half = inputs["half"]
    cos = inputs["cos"].astype(np.float64)[inputs["position"]][:, None]
    sin = inputs["sin"].astype(np.float64)[inputs["position"]][:, None]

    def turned(x: np.ndarray) -> np.ndarray:
        a, b = x[..., :half].astype(np.float64), x[..., half:].astype(np.float64)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1).astype(np.float32)

    return {"q": turned(inputs["q"]), "k": turned(inputs["k"])}


def _launches(case: Case) -> tuple[Launch, ...]:
    s = case.sizes
    pairs = (s["heads"] + s["kv_heads"]) * s["half"]
    return (Launch("rope", (s["tokens"], blocks_to_cover(pairs, TPB)), TPB, ARGUMENTS),)


def _large(least_bytes: int) -> Case:
    heads, kv_heads, half = 32, 8, 64
    token = 4 * (heads + kv_heads) * 2 * half
    return sized(
        "past L2",
        tokens=blocks_to_cover(least_bytes, token),
        heads=heads,
        kv_heads=kv_heads,
        half=half,
        positions=1024,
    )


ROPE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, tokens=3, heads=2, kv_heads=1, half=8, positions=9),
        sized("a single pair", tokens=1, heads=1, kv_heads=1, half=1, positions=6),
        sized("position 0", tokens=1, heads=3, kv_heads=1, half=2, positions=1),
        sized("exactly one block", tokens=2, heads=3, kv_heads=1, half=16, positions=20),
        sized("one pair more", tokens=2, heads=4, kv_heads=1, half=13, positions=20),
        sized("a token of a small model", tokens=1, heads=4, kv_heads=2, half=16, positions=77),
        sized("far along", tokens=2, heads=1, kv_heads=1, half=32, positions=3000),
        special("NaN and infinities", tokens=4, heads=3, kv_heads=2, half=9, positions=12),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        tokens=int(rng.integers(2, 5)),
        heads=2 * int(rng.integers(1, 4)),
        kv_heads=2,
        half=int(rng.integers(5, 20)),
        positions=int(rng.integers(10, 90)),
    ),
    inputs=_inputs,
    large=_large,
    launches=_launches,
    reference=gives(lambda inputs: _turned(inputs)),
    tolerance=(1e-5, 1e-5),
    budgets=(
        bytes_loaded(
            "Each number of q and k has to come from memory once. Which two does one pair need, "
            "and which two numbers does it become?"
        ),
        bytes_stored("Each number is written once, where it stood."),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread turns at most one pair, so it writes at most two cells.", 2),
)
