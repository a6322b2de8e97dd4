"""Every puzzle has its debrief and its discussion, and what they say is computed again here."""

from __future__ import annotations

import ast
import itertools
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.grading.kernel import budgets, passing
from gpu_course.grading.learner.solution import without_marks
from gpu_course.grading.verdicts.exports import verdict_html, verdict_text
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import DIFFICULTIES, KernelPuzzle, Puzzle, index
from tests.course import nvrtc

ROOT = Path(__file__).parents[2]
PUZZLES = index.puzzles()
KERNELS = tuple(puzzle for puzzle in PUZZLES if isinstance(puzzle, KernelPuzzle))
WITH_BONUS = tuple(p for p in KERNELS if p.bonus is not None)
BLOCK = re.compile(r"^```([\w+]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| *`(.+?)` *\|(.+)\|$")
# Limits of an SM of compute capability 8.0, as the visible example of `occupancy` has them.
A100 = {
    "warp_size": 32, "warps": 64, "blocks": 32, "quarters": 4, "registers": 65536,
    "register_unit": 256, "shared_bytes": 167936, "shared_unit": 128, "shared_reserved": 1024,
}  # fmt: skip


def each(puzzles: tuple[Puzzle, ...]) -> pytest.MarkDecorator:
    """Runs a test once for each puzzle."""
    return pytest.mark.parametrize("puzzle", puzzles, ids=lambda puzzle: puzzle.short_name)


def discussion(puzzle: Puzzle) -> str:
    return (ROOT / "solutions" / f"{puzzle.name}.md").read_text(encoding="utf-8")


def solution(puzzle: Puzzle) -> Path:
    return ROOT / "solutions" / f"{puzzle.name}.py"


def blocks(puzzle: Puzzle, language: str) -> list[str]:
    """Returns the pieces of code of one language in a discussion."""
    return [text for found, text in BLOCK.findall(discussion(puzzle)) if found == language]


@cache
def pass_of(puzzle_name: str) -> Verdict:
    """Returns the verdict on the solution of a kernel puzzle."""
    return check(puzzle_name, answer=ROOT / "solutions" / f"{puzzle_name}.py", seed=0)


def other_answer(puzzle: Puzzle, folder: Path) -> Path:
    """Writes the other answer of a discussion; what it leaves out it takes from the solution."""
    (text,) = blocks(puzzle, "python")
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    whole = without_marks(solution(puzzle).read_text(encoding="utf-8"))
    parts = [text]
    for node in ast.parse(whole).body:
        if isinstance(node, ast.FunctionDef) and node.name not in defined:
            parts.append("@cuda.jit\n" + (ast.get_source_segment(whole, node) or ""))
    for node in ast.parse(whole).body:
        if isinstance(node, ast.Assign) and (ast.get_source_segment(whole, node) or "") not in text:
            parts.insert(1, ast.get_source_segment(whole, node) or "")
    path = folder / f"{puzzle.short_name}.py"
    path.write_text("\n\n".join(parts), encoding="utf-8")
    return path


def tables(puzzle: Puzzle) -> dict[str, list[tuple[str, list[str]]]]:
    """Returns {head: [(first cell, other cells)]} of the tables of a discussion."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    rows: list[tuple[str, list[str]]] = []
    for line in discussion(puzzle).splitlines():
        if line.startswith("| c"):
            rows = found.setdefault(line.strip("| "), [])
        elif row := ROW.match(line):
            rows.append((row[1], [cell.strip() for cell in row[2].split("|")]))
    return found


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


@each(KERNELS)
def test_the_counters_of_a_discussion_are_those_of_the_simulator(
    puzzle: KernelPuzzle, tmp_path: Path
) -> None:
    found = tables(puzzle)
    if not found:
        assert not blocks(puzzle, "python"), "a table compares the other answer with the solution"
        return
    answers = [pass_of(puzzle.name)]
    if blocks(puzzle, "python"):
        answers.append(check(puzzle, answer=other_answer(puzzle, tmp_path), seed=0))
        assert answers[1].passed, answers[1].message
    head = "counter | solution | other" if len(answers) == 2 else "counter | value"
    assert set(found) == {head}
    for path, cells in found[head]:
        counted = [budgets.counter(each.counters, path) for each in answers if each.counters]
        assert cells == [str(number) for number in counted], path


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


@each(WITH_BONUS)
def test_a_bonus_is_told_and_can_be_reached(puzzle: KernelPuzzle, tmp_path: Path) -> None:
    """The solution or the discussion's other answer meets it, and the other one does not."""
    other = check(puzzle, answer=other_answer(puzzle, tmp_path), seed=0)
    told = [_bonus_line(pass_of(puzzle.name)), _bonus_line(other)]
    assert sorted(text.partition(":")[0] for text in told) == ["met", "not met yet"]


def _bonus_line(verdict: Verdict) -> str:
    (found,) = [each for each in verdict.message.splitlines() if each.startswith("  bonus:")]
    return found.removeprefix("  bonus:").strip()


@each(KERNELS)
def test_a_pass_of_kernels_fits_70_columns_and_shows_a_picture(puzzle: KernelPuzzle) -> None:
    verdict = pass_of(puzzle.name)
    assert verdict.passed, verdict.message
    lines = verdict_text(verdict, 70).splitlines()
    assert max(map(len, lines)) <= 70 and len(lines) <= 24
    labels = [line[:9].strip(" :") for line in lines if line.startswith("  ") and line[2] != " "]
    assert labels[:3] == ["yours", "why", "other"]
    assert labels[-2:] == ["more", "next"]


@each((index.find("guard"), index.find("transpose_padded"), index.find("clip")))
def test_the_page_links_to_the_next_puzzle_that_has_a_notebook(puzzle: KernelPuzzle) -> None:
    page = verdict_html(pass_of(puzzle.name))
    following = {"guard": "map_2d", "transpose_padded": "block_sum", "clip": "warp_and_lane"}
    target = index.find(following[puzzle.short_name])
    assert f'href="{target.lesson}.ipynb#Puzzle:-{target.short_name}"' in page
    assert 'alt="' in page and "base64" in page
    heading = (ROOT / "notebooks" / "source" / f"{target.lesson}.md").read_text(encoding="utf-8")
    assert f"### Puzzle: `{target.short_name}`" in heading


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
