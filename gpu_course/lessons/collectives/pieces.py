"""What the collectives by hand share: cases, inputs, what a piece is, and what the wire shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.puzzle.digits import IN_FLOAT32, long_numbers, rounding, with_specials
from gpu_course.puzzle.specification import Case, Finding, PerRank, Values
from gpu_course.ranks.calls import Call
from simt.text import count

FLOAT64_BYTES = 8


def ranks_of(case: Case) -> int:
    """Returns on how many ranks a case runs."""
    return case.sizes["ranks"]


def case(ranks: int, length: int, name: str = "", visible: bool = False) -> Case:
    """Returns a case of so many ranks, with so many numbers in all pieces together."""
    words = name or f"{count(ranks, 'rank')}, {count(length, 'number')}"
    return Case(words, {"ranks": ranks, "length": length}, visible)


NOT_FINITE = "infinity and NaN on each rank"
"""The name of a case, and what is among its numbers."""


VISIBLE = case(3, 9, "visible example", visible=True)
CASES = (
    VISIBLE,
    case(3, 11),
    # The last rank's piece has nothing in it.
    case(3, 2),
    # So long that what is sent beside the calls would show.
    case(3, 30_000),
    case(2, 7),
    case(1, 5),
    case(4, 8, NOT_FINITE),
    case(4, 13),
)
"""Every number of ranks of a laptop; lengths that they divide, and lengths that they do not."""


def random_case(rng: np.random.Generator) -> Case:
    """Returns a case of two or four ranks whose pieces are not of equal length."""
    ranks = int(rng.choice([2, 4]))
    length = ranks * int(rng.integers(4, 12)) + int(rng.integers(1, ranks))
    return case(ranks, length, "a length drawn at random")


def numbers(rng: np.random.Generator, case: Case) -> np.ndarray:
    """Returns (length,) numbers whose sums are exact in any order, none of them zero.

    Eighths in the example, which are easy to read; all others are too long for float32.
    """
    length = case.sizes["length"]
    if case.visible:
        return rng.integers(1, 400, length) * rng.choice([-1.0, 1.0], length) / 8.0
    found = long_numbers(rng, length)
    return with_specials(rng, found) if case.name == NOT_FINITE else found


TOLERANCE = rounding(4, 64.0)
"""Of a number of each of four ranks: whoever halves and doubles again is right as well."""


def whole_on_each(rng: np.random.Generator, case: Case) -> Values:
    """Returns inputs where every rank holds numbers of its own for all pieces."""
    return {"x": PerRank(tuple(numbers(rng, case) for _ in range(ranks_of(case))))}


def pieces(x: np.ndarray, ranks: int) -> list[np.ndarray]:
    """Returns the pieces of an array as `Tensor.tensor_split` cuts it.

    >>> [piece.tolist() for piece in pieces(np.arange(5), 3)]
    [[0, 1], [2, 3], [4]]
    """
    return np.array_split(x, ranks)


def summed(inputs: Values) -> np.ndarray:
    """Returns the sum over all ranks."""
    with np.errstate(invalid="ignore"):
        total: np.ndarray = np.sum(inputs["x"].parts, axis=0)
    return total


def same(got: Any, expected: Sequence[np.ndarray]) -> bool:
    """Whether every rank holds the array that stands at its place."""
    return all(np.array_equal(g, e) for g, e in zip(got, expected, strict=True))


def sends(wire: Sequence[Call], rank: int) -> list[Call]:
    """Returns the sends of a rank, in order."""
    return [call for call in wire if call.rank == rank and call.kind == "send"]


def by_hand(wire: Sequence[Call]) -> Finding | None:
    """Returns what is wrong where a collective of the library was called."""
    for call in wire:
        if call.kind not in ("send", "recv"):
            fact = f"rank {call.rank} calls dist.{call.kind}; this one is to be made by hand"
            return Finding("library-collective", fact, "refused", call.line)
    return None


def round_the_ring(wire: Sequence[Call], ranks: int) -> Finding | None:
    """Returns what is wrong where a message goes to another rank than the right neighbour."""
    for call in wire:
        right = (call.rank + 1) % ranks
        if call.kind == "send" and call.peer != right:
            fact = (
                f"rank {call.rank} sends to rank {call.peer}; its right neighbour is rank {right}"
            )
            return Finding("not-a-ring", fact, "over-budget", call.line)
    return None


def within_bytes(wire: Sequence[Call], allowed: Sequence[int]) -> Finding | None:
    """Returns what is wrong where a rank sends more bytes than it needs to.

    Args:
        wire: the calls of all ranks.
        allowed: bytes, for each rank.
    """
    for rank, most in enumerate(allowed):
        own = sends(wire, rank)
        sent = sum(call.payload_bytes for call in own)
        if sent > most:
            largest = max(own, key=lambda call: call.payload_bytes)
            key = "too-many-bytes"
            fact = f"rank {rank} sends {sent:,} bytes; {most:,} will do"
            return Finding(key, fact, "over-budget", largest.line)
    return None


def as_wide(wire: Sequence[Call], least: int) -> Finding | None:
    """Returns what is wrong where less crosses than the numbers take that have to cross.

    Values alone do not tell: those of an example may fit into float32.

    With a budget this makes what is sent exact, but for lengths that the ranks do not divide.

    Args:
        wire: the calls of all ranks.
        least: bytes of these numbers, all ranks together.
    """
    sent = int(sum(call.booked_bytes for call in wire))
    if sent >= least:
        return None
    fact = f"all ranks together send {sent:,} bytes; the numbers take {least:,}"
    line = next((call.line for call in wire if call.line), 0)
    return Finding("narrowed", fact, "refused", line)


def standstill(got: Values) -> str | None:
    """Returns the key of a standstill whose calls show how it came about, or None."""
    if got.get("failed") != "standstill":
        return None
    wire: Sequence[Call] = got["wire"]
    ranks = {call.rank for call in wire}
    last = [[call for call in wire if call.rank == rank][-1] for rank in sorted(ranks)]
    if any(_tag_of_another(call, wire) for call in last):
        return "tags-differ"
    kinds = {call.kind for call in last}
    if kinds == {"recv"} and not any(call.kind == "send" for call in wire):
        return "receives-first"
    if kinds == {"send"} and not any(call.kind == "recv" for call in wire):
        return "sends-first"
    return None


def _tag_of_another(call: Call, wire: Sequence[Call]) -> bool:
    """Whether this receive waits for a tag that its peer has given to none of its sends to it."""
    if call.kind != "recv":
        return False
    tags = {each.tag for each in wire if (each.kind, each.rank, each.peer) == _to(call)}
    return bool(tags) and call.tag not in tags


def _to(call: Call) -> tuple[str, int | None, int]:
    return ("send", call.peer, call.rank)


DIAGNOSES = {
    "receives-first": (
        "Every rank receives before it sends, so nobody ever sends. A ring needs both at the same "
        "time: which calls begin a message and return at once?"
    ),
    "sends-first": (
        "A send waits until the other side receives, and here every rank sends first. Which calls "
        "begin a message and return at once?"
    ),
    "tags-differ": (
        "A receive takes only messages with its own tag. Which tag does the sender give to the one "
        "that is waited for here?"
    ),
    "too-many-bytes": (
        "The result is right, and more crossed the wire than has to. In a step, what does the "
        "neighbour need that it does not have yet?"
    ),
    "not-a-ring": (
        "The result is right. In a ring, each rank sends to its right neighbour alone: the links "
        "are all in use at the same time, and nobody needs any other."
    ),
    "narrowed": (
        "Fewer bytes cross than float64 numbers take. These are short, so the result is right; "
        "longer ones would lose their last digits. Send the numbers as wide as they are."
    ),
    "seven-digits": IN_FLOAT32,
    "library-collective": (
        "The library has it, and here it is to be made from messages between two ranks: send and "
        "recv, isend and irecv, or batch_isend_irecv."
    ),
}
"""What all of them may be told."""
