"""What a wrong result looks like: patterns that NumPy can see, and what each one usually means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Observation:
    """One output array beside what it should be.

    Attributes:
        expected, got: arrays of one shape.
        written: bool, same shape: True where a thread stored something.
        right: bool, same shape: True where `got` is the expected value within the tolerance.
        grid, block: (x, y, z) of the launch that writes the array.
        inputs: the named inputs, for "copied-input".
        tolerance: (rtol, atol) of the puzzle.
    """

    expected: np.ndarray
    got: np.ndarray
    written: np.ndarray
    right: np.ndarray
    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (1, 1, 1)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tolerance: tuple[float, float] = (0.0, 0.0)

    def same(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Returns where two arrays agree within the tolerance."""
        return close(left, right, self.tolerance)


@dataclass(frozen=True)
class Pattern:
    """A recognised pattern: its key, and the fact that was seen, as a clause for the message."""

    key: str
    fact: str = ""


def close(got: np.ndarray, expected: np.ndarray, tolerance: tuple[float, float]) -> np.ndarray:
    """Returns where `got` is `expected`: |got - expected| <= atol + rtol |expected|.

    NaN is NaN, and near an infinity there is nothing.

    >>> close(np.array([1.0, np.nan]), np.array([1.0, np.nan]), (0.0, 0.0))
    array([ True,  True])
    >>> close(np.array([1.0, np.nan]), np.array([np.inf, 1.0]), (1e-6, 0.0))
    array([False, False])
    """
    rtol, atol = tolerance
    with np.errstate(all="ignore"):
        equal = np.asarray(got == expected) | ((got != got) & (expected != expected))
        if (rtol, atol) == (0.0, 0.0) or not np.issubdtype(expected.dtype, np.inexact):
            return equal
        wide = np.complex128 if np.iscomplexobj(expected) else np.float64
        distance = np.abs(got.astype(wide) - expected.astype(wide))
        near = distance <= atol + rtol * np.abs(expected.astype(wide))
        return equal | (near & np.isfinite(expected))


def diagnose(seen: Observation) -> Pattern | None:
    """Returns the most specific pattern the result shows, or None where every cell is right."""
    if seen.right.all():
        return None
    for find in _PATTERNS:
        pattern = find(seen)
        if pattern is not None:
            return pattern
    some = int(seen.right.sum())
    if not some:
        return Pattern("wrong")
    verb = "is" if some == 1 else "are"
    key = "unusual-numbers" if _has_unusual_numbers(seen) else "partly-wrong"
    return Pattern(key, f"{some} of {seen.right.size} cells {verb} right")


def _unwritten(seen: Observation) -> Pattern | None:
    return None if seen.written.any() else Pattern("unwritten")


def _not_a_number(seen: Observation) -> Pattern | None:
    """NaN where a number belongs: of inputs that have all it takes to make one, or of plain ones.

    Of plain ones only where nothing else is wrong: else NaN may be what came of the other fault.
    """
    if seen.got.dtype.kind != "f":
        return None
    spoilt = seen.written & np.isnan(seen.got) & ~np.isnan(seen.expected)
    unusual = _has_unusual_numbers(seen)
    if not spoilt.any() or not (unusual or (spoilt | seen.right).all()):
        return None
    count = int(spoilt.sum())
    key = "not-a-number" if unusual else "made-nan"
    return Pattern(key, f"{_cells(count)} {_was(count)} NaN, and should hold a number")


def _has_unusual_numbers(seen: Observation) -> bool:
    """True where an input holds NaN or an infinity, which ordinary cases do not."""
    arrays = [value for value in seen.inputs.values() if isinstance(value, np.ndarray)]
    return any(each.dtype.kind == "f" and not np.isfinite(each).all() for each in arrays)


def _block_unwritten(seen: Observation) -> Pattern | None:
    if seen.written.all() or not seen.right[seen.written].all():
        return None
    for number in _block_numbers(seen):
        blocks = np.unique(number)
        empty = np.array([b for b in blocks if not seen.written[number == b].any()])
        if 0 < len(empty) < len(blocks) and np.isin(number[~seen.written], empty).all():
            names = _some(empty.tolist())
            return Pattern("block-unwritten", f"no thread of {names} wrote anything")
    return None


def _tail_unwritten(seen: Observation) -> Pattern | None:
    if seen.written.all() or not seen.right[seen.written].all():
        return None
    count = int((~seen.written).sum())
    start = seen.written.size - count
    in_order = bool(seen.written.ravel()[:start].all())
    if not in_order and not _is_corner(seen.written):
        return None
    return Pattern("tail-unwritten", f"{_cells(count)} at the end {_was(count)} not written")


def _copied_input(seen: Observation) -> Pattern | None:
    for name, value in seen.inputs.items():
        if not isinstance(value, np.ndarray) or value.shape != seen.got.shape:
            continue
        if _all(seen, value) and not seen.same(seen.expected, value).all():
            return Pattern("copied-input", f"the output is an unchanged copy of {name}")
    return None


def _transposed(seen: Observation) -> Pattern | None:
    if seen.expected.ndim == 2 and min(seen.expected.shape) > 1:
        # A rectangular array can only be filled in the other order, not turned.
        turned = seen.expected.T.reshape(seen.expected.shape)
        if _all(seen, turned):
            return Pattern("transposed")
    return None


def _reversed(seen: Observation) -> Pattern | None:
    for axes in (None, *range(seen.expected.ndim)):
        if seen.expected.size > 1 and _all(seen, np.flip(seen.expected, axes)):
            return Pattern("reversed")
    return None


def _shifted(seen: Observation) -> Pattern | None:
    for axis, length in enumerate(seen.expected.shape):
        for distance in range(1, min(length // 2, _FARTHEST_SHIFT) + 1):
            for way, word in ((1, "late"), (-1, "early")):
                moved = np.roll(seen.expected, way * distance, axis)
                edge = slice(distance, None) if way > 0 else slice(None, -distance)
                inside = (slice(None),) * axis + (edge,)
                overlap = seen.same(seen.got, moved)[inside][seen.written[inside]]
                if overlap.size > 1 and overlap.all() and not seen.right[inside].all():
                    return Pattern("shifted", f"the values stand {_cells(distance)} too {word}")
    return None


def constant(seen: Observation) -> Pattern | None:
    """Returns the pattern of cells that are all off by one amount or one factor, or None."""
    got, expected = seen.got[seen.written], seen.expected[seen.written]
    if got.size < 2 or got.dtype == np.bool_ or not np.issubdtype(got.dtype, np.number):
        return None
    with np.errstate(all="ignore"):
        offset = got[0] - expected[0]
        moved = (expected + offset).astype(got.dtype)
        if np.isfinite(offset) and offset != 0 and seen.same(got, moved).all():
            more = "more" if offset > 0 else "less"
            fact = f"every cell is {_number(abs(offset))} {more} than expected"
            return Pattern("constant-offset", fact)
        solid = np.flatnonzero(expected)
        if not solid.size:
            return None
        found = got[solid[0]] / expected[solid[0]]
        # Rounded, a factor may come out as 1.99998: 2 is told where that is as good.
        for factor in (np.float64(f"{found:.3g}"), found):
            grown = (expected * factor).astype(got.dtype)
            if np.isfinite(factor) and factor not in (0, 1) and seen.same(got, grown).all():
                return Pattern("constant-factor", f"every cell is {_number(factor)} times expected")
    return None


def _only_first_block_right(seen: Observation) -> Pattern | None:
    for number in _block_numbers(seen):
        if number.max() > 0 and np.array_equal(seen.right, number == 0):
            return Pattern("only-first-block-right")
    return None


def _tail_wrong(seen: Observation) -> Pattern | None:
    right = seen.right.ravel()
    start = int(np.argmin(right))
    if start == 0 or right[start:].any() or 2 * start < right.size:
        return None
    count = right.size - start
    return Pattern("tail-wrong", f"{_cells(count)} at the end {_was(count)} wrong")


_PATTERNS: tuple[Callable[[Observation], Pattern | None], ...] = (
    _unwritten,
    _not_a_number,
    _block_unwritten,
    _tail_unwritten,
    _copied_input,
    _transposed,
    _reversed,
    _shifted,
    constant,
    _only_first_block_right,
    _tail_wrong,
)
"""From the most specific to the least."""

_FARTHEST_SHIFT = 64


def _all(seen: Observation, candidate: np.ndarray) -> bool:
    """True when every written cell holds the candidate's value, and more than one is written."""
    held = seen.same(seen.got, candidate)[seen.written]
    return held.size > 1 and bool(held.all())


def _block_numbers(seen: Observation) -> list[np.ndarray]:
    """Returns, for each way threads may lie over the array, the block number of every cell."""
    (bx, by, _), (gx, gy, _) = seen.block, seen.grid
    shape = seen.expected.shape
    if len(shape) == 1 and by == gy == 1:
        ways = [np.arange(shape[0]) // bx]
    elif len(shape) == 2:
        row, col = np.indices(shape)
        ways = [(row // by) * gx + col // bx, (col // by) * gx + row // bx]
    else:
        return []
    return [way for way in ways if way.size and way.max() < gx * gy]


def _is_corner(mask: np.ndarray) -> bool:
    """True when the mask is a box that begins at the first cell: whole rows or columns miss."""
    corner = tuple(slice(0, int(axis.max()) + 1) for axis in np.nonzero(mask))
    return bool(mask[corner].all())


def _cells(count: int) -> str:
    return "one cell" if count == 1 else f"{count} cells"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.inexact) else str(value)


def _some(blocks: list[int]) -> str:
    shown = ", ".join(str(b) for b in blocks[:4])
    more = f" and {len(blocks) - 4} more" if len(blocks) > 4 else ""
    return f"block {shown}" if len(blocks) == 1 else f"blocks {shown}{more}"
