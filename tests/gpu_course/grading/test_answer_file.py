"""The text of an answer's file, or the problem that the verdict tells of in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading import answer_file
from gpu_course.grading.answer_file import AnswerProblem
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import TOY

RESET = "`gpu-course reset plus_ten` writes the stub; start from there"
MIND = "check the folder and the name of the file"

# What lies there (None: nothing), whose file it is, and what is told of it.
TABLE = [
    ("missing, and one's own", None, True, "not-started", None, ("there is no", RESET)),
    ("missing elsewhere", None, False, "not-started", None, ("there is no", MIND)),
    (
        "the stub",
        toy.STUB.encode(),
        True,
        "not-started",
        None,
        ("plus_ten.py is still the stub", "write your kernel in it, then check again"),
    ),
    (
        "the stub with a remark",
        b"# mine\n" + toy.STUB.encode(),
        True,
        "not-started",
        None,
        ("still the stub",),
    ),
    ("no text", b"\xff\xfe\xff", True, "failed", "refused", ("plus_ten.py",)),
]


@pytest.mark.parametrize(
    ("data", "own", "status", "reason", "parts"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_what_cannot_be_run(
    file: Path, data: bytes | None, own: bool, status: str, reason: str | None, parts: list[str]
) -> None:
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(AnswerProblem) as caught:
        answer_file.text_of(TOY, file, own=own, write="your kernel")
    problem = caught.value
    assert (problem.status, problem.reason, problem.diagnosis) == (status, reason, reason)
    assert all(part in f"{problem.fact}\n{problem.step}" for part in parts)


def test_the_text_of_an_answer(file: Path) -> None:
    file.write_text(toy.RIGHT)
    assert answer_file.text_of(TOY, file, own=True, write="your kernel") == toy.RIGHT


def test_a_path_means_a_file_or_the_one_in_a_folder(answers: Path, file: Path) -> None:
    assert answer_file.path_of(TOY, str(file)) == file
    assert answer_file.path_of(TOY, answers) == file
    # A folder where the file should be is left to whoever reads it.
    file.mkdir()
    assert answer_file.path_of(TOY, file) == file
