"""Puzzle `summa`: a product of matrices on a grid of ranks, panel by panel."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.collectives import pieces as messages
from gpu_course.lessons.tensor_parallel.pieces import (
    FLOAT64_BYTES,
    SUMS,
    alike,
    drawn,
    ranks_of,
    sent,
)
from gpu_course.puzzle.digits import IN_FLOAT32, to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Mistake,
    PerRank,
    PythonPuzzle,
    Values,
)

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
    a = drawn(rng, case, case.sizes["m"], case.sizes["k"])
    b = drawn(rng, case, case.sizes["k"], case.sizes["n"])
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    due = due_bytes(case)
    for call in got["wire"]:
        if call.kind not in ALLOWED:
            fact = f"rank {call.rank} calls dist.{call.kind}; a panel goes to a row or a column"
            return Finding("library-collective", fact, "refused", call.line)
    (rows, columns), widths = inputs["grid"], inputs["widths"]
    for call in got["wire"]:
        i, j = divmod(call.rank, columns)
        of_a = len(inputs["a"].parts[i * columns]) if columns > 1 else 0
        of_b = inputs["b"].parts[j].shape[1] if rows > 1 else 0
        panel = FLOAT64_BYTES * max(widths) * max(of_a, of_b)
        if call.kind == "send" and call.payload_bytes > panel:
            size = call.payload_bytes
            fact = f"rank {call.rank} sends {size:,} bytes at once; a panel has {panel:,}"
            return Finding("more-than-a-panel", fact, "over-budget", call.line)
    total = int(sent(got["wire"]))
    if total > due:
        largest = max(got["wire"], key=lambda call: call.booked_bytes)
        out = _out_of_line(got, columns)
        key = "out-of-line" if out else "too-many-bytes"
        fact = f"all ranks together send {total:,} bytes; {due:,} will do"
        return Finding(key, fact, "over-budget", largest.line)
    return messages.as_wide(got["wire"], due) or _held(inputs, got)


def room(inputs: Values, rank: int, *, broadcasts: bool = False) -> int:
    """Returns the bytes that a rank may hold beside its blocks of A and B.

    The block of C, the product of two panels, and of A and of B two panels: one in use, and the
    next on its way or a copy of one's own. Half a panel more is half way to who keeps three.

    Args:
        inputs: of the case.
        rank: whose room.
        broadcasts: True where the panels are broadcast. gloo has two threads, and each holds on to
            the tensor of its last collective: that is one panel more, whatever an answer does.
    """
    a, b = inputs["a"].parts[rank], inputs["b"].parts[rank]
    width = max(inputs["widths"])
    of_c, panels = len(a) * b.shape[1], width * (len(a) + b.shape[1])
    return FLOAT64_BYTES * (2 * of_c + (7 if broadcasts else 5) * panels // 2)


def _held(inputs: Values, got: Values) -> Finding | None:
    """Returns what is wrong where a rank keeps panels that it has multiplied with."""
    broadcasts = any(call.kind == "broadcast" for call in got["wire"])
    for rank, held in enumerate(got.get("peak_bytes", ())):
        most = room(inputs, rank, broadcasts=broadcasts)
        if held > most:
            fact = f"rank {rank} holds {held:,} bytes beside its blocks; {most:,} will do"
            return Finding("panels-kept", fact, "over-budget")
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
    if "failed" in got:
        wire = got["wire"]
        kinds = {[c for c in wire if c.rank == r][-1].kind for r in {c.rank for c in wire}}
        return "all-wait" if got["failed"] == "standstill" and len(kinds) == 1 else None
    if to_seven_digits(expected, got):
        return "seven-digits"
    (rows, columns), result, right = inputs["grid"], got["result"], expected["result"]
    a, b = inputs["a"].parts, inputs["b"].parts
    if case.sizes["ranks"] == 1:
        return None
    if rows == columns:
        own = [x @ y if x.shape[1] == len(y) else None for x, y in zip(a, b, strict=True)]
        if all(o is None or alike([g], [o]) for g, o in zip(result, own, strict=True)):
            return "own-blocks-alone"
        whole_a, whole_b = whole(a, rows, columns), whole(b, rows, columns)
        swapped = (
            [block for row in blocks(whole_b @ whole_a, rows, columns) for block in row]
            if (whole_a.shape[0] == whole_b.shape[1])
            else []
        )
        if swapped and alike(result, swapped):
            return "factors-exchanged"
        last = [_one_panel(a, b, inputs, rank, -1) for rank in range(len(a))]
        if alike(result, last):
            return "last-panel-alone"
        short = [r - e for r, e in zip(right, last, strict=True)]
        if alike(result, short):
            return "last-panel-missing"
    return None


def _one_panel(
    a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...], inputs: Values, rank: int, k: int
) -> np.ndarray:
    """Returns what one panel of a square grid gives of a rank's block."""
    rows, columns = inputs["grid"]
    i, j = divmod(rank, columns)
    product: np.ndarray = a[i * columns + k % columns] @ b[(k % rows) * columns + j]
    return product


def _call(inputs: Values) -> str:
    shapes = [inputs[name].parts[0].shape for name in "ab"]
    return f"summa(a, b, {inputs['grid']}, {inputs['widths']}), {shapes[0]} and {shapes[1]}"


DEBRIEF = Debrief(
    shows=("booked_bytes",),
    why=(
        "A block of C is a sum over panels: a column of panels of A, times a row of panels of B. "
        "Each panel goes along its row or column of the grid once, and is let go after its product."
    ),
    alternative=(
        "Cannon's way shifts: A's blocks to the left and B's upward, to neighbours alone. As many "
        "bytes in the loop, and some more before it to bring the blocks into place."
    ),
)

SUMMA = PythonPuzzle(
    name="24_tensor_parallel/summa",
    title="a grid of ranks",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "Both matrices lie in blocks on a grid of ranks, and so shall their product. Hand panels "
        "along rows and columns, multiply, and let them go: no rank ever has a whole row of "
        "blocks."
    ),
    parameters={"summa": ("a", "b", "grid", "widths")},
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
    diagnoses={
        "narrowed": messages.DIAGNOSES["narrowed"],
        "seven-digits": IN_FLOAT32,
        "panels-kept": (
            "The result is right, and a rank holds more panels than the one in use and the next. "
            "Once it has been multiplied with, who still needs a panel?"
        ),
        "all-wait": (
            "All ranks stand in the same kind of call. In each step one rank of a row sends and "
            "the others receive: how does a rank know which it is?"
        ),
        "own-blocks-alone": (
            "Each block of C is the product of this rank's own blocks. It is a sum over the whole "
            "inner dimension: where are the other panels?"
        ),
        "factors-exchanged": "This is B @ A, and asked for is A @ B.",
        "last-panel-alone": (
            "Each block of C is what the last panel gives. The others have been there, too: what "
            "became of their products?"
        ),
        "last-panel-missing": "The last panel is missing in every block of C.",
        "more-than-a-panel": (
            "The result is right, and more than a panel was sent at once. What a rank receives it "
            "has to hold: which part of it does the next product need?"
        ),
        "out-of-line": (
            "The result is right, and blocks went to ranks that do not need them. Which blocks of "
            "A does a block of C depend on, and in which row of the grid are they?"
        ),
        "too-many-bytes": (
            "The result is right, and something was sent twice, or to a rank that had it. How "
            "often does a block have to leave its rank?"
        ),
        "library-collective": (
            "A panel goes from one rank to its row or its column: by messages, or by a broadcast "
            "in a group of just these ranks."
        ),
    },
    hints=(
        "On a 2 x 2 grid, write a block of C as a sum of two products of blocks. Who has them?",
        (
            "Take the inner dimension panel by panel. For panel k, one rank of each row has the "
            "piece of A, and one rank of each column has the piece of B."
        ),
        (
            "For each panel: share the piece of A along the row, share the piece of B along the "
            "column, and add their product to c. Where the grid has one column, each rank has "
            "every piece of A already, as a slice of its block."
        ),
    ),
    equivalent_mutants={
        f"summa:constant:{line}": "A row or a column of one rank has one place, 0 and -1 alike."
        for line in (
            "from_a = my_row[k if columns > 1 else -1]",
            "from_b = my_column[k if rows > 1 else -1]",
        )
    },
    mistakes=(
        Mistake("multiplies_its_own", "wrong-result", "own-blocks-alone"),
        Mistake("keeps_the_last_product", "wrong-result", "last-panel-alone"),
        Mistake("stops_before_the_last", "wrong-result", "last-panel-missing"),
        Mistake("everybody_receives", "hazard", "all-wait"),
        Mistake("sends_to_everybody", "over-budget", "out-of-line"),
        Mistake("sends_a_panel_twice", "over-budget", "too-many-bytes"),
        Mistake("hands_its_block_on_whole", "over-budget", "more-than-a-panel"),
        Mistake("gathers_before_it_multiplies", "over-budget", "panels-kept"),
        Mistake("asks_the_library", "refused", "library-collective"),
        Mistake("sends_them_in_float32", "refused", "narrowed"),
        Mistake("does_not_wait", "hazard", "not-waited"),
    ),
    source=(
        "van de Geijn, Watts, SUMMA: Scalable universal matrix multiplication algorithm, "
        "Concurrency: Practice and Experience 9(4), 1997"
    ),
)
