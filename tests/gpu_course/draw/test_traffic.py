"""The communication matrix: each pair's bytes, and each rank's sum."""

from __future__ import annotations

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.traffic import draw_traffic
from gpu_course.errors import CourseError
from tests.gpu_course.draw.readable import assert_readable, texts


def test_the_matrix_has_the_bytes_and_their_sums() -> None:
    figure = draw_traffic({(0, 1): 6144, (1, 0): 512}, 2, "your ring")
    assert_readable(figure)
    words = [text.get_text() for text in texts(figure)]
    assert {"6K", "512", "sends 6 KiB", "sends 512 bytes"} <= set(words)
    assert alt_text(figure).splitlines()[1] == "Rank 0 sends 6 KiB to 1."
    assert_readable(draw_traffic({(i, (i + 1) % 8): 2**20 * (i + 1) for i in range(8)}, 8, "ring"))


def test_more_ranks_than_fit_are_told() -> None:
    with pytest.raises(CourseError, match="9 ranks"):
        draw_traffic({}, 9, "ring")
