"""A verdict that travels arrives as it was, and nothing but data arrives."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.grading import check
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import OBJECTS, CheckOutcome
from gpu_course.isolation.transport import Garbled, Unsendable, pack, unpack
from gpu_course.puzzle import Case, index

ROOT = Path(__file__).parents[4]
SAID = tuple(fact("a fact"))


def travelled(verdict: Verdict) -> Verdict:
    there = unpack(pack(CheckOutcome(verdict), OBJECTS), OBJECTS)
    assert isinstance(there, CheckOutcome)
    return there.verdict


def test_every_kind_of_verdict_travels() -> None:
    puzzle = index.find("block_reverse")
    for mistake in puzzle.mistakes:
        answer = mistake_answer(puzzle, mistake, ROOT / "solutions")
        verdict = check(puzzle, answer=answer, seed=0)
        there = travelled(verdict)
        assert repr(there) == repr(verdict) and there.counters == verdict.counters
        assert there._repr_html_() == verdict._repr_html_()
        for arrived, hazard in zip(there.hazards, verdict.hazards, strict=True):
            np.testing.assert_equal(dict(arrived.details), dict(hazard.details))


@pytest.mark.parametrize(
    "value",
    [
        None, True, -1, 2**70, float("inf"), "\ud800 and a\nline", 1 + 2j, (1, (2, ())), [[], "a"],
        {3: {"x": (1,)}, (0, 1): None}, np.float32(0.1), np.arange(6, dtype=">i2").reshape(2, 3),
        np.zeros((0, 4), np.complex64), np.array(True), np.zeros(2, [("a", "i4"), ("b", "f8")]),
        np.asfortranarray(np.ones((2, 3))), Case("sizes", {"size": 3}, visible=True),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_evidence_arrives_as_it_was(value: Any) -> None:
    verdict = Verdict("a/b", "failed", "crash", 0, 10, SAID, evidence={"value": value})
    found = travelled(verdict).evidence["value"]
    assert type(found) is type(value)
    np.testing.assert_equal(found, value)
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype and found.shape == value.shape


def test_a_number_that_is_none_arrives_as_none() -> None:
    verdict = Verdict("a/b", "passed", None, 1, 1, SAID, evidence={"nan": float("nan")})
    assert np.isnan(travelled(verdict).evidence["nan"])


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("pwned",))


@pytest.mark.parametrize("value", [Evil(), print, Evil, np.array([Evil()], object), {1, 2}])
def test_what_is_no_data_is_not_sent(value: Any) -> None:
    verdict = Verdict("a/b", "passed", None, 1, 1, SAID, evidence={"deep": [{"in": value}]})
    with pytest.raises(Unsendable):
        pack(verdict, OBJECTS)


def header(tree: Any) -> bytes:
    text = json.dumps(tree).encode()
    return struct.pack("<QQ", len(text), 0) + text


@pytest.mark.parametrize(
    "tree",
    [
        ["o", "Path", {}], ["o", "Popen", {"args": "id"}], ["o", "Verdict", {"name": "a"}],
        ["o", "Verdict", []], ["o", ["Verdict"], {}], ["o", "Counters", {"no such": 1}],
        ["s", 0], ["s", "0"], ["n", 3], ["m", [[["l", []], 1]]], ["m", 3], ["call", "print"], [],
        [1], ["a", [["x", "|O"]], [0], False], ["a", [["", "|V4"], 3], [0], False],
    ],
    ids=repr,
)  # fmt: skip
def test_what_asks_for_more_is_no_verdict(tree: Any) -> None:
    with pytest.raises(Garbled):
        unpack(header(tree), OBJECTS)


def test_an_answer_s_process_can_send_no_object() -> None:
    verdict = Verdict("a/b", "passed", None, 1, 1, SAID)
    with pytest.raises(Unsendable):
        pack(verdict)
    for value in (verdict, {1: 2}, np.zeros(2, [("a", "i4"), ("b", "f8")]), np.float32(1)):
        with pytest.raises(Garbled):
            unpack(pack(value, OBJECTS))


def test_an_array_that_comes_twice_crosses_once_and_is_one() -> None:
    array = np.arange(1000)
    data = pack([array, {"again": array}], OBJECTS)
    assert len(data) < 2 * array.nbytes
    one, other = unpack(data, OBJECTS)
    assert one is other["again"]
    np.testing.assert_array_equal(one, array)
