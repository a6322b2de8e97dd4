"""Formulas as papers print them, with the units of their letters: what can be checked unread.

A formula is a number, a name, or (operation, left, right) with one of OPERATIONS. Units are
exponents of base units: bytes a second are {"byte": 1, "s": -1}, a pure number is {}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Formula = Any
Units = Mapping[str, float]

SAME = ("+", "-", "max", "=", "<=")
"""Operations whose two sides must have the same units, which the result has too."""
OPERATIONS = (*SAME, "*", "/", "^")


@dataclass(frozen=True)
class Printed:
    """A formula of a source.

    Attributes:
        name: what it is, as messages call it.
        place: where it stands.
        formula: as printed.
        sound: whether its units agree.
    """

    name: str
    place: str
    formula: Formula
    sound: bool


UNITS: dict[str, Units] = {
    "t": {"s": 1},
    "t_comm": {"s": 1},
    "t_compute": {"s": 1},
    "num_params": {"parameter": 1},
    "num_tokens": {"token": 1},
    "seq_mbs": {"token": 1},
    "DP": {},
    "TP": {},
    "h": {},
    "block": {"parameter": 1},
    "vector": {"number": 1},
    "peak_flops": {"FLOP": 1, "s": -1},
    "peak_bw": {"byte": 1, "s": -1},
    "latency": {"s": 1},
    "message": {"byte": 1},
    "flop_each": {"FLOP": 1, "parameter": -1, "token": -1},
    "bytes_each": {"byte": 1, "parameter": -1},
    "bytes_per_number": {"byte": 1, "number": -1},
    "memory": {"byte": 1},
    "states_each": {"byte": 1, "parameter": -1},
    "write": {"s": 1},
    "between_failures": {"s": 1},
    "energy": {"J": 1},
    "power": {"J": 1, "s": -1},
    "gpus": {},
    "flop": {"FLOP": 1},
    "mfu": {},
}
"""Base units: byte, FLOP, s, J, token, parameter, number. A parameter is no byte: it has two, four
or less than one of them, and the letter that says how many has a unit of its own."""


def times(*factors: Formula) -> Formula:
    """Returns the product of formulas, from the left."""
    result = factors[0]
    for each in factors[1:]:
        result = ("*", result, each)
    return result


_PLAYBOOK = "Ultra-Scale Playbook, appendix A3"
_SHARED = ("/", ("-", "DP", 1), "DP")
_FLOP_A_BYTE = ("/", "peak_flops", "peak_bw")
_HALVED = ("/", "bytes_each", times(2, "flop_each"))
"""What the bare 2 below the line of the Playbook's ratio stands for: FLOP, and bytes."""

PRINTED: tuple[Printed, ...] = (
    Printed(
        "data parallel: computing", f"{_PLAYBOOK}, data parallelism",
        ("=", "t_compute", ("/", times(4, "flop_each", "num_tokens", "num_params"), "peak_flops")),
        True,
    ),
    Printed(
        "data parallel: the ratio", f"{_PLAYBOOK}, data parallelism",
        ("<=", times(("/", times("num_params", _HALVED), "num_tokens"), _SHARED, _FLOP_A_BYTE), 1),
        False,
    ),
    Printed(
        "data parallel: the ratio, mended", "without num_params",
        ("<=", times(("/", _HALVED, "num_tokens"), _SHARED, _FLOP_A_BYTE), 1), True,
    ),
    Printed(
        "ZeRO-3: sending", f"{_PLAYBOOK}, ZeRO-3",
        ("=", "t_comm", times("block", ("/", ("-", "DP", 1), times("DP", "peak_bw")))), False,
    ),
    Printed(
        "ZeRO-3: sending, mended", "with the bytes of a parameter",
        ("=", "t_comm",
         times("bytes_each", "block", ("/", ("-", "DP", 1), times("DP", "peak_bw")))),
        True,
    ),
    Printed(
        "tensor parallel: sending", f"{_PLAYBOOK}, tensor parallelism",
        ("=", "t_comm", ("/", times("vector", ("-", "TP", 1)), times("TP", "peak_bw"))), False,
    ),
    Printed(
        "a message", "Lesson 21: latency and bandwidth",
        ("=", "t", ("+", "latency", ("/", "message", "peak_bw"))), True,
    ),
    Printed(
        "time between checkpoints", "Young 1974",
        ("=", "t", ("^", times(2, "write", "between_failures"), 0.5)), True,
    ),
    Printed(
        "states in memory", "Rajbhandari et al. 2019, section 3",
        ("=", "memory", times("states_each", "num_params")), True,
    ),
    Printed(
        "roofline", "Lesson 10",
        ("=", "t", ("max", ("/", "flop", "peak_flops"), ("/", "message", "peak_bw"))), True,
    ),
)  # fmt: skip
