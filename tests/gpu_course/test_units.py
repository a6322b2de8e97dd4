"""Units: the two families of prefixes and their formats."""

from __future__ import annotations

import pytest

from gpu_course import units


def test_gb_and_gib_are_not_the_same() -> None:
    assert units.GB == 10**9
    assert units.GIB == 2**30
    assert units.format_bytes(units.GB, binary=False) == "1 GB"
    assert units.format_bytes(units.GIB) == "1 GiB"


@pytest.mark.parametrize(
    ("count", "binary", "text"),
    [
        (0, True, "0 bytes"),
        (1023, True, "1023 bytes"),
        (1024, True, "1 KiB"),
        (1536, True, "1.5 KiB"),
        (228 * 1024, True, "228 KiB"),
        (2**40, True, "1 TiB"),
        (999, False, "999 bytes"),
        (2_039_000_000_000, False, "2.04 TB"),
    ],
)
def test_bytes(count: int, binary: bool, text: str) -> None:
    assert units.format_bytes(count, binary=binary) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1, "1 s"),
        (0.999, "999 ms"),
        (1e-3, "1 ms"),
        (3.2e-9, "3.2 ns"),
        (2e-11, "0.02 ns"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert units.format_time_s(seconds) == text


def test_flop_scales() -> None:
    assert units.format_flops(1e15) == "1 PFLOP"
    assert units.format_flops(989.5e12) == "989.5 TFLOP"
    assert units.format_flops(2e6) == "2 MFLOP"


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ("excess sectors in loads", "1 excess sector in loads"),
        ("bytes loaded from a", "1 byte loaded from a"),
        ("branches that split a warp", "1 branch that splits a warp"),
        ("atomics that wait for the old number", "1 atomic that waits for the old number"),
        ("barriers, counted warp by warp", "1 barrier, counted warp by warp"),
        ("atomic requests of warps to global memory", "1 atomic request of warps to global memory"),
    ],
)
def test_one_of_many_stands_in_the_singular(words: str, one: str) -> None:
    assert units.of_so_many(1, words) == one
    assert units.of_so_many(2, words) == f"2 {words}"
    assert units.of_so_many(0, words) == f"0 {words}"
