"""The skeleton of a new lesson: its room, its folder of solutions, its source and its tests."""

from __future__ import annotations

import re
from pathlib import Path

from authoring.checkout import AuthoringError, read, write
from gpu_course.puzzle.outline import COURSE, Planned

_TOPIC = re.compile(r"[a-z][a-z0-9_]*")
_MINUTES = 60


def write_lesson(root: Path, number: str, topic: str) -> tuple[str, ...]:
    """Writes the skeleton of a lesson, and returns the files.

    Args:
        root: of the checkout.
        number: of a lesson in `outline.py`, such as "07".
        topic: the name of its room, such as "under_the_hood".

    Raises:
        AuthoringError: the outline has no such lesson, it is there, or the topic is no name.
    """
    planned = next((each for each in COURSE if each.number == number), None)
    if planned is None:
        raise AuthoringError(
            f"the outline has no lesson {number}",
            file="gpu_course/puzzle/outline.py",
            hint=f"name one from 00 to {COURSE[-1].number}, or add it there first",
        )
    if not _TOPIC.fullmatch(topic):
        raise AuthoringError(
            f"a room cannot be called {topic!r}",
            file=f"gpu_course/lessons/{topic}",
            hint="write small letters and digits with underscores, such as under_the_hood",
        )
    lesson = f"{number}_{topic}"
    solutions = root / "solutions"
    there = [*solutions.glob(f"{number}_*"), *(root / "gpu_course" / "lessons").glob(topic)]
    if there:
        place = there[0].relative_to(root).as_posix()
        raise AuthoringError(
            f"there is a lesson {number} or a room {topic} already",
            file=place,
            hint="choose another, or go on with that one",
        )
    files = _files(planned, lesson, _introduction(root))
    for place, text in files.items():
        write(root / place, text)
    (solutions / lesson / "mistakes").mkdir(parents=True)
    return tuple(files)


def _files(planned: Planned, lesson: str, introduction: str) -> dict[str, str]:
    number, _, topic = lesson.partition("_")
    room, tests = f"gpu_course/lessons/{topic}", f"tests/lessons/{topic}"
    neighbours = f"{_link(planned, -1)} / {_link(planned, 1)}"
    return {
        f"{room}/__init__.py": f'"""Lesson {number}: {planned.title}."""\n',
        f"{room}/lesson.toml": (
            f'name = "{lesson}"\ntitle = "{planned.title}"\npart = {planned.part}\n'
            f'minutes = {_MINUTES}\ngoal = """\nYou can ..."""\npuzzles = []\n'
        ),
        f"{room}/predictions.toml": f"# What lesson {number} says once a guess is made.\n",
        f"notebooks/source/{lesson}.md": (
            f"{introduction}# {planned}\n\n"
            "The question of this lesson, as it comes up at work.\n\n"
            "| | |\n|---|---|\n"
            "| **Goals** | |\n| **You need** | |\n"
            f"| **Time** | about {_MINUTES} minutes |\n"
            f"| **Previous / next** | {neighbours} |\n\n"
            "```{code-cell} ipython3\nfrom gpu_course.notebook import predict, progress\n```\n\n"
            "## How far you are\n\n"
            "```{code-cell} ipython3\n:tags: [nbval-ignore-output, not-stored]\n\n"
            "progress()\n```\n\n"
            "## To keep\n\n| | |\n|---|---|\n\n"
            f"**Next:** {_link(planned, 1)}\n\n## Sources\n"
        ),
        f"{tests}/test_puzzles.py": (
            f'"""What is particular to the puzzles of lesson {number}."""\n\n'
            "from __future__ import annotations\n\n"
            "from gpu_course.puzzle import index\n\n\n"
            "def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:\n"
            f'    assert index.lesson("{number}") is index.lesson("{topic}")\n'
        ),
    }


def _introduction(root: Path) -> str:
    """Returns how every source begins: what tells Jupytext its form."""
    first = min((root / "notebooks" / "source").glob("*.md"))
    return "---".join(read(first).split("---", 2)[:2]) + "---\n\n"


def _link(planned: Planned, step: int) -> str:
    """Returns the neighbour of a lesson in the outline, or a dash at either end."""
    at = int(planned.number) + step
    return str(COURSE[at]) if 0 <= at < len(COURSE) else "-"
