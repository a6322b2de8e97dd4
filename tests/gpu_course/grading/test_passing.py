"""What a pass says beyond its points, and where it leads."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpu_course import check
from gpu_course.grading import exports, passing
from gpu_course.grading.exports import verdict_html, verdict_text
from gpu_course.grading.sections import WIDTH, command_section, text_of
from gpu_course.puzzle import Bonus, Debrief, index
from tests.gpu_course.grading import python_toy, toy
from tests.gpu_course.grading.toy import RIGHT, guarded

ROOT = Path(__file__).parents[3]


TOLD = Debrief(
    shows=("global_load.bytes", "branches", "divergent_branches", "barriers"),
    why="Each thread has a cell. No two of them share one.",
    alternative="There is hardly another way to say it.",
)
TIGHT = replace(TOLD, goal="Split no warp."), Bonus("divergent_branches", lambda case: 0)
# The visible example has three warps, and so three branches; the case at random has more.
LATER = replace(TOLD, goal="Branch little."), Bonus("branches", lambda case: 3)


def messages(
    debrief: Debrief, path: Path, text: str = RIGHT, *, bonus: Bonus | None = None
) -> list[str]:
    """Returns the message on a toy's answer, at 70 columns."""
    path.write_text(text)
    verdict = check(replace(toy.TOY, debrief=debrief, bonus=bonus), answer=path, seed=0)
    assert verdict.passed, verdict.message
    return verdict.message.splitlines()


def test_a_pass_says_what_the_answer_did_why_it_works_and_another_way(file: Path) -> None:
    assert messages(TOLD, file) == [
        "right in all 4 cases: 10 of 10 points",
        "  yours:  visible example (size 10, block 4): 40 bytes read, warps met",
        "          a branch 3 times, split once, warps never waited at a",
        "          barrier",
        "  why:    Each thread has a cell. No two of them share one.",
        "  other:  There is hardly another way to say it.",
    ]


def test_the_counters_are_the_learners_own(file: Path) -> None:
    extra = guarded("out[i] = a[i] + a[size - 1] - a[size - 1] + 10")
    assert "40 bytes read" in messages(TOLD, file)[1]
    # Two loads more in each of three warps, all lanes at one cell of four bytes.
    assert f"{40 + 2 * 3 * 4} bytes read" in messages(TOLD, file, extra)[1]


def test_a_bonus_that_is_met_in_every_case_is_met(file: Path) -> None:
    free, bonus = replace(TOLD, goal="Split few."), Bonus("divergent_branches", lambda case: 99)
    assert (
        messages(free, file, bonus=bonus)[-1]
        == "  bonus:  met: Split few. Yours: split once; the goal is 99."
    )


def test_a_bonus_that_is_missed_says_by_how_much_and_in_which_case(file: Path) -> None:
    text = " ".join(" ".join(messages(TIGHT[0], file, bonus=TIGHT[1])).split())
    assert text.endswith("bonus: not met yet: Split no warp. Yours: split once; the goal is 0.")
    text = " ".join(" ".join(messages(LATER[0], file, bonus=LATER[1])).split())
    assert re.search(
        r"bonus: not met yet: Branch little. Yours: warps met a branch \d times in the case at "
        r"random \(size \d+, block 32\); the goal is 3\.$",
        text,
    )


def test_a_puzzle_without_a_debrief_says_the_points(file: Path) -> None:
    file.write_text(RIGHT)
    assert check("plus_ten", seed=0).message == "right in all 4 cases: 10 of 10 points"


def test_a_pass_in_python_shows_the_visible_example(tmp_path: Path) -> None:
    path = tmp_path / "cover.py"
    path.write_text(python_toy.RIGHT)
    told = Debrief(("result",), "One. Two.", "Three.")
    verdict = check(replace(python_toy.COVER, debrief=told), answer=path, seed=0)
    assert verdict.message.splitlines()[1:] == [
        "  yours:  visible example (cells 10): returned 3",
        "  why:    One. Two.",
        "  other:  Three.",
    ]


def test_a_pass_in_python_names_no_size_that_the_statement_has_no_word_for(tmp_path: Path) -> None:
    path = tmp_path / "cover.py"
    path.write_text(python_toy.RIGHT)
    told = Debrief(("result",), "One. Two.", "Three.")
    seen = [("Cells, and a block.", " (block 4)"), ("How many?", "")]
    for statement, sizes in seen:
        puzzle = replace(python_toy.COVER, debrief=told, statement=statement)
        line = check(puzzle, answer=path, seed=0).message.splitlines()[1]
        assert line == f"  yours:  visible example{sizes}: returned 3"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("result", 4, "returned 4"),
        ("peak_bytes", 24232, "peak bytes 24,232"),
        ("result", (288, 296), "returned (288, 296)"),
        ("result", {"masks": 1920, "wide": 0}, "masks 1,920, wide 0"),
        ("schedule", [("forward", 0)] * 14, "a schedule of 14 operations"),
        ("learns", True, "learns True"),
    ],
)
def test_measurements_in_words(name: str, value: object, text: str) -> None:
    assert passing._measured(name, value) == text


@pytest.mark.parametrize("name", [puzzle.name for puzzle in index.puzzles()])
def test_where_to_go_after_a_pass_fits_into_a_verdict(name: str) -> None:
    for said in (passing.onward(name), exports._onward(SimpleNamespace(name=name))):
        assert max(map(len, text_of(said).splitlines())) <= WIDTH


def test_the_next_puzzle_is_named_up_to_the_first_with_a_notebook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [p.short_name for p in passing.next_puzzles("00_start_here/add_ten")] == ["zip_add"]
    assert [p.lesson for p in passing.next_puzzles("01_threads/clip")] == ["02_warps"]
    assert passing.next_puzzles(index.puzzles()[-1].name) == ()
    assert passing.next_puzzles("no_such/puzzle") == ()
    assert text_of(passing.onward("01_threads/guard")).splitlines() == [
        "  more:   `gpu-course diff guard` shows the solution and discusses it",
        "  next:   `gpu-course watch map_2d` (easy, about 7 minutes)",
    ]
    without = ("02_warps", "03_coalescing")
    monkeypatch.setattr(passing, "has_notebook", lambda lesson: lesson.name not in without)
    after_clip = [p.name for p in passing.next_puzzles("01_threads/clip")]
    between = [p.name for p in index.puzzles() if p.lesson in without]
    assert after_clip == [*between, index.lesson("shared_memory").puzzles[0].name]


def test_a_failure_leads_nowhere_else() -> None:
    def guard(out, a, size):
        out[0] = a[0]

    verdict = check("guard", answer=guard, seed=0)
    assert not verdict.passed
    assert "gpu-course-onward" not in verdict_html(verdict)
    assert "diff(" not in verdict_text(verdict)


def test_a_planned_schedule_is_drawn() -> None:
    verdict = check("revolve", answer=ROOT / "solutions/17_checkpointing/revolve.py", seed=0)
    assert verdict.passed, verdict.message
    page = verdict_html(verdict)
    assert "<img" in page and 'alt="' in page
    assert "peak bytes" in verdict.message


TIMES = [path for path, words in passing.COUNTED.items() if "{times}" in words]


@pytest.mark.parametrize("path", TIMES)
def test_a_count_reads_as_a_sentence(path: str) -> None:
    none, one, many = (passing.counted_text(path, number) for number in (0, 1, 2000))
    assert one.endswith(" once") and many.endswith(" 2,000 times")
    verb = one.removesuffix(" once").removeprefix("warps ")
    assert none in (f"warps never {verb}", f"never {verb}")
    assert none.startswith("warps") == one.startswith("warps")


def test_a_pass_shows_six_digits_of_each_number_also_inside_pairs() -> None:
    found = check("run_cost", answer=str(ROOT / "solutions/33_across_oceans/run_cost.py"), seed=0)
    assert found.passed, found.message
    (said,) = (each for each in found.sections if each.label == "yours")
    results = " ".join(said.lines).partition("): ")[2]
    assert results.count("[") == 4 and not re.search(r"\d[.]?\d{6}", results), results


@pytest.mark.parametrize("name", ["guard", "one_model_every_axis", "vocab_parallel_cross_entropy"])
def test_what_shows_the_solution_fits_70_columns(name: str) -> None:
    for call in (f'diff("{name}")', f"`gpu-course diff {name}`"):
        (said,) = command_section("more", call, passing.DISCUSSED)
        assert " ".join(said.lines) == f"{call} shows the solution and discusses it"
        assert all(len(line) <= 60 for line in said.lines)
