"""What calls carry in times of the parameters, also those of the latest `%%ranks` cell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from gpu_course.notebook.latest_cell import latest_calls
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES
from gpu_course.ranks.calls import Call
from gpu_course.ranks.traffic import booked_bytes

if TYPE_CHECKING:
    pass


def calls_text(parameters: int, calls: Sequence[Call] | None = None) -> str:
    """Returns what the ranks called in the latest `%%ranks` cell, kind by kind.

    Args:
        parameters: of the model, in float64: what the volume is measured in.
        calls: of all ranks; default those of the latest cell.
    """
    given = list(latest_calls() if calls is None else calls)
    if not given:
        return "the latest %%ranks cell called nothing"
    ranks = len(given[0].group)
    lines = [f"{'calls of a rank':<18}{'number':>8}{'times (n - 1) / n of the parameters':>38}"]
    for kind in sorted({call.kind for call in given}):
        some = [call for call in given if call.kind == kind]
        lines.append(f"{kind:<18}{len(some) // ranks:>8}{_mean_times(some, parameters, ranks):>38}")
    lines.append(f"{'all':<18}{len(given) // ranks:>8}{_mean_times(given, parameters, ranks):>38}")
    return "\n".join(lines)


def axes_text(parameters: int, per_node: int) -> str:
    """Returns what rank 0 called in the latest `%%ranks` cell, within its node and beyond.

    Args:
        parameters: of the model, in float64: what the volume is measured in.
        per_node: ranks of a node, which have neighbouring numbers.
    """
    lines = [f"{'calls of rank 0':<16}{'among':<12}{'number':>7}{'times the parameters':>22}"]
    own = [call for call in latest_calls() if call.rank == 0]
    for kind, group in sorted({(call.kind, call.group) for call in own}):
        some = [call for call in own if (call.kind, call.group) == (kind, group)]
        where = " and ".join(map(str, group))
        share = f"{float(booked_bytes(some)) / (FLOAT64_BYTES * parameters):.2f}"
        lines.append(f"{kind:<16}{where:<12}{len(some):>7}{share:>22}")
    share = f"{to_other_nodes(parameters, per_node):.2f}"
    lines.append(f"{'to other nodes':<35}{share:>22}")
    return "\n".join(lines)


def to_other_nodes(parameters: int, per_node: int) -> float:
    """Returns what rank 0's calls of the latest `%%ranks` cell carry beyond its node.

    A group that reaches beyond the node is a ring through all nodes; its bytes leave the node over
    one rank of each node, and rank 0 is taken for that one.

    Args:
        parameters: of the model, in float64: the volume is in all of them.
        per_node: ranks of a node, which have neighbouring numbers.
    """
    own = [call for call in latest_calls() if call.rank == 0]
    leaving = [call for call in own if any(rank >= per_node for rank in call.group)]
    return float(booked_bytes(leaving)) / (FLOAT64_BYTES * parameters)


def volume(parameters: int) -> float:
    """Returns what the calls of the latest `%%ranks` cell carry, rank by rank on average.

    Args:
        parameters: of the model, in float64; the volume is in (n - 1) / n of them.
    """
    given = latest_calls()
    return float(_mean_times(given, parameters, len(given[0].group))) if given else 0.0


def times(booked: Fraction, parameters: int, ranks: int) -> str:
    """Returns bytes of a rank in (n - 1) / n of all parameters, to four digits.

    >>> times(Fraction(2400), 200, 4)
    '2'

    Args:
        booked: bytes.
        parameters: of the model, in float64.
        ranks: how many.
    """
    return f"{float(booked / (FLOAT64_BYTES * parameters * Fraction(ranks - 1, ranks))):.4g}"


def _mean_times(calls: Sequence[Call], parameters: int, ranks: int) -> str:
    """What calls of all ranks carry, divided by the ranks."""
    return times(booked_bytes(calls) / ranks, parameters, ranks)
