"""Puzzle `vanishing_updates`: what becomes of many small updates to one weight."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(
    name: str, bits: int, count: int, part: int, *, visible: bool = False, **sizes: int
) -> Case:
    """`part`: updates are about so many hundredths of the step of the format."""
    return Case(name, {"bits": bits, "count": count, "part": part} | sizes, visible)


def _step(x: float, bits: int) -> float:
    return float(2.0 ** (np.frexp(abs(x))[1] - 1 - bits)) if x else 0.0


def nearest(x: float, bits: int) -> float:
    """Returns the nearest number with so many bits of mantissa, ties to even."""
    step = _step(x, bits)
    return float(np.rint(x / step) * step) if step else x


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    bits, count, part = (case.sizes[name] for name in ("bits", "count", "part"))
    # Either a power of two, whose neighbour below is only half as far, or any number.
    w = 1.0 if case.sizes.get("power") else nearest(float(rng.uniform(1.1, 1.9)), bits)
    w *= 2.0 ** int(rng.integers(-8, 4))
    sign = -1 if case.sizes.get("down") else 1
    step = _step(w, bits)
    # Multiples of a 4096th of a step, so that no sum in float64 rounds.
    sizes = np.rint(rng.uniform(0.6, 1.4, count) * part * 40.96)
    if case.sizes.get("ties"):
        sizes = rng.choice([1024, 2048, 2048, 2049, 2047, 4096], count)
    if case.sizes.get("zeros"):
        sizes[::2] = 0
    draws = (rng.integers(0, 4096, count) + 0.5) / 4096
    if case.sizes.get("level"):  # each draw is the very part of the way that its update goes
        draws = sizes % 4096 / 4096
    signs = rng.choice([-1, 1], count) if case.sizes.get("both") else np.full(count, sign)
    w = 0.0 if case.sizes.get("zero") else w * (-1 if case.sizes.get("negative") else 1)
    return {
        "w": w,
        "updates": (sizes * signs * step / 4096).tolist(),
        "draws": draws.tolist(),
        "mantissa_bits": bits,
    }


def three_ways(
    w: float, updates: list[float], draws: list[float], mantissa_bits: int
) -> tuple[int, float, float, float]:
    """Returns what `vanishing_updates` is asked for."""
    vanished, plain, drawn, master = 0, w, w, w
    for update, draw in zip(updates, draws, strict=True):
        new = nearest(plain + update, mantissa_bits)
        vanished += new == plain and update != 0
        plain = new
        master += update
        wide = drawn + update
        step = _step(wide, mantissa_bits)
        if step:
            low = np.floor(wide / step)
            drawn = float((low + (draw < wide / step - low)) * step)
        else:
            drawn = wide
    return int(vanished), plain, nearest(master, mantissa_bits), drawn


VANISHING_UPDATES = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example: bfloat16", 7, 40, 30, visible=True),
        _case("no updates", 7, 0, 30),
        _case("updates of more than a step", 7, 20, 170),
        _case("ties", 7, 60, 50, ties=1),
        _case("down from a power of two", 7, 12, 35, power=1, down=1),
        _case("up from a power of two", 7, 12, 35, power=1),
        _case("a weight below 0", 10, 50, 40, negative=1),
        _case("zeros among the updates", 7, 30, 45, zeros=1),
        _case("both ways", 10, 80, 60, both=1),
        _case("three bits of mantissa", 3, 50, 20),
        _case("from 0", 7, 30, 40, zero=1),
        _case("draws as large as the part of the way", 7, 12, 40, zeros=1, level=1),
    ),
    random_case=lambda rng: _case(
        "updates drawn at random",
        int(rng.choice([3, 7, 10])),
        int(rng.integers(20, 80)),
        int(rng.integers(10, 90)),
        down=int(rng.integers(2)),
        negative=int(rng.integers(2)),
        both=int(rng.integers(2)),
    ),
    inputs=_inputs,
    reference=lambda inputs, case: {"result": three_ways(**inputs)},
)
