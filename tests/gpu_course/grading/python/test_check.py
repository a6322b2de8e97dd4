"""The verdict on a Python answer, as a table of (text of the file, verdict, what it says)."""

from __future__ import annotations

import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.learner.hints import next_hint
from gpu_course.grading.learner.progress import progress
from gpu_course.grading.verdicts import exports
from gpu_course.puzzle import Case, Judgement, Mistake, index
from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading.python_toy import HEAD, RIGHT, STUB, WRONG, answer
from tests.gpu_course.grading.toy_course import toy_course

FILE = "puzzles/91_python_toys/cover.py"
RICH = """
import math
from dataclasses import dataclass

@dataclass
class Pair:
    c: int
    b: "int"

def up(p):
    return math.ceil(p.c / p.b)

def cover(cells, block, why=None):
    return up(Pair(cells, block))
"""
DEEPER = (
    "def deeper(x):\n    return x // 0\n\n\ndef cover(cells, block):\n    return deeper(cells)\n"
)
TWO_RIGHT = "def half(x):\n    return x / 2\n\n\ndef square(x):\n    return x * x\n"


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder; the catalogue holds the toys alone."""
    return toy_course(tmp_path, monkeypatch, toy.LESSON, toy.STUBS)


# (what it is, text of the file, status, reason, diagnosis, fragments of the message)
TABLE: list[tuple[str, str, str, str | None, str | None, tuple[str, ...]]] = [
    ("right", RIGHT, "passed", None, None, ("right in all 4 cases: 10 of 10 points",)),
    ("right, as a lambda", "cover = lambda c, b: -(-c // b)\n", "passed", None, None, ()),
    (
        "right, with an import, a helper, a class and a default",
        RICH,
        "passed", None, None, (),
    ),
    ("right, and it prints", answer("print('at', cells)", "return -(-cells // block)"),
     "passed", None, None, ("  prints: at 10",)),
    ("right, and it warns", answer("import warnings", "warnings.warn('hm')",
                                   "return -(-cells // block)"), "passed", None, None, ("hm",)),
    ("stub", STUB, "not-started", None, None, (f"{FILE} is still the stub", "write your lines")),
    ("stub, commented otherwise", "# mine\n" + STUB, "not-started", None, None, ("the stub",)),
    ("empty", "", "failed", "missing-function", "missing-function", ("defines no function",)),
    (
        "renamed", RIGHT.replace("cover", "covers"), "failed", "missing-function",
        "missing-function", ("it has covers", "did you mean covers in line 4?"),
    ),
    (
        "a number of that name", "cover = 3\n", "failed", "missing-function", "missing-function",
        ("does not define the function cover", "def cover(cells, block)"),
    ),
    ("syntax error", RIGHT + "def (\n", "failed", "refused", "refused", (f"{FILE}:6", "def (")),
    ("return outside", "return 3\n", "failed", "refused", "refused", ("outside function",)),
    ("null byte", RIGHT + "\0", "failed", "refused", "refused", ("null",)),
    ("one parameter", HEAD.replace(", block", "") + "    return 1\n", "failed", "refused",
     "refused", ("cover takes cells; it is called with 2 (cells, block)", f"{FILE}:4")),
    ("a parameter too many", HEAD.replace("block", "block, x") + "    return 1\n", "failed",
     "refused", "refused", ("write def cover(cells, block)",)),
    ("a keyword it must have", HEAD.replace("block", "block, *, x") + "    return 1\n", "failed",
     "refused", "refused", ("it is called with 2",)),
    ("any number of arguments", "def cover(*a):\n    return -(-a[0] // a[1])\n", "passed", None,
     None, ()),
    (
        "wrong", WRONG, "failed", "wrong-result", "wrong",
        ("result is 47, expected 3",
         "  case:   visible example",
         "  call:   cover(cells=10, block=4)",
         '  hint:   hint("cover") or `gpu-course hint cover`'),
    ),
    ("one too few", answer("return cells // block"), "failed", "wrong-result", "off-by-one",
     ("result is 2, expected 3", "One too few. Look at where")),
    ("twice", answer("return 2 * -(-cells // block)"), "failed", "wrong-result",
     "constant-factor", ("It is 2 times what is expected, in each case",)),
    ("right for the example only", answer("return 3"), "failed", "wrong-result",
     "same-every-time", ("case: one cell", "cells=1, block=4", "result is 3, expected 1")),
    ("right for the listed cases", answer("return {10: 3, 1: 1, 64: 2}.get(cells, 7)"), "failed",
     "wrong-result", "wrong", ("at random", 'check("cover", seed=0) draws the same case')),
    ("nothing returned", answer("cells // block"), "failed", "wrong-result", "missing-output",
     ("result is None, expected an int", "ends without `return`")),
    (
        "an error",
        DEEPER,
        "failed", "exception", "exception",
        ("ZeroDivisionError: integer division or modulo by zero",
         f"  where:  deeper, {FILE}:2    return x // 0",
         f"  from:   cover, {FILE}:6    return deeper(cells)",
         "What stands below the line is 0 here."),
    ),
    ("a float", answer("return cells / block + 0.5"), "failed", "wrong-result", "wrong-type",
     ("result is 3.0, a float; expected an int", "A division by / gives a float")),
    ("a text", answer("return str(-(-cells // block))"), "failed", "wrong-result", "wrong-type",
     ("result is '3', a string; expected an int", "What stands in quotes is text")),
    ("a generator", answer("yield -(-cells // block)"), "failed", "wrong-result", "wrong-type",
     ("of the type generator", "Make a list of it")),
    ("typed in for the example", answer("return 5"), "failed", "wrong-result", "same-every-time",
     ("result is 5, expected 3", "uses none of what it is given")),
    ("another name", answer("found = 0", "fond = -(-cells // block)", "return found"), "failed",
     "wrong-result", "left-as-set",
     ("result is 0, expected 3", "`found` is returned as line 5 sets it. No later line")),
    ("another name, in a list", answer("found = []", "fond = [cells]", "return found"), "failed",
     "wrong-result", "left-as-set", ("result is [], a list; expected an int", "`found` is")),
    ("a name of a function inside", answer("n = 0", "def add():", "    n += block", "add()",
                                           "return n"), "failed", "exception", "exception",
     ("UnboundLocalError", "`add` sets `n`, which makes it a name of its own", "`nonlocal` says")),
    ("an error at import", "x = {}['a']\n" + RIGHT, "failed", "exception", "exception",
     ("KeyError: 'a'", f"  where:  {FILE}:1    x = {{}}['a']")),
    ("an error within a library", "import json\n" + answer("return json.loads('{')"), "failed",
     "exception", "exception", ("JSONDecodeError", f"cover, {FILE}:6")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "status", "reason", "diagnosis", "says"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_verdicts(
    answers: Path,
    text: str,
    status: str,
    reason: str | None,
    diagnosis: str | None,
    says: tuple[str, ...],
) -> None:
    (answers / "91_python_toys/cover.py").write_text(text, encoding="utf-8")
    verdict = check("cover")
    assert (verdict.status, verdict.reason) == (status, reason), verdict.message
    assert verdict.diagnosis == diagnosis
    assert verdict.points == (10 if status == "passed" else 0) and verdict.max_points == 10
    for fragment in says:
        assert " ".join(fragment.split()) in " ".join(verdict.message.split()), verdict.message
    assert str(answers) not in verdict.message
    assert "isolation/" not in verdict.message


def test_a_missing_file_is_not_started(answers: Path) -> None:
    verdict = check("cover")
    assert verdict.status == "not-started"
    assert f"there is no {FILE}" in verdict.message and "gpu-course reset cover" in verdict.message


def test_bytes_that_are_no_text_are_refused(answers: Path) -> None:
    (answers / "91_python_toys/cover.py").write_bytes(b"x = '\xff'\n")
    verdict = check("cover")
    assert (verdict.status, verdict.reason) == ("failed", "refused")
    assert "UTF-8" in verdict.message


K = 3


def helper(cells: int, block: int) -> int:
    return -(-cells // block) + K - 3


def live(cells: int, block: int) -> int:
    return helper(cells, block) * int(np.ones(1)[0])


@pytest.mark.parametrize(
    "given",
    [live, {"cover": live}, RIGHT, types.MappingProxyType({"cover": live})],
    ids=["function", "dict", "text", "mapping"],
)
def test_live_functions_bring_what_they_name(given: Any) -> None:
    verdict = check(toy.COVER, answer=given, seed=0)
    assert verdict.passed, verdict.message


def test_paths_folders_and_modules(answers: Path) -> None:
    file = answers / "91_python_toys/cover.py"
    file.write_text(RIGHT)
    module = types.ModuleType("mine")
    module.__file__ = str(file)
    assert check("cover", answer=file).passed
    assert check("cover", answer=str(answers)).passed
    with pytest.raises(CourseError, match="is not an answer"):
        check("cover", answer=3)
    with pytest.raises(CourseError, match="asks for half, square"):
        check("two", answer=[live])


def test_parts_in_another_order_are_told_as_such() -> None:
    both = replace(toy.COVER, reference=lambda inputs, case: {"result": (inputs["block"], 1.5)})
    text = toy.answer("return 1.5, block")
    verdict = check(both, answer=text, seed=0)
    assert verdict.diagnosis == "other-order"
    assert "All of it is right" in verdict.message


def test_an_array_in_a_list_is_named_where_it_was_written_to() -> None:
    several = replace(
        toy.COVER,
        inputs=lambda rng, case: {"cells": [np.arange(2.0), np.arange(3.0)], "block": 4},
        reference=lambda inputs, case: {"result": 3},
    )
    text = toy.answer("cells[1][2] += block")
    verdict = check(several, answer=text, seed=0)
    assert verdict.message.startswith("the input cells[1] was changed: cells[1][2] was 2, is 6")


def test_a_harness_calls_each_function() -> None:
    assert check(toy.TWO, answer=TWO_RIGHT, seed=0).passed
    verdict = check(toy.TWO, answer=TWO_RIGHT.replace("x * x", "x + x + 1"), seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("wrong-result", "wrong")
    assert verdict.message.startswith("square is 7, expected 9")
    assert "inputs:" not in verdict.message
    missing = check(toy.TWO, answer="def half(x):\n    return x / 2\n", seed=0)
    assert missing.reason == "missing-function" and "square" in missing.message


def test_a_harness_says_what_it_cannot_use() -> None:
    verdict = check(toy.TWO, answer=TWO_RIGHT.replace("return x / 2", "yield x / 2"), seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("wrong-result", "wrong-type")
    assert verdict.message.startswith("half returned a generator")


def test_a_harness_that_is_not_there_is_the_graders_fault() -> None:
    verdict = check(replace(toy.TWO, harness="nowhere"), answer=TWO_RIGHT, seed=0)
    assert (verdict.status, verdict.reason) == ("error", "grader")
    assert "the harness nowhere cannot be used" in verdict.message
    assert check(toy.TWO, answer=TWO_RIGHT, seed=0).passed


def test_an_output_that_the_reference_does_not_name_is_left_to_the_judge() -> None:
    seen: list[Any] = []

    def judge(inputs: Any, case: Case, got: Any) -> Judgement | None:
        seen.append(got)
        inputs.clear(), got.clear()
        return Judgement("wrong", f"half of {case.sizes['x']} is odd") if case.sizes["x"] else None

    puzzle = replace(toy.TWO, reference=lambda inputs, case: {"half": case.sizes["x"] / 2})
    verdict = check(replace(puzzle, judge=judge), answer=TWO_RIGHT, seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("wrong-result", "wrong")
    assert verdict.message.startswith("half of 3 is odd")
    assert seen == [{}]


def test_what_costs_too_much_is_told_when_all_is_right() -> None:
    def judge(inputs: Any, case: Case, got: Any) -> Judgement:
        return Judgement("over-budget", f"{case.sizes['x']} steps; 0 would do", "over-budget")

    dear = replace(toy.TWO, judge=judge)
    verdict = check(dear, answer=TWO_RIGHT, seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("over-budget", "over-budget")
    assert verdict.message.startswith("3 steps; 0 would do")
    assert "visible example" in verdict.message
    wrong = check(dear, answer=TWO_RIGHT.replace("x * x", "x * x + (x > 5)"), seed=0)
    assert (wrong.reason, wrong.diagnosis) == ("wrong-result", "off-by-one")


def broken(*_: Any) -> Any:
    raise RuntimeError("the catalogue is broken")


@pytest.mark.parametrize("part", ["inputs", "reference", "judge", "random_case"])
def test_a_broken_specification_is_the_graders_fault(part: str) -> None:
    puzzle = replace(toy.COVER, **{part: broken})
    verdict = check(puzzle, answer=RIGHT, seed=0)
    assert (verdict.status, verdict.reason) == ("error", "grader")
    assert "the catalogue is broken" in verdict.message


def test_a_diagnosis_of_the_puzzles_own_comes_first() -> None:
    def diagnose(inputs: Any, case: Case, expected: Any, got: Any) -> str | None:
        return "product" if got["result"] == inputs["cells"] * inputs["block"] + 7 else None

    own = replace(toy.COVER, diagnose=diagnose, diagnoses={"product": "You multiplied."})
    verdict = check(own, answer=WRONG, seed=0)
    assert verdict.diagnosis == "product" and "You multiplied." in verdict.message
    other = check(own, answer=answer("return 'x'"), seed=0)
    assert other.diagnosis == "wrong-type"


def test_constants_stay_what_they_are() -> None:
    fixed = replace(toy.COVER, constants={"TILE": 16})
    assert check(fixed, answer="TILE = 16\n" + RIGHT, seed=0).passed
    assert check(fixed, answer=RIGHT, seed=0).passed
    verdict = check(fixed, answer="TILE = 8\n" + RIGHT, seed=0)
    assert verdict.reason == "refused" and "TILE is fixed at 16" in verdict.message


def test_evidence_is_there_for_pictures() -> None:
    text = "import numpy as np\n\n\ndef scale(a, scale):\n    return np.where(a > 0.5, a, a * 3)\n"
    verdict = check(toy.SCALE, answer=text.replace("* 3)", "* 3).astype(a.dtype)"), seed=0)
    evidence = verdict.evidence
    assert evidence["case"] == toy.SCALE.cases[0] and evidence["output"] == "result"
    assert evidence["mask"].shape == evidence["got"].shape == evidence["expected"].shape
    assert evidence["mask"].any() and not evidence["mask"].all()


def test_the_random_case_is_drawn_from_the_seed() -> None:
    text = answer("print(cells)", "return -(-cells // block)")
    drawn = [check(toy.COVER, answer=text, seed=s).evidence["printed"] for s in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_an_answer_draws_itself_is_the_same_each_time() -> None:
    text = answer(
        "import random",
        "import numpy as np",
        "print(random.random(), np.random.rand())",
        "return -(-cells // block)",
    )
    first, second = (check(toy.COVER, answer=text, seed=7).evidence["printed"] for _ in range(2))
    assert first == second


def test_a_mistake_stands_in_the_solutions_place(tmp_path: Path) -> None:
    home = tmp_path / "solutions" / "91_python_toys"
    (home / "mistakes").mkdir(parents=True)
    (home / "two.py").write_text(TWO_RIGHT)
    (home / "mistakes" / "two.py").write_text("def cubes(x):\n    return x**3\n")
    mistake = Mistake("cubes", "wrong-result", "wrong", "square", "Takes cubes for squares.")
    found = mistake_answer(toy.TWO, mistake, tmp_path / "solutions")
    verdict = check(toy.TWO, answer=found, seed=0)
    assert verdict.message.startswith("square is 27, expected 9")


def test_a_whole_folder_is_graded_and_its_progress_shown(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = tuple(replace(p, seconds=1.0) if p is toy.SCALE else p for p in toy.PUZZLES)
    monkeypatch.setattr(index, "lessons", lambda: (replace(toy.LESSON, puzzles=quick),))
    home = answers / "91_python_toys"
    (home / "cover.py").write_text(RIGHT)
    (home / "two.py").write_text("def half(x):\n    return x / 2\n")
    (home / "scale.py").write_text("while True: pass\n\ndef scale(a, scale): ...\n")
    verdicts = {v.name.rpartition("/")[2]: v for v in grade()}
    assert {name: v.status for name, v in verdicts.items()} == {
        "cover": "passed",
        "scale": "timeout",
        "tensor": "not-started",
        "order": "not-started",
        "two": "failed",
    }
    assert verdicts["two"].reason == "missing-function"
    (lesson,) = progress()
    assert (lesson.passed, lesson.points) == (1, 10)
    records = exports.to_json(verdicts.values())["puzzles"]
    assert {record["status"] for record in records} == {
        "passed", "timeout", "not-started", "failed",
    }  # fmt: skip
    assert all(record["counters"] is None and record["hazards"] == [] for record in records)
    assert next_hint("cover").text == "weak"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (("while True:", "    pass"), "within 1 second\n  where:  cover, cover.py:"),
        (
            ("import time", "time.sleep(99)"),
            "where:  cover, cover.py:6\n          time.sleep(99)\n",
        ),
        (("import ctypes", "ctypes.string_at(0)"), "cover.py:6\n          ctypes.string_at(0)\n"),
        (("import os", "print('bye')", "os._exit(0)"), "  prints: bye"),
    ],
)
def test_a_line_is_named_even_where_nothing_came_back(body: tuple[str, ...], says: str) -> None:
    verdict = check(replace(toy.COVER, seconds=1.0), answer=answer(*body), seed=0)
    assert verdict.reason in ("deadline", "crash")
    assert says in verdict.message, verdict.message
    assert "child.py" not in verdict.message and "Fatal" not in verdict.message


def test_a_verdict_shows_itself_in_a_notebook() -> None:
    text = answer("raise ValueError('<b>&')")
    page = check(toy.COVER, answer=text, seed=0)._repr_html_()
    assert "ValueError: &lt;b&gt;&amp;" in page and "<b>" not in page


def test_torch_answers_run_on_one_thread_in_the_same_way_each_time() -> None:
    text = (
        "import torch\n\n\ndef scale(a, scale):\n"
        "    print(torch.get_num_threads(), torch.rand(1))\n"
        "    return torch.from_numpy(a) * scale\n"
    )
    first, second = (check(toy.TENSOR, answer=text, seed=3) for _ in range(2))
    assert first.passed and second.passed
    assert first.evidence["printed"].startswith("1 tensor(")
    assert first.evidence["printed"] == second.evidence["printed"]


def test_what_pytorch_loads_only_when_it_is_used_can_be_used() -> None:
    text = (
        "import torch\nfrom torch.utils.checkpoint import checkpoint\n\n\ndef scale(a, scale):\n"
        "    x = torch.nn.Parameter(torch.from_numpy(a.copy()))\n"
        "    optimizer = torch.optim.SGD([x], lr=1.0)\n"
        "    checkpoint(torch.sum, (1 - scale) * x, use_reentrant=False).backward()\n"
        "    optimizer.step()\n"
        "    start = torch.from_numpy(a)\n"
        "    slope = torch.func.grad(lambda v: (scale * v * v / 2).sum())(start)\n"
        "    assert torch.equal(x.detach(), start - (1 - scale))\n"
        "    return slope\n"
    )
    verdict = check(toy.TENSOR, answer=text, seed=0)
    assert verdict.passed, verdict.message
