"""Functions of the course on ranks: what they are handed, and what is told where they fail."""

from __future__ import annotations

from types import ModuleType

import pytest

from gpu_course.isolation import servers
from gpu_course.lessons.collectives import runs as of_collectives
from gpu_course.lessons.context_parallel import runs as of_context
from gpu_course.ranks import programs
from gpu_course.ranks.runner import RankFailed, Source, run_with

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)

TWICE = "def helper(x):\n    return 2 * x\n\n\ndef answer(x):\n    return helper(x)\n"
THRICE = "def helper(x):\n    return 3 * x\n\n\ndef answer(x):\n    return helper(x)\n"
SUMS = Source(
    "sums.py",
    "import torch.distributed as dist\n\n\ndef sums(x, times):\n"
    "    for _ in range(times):\n        dist.all_reduce(x)\n",
    ("sums",),
)
ONCE = {"function": "sums", "length": 4, "more": [2]}


def of_both(first: ModuleType, second: ModuleType, x: int) -> list[int]:
    """Returns what two answers make of a number."""
    return [first.answer(x), second.answer(x)]


def test_each_answer_is_a_module_with_helpers_of_its_own() -> None:
    answer = ModuleType("answer")
    exec(TWICE, answer.__dict__)
    got = programs.run(answer, programs.name_of(of_both), [("thrice.py", THRICE)], {"x": 5})
    assert got == {"result": [10, 15]}


@NEEDS_RANKS
def test_what_an_answer_calls_is_on_record_with_its_lines() -> None:
    run = run_with([SUMS], of_collectives.called_once, 3, ONCE)
    own = [(call.kind, call.line) for call in run.calls if call.rank == 1]
    assert own == [("all_reduce", 6)] * 2


@NEEDS_RANKS
def test_an_error_names_the_line_of_the_answer_or_where_else_it_is_from() -> None:
    with pytest.raises(RankFailed, match="raised TypeError") as caught:
        run_with([SUMS], of_collectives.called_once, 2, {**ONCE, "more": ["two"]})
    assert "where:  sums.py, line 5, in sums" in str(caught.value)
    ring = Source("ring.py", "def ring_attention(): ...\n", ("ring_attention",))
    with pytest.raises(RankFailed, match="module 'other' has no attribute") as caught:
        run_with([ring, Source("other.py", "", ())], of_context.training_step, 1, {"places": [[0]]})
    assert "where:  runs.py:" in str(caught.value)


@NEEDS_RANKS
def test_an_answer_without_its_function_is_told() -> None:
    missing = Source(SUMS.file, SUMS.text, ("sums", "adds"))
    with pytest.raises(RankFailed, match=r"sums\.py does not define adds"):
        run_with([missing], of_collectives.called_once, 1, ONCE)
