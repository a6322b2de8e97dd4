"""The banks of shared memory: who waits for whom, drawn and told as the simulator counts it."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.draw.execution.banks import bank_queues, draw_banks
from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.errors import CourseError
from simt.observe.transactions import count_wavefronts
from tests.gpu_course.draw.readable import assert_readable

REQUESTS = {
    "neighbours": (list(range(32)), ["banks 0 to 31: 1 pass, no conflict"]),
    "stride 2": (
        [2 * lane for lane in range(32)],
        ["2 passes, 1 conflict", "Bank 0", "lanes 0, 16"],
    ),
    "a column": ([32 * lane for lane in range(32)], ["32 lanes ask bank 0: 32 passes"]),
    "a padded column": ([33 * lane for lane in range(32)], ["1 pass, no conflict"]),
    "one word": ([7] * 32, ["ask bank 7: 1 pass", "Lanes 0 to 31 ask for one word"]),
    "half a warp": ([None] * 16 + list(range(16)), ["16 lanes ask banks 0 to 15: 1 pass"]),
    "nobody": ([None] * 32, ["0 lanes ask no bank: no lane asks"]),
    "pairs": ([lane // 2 * 32 for lane in range(24)], ["12 passes", "Lanes 0, 1 ask for one word"]),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_words_and_text_sizes(name: str) -> None:
    words, said = REQUESTS[name]
    figure = draw_banks(words)
    for part in said:
        assert part in alt_text(figure)
    assert_readable(figure)
    assert figure_png(figure) == figure_png(draw_banks(words))


def test_passes_beyond_the_eighth_are_counted_not_drawn() -> None:
    texts = [
        t.get_text() for t in draw_banks([32 * n for n in range(32)]).findobj(matplotlib.text.Text)
    ]
    assert "pass 8" in texts and "pass 9" not in texts
    assert "... and so on: 24 more" in texts


@given(st.lists(st.none() | st.integers(0, 2047), min_size=32, max_size=32))
def test_the_deepest_queue_is_what_the_simulator_counts(words: list[int | None]) -> None:
    active = [lane for lane, word in enumerate(words) if word is not None]
    deepest = max(map(len, bank_queues(words)))
    if not active:
        assert deepest == 0
        return
    asked = np.array([word for word in words if word is not None])
    counted = count_wavefronts(asked * 4, np.array(active), 4)
    assert deepest == counted.wavefronts == counted.conflicts + 1


@pytest.mark.parametrize("words", [[0] * 33, [-1, 0]])
def test_what_is_no_request_is_refused(words: list[int]) -> None:
    with pytest.raises(CourseError, match="no request of a warp"):
        draw_banks(words)
