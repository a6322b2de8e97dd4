"""A value beside what it should be: where they first differ, and what kind of difference it is."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_course.grading.diagnoses.patterns import Observation, Pattern, constant
from gpu_course.puzzle.harness.refusing import REFUSED

Tolerance = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """The first difference between two values.

    Attributes:
        key: "missing-output", "missing-name", "wrong-type", "wrong-shape", "wrong-dtype",
            "not-finite", or ""
            where the values differ and nothing else.
        place: the way to it, such as "result[2]['loss']".
        fact: one line with both values.
        got, expected: the leaves that differ: numbers, strings or whole arrays.
        right: for arrays, bool in their shape.
        at: for arrays, which of their cells the fact is of, counted row by row.
    """

    key: str
    place: str
    fact: str
    got: Any = None
    expected: Any = None
    right: np.ndarray | None = field(default=None, repr=False)
    at: int | None = None


def first_difference(
    got: Any, expected: Any, tolerance: Tolerance, place: str
) -> Difference | None:
    """Returns the first place at which a value is not the expected one, or None.

    Whole numbers, bools and strings must be equal, and of their own type; a whole number will do
    where a float is expected. A list and a tuple are the same, and an array will do where either is
    expected. Where an array is expected, shape and dtype must be the same. Floats agree within the
    tolerance; NaN only where NaN is expected.

    >>> first_difference([1, 2.0], [1, 3.0], (0.0, 0.0), "result").fact
    'result[1] is 2, expected 3'
    """
    return next(_differences(got, expected, tolerance, place), None)


def _differences(got: Any, expected: Any, tolerance: Tolerance, place: str) -> Iterator[Difference]:
    if isinstance(expected, np.ndarray):
        yield from _arrays(got, expected, tolerance, place)
    elif isinstance(expected, Mapping):
        yield from _dicts(got, expected, tolerance, place)
    elif isinstance(expected, list | tuple):
        yield from _sequences(got, expected, tolerance, place)
    else:
        yield from _scalars(got, expected, tolerance, place)


def _scalars(got: Any, expected: Any, tolerance: Tolerance, place: str) -> Iterator[Difference]:
    if isinstance(expected, np.generic):
        expected = expected.item()
    if got is None and expected is not None:
        yield _missing(place, expected)
    elif not _same_kind(got, expected):
        yield _other_type(got, expected, place)
    elif not scalar_right(got, expected, tolerance):
        finite = not isinstance(got, float | complex) or cmath.isfinite(got)
        finite = finite or not cmath.isfinite(expected)
        key = "" if finite else "not-finite"
        left, right = two_values(got, expected)
        fact = f"{place} is {left}, expected {right}"
        yield Difference(key, place, fact, got, expected)


def scalar_right(got: Any, expected: Any, tolerance: Tolerance) -> bool:
    """True when two numbers or strings agree, floats within the tolerance."""
    if isinstance(expected, float | complex) and not isinstance(expected, bool):
        try:
            # A whole number may have any size, and NumPy would make an object of a large one.
            near = complex(got) if isinstance(expected, complex) else float(got)
        except OverflowError:
            return False
        with np.errstate(all="ignore"):
            return bool(_right(np.asarray(near), np.asarray(expected), tolerance))
    return bool(got == expected)


def _same_kind(got: Any, expected: Any) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool):
        return isinstance(got, bool) and isinstance(expected, bool)
    if isinstance(expected, complex):
        return isinstance(got, int | float | complex)
    if isinstance(expected, float):
        return isinstance(got, int | float)
    return type(got) is type(expected)


def _sequences(
    got: Any, expected: list[Any] | tuple[Any, ...], tolerance: Tolerance, place: str
) -> Iterator[Difference]:
    if isinstance(got, np.ndarray) and got.ndim:
        got = got.tolist() if got.ndim == 1 else list(got)
    if got is None:
        yield _missing(place, expected)
    elif not isinstance(got, list | tuple):
        yield _other_type(got, expected, place)
    elif len(got) != len(expected):
        fact = f"{place} has {_items(got)}, expected {len(expected)}"
        yield Difference("wrong-shape", place, fact, got, expected)
    elif _is_row(got) and _is_row(expected) and all(map(_same_kind, got, expected)):
        pairs = zip(got, expected, strict=True)
        right = np.array([scalar_right(g, e, tolerance) for g, e in pairs])
        if not right.all():
            yield _of_row(got, expected, right, tolerance, place)
    else:
        for number, (left, right) in enumerate(zip(got, expected, strict=True)):
            yield from _differences(left, right, tolerance, f"{place}[{number}]")


def _is_row(values: list[Any] | tuple[Any, ...]) -> bool:
    """True for two numbers or more: their differences are looked at together."""
    return len(values) > 1 and all(_is_number(v) and abs(v) < 1 << 53 for v in values)


def _of_row(
    got: Any, expected: Any, right: np.ndarray, tolerance: Tolerance, place: str
) -> Difference:
    number = int(np.argmin(right))
    (first,) = _scalars(got[number], expected[number], tolerance, f"{place}[{number}]")
    dtype = np.float64 if any(isinstance(v, float) for v in expected) else np.int64
    return replace(first, got=np.array(got, dtype), expected=np.array(expected, dtype), right=right)


def _dicts(
    got: Any, expected: Mapping[str, Any], tolerance: Tolerance, place: str
) -> Iterator[Difference]:
    if got is None:
        yield _missing(place, expected)
    elif not isinstance(got, Mapping):
        yield _other_type(got, expected, place)
    else:
        for name in expected:
            if name not in got:
                fact = f"{place} has no {name!r}; it has {_listed(got)}"
                yield Difference("missing-name", place, fact, got, expected)
        for name in got:
            if name not in expected:
                fact = (
                    f"{place} has {name!r}, which was not asked for; expected {_listed(expected)}"
                )
                yield Difference("wrong-shape", place, fact, got, expected)
        for name, value in expected.items():
            yield from _differences(got.get(name), value, tolerance, f"{place}[{name!r}]")


def _arrays(
    got: Any, expected: np.ndarray, tolerance: Tolerance, place: str
) -> Iterator[Difference]:
    if got is None:
        yield _missing(place, expected)
    elif not isinstance(got, np.ndarray):
        yield _other_type(got, expected, place)
    elif got.shape != expected.shape:
        fact = f"{place} has shape {got.shape}, expected {expected.shape}"
        yield Difference("wrong-shape", place, fact, got, expected)
    elif got.dtype != expected.dtype:
        fact = f"{place} has dtype {got.dtype}, expected {expected.dtype}"
        yield Difference("wrong-dtype", place, fact, got, expected)
    else:
        right = _right(got, expected, tolerance)
        if not right.all():
            finite = np.isfinite(got) | ~np.isfinite(expected)
            # Where there are NaN, they are what is told of, and not the first wrong number.
            flat = int(np.argmin(right if finite.all() else finite))
            index = tuple(int(i) for i in np.unravel_index(flat, right.shape))
            cell = f"{place}[{', '.join(map(str, index))}]" if index else place
            values = two_values(got[index].item(), expected[index].item())
            fact = f"{cell} is {values[0]}, expected {values[1]}"
            key = "" if finite.all() else "not-finite"
            yield Difference(key, place, fact, got, expected, right, flat)


def _right(got: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """Returns where two arrays of one shape agree."""
    rtol, atol = tolerance
    with np.errstate(all="ignore"):
        equal = np.asarray(got == expected)
        if not np.issubdtype(expected.dtype, np.inexact):
            return equal
        equal = equal | (np.isnan(got) & np.isnan(expected))
        if (rtol, atol) == (0.0, 0.0):
            return np.asarray(equal)
        wide = np.complex128 if np.iscomplexobj(expected) else np.float64
        left, right = got.astype(wide), expected.astype(wide)
        near = np.abs(left - right) <= atol + rtol * np.abs(right)
        return np.asarray(equal | (near & np.isfinite(left) & np.isfinite(right)))


def pattern(difference: Difference, tolerance: Tolerance) -> Pattern:
    """Returns what kind of difference it is: a key, and the fact that was seen."""
    if difference.key:
        return Pattern(difference.key)
    got, expected = difference.got, difference.expected
    if difference.right is None:
        if isinstance(expected, int) and _is_number(got) and abs(got - expected) == 1:
            return Pattern("off-by-one", "one too many" if got > expected else "one too few")
        digits = _rounded_to(got, expected) if tolerance[0] < 1e-6 else ""
        return (
            Pattern("rounded", f"it is the expected number {digits}")
            if digits
            else Pattern("wrong")
        )
    return _of_cells(got, expected, difference.right, tolerance)


def _rounded_to(got: Any, expected: Any) -> str:
    """Returns to what a float was rounded to give another one; "" where it was not, or may not be.

    >>> _rounded_to(0.4933, 0.49333333), _rounded_to(0.5, 0.49333333)
    ('rounded to 4 places', '')
    """
    both = isinstance(got, float) and isinstance(expected, float)
    if not both or got == expected or not (math.isfinite(got) and math.isfinite(expected)):
        return ""
    # With fewer digits it might be so by chance.
    for places in range(1, 13):
        if round(expected, places) == got and abs(got) >= 100 * 10.0**-places:
            return f"rounded to {places} places"
    with np.errstate(all="ignore"):
        return "as a float32 holds it" if float(np.float32(expected)) == got else ""


def more_of(difference: Difference, key: str) -> str:
    """Returns which closer sentence is true of a value of another type or length; "" for none.

    >>> more_of(Difference("wrong-type", "result", "", 37.0, 37), "wrong-type")
    'float-for-int'
    """
    got, expected, right = difference.got, difference.expected, difference.right
    if key == "partly-wrong" and right is not None and right.size - right.sum() == 1:
        return "one-wrong"
    several = isinstance(expected, list | tuple)
    if key == "wrong-shape" and several and isinstance(got, list | tuple):
        return "items"
    if key in ("wrong-type", "missing-output") and _is_refused(expected):
        return "should-refuse"
    if key == "constant-factor" and _has_the_other_sign(got, expected):
        return "other-sign"
    if key != "wrong-type":
        return ""
    if isinstance(got, str) and got == REFUSED:
        return "should-not-refuse"
    if expected is None:
        return "none-expected"
    if isinstance(got, float) and type(expected) is int:
        return "float-for-int" if cmath.isfinite(got) else ""
    if isinstance(got, str) and _is_number(expected):
        return "text-for-number"
    if isinstance(got, list | tuple) and (_is_number(expected) or isinstance(expected, str)):
        return "wrapped"
    if several and (_is_number(got) or isinstance(got, str)):
        return "one-for-several"
    return ""


def _is_refused(expected: Any) -> bool:
    return isinstance(expected, str) and expected == REFUSED


def _has_the_other_sign(got: Any, expected: Any) -> bool:
    if not all(_is_number(each) or isinstance(each, np.ndarray) for each in (got, expected)):
        return False
    return np.shape(got) == np.shape(expected) and np.allclose(got, np.negative(expected), 1e-6, 0)


def _of_cells(
    got: np.ndarray, expected: np.ndarray, right: np.ndarray, tolerance: Tolerance
) -> Pattern:
    whole = np.issubdtype(expected.dtype, np.integer)
    if whole and right.size and not right.any():
        steps = np.unique(got.astype(object) - expected.astype(object))
        if len(steps) == 1 and abs(steps[0]) == 1:
            word = "many" if steps[0] > 0 else "few"
            return Pattern("off-by-one", f"every cell is one too {word}")
    everywhere = np.ones(right.shape, bool)
    found = constant(Observation(expected, got, everywhere, right, tolerance=tolerance))
    # Two numbers that are both off by as much may be two things.
    if found is not None and (found.key != "constant-offset" or right.size > 2):
        return found
    some = int(right.sum())
    return (
        Pattern("partly-wrong", f"{some} of {right.size} {'is' if some == 1 else 'are'} right")
        if some
        else Pattern("wrong")
    )


def in_another_order(got: Any, expected: Any, tolerance: Tolerance) -> bool:
    """Returns whether two or three values are those of a tuple, in another order.

    >>> in_another_order([3, 2.5], (2.5, 3), (0.0, 0.0)), in_another_order((3,), (3,), (0.0, 0.0))
    (True, False)
    """
    few = isinstance(expected, tuple) and len(expected) in (2, 3)
    if not few or not isinstance(got, list | tuple) or len(got) != len(expected):
        return False
    return any(
        first_difference(each, expected, tolerance, "") is None
        for each in itertools.permutations(got)
    )


def same_factor(pairs: list[tuple[Any, Any]]) -> float | None:
    """Returns the factor between what came out and what should, if it is one in several cases.

    Args:
        pairs: (got, expected) of each case, all of them numbers.

    >>> same_factor([(8, 4), (20, 10)]), same_factor([(8, 4), (21, 10)])
    (2.0, None)
    """
    usable = [(g, e) for g, e in pairs if _is_number(g) and _is_number(e) and e and g]
    if len(usable) < max(2, len(pairs)) or len({e for _, e in usable}) < 2:
        return None
    try:
        factors = [g / e for g, e in usable]
    except OverflowError:
        return None
    same = all(abs(f - factors[0]) <= 1e-9 * abs(factors[0]) for f in factors)
    return factors[0] if same and abs(factors[0] - 1) > 1e-9 else None


def two_values(left: Any, right: Any) -> tuple[str, str]:
    """Returns two values that differ as messages show them: floats with as few digits as tell.

    >>> two_values(0.30000000000000004, 0.25), two_values(0.30000000000000004, 0.3)
    (('0.3', '0.25'), ('0.30000000000000004', '0.3'))
    """
    both = (left, right)
    if not any(isinstance(value, np.floating | float) for value in both):
        return show_scalar(left), show_scalar(right)
    for digits in (6, 9, 12):
        texts = [_digits(value, digits) for value in both]
        if texts[0] != texts[1]:
            break
    else:
        texts = [show_scalar(value) for value in both]
    return texts[0], texts[1]


def _digits(value: Any, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, np.floating | float) else show_scalar(value)


def show_scalar(value: Any) -> str:
    """Returns one value as Python writes it, a NumPy scalar as its plain number."""
    return show(value.item() if isinstance(value, np.generic) else value)


EXACT = 12
"""Columns of the longest float that is shown as it is where six digits would do: such as
0.013671875, which is a float16 and no measurement."""


def show(value: Any, most: int = 160, *, rough: bool = False) -> str:
    """Returns a value as messages show it, in one line; a number is shown whole or not at all.

    Args:
        value: of any kind.
        most: columns.
        rough: True where nothing hangs on a float's last digits: of one that takes more than EXACT
            columns, six are shown then.

    >>> show({"a": np.zeros((2, 3), np.float32), "b": 0.1})
    "{'a': float32 array of shape (2, 3), 'b': 0.1}"
    >>> show([(4, 1000, 0.25), (4, 1000, 0.125)], most=32)
    '[(4, 1000, 0.25), (4, 1000, ...'
    >>> show((1 / 3, np.float64(2e9 / 3))), show((1 / 3, np.float64(2e9 / 3)), rough=True)
    ('(0.3333333333333333, 666666666.6666666)', '(0.333333, 6.66667e+08)')
    """
    text = _shown(value, rough)
    if len(text) <= most:
        return text
    whole, comma, _ = text[: most - len(" ...")].rpartition(", ")
    inside = comma and not isinstance(value, str)
    return f"{whole}, ..." if inside else text[: most - len(" ...")] + " ..."


def _shown(value: Any, rough: bool) -> str:
    def each_of(values: Iterable[Any]) -> str:
        return ", ".join(_shown(each, rough) for each in values)

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and 0 < value.size <= 16:
            return f"[{each_of(value.tolist())}]"
        return f"{value.dtype} array of shape {value.shape}"
    if isinstance(value, Mapping):
        first = list(value.items())[:20]
        return "{" + ", ".join(f"{k!r}: {_shown(v, rough)}" for k, v in first) + "}"
    if isinstance(value, list | tuple):
        inside = each_of(value[:40]) + (", ..." if len(value) > 40 else "")
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float):
        short = f"{value:.6g}"
        if value != value or (float(short) != value and not (rough and len(repr(value)) > EXACT)):
            return repr(value)
        return short if any(c in short for c in ".en") else f"{short}.0"
    return repr(value)


def name_of_type(value: Any) -> str:
    """Returns what a value is, as a learner would call it."""
    if value is None:
        return "None"
    if isinstance(value, str) and value == REFUSED:
        return "a ValueError"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    names = {bool: "a bool", int: "an int", float: "a float", str: "a string", complex: "complex"}
    names |= {list: "a list", tuple: "a tuple", dict: "a dict"}
    return names.get(type(value), f"a {type(value).__name__}")


def _missing(place: str, expected: Any) -> Difference:
    fact = f"{place} is None, expected {name_of_type(expected)}"
    return Difference("missing-output", place, fact, None, expected)


def _other_type(got: Any, expected: Any, place: str) -> Difference:
    fact = f"{place} is {name_of_type(got)}, expected {name_of_type(expected)}"
    if isinstance(got, str) and got == REFUSED:
        fact = f"{place} raised a ValueError, expected {name_of_type(expected)}"
    elif not isinstance(got, np.ndarray) and len(shown := show(got, rough=True)) <= 60:
        fact = f"{place} is {shown}, {name_of_type(got)}; expected {name_of_type(expected)}"
    return Difference("wrong-type", place, fact, got, expected)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _items(values: Any) -> str:
    return "1 item" if len(values) == 1 else f"{len(values)} items"


def _listed(names: Mapping[str, Any]) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:8])
    return shown or "nothing"
