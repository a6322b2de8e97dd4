"""Values beside what they should be: planted differences are named, equal values are left alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.grading.diagnoses.compare import (
    first_difference,
    more_of,
    pattern,
    same_factor,
    show,
)
from gpu_course.grading.diagnoses.sentences import (
    CLOSER,
    PYTHON_SENTENCES,
    sentence_of,
    sentence_of_raised,
)
from gpu_course.puzzle import PythonPuzzle, index
from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading import toy as kernels

EXACT = (0.0, 0.0)
NAN = float("nan")
INF = float("inf")
F4 = np.float32


def key_of(got: Any, expected: Any, tolerance: tuple[float, float] = EXACT) -> str | None:
    found = first_difference(got, expected, tolerance, "result")
    return None if found is None else pattern(found, tolerance).key


RIGHT: list[tuple[Any, Any]] = [
    (3, 3),
    (True, True),
    ("ab", "ab"),
    (None, None),
    (2.5, 2.5),
    (2, 2.0),
    (1, 1 + 0j),
    (NAN, NAN),
    (INF, INF),
    ([1, 2], (1, 2)),
    ((1, [2.0, "x"]), [1, (2.0, "x")]),
    ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    (np.arange(3), np.arange(3)),
    (np.zeros((0, 2)), np.zeros((0, 2))),
    (np.array([NAN, 1.0]), np.array([NAN, 1.0])),
    (3, np.int64(3)),
    (0.5, np.float32(0.5)),
    ([], ()),
    (np.array([1, 2]), [1, 2]),
    (np.array([1.0, 2.0]), (1.0, 2.0)),
    (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
    (np.zeros((2, 3)), [np.zeros(3), np.zeros(3)]),
    (np.zeros(0), []),
]


@pytest.mark.parametrize(("got", "expected"), RIGHT)
def test_what_is_right_has_no_difference(got: Any, expected: Any) -> None:
    assert first_difference(got, expected, EXACT, "result") is None


# (what came, what should have come, the key, what the message says)
WRONG: list[tuple[Any, Any, str, str]] = [
    (4, 3, "off-by-one", "result is 4, expected 3"),
    (2, 3, "off-by-one", ""),
    (7, 3, "wrong", "result is 7, expected 3"),
    (-3, 3, "wrong", ""),
    (True, 1, "wrong-type", "result is True, a bool; expected an int"),
    (1, True, "wrong-type", "expected a bool"),
    (3.0, 3, "wrong-type", "result is 3.0, a float; expected an int"),
    ("3", 3, "wrong-type", "a string"),
    ([2.0], "ValueError", "wrong-type", "result is [2.0], a list; expected a ValueError"),
    ("ValueError", [2.0], "wrong-type", "result raised a ValueError, expected a list"),
    (3, "3", "wrong-type", ""),
    (2.6, 2.5, "wrong", "result is 2.6, expected 2.5"),
    (3.5, 2.5, "wrong", ""),
    (NAN, 2.5, "not-finite", "result is nan"),
    (INF, 2.5, "not-finite", ""),
    (2.5, NAN, "wrong", ""),
    (-INF, INF, "wrong", ""),
    (None, 3, "missing-output", "result is None, expected an int"),
    (None, np.zeros(2), "missing-output", "an array of shape (2,)"),
    ([1, 2, 3], [1, 2], "wrong-shape", "result has 3 items, expected 2"),
    (5, [1, 2], "wrong-type", "expected a list"),
    ([1, 5], [1, 2], "partly-wrong", "result[1] is 5, expected 2"),
    (np.array([1, 5]), [1, 2], "partly-wrong", "result[1] is 5, expected 2"),
    (np.array([1.0, 2.0]), [1, 2], "wrong-type", "result[0] is 1.0, a float; expected an int"),
    (np.arange(3), [0, 1], "wrong-shape", "result has 3 items, expected 2"),
    (np.array(1), [1], "wrong-type", "an array of shape (), expected a list"),
    ([2, 3], [1, 2], "off-by-one", "result[0] is 2, expected 1"),
    ([2, 4, 8], [1, 2, 4], "constant-factor", ""),
    ([8, 9, 12], [1, 2, 5], "constant-offset", ""),
    ([8, 9], [1, 2], "wrong", ""),
    (["a", "c"], ["a", "b"], "wrong", "result[1] is 'c', expected 'b'"),
    ([[1], [2]], [[1], [4]], "wrong", "result[1][0] is 2, expected 4"),
    ({"a": 1}, {"a": 1, "b": 2}, "missing-name", "result has no 'b'; it has 'a'"),
    ({"a": 1, "c": 0}, {"a": 1}, "wrong-shape", "result has 'c', which was not asked for"),
    ({"a": 5}, {"a": 1}, "wrong", "result['a'] is 5, expected 1"),
    ([1, 2], {"a": 1}, "wrong-type", "expected a dict"),
    ([0.0, 0.0], np.zeros(2), "wrong-type", "expected an array of shape (2,)"),
    (np.array(3.0), 3.0, "wrong-type", "result is an array of shape (), expected a float"),
    (3.0, np.array(3.0), "wrong-type", ""),
    (np.zeros((1, 4)), np.zeros((4, 4)), "wrong-shape", "has shape (1, 4), expected (4, 4)"),
    (np.zeros(0), np.zeros(4), "wrong-shape", ""),
    (np.zeros(2), np.zeros(2, F4), "wrong-dtype", "has dtype float64, expected float32"),
    (np.zeros(2, ">f4"), np.zeros(2, F4), "wrong-dtype", ""),
    (np.array([1.0, NAN]), np.array([1.0, 2.0]), "not-finite", "result[1] is nan"),
    (np.array([NAN, NAN]), np.array([1.0, 2.0]), "not-finite", ""),
    (np.array([3.0, NAN]), np.array([1.0, 2.0]), "not-finite", "result[1] is nan, expected 2"),
    (np.arange(4) + 1, np.arange(4), "off-by-one", "result[0] is 1, expected 0"),
    (np.arange(4.0) + 1, np.arange(4.0), "constant-offset", ""),
    (np.array([3, 1, 7]) * 8, np.array([3, 1, 7]), "constant-factor", ""),
    (np.array([3, 9, 7]), np.array([3, 1, 7]), "partly-wrong", "result[1] is 9, expected 1"),
    (np.array([5, 9, 1]), np.array([3, 1, 7]), "wrong", ""),
    (np.array([[1, 2], [3, 9]]), np.array([[1, 2], [3, 4]]), "partly-wrong", "result[1, 1] is 9"),
    (np.array([False, True]), np.array([True, True]), "partly-wrong", ""),
]


@pytest.mark.parametrize(("got", "expected", "key", "says"), WRONG)
def test_a_difference_has_its_key_and_its_fact(
    got: Any, expected: Any, key: str, says: str
) -> None:
    found = first_difference(got, expected, EXACT, "result")
    assert found is not None
    assert pattern(found, EXACT).key == key
    assert says in found.fact


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e-2), st.floats(0, 0.9))
def test_floats_agree_within_the_tolerance_and_not_beyond(
    expected: float, rtol: float, share: float
) -> None:
    atol = 1e-6
    room = atol + rtol * abs(expected)
    inside, outside = expected + share * room, expected + 1.1 * room + 1e-9
    assert key_of(inside, expected, (rtol, atol)) is None
    assert key_of(outside, expected, (rtol, atol)) is not None
    arrays = [np.array([v, expected]) for v in (inside, outside, expected)]
    assert key_of(arrays[0], arrays[2], (rtol, atol)) is None
    assert key_of(arrays[1], arrays[2], (rtol, atol)) is not None


def test_whole_numbers_know_no_tolerance() -> None:
    assert key_of(np.array([1000, 3]), np.array([1001, 3]), (0.5, 5.0)) == "partly-wrong"
    assert key_of(1000, 1001, (0.5, 5.0)) == "off-by-one"


def test_infinite_is_not_close_to_finite() -> None:
    assert key_of(np.array([INF]), np.array([1.0]), (INF, INF)) == "not-finite"
    assert key_of(1.0, INF, (0.1, 0.1)) == "wrong"


@pytest.mark.parametrize(
    ("pairs", "factor"),
    [
        ([(8, 4), (20, 10)], 2.0),
        ([(1, 4), (2.5, 10)], 0.25),
        ([(8, 4), (21, 10)], None),
        ([(8, 4)], None),
        ([(8, 4), (8, 4)], None),
        ([(8, 4), (None, 10)], None),
        ([(8, 4), ("x", 10)], None),
        ([(8, 4), (0, 0)], None),
        ([(True, 4), (20, 10)], None),
        ([(4, 4), (10, 10)], None),
    ],
)
def test_a_factor_is_one_in_all_cases(pairs: list[tuple[Any, Any]], factor: float | None) -> None:
    assert same_factor(pairs) == factor


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (3.0, "3.0"),
        (1e30, "1e+30"),
        (1 / 3, repr(1 / 3)),
        ("a\nb", "'a\\nb'"),
        ((1,), "(1,)"),
        ([1.0, None], "[1.0, None]"),
        (np.arange(3), "[0, 1, 2]"),
        (np.zeros((2, 2), F4), "float32 array of shape (2, 2)"),
        (list(range(100)), "[" + ", ".join(map(str, range(40))) + ", ...]"),
        ("x" * 500, "'" + "x" * 155 + " ..."),
    ],
)
def test_a_value_is_shown_in_one_short_line(value: Any, text: str) -> None:
    assert show(value) == text


def test_last_digits_are_shown_where_something_hangs_on_them() -> None:
    spans = (2 / 3, np.float64(1e7 / 3)), {"kwh": np.float32(0.5)}
    assert show(spans, rough=True) == "((0.666667, 3.33333e+06), {'kwh': 0.5})"
    assert show(spans).startswith("((0.6666666666666666, 3333333.3333333335), ")
    assert show([math.nan, -math.inf, 2.0], rough=True) == "[nan, -inf, 2.0]"
    # What a number format holds is exact, and short.
    assert show([0.013671875, 1.4140625], rough=True) == "[0.013671875, 1.4140625]"


def test_every_key_of_the_specification_has_a_sentence_and_no_other() -> None:
    text = " ".join((PythonPuzzle.__doc__ or "").split())
    listed = text.partition("keys the grader finds by itself:")[2].partition("Args:")[0]
    named = set(listed.split('"')[1::2])
    assert len(named) > 10
    # What every puzzle can end with is said of puzzles in general.
    assert set(PYTHON_SENTENCES) == named | {"refused", "over-budget"}


def test_a_puzzles_own_sentence_comes_first_and_each_kind_has_its_own() -> None:
    assert sentence_of(toy.COVER, "rounded") == "The toy's own sentence about rounding."
    assert sentence_of(toy.SCALE, "rounded") == PYTHON_SENTENCES["rounded"]
    assert sentence_of(kernels.TOY, "input-changed") != sentence_of(toy.COVER, "input-changed")
    assert sentence_of(toy.COVER, "no such key") == ""


@contextmanager
def _once() -> Iterator[None]:
    yield


def _enters_again() -> None:
    one = _once()
    with one:
        pass
    with one:
        pass


def _enters_a_generator() -> None:
    with (x for x in "a"):  # type: ignore[attr-defined]
        pass


FOUR = np.arange(4)
RAISES: dict[str, tuple[Callable[[], Any], str]] = {
    "past the end of a list": (lambda: [1][5], "The index lies outside."),
    "past the end of an array": (lambda: FOUR[9], "The index lies outside."),
    "from an empty list": (lambda: [].pop(), "The index lies outside."),
    "two indices for one axis": (lambda: FOUR[0, 1], "There are fewer axes"),
    "an index for no axis": (lambda: FOUR.sum()[0], "There are fewer axes"),
    "a sum over no axis": (lambda: FOUR.sum(4), "There are fewer axes"),
    "a mask of another length": (
        lambda: FOUR[np.array([True])],
        "What stands in the brackets does",
    ),
    "lists of two lengths": (
        lambda: np.eye(3)[[0, 1], [0, 1, 2]],
        "What stands in the brackets does",
    ),
    "half an index": (lambda: FOUR[1.5], "What stands in the brackets is no index"),
    "indices in float64": (lambda: FOUR[FOUR / 2], "What stands in the brackets is no index"),
    "a manager twice": (_enters_again, "A context manager that a generator made"),
    "a generator in a with": (_enters_a_generator, "A `with` calls __enter__"),
    "a number called": (lambda: FOUR[0](2), "What stands before these round brackets"),
    "something of None": (lambda: [].sort().append(1), "Something is None here."),
}


@pytest.mark.parametrize("name", RAISES)
def test_an_error_is_explained_by_what_it_says(name: str) -> None:
    line, sentence = RAISES[name]
    with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is what is asked
        line()
    said = sentence_of_raised(toy.COVER, raised.type.__name__, str(raised.value))
    assert said.startswith(sentence), raised.value


def test_tensors_say_the_same_in_their_own_words() -> None:
    import torch

    four, frozen = torch.arange(4), torch.zeros(2)
    lines: list[tuple[Callable[[], Any], str]] = [
        (lambda: four[9], "The index lies outside."),
        (lambda: four[0, 1], "There are fewer axes"),
        (lambda: four.sum()[0], "There are fewer axes"),
        (lambda: four.sum(4), "There are fewer axes"),
        (lambda: four[torch.tensor([True])], "What stands in the brackets does"),
        (lambda: torch.eye(3)[[0, 1], [0, 1, 2]], "What stands in the brackets does"),
        (lambda: four[1.5], "What stands in the brackets is no index"),
        (lambda: four[four / 2], "What stands in the brackets is no index"),
        (lambda: frozen.register_hook(print), "A tensor that asks for no gradient"),
        (lambda: frozen.sum().backward(), "PyTorch has no graph"),
    ]
    for line, sentence in lines:
        with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is what is asked
            line()
        said = sentence_of_raised(toy.COVER, raised.type.__name__, str(raised.value))
        assert said.startswith(sentence), raised.value


def test_no_puzzle_knows_beforehand_what_a_line_will_raise() -> None:
    assert not [puzzle.name for puzzle in index.puzzles() if "exception" in puzzle.diagnoses]


MORE: list[tuple[Any, Any, str]] = [
    (37.0, 37, "float-for-int"),
    (INF, 37, ""),
    ("37", 37, "text-for-number"),
    ((37,), 37, "wrapped"),
    (["none"], "none", "wrapped"),
    (0, None, "none-expected"),
    (0, (1, 2, 3), "one-for-several"),
    ((1, 2), (1, 2, 3), "items"),
    ({"a": 1}, (1, 2), ""),
    (True, 1, ""),
    ((4, 127), (4, 96), "one-wrong"),
    ((4, 127, 5), (4, 96, 6), ""),
    (np.zeros(2), np.zeros(3), ""),
    (np.array([-2.0, 0.0, 3.5]), np.array([2.0, 0.0, -3.5]), "other-sign"),
    (np.array([-4.0, 7.0]), np.array([2.0, -3.5]), ""),
    (None, "ValueError", "should-refuse"),
]


@pytest.mark.parametrize(("got", "expected", "closer"), MORE)
def test_of_another_type_it_is_said_which_one(got: Any, expected: Any, closer: str) -> None:
    found = first_difference(got, expected, EXACT, "result")
    assert found is not None
    assert more_of(found, pattern(found, EXACT).key) == closer
    assert not closer or CLOSER[closer]


@pytest.mark.parametrize(
    ("got", "expected", "key"),
    [
        (0.4933, 0.49333333, "rounded"),
        (0.37, 0.3701234, "rounded"),
        (float(np.float32(1.71058666667)), 1.71058666667, "rounded"),
        (0.4, 0.37, "wrong"),
        (0.4, 0.3701234, "wrong"),
        (0.4934, 0.49333333, "wrong"),
        (0.0, 0.004, "wrong"),
        (INF, 1e39, "not-finite"),
        (2, 1.7105, "wrong"),
    ],
)
def test_a_number_that_was_rounded_is_known(got: float, expected: float, key: str) -> None:
    assert key_of(got, expected, (1e-12, 0.0)) == key
