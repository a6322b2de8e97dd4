"""Where to go after a pass: the discussion of the puzzle, and the next one."""

from __future__ import annotations

from gpu_course.grading.verdicts.sections import Section, command_section
from gpu_course.grading.workspace import has_notebook
from gpu_course.puzzle import Puzzle, index

DISCUSSED = "shows the solution and discusses it"


def next_puzzles(name: str) -> tuple[Puzzle, ...]:
    """Returns the puzzle after the one of that name, up to the first that has a notebook."""
    names = [puzzle.name for puzzle in index.puzzles()]
    if name not in names:
        return ()
    lessons = {lesson.name: lesson for lesson in index.lessons()}
    found: list[Puzzle] = []
    for puzzle in index.puzzles()[names.index(name) + 1 :]:
        found.append(puzzle)
        if has_notebook(lessons[puzzle.lesson]):
            break
    return tuple(found)


def effort(puzzle: Puzzle) -> str:
    """Returns how hard a puzzle is and how long it takes: "easy, about 5 minutes"."""
    return f"{puzzle.difficulty}, about {puzzle.minutes} minutes"


def onward(name: str) -> list[Section]:
    """Returns where to go after a pass, for a terminal."""
    short = name.rpartition("/")[2]
    said = command_section("more", f"`gpu-course diff {short}`", DISCUSSED)
    for puzzle in next_puzzles(name)[:1]:
        command = f"`gpu-course watch {puzzle.short_name}`"
        said += command_section("next", command, f"({effort(puzzle)})")
    return said
