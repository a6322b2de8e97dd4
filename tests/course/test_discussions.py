"""Every puzzle has its debrief and its discussion, and what is said of Python and CUDA is true.

What is said of kernels hangs on the pass of the solution: see test_solutions.py.
"""

from __future__ import annotations

import ast
import itertools
import re
import runpy
from pathlib import Path

import pytest

from gpu_course.grading.kernel import passing
from gpu_course.puzzle import DIFFICULTIES, KernelPuzzle, Puzzle, index
from tests.course import nvrtc
from tests.course.discussions import BLOCK, ROOT, blocks, discussion, solution, tables

PUZZLES = index.puzzles()
KERNELS = tuple(puzzle for puzzle in PUZZLES if isinstance(puzzle, KernelPuzzle))
# Limits of an SM of compute capability 8.0, as the visible example of `occupancy` has them.
A100 = {
    "warp_size": 32, "warps": 64, "blocks": 32, "quarters": 4, "registers": 65536,
    "register_unit": 256, "shared_bytes": 167936, "shared_unit": 128, "shared_reserved": 1024,
}  # fmt: skip


def each(puzzles: tuple[Puzzle, ...]) -> pytest.MarkDecorator:
    """Runs a test once for each puzzle."""
    return pytest.mark.parametrize("puzzle", puzzles, ids=lambda puzzle: puzzle.short_name)


@each(PUZZLES)
def test_a_puzzle_says_how_hard_it_is_and_has_a_debrief(puzzle: Puzzle) -> None:
    assert puzzle.difficulty in DIFFICULTIES
    assert 3 <= puzzle.minutes <= 45
    told = puzzle.debrief
    assert told is not None and told.shows
    assert len(re.findall(r"[.!?](?= |$)", told.why)) == 2, "two sentences on why it works"
    assert 60 < len(told.why) < 320 and 60 < len(told.alternative) < 320
    if isinstance(puzzle, KernelPuzzle):
        assert set(told.shows) <= set(passing.COUNTED)


def test_no_two_puzzles_say_the_same() -> None:
    told = [p.debrief for p in PUZZLES if p.debrief is not None]
    for texts in ([t.why for t in told], [t.alternative for t in told]):
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("lesson", index.lessons(), ids=lambda lesson: lesson.name)
def test_the_minutes_of_puzzles_fit_into_their_lesson(lesson) -> None:
    assert sum(puzzle.minutes for puzzle in lesson.puzzles) <= lesson.minutes


@each(PUZZLES)
def test_a_discussion_is_short_and_its_lines_fit(puzzle: Puzzle) -> None:
    text = discussion(puzzle)
    assert text.startswith(f"# {puzzle.short_name}: ")
    prose = BLOCK.sub("", text)
    assert 150 <= len(prose.split()) <= 450
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    assert max(map(len, lines)) <= 100


@each(PUZZLES)
def test_no_line_within_a_paragraph_reads_as_a_list(puzzle: Puzzle) -> None:
    """A formula that is broken before its "+ 10" would come out as a bullet."""
    mark = re.compile(r" {0,3}(?:[-+*]|\d+[.)])(?: |$)")
    lines = BLOCK.sub("\n", discussion(puzzle)).splitlines()
    for before, line in itertools.pairwise(lines):
        in_a_list = mark.match(before) or before.startswith("  ")
        assert not mark.match(line) or not before.strip() or in_a_list, line


def test_discussions_share_no_sentence() -> None:
    sentences = {}
    for puzzle in PUZZLES:
        prose = " ".join(BLOCK.sub("", discussion(puzzle)).split())
        sentences[puzzle.name] = {s for s in re.split(r"(?<=[.:]) ", prose) if len(s) > 60}
    for one, other in itertools.combinations(sentences, 2):
        assert not sentences[one] & sentences[other], (one, other)


def test_no_discussion_is_left_without_its_puzzle() -> None:
    found = {p.relative_to(ROOT / "solutions") for p in (ROOT / "solutions").glob("[0-9]*/*.md")}
    assert found == {Path(f"{puzzle.name}.md") for puzzle in PUZZLES}


def given_values(puzzle: Puzzle) -> dict[str, object]:
    """Returns what a discussion's Python blocks give a name to, such as a model's config."""
    found: dict[str, object] = {}
    for block in blocks(puzzle, "python"):
        named = [node for node in ast.parse(block).body if isinstance(node, ast.Assign)]
        exec(compile(ast.Module(named, []), puzzle.name, "exec"), found)
    return found


@each(tuple(puzzle for puzzle in PUZZLES if puzzle not in KERNELS))
def test_the_results_of_a_discussion_are_those_of_the_solution(puzzle: Puzzle) -> None:
    found = tables(puzzle)
    if not found:
        return
    assert set(found) == {"call | result"}
    module = {**given_values(puzzle), **runpy.run_path(str(solution(puzzle))), "A100": A100}
    for call, (result,) in found["call | result"]:
        assert eval(call, module) == ast.literal_eval(result), call


@each(KERNELS)
def test_cuda_defines_every_kernel_of_the_puzzle(puzzle: KernelPuzzle) -> None:
    (text,) = blocks(puzzle, "c++")
    for function, parameters in puzzle.parameters.items():
        found = re.search(rf'^extern "C" __global__ void {function}\(([^)]*)\)', text, re.MULTILINE)
        assert found is not None, function
        named = [re.sub(r".*[ *]", "", each.strip()) for each in found[1].split(",")]
        assert tuple(named) == parameters


@pytest.mark.skipif(nvrtc.library() is None, reason="needs the extra compile")
@each(KERNELS)
def test_cuda_compiles_for_a_gpu_of_today(puzzle: KernelPuzzle) -> None:
    (text,) = blocks(puzzle, "c++")
    ptx = nvrtc.compile_ptx(text, f"{puzzle.short_name}.cu")
    for function in puzzle.functions:
        assert f".entry {function}(" in ptx
    assert ".f64" not in ptx, "a literal without f makes the arithmetic double"
