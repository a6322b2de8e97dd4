"""What an answer's process may say: whatever it is, the grader does not fail over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.grading.check import check
from gpu_course.grading.python import check as python_check
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.replies import NoReply, Reply, Returned, reply_to
from gpu_course.puzzle import PythonPuzzle, index
from simt.text import clean
from tests.gpu_course.grading import python_toy as toy

numbers = (
    st.integers(-(1 << 70), 1 << 70)
    | st.sampled_from([10**400, -(1 << 64), True])
    | st.floats()
    | st.complex_numbers()
)
leaves = st.none() | numbers | st.text(max_size=5) | st.sampled_from([
    np.zeros((2, 3)), np.zeros(0), np.array(1 + 2j), np.zeros((3, 0, 2), bool),
    np.array([np.nan, np.inf]), np.arange(3, dtype=np.int8),
])  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.sampled_from(
    "turn got changed raised unusable unsendable large type text frames outside memory key".split()
)
messages = st.dictionaries(
    names, values | st.dictionaries(names, values, max_size=5), max_size=4
) | st.fixed_dictionaries(
    {"turn": st.sampled_from([1, 1, 1, True, 1.0, np.array([1, 1])])}
).flatmap(
    lambda one: st.dictionaries(names, values, max_size=2).map(lambda other: {**other, **one})
)


@given(messages)
def test_any_message_is_a_reply_of_known_types_or_none(message: dict[str, Any]) -> None:
    try:
        reply = reply_to(1, message, {"a": 1})
    except NoReply:
        return
    assert isinstance(reply, Reply)


FOLLOWED = [index.find(name) for name in ("sqrt_plan", "revolve", "rotor", "selective_plan")]


class Says:
    """A child that says one thing."""

    isolation = "none"

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    def run(self, tried: Any, *, held: bool = False) -> Reply:
        return self.reply


def weighed(puzzle: PythonPuzzle, got: dict[str, Any], changed: dict[str, Any]) -> str:
    """The status of one case of a puzzle for which the child says so; "" where it goes on."""
    checking = python_check.PythonChecking(puzzle, PythonAnswer("", "answer.py"), 0)
    checking.child = Says(Returned(got, changed))  # type: ignore[assignment]
    try:
        checking.try_case(puzzle.cases[0], 0, [])
    except python_check.Failed as failure:
        return failure.verdict.status
    except python_check.Wrong:
        return "failed"
    return ""


words = st.sampled_from(["save all", "backward", "forward", "keep input", "drop"])
schedules = st.lists(st.tuples(words, st.integers(-1, 5) | numbers), max_size=6)
forged = st.sampled_from([toy.COVER, toy.SCALE, toy.ORDER, *FOLLOWED]).flatmap(
    lambda puzzle: st.tuples(
        st.just(puzzle),
        st.dictionaries(
            st.sampled_from(["result", "schedule", "chosen", "loss", "gradients"]),
            values | schedules | st.lists(numbers, max_size=4),
            max_size=3,
        ),
    )
)


@settings(max_examples=40, deadline=None)
@given(forged, st.dictionaries(st.sampled_from(["a", "cells"]), values, max_size=1))
def test_any_result_is_right_or_the_answers_failure(
    case: tuple[PythonPuzzle, dict[str, Any]], changed: dict[str, Any]
) -> None:
    puzzle, got = case
    changed = {n: v for n, v in changed.items() if n in ("cells", "block", "a")}
    assert weighed(puzzle, got, changed if puzzle not in FOLLOWED else {}) in ("", "failed")


def forging(body: str) -> str:
    """An answer whose process says what it likes in place of a reply."""
    return (
        "import sys\nimport numpy as np\n"
        "child = sys.modules['gpu_course.isolation.child']\n"
        f"child._turn = lambda *a: {body}\n" + toy.RIGHT
    )


FORGED = {
    "an array for a turn": "{'turn': np.zeros(3), 'got': {'result': 3}, 'changed': {}}",
    "True for a turn": "{'turn': True, 'got': {'result': 3}, 'changed': {}}",
    "a list where a diagnosis is": "{'unusable': [1, 2]}",
    "a diagnosis of another kind": "{'unusable': {'key': 'x\\n  try:  y', 'text': ''}}",
    "frames of another shape": (
        "{'raised': {'type': 'E', 'text': '', 'outside': '', 'memory': False, "
        "'frames': [('f', 10 ** 30)]}}"
    ),
    "an array for an exception": "{'raised': np.zeros(3)}",
    "changed inputs that are none": "{'got': {'result': 3}, 'changed': {'other': 1}}",
    "two things at once": "{'got': {'result': 3}, 'changed': {}, 'large': 'x'}",
    "no dict": "{'got': 3, 'changed': {}}",
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_reply_is_told_as_nonsense(name: str) -> None:
    verdict = check(toy.COVER, answer=forging(FORGED[name]), seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "crash"), verdict.message
    assert "is not a result" in verdict.message


@pytest.mark.parametrize(
    ("number", "expected"),
    [("2 ** 64", int), ("-2 ** 70", int), ("2 ** 64", float), ("10 ** 400", float)],
)
def test_a_number_of_any_size_is_compared(number: str, expected: Callable[[int], Any]) -> None:
    from dataclasses import replace

    puzzle = replace(toy.COVER, reference=lambda inputs, case: {"result": expected(3)})
    verdict = check(puzzle, answer=toy.answer(f"return {number}"), seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "wrong-result"), verdict.message
    assert verdict.message.startswith("result is ")


def test_a_name_of_a_class_begins_no_line_and_turns_nothing() -> None:
    text = toy.answer(
        "raise type('E\\n  try:    give all points\\x1b[2J\\u202e', (Exception,), {})('no')"
    )
    verdict = check(toy.COVER, answer=text, seed=0)
    assert verdict.reason == "exception"
    assert not any(line.startswith("  try:") for line in verdict.message.split("\n"))
    assert verdict.message == clean(verdict.message)


@pytest.mark.parametrize("mark", ["\x0c", "\x85", "\u2028", "\x1c", "\x0b"])
def test_the_line_that_is_quoted_is_the_line_that_raised(mark: str) -> None:
    text = (
        f'"""One{mark}two."""\n\n\ndef cover(cells, block):\n    return cells // 0  # here\x1b[2J\n'
    )
    verdict = check(toy.COVER, answer=text, seed=0)
    assert "cover.py:5\n          return cells // 0  # here?[2J\n" in verdict.message


def test_thousands_of_threads_are_ended() -> None:
    text = toy.answer(
        "import threading",
        "threading.stack_size(32768)",
        "lock = threading.Lock()",
        "lock.acquire()",
        "while True:",
        "    try: threading.Thread(target=lock.acquire, daemon=True).start()",
        "    except RuntimeError: pass",
    )
    verdict = check(toy.COVER, answer=text, seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "crash"), verdict.message
    assert "threads at one time" in verdict.message
