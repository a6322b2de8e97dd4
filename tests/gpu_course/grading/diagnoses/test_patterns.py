"""Planted faults in a right array must be recognised, and a right array must not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.grading.diagnoses.patterns import Observation, close, diagnose
from gpu_course.grading.diagnoses.sentences import HINT_KINDS, SENTENCES
from gpu_course.puzzle import KernelPuzzle

BLOCK = 4
DTYPES = (np.float32, np.float64, np.int32, np.int64)


@st.composite
def vectors(draw: st.DrawFn) -> np.ndarray:
    """Distinct numbers without an order, at least two whole blocks and a bit of them."""
    size = draw(st.integers(2 * BLOCK + 1, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    dtype = draw(st.sampled_from(DTYPES))
    return (np.random.default_rng(seed).permutation(7 * size)[:size] + 3).astype(dtype)


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    rows, cols = draw(st.integers(2, 7)), draw(st.integers(3, 7))
    seed = draw(st.integers(0, 2**32 - 1))
    values = np.random.default_rng(seed).permutation(rows * cols * 5)[: rows * cols] + 3
    return values.reshape(rows, cols).astype(draw(st.sampled_from(DTYPES)))


def look(
    expected: np.ndarray,
    got: np.ndarray,
    written: np.ndarray | None = None,
    block: tuple[int, int, int] = (BLOCK, 1, 1),
    **inputs: np.ndarray,
) -> str | None:
    mask = np.ones(expected.shape, bool) if written is None else written
    width = expected.shape[-1]
    rows = expected.shape[0] if expected.ndim == 2 else 1
    grid = (-(-width // block[0]), -(-rows // block[1]), 1)
    right = close(got, expected, (0.0, 0.0)) & mask
    found = diagnose(Observation(expected, got, mask, right, grid, block, inputs))
    return None if found is None else found.key


@given(vectors())
def test_a_right_result_has_no_diagnosis(expected: np.ndarray) -> None:
    assert look(expected, expected.copy()) is None


@given(tables())
def test_a_right_table_has_no_diagnosis(expected: np.ndarray) -> None:
    assert look(expected, expected.copy(), block=(2, 2, 1)) is None


PLANTED: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "shifted": lambda e, k: np.roll(e, 1 + k % 3),
    "reversed": lambda e, k: e[::-1].copy(),
    "constant-offset": lambda e, k: e + e.dtype.type(1 + k),
    "constant-factor": lambda e, k: e * e.dtype.type(2 + k),
    "only-first-block-right": lambda e, k: np.where(np.arange(e.size) < BLOCK, e, -(e**2)),
    "tail-wrong": lambda e, k: np.where(np.arange(e.size) < e.size - 1, e, -(e**2)),
    "wrong": lambda e, k: -(e**2),
    "partly-wrong": lambda e, k: np.where(np.arange(e.size) % 3 == 1, -(e**2), e),
}


@pytest.mark.parametrize("key", PLANTED)
@given(expected=vectors(), amount=st.integers(0, 20))
def test_a_planted_fault_is_recognised(key: str, expected: np.ndarray, amount: int) -> None:
    got = PLANTED[key](expected, amount).astype(expected.dtype)
    assert look(expected, got) == key


def test_a_factor_with_rounding_in_it_is_told_as_the_plain_number_that_it_is() -> None:
    expected = np.array([8.5e-5, 3.0, -5.0], np.float32)
    for off, told in ((-1e-5, "2"), (0.00123, "2.00246")):
        got = (expected * 2 * np.float32(1 + off)).astype(np.float32)
        seen = Observation(
            expected, got, np.ones(3, bool), np.zeros(3, bool), block=(3, 1, 1), tolerance=(1e-4, 0)
        )
        found = diagnose(seen)
        assert found is not None and found.fact == f"every cell is {told} times expected"


@given(vectors(), st.integers(-3, 3).filter(bool))
def test_a_shift_without_wrapping_round(expected: np.ndarray, distance: int) -> None:
    got = np.roll(expected, distance)
    edge = slice(None, distance) if distance > 0 else slice(distance, None)
    got[edge] = 1
    assert look(expected, got) == "shifted"


@given(vectors())
def test_nothing_written(expected: np.ndarray) -> None:
    assert look(expected, expected + 1, np.zeros(expected.shape, bool)) == "unwritten"


@given(vectors(), st.data())
def test_an_untouched_block(expected: np.ndarray, data: st.DataObject) -> None:
    number = np.arange(expected.size) // BLOCK
    missing = data.draw(st.integers(0, int(number.max())))
    assert look(expected, expected, number != missing) == "block-unwritten"


@given(vectors(), st.integers(1, BLOCK - 1))
def test_an_untouched_tail(expected: np.ndarray, count: int) -> None:
    expected = expected[: expected.size // BLOCK * BLOCK]
    written = np.arange(expected.size) < expected.size - count
    assert look(expected, expected, written) == "tail-unwritten"


@given(vectors())
def test_a_copied_input(expected: np.ndarray) -> None:
    a = expected + expected.dtype.type(10)
    assert look(expected, a, a=a) == "copied-input"


@given(vectors())
def test_a_copy_that_is_asked_for_is_no_fault(expected: np.ndarray) -> None:
    # A gather that returns one input: what is wrong is the order, not the copying.
    assert look(expected, expected[::-1].copy(), a=expected) == "reversed"


@given(tables())
def test_exchanged_rows_and_columns(expected: np.ndarray) -> None:
    got = expected.T.reshape(expected.shape).copy()
    assert look(expected, got, block=(8, 8, 1)) == "transposed"


@given(tables(), st.sampled_from([0, 1]))
def test_a_table_in_reverse(expected: np.ndarray, axis: int) -> None:
    assert look(expected, np.flip(expected, axis).copy(), block=(8, 8, 1)) == "reversed"


@given(tables(), st.sampled_from([0, 1]))
def test_an_untouched_last_row_or_column(expected: np.ndarray, axis: int) -> None:
    written = np.indices(expected.shape)[axis] < expected.shape[axis] - 1
    assert look(expected, expected, written, block=(8, 8, 1)) == "tail-unwritten"


@given(tables())
def test_an_untouched_block_of_a_table(expected: np.ndarray) -> None:
    row, col = np.indices(expected.shape)
    written = (row >= 2) | (col >= 2)
    if written.any():
        assert look(expected, expected, written, block=(2, 2, 1)) == "block-unwritten"


def test_one_cell_says_no_more_than_wrong() -> None:
    assert look(np.array([3.0]), np.array([4.0])) == "wrong"


def test_bools_have_no_offset() -> None:
    expected = np.array([True, False, True, True])
    assert look(expected, ~expected) == "wrong"


def test_a_result_within_the_tolerance_is_right() -> None:
    expected = np.array([1.0, 100.0], np.float32)
    assert close(expected * np.float32(1 + 1e-6), expected, (1e-5, 0.0)).all()
    assert not close(expected * np.float32(1 + 1e-4), expected, (1e-5, 0.0)).any()
    assert not close(np.array([np.nan, np.inf]), np.array([2.0, 1.0]), (1.0, 1.0)).any()


def test_every_key_of_the_specification_has_a_sentence_and_no_other() -> None:
    text = " ".join((KernelPuzzle.__doc__ or "").split())
    listed = text.partition("keys the grader finds by itself:")[2].partition("Args:")[0]
    for key in SENTENCES:
        if key not in ("out-of-bounds", "race") and f'"{key}"' not in listed:
            # The remaining hazard kinds are listed as "hazard kinds".
            assert key in (
                "barrier-divergence",
                "uninitialised-read",
                "inactive-lane",
                "illegal-launch",
                "misaligned",
            )
    named = set(listed.split('"')[1::2])
    # A puzzle's own sentence on it; without one a race is a race.
    assert named - {"race in global memory", "race on NAME"} <= set(SENTENCES)
    assert set(HINT_KINDS) <= set(SENTENCES)


def test_nan_where_a_number_belongs_is_told_of_an_input_that_could_make_it() -> None:
    expected = np.array([1, np.nan, 3, 4, 5, np.inf], np.float32)
    got = np.array([1, np.nan, np.nan, 4, 5, np.inf], np.float32)
    special = np.array([1, np.inf], np.float32)
    assert look(expected, got, a=special) == "not-a-number"
    assert look(expected, got, a=np.ones(2, np.float32)) != "not-a-number"
    assert look(expected, expected.copy(), a=special) is None
    # Wrong by a number, and not by NaN: what is unusual about the input is said, and asked about.
    got = np.array([1, np.nan, 2, 4, 5, 0], np.float32)
    assert look(expected, got, a=special) == "unusual-numbers"
    assert look(expected, got, a=np.ones(2, np.float32)) == "partly-wrong"


def test_every_cell_nan_is_no_offset_and_no_factor() -> None:
    expected = np.array([1, 2.5, 3, 7, 6], np.float32)
    assert look(expected, np.full_like(expected, np.nan)) == "made-nan"


def test_nan_of_plain_numbers_is_told_where_nothing_else_is_wrong() -> None:
    expected = np.array([1, 2.5, 3, 7, 6], np.float32)
    got = np.array([1, np.nan, 3, 7, np.nan], np.float32)
    assert look(expected, got, a=np.ones(2, np.float32)) == "made-nan"
    got[0] = 5
    assert look(expected, got, a=np.ones(2, np.float32)) != "made-nan"


def test_near_an_infinity_there_is_nothing() -> None:
    expected = np.array([np.inf, -np.inf, np.nan], np.float32)
    assert close(expected, expected, (1e-6, 1e-6)).all()
    assert not close(np.array([1, 1, 1], np.float32), expected, (1e-6, 1e-6)).any()
    assert not close(-expected, expected, (1e-6, 1e-6))[:2].any()
