"""Puzzle `layer_batch`: the smallest batch that is not bound by bandwidth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gpu_course.lessons.roofline.layers import widths
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values
from gpu_course.units import GIGA


def _case(
    name: str,
    d: int,
    f: int,
    gflops: int,
    gbytes: int,
    multiple: int,
    bits: tuple[int, int, int] = (16, 16, 16),
    visible: bool = False,
    giga: int = GIGA,
) -> Case:
    x, w, y = bits
    sizes = {"d": d, "f": f, "gflops": gflops, "gbytes": gbytes, "multiple": multiple}
    sizes |= {"x_bits": x, "w_bits": w, "y_bits": y}
    return Case(name, sizes if giga == GIGA else sizes | {"giga": giga}, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    giga = s.get("giga", GIGA)
    return {
        "d": s["d"],
        "f": s["f"],
        "itemsizes": widths(s["x_bits"], s["w_bits"], s["y_bits"]),
        "peak": float(s["gflops"] * giga),
        "bandwidth": float(s["gbytes"] * giga),
        "multiple": s["multiple"],
    }


def _random_case(rng: np.random.Generator) -> Case:
    while True:
        d, f = (int(n) for n in rng.integers(200, 9000, size=2))
        bits = tuple(int(n) for n in rng.choice([4, 8, 16, 32], size=3))
        case = _case(
            "a layer and a machine drawn at random",
            d,
            f,
            int(rng.integers(20_000, 900_000)),
            int(rng.integers(300, 5000)),
            int(rng.choice([1, 8, 64, 128])),
            bits,  # type: ignore[arg-type]
        )
        exact = _crossing(**_inputs(rng, case))
        # A batch that is a hair from a multiple would hang on how a sum of floats is rounded.
        tiles = None if exact is None else exact / case.sizes["multiple"]
        if tiles is None or Fraction(1, 1000) < tiles % 1 < Fraction(999, 1000):
            return case


def _crossing(
    d: int, f: int, itemsizes: tuple[float, ...], peak: float, bandwidth: float, multiple: int
) -> Fraction | None:
    """The batch, as a number without rounding, at which both take equally long; None for never."""
    x, w, y = (Fraction(size) for size in itemsizes)
    ahead = 2 * d * f / Fraction(peak) - (x * d + y * f) / Fraction(bandwidth)
    return w * d * f / Fraction(bandwidth) / ahead if ahead > 0 else None


def _rounded(batch: Fraction | float | None, multiple: int) -> int | None:
    return None if batch is None else math.ceil(batch / multiple) * multiple


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _rounded(_crossing(**inputs), inputs["multiple"])}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said, right = got["result"], expected["result"]
    if said is None:
        return "not-never"
    return "never" if right is None and isinstance(said, int | float) else None


LAYER_BATCH = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        # Here every way of the diagnoses below comes to a batch of its own.
        _case("visible example", 768, 2048, 312_000, 2039, 8, (16, 8, 32), visible=True),
        _case("one width for all", 4096, 4096, 312_000, 2039, 64),
        _case("any batch will do", 4096, 4096, 312_000, 2039, 1),
        _case("weights of a byte", 5120, 13_824, 989_500, 3350, 64, (16, 8, 16)),
        _case("weights of half a byte, wide results", 3072, 8192, 312_000, 2039, 16, (16, 4, 32)),
        _case("float32", 1000, 3000, 66_900, 3350, 8, (32, 32, 32)),
        _case("a narrow layer", 300, 900, 312_000, 2039, 64),
        _case("too narrow for any batch", 64, 4096, 989_500, 3350, 64),
        _case("just too narrow", 64, 64, 32, 1, 1),
        _case("a hair more than whole tiles", 7154, 8345, 742_509, 4060, 64),
        _case("millions of rows", 1907, 8333, 469_977, 303, 64),
        _case("rows that weigh more than the weights", 2000, 700, 312_000, 2039, 1, (32, 8, 8)),
        # All numbers are powers of two, so no formula has anything to round: 256 rows, exactly.
        _case(
            "a whole number of tiles", 2048, 1024, 1 << 19, 1 << 11, 64, (16, 8, 32), giga=1 << 30
        ),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
