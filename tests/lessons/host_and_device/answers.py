"""Answers to lesson 08 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_ROUNDS = """    calls = []
    for first in range(0, len(chunks), streams):
        some = range(first, min(first + streams, len(chunks)))
        for chunk in some:
            calls.append(("H2D", chunk, chunk % streams + 1))
        for chunk in some:
            if needs[chunk] is not None:
                calls.append(("wait", needs[chunk], chunk % streams + 1))
            calls.append(("kernel", chunk, chunk % streams + 1))
            calls.append(("record", chunk, chunk % streams + 1))
        for chunk in some:
            calls.append(("D2H", chunk, chunk % streams + 1))
    return calls
    # end answer
"""
_RECORD = """        if chunk in needs:
            calls.append(("record", chunk, stream))
"""
RIGHT: dict[tuple[str, str], Changes] = {
    ("graph_breakeven", "whole numbers by hand"): (
        ("return make_ns // saved + 1", "return -(-(make_ns + 1) // saved)"),
    ),
    ("copy_overlap", "an event for every kernel"): (("if chunk in needs:", "if True:"),),
    ("copy_overlap", "the last stream first"): (
        ("chunk % streams + 1", "streams - chunk % streams"),
    ),
    ("copy_overlap", "waits for every stream at the end"): (
        ("    return calls\n",
         '    return calls + [("synchronise", n) for n in range(1, streams + 1)]\n'),
    ),
    ("copy_overlap", "in rounds, breadth first"): (("    calls = []\n", _ROUNDS),),
    ("copy_overlap", "lists in place of tuples"): (
        ("    return calls\n", "    return [list(call) for call in calls]\n"),
    ),
    ("little_law", "the law in loads"): (
        ("return in_flight, reached, -(-wanted // (threads * width))",
         "return in_flight, reached, (wanted - 1) // (threads * width) + 1"),
    ),
    ("l2_tile_order", "every second group backwards"): (
        ("for col in range(cols):", "for col in list(range(cols))[:: (1, -1)[top // height % 2]]:"),
    ),
    ("l2_tile_order", "groups of columns"): (
        ("for top in range(0, rows, height):", "for top in range(0, cols, height):"),
        ("for col in range(cols):", "for col in range(rows):"),
        ("range(top, min(rows, top + height))", "range(top, min(cols, top + height))"),
        ("order.append((row, col))", "order.append((col, row))"),
    ),
    ("mma_fragment", "the shared side the other way round"): (
        ("return group + 8 * (number // 2 % 2), pair + 8 * (number // 4)",
         "return group + 8 * (number // 2 % 2), 15 - pair - 8 * (number // 4)"),
        ("return pair + 8 * (number // 2), group", "return 15 - pair - 8 * (number // 2), group"),
    ),
    ("mma_fragment", "the rows of A and C in another order"): (
        ("return group + 8", "return 7 - group + 8"),
    ),
}  # fmt: skip
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("graph_breakeven", "in floats"): (
        "wrong-result", (("return make_ns // saved + 1", "return int(make_ns / saved) + 1"),),
    ),
    ("copy_overlap", "stream numbers from 0"): (
        "unknown-stream", (("chunk % streams + 1", "chunk % streams"),),
    ),
    ("copy_overlap", "a copy too many"): (
        "out-of-order",
        (("    return calls\n", "    return [*calls, *calls[:1]]\n"),),
    ),
    ("copy_overlap", "the copy back forgotten"): (
        "out-of-order",
        (('        calls.append(("D2H", chunk, stream))\n', ""),),
    ),
    ("copy_overlap", "the copy back in another stream"): (
        "two-streams",
        (('("D2H", chunk, stream)', '("D2H", chunk, stream % streams + 1)'),),
    ),
    ("copy_overlap", "records before the kernel"): (
        "no-event",
        (
            (_RECORD, ""),
            ('        calls.append(("kernel"', _RECORD + '        calls.append(("kernel"'),
        ),
    ),
    ("l2_tile_order", "one row too many in a group"): (
        "too-high", (("height = room - 2", "height = room - 1"),),
    ),
    ("l2_tile_order", "groups of two"): ("many-misses", (("height = room - 2", "height = 2"),)),
}  # fmt: skip
