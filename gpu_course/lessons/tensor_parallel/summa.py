"""Puzzle `summa`: a product of matrices on a grid of ranks, panel by panel."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.pieces import (
    SUMS,
    drawn_array,
)
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, as_wide, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)
from gpu_course.ranks.traffic import booked_bytes

ALLOWED = ("send", "recv", "broadcast", "barrier")


def _case(
    rows: int,
    columns: int,
    m: int,
    k: int,
    n: int,
    name: str = "",
    visible: bool = False,
    measured: bool = False,
) -> Case:
    words = name or f"a grid of {rows} x {columns}, {m} x {k} times {k} x {n}"
    sizes = {"ranks": rows * columns, "rows": rows, "columns": columns, "m": m, "k": k, "n": n}
    return Case(words, sizes | {"measured": int(measured)}, visible)


_CASES = (
    _case(2, 2, 4, 6, 4, "visible example", visible=True),
    # Nothing divides.
    _case(2, 2, 5, 7, 3),
    # Blocks and a panel without a number.
    _case(2, 2, 1, 1, 9),
    _case(1, 1, 3, 4, 2),
    _case(1, 2, 3, 5, 7),
    _case(2, 1, 5, 3, 4),
    # So many panels that it shows who keeps them.
    _case(1, 4, 200, 45, 4, measured=True),
    _case(4, 1, 4, 45, 200, measured=True),
    # So much that what is sent beside the calls would show.
    _case(2, 2, 71, 93, 80),
)


def _random_case(rng: np.random.Generator) -> Case:
    m, k, n = (int(rng.integers(4, 12)) for _ in range(3))
    return _case(2, 2, m, k, n, "sizes drawn at random")


def blocks(whole: np.ndarray, rows: int, columns: int) -> list[list[np.ndarray]]:
    """Returns the blocks [i][j] of a matrix, cut as evenly as can be."""
    return [
        [np.ascontiguousarray(block) for block in np.array_split(row, columns, 1)]
        for row in np.array_split(whole, rows)
    ]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, columns = case.sizes["rows"], case.sizes["columns"]
    a = drawn_array(rng, case, case.sizes["m"], case.sizes["k"])
    b = drawn_array(rng, case, case.sizes["k"], case.sizes["n"])
    of_a, of_b = blocks(a, rows, columns), blocks(b, rows, columns)
    panels = np.array_split(np.arange(case.sizes["k"]), max(rows, columns))
    return {
        "function": "summa",
        "measured": bool(case.sizes["measured"]),
        "a": PerRank(tuple(block for row in of_a for block in row)),
        "b": PerRank(tuple(block for row in of_b for block in row)),
        "grid": (rows, columns),
        "widths": [len(panel) for panel in panels],
    }


def whole(parts: tuple[np.ndarray, ...], rows: int, columns: int) -> np.ndarray:
    """Returns a matrix from its blocks, rank by rank."""
    return np.block([list(parts[i * columns : (i + 1) * columns]) for i in range(rows)])


def _reference(inputs: Values, case: Case) -> Values:
    rows, columns = inputs["grid"]
    a, b = (whole(inputs[name].parts, rows, columns) for name in ("a", "b"))
    return {"result": tuple(block for row in blocks(a @ b, rows, columns) for block in row)}


def due_bytes(case: Case) -> int:
    """Returns what all ranks send: A to the other columns, B to the other rows, once each.

    >>> due_bytes(_case(2, 2, 4, 6, 4))  # (24 + 24) numbers
    384
    """
    s = case.sizes
    numbers = s["m"] * s["k"] * (s["columns"] - 1) + s["k"] * s["n"] * (s["rows"] - 1)
    return FLOAT64_BYTES * numbers


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    due = due_bytes(case)
    for call in got["wire"]:
        if call.kind not in ALLOWED:
            fact = f"rank {call.rank} calls dist.{call.kind}; a panel goes to a row or a column"
            return Judgement("library-collective", fact, "refused", call.line)
    (rows, columns), widths = inputs["grid"], inputs["widths"]
    for call in got["wire"]:
        i, j = divmod(call.rank, columns)
        of_a = len(inputs["a"].parts[i * columns]) if columns > 1 else 0
        of_b = inputs["b"].parts[j].shape[1] if rows > 1 else 0
        panel = FLOAT64_BYTES * max(widths) * max(of_a, of_b)
        if call.kind == "send" and call.payload_bytes > panel:
            size = call.payload_bytes
            fact = f"rank {call.rank} sends {size:,} bytes at once; a panel has {panel:,}"
            return Judgement("more-than-a-panel", fact, "over-budget", call.line)
    total = int(booked_bytes(got["wire"]))
    if total > due:
        largest = max(got["wire"], key=lambda call: call.booked_bytes)
        out = _out_of_line(got, columns)
        key = "out-of-line" if out else "too-many-bytes"
        fact = f"all ranks together send {total:,} bytes; {due:,} will do"
        return Judgement(key, fact, "over-budget", largest.line)
    return as_wide(got["wire"], due) or _held(inputs, got)


def room(inputs: Values, rank: int) -> int:
    """Returns the bytes that a rank may hold beside its blocks of A and B.

    The block of C, the product of two panels, and of A and of B two panels: one in use, and the
    next on its way or a copy of one's own. Half a panel more is half way to who keeps three.

    Args:
        inputs: of the case.
        rank: whose room.
    """
    a, b = inputs["a"].parts[rank], inputs["b"].parts[rank]
    width = max(inputs["widths"])
    of_c, panels = len(a) * b.shape[1], width * (len(a) + b.shape[1])
    return FLOAT64_BYTES * (2 * of_c + 5 * panels // 2)


def _held(inputs: Values, got: Values) -> Judgement | None:
    """Returns what is wrong where a rank keeps panels that it has multiplied with."""
    for rank, held in enumerate(got.get("peak_bytes", ())):
        most = room(inputs, rank)
        if held > most:
            fact = f"rank {rank} holds {held:,} bytes beside its blocks; {most:,} will do"
            return Judgement("panels-kept", fact, "over-budget")
    return None


def _out_of_line(got: Values, columns: int) -> bool:
    """Whether something was sent to a rank in another row and another column."""
    for call in got["wire"]:
        for other in call.group if call.kind == "broadcast" else (call.peer,):
            if other is None or call.kind not in ("send", "broadcast"):
                continue
            if call.rank // columns != other // columns and call.rank % columns != other % columns:
                return True
    return False


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if got.get("failed") != "standstill":
        return None
    wire = got["wire"]
    kinds = {[c for c in wire if c.rank == r][-1].kind for r in {c.rank for c in wire}}
    return "all-wait" if len(kinds) == 1 else None


def _call(inputs: Values) -> str:
    shapes = [inputs[name].parts[0].shape for name in "ab"]
    return f"summa(a, b, {inputs['grid']}, {inputs['widths']}), {shapes[0]} and {shapes[1]}"


SUMMA = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.on_rank",
    self_check="the memory that a rank holds at one time",
    ranks=ranks_of,
    torch=True,
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=SUMS,
    call=_call,
    judge=_judge,
    diagnose=_diagnose,
)
