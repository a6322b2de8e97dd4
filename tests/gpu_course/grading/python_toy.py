"""Small Python puzzles that no lesson owns, with answers to them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from gpu_course.puzzle import Case, Judgement, Lesson, PythonPuzzle
from gpu_course.puzzle.specification import Values

HEAD = '"""How many blocks cover so many cells."""\n\n\ndef cover(cells, block):\n'
STUB = HEAD + "    # your code here (about 1 line)\n    pass\n"
RIGHT = HEAD + "    return -(-cells // block)\n"
WRONG = HEAD + "    return cells * block + 7\n"


def answer(*body: str) -> str:
    """Returns the text of an answer with these lines in the function."""
    return HEAD + "".join(f"    {line}\n" for line in body)


COVER = PythonPuzzle(
    name="91_python_toys/cover",
    title="blocks that cover",
    statement="How many blocks cover so many cells?",
    parameters={"cover": ("cells", "block")},
    cases=(
        Case("visible example", {"cells": 10, "block": 4}, visible=True),
        Case("one cell", {"cells": 1, "block": 4}),
        Case("exactly two blocks", {"cells": 64, "block": 32}),
    ),
    random_case=lambda rng: Case("at random", {"cells": int(rng.integers(90, 200)), "block": 7}),
    inputs=lambda rng, case: dict(case.sizes),
    reference=lambda inputs, case: {"result": -(-inputs["cells"] // inputs["block"])},
    hints=("weak", "stronger", "strongest"),
    diagnoses={"rounded": "The toy's own sentence about rounding."},
    seconds=30.0,
    memory_bytes=256 << 20,
)


def _table(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    values = 1 + rng.permutation(rows * cols).reshape(rows, cols)
    return {"a": (values / np.float32(8)).astype(np.float32), "scale": 3}


SCALE = replace(
    COVER,
    name="91_python_toys/scale",
    parameters={"scale": ("a", "scale")},
    cases=(
        Case("visible example", {"rows": 2, "cols": 3}, visible=True),
        Case("one row", {"rows": 1, "cols": 5}),
    ),
    random_case=lambda rng: Case("at random", {"rows": int(rng.integers(2, 9)), "cols": 4}),
    inputs=_table,
    reference=lambda inputs, case: {"result": inputs["a"] * np.float32(inputs["scale"])},
    diagnoses={},
)

TENSOR = replace(SCALE, name="91_python_toys/tensor", torch=True)


def _judge_order(inputs: Values, case: Case, got: Values) -> Judgement | None:
    order = got["result"]
    if sorted(order) != list(range(case.sizes["items"])):
        return Judgement("wrong", f"{order} is no order of {case.sizes['items']} items")
    steps = sum(abs(a - b) for a, b in itertools.pairwise(order))
    if steps > case.sizes["items"] - 1:
        fact = f"the way is {steps} long; {case.sizes['items'] - 1} would do"
        return Judgement("over-budget", fact, "over-budget")
    return None


ORDER = replace(
    COVER,
    name="91_python_toys/order",
    parameters={"order": ("items",)},
    cases=(Case("visible example", {"items": 4}, visible=True),),
    random_case=lambda rng: Case("at random", {"items": int(rng.integers(3, 9))}),
    inputs=lambda rng, case: {"items": case.sizes["items"]},
    reference=lambda inputs, case: {},
    judge=_judge_order,
    diagnoses={},
)


def _two_calls(rng: np.random.Generator, case: Case) -> Values:
    x = case.sizes["x"]
    return {"calls": {"half": ("half", float(x)), "square": ("square", x)}}


TWO = replace(
    COVER,
    name="91_python_toys/two",
    parameters={"half": ("x",), "square": ("x",)},
    cases=(Case("visible example", {"x": 3}, visible=True), Case("nothing", {"x": 0})),
    random_case=lambda rng: Case("at random", {"x": int(rng.integers(9, 99))}),
    inputs=_two_calls,
    reference=lambda inputs, case: {"half": case.sizes["x"] / 2, "square": case.sizes["x"] ** 2},
    diagnoses={},
    harness="gpu_course.puzzle.harness.calls",
)

PUZZLES = (COVER, SCALE, TENSOR, ORDER, TWO)
LESSON = Lesson("91_python_toys", "Python toys", 0, 1, "You can test a grader.", PUZZLES)
STUBS = {COVER.name: STUB}
