"""Datasheets: every number has a source, and numbers that follow from others agree with them."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from gpu_course.errors import CatalogueError, UnknownName
from gpu_course.hardware.cards import read_cards
from gpu_course.hardware.datasheet import (
    ComputeCapability,
    DeviceCard,
    capabilities,
    capability,
    device,
    devices,
)
from gpu_course.units import GIB, KIB, TERA

NOT_NUMBERS = {"name", "product", "compute_capability", "sources"}
by_version = pytest.mark.parametrize("limits", capabilities(), ids=lambda limits: limits.version)
by_card = pytest.mark.parametrize("card", devices(), ids=lambda card: card.name)


@by_version
def test_limits_hold_together(limits: ComputeCapability) -> None:
    assert limits.max_warps_per_sm * limits.warp_size == limits.max_threads_per_sm
    assert limits.max_threads_per_block <= limits.max_threads_per_sm
    assert limits.shared_bytes_per_block <= limits.max_shared_bytes_per_block_optin
    assert (
        limits.max_shared_bytes_per_block_optin + limits.reserved_shared_bytes_per_block
        == limits.shared_bytes_per_sm
    )
    # One warp whose threads use every register they may has to fit into a block's registers.
    assert limits.max_registers_per_thread * limits.warp_size <= limits.registers_per_block
    assert limits.register_allocation_unit % limits.warp_size == 0
    assert limits.sources


def test_capabilities_come_oldest_first() -> None:
    numbers = [limits.number for limits in capabilities()]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == len(numbers)


# Read again, column by column, from Tables 30 and 31 of the CUDA Programming Guide.
@pytest.mark.parametrize(
    ("version", "blocks", "warps", "threads", "shared_kib", "shared_block_kib"),
    [
        ("7.5", 16, 32, 1024, 64, 64),
        ("8.0", 32, 64, 2048, 164, 163),
        ("8.6", 16, 48, 1536, 100, 99),
        ("8.7", 16, 48, 1536, 164, 163),
        ("8.9", 24, 48, 1536, 100, 99),
        ("9.0", 32, 64, 2048, 228, 227),
        ("10.0", 32, 64, 2048, 228, 227),
        ("11.0", 24, 48, 1536, 228, 227),
        ("12.0", 24, 48, 1536, 100, 99),
    ],
)
def test_the_programming_guide_says_the_same(
    version: str, blocks: int, warps: int, threads: int, shared_kib: int, shared_block_kib: int
) -> None:
    limits = capability(version)
    assert limits.max_blocks_per_sm == blocks
    assert limits.max_warps_per_sm == warps
    assert limits.max_threads_per_sm == threads
    assert limits.shared_bytes_per_sm == shared_kib * KIB
    assert limits.max_shared_bytes_per_block_optin == shared_block_kib * KIB


# Read again in the CUDA Core Compute Libraries 3.5 and in cuda_occupancy.h of CUDA 13.5: the guide
# has no column for these.
@pytest.mark.parametrize(
    ("version", "blocks", "threads", "shared_kib"),
    [("8.8", 16, 1536, 100), ("10.7", 16, 1024, 328)],
)
def test_capabilities_that_the_guide_leaves_out(
    version: str, blocks: int, threads: int, shared_kib: int
) -> None:
    limits = capability(version)
    assert limits.max_blocks_per_sm == blocks
    assert limits.max_threads_per_sm == threads
    assert limits.shared_bytes_per_sm == shared_kib * KIB
    assert not any("Programming Guide" in source.title for source in limits.sources)


def test_an_unknown_capability_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        capability("6.1")
    fact, hint = str(caught.value).splitlines()
    assert fact == "no compute capability '6.1' in the table"
    known = ", ".join(limits.version for limits in capabilities())
    assert hint == f"  try:    known ones: {known}"
    assert known.startswith("7.0, 7.2, 7.5, 8.0")


@by_card
def test_every_number_has_a_source(card: DeviceCard) -> None:
    known = {
        field.name
        for field in fields(card)
        if field.name not in NOT_NUMBERS and getattr(card, field.name) is not None
    }
    assert set(card.sources) == known
    assert all(source.title and source.place for source in card.sources.values())


@by_card
def test_cards_belong_to_a_known_capability(card: DeviceCard) -> None:
    assert card.limits.version == card.compute_capability


@by_card
def test_printed_and_computed_fp32_rates_agree(card: DeviceCard) -> None:
    computed, printed = card.computed_fp32_flop_per_s, card.printed_fp32_flop_per_s
    if computed is None or printed is None:
        # Then the card must not pretend: what is shown is what was printed, or nothing.
        assert card.fp32_flop_per_s == (printed if computed is None else computed)
    else:
        # Datasheets round to one decimal place of a TFLOP/s.
        assert abs(computed - printed) <= 0.06 * TERA


def test_most_cards_can_be_recomputed() -> None:
    recomputed = [card.name for card in devices() if card.computed_fp32_flop_per_s is not None]
    assert recomputed == ["V100", "T4", "A100", "RTX 3090", "RTX 4090", "L4", "H100", "RTX 5090"]


@by_card
def test_rows_show_each_known_number_with_its_source(card: DeviceCard) -> None:
    rows = card.rows()
    assert len(rows) == len(card.sources)
    assert {source for _, _, source in rows} == {str(source) for source in card.sources.values()}
    assert all(label and value for label, value, _ in rows)


def test_the_a100_card() -> None:
    card = device("A100")
    assert card.computed_fp32_flop_per_s == 2 * 108 * 64 * 1410e6
    assert card.memory_bytes == 80 * GIB
    assert card.max_resident_threads == 108 * 2048
    assert card.ridge_flop_per_byte == pytest.approx(312e12 / 2039e9)
    assert card.fp32_ridge_flop_per_byte == pytest.approx(19.49e12 / 2039e9, rel=1e-3)
    assert ("BF16 tensor cores", "312 TFLOP/s") in [row[:2] for row in card.rows()]


def test_a_card_without_bf16_has_the_ridge_of_fp16() -> None:
    card = device("V100")
    assert card.bf16_flop_per_s is None
    assert card.ridge_flop_per_byte == pytest.approx(125e12 / 900e9)


def test_what_is_unknown_stays_unknown() -> None:
    card = device("B200")
    assert card.boost_clock_hz is None
    without = replace(card, printed_fp32_flop_per_s=None)
    assert without.fp32_flop_per_s is None
    assert without.fp32_ridge_flop_per_byte is None
    assert "FP32, printed" not in [row[0] for row in without.rows()]
    # A printed rate stands in where no clock is known to work it out from.
    assert card.fp32_flop_per_s == 75e12


def test_the_printed_fp32_of_the_b200_is_what_its_sms_do_at_a_clock_it_can_have() -> None:
    """NVIDIA prints no boost clock for it, so the two are held together the other way round."""
    card = device("B200")
    assert card.sm_count is not None and card.printed_fp32_flop_per_s is not None
    per_clock = card.sm_count * 128 * 2
    assert 1.9e9 < card.printed_fp32_flop_per_s / per_clock < 2.0e9


@pytest.mark.parametrize("name", ["A100", "a100", "A100 SXM4 80 GB", " rtx4090 "])
def test_cards_are_found_by_name(name: str) -> None:
    assert device(name) in devices()


def test_an_unknown_card_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known ones: V100, T4, A100"):
        device("A1000")


@pytest.mark.parametrize("name", ["RTX 3090", "RTX 4090", "RTX 5090"])
def test_tensor_cores_of_geforce_cards_give_twice_the_fp32_rate(name: str) -> None:
    # 128 FP32 cores do 256 operations per clock and SM; four tensor cores of 128 do 512.
    card = device(name)
    assert card.tensor_flop_per_s == pytest.approx(2 * card.computed_fp32_flop_per_s, rel=5e-3)


def test_what_no_document_confirms_is_left_out() -> None:
    assert device("T4").nvlink_bytes_per_s is None
    assert "NVLink" not in [row[0] for row in device("T4").rows()]
    assert device("H200").l2_bytes is None


CARD = """
[[card]]
name = "X"
product = "X 1"
compute_capability = "8.0"
memory_bytes = [80, "GiB", "sheet"]

[sources."sheet"]
title = "a sheet"
place = "page 1"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (
            "memory_bytes",
            "memory_byte",
            "cards.toml, X: Object contains unknown field `memory_byte`",
        ),
        ('"GiB"', '"gigabytes"', "cards.toml, X: memory_bytes has the unit 'gigabytes'"),
        ('"sheet"]\n', '"shet"]\n', "and the source 'shet'"),
        ('[80, "GiB", ', '["80", "GiB", ', "X: Expected `int | float`, got `str` - at "),
        ('name = "X"', 'nam = "X"', "a card without a name: Object contains unknown field `nam`"),
        ("memory_bytes = ", "# ", "no number names the sources sheet"),
    ],
)
def test_a_slip_in_the_file_of_cards_is_told(right: str, wrong: str, said: str) -> None:
    (card,) = read_cards(CARD)
    assert card.memory_bytes == 80 << 30 and str(card.sources["memory_bytes"]) == "a sheet, page 1"
    with pytest.raises(CatalogueError, match=said):
        read_cards(CARD.replace(right, wrong, 1))
