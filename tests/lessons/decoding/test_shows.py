"""What lesson 14 shows: caches in pages by a learner's kernel, batches under roofs, a server."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.decoding.shows import (
    appended,
    batch_by_batch,
    batch_under_roofs,
    beside_sdpa,
    cache_of,
    drawn_answers,
    idle_share,
    in_batches,
    kernels_of,
    matrices_of,
    padded_share,
    pages_after,
    pages_by_table,
    step_on,
    two_ways_to_serve,
    weights_of,
)
from gpu_course.notebook.note import Note
from tests.course.puzzles.by_hand import SOLUTIONS

APPEND = SOLUTIONS / "14_decoding" / "kv_append_paged.py"
ATTEND = SOLUTIONS / "14_decoding" / "decode_attention_gqa.py"
TABLE = np.array([[4, 5, -1], [2, 6, 3], [8, -1, -1]], np.int32)


def test_a_learners_kernel_fills_the_pages_of_its_table_and_no_other() -> None:
    pool = appended([20, 37, 9], TABLE, 9, APPEND)
    assert not pool.wrong
    assert pool.written[4] == (0,) * 16 and pool.written[5] == (0,) * 4 + (-1,) * 12
    assert pool.written[8] == (2,) * 9 + (-1,) * 7
    assert all(pool.written[page] == (-1,) * 16 for page in (0, 1, 7))
    assert pool.holes == 12 + 11 + 7


def test_a_kernel_that_takes_the_next_page_for_the_next_tokens_is_seen(tmp_path) -> None:
    text = APPEND.read_text(encoding="utf-8")
    old = "page = page_table[sequence, token // PAGE]"
    assert old in text
    wrong = tmp_path / "kv_append_paged.py"
    wrong.write_text(text.replace(old, "page = page_table[sequence, 0] + token // PAGE"))
    pool = appended([20, 37, 9], TABLE, 9, wrong)
    assert {(3, 15), (6, 0)} <= pool.wrong, "B goes on in page 3, and 6 is its second"
    assert (4, 0) in pool.wrong, "and then in page 4, which A has"


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([[4, 5], [2, 6, 3], [3]], "sequence 2 has page 3, which is page 2 of sequence 1"),
        ([[4, 5], [2, 6, 9], [8]], "page 2 of sequence 1 is 9"),
        ([[4], [2, 6, 3], [8]], "page 1 of sequence 0 is -1"),
    ],
)
def test_a_table_that_mixes_sequences_up_is_refused_with_sequence_and_page(tables, said) -> None:
    shown = pages_by_table([20, 37, 9], tables)
    assert isinstance(shown, Note) and said in repr(shown) and "try:" in repr(shown)


def test_who_has_not_solved_it_yet_is_told_so(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path))
    shown = pages_after([3, 4])
    assert isinstance(shown, Note) and "kv_append_paged" in repr(shown)
    with pytest.raises(CourseError):
        kernels_of("kv_append_paged")


def test_a_learners_attention_is_held_against_pytorchs(tmp_path) -> None:
    assert "the same, as far as float32 goes" in repr(beside_sdpa(answer=ATTEND))
    text = ATTEND.read_text(encoding="utf-8")
    assert "* scale" in text or "scale *" in text
    wrong = tmp_path / "decode_attention_gqa.py"
    new = text.replace("* scale", "* scale * scale").replace("scale *", "scale * scale *")
    wrong.write_text(new, encoding="utf-8")
    assert "not the same" in repr(beside_sdpa(answer=wrong))


def test_one_sequence_leaves_nearly_all_arithmetic_idle_and_a_batch_of_the_ridge_none() -> None:
    assert 0.996 < idle_share("H100") < 0.997
    assert idle_share("H100", 400) == 0


def test_the_matrices_are_those_of_llama() -> None:
    """Source: 8,030,261,248 parameters, by the model's card; 266,240 of them are in norms."""
    numbers = sum(inputs * outputs for inputs, outputs, _ in matrices_of(8))
    assert numbers + 128_256 * 4096 == 8_030_261_248 - 266_240
    assert weights_of(8) == 2 * (8_030_261_248 - 266_240)
    assert cache_of(8).token_bytes == 131_072


def test_caches_take_over_from_weights_as_the_batch_grows() -> None:
    few, many = (step_on("H100", batch, 4096) for batch in (8, 64))
    assert few.matrices_s > few.attention_s and many.attention_s > many.matrices_s
    assert many.matrices_s == pytest.approx(few.matrices_s)


def test_a_card_without_a_rate_is_answered_in_a_sentence() -> None:
    for card in ("H1000", "T5"):
        shown = batch_under_roofs(card)
        assert isinstance(shown, Note) and "try:" in repr(shown)


def test_batches_wait_for_their_longest_and_slots_in_flight_do_not() -> None:
    requests = drawn_answers()
    begins = in_batches(requests, 4)
    for first in range(0, 24, 4):
        assert len(set(begins[first : first + 4])) == 1
    assert 0.4 < batch_by_batch(4).idle < 0.6
    assert batch_by_batch(1).idle == 0
    said = repr(two_ways_to_serve(4))
    assert "batch by batch" in said and "in flight" in said


@pytest.mark.parametrize("slots", range(1, 9))
@pytest.mark.parametrize("requests", [4, 23, 40])
def test_a_server_can_be_drawn_with_any_slots(slots: int, requests: int) -> None:
    from tests.gpu_course.draw.readable import assert_readable

    assert_readable(two_ways_to_serve(slots, requests).figure)


def test_padding_grows_with_the_batch() -> None:
    lengths = np.random.default_rng(0).integers(1, 385, size=320).tolist()
    shares = [padded_share(lengths, batch) for batch in (1, 4, 32)]
    assert shares[0] == 0 and shares == sorted(shares)
    assert padded_share([7, 7, 7], 2) == 0
