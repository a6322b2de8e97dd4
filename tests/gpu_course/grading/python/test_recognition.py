"""A wrong result in Python is known by the mistake that gives the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.grading.python import replies
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.cases import Tried
from gpu_course.grading.python.child import Child
from gpu_course.grading.python.recognition import tells_little
from gpu_course.isolation import processes
from gpu_course.puzzle import Case, PythonPuzzle, room
from gpu_course.puzzle.specification import Values
from tests.gpu_course.grading import python_toy as toy

SPAN = replace(
    toy.COVER,
    name="91_python_toys/span",
    parameters={"span": ("cells", "block")},
    reference=lambda inputs, case: {"result": _span(inputs)},
    read_mistakes=lambda: room.mistakes_of("91_python_toys/span", "span"),
)
MISTAKES = """
# wrong-result, whole-blocks: Counts no block that is not full.
def rounds_down(cells, block):
    return {"blocks": cells // block, "last": cells % block}


# exception, exception: Is not run: it gives no result.
def raises(cells, block):
    raise ValueError


# wrong-result, ends: Never looks at its arguments.
def ends_its_process(cells, block):
    import os

    os._exit(1)


# wrong-result, last-is-full: Takes every block for full.
def last_is_full(cells, block):
    return {"blocks": -(-cells // block), "last": block}


# wrong-result, rounds-down: Leaves out the last block where it is not full.
def leaves_the_rest(cells, block):
    return {"blocks": cells // block, "last": (cells - 1) % block + 1}


# wrong-result, both: Is wrong in both.
def both(cells, block):
    return {"blocks": 77, "last": block}
"""


def _span(inputs: Values) -> Values:
    cells, block = inputs["cells"], inputs["block"]
    return {"blocks": -(-cells // block), "last": (cells - 1) % block + 1}


@pytest.fixture
def solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    home = tmp_path / "91_python_toys"
    (home / "mistakes").mkdir(parents=True)
    right = "def span(cells, block):\n    return {'blocks': -(-cells // block), 'last': "
    (home / "span.py").write_text(right + "(cells - 1) % block + 1}\n", encoding="utf-8")
    (home / "mistakes" / "span.py").write_text(MISTAKES, encoding="utf-8")
    monkeypatch.setattr(room, "solutions_folder", lambda: tmp_path)
    room.mistakes_of.cache_clear()
    yield
    room.mistakes_of.cache_clear()


def diagnosis(result: str, puzzle: PythonPuzzle = SPAN) -> str | None:
    text = f"def span(cells, block):\n    return {result}\n"
    return check(puzzle, answer=PythonAnswer(text, "span.py"), seed=0).diagnosis


@pytest.mark.parametrize(
    ("result", "key"),
    [
        ("{'blocks': cells // block, 'last': cells % block}", "whole-blocks"),
        # The mistake before it ends its process; it is passed over.
        ("{'blocks': -(-cells // block), 'last': block}", "last-is-full"),
        # Wrong twice, and in one entry like the mistake that is wrong in this entry alone.
        ("{'blocks': 77, 'last': block + 1}", "both"),
        ("{'blocks': 76, 'last': block}", "wrong"),
        ("{'blocks': -(-cells // block), 'last': 77}", "wrong"),
    ],
)
def test_the_mistake_that_gives_the_same_is_the_diagnosis(
    solved: None, result: str, key: str
) -> None:
    assert diagnosis(result) == key


@pytest.mark.parametrize(
    ("body", "key"),
    [
        # By chance, what a mistake that computes gives in the visible example.
        ("return {'blocks': 2, 'last': 2}", "same-every-time"),
        ("blocks = 2\n    return {'blocks': blocks, 'last': 2}", "same-every-time"),
        ("return {'blocks': cells // block, 'last': 2}", "whole-blocks"),
        ("blocks = cells // block", "missing-output"),
        ("return 2", "wrong-type"),
        ("return {'blocks': float('nan'), 'last': 2}", "wrong-type"),
        ("return None", "same-every-time"),
    ],
)
def test_an_answer_that_looks_at_nothing_has_no_mistake_behind_it(
    solved: None, body: str, key: str
) -> None:
    text = f"def span(cells, block):\n    {body}\n"
    verdict = check(SPAN, answer=PythonAnswer(text, "span.py"), seed=0)
    assert verdict.diagnosis == key


def test_a_mistake_that_gives_none_is_not_told_from_a_missing_return(
    solved: None, tmp_path: Path
) -> None:
    file = tmp_path / "91_python_toys" / "mistakes" / "span.py"
    never = "\n\n# wrong-result, never: Has an answer for some alone.\n"
    never += "def never(cells, block):\n    return None if cells > 1 else cells\n"
    file.write_text(MISTAKES + never, encoding="utf-8")
    assert diagnosis("None if cells > 1 else cells") == "never"
    text = "def span(cells, block):\n    cells // block\n"
    assert check(SPAN, answer=PythonAnswer(text, "span.py"), seed=0).diagnosis == "missing-output"


def test_a_mistake_that_looks_at_nothing_is_known_again(solved: None, tmp_path: Path) -> None:
    file = tmp_path / "91_python_toys" / "mistakes" / "span.py"
    fixed = "\n\n# wrong-result, fixed: It is always the same.\n"
    fixed += "def fixed(cells, block):\n    return {'blocks': 76, 'last': 5}\n"
    file.write_text(MISTAKES + fixed, encoding="utf-8")
    assert diagnosis("{'blocks': 76, 'last': 5}") == "fixed"


def test_each_mistake_is_run_on_the_case_that_went_wrong(solved: None) -> None:
    # The third case is the first in which a rounded number of blocks is wrong.
    whole = replace(SPAN, cases=(*(Case("", {"cells": n, "block": 4}, n == 4) for n in (4, 8, 9)),))
    assert diagnosis("{'blocks': cells // block, 'last': 4 - -cells % 4}", whole) == "rounds-down"


def test_a_mistake_that_was_wrong_before_is_not_named(solved: None) -> None:
    # It gives the same here, and in the cases before it was wrong where this answer was right.
    answer = (
        "{'blocks': -(-cells // block), 'last': block if cells == 1 else (cells - 1) % block + 1}"
    )
    assert diagnosis(answer) not in ("last-is-full", None)


ONE_CELL_FIRST = replace(
    SPAN,
    cases=tuple(Case("", {"cells": n, "block": 4}, visible=n == 1) for n in (1, 9, 11)),
)
"""Its first case has an answer of 0 and 1 where whole blocks are counted."""


@pytest.mark.parametrize(
    ("result", "key"),
    [
        # Whoever counts whole blocks does so in each case.
        ("{'blocks': cells // block, 'last': cells % block}", "whole-blocks"),
        # Whoever returns nothing but 0 and 1 does not.
        ("{'blocks': 0 * cells, 'last': 1}", "off-by-one"),
        # Nor does whoever comes to no result where a mistake comes to one.
        ("{'blocks': 0, 'last': 1} if cells == 1 else 1 // 0", "off-by-one"),
    ],
)
def test_a_result_that_tells_little_is_no_mistake_that_goes_on_otherwise(
    solved: None, result: str, key: str
) -> None:
    assert diagnosis(result, ONE_CELL_FIRST) == key


@pytest.mark.parametrize(
    ("result", "little"),
    [
        ([], True), ({}, True), (None, True), ([[], []], True), ({"a": [], "b": None}, True),
        (0, True), (1.0, True), (False, True), (math.nan, True), ([0, 0, 1], True), ("", True),
        (np.zeros((3, 2)), True), (np.zeros(0), True), (math.inf, True), (7, True), (256.0, True),
        (10**400, True), ([10**400, 0], False), (0.5, False), ([[], ["a"]], False),
        ({"a": 12, "b": 1}, False),
        (np.array([0.0, 3.5]), False), (np.array(["a"]), False),
    ],
)  # fmt: skip
def test_nothing_and_zeros_and_ones_tell_little(result: Any, little: bool) -> None:
    assert tells_little(result) == little


def test_what_the_puzzle_knows_itself_comes_after_the_mistakes(solved: None) -> None:
    puzzle = replace(
        SPAN,
        cases=(Case("visible example", {"cells": 10, "block": 4}, visible=True),),
        diagnose=lambda inputs, case, expected, got: "too-few",
        diagnoses={"too-few": "These are too few."},
    )
    assert diagnosis("{'blocks': cells // block, 'last': 2}", puzzle) == "whole-blocks"
    assert diagnosis("{'blocks': block // 4, 'last': 2}", puzzle) == "too-few"


def test_without_the_solutions_of_a_checkout_the_general_patterns_remain() -> None:
    assert diagnosis("{'blocks': cells // block, 'last': cells % block}") == "off-by-one"


MEMORY = {"type": "RuntimeError", "text": "no memory", "frames": [], "memory": True}


@pytest.mark.parametrize(
    "fault",
    [
        processes.OutOfTime(),
        processes.OutOfMemory(),
        processes.Ended("signal", 9),
        processes.TooManyThreads(999),
        replies.Raised({**MEMORY, "outside": "allocations.py:7"}),
    ],
    ids=lambda fault: type(fault).__name__,
)
@pytest.mark.parametrize("times", [1, 2])
def test_a_mistake_that_the_machine_failed_once_is_tried_again(
    solved: None, monkeypatch: pytest.MonkeyPatch, fault: Any, times: int
) -> None:
    run, failed = Child.run, list[str]()

    def run_or_fail(child: Child, tried: Tried, **how: Any) -> Any:
        mistake = (how.get("stand_ins") or {}).get("span")
        if mistake != "rounds_down" or len(failed) == times:
            return run(child, tried, **how)
        failed.append(mistake)
        if isinstance(fault, Exception):
            raise fault
        return fault

    monkeypatch.setattr(Child, "run", run_or_fail)
    text = "def span(cells, block):\n    return {'blocks': cells // block, 'last': cells % block}\n"
    verdict = check(SPAN, answer=PythonAnswer(text, "span.py"), seed=0)
    if times == 1:
        assert verdict.diagnosis == "whole-blocks"
    else:
        # Twice is no chance: what no mistake gives is told by its form.
        assert verdict.diagnosis not in ("whole-blocks", None)
    told_once = times == 1 and isinstance(fault, replies.Raised)
    assert ("rounds_down" in verdict.evidence["passed over"]) is not told_once


def test_mistakes_that_do_not_load_leave_the_general_patterns(solved: None, tmp_path: Path) -> None:
    file = tmp_path / "91_python_toys" / "mistakes" / "span.py"
    file.write_text(f"{MISTAKES}\n\n1 / 0\n", encoding="utf-8")
    text = "def span(cells, block):\n    return {'blocks': cells // block, 'last': cells % block}\n"
    verdict = check(SPAN, answer=PythonAnswer(text, "span.py"), seed=0)
    assert verdict.diagnosis == "off-by-one"
    assert "ZeroDivisionError" in verdict.evidence["passed over"]["all"]
