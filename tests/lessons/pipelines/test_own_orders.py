"""A learner's orders on real ranks: both engines follow them, or it is told why none can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.pipelines import shows
from gpu_course.notebook.note import Note
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

pytestmark = [
    pytest.mark.skipif(
        not servers.available(), reason="ranks are forked, which only Linux does safely"
    ),
    pytest.mark.long(20),
]
HEAD = "def one_f_one_b(ranks, microbatches):\n    "


@pytest.fixture(scope="module")
def _servers() -> None:
    """From here on the processes are there that ranks are forked from."""
    shows.on_real_ranks("1F1B", ranks=1, microbatches=1)


@pytest.fixture(autouse=True)
def _nobody_is_left(_servers: None) -> Iterator[None]:
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    yield
    assert {child.pid for child in me.children(recursive=True)} == before


@pytest.mark.parametrize("puzzle", ["gpipe_order", "one_f_one_b"])
def test_the_orders_of_an_answer_are_followed_by_both_engines(
    puzzle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    said = shows.own_on_real_ranks(puzzle, ranks=3, microbatches=3)
    assert said.startswith(f"your {puzzle}, 3 ranks, 3 microbatches")
    ours, theirs = said.splitlines()[1:]
    assert ours.endswith("this course:  gradients as in one process; 12 messages")
    # PyTorch's engine also sends what shape and type each message will have.
    assert "PyTorch:      gradients as in one process" in theirs


HOSTILE = {
    "nothing": ("return None", "None is no list of orders"),
    "a number that is none": ("return [float('nan')] * ranks", "no list of actions"),
    "a circle": (
        'return [["0F0", "0B0", "0F1", "0B1"], ["1F1", "1B1", "1F0", "1B0"]]',
        "which stands at 0B0: a circle",
    ),
    "a hole": ('return [["0F0", "0F1", "0B0"], ["1F0", "1B0", "1F1", "1B1"]]', "never does 0B1"),
    "twice": ('return [["0F0", "0F0"], ["1F0"]]', "does 0F0 at step 0 and at step 1 once more"),
    "a microbatch too many": ('return [["0F2", "0B2"], ["1F2", "1B2"]]', "names microbatch 2"),
    "an error": ("return 1 / 0", "ZeroDivisionError"),
    "its end": ("import os\n    os._exit(7)", "exit status 7"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_orders_that_cannot_be_followed_are_told(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, words = HOSTILE[what]
    folder = tmp_path / "26_pipelines"
    folder.mkdir()
    (folder / "one_f_one_b.py").write_text(f"{HEAD}{body}\n", encoding="utf-8")
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    said = shows.own_on_real_ranks("one_f_one_b", ranks=2, microbatches=2)
    assert isinstance(said, Note), said
    assert words in " ".join(repr(said).split()), repr(said)


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(shows.own_on_real_ranks(), Note)
