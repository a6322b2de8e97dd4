"""What is particular to the puzzles of lesson 07."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from authoring.stubs import stub_text
from gpu_course import check
from gpu_course.grading.card.compiled import compile_answer
from gpu_course.hardware.compiled import record
from gpu_course.hardware.compiled.compiler import CAPABILITIES
from gpu_course.hardware.compiled.toolchain import has_compiler
from gpu_course.lessons.under_the_hood.keep_it_in_registers import KEEP_IT_IN_REGISTERS
from gpu_course.lessons.under_the_hood.occupancy_used import KERNELS, OCCUPANCY_USED
from gpu_course.lessons.under_the_hood.two_product import TWO_PRODUCT
from gpu_course.puzzle import KernelPuzzle, index
from tests.course.puzzles.answers import answers, written
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random, solution_of

LESSON = index.lesson("under_the_hood")
STUBS = {
    "no_float64": "float64 operations, and 0 would do",
    "keep_it_in_registers": "an array has an index that only the run knows",
}
"""Puzzle -> what is said of its stub, which is right and costs too much."""


def solution(name: str) -> str:
    return (SOLUTIONS / LESSON.name / f"{name}.py").read_text(encoding="utf-8")


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("07") is LESSON
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_right_and_is_refused_for_what_it_costs(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.py"
    # One change, since an answer that is still the stub is not begun.
    file.write_text(stub_text(solution(name)).replace("mean = ", "mean = 1 * "), encoding="utf-8")
    verdict = check(name, answer=file, seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget"), verdict.message
    first = verdict.message.splitlines()[0]
    assert first.startswith("right, but ") and first.endswith(STUBS[name])


# keep_it_in_registers: what the text tells is what the compiler does


def test_the_record_says_that_no_kernel_of_the_course_has_a_stack() -> None:
    for name in ("no_float64", "keep_it_in_registers", "two_product"):
        for capability in CAPABILITIES:
            found = record.figures(f"{LESSON.name}/{name}", name, capability)
            assert (found.stack_bytes, found.spill_bytes) == (0, 0), (name, capability)
            assert "float64" not in found.mix, (name, capability)


WAYS = [(way, changes) for (name, way), changes in answers("RIGHT").items()
        if name == KEEP_IT_IN_REGISTERS.short_name]  # fmt: skip
INDEXED = [(way, changes) for (name, way), changes in answers("LAZY").items()
           if name == KEEP_IT_IN_REGISTERS.short_name]  # fmt: skip


@pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
@pytest.mark.parametrize(("way", "changes"), [*WAYS, *INDEXED], ids=lambda each: str(each)[:30])
def test_an_array_is_in_registers_where_the_checker_says_so(
    way: str, changes: Any, tmp_path: Path
) -> None:
    file = written("keep_it_in_registers", changes, tmp_path)
    for capability in ("8.0", "12.0"):
        (seen,) = compile_answer("keep_it_in_registers", capability, file)
        indexed = (way, changes) in INDEXED
        assert seen.figures.stack_bytes == (128 if indexed else 0), capability


# two_product: what the bits are


def test_the_case_of_unusual_numbers_has_every_pair_of_them() -> None:
    (case,) = (case for case in TWO_PRODUCT.cases if case.sizes.get("infinite"))
    given = TWO_PRODUCT.inputs(np.random.default_rng(3), case)
    with np.errstate(all="ignore"):
        p = given["a"] * given["b"]
    e = TWO_PRODUCT.reference(given, case)["e"]
    assert np.isnan(p).any() and np.isposinf(p).any() and np.isneginf(p).any()
    overflows = np.isinf(p) & np.isfinite(given["a"]) & np.isfinite(given["b"])
    assert overflows.any() and (e[overflows] == -p[overflows]).all()
    assert np.isnan(e[np.isinf(p) & ~overflows]).all()
    tiny = (p != 0) & (np.abs(p) < np.finfo(np.float32).tiny)
    assert tiny.any()
    zeros = e == 0
    assert (zeros & np.signbit(e)).any() and (zeros & ~np.signbit(e)).any()
    assert (np.signbit(p) & (p == 0)).any()


def test_the_error_of_a_product_is_what_wide_arithmetic_says() -> None:
    """In float64 the product of two float32 is exact, and so is what is left of it."""
    rng = np.random.default_rng(11)
    case = TWO_PRODUCT.random_case(rng)
    given = TWO_PRODUCT.inputs(rng, case)
    found = TWO_PRODUCT.reference(given, case)
    wide = given["a"].astype(np.float64) * given["b"].astype(np.float64)
    assert (found["e"] == (wide - found["p"]).astype(np.float32)).all()
    assert np.count_nonzero(found["e"]) > len(wide) // 2


def test_the_sign_of_a_zero_is_told(tmp_path: Path) -> None:
    file = tmp_path / "two_product.py"
    text = solution("two_product")
    text = text.replace("cuda.fma(a[i], b[i], -product)", "-cuda.fma(-a[i], b[i], product)")
    file.write_text(text, encoding="utf-8")
    verdict = check("two_product", answer=file, seed=0)
    assert verdict.diagnosis == "zero-with-a-sign"
    assert verdict.message.startswith("e[0] is -0, expected 0")


# occupancy_used: what the record says, and the count by trying


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_taken_as_its_puzzle_launches_it(name: str) -> None:
    used = KERNELS[name]
    puzzle = index.find(used.puzzle)
    assert isinstance(puzzle, KernelPuzzle)
    launch = puzzle.launches(puzzle.cases[0])[0]
    assert np.prod(launch.block) == used.threads and launch.shared_bytes == 0
    assert launch.function == name


def test_the_formula_is_what_trying_gives() -> None:
    formula = solution_of(OCCUPANCY_USED)["occupancy_used"]
    for case in cases_and_random(OCCUPANCY_USED, 200):
        given = OCCUPANCY_USED.inputs(np.random.default_rng(0), case)
        assert formula(**given) == OCCUPANCY_USED.reference(given, case)["result"], case


def test_each_architecture_and_each_limit_has_a_case() -> None:
    versions = {f"{c.sizes['major']}.{c.sizes['minor']}" for c in OCCUPANCY_USED.cases}
    assert versions == set(CAPABILITIES)
    results = [
        OCCUPANCY_USED.reference(OCCUPANCY_USED.inputs(np.random.default_rng(0), c), c)["result"]
        for c in OCCUPANCY_USED.cases
    ]
    assert any(blocks == 0 for blocks, _ in results)
    assert any(fewer == 0 for _, fewer in results) and any(fewer for _, fewer in results)
