"""The verdict on an answer, as a table of (text of the file, verdict, what the message says)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import cuda

from gpu_course.errors import CourseError, UnknownName
from gpu_course.grading import check
from gpu_course.grading.kernel import trial
from gpu_course.puzzle import Budget, Case
from simt.kernel import source
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import HEAD, RIGHT, STUB, answer, guarded

FILE = "puzzles/90_toys/plus_ten.py"
HINT = 'hint("plus_ten")'
CELL = "i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"

# (what it is, text of the file, status, reason, diagnosis, fragments of the message)
TABLE: list[tuple[str, str, str, str | None, str | None, tuple[str, ...]]] = [
    ("right", RIGHT, "passed", None, None, ("right in all 4 cases", "10 of 10 points")),
    (
        "right, with tabs",
        RIGHT.replace("    ", "\t"),
        "passed",
        None,
        None,
        ("right in all 4 cases",),
    ),
    (
        "right, another name for each parameter",
        RIGHT.replace("size", "n").replace("out", "result"),
        "passed",
        None,
        None,
        (),
    ),
    ("stub", STUB, "not-started", None, None, (f"{FILE} is still the stub", "then check again")),
    (
        "stub, spaced and commented otherwise",
        "# mine\n" + STUB.replace("cuda.grid(1)", "cuda.grid( 1 )  # ?"),
        "not-started",
        None,
        None,
        ("still the stub",),
    ),
    ("empty file", "", "failed", "missing-function", "missing-function", ("defines no function",)),
    (
        "only comments",
        "# soon\n",
        "failed",
        "missing-function",
        "missing-function",
        ("plus_ten is missing", "def plus_ten(out, a, size)"),
    ),
    (
        "syntax error",
        RIGHT + "def (\n",
        "failed",
        "refused",
        "refused",
        ("Python cannot read this file", f"{FILE}:9"),
    ),
    (
        "null byte",
        RIGHT + "\0",
        "failed",
        "refused",
        "refused",
        ("Python cannot read this file", "null"),
    ),
    (
        "renamed function",
        RIGHT.replace("plus_ten", "plus_tem"),
        "failed",
        "missing-function",
        "missing-function",
        ("defines no function plus_ten", "did you mean plus_tem in line 5?"),
    ),
    (
        "a function of another name altogether",
        RIGHT.replace("plus_ten", "zebra"),
        "failed",
        "missing-function",
        "missing-function",
        ("it has zebra", "define it at the top level"),
    ),
    (
        "a name that is no function",
        "plus_ten = 3\n",
        "failed",
        "missing-function",
        "missing-function",
        ("defines no function; plus_ten is missing",),
    ),
    (
        "one parameter too few",
        HEAD.replace(", size", "") + "    out[cuda.grid(1)] = 1\n",
        "failed",
        "refused",
        "refused",
        ("has 2 parameters (out, a); it is launched with 3 (out, a, size)", f"{FILE}:5"),
    ),
    (
        "starred parameters",
        HEAD.replace("size", "*size") + "    pass\n",
        "failed",
        "refused",
        "refused",
        ("plain parameters only",),
    ),
    (
        "a default",
        HEAD.replace("size", "size=3") + "    pass\n",
        "failed",
        "refused",
        "refused",
        ("plain parameters only",),
    ),
    (
        "no decorator",
        RIGHT.replace("@cuda.jit\n", ""),
        "failed",
        "refused",
        "refused",
        ("plus_ten is a plain function", "write @cuda.jit on the line above"),
    ),
    (
        "out of bounds",
        answer("i = cuda.grid(1)", "out[i] = a[i] + 10"),
        "failed",
        "hazard",
        "out-of-bounds",
        (
            "OutOfBoundsError: a[10] is outside an array of shape (10,)",
            f"{FILE}:7",
            "block (2,0,0)",
            "case:   visible example (size 10, block 4), plus_ten[3, 4]",
            "think:  The toy's own sentence",
            f"hint:   about the guard: {HINT}",
            "also:   1 more: out-of-bounds in line 7",
        ),
    ),
    (
        "negative index",
        guarded("out[i] = a[i - 1] + 10"),
        "failed",
        "hazard",
        "out-of-bounds",
        ("a[-1]",),
    ),
    (
        "a race",
        guarded("out[0] = a[i]"),
        "failed",
        "hazard",
        "race",
        ("out[0]", "hint:   about who writes what"),
    ),
    (
        "no write at all",
        guarded("x = a[i] + 10"),
        "failed",
        "wrong-result",
        "unwritten",
        (
            "nothing wrote out[0], expected ",
            "out               -",
            "Nothing wrote to the output",
        ),
    ),
    (
        "one block only",
        answer(CELL, "if cuda.blockIdx.x == 0:", "    out[i] = a[i] + 10"),
        "failed",
        "wrong-result",
        "block-unwritten",
        (
            "nothing wrote out[4]",
            "plus_ten[3, 4]",
            "block (1,0,0), thread (0,0,0) has the index of out[4]",
            "No thread of blocks 1, 2 wrote anything.",
        ),
    ),
    (
        "tail not written",
        answer("i = cuda.grid(1)", "if i < size - 1:", "    out[i] = a[i] + 10"),
        "failed",
        "wrong-result",
        "tail-unwritten",
        ("nothing wrote out[9]", "One cell at the end was not written.", "about the guard"),
    ),
    (
        "tail wrong",
        guarded("if i < 8:", "    out[i] = a[i] + 10", "else:", "    out[i] = 0"),
        "failed",
        "wrong-result",
        "tail-wrong",
        (
            "out[8] is 0, expected ",
            "wrote out[8] in line 11",
            "2 cells at the end were wrong",
        ),
    ),
    (
        "copied",
        guarded("out[i] = a[i]"),
        "failed",
        "wrong-result",
        "copied-input",
        ("The output is an unchanged copy of a.", "about the computation"),
    ),
    (
        "shifted",
        guarded("j = i + 1", "if j == size:", "    j = 0", "out[i] = a[j] + 10"),
        "failed",
        "wrong-result",
        "shifted",
        ("The values stand one cell too early.",),
    ),
    (
        "reversed",
        guarded("out[size - 1 - i] = a[i] + 10"),
        "failed",
        "wrong-result",
        "reversed",
        ("block (2,0,0), thread (1,0,0) wrote out[0] in line 8",),
    ),
    (
        "another constant",
        guarded("out[i] = a[i] + 11"),
        "failed",
        "wrong-result",
        "constant-offset",
        ("Every cell is 1 more than expected.",),
    ),
    (
        "twice as much",
        guarded("out[i] = 2 * (a[i] + 10)"),
        "failed",
        "wrong-result",
        "constant-factor",
        ("Every cell is 2 times expected.",),
    ),
    (
        "right in block 0",
        guarded("out[i] = a[cuda.threadIdx.x] + 10"),
        "failed",
        "wrong-result",
        "only-first-block-right",
        ("out[4] is ",),
    ),
    (
        "wrong here and there",
        guarded("if i % 3 == 1:", "    out[i] = 0", "else:", "    out[i] = a[i] + 10"),
        "failed",
        "wrong-result",
        "partly-wrong",
        ("7 of 10 cells are right",),
    ),
    (
        "wrong everywhere",
        guarded("out[i] = a[i] * a[i]"),
        "failed",
        "wrong-result",
        "wrong",
        ("No cell is right",),
    ),
    (
        "NaN everywhere",
        guarded("out[i] = (a[i] - a[i]) / (a[i] - a[i])"),
        "failed",
        "wrong-result",
        "made-nan",
        ("out[0] is nan, expected ",),
    ),
    (
        "adds to what nobody set",
        guarded("out[i] += a[i] + 10"),
        "failed",
        "wrong-result",
        "made-nan",
        ("out[0] is nan", "out was read before anything was written there"),
    ),
    (
        "right for the visible sizes only",
        guarded("if size == 10:", "    out[i] = a[i] + 10"),
        "failed",
        "wrong-result",
        "unwritten",
        ("one cell (size 1, block 4)",),
    ),
    (
        "right for the listed sizes only",
        guarded("if size < 80:", "    out[i] = a[i] + 10"),
        "failed",
        "wrong-result",
        "unwritten",
        ("at random (size ", 'again:  check("plus_ten", seed=0) draws the same case'),
    ),
    (
        "input changed",
        guarded("a[i] = a[i] + 10", "out[i] = a[i]"),
        "failed",
        "input-changed",
        "input-changed",
        ("the input a was changed: a[0] was ", "thread (0,0,0) wrote it in line 8"),
    ),
    (
        "a host call",
        guarded("out[i] = open('x')"),
        "failed",
        "refused",
        "refused",
        (f"{FILE}:8", "open"),
    ),
    ("a dict", guarded("d = {1: 2}"), "failed", "refused", "refused", ("a dict", f"{FILE}:8")),
    (
        "a list comprehension",
        guarded("x = [k for k in range(3)]"),
        "failed",
        "refused",
        "refused",
        ("a list comprehension",),
    ),
    ("a value returned", guarded("return 3"), "failed", "refused", "refused", (f"{FILE}:8",)),
    (
        "an endless loop",
        guarded("while i < size:", "    out[i] = a[i] + 10"),
        "failed",
        "hazard",
        "endless-loop",
        ("EndlessLoopError", f"{FILE}:8", "about the loop"),
    ),
    (
        "a loop that would take years",
        guarded("x = 0", "for k in range(1000000000000):", "    x += k"),
        "failed",
        "hazard",
        "endless-loop",
        (f"{FILE}:9",),
    ),
    (
        "deep nesting",
        RIGHT + "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
        "failed",
        "refused",
        "refused",
        (),
    ),
    (
        "a deep expression",
        guarded("out[i] = " + "-" * 300 + "a[i]"),
        "failed",
        "refused",
        "refused",
        ("levels deep",),
    ),
    (
        "ten megabytes",
        RIGHT + "#" * 10_000_000,
        "failed",
        "refused",
        "refused",
        (f"{FILE} has 10,", "bytes"),
    ),
]


@pytest.mark.parametrize(
    ("text", "status", "reason", "diagnosis", "fragments"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_verdict(
    file: Path,
    text: str,
    status: str,
    reason: str | None,
    diagnosis: str | None,
    fragments: tuple[str, ...],
) -> None:
    file.write_text(text)
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason, verdict.diagnosis) == (status, reason, diagnosis), (
        verdict.message
    )
    for fragment in fragments:
        assert " ".join(fragment.split()) in " ".join(verdict.message.split())
    assert verdict.points == (10 if status == "passed" else 0)
    assert str(file.parent.parent.parent) not in verdict.message
    assert file.read_text() == text


def test_no_file(file: Path) -> None:
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("not-started", None)
    assert f"there is no {FILE}" in verdict.message
    assert "`gpu-course reset plus_ten`" in verdict.message


def test_a_file_that_is_a_folder(file: Path) -> None:
    file.mkdir()
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("failed", "refused")
    assert f"{FILE} is a folder" in verdict.message


def test_not_utf8(file: Path) -> None:
    file.write_bytes(RIGHT.encode() + b"# \xff\n")
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("failed", "refused")
    assert "not UTF-8" in verdict.message


def test_a_byte_order_mark_and_windows_line_ends_are_fine(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode())
    assert check("plus_ten").passed


def test_nothing_in_the_file_is_executed(file: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    hostile = f"import os, sys\nopen({str(mark)!r}, 'w').close()\nos.mkdir({str(mark)!r})\n"
    file.write_text(hostile + RIGHT + "sys.exit(0)\nos._exit(0)\n")
    assert check("plus_ten").passed
    assert not mark.exists()


def test_without_a_seed_every_check_draws_afresh(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPU_COURSE_SEED")
    file.write_text(guarded("if size < 80:", "    out[i] = a[i] + 10"))
    first, second = check("plus_ten").message, check("plus_ten").message
    assert first != second
    seed = int(first.partition("seed=")[2].partition(")")[0])
    assert check("plus_ten", seed=seed).message == first


def test_a_seed_that_is_no_number_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_COURSE_SEED", "soon")
    with pytest.raises(CourseError, match="GPU_COURSE_SEED is 'soon'"):
        check("plus_ten")


def test_an_unknown_puzzle_lists_what_is_close(answers: Path) -> None:
    with pytest.raises(UnknownName, match=r"did you mean 90_toys/plus_ten\?"):
        check("plus_tan")


def plus_ten(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 10


def plus_one(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 1


@pytest.mark.parametrize(
    ("puzzle", "given"),
    [
        ("plus_ten", plus_ten),
        ("plus_ten", [plus_ten]),
        ("plus_ten", source.from_function(plus_ten)),
        ("pair", [plus_one, plus_ten]),
        ("pair", {"plus_ten": plus_ten, "plus_one": plus_one}),
        ("pair", SimpleNamespace(plus_ten=plus_ten, plus_one=plus_one)),
    ],
)
def test_functions_as_an_answer(answers: Path, puzzle: str, given: Any) -> None:
    verdict = check(puzzle, answer=given)
    assert verdict.passed, verdict.message


def test_a_path_a_folder_and_a_function_in_a_file(answers: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "90_toys").mkdir(parents=True)
    path = other / "90_toys" / "plus_ten.py"
    path.write_text(RIGHT)
    for given in (path, str(path), other, f"{path}:plus_ten"):
        assert check("plus_ten", answer=given).passed


def test_a_dict_without_one_of_the_functions(answers: Path) -> None:
    with pytest.raises(CourseError, match="plus_one is not there"):
        check("pair", answer={"plus_ten": plus_ten})


def test_the_wrong_one_of_two_kernels_is_named(answers: Path) -> None:
    verdict = check("pair", answer={"plus_ten": plus_ten, "plus_one": plus_ten})
    assert "plus_one[10, 1]" in verdict.message
    assert verdict.diagnosis == "constant-offset"


def test_a_fixed_constant(answers: Path) -> None:
    file = answers / "90_toys" / "fixed.py"
    file.write_text("TPB = 2 + 2\n" + RIGHT)
    assert check("fixed").passed
    file.write_text(RIGHT + "\nTPB = 8\n")
    verdict = check("fixed")
    assert verdict.reason == "refused"
    assert "TPB is fixed at 4 in this puzzle, and this file makes it 8" in verdict.message
    assert "fixed.py:10\n          TPB = 8" in verdict.message


def test_rows_and_columns_exchanged(answers: Path) -> None:
    def table(out, a, rows, cols):
        x, y = cuda.grid(2)
        if x < cols and y < rows:
            out[y, x] = a[x, y] + 1

    verdict = check("table", answer=table)
    assert verdict.diagnosis == "transposed"
    assert "block (0,0,0), thread (1,0,0) wrote out[0, 1] in line" in verdict.message
    assert "cells:  [row, col]  [0, 0]  [0, 1]" in verdict.message
    assert "map:    row 0  .xxx\n          row 1  x.xx" in verdict.message
    assert np.array_equal(verdict.evidence["mask"], ~np.eye(4, dtype=bool))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.uint64, np.float64])
def test_a_cell_nobody_wrote_is_never_right_by_chance(answers: Path, dtype: Any) -> None:
    # Every value the poison could have is expected somewhere; the kernel leaves the last cell.
    def fill(inputs: Any, case: Case) -> dict[str, np.ndarray]:
        return {"out": np.full(case.sizes["size"], inputs["value"], dtype)}

    def all_but_one(out, value, size):
        i = cuda.grid(1)
        if i < size - 1:
            out[i] = value

    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    values = range(info.min, info.max + 1) if info and info.bits == 8 else (0, 1)
    for value in values:
        puzzle = replace(
            toy.TOY,
            parameters={"plus_ten": ("out", "value", "size")},
            cases=(Case("visible example", {"size": 3, "block": 4}, visible=True),),
            inputs=lambda rng, case, v=value: {"value": v, "size": case.sizes["size"]},
            launches=lambda case: (
                replace(toy.TOY.launches(case)[0], args=("out", "value", "size")),
            ),
            reference=fill,
        )
        verdict = check(puzzle, answer=all_but_one)
        assert verdict.diagnosis == "tail-unwritten", verdict.message


def test_scratch_space_is_poisoned_and_not_compared(answers: Path) -> None:
    puzzle = replace(
        toy.TOY,
        parameters={"plus_ten": ("out", "scratch", "a", "size")},
        scratch=lambda inputs, case: {"scratch": np.zeros(case.sizes["size"], np.float32)},
        launches=lambda case: (
            replace(toy.TOY.launches(case)[0], args=("out", "scratch", "a", "size")),
        ),
    )

    def through_scratch(out, scratch, a, size):
        i = cuda.grid(1)
        if i < size:
            scratch[i] = a[i]
            out[i] = scratch[i] + 10

    def trusting(out, scratch, a, size):
        i = cuda.grid(1)
        if i < size:
            out[i] = scratch[i] + a[i] + 10

    assert check(puzzle, answer=through_scratch).passed
    assert check(puzzle, answer=trusting).reason == "wrong-result"


@pytest.mark.parametrize(
    ("size", "advice", "hint"),
    [
        (8, "there are as many threads as cells, and no guard is needed", "about indices"),
        (10, "let only threads with i < size touch memory", "about the guard"),
    ],
)
def test_a_guard_is_advised_only_where_a_thread_is_left_over(
    answers: Path, size: int, advice: str, hint: str
) -> None:
    def one_too_far(out, a, size):
        i = cuda.grid(1) + (size == 8)
        out[i] = 10

    case = Case("visible example", {"size": size, "block": 4}, visible=True)
    verdict = check(replace(toy.TOY, cases=(case,)), answer=one_too_far)
    assert verdict.diagnosis == "out-of-bounds"
    assert f"try: {advice}" in " ".join(verdict.message.split())
    assert f"hint:   {hint}: {HINT}" in verdict.message


def test_a_result_that_depends_on_the_order(answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate = trial.simulate

    def disturbed(kernel: Any, order_seed: int | None, **options: Any) -> Any:
        run = simulate(kernel, order_seed=order_seed, **options)

        class Disturbed:
            def __getitem__(self, shape: Any) -> Any:
                def launch(out: np.ndarray, *rest: Any) -> Any:
                    report = run[shape](out, *rest)
                    out[0] += order_seed is not None
                    return report

                return launch

        return Disturbed()

    monkeypatch.setattr(trial, "simulate", disturbed)
    verdict = check("plus_ten", answer=plus_ten)
    assert (verdict.reason, verdict.diagnosis) == ("order-dependent", "order-dependent")
    assert "in one order of the blocks" in verdict.message


def test_right_but_over_budget(answers: Path) -> None:
    def wasteful(out, a, size):
        i = cuda.grid(1)
        if i < size:
            x = a[i]
            y = a[size - 1 - i]
            out[i] = x + y + 10 - y

    budget = Budget("global_load.requests", 3, "Each number is needed once.")
    puzzle = replace(toy.TOY, budgets=(budget,), cases=toy.TOY.cases[1:2])
    assert check(replace(puzzle, random_case=lambda rng: puzzle.cases[0]), answer=plus_ten).passed
    verdict = check(puzzle, answer=wasteful)
    assert (verdict.status, verdict.reason, verdict.points) == ("failed", "over-budget", 0)
    assert "right, but 6 global_load.requests, and 3 would do" in verdict.message
    assert "x = a[i]" in verdict.message and "y = a[size - 1 - i]" in verdict.message
    assert "Each number is needed once." in verdict.message


def test_a_budget_without_its_reference_solution_is_the_graders_fault(answers: Path) -> None:
    budget = Budget("global_load.requests", lambda case, reference: 1, "No matter.")
    verdict = check(replace(toy.TOY, budgets=(budget,)), answer=plus_ten)
    assert (verdict.status, verdict.reason) == ("error", "grader")
    assert "the reference solution of 90_toys/plus_ten is missing" in verdict.message


@pytest.mark.parametrize("part", ["reference", "inputs", "launches", "scratch", "diagnose"])
def test_a_broken_specification_is_never_the_learners_zero(answers: Path, part: str) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a slip in the catalogue")

    verdict = check(replace(toy.TOY, **{part: broken}), answer=plus_one)
    assert (verdict.status, verdict.reason) == ("error", "grader")
    message = " ".join(verdict.message.split())
    assert "not your answer: ZeroDivisionError: a slip in the catalogue" in message
    assert "where:  gpu_course/" in verdict.message


def test_the_puzzles_own_diagnosis_comes_first(answers: Path) -> None:
    puzzle = replace(
        toy.TOY,
        diagnose=lambda inputs, case, expected, got: "only-one",
        diagnoses={"only-one": "You added one."},
    )
    verdict = check(puzzle, answer=plus_one)
    assert verdict.diagnosis == "only-one"
    assert "why:    You added one." in verdict.message


def test_counters_and_report_are_those_of_the_visible_example(answers: Path) -> None:
    verdict = check("plus_ten", answer=plus_ten)
    assert verdict.counters.global_load.requests == 3
    assert verdict.report.launch.grid == (3, 1, 1)
    assert {touch.array for touch in verdict.report.touches} == {"out", "a"}


def test_what_a_kernel_prints_is_shown_beside_any_verdict(answers: Path) -> None:
    file = answers / "90_toys" / "plus_ten.py"
    file.write_text(guarded("print('at', i)", "out[i] = a[i] + 10"))
    passed = check("plus_ten").message
    assert "  prints: at 0\n          at 1\n" in passed and "(and 2 lines more)" in passed
    file.write_text(guarded("print('at', i)", "out[i] = a[i] + 9"))
    assert "  prints: at 0\n" in check("plus_ten").message


def test_a_name_that_was_rebound_is_told_from_an_array_that_was_forgotten(answers: Path) -> None:
    file = answers / "90_toys" / "plus_ten.py"
    file.write_text(guarded("out = a[i] + 10"))
    verdict = check("plus_ten")
    assert verdict.diagnosis == "rebound"
    assert "Line 8 is `out = ...`." in verdict.message


def test_a_cell_is_said_to_be_a_threads_own_only_where_each_thread_has_one(answers: Path) -> None:
    def all_but_the_last(out, a, size):
        for i in range(cuda.grid(1), size - 1, cuda.gridsize(1)):
            out[i] = a[i] + 10

    def one_block(case):
        (launch,) = toy.TOY.launches(case)
        return (replace(launch, grid=1),)

    assert "has the index of out[9]" in check("plus_ten", answer=all_but_the_last).message
    fewer = check(replace(toy.TOY, launches=one_block), answer=all_but_the_last)
    assert fewer.diagnosis == "tail-unwritten" and "who:" not in fewer.message
