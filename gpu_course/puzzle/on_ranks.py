"""What the wire shows of an answer on ranks: what it sent, and how it came to a standstill.

A judge is given the calls of all ranks; each function here finds one thing in them that is asked
for by several puzzles.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.puzzle.specification import Case, Judgement, Values
from gpu_course.ranks.calls import Call

FLOAT64_BYTES = 8


def ranks_of(case: Case) -> int:
    """Returns on how many ranks a case runs."""
    return case.sizes["ranks"]


def sends(wire: Sequence[Call], rank: int) -> list[Call]:
    """Returns the sends of a rank, in order."""
    return [call for call in wire if call.rank == rank and call.kind == "send"]


def passes(wire: Sequence[Call], rank: int) -> list[list[Call]]:
    """Returns the calls of a rank, cut where the harness put a barrier: forward, backward.

    A barrier of the harness has no line of the answer on its stack.
    """
    found: list[list[Call]] = [[]]
    for call in wire:
        if call.rank != rank:
            continue
        if call.kind == "barrier" and not call.line:
            found.append([])
        else:
            found[-1].append(call)
    return [*found, [], []][:2]


def by_hand(wire: Sequence[Call]) -> Judgement | None:
    """Returns what is wrong where a collective of the library was called."""
    for call in wire:
        if call.kind not in ("send", "recv"):
            fact = f"rank {call.rank} calls dist.{call.kind}; this one is to be made by hand"
            return Judgement("library-collective", fact, "refused", call.line)
    return None


def round_the_ring(wire: Sequence[Call], ranks: int) -> Judgement | None:
    """Returns what is wrong where a message goes to another rank than the right neighbour."""
    for call in wire:
        right = (call.rank + 1) % ranks
        if call.kind == "send" and call.peer != right:
            fact = (
                f"rank {call.rank} sends to rank {call.peer}; its right neighbour is rank {right}"
            )
            return Judgement("not-a-ring", fact, "over-budget", call.line)
    return None


def round_the_other_way(got: Values, ranks: int) -> str | None:
    """Returns the key of sends that all go to the left; with two ranks both ways are one."""
    told = [call for call in got["wire"] if call.kind == "send"]
    left = all(call.peer == (call.rank - 1) % ranks for call in told)
    return "wrong-neighbour" if told and left and ranks > 2 else None


def within_bytes(wire: Sequence[Call], allowed: Sequence[int]) -> Judgement | None:
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
            return Judgement(key, fact, "over-budget", largest.line)
    return None


def as_wide(wire: Sequence[Call], least: int) -> Judgement | None:
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
    return Judgement("narrowed", fact, "refused", line)


def standstill(got: Values) -> str | None:
    """Returns the key of a standstill whose calls show how it came about, or None."""
    if got.get("failed") != "standstill" or got.get("finished"):
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
