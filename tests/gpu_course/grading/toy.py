"""A small puzzle that no lesson owns: the tests of the grader do not change with the course."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.puzzle import Case, KernelPuzzle, Launch, Lesson
from gpu_course.puzzle.specification import Values

HEAD = "from numba import cuda\n\n\n@cuda.jit\ndef plus_ten(out, a, size):\n"
STUB = HEAD + "    i = cuda.grid(1)\n    # your code here (about 2 lines)\n"
RIGHT = HEAD + "    i = cuda.grid(1)\n    if i < size:\n        out[i] = a[i] + 10\n"


def answer(*body: str) -> str:
    """Returns the text of an answer with these lines in the kernel."""
    return HEAD + "".join(f"    {line}\n" for line in body)


def guarded(*body: str) -> str:
    """Returns the text of an answer with these lines behind the right index and guard."""
    return answer("i = cuda.grid(1)", "if i < size:", *(f"    {line}" for line in body))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    values = rng.permutation(np.arange(1, 3 * size + 1))[:size] / np.float32(8)
    return {"a": values.astype(np.float32), "size": size}


def _launches(case: Case) -> tuple[Launch, ...]:
    block = case.sizes["block"]
    return (Launch("plus_ten", -(-case.sizes["size"] // block), block, ("out", "a", "size")),)


TOY = KernelPuzzle(
    name="90_toys/plus_ten",
    title="ten more",
    statement="Put a[i] + 10 into out[i].",
    parameters={"plus_ten": ("out", "a", "size")},
    cases=(
        Case("one cell", {"size": 1, "block": 4}),
        Case("visible example", {"size": 10, "block": 4}, visible=True),
        Case("many blocks", {"size": 70, "block": 32}),
    ),
    random_case=lambda rng: Case("at random", {"size": int(rng.integers(90, 200)), "block": 32}),
    inputs=_inputs,
    launches=_launches,
    reference=lambda inputs, case: {"out": inputs["a"] + np.float32(10)},
    hints=("weak", "stronger", "strongest"),
    diagnoses={"out-of-bounds": "The toy's own sentence about the end of the array."},
)

PAIR = replace(
    TOY,
    name="90_toys/pair",
    parameters={"plus_ten": ("out", "a", "size"), "plus_one": ("out", "a", "size")},
    launches=lambda case: tuple(
        Launch(function, case.sizes["size"], 1, (out, "a", "size"))
        for function, out in (("plus_ten", "tens"), ("plus_one", "ones"))
    ),
    reference=lambda inputs, case: {
        "tens": inputs["a"] + np.float32(10),
        "ones": inputs["a"] + np.float32(1),
    },
    diagnoses={},
)

FIXED = replace(TOY, name="90_toys/fixed", constants={"TPB": 4})


def _table(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    values = rng.permutation(rows * cols).reshape(rows, cols).astype(np.int32)
    return {"a": values, "rows": rows, "cols": cols}


TABLE = replace(
    TOY,
    name="90_toys/table",
    parameters={"table": ("out", "a", "rows", "cols")},
    cases=(Case("visible example", {"rows": 4, "cols": 4}, visible=True),),
    random_case=lambda rng: Case("at random", {"rows": int(rng.integers(2, 6)), "cols": 7}),
    inputs=_table,
    launches=lambda case: (Launch("table", 1, (8, 8), ("out", "a", "rows", "cols")),),
    reference=lambda inputs, case: {"out": inputs["a"] + np.int32(1)},
    diagnoses={},
)

PUZZLES = (TOY, PAIR, FIXED, TABLE)
LESSON = Lesson("90_toys", "Toys", 0, 1, "You can test a grader.", PUZZLES)
STUBS = {TOY.name: STUB}
