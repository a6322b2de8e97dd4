"""No process of an answer is told the seed that its inputs are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.seeds import LISTED_SEED, own_seed
from gpu_course.isolation import servers
from gpu_course.isolation.processes import Process
from gpu_course.puzzle import PythonPuzzle
from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading import ranked_toy

SEED = 1_234_567_891
ANSWERS = {"one process": (toy.COVER, toy.RIGHT), "ranks": (ranked_toy.SHIFT, ranked_toy.RIGHT)}


def numbers(value: Any) -> set[int]:
    """All whole numbers in a message, however deep."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return set().union(*map(numbers, value))
    return {value} if type(value) is int else set()


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_sent_holds_no_seed_of_the_inputs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "ranks" and not servers.available():
        pytest.skip("ranks are forked, which only Linux does safely")
    sent: list[dict[str, Any]] = []
    post = Process.post

    def noted(process: Process, message: Mapping[str, Any]) -> None:
        sent.append(dict(message))
        post(process, message)

    monkeypatch.setattr(Process, "post", noted)
    puzzle: PythonPuzzle
    puzzle, answer = ANSWERS[name]
    assert check(puzzle, answer=answer, seed=SEED).passed
    seeds = {message["seed"] for message in sent if "seed" in message}
    assert seeds == {own_seed(LISTED_SEED), own_seed(SEED)}
    assert SEED not in set().union(*map(numbers, sent))
