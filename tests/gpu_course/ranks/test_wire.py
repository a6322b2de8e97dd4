"""What a call leaves behind on a rank: nothing, however late gloo's threads get to run."""

from __future__ import annotations

import pytest

from gpu_course.isolation import servers
from gpu_course.ranks import runner
from tests.gpu_course.ranks import leaving

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_nobody_holds_what_a_call_was_given_once_it_is_over() -> None:
    held = {name: (4 * leaving.NUMBERS * of(3), 0) for name, (_, of) in leaving.CALLS.items()}
    assert runner.run_function(leaving.main, 3).results == (held,) * 3


def test_a_future_has_the_tensors_whether_it_is_asked_for_before_or_after_the_wait() -> None:
    done = runner.run_function(leaving.futures, 2)
    # Both futures of the sum show one tensor, which is summed twice.
    assert done.results == ([[6.0], [0.0, 1.0], [6.0], [0.0, 1.0]],) * 2


def test_to_wait_again_for_a_message_that_is_over_takes_no_time() -> None:
    # Of gloo's own works the second wait never ends; NCCL's returns at once.
    assert runner.run_function(leaving.waits_twice, 2).results == ([1.0], [0.0])
