"""What a refusal becomes: one word for each result, the same in all lessons."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gpu_course.lessons
from gpu_course.puzzle.harness import Unusable, refusing, refusing_once

REFUSED = refusing.REFUSED


def answer(result: Any) -> ModuleType:
    module = ModuleType("answer")

    def halves(a: int, b: int = 0) -> Any:
        if a < 0:
            raise ValueError(a)
        return result

    module.halves = halves  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize("result", [(1, 2), [1, 2], {"low": 1, "high": 2}, {"high": 2, "low": 1}])
def test_results_have_the_names_that_are_asked_for(result: Any) -> None:
    given = {"function": "halves", "names": ("low", "high")}
    found = refusing_once.run(answer(result), **given, arguments={"a": 3, "b": 1})
    assert found == {"low": 1, "high": 2}
    refused = refusing_once.run(answer(result), **given, arguments={"a": -3})
    assert refused == {"low": REFUSED, "high": REFUSED}


def test_a_value_error_that_may_be_no_refusal_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    module = ModuleType("answer")
    module.__file__ = "answer.py"
    text = "def number(x):\n    x = x.strip()\n    return int(x)\n"
    exec(compile(text, "answer.py", "exec"), module.__dict__)
    calls = {"numbers": [("number", "7"), ("number", "seven")], "refused": [("number", "x")]}
    assert refusing.run(module, calls) == {"numbers": [7, REFUSED], "refused": [REFUSED]}
    told = "(a ValueError in line 3: invalid literal for int() with base 10: 'seven')\n"
    assert capsys.readouterr().out == told


def test_one_name_is_the_result_itself() -> None:
    module = answer(((1, 2), (3, 4)))
    found = refusing_once.run(module, "halves", ("result",), {"a": 1})
    assert found == {"result": ((1, 2), (3, 4))}
    assert refusing_once.run(module, "halves", ("result",), {"a": -1}) == {"result": REFUSED}


@pytest.mark.parametrize(
    ("result", "key", "said"),
    [
        (None, "missing-output", "halves returned None and not (low, high)"),
        (7, "wrong-type", "halves returned int and not (low, high)"),
        ((1, 2, 3), "wrong-type", "halves returned tuple and not (low, high)"),
        ({"low": 1}, "wrong-type", "halves returned dict and not (low, high)"),
    ],
)
def test_what_is_no_such_result_is_told(result: Any, key: str, said: str) -> None:
    with pytest.raises(Unusable, match=re.escape(said)) as caught:
        refusing_once.run(answer(result), "halves", ("low", "high"), {"a": 1})
    assert caught.value.key == key


def test_a_generator_is_told() -> None:
    with pytest.raises(Unusable, match="it says yield where return is meant"):
        refusing.run(answer(iter("ab")), {"all": [("halves", 1)]})


def test_no_lesson_has_a_word_or_a_file_of_its_own_for_refusals() -> None:
    lessons = Path(gpu_course.lessons.__path__[0])
    own = [
        file.relative_to(lessons).as_posix()
        for file in sorted(lessons.rglob("*.py"))
        if file.name == "refusing.py" or f'"{REFUSED}"' in file.read_text(encoding="utf-8")
    ]
    assert own == []
