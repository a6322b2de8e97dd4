"""The pictures of real launches: what the simulator reports is what they need."""

from __future__ import annotations

import matplotlib
import numpy as np
from numba import cuda

from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.touches.picture import draw_touches
from simt.simulator import simulate


def unguarded(out, a):
    i = cuda.grid(1)
    out[i] = a[i] + 10


def swapped(out, a):
    i, j = cuda.grid(2)
    out[j, i] = a[i, j]


def shown(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def test_threads_past_the_end_reach_for_cells_that_carry_their_index():
    a, out = np.ones(6, np.float32), np.zeros(6, np.float32)
    figure = draw_touches(simulate(unguarded)[2, 4](out, a))
    assert "Out of bounds in a: threads 6, 7." in alt_text(figure)
    assert "Out of bounds in out: threads 6, 7." in alt_text(figure)
    # Thread numbers start again in block 1, so only ghost cells say 6 and 7.
    assert shown(figure).count("6") == 2 and shown(figure).count("7") == 2


def test_every_array_missed_is_drawn_even_if_no_access_hit_it():
    a, out = np.ones(8, np.float32), np.zeros(0, np.float32)
    figure = draw_touches(simulate(unguarded)[1, 8](out, a))
    assert "Out of bounds in out: threads 0 to 7." in alt_text(figure)


def test_a_transposed_store_reads_as_one():
    a, out = np.ones((3, 3), np.float32), np.zeros((3, 3), np.float32)
    words = alt_text(draw_touches(simulate(swapped)[1, (3, 3)](out, a)))
    assert "reads a[x, y]" in words and "writes out[y, x]" in words
