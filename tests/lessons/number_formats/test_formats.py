"""The formats against PyTorch: every number of 16 bits and fewer, and roundings between them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.number_formats.formats import (
    BF16,
    E4M3,
    E5M2,
    FORMATS,
    FP16,
    FP32,
    Format,
    all_values,
    codes,
    find,
    rounded,
    values,
)

SHORT = [BF16, FP16, E5M2, E4M3]


def dtype_of(form: Format) -> torch.dtype:
    found: torch.dtype = getattr(torch, form.torch)
    return found


def by_torch(bits: np.ndarray, form: Format) -> np.ndarray:
    """What PyTorch says that these codes stand for."""
    words = bits.astype(np.uint8 if form.bits == 8 else np.uint16)
    whole = torch.uint8 if form.bits == 8 else torch.uint16
    given = torch.from_numpy(words)
    assert given.dtype == whole
    return given.view(dtype_of(form)).to(torch.float64).numpy()


@pytest.mark.parametrize("form", SHORT, ids=lambda form: form.name)
def test_every_code_stands_for_the_number_that_torch_says(form: Format) -> None:
    bits = np.arange(2**form.bits)
    ours, theirs = values(bits, form), by_torch(bits, form)
    np.testing.assert_array_equal(ours, theirs)
    number = ~np.isnan(ours)
    np.testing.assert_array_equal(np.signbit(ours[number]), np.signbit(theirs[number]))
    np.testing.assert_array_equal(codes(ours[number], form), bits[number])


@pytest.mark.parametrize("form", [*SHORT, FP32], ids=lambda form: form.name)
def test_what_a_format_is_said_to_reach_is_what_torch_says(form: Format) -> None:
    facts = torch.finfo(dtype_of(form))
    assert form.largest == facts.max
    assert form.smallest_normal == facts.tiny
    assert form.epsilon == facts.eps
    assert form.bits == facts.bits
    if form.bits <= 16:
        listed = all_values(form)
        assert listed[0] == 0 and listed[1] == form.smallest and listed[-1] == form.largest


def numbers_between(form: Format) -> np.ndarray:
    """Every number of a format up to its largest, both sides and the middle of every gap."""
    listed = all_values(form)
    low, high = listed[:-1], listed[1:]
    middle = (low + high) / 2
    near = [low, middle, middle - (high - low) / 8, middle + (high - low) / 8]
    sizes = np.concatenate([*near, listed[-1:]])
    # torch rounds from float32, so what is asked of it has to be one.
    sizes = sizes[sizes.astype(np.float32) == sizes]
    return np.concatenate([sizes, -sizes])


@pytest.mark.parametrize("form", SHORT, ids=lambda form: form.name)
def test_every_gap_is_rounded_as_torch_rounds_it(form: Format) -> None:
    given = numbers_between(form)
    assert given.size > 6 * 2 ** (form.bits - 2)
    theirs = torch.from_numpy(given.astype(np.float32)).to(dtype_of(form)).to(torch.float64).numpy()
    ours = rounded(given, form)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))


@pytest.mark.parametrize("form", [BF16, FP16, E5M2], ids=lambda form: form.name)
def test_what_lies_past_the_largest_number_is_infinity_or_the_largest(form: Format) -> None:
    next_one = form.largest + (form.largest - all_values(form)[-2])
    middle = (form.largest + next_one) / 2
    below = np.nextafter(np.float32(middle), np.float32(0))
    given = np.array([middle, -middle, below, next_one, np.inf, -np.inf, np.nan])
    found = rounded(given, form)
    np.testing.assert_array_equal(
        found, [np.inf, -np.inf, form.largest, np.inf, np.inf, -np.inf, np.nan]
    )
    with np.errstate(over="ignore"):  # past the largest bfloat16 comes no other float32
        narrow = given[:4].astype(np.float32)
    theirs = torch.from_numpy(narrow).to(dtype_of(form)).to(torch.float64)
    np.testing.assert_array_equal(found[:4], theirs.numpy())
    np.testing.assert_array_equal(
        rounded(given, form, True)[:3], [form.largest * s for s in (1, -1, 1)]
    )


def test_e4m3_has_no_infinity_and_rounds_up_to_464_downwards() -> None:
    given = np.array([464.0, 464.1, 1e9, np.inf, -np.inf])
    np.testing.assert_array_equal(rounded(given, E4M3), [448, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(rounded(given, E4M3, True), [448, 448, 448, 448, -448])


def test_float32_is_what_numpy_rounds_to() -> None:
    rng = np.random.default_rng(5)
    given = rng.standard_normal(4000) * 2.0 ** rng.integers(-150, 128, 4000)
    np.testing.assert_array_equal(rounded(given, FP32), given.astype(np.float32).astype(float))


def test_a_format_is_found_by_its_name_and_no_other_is() -> None:
    assert all(find(name) is form for name, form in FORMATS.items())
    with pytest.raises(CourseError, match="fp4"):
        find("fp4")
    with pytest.raises(CourseError, match="fp32"):
        all_values(FP32)
