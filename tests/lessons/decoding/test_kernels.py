"""The kernels of lesson 14 beside PyTorch, and what becomes of a page table that is no good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_course import check
from gpu_course.errors import CourseError
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.lessons.decoding.paged import PAGE, faults, pages_needed, refuse_faults
from gpu_course.lessons.decoding.paged import shuffled_table as shuffled
from gpu_course.puzzle import KernelPuzzle, index
from simt import simulate
from simt.report import Report

SOLUTIONS = Path(__file__).parents[3] / "solutions/14_decoding"


def launched(name: str, **given: Any) -> tuple[dict[str, Any], Report]:
    """Runs a solution on a case of the puzzle, or on inputs given, and returns what is left."""
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    case = given.pop("case", puzzle.cases[0])
    inputs = puzzle.inputs(np.random.default_rng(3), case) | given
    expected = puzzle.reference(inputs, case)
    values = {**puzzle.outputs(inputs, case, expected), **inputs}
    (launch,) = puzzle.launches(case)
    kernel = f"{SOLUTIONS / name}.py:{name}"
    report = simulate(kernel)[launch.grid, launch.block](*(values[arg] for arg in launch.args))
    return values, report


def case_of(name: str, words: str) -> Any:
    (found,) = (case for case in index.find(name).cases if case.name == words)
    return found


@pytest.mark.parametrize(
    "words", ["visible example", "many lengths", "one KV head for eight", "large scores"]
)
def test_attention_is_pytorchs_over_each_sequences_own_keys(words: str) -> None:
    case = case_of("decode_attention_gqa", words)
    got, report = launched("decode_attention_gqa", case=case)
    assert report.ok
    for sequence, tokens in enumerate(got["length"]):
        t = np.arange(tokens)
        page = got["page_table"][sequence, t // PAGE]
        keys, values = (
            torch.from_numpy(got[name][page, t % PAGE]).double().transpose(0, 1)
            for name in ("k_cache", "v_cache")
        )
        query = torch.from_numpy(got["q"][sequence]).double()[:, None]
        right = torch.nn.functional.scaled_dot_product_attention(
            query, keys, values, enable_gqa=True
        )
        np.testing.assert_allclose(got["out"][sequence], right[:, 0], rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(
    "words", ["visible example", "many equal numbers", "several NaN", "far below zero"]
)
def test_the_largest_are_those_of_torch_topk(words: str) -> None:
    got, _ = launched("top_k", case=case_of("top_k", words))
    right = torch.topk(torch.from_numpy(got["logits"]), got["k"])
    # Which of equal numbers comes first PyTorch does not promise: the numbers alone are compared.
    np.testing.assert_array_equal(got["values"], right.values.numpy())
    again = np.take_along_axis(got["logits"], got["places"], axis=1)
    np.testing.assert_array_equal(again, got["values"])


def test_a_product_with_four_bits_is_that_of_the_weights_they_stand_for() -> None:
    got, _ = launched("int4_matvec")
    numbers = np.stack([got["packed"] >> np.uint32(4 * k) & np.uint32(15) for k in range(8)], -1)
    numbers = torch.from_numpy(numbers.reshape(len(numbers), -1).astype(np.int64))
    wide = [torch.from_numpy(got[name].astype(np.float64)) for name in ("zero", "scale")]
    zero, scale = (each.repeat_interleave(32, dim=1) for each in wide)
    right = ((numbers - zero) * scale) @ torch.from_numpy(got["x"]).double()
    np.testing.assert_allclose(got["out"], right, rtol=1e-5, atol=1e-5)


def test_a_score_after_rope_knows_only_how_far_apart_two_tokens_are() -> None:
    case = case_of("rope", "one pair more")
    given = index.find("rope").inputs(np.random.default_rng(3), case)
    for name in ("q", "k"):
        given[name][1] = given[name][0]
    scores = {}
    for first, second in ((0, 5), (9, 14), (0, 6)):
        position = np.array([first, second], np.int32)
        got, _ = launched("rope", case=case, position=position, q=given["q"].copy(),
                          k=given["k"].copy())  # fmt: skip
        scores[first, second] = float((got["q"][1, 0].astype(float) * got["k"][0, 0]).sum())
    assert scores[0, 5] == pytest.approx(scores[9, 14], rel=1e-5)
    assert scores[0, 5] != pytest.approx(scores[0, 6], rel=1e-2)


def test_the_newest_token_alone_has_changed() -> None:
    puzzle = index.find("kv_append_paged")
    before = puzzle.inputs(np.random.default_rng(3), puzzle.cases[0])
    got, _ = launched("kv_append_paged")
    for name in ("k_cache", "v_cache"):
        changed = got[name] != before[name]
        assert changed.sum() == before["k"].size


BAD_TABLES = {
    "outside the cache": ([[0, 1], [9, 2], [3, 4]], [16, 5, 20], 1, 9),
    "no page": ([[0, 1], [2, -1], [3, 4]], [16, 17, 20], 1, -1),
    "shared": ([[0, 1], [0, 2], [3, 4]], [5, 5, 20], 1, 0),
    "no token": ([[0, 1], [2, 5], [3, 4]], [5, 0, 20], 1, None),
    "past the last page": ([[0, 1], [2, 5], [3, 4]], [5, 9, 33], 2, None),
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_a_bad_page_table_is_refused_with_sequence_and_page(what: str) -> None:
    table, length, sequence, page = BAD_TABLES[what]
    arrays = np.array(table, np.int32), np.array(length, np.int32)
    (found,) = faults(*arrays, 6)
    assert (found.sequence, found.page) == (sequence, page)
    assert f"sequence {sequence}" in found.fact
    assert page is None or str(page) in found.fact
    with pytest.raises(CourseError, match=f"sequence {sequence}"):
        refuse_faults(*arrays, 6)


@pytest.mark.parametrize("what", BAD_TABLES)
def test_a_kernel_that_meets_a_bad_table_names_its_sequence_and_page(what: str) -> None:
    """The first block of a hazard is the sequence; the first index of the cache is the page."""
    table, length, sequence, page = BAD_TABLES[what]
    cache = np.zeros((6, PAGE, 2, 32), np.float32)
    new = np.arange(3 * 2 * 32, dtype=np.float32).reshape(3, 2, 32)
    arguments = (np.array(table, np.int32), np.array(length, np.int32), 2, 32)
    kernel = f"{SOLUTIONS}/kv_append_paged.py:kv_append_paged"
    report = simulate(kernel)[(3, 1), 64](cache, cache.copy(), new, new, *arguments)
    hazard = report.hazards[0]
    assert f"block ({sequence},0,0)" in hazard.text()
    if page is None:
        assert hazard.message.startswith(f"OutOfBoundsError: page_table[{sequence}, ")
    else:
        assert f"k_cache[{page}, " in hazard.message


def test_two_sequences_on_one_page_at_two_slots_are_seen_by_the_table_alone() -> None:
    table, length = np.array([[0], [0]], np.int32), np.array([3, 9], np.int32)
    cache = np.zeros((2, PAGE, 1, 4), np.float32)
    new = np.ones((2, 1, 4), np.float32)
    kernel = f"{SOLUTIONS}/kv_append_paged.py:kv_append_paged"
    report = simulate(kernel)[(2, 1), 64](cache, cache.copy(), new, new, table, length, 1, 4)
    assert report.ok
    (found,) = faults(table, length, 2)
    assert found.fact == "sequence 1 has page 0, which is page 0 of sequence 0"


def test_a_table_that_is_drawn_has_no_fault_and_its_pages_are_out_of_order() -> None:
    lengths = [1, 16, 17, 70, 33]
    table, pages = shuffled(np.random.default_rng(5), lengths)
    assert faults(table, np.array(lengths), pages) == ()
    refuse_faults(table, np.array(lengths), pages)
    assert pages == sum(map(pages_needed, lengths)) + 2
    assert (np.diff(table[3]) != 1).any()


def test_a_cell_that_rightly_stayed_as_it_was_counts_as_right() -> None:
    puzzle = index.find("kv_append_paged")
    (mistake,) = (each for each in puzzle.mistakes if each.function == "one_too_far")
    verdict = check(puzzle, answer=mistake_answer(puzzle, mistake, SOLUTIONS.parent), seed=0)
    sequences, kv_heads, d = (
        puzzle.cases[0].sizes[name] for name in ("sequences", "kv_heads", "d")
    )
    # Where the token belongs, and where it went.
    assert verdict.evidence["mask"].sum() == 2 * sequences * kv_heads * d
