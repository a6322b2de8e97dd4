"""Tables that contradict themselves, and which cell could be to blame.

A cell holds what was printed: text for digits that were rounded, a whole number for a count. A rule
is (total, terms, within): the cell `total` is the sum of the terms, each (factor, {cell: 1 or -1}),
and `within` is how far off the sum may be, as a part of it. No cell stands in a rule twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Printed = Mapping[str, str | int]
Term = tuple[float, Mapping[str, int]]
Rule = tuple[str, Sequence[Term], float]
Span = tuple[float, float]

HAIR = 1e-9
"""Ends of ranges that lie closer than this part of each other are the same."""


def span(cell: str | int) -> Span:
    """Returns the smallest and the largest number that a printed cell can stand for.

    >>> span("0.5"), span(148)
    ((0.45, 0.55), (148.0, 148.0))
    """
    if isinstance(cell, int):
        return float(cell), float(cell)
    half = 0.5 * 10.0 ** -len(cell.partition(".")[2])
    return float(cell) - half, float(cell) + half


def spans(printed: Printed) -> dict[str, Span]:
    """Returns the range of every cell."""
    return {name: span(cell) for name, cell in printed.items()}


def cells(rule: Rule) -> set[str]:
    """Returns the cells of a rule."""
    total, terms, _ = rule
    return {total, *(cell for _, powers in terms for cell in powers)}


def _product(factor: float, powers: Mapping[str, int], known: Mapping[str, Span]) -> Span:
    low = high = factor
    for cell, power in powers.items():
        least, most = known[cell]
        low *= least if power > 0 else 1 / most
        high *= most if power > 0 else 1 / least
    return low, high


def sum_of(rule: Rule, known: Mapping[str, Span]) -> Span:
    """Returns the range of the sum of a rule, what it may be off by included."""
    _, terms, within = rule
    ends = [_product(factor, powers, known) for factor, powers in terms]
    return (1 - within) * sum(low for low, _ in ends), (1 + within) * sum(high for _, high in ends)


def holds(rule: Rule, known: Mapping[str, Span], hair: float = HAIR) -> bool:
    """Returns whether total and sum can be the same number."""
    low, high = sum_of(rule, known)
    least, most = known[rule[0]]
    return low <= most * (1 + hair) and least <= high * (1 + hair)


def allowed(rule: Rule, cell: str, known: Mapping[str, Span]) -> Span:
    """Returns between which numbers a cell has to be for a rule to hold, all others as printed."""
    total, terms, within = rule
    if cell == total:
        return sum_of(rule, known)
    least, most = known[total]
    need_low, need_high = least / (1 + within), most / (1 - within)
    low = high = power = 0.0
    for factor, powers in terms:
        others = {name: each for name, each in powers.items() if name != cell}
        ends = _product(factor, others, known)
        if cell in powers:
            low, high, power = *ends, float(powers[cell])
        else:
            need_low -= ends[1]
            need_high -= ends[0]
    if need_high <= 0:
        return math.inf, 0.0
    if power > 0:
        return max(need_low, 0.0) / high, need_high / low
    return low / need_high, high / need_low if need_low > 0 else math.inf


def suspects(printed: Printed, rules: Sequence[Rule], hair: float = HAIR) -> dict[str, Span] | None:
    """Returns the cells of which one other value would make all rules hold, and between which ends.

    Another value may be off by as much as the old one, or is another whole number.

    Returns:
        None where all rules hold as printed; {} where no single cell can mend them.
    """
    known = spans(printed)
    broken = [rule for rule in rules if not holds(rule, known, hair)]
    if not broken:
        return None
    found = {}
    for name, cell in printed.items():
        if not all(name in cells(rule) for rule in broken):
            continue
        ends = [allowed(rule, name, known) for rule in rules if name in cells(rule)]
        low, high = max(end for end, _ in ends), min(end for _, end in ends)
        if isinstance(cell, int):
            low, high = _whole(low, high, hair)
        else:
            half = (known[name][1] - known[name][0]) / 2
            low, high = max(0.0, low - half), high + half
        if high > 0 and low <= high * (1 + hair):
            found[name] = (low, high)
    return found


def _whole(low: float, high: float, hair: float) -> Span:
    """Returns the whole numbers at the ends of a range; the first is larger where it has none."""
    if low == math.inf:
        return math.inf, 0.0
    least = max(1, math.ceil(low * (1 - hair)))
    return float(least), math.floor(high * (1 + hair)) if math.isfinite(high) else math.inf
