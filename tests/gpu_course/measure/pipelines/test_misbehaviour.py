"""What goes wrong on a rank ends the run within its deadline, is told, and leaves nobody behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from gpu_course.isolation import servers
from gpu_course.measure.pipelines.actions import parse
from gpu_course.measure.pipelines.rules import faults
from gpu_course.ranks import runner
from tests.gpu_course.measure.pipelines import hostile

pytestmark = [
    pytest.mark.skipif(
        not servers.available(), reason="ranks are forked, which only Linux does safely"
    ),
    pytest.mark.long(25),
]
SECONDS = 2.0
"""The deadline of a run that would go on for ever."""


@pytest.fixture(scope="module")
def _servers() -> None:
    """From here on the processes are there that ranks are forked from."""
    runner.run_function(hostile.run, 2, {"what": "", "on": 0})


@pytest.fixture(autouse=True)
def _nobody_is_left(_servers: None) -> Iterator[None]:
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    yield
    assert {child.pid for child in me.children(recursive=True)} == before


def failure(program: Callable[..., Any], **given: Any) -> runner.RankFailed:
    with pytest.raises(runner.RankFailed) as caught:
        runner.run(hostile.__file__, 2, program.__name__, given, seconds=SECONDS)
    return caught.value


TOLD = {
    "raises": "no such layer",
    "ends": "rank 1 ended with exit status 3",
    "is too wide": "the output of stage 0 has the shape (3, 14), and stage 1 waits for (3, 7)",
    "loses its gradient": "cannot do 0B0: the output of stage 0 leads back to nothing",
    "changes its weights": (
        "cannot do 1B0: what 1F0 used has been changed since, such as the weights of stage 1"
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_a_stage_that_goes_wrong_is_named(what: str) -> None:
    failed = failure(hostile.run, what=what, on=int(what in ("ends", "changes its weights")))
    assert TOLD[what] in failed.fact, str(failed)


@pytest.mark.parametrize("what", ["computes for ever", "sleeps for ever"])
def test_a_stage_that_does_not_come_back_is_ended(what: str) -> None:
    failed = failure(hostile.run, what=what, on=1)
    assert failed.key in ("deadline", "standstill")
    assert "rank 1" in str(failed)


@pytest.mark.parametrize("lost", ["0F1", "1I0"])
def test_a_message_that_is_lost_is_waited_for_by_name(lost: str) -> None:
    """A lost activation stops the rank after, and a lost gradient the rank before."""
    failed = failure(hostile.run_and_swallow, lost=lost)
    assert failed.key == "standstill"
    waits = 1 if "F" in lost else 0
    assert f"rank {waits}" in str(failed) and "recv" in str(failed)


def test_ranks_with_different_tables_do_not_wait_for_ever() -> None:
    """Each table can run, and the two together cannot."""
    other = ["0F1 0B1 0F0 0B0", "1F1 1B1 1F0 1B0"]
    assert not faults(parse(hostile.TABLE)) and not faults(parse(other))
    deep = ["0F0 0B0 0F1 0B1", "1F0 1B0 1F1 1B1"]
    failed = failure(hostile.run_each_its_own_table, own=[deep, other])
    assert failed.key == "standstill", str(failed)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"], "of rank 0, which stands at 0B0: a circle"),
        (["0F0 0F1 0B0 0B1", "1F0 1B0 1F1"], "rank 1 never does 1B1"),
        (["0F0 0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"], "does 0F0 at step 0 and at step 1 once more"),
        (["0F0 0F1 0B0 0B1 0F2", "1F0 1B0 1F1 1B1"], "rank 0 never does 0B2"),
        (["0F0 0B0 2F0", "1F0 1B0"], "names stage 2, and there are 2"),
    ],
)
def test_a_table_that_cannot_run_is_refused_on_every_rank_before_anything_is_sent(
    lines: list[str], words: str
) -> None:
    """A deadlock, a hole, a doubled F, a microbatch too many, a stage that is nowhere."""
    failed = failure(hostile.run_each_its_own_table, own=[lines, lines])
    assert words in failed.fact
    assert not failed.calls


def test_parameters_without_a_gradient_are_left_alone_by_both_kinds_of_backward_pass() -> None:
    results = runner.run_function(hostile.split_with_idle_parameters, 2, {}).results
    assert [list(each) for each in results] == [[0.0, 2.0], [0.0, 0.0]]
